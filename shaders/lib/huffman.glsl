// SPDX-License-Identifier: MIT OR Apache-2.0
// Canonical Huffman codes for a lane group: sorting the symbols, checking the code, decoding.
//
// There is no 2^n look-up table: shared memory decides how many tiles an SM holds, and filling a table takes longer than it
// saves (docs/performance.md). A code needs only the end of the codes of each length, 16 words, and its symbols in
// canonical order. The rank of a symbol among those of its length is a population count of the lanes below that hold the
// same length.
#ifndef SLUICE_HUFFMAN_GLSL
#define SLUICE_HUFFMAN_GLSL

const uint kSymbols = 320u; // of both alphabets together

// Code lengths while a code is built, 4 bits each.
shared uint sLengths[kTiles * (kSymbols / 8u)];
// What the includer wants to know of each symbol, huffmanPayload(kind, symbol, length), in canonical order.
shared uint sSorted[kTiles * kSymbols];
// Per code four quads; component l - 1 of them (l = 1 .. 15): the end of the codes of length <= l, left-aligned to 15 bits, in
// the high half; in the low half what to add to a code of length l to get its symbol's place, modulo 2^16.
shared uvec4 sQuads[kTiles * 8u];
shared uint sLane[kTiles * 32u]; // one word a lane, for whoever needs it between two barriers

uint gLengths, gSorted, gQuads, gLane; // where this lane group's parts begin

void huffmanBegin() {
    gLengths = tileIndex() * (kSymbols / 8u);
    gSorted = tileIndex() * kSymbols;
    gQuads = tileIndex() * 8u;
    gLane = tileIndex() * 32u;
}

uint codeLength(uint symbol) { return (sLengths[gLengths + (symbol >> 3)] >> ((symbol & 7u) * 4u)) & 15u; }

// The place must hold 0.
void setCodeLength(uint symbol, uint length_) { atomicOr(sLengths[gLengths + (symbol >> 3)], length_ << ((symbol & 7u) * 4u)); }

void clearCodeLengths(bool enabled) {
    lgBarrierShared();
    if (enabled) {
        sLengths[gLengths + lgLane()] = 0u;
        if (lgLane() < 8u)
            sLengths[gLengths + 32u + lgLane()] = 0u;
    }
    lgBarrierShared();
}

// Sorts n symbols, those from `first` on, by code length; at most chunks * 32. They take the places from `first` on in
// sSorted, and `code` (0 or 1) says which quads; `kind` is for huffmanPayload. `first` is even. Returns false for a code that is neither complete, nor a
// single symbol of length 1, nor empty (the rule of libdeflate 1.8; the last two decode to one symbol whatever the bit).
// Code lengths must be visible; sSorted and sQuads are visible afterwards.
bool huffmanSort(bool enabled, uint kind, uint code, uint first, uint n, uint chunks) {
    uint lane = lgLane();
    lgBarrierShared();
    sLane[gLane + lane] = 0u;
    lgBarrierShared();
    [[dont_unroll]] for (uint chunk = 0u; chunk < chunks; ++chunk) {
        uint symbol = chunk * 32u + lane;
        uint len = enabled && symbol < n ? codeLength(first + symbol) : 0u;
        if (len != 0u)
            atomicAdd(sLane[gLane + len], 1u);
    }
    lgBarrierShared();

    // Lane l owns length l: its codes begin after those of all shorter ones. One scan for two sums: of the code space, in
    // units of 2^-15, above 9 bits of the symbols.
    uint count = lane >= 1u && lane < 16u ? sLane[gLane + lane] : 0u;
    uint ones = sLane[gLane + 1u];
    uint space = count << (15u - min(lane, 15u)), before, total;
    lgBallot3Scan(false, false, false, space << 9 | count, before, total);
    uint myRank = before & 511u, first_ = before >> 9, symbols = total & 511u, used = total >> 9;
    bool single = symbols == 0u || (symbols == 1u && ones == 1u);
    uint myEnd = single ? 0x8000u : first_ + space;
    uint myDelta = single ? 0u : myRank - (first_ >> (15u - min(lane, 15u)));
    lgBarrierShared();
    if (enabled && lane >= 1u && lane < 16u)
        sQuads[gQuads + code * 4u + ((lane - 1u) >> 2)][(lane - 1u) & 3u] =
            min(myEnd, 0xffffu) << 16 | ((myDelta + first) & 0xffffu);
    sLane[gLane + lane] = myRank;
    if (enabled && lane < 2u)
        sSorted[gSorted + first + lane] = huffmanPayload(kind, 0u, 1u);
    lgBarrierShared();

    [[dont_unroll]] for (uint chunk = 0u; chunk < chunks; ++chunk) {
        uint symbol = chunk * 32u + lane;
        uint len = enabled && symbol < n ? codeLength(first + symbol) : 0u;
        uvec3 low = lgBallot3((len & 1u) != 0u, (len & 2u) != 0u, (len & 4u) != 0u);
        uint high = lgBallot((len & 8u) != 0u);
        uint same = ((len & 1u) != 0u ? low.x : ~low.x) & ((len & 2u) != 0u ? low.y : ~low.y) &
                    ((len & 4u) != 0u ? low.z : ~low.z) & ((len & 8u) != 0u ? high : ~high);
        // However long the codes, there are at most n symbols: the place stays inside the alphabet's part.
        uint place = first + sLane[gLane + len] + uint(bitCount(same & lgLanesBelow()));
        lgBarrierShared();
        if (len != 0u) {
            uint payload = huffmanPayload(kind, symbol, len);
            sSorted[gSorted + place] = payload;
            if (single)
                sSorted[gSorted + first + 1u] = payload;
            if ((same >> lane) == 1u)
                sLane[gLane + len] = place - first + 1u;
        }
        lgBarrierShared();
    }
    return single || used == 0x8000u;
}

// The ends of lengths 4, 8 and 12 as they stand in the quads, which huffmanDecode wants in registers.
uvec3 huffmanSteps(uint code) {
    uint quads = gQuads + code * 4u;
    return uvec3(sQuads[quads].w, sQuads[quads + 1u].w, sQuads[quads + 2u].w) & 0xffff0000u;
}

// Decodes the code at the low end of bitsAhead: x: its length, y: its symbol's payload. Only for codes that huffmanSort
// accepted; for others the result is meaningless, but no access leaves the tables. No branches.
uvec2 huffmanDecode(uint bitsAhead, uint code, uvec3 steps) {
    uint c = bitfieldReverse(bitsAhead) >> 1 | 0xffffu; // the code left-aligned to 15 bits in the high half
    bool upper = c >= steps.y;
    uint quarter = mix(0u, 2u, upper) + mix(0u, 1u, c >= mix(steps.x, steps.z, upper));
    uvec4 quad = sQuads[gQuads + code * 4u + quarter];
    bool x = c >= quad.x, y = c >= quad.y, z = c >= quad.z;
    uint entry = mix(mix(mix(quad.x, quad.y, x), quad.z, y), quad.w, z);
    uint len = 4u * quarter + 1u + mix(0u, 1u, x) + mix(0u, 1u, y) + mix(0u, 1u, z);
    uint place = min(((c >> ((31u - len) & 31u)) + entry) & 0xffffu, kSymbols - 1u);
    return uvec2(len, sSorted[gSorted + place]);
}

#endif // SLUICE_HUFFMAN_GLSL
