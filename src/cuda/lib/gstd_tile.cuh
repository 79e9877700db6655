// SPDX-License-Identifier: MIT OR Apache-2.0
// A tile as both Gstd kernels see it: the 16-bit words of its source, stores to its destination,
// and waiting for words that the other kernel publishes. The two kernels may run at the same time.
// A word that one of them publishes in the tile's slot of scratch is a status plus the epoch of the
// turn (src/cuda/enqueue_gstd.cpp), so that a word of an older turn is not mistaken for one of this
// turn.
#pragma once

#include "layout/base.h"
#include "cuda/kernels.h"
#include "cuda/lib/publish.cuh"
#include "cuda/lib/warp.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

// The index in a slot of scratch of the word that releases the slot to a later turn: a turn leaves
// its epoch there when it is done with the slot.
constexpr uint32_t kDoneAt = 1;

// Waits until the word has this epoch, and returns its status, or SLUICE_ST_INTERNAL after
// kMostPolls polls.
__device__ inline uint32_t waitFor(const uint32_t* word, uint32_t epoch)
{
    for (uint32_t turn = 0; turn < kMostPolls; ++turn) {
        const uint32_t value = published(word);
        if ((value & ~kGstdStatusMask) == epoch) return value & kGstdStatusMask;
        __nanosleep(100);
    }
    return SLUICE_ST_INTERNAL;
}
// A warp waits until the word equals `epoch`; returns false after kMostPolls polls. The lanes leave
// the loop together, and the vote tells the compiler so. Otherwise it would assume that they
// diverge from here on, and each later shuffle and vote would cost twice as much.
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

    // Returns the 16-bit word `index` of the source.
    __device__ uint32_t word(uint32_t index) const
    {
        return source[index / 2] >> index % 2 * 16 & 0xffff;
    }

    // Stores four bytes at byte `at` of the tile, a multiple of 4, except those from byte `end` on.
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
