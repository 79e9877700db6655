// SPDX-License-Identifier: MIT OR Apache-2.0
// The float codec (docs/format.md, section 6): how the elements of each type are made up, and the
// table by which a block decodes a tensor's code, two symbols per look-up.
#pragma once

#include <sluice/sluice_float.h>

#include "cuda/lib/launch.cuh"
#include "cuda/lib/warp.cuh"

#include "formats/float_format.h"

namespace sluice::float_decode {

constexpr uint32_t kMaxBits = floats::kMaxBits, kTile = floats::kTile, kRow = floats::kRow;
constexpr uint32_t kUnit = floats::kUnit, kTailRows = floats::kTailRows;
constexpr uint32_t kTableSize = 1u << kMaxBits;
constexpr uint32_t kWarps = 21, kThreads = kWarps * kWarpSize;
// kChunk: how many words a warp loads at a time. kRing: how many words the ring of a warp has.
constexpr uint32_t kChunk = 128, kRing = 3 * kChunk;
static_assert(kThreads >= 256, "a thread a symbol");
static_assert(kChunk >= 4 * kWarpSize, "what a row takes behind its look-ups");

// A table entry holds one or two symbols. Bits 0 .. 3 are the length of their codes together. Bits
// 4 and 5 are 0. Bit 6 (kShort) is set if there is only one symbol, because the second code did not
// fit.
// Each symbol has the bit position that it has in an element, so that few instructions merge it
// with the other bits. The length of the first code is where no symbol has bits. For elements of 16
// and 32 bits, each half of the entry has a symbol, and the length is at bit 16. For elements of 8
// bits, bytes 1 and 2 have the symbols, and the length is at bit 24. The bit above a length is 0.
constexpr uint32_t kShort = 64;

// The bit positions of the parts of an entry. They depend on the type of the elements.
struct Form {
    uint32_t mask;                  // the bits of a symbol that count
    uint32_t first, second, length; // the lowest bit of each symbol, and of the length
};
__device__ constexpr Form formOf(uint32_t type)
{
    return type == SLUICE_FLOAT_F16             ? Form{31, 10, 26, 16}
           : type == SLUICE_FLOAT_F8_E4M3       ? Form{15, 11, 19, 24}
           : type == SLUICE_FLOAT_F8_E5M2       ? Form{31, 10, 18, 24}
           : type == SLUICE_FLOAT_F8_E4M3_DENSE ? Form{63, 9, 17, 24}
           : type == SLUICE_FLOAT_BYTES         ? Form{255, 8, 16, 24}
                                                : Form{255, 7, 23, 16};
}
// Returns whether elements have 8 bits.
__device__ constexpr bool isByte(uint32_t type) { return type > SLUICE_FLOAT_F32; }
// Returns how many bits of an element are in the plane with 2 to 4 bits per element.
__device__ constexpr uint32_t bitsOf(uint32_t type)
{
    return type == SLUICE_FLOAT_F16 || type == SLUICE_FLOAT_F8_E5M2 ? 3
           : type == SLUICE_FLOAT_F8_E4M3                           ? 4
           : type == SLUICE_FLOAT_F8_E4M3_DENSE                     ? 2
                                                                    : 0;
}
// Returns the size of an element in bytes.
__device__ constexpr uint32_t sizeOf(uint32_t type)
{
    return type < SLUICE_FLOAT_F32 ? 2 : type == SLUICE_FLOAT_F32 ? 4 : 1;
}
// Returns how many bits of an element are raw, that is, not coded.
__device__ constexpr uint32_t rawBitsOf(uint32_t type)
{
    return sizeOf(type) == 4 ? 24 : sizeOf(type) == 2 ? 8 + bitsOf(type) : bitsOf(type);
}
__device__ constexpr uint32_t aligned16(uint32_t bytes) { return (bytes + 15) / 16 * 16; }
// Offsets of the planes of raw bits of a tile: the plane of bytes, the plane with 2 to 4 bits per
// element, and the end of all. The plane with 2 bytes per element begins at offset 0.
struct Planes {
    uint32_t bytes, bits, end;
};
__device__ constexpr Planes planesOf(uint32_t type, uint32_t elements)
{
    Planes planes = {};
    planes.bytes = sizeOf(type) == 4 ? aligned16(2 * elements) : 0;
    planes.bits = planes.bytes + (sizeOf(type) >= 2 ? aligned16(elements) : 0);
    planes.end = planes.bits + aligned16((elements + 7) / 8 * bitsOf(type));
    return planes;
}

// An entry of the list of tensors (SluiceFloatTensor).
struct Tensor {
    const uint2* words;
    const uint32_t* index;
    const uint8_t* raw;
    uint8_t* output;
    uint64_t units, count; // pairs of words; elements
    uint32_t type, firstTile;
    bool good; // the entry is valid
};

// The list of words of a tile.
struct TileWords {
    // The address and the number of the list's pairs of words.
    const uint2* begin;
    uint32_t units;
    uint32_t first; // how many bytes of the list the lanes take at the beginning
};

// The shared memory of a block.
struct BlockShared {
    uint32_t table[kTableSize];
    union {
        alignas(16) uint32_t ring[kWarps * kRing];
        // While the table is built: for each index the first symbol, from bit 4 on, and the length
        // of its code, in bits 0 .. 3.
        alignas(16) uint16_t single[kTableSize];
    };
    // For each code length: the end of its codes, and what to add to a code to get its index in
    // `sorted`.
    uint32_t limits[16], places[16];
    uint32_t counts[kWarps][16];
    // The symbols in the order of their codes.
    uint8_t sorted[256];
    // The following are in shared memory because registers are scarce.
    TileWords tiles[kWarps];
    Tensor tensor;
};

// The whole block builds the table. `length` is the length of the code of symbol threadIdx.x.
// Returns whether the code is complete.
__device__ inline bool buildTable(BlockShared& shared, uint32_t length)
{
    const uint32_t lane = laneIndex(), warp = warpIndex(), symbol = threadIdx.x;
    if (lane < 16) shared.counts[warp][lane] = 0;
    __syncwarp();
    const uint32_t same = __match_any_sync(kAllLanes, length);
    const uint32_t rank = static_cast<uint32_t>(__popc(same & lanesBelow()));
    if (rank == 0) shared.counts[warp][length] = static_cast<uint32_t>(__popc(same));
    __syncthreads();

    // In every warp, lane l works on code length l.
    uint32_t total = 0, before = 0;
    if (lane < 16) {
#pragma unroll
        for (uint32_t w = 0; w < kWarps; ++w) {
            if (w == warp) before = total;
            total += shared.counts[w][lane];
        }
    }
    const bool tooLong = __any_sync(kAllLanes, lane > kMaxBits && total != 0);
    const uint32_t used = lane >= 1 && lane <= kMaxBits ? total : 0;
    const uint32_t shift = kMaxBits - min(lane, kMaxBits);
    const uint32_t spaces = warpInclusiveSum(used << shift), ranks = warpInclusiveSum(used);
    const uint32_t all = __shfl_sync(kAllLanes, ranks, 31),
                   space = __shfl_sync(kAllLanes, spaces, 31);
    const bool single = all == 1 && __shfl_sync(kAllLanes, used, 1) == 1;
    const uint32_t firstRank = ranks - used, firstCode = (spaces - (used << shift)) >> shift;
    if (warp == 0 && lane < 16) {
        shared.limits[lane] = single ? kTableSize : spaces;
        shared.places[lane] = firstRank - firstCode;
    }
    const uint32_t place =
        __shfl_sync(kAllLanes, firstRank + before, static_cast<int>(length)) + rank;
    if (length != 0 && length <= kMaxBits) {
        shared.sorted[place & 255] = static_cast<uint8_t>(symbol);
        if (single) shared.sorted[1] = static_cast<uint8_t>(symbol);
    }
    __syncthreads();

    // First each index gets one symbol. If a code has up to 9 bits, its symbol is that of whole
    // groups of eight neighbouring indices. A thread fills such groups at once, and other indices
    // one by one.
    const auto singleAt = [&](uint32_t bits, uint32_t bitCount) {
        return shared.sorted[((bits >> (kMaxBits - bitCount)) + shared.places[bitCount]) & 255]
                   << 4 |
               bitCount;
    };
    const uint32_t shortEnd = min(shared.limits[9], kTableSize), end10 = shared.limits[10],
                   end11 = shared.limits[11];
#pragma unroll 1
    for (uint32_t i = 8 * threadIdx.x; i < shortEnd; i += 8 * kThreads) {
        uint32_t bitCount = 1;
#pragma unroll
        for (uint32_t k = 1; k < 9; ++k)
            bitCount += i >= shared.limits[k] ? 1 : 0;
        const uint32_t two = singleAt(i, bitCount) * 0x10001;
        *reinterpret_cast<uint4*>(shared.single + i) = make_uint4(two, two, two, two);
    }
#pragma unroll 1
    for (uint32_t i = shortEnd + threadIdx.x; i < kTableSize; i += kThreads)
        shared.single[i] =
            static_cast<uint16_t>(singleAt(i, 10 + (i >= end10 ? 1 : 0) + (i >= end11 ? 1 : 0)));
    __syncthreads();
    const Form form = formOf(shared.tensor.type);
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < kTableSize; i += kThreads) {
        const uint32_t first = shared.single[i], length1 = first & 15;
        const uint32_t second = shared.single[i << length1 & (kTableSize - 1)],
                       length2 = second & 15;
        const bool both = length1 + length2 <= kMaxBits;
        shared.table[i] = (first >> 4 & form.mask) << form.first | length1 << form.length |
                          (both ? (length1 + length2) | (second >> 4 & form.mask) << form.second
                                : length1 | kShort);
    }
    __syncthreads();
    return !tooLong && (single || space == kTableSize);
}

} // namespace sluice::float_decode
