// SPDX-License-Identifier: MIT OR Apache-2.0
// Canonical Huffman codes for a lane group: sorts the symbols of an alphabet by their codes, checks
// that the code is complete, and decodes.
//
// There is no look-up table of 2^n entries. It would take much shared memory, which limits
// occupancy, and filling it takes longer than it saves (docs/performance.md). Decoding needs only
// the symbols in canonical order (shorter codes first, then lower symbols), and 15 words that say
// where the codes of each length end. To sort the symbols, each lane counts the lower lanes whose
// symbols have codes of the same length.
//
// A lane group has two codes, numbered 0 and 1 (GDeflate's literals and lengths, and its
// distances). The *payload* of a symbol is what the decoder wants to know about it, in 16 bits.
// sSorted has payloads, not symbols.
//
// The includer defines kTiles, the number of tiles of a workgroup; tileIndex(), the one that this
// lane group decodes; sToken, an array in shared memory; kUnpaired, which is true if a tile has
// only one lane group; and huffmanPayload(kind, symbol, length).
#ifndef SLUICE_HUFFMAN_GLSL
#define SLUICE_HUFFMAN_GLSL

#include "loops.glsl"
#include "lanes.glsl"

const uint kSymbols = 320u; // the most symbols of both alphabets together

shared uint sSorted[kTiles * (kSymbols / 2u)]; // payloads in canonical order
// A code has four vectors, that is, 16 words. Word l - 1 (l = 1 .. 15) describes the codes of
// length l:
//   bits 17 .. 31  the end of the codes of length <= l, left-aligned to 15 bits, minus 1
//   bits 5 .. 13   what to add to a code to get the index of its payload in sSorted, modulo 2^9
//   bits 0 .. 4    32 - l
// The word is 0 if there is no code of length <= l. A fifth vector has copies of the words for
// lengths 4, 8 and 12. The search begins with these, and finds the vector to search.
const uint kQuads = 5u;
shared uvec4 sQuads[kTiles * 2u * kQuads];

// While a code is built, kBuildWords words of sToken hold the code lengths, 4 bits each, and then a
// word for each length. huffmanBuildAt sets where in sToken they are.
const uint kBuildWords = kSymbols / 8u + 16u;

uint gSorted, gQuads;  // where this lane group's words begin in sSorted and in sQuads
uint gLengths, gRanks; // where the code lengths, and the words for each length, begin in sToken

void huffmanBegin() {
    gSorted = tileIndex() * (kSymbols / 2u);
    gQuads = tileIndex() * 2u * kQuads;
}

// Chooses the kBuildWords words of sToken, from `index` on, in which the next code is built.
// Nothing else may use them until then.
void huffmanBuildAt(uint index) {
    gLengths = index;
    gRanks = index + kSymbols / 8u;
}

uint codeLength(uint i) { return (sToken[gLengths + (i >> 3)] >> ((i & 7u) * 4u)) & 15u; }

// Sets the code lengths of `count` symbols (1 .. 6), from symbol i on, to `codeLength`. They must
// have been 0, because the bits are set by OR.
void setCodeLengths(uint i, uint codeLength, uint count) {
    uint bits = codeLength * (0x111111u >> (24u - 4u * count)), shift = (i & 7u) * 4u;
    atomicOr(sToken[gLengths + (i >> 3)], bits << shift);
    if (shift + 4u * count > 32u) atomicOr(sToken[gLengths + (i >> 3) + 1u], bits >> (32u - shift));
}

// Sets all code lengths to 0.
void clearCodeLengths(bool enabled) {
    lgBarrierShared();
    if (enabled) {
        sToken[gLengths + lgLane()] = 0u;
        if (lgLane() < 8u) sToken[gLengths + 32u + lgLane()] = 0u;
    }
    lgBarrierShared();
}

// Returns the code lengths of three symbols of this lane, one in each of the rows row, row + 1 and
// row + 2. A row is 32 symbols: row r gives lane i symbol 32 r + i. The alphabet has n symbols, and
// later ones get length 0; its first code length has index `lengths`. If `wide` is false, only the
// first row is read.
uvec3 huffmanRows(bool enabled, uint lengths, uint n, uint row, const bool wide) {
    uvec3 symbol = row * 32u + lgLane() + uvec3(0u, 32u, 64u);
    uvec3 len = uvec3(codeLength(lengths + symbol.x), 0u, 0u);
    if (wide) {
        len.y = codeLength(lengths + symbol.y);
        len.z = codeLength(lengths + symbol.z);
    }
    return mix(uvec3(0u), len, enabled ? lessThan(symbol, uvec3(n)) : bvec3(false));
}

// Returns three masks of lanes, one for each of three rows of symbols: the lanes whose `len` agrees
// with the *number of this lane* in bit `bit`. (Lane k looks for codes of length k.)
uvec3 huffmanSameBit(uvec3 len, uint bit) {
    bvec3 set = notEqual(len & (1u << bit), uvec3(0u));
    return lgBallot3(set.x, set.y, set.z) ^ ((lgLane() >> bit & 1u) - 1u);
}

