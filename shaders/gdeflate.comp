// SPDX-License-Identifier: MIT OR Apache-2.0
// GDeflate 1.0 decode: one tile a lane group. Format, rounds, limits and the order of errors: docs/format.md.
//
// Symbols run ahead of copies: the bit streams do not depend on the output, so the lanes decode round after round,
// write literals at once and queue matches; 32 queued matches at a time are copied together (lib/lz_copy.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/layout.h"
#include "lib/bit_reader.glsl"
#include "lib/huffman.glsl"
#include "lib/lz_copy.glsl"

layout(push_constant) uniform Push { RegionParams params; };

// The two codes of a block, and where their symbols begin in the tables of lib/huffman.glsl. The precode takes the place of
// the literal/length code, which is built after it.
const uint kLitCode = 0u, kLitFirst = 0u;
const uint kDistCode = 1u, kDistFirst = 288u;

// What a lane group is doing.
const uint kHeader = 0u;  // at the start of a block
const uint kHuffman = 1u; // inside a block of codes
const uint kTail = 2u;    // after its end-of-block symbol: distances still to come
const uint kStored = 3u;  // inside a stored block
const uint kFlush = 4u;   // all symbols read
const uint kDone = 5u;

// State of the lane group, the same in all of its lanes.
uint gPhase, gStatus;
uint gBlocks;      // blocks begun
bool gFinal;       // this is the last one
uint gOut;         // bytes of output that have a symbol
uint gStoredLeft;  // bytes left in the stored block
uint gPendingMask; // lanes whose length still wants its distance
uvec3 gLitSteps, gDistSteps; // of the block's codes (huffmanSteps)
// State of the lane.
uint gMatchPosition, gMatchLength;

void fail(bool condition, uint status) {
    if (condition && gPhase != kDone) {
        gStatus = status;
        gPhase = kDone;
    }
}

void blockDone() { gPhase = gFinal ? kFlush : kHeader; }

// Index in a list of `count` code lengths where precode length i stands (RFC 1951, 3.2.7).
uint precodeOrder(uint i) {
    const uint order[19] = uint[19](16u, 17u, 18u, 0u, 8u, 7u, 9u, 6u, 10u, 5u, 11u, 4u, 12u, 3u, 13u, 2u, 14u, 1u, 15u);
    return order[min(i, 18u)];
}

// Reads the code lengths of a dynamic block.
void readCodeLengths(bool enabled, uint litCount, uint distCount) {
    uint lane = lgLane();
    uint total = litCount + distCount;
    uint position = 0u;
    uint carried = 0u; // the last length of the round before
    uvec3 steps = huffmanSteps(kLitCode);
    while (wgAny(enabled && gPhase != kDone && position < total)) {
        bool on = enabled && gPhase != kDone && position < total;
        uvec2 decoded = huffmanDecode(bitsPeek(), kLitCode, kLitFirst, steps);
        uint len = decoded.x, symbol = decoded.y;
        uint extraBits = symbol < 16u ? 0u : symbol == 16u ? 2u : symbol == 17u ? 3u : 7u;
        uint extra = bitfieldExtract(bitsPeek(), int(len), int(extraBits));
        uint run = symbol < 16u ? 1u : (symbol == 18u ? 11u : 3u) + extra;
        uint before, covered;
        uint defines = lgBallot3Scan(false, symbol != 16u, false, on ? run : 0u, before, covered).y;
        uint at = position + before;
        bool valid = on && at < total;

        lgBarrierShared();
        sLane[gLane + lane] = symbol < 16u ? symbol : 0u;
        lgBarrierShared();
        uint source = defines & lgLanesBelow();
        uint value = symbol < 16u ? symbol
                     : symbol > 16u ? 0u
                     : source != 0u ? sLane[gLane + uint(findMSB(source))]
                                    : carried;
        if (valid && value != 0u)
            [[unroll]] for (uint k = 0u; k < 6u; ++k)
                if (k < run && at + k < total) {
                    uint i = at + k;
                    setCodeLength(i < litCount ? i : i - litCount + kDistFirst, value);
                }
        if (valid)
            bitsConsume(len + extraBits);
        if (defines != 0u)
            carried = sLane[gLane + uint(findMSB(defines))];

        bool take = on && gBitsCount < 32u;
        bool bad = valid && (at + run > total || (symbol == 16u && at == 0u));
        uvec3 votes = lgBallot3(take, bad, false);
        bitsTake(take, votes.x);
        if (on) {
            position += covered;
            fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
            fail(votes.y != 0u, SLUICE_ST_BAD_CODE);
        }
    }
    fail(enabled && gPhase != kDone && position < total, SLUICE_ST_INTERNAL);
}

