// SPDX-License-Identifier: MIT OR Apache-2.0
// The headers of GDeflate blocks (docs/format.md, 1.3), and the codes that they describe. A lane
// group whose `enabled` is false takes part in barriers and ballots, but changes nothing.
#ifndef SLUICE_GDEFLATE_HEADER_GLSL
#define SLUICE_GDEFLATE_HEADER_GLSL

#include "loops.glsl"
#include "gdeflate_state.glsl"
#include "huffman.glsl"

// Returns the symbol of the precode whose code length is the i-th in a header (RFC 1951, 3.2.7).
// The precode is the code in which the code lengths are written.
uint precodeOrder(uint i) {
    const uint order[19] = uint[19](16u, 17u, 18u, 0u, 8u, 7u, 9u, 6u, 10u, 5u, 11u, 4u, 12u, 3u,
                                    13u, 2u, 14u, 1u, 15u);
    return order[min(i, 18u)];
}

// Reads the `total` code lengths of a dynamic block: those of literals and lengths, then those of
// distances. In each round every lane decodes one symbol of the precode, which stands for one or
// more code lengths.
void readCodeLengths(bool enabled, uint total) {
    uint lane = lgLane();
    uint position = 0u;
    uint carried = 0u; // the last code length of the previous round
    SLUICE_DONT_UNROLL
    while (wgAny(enabled && gState != kDone && position < total)) {
        bool on = enabled && gState != kDone && position < total;
        uvec2 decoded = huffmanDecode(bitsPeek(), kLitCode);
        uint len = decoded.x, symbol = decoded.y & 31u;
        uint extraBits = symbol < 16u ? 0u : symbol == 16u ? 2u : symbol == 17u ? 3u : 7u;
        uint extra = bitfieldExtract(bitsPeek(), int(len), int(extraBits));
        uint run = symbol < 16u ? 1u : (symbol == 18u ? 11u : 3u) + extra;
        uint before, covered;
        uint defines = lgBallot3Scan(false, symbol != 16u, false, on ? run : 0u, before, covered).y;
        uint at = position + before;
        bool valid = on && at < total;

        // Symbol 16 repeats the previous code length: that of the nearest lower lane whose symbol
        // is not 16.
        uint source = symbol == 16u ? defines & lgLanesBelow() : 1u << lane;
        lgShare(symbol < 16u ? symbol : 0u);
        uint value = lgShared(mix(uint(findMSB(source)), 0u, source == 0u));
        value = mix(value, carried, source == 0u);
        // Only runs of zeros are longer than 6, and zeros need not be stored.
        if (valid && value != 0u) setCodeLengths(at, value, min(run, min(total - at, 6u)));
        if (valid) bitsConsume(len + extraBits);
        uint last = lgShared(mix(uint(findMSB(defines)), 0u, defines == 0u));
        carried = mix(last, carried, defines == 0u);

        uint bad = lgBallot(valid && (at + run > total || (symbol == 16u && at == 0u)));
        bitsRefill(on);
        if (on) {
            position += covered;
            fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
            fail(bad != 0u, SLUICE_ST_BAD_CODE);
        }
    }
    fail(enabled && gState != kDone && position < total, SLUICE_ST_INTERNAL);
}

// Reads the header of the next block and builds its codes.
void readHeader(bool enabled) {
    uint lane = lgLane();
    if (!kLockstep || enabled) {
        // At a header, these variables have these values already, or nobody needs them any more.
        // The assignments tell this to the compiler. So it does not keep the old values in
        // registers while the header is read.
        gSlot = 0u;
        gUpper = kLiteral;
        gTokensBefore = gTokens;
        gPending = 0u;
    }
    if (enabled) {
        fail(gBlocks == SLUICE_GD_MAX_BLOCKS, SLUICE_ST_LIMIT);
        gBlocks += 1u;
    }
    enabled = enabled && gState != kDone;

    // Lane 0 holds the bits of the header and shares them.
    lgShare(bitsPeek());
    uint header = lgShared(0u);
    if (enabled && lane == 0u) bitsConsume(3u);
    bitsRefill(enabled);
    uint type = (header >> 1) & 3u;
    if (enabled) {
        gBlocks |= (header & 1u) * kFinal;
        fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
        fail(type == 3u, SLUICE_ST_BAD_CODE);
    }
    enabled = enabled && gState != kDone;

    bool stored = enabled && type == 0u, fixedCodes = enabled && type == 1u,
         dynamic = enabled && type == 2u;
    if (wgAny(stored || dynamic)) {
        lgShare(bitsPeek());
        header = lgShared(0u);
        if (lane == 0u && (stored || dynamic)) bitsConsume(stored ? 16u : 14u);
        // In a stored block, the length and the first byte are a single step of the format. So the
        // refill comes only after that byte.
        bitsRefill(dynamic);
        if (stored) {
            gStoredLeft = header & 0xffffu;
            gState = kInStored;
        }
        fail(dynamic && bitsTruncated(), SLUICE_ST_TRUNCATED);
        dynamic = dynamic && gState != kDone;
    }

    uint litCount = SLUICE_GD_LITLEN_SYMS, distCount = SLUICE_GD_DIST_SYMS;
    huffmanBuildAt(tokenAt((gTokens + 63u) & ~63u));
    if (wgAny(dynamic)) {
        uint preCount = ((header >> 10) & 15u) + 4u;
        bool mine = dynamic && lane < preCount;
        clearCodeLengths(dynamic);
        if (mine) {
            setCodeLengths(precodeOrder(lane), bitsPeek() & 7u, 1u);
            bitsConsume(3u);
        }
        bitsRefill(dynamic);
        fail(dynamic && bitsTruncated(), SLUICE_ST_TRUNCATED);
        dynamic = dynamic && gState != kDone;

        bool good = huffmanSort(dynamic, kPrecode, kLitCode, kLitFirst, 0u, 19u, false);
        fail(dynamic && !good, SLUICE_ST_BAD_CODE);
        dynamic = dynamic && gState != kDone;
        if (dynamic) {
            litCount = (header & 31u) + 257u;
            distCount = ((header >> 5) & 31u) + 1u;
        }
        clearCodeLengths(dynamic);
        readCodeLengths(dynamic, litCount + distCount);
        dynamic = dynamic && gState != kDone;
    }
    if (fixedCodes) {
        // The code lengths are those of RFC 1951, 3.2.6; each word has eight of them.
        sToken[gLengths + lane] = lane < 18u ? 0x88888888u : 0x99999999u;
        if (lane < 8u)
            sToken[gLengths + 32u + lane] = lane < 3u   ? 0x77777777u
                                            : lane < 4u ? 0x88888888u
                                                        : 0x55555555u;
    }
    bool codes = fixedCodes || dynamic;
    if (wgAny(codes)) {
        bool goodLit = huffmanSort(codes, kLitCode, kLitCode, kLitFirst, 0u, litCount, true);
        bool goodDist =
            huffmanSort(codes, kDistCode, kDistCode, kDistFirst, litCount, distCount, false);
        fail(codes && !(goodLit && goodDist), SLUICE_ST_BAD_CODE);
        codes = codes && gState != kDone;
        if (codes) gState = kInSymbols;
    }
}

#endif // SLUICE_GDEFLATE_HEADER_GLSL
