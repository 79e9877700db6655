// SPDX-License-Identifier: MIT OR Apache-2.0
// Canonical Huffman codes for a lane group. This file sorts the symbols, checks the code and
// decodes.
//
// There is no 2^n look-up table, because the use of shared memory decides how many tiles an SM
// holds, and filling a table takes longer than it saves (docs/performance.md). Decoding needs only
// 15 words, which hold the end of the codes of each length, and the symbols in canonical order.
// When symbols are sorted, the rank of a symbol among those of its length is a population count
// over the lower lanes that have the same length.
//
// The includer defines kTiles, tileIndex(), the array sToken, kUnpaired, and huffmanPayload(kind,
// symbol, length), which packs what it needs of a symbol into 16 bits.
#ifndef SLUICE_HUFFMAN_GLSL
#define SLUICE_HUFFMAN_GLSL

#include "loops.glsl"
#include "lanes.glsl"

const uint kSymbols = 320u; // of both alphabets together

shared uint sSorted[kTiles * (kSymbols / 2u)]; // payloads in canonical order
// Each code has four quads, that is, 16 words. Word l - 1 (l = 1 .. 15) describes the codes of
// length l:
//   bits 17 .. 31  the end of the codes of length <= l, left-aligned to 15 bits, minus 1
//   bits 5 .. 13   what to add to a code to get its symbol's index in sSorted, modulo 2^9
//   bits 0 .. 4    32 - l
// or 0 if there is no code of length <= l. A fifth quad follows, with copies of the words for
// lengths 4, 8 and 12.
const uint kQuads = 5u;
shared uvec4 sQuads[kTiles * 2u * kQuads];

// While a code is built, a part of sToken holds the code lengths, 4 bits each, followed by a word
// for each length. huffmanBuildAt sets its place.
const uint kBuildWords = kSymbols / 8u + 16u;

uint gSorted, gQuads; // where this lane group's parts begin
uint gLengths, gRanks;

void huffmanBegin() {
    gSorted = tileIndex() * (kSymbols / 2u);
    gQuads = tileIndex() * 2u * kQuads;
}

// `index` is the first of kBuildWords words of sToken that are free until the code is built.
void huffmanBuildAt(uint index) {
    gLengths = index;
    gRanks = index + kSymbols / 8u;
}

uint codeLength(uint i) { return (sToken[gLengths + (i >> 3)] >> ((i & 7u) * 4u)) & 15u; }

// Sets the same length `count` times, 1 .. 6. The places must hold 0.
void setCodeLengths(uint i, uint codeLength, uint count) {
    uint bits = codeLength * (0x111111u >> (24u - 4u * count)), shift = (i & 7u) * 4u;
    atomicOr(sToken[gLengths + (i >> 3)], bits << shift);
    if (shift + 4u * count > 32u) atomicOr(sToken[gLengths + (i >> 3) + 1u], bits >> (32u - shift));
}

void clearCodeLengths(bool enabled) {
    lgBarrierShared();
    if (enabled) {
        sToken[gLengths + lgLane()] = 0u;
        if (lgLane() < 8u) sToken[gLengths + 32u + lgLane()] = 0u;
    }
    lgBarrierShared();
}

// Returns the code lengths of the lane's symbols in three rows of 32. If `wide` is false, there is
// only the first row.
uvec3 huffmanRows(bool enabled, uint lengths, uint n, uint row, const bool wide) {
    uvec3 symbol = row * 32u + lgLane() + uvec3(0u, 32u, 64u);
    uvec3 len = uvec3(codeLength(lengths + symbol.x), 0u, 0u);
    if (wide) {
        len.y = codeLength(lengths + symbol.y);
        len.z = codeLength(lengths + symbol.z);
    }
    return mix(uvec3(0u), len, enabled ? lessThan(symbol, uvec3(n)) : bvec3(false));
}

// Returns the lanes whose length agrees with this lane's index in bit `bit`.
uvec3 huffmanSameBit(uvec3 len, uint bit) {
    bvec3 set = notEqual(len & (1u << bit), uvec3(0u));
    return lgBallot3(set.x, set.y, set.z) ^ ((lgLane() >> bit & 1u) - 1u);
}