// Reads one block's header and builds its tables.
void readHeader(bool enabled) {
    uint lane = lgLane();
    if (enabled) {
        fail(gBlocks == SLUICE_GD_MAX_BLOCKS, SLUICE_ST_LIMIT);
        gBlocks += 1u;
    }
    enabled = enabled && gPhase != kDone;

    // Lane 0 holds the header; every lane of the group learns it through shared memory.
    lgBarrierShared();
    if (lane == 0u)
        sLane[gLane] = bitsPeek();
    lgBarrierShared();
    uint header = sLane[gLane];
    if (enabled && lane == 0u)
        bitsConsume(3u);
    bitsRefill(enabled);
    uint type = (header >> 1) & 3u;
    if (enabled) {
        gFinal = (header & 1u) != 0u;
        fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
        fail(type == 3u, SLUICE_ST_BAD_CODE);
    }
    enabled = enabled && gPhase != kDone;

    bool stored = enabled && type == 0u, fixedCodes = enabled && type == 1u, dynamic = enabled && type == 2u;
    if (wgAny(stored || dynamic)) {
        lgBarrierShared();
        if (lane == 0u)
            sLane[gLane] = bitsPeek();
        lgBarrierShared();
        header = sLane[gLane];
        if (lane == 0u && (stored || dynamic))
            bitsConsume(stored ? 16u : 14u);
        bitsRefill(dynamic); // a stored block's first byte belongs to the same step as its length
        if (stored) {
            gStoredLeft = header & 0xffffu;
            gPhase = kStored;
            fail(gStoredLeft > gLzSize - gOut, SLUICE_ST_TOO_LONG);
        }
        fail(dynamic && bitsTruncated(), SLUICE_ST_TRUNCATED);
        dynamic = dynamic && gPhase != kDone;
    }

    uint litCount = SLUICE_GD_LITLEN_SYMS, distCount = SLUICE_GD_DIST_SYMS;
    if (wgAny(dynamic)) {
        uint preCount = ((header >> 10) & 15u) + 4u;
        bool mine = dynamic && lane < preCount;
        clearCodeLengths(dynamic);
        if (mine) {
            setCodeLength(precodeOrder(lane), bitsPeek() & 7u);
            bitsConsume(3u);
        }
        bitsRefill(dynamic);
        fail(dynamic && bitsTruncated(), SLUICE_ST_TRUNCATED);
        dynamic = dynamic && gPhase != kDone;

        bool good = huffmanSort(dynamic, kLitCode, kLitFirst, 19u, 1u);
        fail(dynamic && !good, SLUICE_ST_BAD_CODE);
        dynamic = dynamic && gPhase != kDone;
        if (dynamic) {
            litCount = (header & 31u) + 257u;
            distCount = ((header >> 5) & 31u) + 1u;
        }
        clearCodeLengths(dynamic);
        readCodeLengths(dynamic, litCount, distCount);
        dynamic = dynamic && gPhase != kDone;
    }
    if (fixedCodes) {
        // RFC 1951, 3.2.6; eight code lengths a word.
        sLengths[gLengths + lane] = lane < 18u ? 0x88888888u : 0x99999999u;
        if (lane < 8u)
            sLengths[gLengths + 32u + lane] = lane < 3u ? 0x77777777u : lane < 4u ? 0x88888888u : 0x55555555u;
    }
    bool codes = fixedCodes || dynamic;
    if (wgAny(codes)) {
        bool goodLit = huffmanSort(codes, kLitCode, kLitFirst, litCount, 9u);
        bool goodDist = huffmanSort(codes, kDistCode, kDistFirst, distCount, 1u);
        fail(codes && !(goodLit && goodDist), SLUICE_ST_BAD_CODE);
        if (codes && gPhase != kDone) {
            gPhase = kHuffman;
            gLitSteps = huffmanSteps(kLitCode);
            gDistSteps = huffmanSteps(kDistCode);
        }
    }
}

