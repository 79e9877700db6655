// SPDX-License-Identifier: MIT OR Apache-2.0
// The Gstd tile that a lane group works on: its region and the list of its parts. A part is a piece
// of the tile whose symbols are decoded by themselves; there are at most 16. The literals and the
// sequences of a part may use tables of an earlier part, which is then their *owner*.
#ifndef SLUICE_GSTD_TILE_GLSL
#define SLUICE_GSTD_TILE_GLSL

#include "layout/gstd.h"
#include "lanes.glsl"
#include "region.glsl"

const uint kNone = 0xffffffffu;

// Addresses of the tile's compressed bytes, of its output, and of its slot of scratch.
uvec2 gSource, gDestination, gSlot;
// Bytes of the source, bytes of the output, and number of parts.
uint gSourceBytes, gSize, gParts;
// Lane i holds four numbers of part i: x is the first byte of its output, y the size of its output
// in bytes, z the first 16-bit word of its source, w the size of its source in 16-bit words.
uvec4 gPart;
// Bit i of gLiteralOwners is set if part i has a literals' table of its own, bit i of
// gSequenceOwners if it has sequences' tables of its own.
uint gLiteralOwners, gSequenceOwners;

// Returns 16-bit word `index` of the source.
uint sourceWord(uint index) {
    return WordsIn(gSource).w[index >> 1] >> (index & 1u) * 16u & 0xffffu;
}
uint sourceWord32(uint index) { return WordsIn(gSource).w[index]; }

// Loads region `index` and checks it. Returns SLUICE_ST_BAD_REGION if it breaks a rule, kNone if
// the tile is stored uncompressed, and otherwise SLUICE_ST_OK.
uint openRegion(uint index) {
    Region region = loadRegion(index);
    gSource = region.source;
    gDestination = region.destination;
    bool isInside =
        destinationAllowed(region, p.maxTileBytes) ||
        outputInside(region, p.maxTileBytes, p.secondDestination, p.secondDestinationSize);
    if (!sourceAllowed(region, SLUICE_GS_MAX_COMPRESSED) || !isInside) return SLUICE_ST_BAD_REGION;
    gSourceBytes = region.sourceSize.x;
    gSize = region.size.x;
    return (p.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u && gSourceBytes == gSize ? kNone
                                                                                  : SLUICE_ST_OK;
}

// Reads the tile's header and the list of its parts; sets gParts, gPart, gLiteralOwners and
// gSequenceOwners. Returns the tile's status. A lane group that is not `on` reads nothing.
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

// Returns the `value` of lane `part`. Lane i has the numbers of part i in gPart, so with one of its
// components as `value` this returns a number of part `part`.
uint ofPart(uint value, uint part) {
    lgShare(value);
    return lgShared(part);
}

// Returns the last part before `part` that has its bit set in `owners`, or kNone if there is none.
uint ownerBefore(uint owners, uint part) {
    owners &= (1u << part) - 1u;
    return owners == 0u ? kNone : uint(findMSB(owners));
}

#endif // SLUICE_GSTD_TILE_GLSL
