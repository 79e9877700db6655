// SPDX-License-Identifier: MIT OR Apache-2.0
// A Gstd tile as both of its kernels see it: 16-bit words of its source, and stores to its destination.
#pragma once

#include <cstdint>

namespace sluice {

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
