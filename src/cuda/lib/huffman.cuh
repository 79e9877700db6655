// SPDX-License-Identifier: MIT OR Apache-2.0
// Canonical Huffman codes for a warp, as in shaders/lib/huffman.glsl: sorting the symbols, checking the code, filling the
// look-up table, and the canonical search for codes that are longer than the table's index.
#pragma once

#include "warp.cuh"

namespace sluice {

// A table entry says all about a symbol that its decoder wants to know:
//   bits 0 .. 4    length of the code plus its extra bits; 0 in a table: the code is longer than the table's index
//   bits 5 .. 9    length of the code alone
//   bits 10 .. 25  base, to which the extra bits are added
//   bits 26 .. 31  the decoder's flags
__device__ inline uint32_t huffmanEntry(uint32_t length, uint32_t extraBits, uint32_t flags, uint32_t base)
{
    return (length + extraBits) | length << 5 | base << 10 | flags;
}

// Base plus extra bits, from a lane's next 32 bits.
__device__ inline uint32_t huffmanValue(uint32_t entry, uint32_t bits)
{
    const uint32_t used = bits & ~__funnelshift_l(0, 0xffffffffu, entry); // all but the lowest entry % 32 bits cleared
    return (entry << 6 >> 16) + __funnelshift_r(used, 0, entry >> 5);
}

// One code's place in shared memory.
struct __align__(16) HuffmanCode {
    uint16_t end[16];  // end of the codes of length <= l, left-aligned to 15 bits (0x8000 at most in a valid code)
    int16_t delta[16]; // rank of the first code of length l, minus that code
};

// Sorts n symbols by code length into `sorted` (n entries, 2 at least), as makeEntry(symbol, length). `rank` is 16 words of
// shared scratch. Returns false for a code that is neither complete, nor a single symbol of length 1, nor empty (the rule
// of libdeflate 1.8; the last two decode to one symbol whatever the bit). All lanes together; lengths must be visible, the
// results are.
template <typename MakeEntry>
__device__ inline bool huffmanSort(const uint8_t* lengths, uint32_t n, uint32_t* sorted, HuffmanCode& code, uint32_t* rank,
                                   MakeEntry makeEntry)
{
    const uint32_t lane = laneIndex();
    __syncwarp();
    if (lane < 16) rank[lane] = 0;
    __syncwarp();
    for (uint32_t symbol = lane; symbol < n; symbol += kWarpSize) {
        if (lengths[symbol] != 0) atomicAdd(&rank[lengths[symbol]], 1u);
    }
    __syncwarp();

    // Lane l owns length l: its codes begin after those of all shorter lengths.
    const uint32_t count = lane >= 1 && lane < 16 ? rank[lane] : 0;
    const uint32_t space = lane >= 1 && lane < 16 ? count << (15 - lane) : 0;
    const uint32_t rankEnd = warpInclusiveSum(count), spaceEnd = warpInclusiveSum(space);
    const uint32_t symbols = __shfl_sync(kAllLanes, rankEnd, 31), used = __shfl_sync(kAllLanes, spaceEnd, 31);
    const bool single = symbols == 0 || (symbols == 1 && used == 0x4000);
    __syncwarp();
    if (lane < 16) {
        const uint32_t first = spaceEnd - space;
        code.end[lane] = static_cast<uint16_t>(single ? 0x8000u : min(spaceEnd, 0xffffu));
        code.delta[lane] = static_cast<int16_t>(single || lane == 0 ? 0u : rankEnd - count - (first >> (15 - lane)));
        rank[lane] = rankEnd - count;
    }
    if (lane < 2) sorted[lane] = makeEntry(0, 1);
    __syncwarp();

    for (uint32_t base = 0; base < n; base += kWarpSize) {
        const uint32_t symbol = base + lane;
        const uint32_t length = symbol < n ? lengths[symbol] : 0;
        const uint32_t same = __match_any_sync(kAllLanes, length);
        const uint32_t mine = rank[length] + static_cast<uint32_t>(__popc(same & lanesBelow()));
        __syncwarp();
        if (length != 0) {
            sorted[mine] = makeEntry(symbol, length);
            if (single) sorted[1] = makeEntry(symbol, length);
            if (same >> lane == 1) rank[length] = mine + 1;
        }
        __syncwarp();
    }
    return single || used == 0x8000;
}

// The entry of the code of `length` bits at the left of the 15 bits c. Only for a code that huffmanSort accepted.
__device__ inline uint32_t huffmanSymbol(uint32_t c, uint32_t length, const uint32_t* sorted, const HuffmanCode& code)
{
    return sorted[static_cast<int>(c >> (15 - length)) + code.delta[length]];
}

template <uint32_t Bits>
__device__ inline void huffmanFill(uint32_t* table, const uint32_t* sorted, const HuffmanCode& code)
{
    uint32_t end[Bits];
#pragma unroll
    for (uint32_t l = 0; l < Bits; ++l) end[l] = code.end[l + 1];
#pragma unroll 4
    for (uint32_t index = laneIndex(); index < 1u << Bits; index += kWarpSize) {
        const uint32_t c = __brev(index) >> 17;
        uint32_t length = 1;
#pragma unroll
        for (uint32_t l = 0; l < Bits; ++l) length += c >= end[l] ? 1 : 0;
        table[index] = length <= Bits ? huffmanSymbol(c, length, sorted, code) : 0;
    }
    __syncwarp();
}

// The entry of a code longer than 8 bits, by canonical search.
__device__ inline uint32_t huffmanSearch(uint32_t bits, const uint32_t* sorted, const HuffmanCode& code)
{
    const uint32_t c = __brev(bits) >> 17;
    const uint4 ends = *reinterpret_cast<const uint4*>(code.end + 8); // of lengths 8 .. 15
    const auto below = [c](uint32_t end) { return static_cast<uint32_t>(static_cast<int>(c - end) >> 31); };
    const uint32_t less = (below(ends.x >> 16) + below(ends.y & 0xffff) + below(ends.y >> 16)) +
                          (below(ends.z & 0xffff) + below(ends.z >> 16) + below(ends.w & 0xffff));
    return huffmanSymbol(c, 15 + less, sorted, code);
}

} // namespace sluice