// One round: a lane with a pending length decodes its distance, any other a literal/length symbol.
void huffmanRound(bool enabled) {
    uint lane = lgLane();
    bool distance = enabled && (gPendingMask >> lane & 1u) != 0u;
    bool litlen = enabled && gPhase == kHuffman && !distance;

    uint bitsAhead = bitsPeek();
    uvec2 decoded = huffmanDecode(bitsAhead, distance ? kDistCode : kLitCode, distance ? kDistFirst : kLitFirst,
                                  distance ? gDistSteps : gLitSteps);
    uint len = decoded.x, symbol = decoded.y;

    // Both kinds of code: a mantissa of 1 (distance) or 2 (length) bits below its leading one, shifted by the extra bits.
    bool isLength = !distance && symbol > 256u;
    uint slot = distance ? symbol : symbol - 257u;
    uint mantissaBits = distance ? 1u : 2u;
    uint extraBits = max(slot >> mantissaBits, 1u) - 1u;
    uint base = (distance ? 1u : 3u) +
                (slot >> mantissaBits == 0u ? slot : ((1u << mantissaBits) + (slot & ((1u << mantissaBits) - 1u))) << extraBits);
    if (!distance && slot == 28u) {
        extraBits = 16u;
        base = 3u;
    }
    bool undefined = isLength && slot > 28u;
    if (!distance && !isLength || undefined)
        extraBits = 0u;
    uint value = base + bitfieldExtract(bitsAhead, int(len), int(extraBits));

    bool end = litlen && symbol == 256u;
    isLength = litlen && isLength;
    uint produced = isLength ? value : litlen && symbol < 256u ? 1u : 0u;
    uint before, total;
    uvec3 votes = lgBallot3Scan(end, isLength, litlen && undefined, produced, before, total);

    // Lanes above the end-of-block symbol have read nothing.
    uint upToEnd = votes.x == 0u ? 0xffffffffu : (2u << uint(findLSB(votes.x))) - 1u;
    litlen = litlen && (upToEnd >> lane & 1u) != 0u;
    isLength = isLength && litlen;
    uint position = gOut + before;
    if (litlen && symbol < 256u)
        storeByte(position, symbol);
    lzPush(distance, enabled ? gPendingMask : 0u, gMatchPosition, gMatchLength, value);
    bool badOffset = distance && value > gMatchPosition;
    if (litlen || distance)
        bitsConsume(len + extraBits);
    if (isLength) {
        gMatchPosition = position;
        gMatchLength = value;
    }

    bool take = enabled && gBitsCount < 32u;
    uvec3 after = lgBallot3(take, badOffset, false);
    bitsTake(take, after.x);
    if (enabled) {
        gPendingMask = votes.y & upToEnd;
        gOut += total;
        fail((votes.z & upToEnd) != 0u, SLUICE_ST_BAD_CODE);
        fail(after.y != 0u, SLUICE_ST_BAD_OFFSET);
        fail(gOut > gLzSize, SLUICE_ST_TOO_LONG);
        fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
        if (gPhase == kTail || (gPhase == kHuffman && votes.x != 0u)) {
            if (gPendingMask != 0u)
                gPhase = kTail;
            else
                blockDone();
        }
    }
}

// One round of a stored block: 32 bytes.
void storedRound(bool enabled) {
    uint lane = lgLane();
    if (enabled && lane < gStoredLeft) {
        storeByte(gOut + lane, bitsPeek() & 0xffu);
        bitsConsume(8u);
    }
    bitsRefill(enabled);
    if (enabled) {
        uint n = min(gStoredLeft, 32u);
        gOut += n;
        gStoredLeft -= n;
        fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
        if (gStoredLeft == 0u && gPhase == kStored)
            blockDone();
    }
}

// Plain bytes instead of a compressed tile.
void copyStored(bool enabled, uvec2 source, uint size) {
    uint words = enabled ? size >> 2 : 0u;
    for (uint i = 0u; wgAny(i < words); i += 256u)
        [[unroll]] for (uint k = 0u; k < 8u; ++k) {
            uint index = i + k * 32u + lgLane();
            if (index < words)
                WordsOut(gLzOut).w[index] = WordsIn(source).w[index];
        }
    if (enabled && lgLane() < (size & 3u))
        storeByte(words * 4u + lgLane(), (WordsIn(source).w[words] >> (lgLane() * 8u)) & 0xffu);
}

