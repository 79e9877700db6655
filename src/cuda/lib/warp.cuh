// SPDX-License-Identifier: MIT OR Apache-2.0
// Lanes and warps, and sums over the 32 lanes of a warp and over the warps of a block. All lanes of
// the warp, or all threads of the block, must call the sums together.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

constexpr uint32_t kWarpSize = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

__device__ inline uint32_t laneIndex() { return threadIdx.x % kWarpSize; }
__device__ inline uint32_t warpIndex() { return threadIdx.x / kWarpSize; }

// Returns the slot of the processor that holds the warp; modulo 4 it is the warp's scheduler. It
// may change, so it only serves to spread work.
__device__ inline uint32_t warpSlot()
{
    uint32_t slot;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
    return slot;
}

// Tells the compiler that a value is uniform in the warp, by a shuffle from lane 0, whose result it
// knows to be uniform. It does not know this of most values, for example of threadIdx.x / 32. In
// control flow that depends on other values it tests for absent lanes before each vote and shuffle.
__device__ inline uint32_t uniform(uint32_t value) { return __shfl_sync(kAllLanes, value, 0); }

// Returns bits != 0 ? a : b, and the ballot of bits != 0. If the test of a bit is needed more than
// once, the compiler turns it into a shift, a mask and a comparison; in PTX it is one instruction.
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

// One bit for each lane below this one.
__device__ inline uint32_t lanesBelow() { return (1u << laneIndex()) - 1u; }

// Returns the index of the highest bit set; for 0 it has no meaning.
__device__ inline uint32_t highestBit(uint32_t mask)
{
    return 31 - static_cast<uint32_t>(__clz(static_cast<int>(mask)));
}

// Sums over lanes 0 .. Lanes - 1.
template <uint32_t Lanes = kWarpSize>
__device__ inline uint32_t warpInclusiveSum(uint32_t value)
{
    // The shuffle itself reports whether there is a lane below, with half the instructions of a
    // comparison and a selection.
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

// Sums over the warps of a block. Each warp has one value, which is uniform in the warp.
struct WarpPrefix {
    uint32_t before; // sum over the warps below this one
    uint32_t total;  // sum over all warps of the block
};

// The caller uses several arrays in turn, so no thread can still be reading this one.
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

template <uint32_t Warps>
__device__ inline WarpPrefix blockExclusiveSum(uint32_t warpValue, uint32_t (&shared)[Warps])
{
    __syncthreads(); // the previous call's readers are done with `shared`
    return blockExclusiveSumInTurn(warpValue, shared);
}

} // namespace sluice