// Returns the lanes whose length is this lane's index modulo 16.
uvec3 huffmanOfLength(uvec3 len) {
    return huffmanSameBit(len, 0u) & huffmanSameBit(len, 1u) & huffmanSameBit(len, 2u) &
           huffmanSameBit(len, 3u);
}

// Returns the place of the lane's symbol of a row. Lane k holds `next` and `holders` for length k:
// `next` is where that length's symbols of this row begin, and is advanced to the next row;
// `holders` is the mask of the lanes that hold such symbols.
uint huffmanPlace(uint len, uint holders, inout uint next) {
    lgShare(next);
    uint place = lgShared(len);
    lgShare(holders);
    place += uint(bitCount(lgShared(len) & lgLanesBelow()));
    next += uint(bitCount(holders));
    return place;
}

// Stores those of three symbols whose place is odd, or those whose place is even. The even places
// must be stored first, since that clears the other half of the word. A symbol of length 0 is not
// stored.
void huffmanStore(uvec3 len, uvec3 place, uvec3 payload, const bool odd) {
    uvec3 index = gSorted + min(place / 2u, uvec3(kSymbols / 2u - 1u)), other = uvec3(0u);
    if (odd) other = uvec3(sSorted[index.x], sSorted[index.y], sSorted[index.z]);
    SLUICE_UNROLL
    for (uint k = 0u; k < 3u; ++k)
        if (len[k] != 0u && (place[k] & 1u) == (odd ? 1u : 0u))
            sSorted[index[k]] = odd ? other[k] | payload[k] << 16 : payload[k];
}

struct HuffmanCode {
    uint rank;    // place of the first symbol whose length is this lane's index
    uint symbols; // how many symbols have a code
    bool single;  // there is one symbol, of length 1, or none
    bool good;    // the code is complete, or single
};

// Checks a code and writes its quads. Lane l owns length l, whose codes begin after those of all
// shorter lengths. `count` is the number of symbols of that length, and `ones` is the number of
// symbols of length 1.
HuffmanCode huffmanQuads(bool enabled, uint count, uint ones, uint code, uint first) {
    // One scan computes two sums: the low 9 bits count symbols, and the bits above count code space
    // in units of 2^-15.
    uint lane = lgLane(), space = count << (15u - min(lane, 15u)), before, total;
    lgScan(space << 9 | count, before, total);
    uint rank = before & 511u, first_ = before >> 9, symbols = total & 511u;
    bool single = symbols == 0u || (symbols == 1u && ones == 1u);
    uint end = single ? 0x8000u : first_ + space;
    uint delta = single ? 0u : rank - (first_ >> (15u - min(lane, 15u)));
    if (enabled && lane >= 1u && lane < 16u) {
        uint about = end == 0u ? 0u
                               : (min(end, 0x8000u) - 1u) << 17 | ((delta + first) & 511u) << 5 |
                                     (32u - lane);
        sQuads[gQuads + code * kQuads + ((lane - 1u) >> 2)][(lane - 1u) & 3u] = about;
        if ((lane & 3u) == 0u) sQuads[gQuads + code * kQuads + 4u][(lane >> 2) - 1u] = about;
    }
    return HuffmanCode(rank, symbols, single, single || total >> 9 == 0x8000u);
}

