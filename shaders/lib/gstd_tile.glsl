// SPDX-License-Identifier: MIT OR Apache-2.0
// The Gstd tile that a lane group works on: its region and the list of its parts. A part is a piece
// of the tile whose symbols are decoded independently.
#ifndef SLUICE_GSTD_TILE_GLSL
#define SLUICE_GSTD_TILE_GLSL

#include "layout/gstd.h"
#include "lanes.glsl"
#include "region.glsl"

const uint kNone = 0xffffffffu;

uvec2 gSource, gDestination, gSlot;
uint gSourceBytes, gSize, gParts;
// Lane i holds the entry of part i: first byte and number of bytes in the output, first word and
// number of words in the source.
uvec4 gPart;
uint gLiteralOwners, gSequenceOwners; // parts that have tables of their own

uint sourceWord(uint index) {
    return WordsIn(gSource).w[index >> 1] >> (index & 1u) * 16u & 0xffffu;
}
uint sourceWord32(uint index) { return WordsIn(gSource).w[index]; }

// Reads a region. Returns OK, the status of a region that is not allowed, or kNone if the tile is
// stored.
uint openRegion(uint index) {
    Region region = loadRegion(index);
    gSource = region.source;
    gDestination = region.destination;
    if (!sourceAllowed(region, SLUICE_GS_MAX_COMPRESSED) ||
        !destinationAllowed(region, SLUICE_GS_TILE_BYTES))
        return SLUICE_ST_BAD_REGION;
    gSourceBytes = region.sourceSize.x;
    gSize = region.size.x;
    return (p.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u && gSourceBytes == gSize ? kNone
                                                                                  : SLUICE_ST_OK;
}

// Reads the tile's header and the list of its parts. Returns a status.
uint loadParts(bool on) {
    uint status = SLUICE_ST_OK, lane = lgLane();
    gParts = 0u;
    if (on && gSourceBytes < 8u) {
        status = SLUICE_ST_TRUNCATED;
    } else if (on) {
        uint header = sourceWord32(0u);
        gParts = (header & 15u) + 1u;
        status = header >> 7 != 0u                 ? SLUICE_ST_BAD_CODE
                 : gSourceBytes < 4u + 4u * gParts ? SLUICE_ST_TRUNCATED
                                                   : SLUICE_ST_OK;
    }
    bool mine = on && status == SLUICE_ST_OK && lane < gParts;
    uint entry = mine ? sourceWord32(1u + lane) : 0u, size, words;
    uvec4 part = uvec4(0u);
    part.yw = mine ? uvec2(entry & 0xffffu, entry >> 16) + 1u : uvec2(0u);
    lgScan(part.y, part.x, size);
    uint odd = lgBallot3Scan(false, mine && lane + 1u < gParts && part.y % SLUICE_GS_GROUP != 0u,
                             false, part.w, part.z, words)
                   .y;
    part.z += 2u + 2u * gParts;
    gPart = part;
    if (on && status == SLUICE_ST_OK) {
        words += 2u + 2u * gParts;
        status = odd != 0u                   ? SLUICE_ST_BAD_CODE
                 : size > gSize              ? SLUICE_ST_TOO_LONG
                 : size < gSize              ? SLUICE_ST_TOO_SHORT
                 : 2u * words > gSourceBytes ? SLUICE_ST_TRUNCATED
                                             : SLUICE_ST_OK;
    }
    bool good = mine && status == SLUICE_ST_OK && part.w >= SLUICE_GS_PART_HEADER;
    uint w0 = good ? sourceWord(part.z) : 0u;
    bool coded = good && (w0 & 3u) == SLUICE_GS_CODED;
    uvec3 owners =
        lgBallot3(coded && (w0 >> 4 & 1u) == 0u && (w0 >> 2 & 3u) <= SLUICE_GS_LITERALS_HUFFMAN,
                  coded && (w0 >> 5 & 1u) == 0u && sourceWord(part.z + 2u) != 0u, false);
    gLiteralOwners = owners.x;
    gSequenceOwners = owners.y;
    return status;
}

// Returns lane `part`'s `value`, for a component of gPart.
uint ofPart(uint value, uint part) {
    lgShare(value);
    return lgShared(part);
}

// Returns the highest part in `owners` before `part`, or kNone.
uint ownerBefore(uint owners, uint part) {
    owners &= (1u << part) - 1u;
    return owners == 0u ? kNone : uint(findMSB(owners));
}

#endif // SLUICE_GSTD_TILE_GLSL
