// SPDX-License-Identifier: MIT OR Apache-2.0
// Canonical Huffman codes for a lane group: sorting the symbols, checking the code, decoding.
//
// There is no 2^n look-up table: shared memory decides how many tiles an SM holds, and filling a table takes longer than it
// saves (docs/performance.md). A code needs only the end of the codes of each length, 15 words, and its symbols in
// canonical order. The rank of a symbol among those of its length is a population count of the lanes below that hold the
// same length.
#ifndef SLUICE_HUFFMAN_GLSL
#define SLUICE_HUFFMAN_GLSL

const uint kSymbols = 320u; // of both alphabets together

// What the includer wants to know of each symbol, huffmanPayload(kind, symbol, length), in canonical order, 16 bits each.
shared uint sSorted[kTiles * (kSymbols / 2u)];
// Per code four quads; component l - 1 of them (l = 1 .. 15) is about the codes of length l:
//   bits 17 .. 31  the end of the codes of length <= l, left-aligned to 15 bits, minus 1
//   bits 5 .. 13   what to add to a code to get its symbol's place, modulo 2^9
//   bits 0 .. 4    32 - l
// or 0 if there is no code of length <= l. Behind them a fifth one with what they say of lengths 4, 8 and 12.
const uint kQuads = 5u;
shared uvec4 sQuads[kTiles * 2u * kQuads];

// While a code is built: code lengths, 4 bits each, and behind them a word for each length. They stand in the includer's
// array sToken; huffmanBuildAt says where.
const uint kBuildWords = kSymbols / 8u + 16u;

uint gSorted, gQuads;  // where this lane group's parts begin
uint gLengths, gRanks;

void huffmanBegin() {
    gSorted = tileIndex() * (kSymbols / 2u);
    gQuads = tileIndex() * 2u * kQuads;
}

// Index of kBuildWords words that nobody else uses until the code is built.
void huffmanBuildAt(uint index) {
    gLengths = index;
    gRanks = index + kSymbols / 8u;
}

uint codeLength(uint i) { return (sToken[gLengths + (i >> 3)] >> ((i & 7u) * 4u)) & 15u; }

// The same length `count` times, 1 .. 6. The places must hold 0.
void setCodeLengths(uint i, uint length_, uint count) {
    uint bits = length_ * (0x111111u >> (24u - 4u * count)), shift = (i & 7u) * 4u;
    atomicOr(sToken[gLengths + (i >> 3)], bits << shift);
    if (shift + 4u * count > 32u)
        atomicOr(sToken[gLengths + (i >> 3) + 1u], bits >> (32u - shift));
}

void clearCodeLengths(bool enabled) {
    lgBarrierShared();
    if (enabled) {
        sToken[gLengths + lgLane()] = 0u;
        if (lgLane() < 8u)
            sToken[gLengths + 32u + lgLane()] = 0u;
    }
    lgBarrierShared();
}