// Does huffmanSort in chunks of 32 symbols, one after the other, which takes few registers.
bool huffmanSortChunks(bool enabled, uint kind, uint code, uint first, uint lengths, uint n,
                       const uint chunks) {
    uint lane = lgLane();
    lgBarrierShared();
    if (lane < 16u) sToken[gRanks + lane] = 0u;
    lgBarrierShared();
    SLUICE_DONT_UNROLL
    for (uint chunk = 0u; chunk < chunks; ++chunk) {
        uint symbol = chunk * 32u + lane;
        uint len = enabled && symbol < n ? codeLength(lengths + symbol) : 0u;
        if (len != 0u) atomicAdd(sToken[gRanks + len], 1u);
    }
    lgBarrierShared();
    uint count = lane >= 1u && lane < 16u ? sToken[gRanks + lane] : 0u, ones = sToken[gRanks + 1u];
    lgBarrierShared();
    HuffmanCode sorted = huffmanQuads(enabled, count, ones, code, first);
    if (lane < 16u) sToken[gRanks + lane] = sorted.rank;
    uint none = sorted.symbols == 0u ? huffmanPayload(kind, 0u, 1u) * 0x10001u : 0u;
    if (enabled) {
        SLUICE_UNROLL
        for (uint i = 0u; i < 5u; ++i)
            if (i * 32u + lane < (n + 1u) / 2u)
                sSorted[gSorted + first / 2u + i * 32u + lane] = none;
    }
    lgBarrierShared();

    SLUICE_DONT_UNROLL
    for (uint chunk = 0u; chunk < chunks; ++chunk) {
        uint symbol = chunk * 32u + lane;
        uint len = enabled && symbol < n ? codeLength(lengths + symbol) : 0u;
        uvec3 low = lgBallot3((len & 1u) != 0u, (len & 2u) != 0u, (len & 4u) != 0u);
        uint high = lgBallot((len & 8u) != 0u);
        uint same = ((len & 1u) != 0u ? low.x : ~low.x) & ((len & 2u) != 0u ? low.y : ~low.y) &
                    ((len & 4u) != 0u ? low.z : ~low.z) & ((len & 8u) != 0u ? high : ~high);
        // There are at most n symbols for any code lengths, so the place stays inside the
        // alphabet's part.
        uint place = first + sToken[gRanks + len] + uint(bitCount(same & lgLanesBelow()));
        lgBarrierShared();
        if (len != 0u) {
            uint payload = huffmanPayload(kind, symbol, len);
            atomicOr(sSorted[gSorted + place / 2u],
                     sorted.single ? payload * 0x10001u : payload << (place & 1u) * 16u);
            if ((same >> lane) == 1u) sToken[gRanks + len] = place - first + 1u;
        }
        lgBarrierShared();
    }
    return sorted.good;
}

// Does huffmanSort with all rows of 32 symbols interleaved, because most of the time is spent
// waiting for the previous step. The rows are written out because NVIDIA's compiler (580) does not
// unroll loops with ballots.
bool huffmanSortRows(bool enabled, uint kind, uint code, uint first, uint lengths, uint n,
                     const bool wide) {
    uint lane = lgLane();
    lgBarrierShared();
    uvec3 lenA = huffmanRows(enabled, lengths, n, 0u, wide), lenB = uvec3(0u), lenC = uvec3(0u);
    uvec3 holdersA = huffmanOfLength(lenA), holdersB = uvec3(0u), holdersC = uvec3(0u);
    ivec3 counts = bitCount(holdersA);
    uint count = uint(counts.x);
    if (wide) {
        lenB = huffmanRows(enabled, lengths, n, 3u, wide);
        lenC = huffmanRows(enabled, lengths, n, 6u, wide);
        holdersB = huffmanOfLength(lenB);
        holdersC = huffmanOfLength(lenC);
        counts += bitCount(holdersB) + bitCount(holdersC);
        count = uint(counts.x + counts.y + counts.z);
    }
    count = mix(0u, count, lane - 1u < 15u);
    lgShare(count);
    HuffmanCode sorted = huffmanQuads(enabled, count, lgShared(1u), code, first);

    // Whatever the code lengths, there are at most n symbols, so places stay inside the alphabet's
    // part.
    uint next = first + sorted.rank, twice = sorted.single ? 0x10001u : 1u;
    uvec3 placeA = uvec3(huffmanPlace(lenA.x, holdersA.x, next), 0u, 0u), placeB = uvec3(0u),
          placeC = uvec3(0u);
    uvec3 symbolA = lane + uvec3(0u, 32u, 64u), symbolC = symbolA + 192u;
    uvec3 payloadA = uvec3(huffmanPayload(kind, symbolA.x, lenA.x), 0u, 0u) * twice,
          payloadB = uvec3(0u), payloadC = uvec3(0u);
    if (wide) {
        placeA.y = huffmanPlace(lenA.y, holdersA.y, next);
        placeA.z = huffmanPlace(lenA.z, holdersA.z, next);
        placeB.x = huffmanPlace(lenB.x, holdersB.x, next);
        placeB.y = huffmanPlace(lenB.y, holdersB.y, next);
        placeB.z = huffmanPlace(lenB.z, holdersB.z, next);
        placeC.x = huffmanPlace(lenC.x, holdersC.x, next);
        placeC.y = huffmanPlace(lenC.y, holdersC.y, next);
        placeC.z = huffmanPlace(lenC.z, holdersC.z, next);
        SLUICE_UNROLL
        for (uint k = 0u; k < 3u; ++k) {
            payloadA[k] = huffmanPayload(kind, symbolA[k], lenA[k]) * twice;
            payloadB[k] = huffmanPayload(kind, symbolA[k] + 96u, lenB[k]) * twice;
            payloadC[k] = huffmanPayload(kind, symbolC[k], lenC[k]) * twice;
        }
    }
    if (enabled && sorted.symbols == 0u && lane == 0u)
        sSorted[gSorted + first / 2u] = huffmanPayload(kind, 0u, 1u) * 0x10001u;
    huffmanStore(lenA, placeA, payloadA, false);
    if (wide) {
        huffmanStore(lenB, placeB, payloadB, false);
        huffmanStore(lenC, placeC, payloadC, false);
    }
    lgBarrierShared();
    huffmanStore(lenA, placeA, payloadA, true);
    if (wide) {
        huffmanStore(lenB, placeB, payloadB, true);
        huffmanStore(lenC, placeC, payloadC, true);
    }
    lgBarrierShared();
    return sorted.good;
}

