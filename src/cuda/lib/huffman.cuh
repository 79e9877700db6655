// SPDX-License-Identifier: MIT OR Apache-2.0
// Canonical Huffman codes for a warp: sorts the symbols, checks that the code is complete, fills a
// look-up table, and finds codes that are longer than the index of the table. GDeflate
// (gdeflate.cu) uses it. The shaders' twin, shaders/lib/huffman.glsl, has no table.
#pragma once

#include "cuda/lib/warp.cuh"

namespace sluice {

// The index of a table is the next bits of the stream, which begin with the code of a symbol. The
// entry holds everything that a decoder needs to know of that symbol:
//   bits 0 .. 4    length of the code plus its extra bits; 0 if the code is longer than the index
//   bits 5 .. 9    length of the code alone
//   bits 10 .. 25  base, to which the extra bits are added
//   bits 26 .. 31  flags that the decoder chooses
__device__ inline uint32_t huffmanEntry(uint32_t length, uint32_t extraBits, uint32_t flags,
                                        uint32_t base)
{
    return (length + extraBits) | length << 5 | base << 10 | flags;
}

// Returns the entry's base plus the extra bits that follow its code in a lane's next 32 bits.
__device__ inline uint32_t huffmanValue(uint32_t entry, uint32_t bits)
{
    const uint32_t used = bits & ~__funnelshift_l(0, 0xffffffffu, entry);
    return (entry << 6 >> 16) + __funnelshift_r(used, 0, entry >> 5);
}

// Holds, in shared memory, what huffmanSearch needs to find the symbol of a code.
struct __align__(16) HuffmanCode
{
    // end[l]: the end of the codes of up to l bits, left-aligned to 15 bits, at most 0x8000.
    uint16_t end[16];
    int16_t delta[16]; // delta[l]: the rank of the first code of length l, minus that code
};

// Shared memory that huffmanBuild uses while it works.
struct HuffmanScratch {
    // rank[l]: at first the number of symbols with codes of length l, later the index in `sorted`
    // of the next of these symbols.
    uint32_t rank[16];
    // A code of up to Bits bits, followed by any bits, gives a range of numbers of Bits bits (the
    // first bit highest). Bit i of this array is set if the range of a code begins at i.
    uint32_t starts[kWarpSize];
};

// Sorts the symbols 0 .. 32 * Rows - 1 by the lengths of their codes (0: the symbol has no code)
// and stores makeEntry(symbol, length) for each in `sorted`. Then fills `table` for the codes of up
// to Bits bits; its index is a code's bits, the first one lowest. Returns false unless the code is
// complete, has a single symbol of length 1, or is empty. (That is the rule of libdeflate 1.8.
// Codes of the last two kinds decode to one symbol, whatever the bit is.) All lanes call this
// together. It begins and ends with a barrier of the warp, so the caller needs none. The table may
// lie over the lengths.
//
// The steps for a row of 32 symbols depend on each other. So each step is done for all rows before
// the next step, which overlaps the latencies of the rows. Nothing is searched: the ranges of codes
// follow each other in the order of `sorted`, so the symbol of an index is found by counting the
// ranges that begin at or below it.
template <uint32_t Bits, uint32_t Rows, typename MakeEntry>
__device__ inline bool huffmanBuild(const uint8_t* lengths, uint32_t* sorted, HuffmanCode& code,
                                    uint32_t* table, HuffmanScratch& scratch, MakeEntry makeEntry)
{
    const uint32_t lane = laneIndex();
    __syncwarp();
    if (lane < 16) scratch.rank[lane] = 0;
    scratch.starts[lane] = lane == 0 ? 1 : 0;
    __syncwarp();
    uint32_t length[Rows], same[Rows];
#pragma unroll
    for (uint32_t row = 0; row < Rows; ++row) {
        length[row] = lengths[row * kWarpSize + lane];
        same[row] = __match_any_sync(kAllLanes, length[row]);
    }
    // Among symbols of a row with codes of the same length, the highest lane acts for all.
    const auto count = [&](uint32_t row) { return static_cast<uint32_t>(__popc(same[row])); };
    const auto speaks = [&](uint32_t row) { return length[row] != 0 && same[row] >> lane == 1; };
#pragma unroll
    for (uint32_t row = 0; row < Rows; ++row) {
        if (speaks(row)) atomicAdd(&scratch.rank[length[row] % 16], count(row));
    }
    __syncwarp();

    // Lane l works on length l, whose codes begin behind those of all shorter lengths.
    const uint32_t symbols = lane >= 1 && lane < 16 ? scratch.rank[lane % 16] : 0,
                   space = symbols << (15 - lane % 16);
    const uint32_t rankEnd = warpInclusiveSum(symbols), spaceEnd = warpInclusiveSum(space);
    const uint32_t all = __shfl_sync(kAllLanes, rankEnd, 31),
                   used = __shfl_sync(kAllLanes, spaceEnd, 31);
    const bool single = all == 0 || (all == 1 && used == 0x4000);
    if (!single && used != 0x8000) return false;
    if (lane < 16) {
        const uint32_t first = spaceEnd - space;
        code.end[lane] = static_cast<uint16_t>(single ? 0x8000u : spaceEnd);
        code.delta[lane] = static_cast<int16_t>(
            single || lane == 0 ? 0u : rankEnd - symbols - (first >> (15 - lane)));
        scratch.rank[lane] = rankEnd - symbols;
    }
    __syncwarp();

    uint32_t before[Rows];
#pragma unroll
    for (uint32_t row = 0; row < Rows; ++row) {
        before[row] = 0;
        if (speaks(row)) before[row] = atomicAdd(&scratch.rank[length[row] % 16], count(row));
        __syncwarp();
    }
#pragma unroll
    for (uint32_t row = 0; row < Rows; ++row) {
        const uint32_t mine =
            __shfl_sync(kAllLanes, before[row], static_cast<int>(highestBit(same[row]))) +
            static_cast<uint32_t>(__popc(same[row] & lanesBelow()));
        if (length[row] == 0) continue;
        sorted[mine] = makeEntry(row * kWarpSize + lane, length[row]);
        if (length[row] > Bits) continue;
        const uint32_t start = (mine - static_cast<uint32_t>(code.delta[length[row] % 16]))
                               << (Bits - length[row]);
        atomicOr(&scratch.starts[start / 32 % kWarpSize], 1u << start % 32);
    }
    if (all == 0 && lane == 0) sorted[0] = makeEntry(0, 1);
    __syncwarp();
    if (single && lane == 0) sorted[1] = sorted[0];

    // A lane fills the entries whose index has the lane's number in its lowest five bits. These are
    // the first five bits of a code, so all codes of a lane's entries are in one range of numbers.
    constexpr uint32_t kPerLane = 1u << (Bits - 5);
    const uint32_t firstCode = __brev(lane) >> 27 << (Bits - 5),
                   codes = code.end[Bits] >> (15 - Bits);
    const uint32_t word = scratch.starts[lane];
    const uint32_t wordEnd = warpInclusiveSum(static_cast<uint32_t>(__popc(word)));
    const uint32_t own = __shfl_sync(kAllLanes, word, static_cast<int>(firstCode / 32));
    const uint32_t below = __shfl_sync(kAllLanes, wordEnd, static_cast<int>(firstCode / 32)) -
                           static_cast<uint32_t>(__popc(own >> firstCode % 32)) - 1;
    const uint32_t mine = own >> firstCode % 32;
#pragma unroll
    for (uint32_t i = 0; i < kPerLane; ++i) {
        const uint32_t at = Bits == 5 ? 0 : __brev(i) >> (37 - Bits);
        const uint32_t rank = below + static_cast<uint32_t>(__popc(mine & ((2u << at) - 1)));
        table[i * kWarpSize + lane] = firstCode + at < codes ? sorted[rank] : 0;
    }
    __syncwarp();
    return true;
}

// Returns the entry of the symbol whose code is the first `length` bits of c. c has 15 bits, the
// first one highest. huffmanBuild must have accepted the code.
__device__ inline uint32_t huffmanSymbol(uint32_t c, uint32_t length, const uint32_t* sorted,
                                         const HuffmanCode& code)
{
    return sorted[static_cast<int>(c >> (15 - length)) + code.delta[length]];
}

// Returns the entry of the symbol whose code `bits` begins with. The code must be longer than 8
// bits. Its length is found by comparing it with code.end, the ends of the codes of each length.
__device__ inline uint32_t huffmanSearch(uint32_t bits, const uint32_t* sorted,
                                         const HuffmanCode& code)
{
    const uint32_t c = __brev(bits) >> 17;
    const uint4 ends = *reinterpret_cast<const uint4*>(code.end + 8); // of lengths 8 .. 15
    const auto below = [c](uint32_t end) {
        return static_cast<uint32_t>(static_cast<int>(c - end) >> 31);
    };
    const uint32_t less = (below(ends.x >> 16) + below(ends.y & 0xffff) + below(ends.y >> 16)) +
                          (below(ends.z & 0xffff) + below(ends.z >> 16) + below(ends.w & 0xffff));
    return huffmanSymbol(c, 15 + less, sorted, code);
}

} // namespace sluice
