// SPDX-License-Identifier: MIT OR Apache-2.0
// A Gstd tile as both of its kernels see it: 16-bit words of its source, and stores to its destination.
#pragma once

#include "../../../shaders/lib/layout.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

// What is known of a tile or a part before bytes are made of it, not PENDING; with it all that was written before.
__device__ inline void publish(uint32_t* word, uint32_t status)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(status) : "memory");
}
__device__ inline uint32_t waitFor(const uint32_t* word)
{
    // All blocks that publish have begun, so the end of the loop is for mistakes: seconds are better than a lost device.
    for (uint32_t turn = 0; turn < 1u << 25; ++turn) {
        uint32_t status;
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(status) : "l"(word) : "memory");
        if (status != SLUICE_ST_PENDING) return status;
        __nanosleep(100);
    }
    return SLUICE_ST_INTERNAL;
}

struct GstdTile {
    const uint32_t* source;
    uint8_t* destination;

    __device__ uint32_t word(uint32_t index) const { return source[index / 2] >> index % 2 * 16 & 0xffff; }

    // Four bytes from position `at`, a multiple of 4, of which those before `end` exist.
    __device__ void store(uint32_t at, uint32_t bytes, uint32_t end) const
    {
        if (at + 4 <= end) {
            *reinterpret_cast<uint32_t*>(destination + at) = bytes;
            return;
        }
        for (; at < end; ++at, bytes >>= 8) destination[at] = static_cast<uint8_t>(bytes);
    }
};

} // namespace sluice