// Sorts n symbols by code length; n is at most 32, or 288 if `wide`. The code lengths begin at
// index `lengths`. The symbols are written to sSorted, starting at place `first`, which is even,
// and the quads are those of `code` (0 or 1). `kind` is passed to huffmanPayload. Returns false for
// a code that is neither complete, nor a single symbol of length 1, nor empty (the rule of
// libdeflate 1.8; the last two decode to one symbol whatever the bit). Code lengths must be
// visible; sSorted and sQuads are visible afterwards.
bool huffmanSort(bool enabled, uint kind, uint code, uint first, uint lengths, uint n,
                 const bool wide) {
#ifdef SLUICE_NARROW
    // Compilers for Intel's GPUs, whose subgroups are narrow, would spill registers if the rows
    // were interleaved.
    return huffmanSortChunks(enabled, kind, code, first, lengths, n, wide ? 9u : 1u);
#else
    // With kUnpaired, registers decide how many tiles an SM holds.
    if (kUnpaired) return huffmanSortChunks(enabled, kind, code, first, lengths, n, wide ? 9u : 1u);
    return huffmanSortRows(enabled, kind, code, first, lengths, n, wide);
#endif
}

// Decodes the code at the low end of `next` without a branch. Returns its length in x and its
// symbol's payload in y; the upper 16 bits of y are undefined. For codes that huffmanSort refused
// the result is meaningless, but no access goes outside the tables.
uvec2 huffmanDecode(uint next, uint code) {
    // c is the code, left-aligned to 15 bits in the top of the word. The code is longer than l if c
    // is not below the word of length l. The other bits of that word, below these 15, do not change
    // the comparison; a word of 0 means that there are no codes up to that length.
    uint c = bitfieldReverse(next) & 0xfffe0000u;
    uint quads = gQuads + code * kQuads;
    uvec3 steps = sQuads[quads + 4u].xyz;
    bool upper = c >= steps.y;
    bool odd = c >= mix(steps.x, steps.z, upper);
    uvec4 quad = sQuads[quads + mix(0u, 2u, upper) + mix(0u, 1u, odd)];
    uint found =
        mix(mix(mix(quad.x, quad.y, c >= quad.x), quad.z, c >= quad.y), quad.w, c >= quad.z);
    uint place = min(((c >> (found & 31u)) + (found >> 5)) & 511u, kSymbols - 1u);
    return uvec2(32u - (found & 31u), sSorted[gSorted + place / 2u] >> (place * 16u & 31u));
}

#endif // SLUICE_HUFFMAN_GLSL
