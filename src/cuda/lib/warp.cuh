// SPDX-License-Identifier: MIT OR Apache-2.0
// Lanes and warps, and sums over the 32 lanes of a warp and over the warps of a block. All lanes of
// the warp, or all threads of the block, must call these sums together.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

constexpr uint32_t kWarpSize = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

__device__ inline uint32_t laneIndex() { return threadIdx.x % kWarpSize; }
__device__ inline uint32_t warpIndex() { return threadIdx.x / kWarpSize; }

// Returns the processor's slot in which the warp runs (the register %warpid). Modulo 4, it is the
// number of the warp's scheduler. It may change while the warp runs, so it is only good for
// spreading work.
__device__ inline uint32_t warpSlot()
{
    uint32_t slot;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
    return slot;
}

// Returns `value`, which must be uniform in the warp. The shuffle from lane 0 tells the compiler
// that it is uniform, which the compiler cannot see for threadIdx.x / 32, for example. If control
// flow depends on a value that the compiler does not know to be uniform, the compiler tests for
// absent lanes before each vote and shuffle.
__device__ inline uint32_t uniform(uint32_t value) { return __shfl_sync(kAllLanes, value, 0); }

// selectIf returns bits != 0 ? a : b, and ballotIf the ballot of bits != 0. If a C++ program tests
// a bit more than once, the compiler makes a shift, a mask and a comparison for it; the PTX below
// becomes one instruction.
__device__ inline uint32_t selectIf(uint32_t bits, uint32_t a, uint32_t b)
{
    uint32_t result;
    asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; selp.b32 %0, %2, %3, p; }"
        : "=r"(result)
        : "r"(bits), "r"(a), "r"(b));
    return result;
}

__device__ inline uint32_t ballotIf(uint32_t bits)
{
    uint32_t result;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(result)
                 : "r"(bits));
    return result;
}

// Returns the mask of the lanes below this one.
__device__ inline uint32_t lanesBelow() { return (1u << laneIndex()) - 1u; }

// Returns the index of the highest bit set; for 0 the result has no meaning.
__device__ inline uint32_t highestBit(uint32_t mask)
{
    return 31 - static_cast<uint32_t>(__clz(static_cast<int>(mask)));
}

// Returns the sum over this lane and all lanes below it. Only lanes below `Lanes` have a valid
// result.
template <uint32_t Lanes = kWarpSize>
__device__ inline uint32_t warpInclusiveSum(uint32_t value)
{
    // The shuffle itself tells whether there is a lane `distance` below. Using that takes half the
    // instructions of a comparison and a selection.
#pragma unroll
    for (uint32_t distance = 1; distance < Lanes; distance *= 2) {
        asm volatile(
            "{ .reg .u32 below; .reg .pred any; shfl.sync.up.b32 below|any, %0, %1, 0, 0xffffffff;"
            " @any add.u32 %0, %0, below; }"
            : "+r"(value)
            : "r"(distance));
    }
    return value;
}

// warpSum and warpMax return the sum and the maximum over all lanes.
__device__ inline uint32_t warpSum(uint32_t value)
{
#pragma unroll
    for (uint32_t distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(kAllLanes, value, distance);
    }
    return value;
}

__device__ inline uint32_t warpMax(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(kAllLanes, value);
#else
#pragma unroll
    for (uint32_t distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value = max(value, __shfl_xor_sync(kAllLanes, value, distance));
    }
    return value;
#endif
}

// A sum over the warps of a block. Each warp has one value, which is uniform in the warp.
struct WarpPrefix {
    uint32_t before; // the sum over the warps below this one
    uint32_t total;  // the sum over all warps
};

// Returns the sums over the values `warpValue` of the warps. The caller must alternate between two
// arrays, because threads may still be reading the array of the call before.
template <uint32_t Warps>
__device__ inline WarpPrefix blockExclusiveSumInTurn(uint32_t warpValue, uint32_t (&shared)[Warps])
{
    static_assert(Warps <= kWarpSize, "one warp must hold all values");
    if (laneIndex() == 0) shared[warpIndex()] = warpValue;
    __syncthreads();
    const uint32_t value = laneIndex() < Warps ? shared[laneIndex()] : 0;
    const uint32_t inclusive = warpInclusiveSum<Warps>(value);
    WarpPrefix prefix;
    prefix.before = __shfl_sync(kAllLanes, inclusive - value, static_cast<int>(warpIndex()));
    prefix.total = __shfl_sync(kAllLanes, inclusive, static_cast<int>(Warps - 1));
    return prefix;
}

// Does what blockExclusiveSumInTurn does with a single array, at the cost of a second barrier.
template <uint32_t Warps>
__device__ inline WarpPrefix blockExclusiveSum(uint32_t warpValue, uint32_t (&shared)[Warps])
{
    // After this barrier all threads have read what the previous call left in `shared`.
    __syncthreads();
    return blockExclusiveSumInTurn(warpValue, shared);
}

} // namespace sluice
