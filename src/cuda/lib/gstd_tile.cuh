// SPDX-License-Identifier: MIT OR Apache-2.0
// A Gstd tile as both of its kernels see it: 16-bit words of its source, and stores to its
// destination.
#pragma once

#include "../../../shaders/lib/layout.h"
#include "../kernels.h"
#include "publish.cuh"
#include "warp.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

constexpr uint32_t kDoneAt = 1; // in a slot: the mark of the last turn that is done with it

// The status with this mark.
__device__ inline uint32_t waitFor(const uint32_t* word, uint32_t mark)
{
    for (uint32_t turn = 0; turn < kMostPolls; ++turn) {
        const uint32_t value = published(word);
        if ((value & ~kGstdStatusMask) == mark) return value & kGstdStatusMask;
        __nanosleep(100);
    }
    return SLUICE_ST_INTERNAL;
}
// For a word that is a mark, by a warp. Its lanes leave the loop together, and the compiler must
// see that: behind a loop that they might leave one by one it takes them for divergent, and every
// shuffle and vote costs twice as much.
__device__ inline bool waitTogether(const uint32_t* word, uint32_t mark)
{
    for (uint32_t turn = 0; turn < kMostPolls; ++turn) {
        if (__all_sync(kAllLanes, published(word) == mark)) return true;
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

    // Four bytes from position `at`, a multiple of 4, of which those before `end` exist.
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
