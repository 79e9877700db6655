// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes GDeflate 1.0. docs/format.md specifies the format, its rounds and limits, and the order
// of errors.
//
// The bit streams do not depend on the output, so there are two stages with a ring of tokens
// between them: the decode stage turns bits into tokens, a round of 32 symbols at a time
// (lib/gdeflate_header.glsl, lib/gdeflate_rounds.glsl), and the expand stage turns tokens into
// bytes, 128 at a time (lib/lz_expand.glsl). Where lane groups are subgroups, two of them may share
// a tile: each runs one stage, in phases that are separated by a barrier. Otherwise one lane group
// runs both stages alternately. That is also done if there are so many tiles that decoding more of
// them at a time is faster.
//
// src/cuda/gdeflate.cu has the same stages, with a warp for each tile and look-up tables of another
// shape.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/layout/gdeflate.h"
#include "lib/lanes.glsl"

layout(push_constant, std430) uniform Push { RegionParams p; };

// True where two subgroups, or the lane groups of two subgroups, share a tile. This is only for
// hardware subgroups of 32 lanes or more; the workgroup then is two subgroups.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_PAIRED) const bool kPaired = false;
// True where lanes see the tile's bytes without coherent accesses, through WordsPlain and
// BytesPlain.
layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const bool kPlainHistory = false;
// Says whether rows have padding. 0: rowBytes tells, 1: never, 2: always. Asking costs a tenth of
// the speed.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_PITCH) const uint kPitch = 0u;
// The shared memory of a tile: 0: 3 KB, 1: 5 KB, 2: 9 KB. Shared memory limits how many tiles the
// hardware works on at a time. If there are few tiles anyway, more shared memory makes each of them
// faster.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_ROOM) const uint kRoom = 0u;
const bool kRoomy = kRoom >= 1u, kRoomiest = kRoom >= 2u;

// True where one subgroup decodes a tile, although two could share it.
const bool kUnpaired = kNative && !kPaired;
// True where a stage's state stands in shared memory between its turns.
const bool kSuspends = kPaired || kUnpaired;

// Tiles of a workgroup.
const uint kTiles = kPaired ? kGroupsPerWorkgroup / 2u : kGroupsPerWorkgroup;
uint tileIndex() { return kPaired ? lgIndex() % kTiles : lgIndex(); }

// How many tokens a lane places at once, how many rounds a phase has, and the size of the ring of
// tokens.
//
// The ring holds the tokens of a phase (of two phases if one is produced while the other is
// consumed), 32 tokens that wait for a distance, up to 127 tokens that are not placed yet, and 128
// tokens of an unfinished group of bytes. A group with sources inside itself reuses 132 places at
// and below its own tokens, which have been read by then. A phase that builds a code produces no
// tokens, and the code uses their places. The smallest ring is so small because shared memory then
// decides how many tiles an SM holds: with 3,200 bytes per tile it holds 32 tiles of one subgroup
// each.
const uint kPerLane = kRoomy ? 4u : 2u, kRoomyRounds = kRoomiest ? 16u : 8u,
           kRounds = kPaired && !kRoomy ? 4u : kRoomyRounds;
const uint kRoomyTokenRing = kRoomiest ? 2048u : 1024u,
           kTokenRing = kRoomy ? kRoomyTokenRing : 512u;
shared uint sToken[kTiles * kTokenRing]; // see lib/lz_expand.glsl

#include "lib/region.glsl"
#include "lib/gdeflate_symbols.glsl"
#include "lib/gdeflate_header.glsl"
#include "lib/gdeflate_rounds.glsl"

// For each turn and tile the stages of a pair tell each other the number of complete tokens in x,
// the status of the decode stage in y, and the status of the expand stage in z.
shared uvec4 sPhase[kPaired ? 2u * kTiles : 1u];

// Does a turn of the decode stage: a header if one is next, and some rounds. With kUnpaired a turn
// does only one of the two, which takes fewer registers.
void decodePhase() {
    bool header = gState == kAtHeader;
    uint ahead = bitsAhead();
    if (wgAny(header)) readHeader(header);
    bool rounds = !kUnpaired || !header;
    bool symbols = rounds && gState == kInSymbols, stored = rounds && gState == kInStored;
    if (wgAny(symbols)) {
        uint left = kRounds;
#if !defined(SLUICE_NARROW) && !defined(SLUICE_EMU)
        if (kSuspends) {
            SLUICE_DONT_UNROLL
            while (!wgAny(!symbols || left == 0u || !bitsEnough(32u * kRoundsAtOnce))) {
                if (!symbolRoundsAtOnce(ahead)) break;
                left -= kRoundsAtOnce;
            }
        }
#endif
        symbolRounds(symbols, left);
    }
    SLUICE_DONT_UNROLL
    for (uint i = 0u; i < kRounds && wgAny(stored && gState == kInStored); ++i)
        storedRound(stored && gState == kInStored);
}

// Copies a tile that is stored uncompressed.
void copyStored(bool enabled, uvec2 source, uint size) {
    uint words = enabled ? size >> 2 : 0u;
    for (uint i = 0u; wgAny(i < words); i += 256u) {
        SLUICE_UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint index = i + k * 32u + lgLane();
            if (index < words) storeMade(4u * index, WordsIn(source).w[index], 4u);
        }
    }
    if (enabled && lgLane() == 0u && (size & 3u) != 0u)
        storeMade(words * 4u, WordsIn(source).w[words], size & 3u);
}