#ifndef SLUICE_EXT
// Without 8-bit stores bytes are or-ed in: clear the tile, but for the bytes of the last word that are not ours.
void clearTile(bool enabled) {
    uint words = enabled ? gLzSize >> 2 : 0u;
    for (uint i = 0u; wgAny(i < words); i += 1024u)
        [[unroll]] for (uint k = 0u; k < 32u; ++k) {
            uint index = i + k * 32u + lgLane();
            if (index < words)
                WordsOut(gLzOut).w[index] = 0u;
        }
    if (enabled && lgLane() == 0u && (gLzSize & 3u) != 0u)
        atomicAnd(WordsOut(gLzOut).w[words], 0xffffffffu << ((gLzSize & 3u) * 8u));
    lgBarrierAll();
}
#endif

void main() {
    huffmanBegin();
    uint group = gl_WorkGroupID.y * params.gridX + gl_WorkGroupID.x;
    uint region = group * kGroupsPerWorkgroup + lgIndex();
    uint count = params.maxRegionCount;
    if (params.regionCount != uvec2(0u))
        count = min(count, WordsIn(params.regionCount).w[0]);
    bool enabled = region < count;

    uvec2 source = uvec2(0u), destination = uvec2(0u), sourceSize = uvec2(0u), size = uvec2(0u);
    gStatus = SLUICE_ST_OK;
    gPhase = kDone;
    if (enabled) {
        WordsIn list = WordsIn(add64(params.regions, mul64(region, params.regionStride)));
        source = uvec2(list.w[0], list.w[1]);
        destination = uvec2(list.w[2], list.w[3]);
        sourceSize = uvec2(list.w[4], list.w[5]);
        size = uvec2(list.w[6], list.w[7]);
        bool good = ((source.x | destination.x) & 3u) == 0u && sourceSize.y == 0u && size.y == 0u &&
                    sourceSize.x - 1u < SLUICE_GD_MAX_COMPRESSED && size.x - 1u < SLUICE_GD_TILE_BYTES &&
                    inside64(source, sourceSize, params.source, params.sourceSize) &&
                    inside64(destination, size, params.destination, params.destinationSize);
        if (good)
            gPhase = kHeader;
        else
            gStatus = SLUICE_ST_BAD_REGION;
    }
    gLzOut = destination;
    gLzSize = size.x;
    gRingHead = gRingCount = 0u;
    gBlocks = gOut = gStoredLeft = gPendingMask = 0u;
    gFinal = false;
    gMatchPosition = gMatchLength = 0u;
    gLitSteps = gDistSteps = uvec3(0u);

#ifndef SLUICE_EXT
    clearTile(gPhase == kHeader);
#endif
    if ((params.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u) {
        bool plain = gPhase == kHeader && sourceSize.x == size.x;
        copyStored(plain, source, size.x);
        if (plain)
            gPhase = kDone;
    }
    bitsBegin(gPhase != kDone, source, sourceSize.x);
    fail(bitsTruncated(), SLUICE_ST_TRUNCATED);

    // Every pass makes progress: it reads a header, or decodes until the ring is full or the block ends, or flushes.
    while (wgAny(gPhase != kDone)) {
        if (wgAny(gPhase == kHeader))
            readHeader(gPhase == kHeader);
        while (wgAny((gPhase == kHuffman || gPhase == kTail) && gRingCount < 32u))
            huffmanRound((gPhase == kHuffman || gPhase == kTail) && gRingCount < 32u);
        while (wgAny(gPhase == kStored))
            storedRound(gPhase == kStored);
        if (wgAny(gPhase != kDone && (gRingCount >= 32u || gPhase == kFlush))) {
            bool whole = lzFlush(gPhase != kDone);
            fail(!whole, SLUICE_ST_INTERNAL);
        }
        if (gPhase == kFlush && gRingCount == 0u) {
            if (gOut < gLzSize)
                gStatus = SLUICE_ST_TOO_SHORT;
            gPhase = kDone;
        }
    }

    if (enabled && lgLane() == 0u) {
        if (gPhase != kDone)
            gStatus = SLUICE_ST_INTERNAL;
        WordsOut status = WordsOut(params.status);
        status.w[region] = gStatus;
        if (gStatus != SLUICE_ST_OK) {
            atomicAdd(status.w[params.maxRegionCount], 1u);
            atomicMin(status.w[params.maxRegionCount + 1u], region);
        }
    }
}