// Sorts n symbols by code length, at most chunks * 32; their code lengths are those from `lengths` on. They take the places
// from `first` on, an even number, in sSorted, and `code` (0 or 1) says which quads; `kind` is for huffmanPayload. Returns
// false for a code that is neither complete, nor a single symbol of length 1, nor empty (the rule of libdeflate 1.8; the
// last two decode to one symbol whatever the bit).
// Code lengths must be visible; sSorted and sQuads are visible afterwards.
bool huffmanSort(bool enabled, uint kind, uint code, uint first, uint lengths, uint n, uint chunks) {
    uint lane = lgLane();
    lgBarrierShared();
    if (lane < 16u)
        sToken[gRanks + lane] = 0u;
    lgBarrierShared();
    [[dont_unroll]] for (uint chunk = 0u; chunk < chunks; ++chunk) {
        uint symbol = chunk * 32u + lane;
        uint len = enabled && symbol < n ? codeLength(lengths + symbol) : 0u;
        if (len != 0u)
            atomicAdd(sToken[gRanks + len], 1u);
    }
    lgBarrierShared();

    // Lane l owns length l: its codes begin after those of all shorter ones. One scan for two sums: of the code space, in
    // units of 2^-15, above 9 bits of the symbols.
    uint count = lane >= 1u && lane < 16u ? sToken[gRanks + lane] : 0u;
    uint ones = sToken[gRanks + 1u];
    uint space = count << (15u - min(lane, 15u)), before, total;
    lgScan(space << 9 | count, before, total);
    uint myRank = before & 511u, first_ = before >> 9, symbols = total & 511u, used = total >> 9;
    bool single = symbols == 0u || (symbols == 1u && ones == 1u);
    uint myEnd = single ? 0x8000u : first_ + space;
    uint myDelta = single ? 0u : myRank - (first_ >> (15u - min(lane, 15u)));
    lgBarrierShared();
    if (enabled && lane >= 1u && lane < 16u) {
        uint about = myEnd == 0u ? 0u : (min(myEnd, 0x8000u) - 1u) << 17 | ((myDelta + first) & 511u) << 5 | (32u - lane);
        sQuads[gQuads + code * kQuads + ((lane - 1u) >> 2)][(lane - 1u) & 3u] = about;
        if ((lane & 3u) == 0u)
            sQuads[gQuads + code * kQuads + 4u][(lane >> 2) - 1u] = about;
    }
    if (lane < 16u)
        sToken[gRanks + lane] = myRank;
    if (enabled)
        [[unroll]] for (uint i = 0u; i < 5u; ++i)
            if (i * 32u + lane < (n + 1u) / 2u)
                sSorted[gSorted + first / 2u + i * 32u + lane] = symbols == 0u ? huffmanPayload(kind, 0u, 1u) * 0x10001u : 0u;
    lgBarrierShared();

    [[dont_unroll]] for (uint chunk = 0u; chunk < chunks; ++chunk) {
        uint symbol = chunk * 32u + lane;
        uint len = enabled && symbol < n ? codeLength(lengths + symbol) : 0u;
        uvec3 low = lgBallot3((len & 1u) != 0u, (len & 2u) != 0u, (len & 4u) != 0u);
        uint high = lgBallot((len & 8u) != 0u);
        uint same = ((len & 1u) != 0u ? low.x : ~low.x) & ((len & 2u) != 0u ? low.y : ~low.y) &
                    ((len & 4u) != 0u ? low.z : ~low.z) & ((len & 8u) != 0u ? high : ~high);
        // However long the codes, there are at most n symbols: the place stays inside the alphabet's part.
        uint place = first + sToken[gRanks + len] + uint(bitCount(same & lgLanesBelow()));
        lgBarrierShared();
        if (len != 0u) {
            uint payload = huffmanPayload(kind, symbol, len);
            atomicOr(sSorted[gSorted + place / 2u], single ? payload * 0x10001u : payload << (place & 1u) * 16u);
            if ((same >> lane) == 1u)
                sToken[gRanks + len] = place - first + 1u;
        }
        lgBarrierShared();
    }
    return single || used == 0x8000u;
}

// Decodes the code at the low end of `next`: x: its length, y: its symbol's payload and above it 16 bits that mean nothing.
// Only for codes that huffmanSort accepted; for others the result is meaningless, but no access leaves the tables. No
// branches.
uvec2 huffmanDecode(uint next, uint code) {
    // The code left-aligned to 15 bits. It lies past an end if it is not below the quad's component, which has other bits below
    // these, or is 0.
    uint c = bitfieldReverse(next) & 0xfffe0000u;
    uint quads = gQuads + code * kQuads;
    uvec3 steps = sQuads[quads + 4u].xyz;
    bool upper = c >= steps.y;
    bool odd = c >= mix(steps.x, steps.z, upper);
    uvec4 quad = sQuads[quads + mix(0u, 2u, upper) + mix(0u, 1u, odd)];
    uint found = mix(mix(mix(quad.x, quad.y, c >= quad.x), quad.z, c >= quad.y), quad.w, c >= quad.z);
    uint place = min(((c >> (found & 31u)) + (found >> 5)) & 511u, kSymbols - 1u);
    return uvec2(32u - (found & 31u), sSorted[gSorted + place / 2u] >> (place * 16u & 31u));
}

#endif // SLUICE_HUFFMAN_GLSL
