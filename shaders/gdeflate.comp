// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes GDeflate 1.0. docs/format.md, section 1, specifies the format, its limits and the order
// in which errors count.
//
// Decoding has two stages, because bits can be read without knowing the output:
// - The decode stage turns bits into *tokens*, a literal or a match each (lib/lz_expand.glsl
//   describes the word). A *round* reads one symbol in each of 32 lanes (lib/gdeflate_header.glsl,
//   lib/gdeflate_rounds.glsl).
// - The expand stage turns tokens into bytes, 128 at a time (lib/lz_expand.glsl).
//
// Between the stages is a ring of tokens in shared memory. Both stages work in *phases*, or turns:
// in a phase the decode stage adds the tokens of some rounds to the ring, and the expand stage
// takes them. Where lane groups are subgroups, two of them may share a tile ("paired"): each runs
// one stage, and a barrier separates the phases. Otherwise one lane group runs both stages in turn;
// that is also better where there are enough tiles for decoding more of them at a time to pay.
//
// src/cuda/gdeflate.cu has the same stages, with two warps for each tile and look-up tables of
// another shape.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/layout/gdeflate.h"
#include "lib/lanes.glsl"

layout(push_constant, std430) uniform Push { RegionParams p; };

// True if two subgroups share a tile, or two tiles if a subgroup has 64 lanes. It is true only on
// devices with subgroups of 32 lanes or more; a workgroup then has two subgroups.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_PAIRED) const bool kPaired = false;
// True if lanes see the tile's bytes without coherent accesses, through WordsPlain and BytesPlain.
layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const bool kPlainHistory = false;
// Says whether rows of the output have padding (pitch.glsl). 0: p.rowBytes tells; 1: never; 2:
// always. A test of p.rowBytes costs a tenth of the speed.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_PITCH) const uint kPitch = 0u;
// The shared memory that a tile gets. 0: 3 KB; 1: 5 KB; 2: 9 KB. Shared memory limits how many
// tiles the hardware works on at a time. If there are few tiles anyway, more of it makes each tile
// faster.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_ROOM) const uint kRoom = 0u;
const bool kRoomy = kRoom >= 1u, kRoomiest = kRoom >= 2u;

// True if one subgroup of 32 lanes decodes a tile alone, although two could share it.
const bool kUnpaired = kNative && !kPaired;
// True if a stage's variables are kept in shared memory while the other stage runs.
const bool kSuspends = kPaired || kUnpaired;

// The tiles of a workgroup, and which of them this lane group works on.
const uint kTiles = kPaired ? kGroupsPerWorkgroup / 2u : kGroupsPerWorkgroup;
uint tileIndex() { return kPaired ? lgIndex() % kTiles : lgIndex(); }

// kPerLane is how many tokens a lane places at once (lz_expand.glsl), kRounds how many rounds a
// phase has, and kTokenRing how many tokens the ring holds.
//
// The ring must hold the tokens of a phase (of two phases if one is produced while the other is
// consumed), 32 tokens that wait for a distance, up to kAtOnce - 1 (127) tokens that are not placed
// yet, and 128 tokens of an unfinished group of bytes. If bytes of a group copy bytes of the same
// group, lzFollow uses 132 places at and below the group's own tokens; these tokens have been read
// by then. A phase that builds a code produces no tokens, and the code is built in their places.
//
// The smallest ring has 512 tokens, because shared memory then decides how many tiles an SM holds:
// with 3,200 bytes per tile it holds 32 tiles of one subgroup each.
const uint kPerLane = kRoomy ? 4u : 2u, kRoomyRounds = kRoomiest ? 16u : 8u,
           kRounds = kPaired && !kRoomy ? 4u : kRoomyRounds;
const uint kRoomyTokenRing = kRoomiest ? 2048u : 1024u,
           kTokenRing = kRoomy ? kRoomyTokenRing : 512u;
shared uint sToken[kTiles * kTokenRing]; // see lib/lz_expand.glsl

#include "lib/region.glsl"
#include "lib/gdeflate_symbols.glsl"
#include "lib/gdeflate_header.glsl"
#include "lib/gdeflate_rounds.glsl"

// With these words the stages of a pair tell each other how far they are. Each tile has two
// entries, used in alternate turns: x is the number of complete tokens, y the status of the decode
// stage, z the status of the expand stage.
shared uvec4 sPhase[kPaired ? 2u * kTiles : 1u];

// Does a phase of the decode stage: a header, if one is next, and some rounds. With kUnpaired a
// phase does either a header or rounds, which takes fewer registers.
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

// Copies a tile that is stored uncompressed: the bytes in its source are its output.
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

// Decodes with each stage in a lane group of its own. The result, the tile's status, is valid in
// the second half of the workgroup, which runs the expand stage.
uint decodePaired() {
    bool running = true, more = true;
    uint turn = 0u;
    // The first turn reads this as the result of the turn before it.
    if (lgLane() == 0u)
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

// Decodes with both stages in one lane group, in turn. Returns the tile's status.
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
        // With kUnpaired there is only one tile in the workgroup, and its first error ends the
        // loop, so `status` is OK here.
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
    // A tile that is not decoded takes part in the barriers; it has no tokens and no bytes.
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
    // If the driver has left a loop early, the tile must not look as if it had been decoded.
    if (status == SLUICE_ST_PENDING || (status == SLUICE_ST_OK && gAt < gEnd))
        status = SLUICE_ST_INTERNAL;
    if (!lgLoopsGoOn() && good) status = SLUICE_ST_INTERNAL;

    if (enabled && lgLane() == 0u && (!kPaired || lgIndex() >= kTiles))
        writeStatus(p.status, p.maxRegionCount, index, status);
}