// Returns three masks of lanes, one for each row: the lanes whose `len` equals the number of this
// lane modulo 16.
uvec3 huffmanOfLength(uvec3 len) {
    return huffmanSameBit(len, 0u) & huffmanSameBit(len, 1u) & huffmanSameBit(len, 2u) &
           huffmanSameBit(len, 3u);
}

// Returns the index in sSorted for the payload of this lane's symbol; `len` is the length of its
// code. All lanes call this together, once for each row of 32 symbols. Lane k passes two numbers
// about codes of length k, which other lanes read: `next` is the index for the row's first symbol
// of that length, and is advanced here for the next row. `holders` is the mask of the lanes whose
// symbols have that length.
uint huffmanPlace(uint len, uint holders, inout uint next) {
    lgShare(next);
    uint place = lgShared(len);
    lgShare(holders);
    place += uint(bitCount(lgShared(len) & lgLanesBelow()));
    next += uint(bitCount(holders));
    return place;
}

// Stores the payloads of three symbols in sSorted, two in a word, at the indices `place`. A symbol
// with length 0 is not stored. If `odd` is false, stores only those at even indices, overwriting
// their words. Otherwise stores those at odd indices and keeps the low halves of their words. So a
// call for even indices and a barrier must come first.
void huffmanStore(uvec3 len, uvec3 place, uvec3 payload, const bool odd) {
    uvec3 index = gSorted + min(place / 2u, uvec3(kSymbols / 2u - 1u)), other = uvec3(0u);
    if (odd) other = uvec3(sSorted[index.x], sSorted[index.y], sSorted[index.z]);
    SLUICE_UNROLL
    for (uint k = 0u; k < 3u; ++k)
        if (len[k] != 0u && (place[k] & 1u) == (odd ? 1u : 0u))
            sSorted[index[k]] = odd ? other[k] | payload[k] << 16 : payload[k];
}

struct HuffmanCode {
    uint rank;    // how many symbols have codes that are shorter than this lane's number
    uint symbols; // how many symbols have a code
    bool single;  // no symbol has a code, or only one has, and its code has one bit
    bool good;    // the code is complete, or single
};

// Checks code `code` (0 or 1) and writes its words of sQuads. Lane l works on length l; its `count`
// is the number of symbols with codes of that length. `ones` is the number of symbols with codes of
// one bit, and `first` the index in sSorted of the alphabet's first payload.
HuffmanCode huffmanQuads(bool enabled, uint count, uint ones, uint code, uint first) {
    // One scan computes two prefix sums. The low 9 bits of its values count symbols; the bits above
    // count code space in units of 2^-15.
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

// Does what huffmanSort describes, with one row of 32 symbols after the other, which takes few
// registers.
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
        // Whatever the code lengths are, at most n symbols have one. So `place` stays inside this
        // alphabet's part of sSorted.
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

// Does what huffmanSort describes, with all rows of 32 symbols in parallel, because a single row
// would spend most of its time waiting for its own previous step. The rows are written out because
// NVIDIA's compiler (driver 580) does not unroll loops with ballots.
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

    // Whatever the code lengths are, at most n symbols have one. So all indices stay inside this
    // alphabet's part of sSorted.
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

// Sorts the n symbols of an alphabet by their codes and prepares code `code` (0 or 1) for
// huffmanDecode; n is at most 32, or 288 if `wide`. `lengths` is the index of the alphabet's first
// code length. Its payloads go to sSorted from index `first` on, which is even. `kind` is passed to
// huffmanPayload.
//
// Returns whether the code is complete, has a single symbol of length 1, or is empty. (That is the
// rule of libdeflate 1.8; in the last two cases every bit decodes to the same symbol.) A barrier
// must have made the code lengths visible; sSorted and sQuads are visible afterwards.
bool huffmanSort(bool enabled, uint kind, uint code, uint first, uint lengths, uint n,
                 const bool wide) {
#ifdef SLUICE_NARROW
    // Intel's GPUs have narrow subgroups, and their compilers would spill registers if the rows
    // stood side by side.
    return huffmanSortChunks(enabled, kind, code, first, lengths, n, wide ? 9u : 1u);
#else
    // If one subgroup decodes a tile alone (kUnpaired), registers limit how many tiles an SM holds,
    // so the rows go one after the other.
    if (kUnpaired) return huffmanSortChunks(enabled, kind, code, first, lengths, n, wide ? 9u : 1u);
    return huffmanSortRows(enabled, kind, code, first, lengths, n, wide);
#endif
}

// Decodes the code at the low end of `next` without a branch. Returns the code's length in x and
// its symbol's payload in the low half of y; the upper half is undefined. After huffmanSort has
// returned false the result is meaningless, but no access leaves the tables.
uvec2 huffmanDecode(uint next, uint code) {
    // c has the next 15 bits at its top, the first one highest. The code is longer than l bits if c
    // is not below the word of sQuads for length l. The bits of that word below its top 15 never
    // change the comparison. If no code has up to l bits, the whole word is 0, so c is not below
    // it.
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
