// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what both Gstd kernels need of a tile: 16-bit words of its source, stores to its
// destination, and waiting for what the other kernel publishes.
#pragma once

#include "layout/base.h"
#include "cuda/kernels.h"
#include "cuda/lib/publish.cuh"
#include "cuda/lib/warp.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

constexpr uint32_t kDoneAt = 1; // word of a slot: the epoch of the last turn that is done with it

// Waits for a word to have this epoch, and returns its status.
__device__ inline uint32_t waitFor(const uint32_t* word, uint32_t epoch)
{
    for (uint32_t turn = 0; turn < kMostPolls; ++turn) {
        const uint32_t value = published(word);
        if ((value & ~kGstdStatusMask) == epoch) return value & kGstdStatusMask;
        __nanosleep(100);
    }
    return SLUICE_ST_INTERNAL;
}
// A warp waits for a word to be this epoch. Its lanes leave the loop together, and the compiler
// must see that: after a loop that lanes might leave one by one it takes them for divergent, and
// every shuffle and vote costs twice as much.
__device__ inline bool waitForEpoch(const uint32_t* word, uint32_t epoch)
{
    for (uint32_t turn = 0; turn < kMostPolls; ++turn) {
        if (__all_sync(kAllLanes, published(word) == epoch)) return true;
        __nanosleep(100);
    }
    return false;
}

struct GstdTile {
    const uint32_t* source;
    uint8_t* destination;

    __device__ uint32_t word(uint32_t index) const
    {
        return source[index / 2] >> index % 2 * 16 & 0xffff;
    }

    // Stores four bytes at `at`, a multiple of 4, but none at `end` or behind.
    __device__ void store(uint32_t at, uint32_t bytes, uint32_t end) const
    {
        if (at + 4 <= end) {
            *reinterpret_cast<uint32_t*>(destination + at) = bytes;
            return;
        }
        for (; at < end; ++at, bytes >>= 8)
            destination[at] = static_cast<uint8_t>(bytes);
    }
};

} // namespace sluice