// Runs each stage in a lane group of its own. The result, the tile's status, is valid in the second
// half of the workgroup, which runs the expand stage.
uint decodePaired() {
    bool running = true, more = true;
    uint turn = 0u;
    if (lgLane() == 0u) // the result of the turn before the first one
        sPhase[kTiles + tileIndex()] = uvec4(0u, SLUICE_ST_PENDING, SLUICE_ST_OK, 0u);
    wgBarrierShared();
    SLUICE_DONT_UNROLL
    while (wgAny(running)) {
        uint place = turn * kTiles + tileIndex();
        if (wgAny(lgIndex() < kTiles)) {
            decodeResume();
            if (wgAny(more)) decodePhase();
            if (lgLane() == 0u) {
                sPhase[place].x = tokensComplete();
                sPhase[place].y = gStatus;
            }
            decodeSuspend();
        } else {
            uvec4 previous = sPhase[(turn ^ 1u) * kTiles + tileIndex()];
            lzResume();
            uint status = lzExpand(previous.z == SLUICE_ST_OK, previous.x, more);
            lzSuspend();
            if (lgLane() == 0u) sPhase[place].z = previous.z != SLUICE_ST_OK ? previous.z : status;
        }
        wgBarrierShared();
        running = more;
        more = false;
        SLUICE_UNROLL
        for (uint i = 0u; i < 4u; ++i)
            if (i < kTiles)
                more = more || (sPhase[turn * kTiles + i].y == SLUICE_ST_PENDING &&
                                sPhase[turn * kTiles + i].z == SLUICE_ST_OK);
        turn ^= 1u;
    }
    lzResume();
    uvec4 last = sPhase[(turn ^ 1u) * kTiles + tileIndex()];
    return last.z != SLUICE_ST_OK ? last.z : last.y;
}

// Runs both stages alternately in one lane group.
uint decodeInTurn() {
    uint status = SLUICE_ST_OK;
    bool again;
    SLUICE_DONT_UNROLL
    do {
        decodeResume();
        decodePhase();
        uint complete = tokensComplete();
        bool more = wgAny(gStatus == SLUICE_ST_PENDING);
        decodeSuspend();
        lzResume();
        // With kUnpaired there is one tile, and the first error ends the loop.
        uint result = lzExpand(kUnpaired || status == SLUICE_ST_OK, complete, more);
        lzSuspend();
        status = mix(status, result, kUnpaired || status == SLUICE_ST_OK);
        again = wgAny(more && status == SLUICE_ST_OK);
    } while (again);
    decodeResume();
    lzResume();
    return status != SLUICE_ST_OK ? status : gStatus;
}

void main() {
    huffmanBegin();
    uint group = wgIndex();
    uint index = group * kTiles + tileIndex();
    bool enabled = index < regionCount(), good = false;
    Region region = Region(uvec2(0u), uvec2(0u), uvec2(0u), uvec2(0u));
    uint status = SLUICE_ST_OK;
    if (enabled) {
        region = loadRegion(index);
        good = sourceAllowed(region, SLUICE_GD_MAX_COMPRESSED) &&
               destinationAllowed(region, SLUICE_GD_TILE_BYTES);
        if (!good) status = SLUICE_ST_BAD_REGION;
    }
    gLzOut = region.destination;
    gLzPitched = kPitch == 0u ? p.rowBytes != 0u : kPitch == 2u;
    if (gLzPitched)
        pitchBegin(uvec4(p.rowBytes, p.rowPitch, p.rowMagic, p.rowShift), p.destination,
                   sub64(region.destination, p.destination));
    bool plain = good && (p.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u &&
                 region.sourceSize.x == region.size.x;
    if ((p.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u)
        copyStored(plain && (!kPaired || lgIndex() >= kTiles), region.source, region.size.x);
    bool compressed = good && !plain;
    // A tile that is not compressed takes part, with no tokens and no bytes to produce.
    gLzSize = compressed ? region.size.x : 0u;
    gState = compressed ? kAtHeader : kDone;
    gStatus = compressed ? SLUICE_ST_PENDING : status;
    gBlocks = gTokens = gTokensBefore = gStoredLeft = gPending = gSlot = 0u;
    gUpper = kLiteral;
    if (wgAny(!kPaired || lgIndex() < kTiles)) {
        bitsBegin(compressed, region.source, region.sourceSize.x);
        fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
        decodeSuspend();
    }
    if (wgAny(!kPaired || lgIndex() >= kTiles)) lzBegin(enabled ? index : ~0u);
#if !defined(SLUICE_NARROW) && !defined(SLUICE_EMU)
    if (kPaired) {
        status = decodePaired();
    } else
#endif
        status = decodeInTurn();
    if (kSuspends) {
        index = lzRegion();
        enabled = index != ~0u;
    }
    if (status == SLUICE_ST_OK && gEnd < gLzSize) status = SLUICE_ST_TOO_SHORT;
    // A loop that the driver has left early must not look like success.
    if (status == SLUICE_ST_PENDING || (status == SLUICE_ST_OK && gAt < gEnd))
        status = SLUICE_ST_INTERNAL;
    if (!lgLoopsGoOn() && good) status = SLUICE_ST_INTERNAL;

    if (enabled && lgLane() == 0u && (!kPaired || lgIndex() >= kTiles))
        writeStatus(p.status, p.maxRegionCount, index, status);
}
