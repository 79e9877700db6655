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
// Between the stages is a ring buffer of tokens in shared memory. Both stages work in *phases*, or
// turns: in a phase the decode stage adds the tokens of some rounds to the ring, and the expand
// stage takes them. Where lane groups are subgroups, two of them may share a tile ("paired"): each
// runs one stage, and a barrier separates the phases. Otherwise one lane group runs both stages in
// turn. With many tiles that is faster even for subgroups of 32, since more tiles are decoded at a
// time.
//
// src/cuda/gdeflate.cu has the same stages, with two warps for each tile and look-up tables of
// another shape.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/layout/gdeflate.h"
#include "lib/lanes.glsl"

layout(push_constant, std430) uniform Push { RegionParams p; };

// True if the two subgroups of a workgroup share the work on a tile, one for each stage (with 64
// lanes: on two tiles). It is true only on devices with subgroups of 32 lanes or more.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_PAIRED) const bool kPaired = false;
// True if lanes see each other's stores to the tile's output without coherent accesses. Then the
// output is accessed by WordsPlain and BytesPlain, which are not coherent.
layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const bool kPlainHistory = false;
// Says whether rows of the output have padding (pitch.glsl). 0: if p.rowBytes is not 0; 1: never;
// 2: always. Pipelines with 1 or 2 avoid a test of p.rowBytes, which costs a tenth of the speed.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_PITCH) const uint kPitch = 0u;
// The shared memory of a tile. 0: 3 KB; 1: 5 KB; 2: 9 KB. More of it makes each tile faster, but
// fewer tiles are decoded at a time. So it pays if there are few tiles anyway.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_ROOM) const uint kRoom = 0u;
const bool kRoomy = kRoom >= 1u, kRoomiest = kRoom >= 2u;

// True if one subgroup of 32 lanes decodes a tile alone, although two could share it.
const bool kUnpaired = kNative && !kPaired;
// True if a stage's variables are kept in shared memory while the other stage runs.
const bool kSuspends = kPaired || kUnpaired;

// kTiles is the number of tiles of a workgroup. tileIndex returns which of them this lane group
// works on.
const uint kTiles = kPaired ? kGroupsPerWorkgroup / 2u : kGroupsPerWorkgroup;
uint tileIndex() { return kPaired ? lgIndex() % kTiles : lgIndex(); }

// kPerLane is how many tokens a lane places at once (lz_expand.glsl), kRounds how many rounds a
// phase has, and kTokenRing how many tokens the ring holds.
//
// The ring must hold the tokens of a phase (of two phases if one is produced while the other is
// consumed), 32 tokens that wait for a distance, up to kAtOnce - 1 tokens that are not placed yet,
// and 128 tokens of an unfinished group of bytes. If bytes of a group copy bytes of the same group,
// lzFollow overwrites 132 words of the ring: those of the group's tokens, which have been read by
// then, and words before them. A phase that builds a code produces no tokens, so the code is built
// in the words that the phase's tokens would take.
//
// The smallest ring has 512 tokens, because its shared memory limits occupancy: with 3,200 bytes
// per tile, an SM holds 32 tiles of one subgroup each.
const uint kPerLane = kRoomy ? 4u : 2u, kRoomyRounds = kRoomiest ? 16u : 8u,
           kRounds = kPaired && !kRoomy ? 4u : kRoomyRounds;
const uint kRoomyTokenRing = kRoomiest ? 2048u : 1024u,
           kTokenRing = kRoomy ? kRoomyTokenRing : 512u;
shared uint sToken[kTiles * kTokenRing]; // see lib/lz_expand.glsl

#include "lib/region.glsl"
#include "lib/gdeflate_symbols.glsl"
#include "lib/gdeflate_header.glsl"
#include "lib/gdeflate_rounds.glsl"

// The two subgroups of a pair tell each other through these words how far they are. Each tile has
// two entries, used in alternate turns: x is the number of complete tokens, y the status of the
// decode stage, z the status of the expand stage.
shared uvec4 sPhase[kPaired ? 2u * kTiles : 1u];

// Does a phase of the decode stage: reads the header of a block, if that is next, and then does
// some rounds. With kUnpaired a phase does only one of the two, which takes fewer registers.
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

// Decodes a tile with each stage in a lane group of its own. Returns the tile's status. It is valid
// only in the second half of the workgroup, which runs the expand stage.
uint decodePaired() {
    bool running = true, more = true;
    uint turn = 0u;
    // The first turn reads this as if a turn before it had stored it.
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
        // With kUnpaired the workgroup has only one tile, and its first error ends the loop. So
        // `status` is always OK here, and is not tested.
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
    // A tile that is not decoded takes part in the barriers, as one without tokens and bytes.
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
