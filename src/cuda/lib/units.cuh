// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies of bytes at any alignment in units of 16 bytes, aligned at the destination: two aligned 16-byte loads, funnel
// shifted, and one store; the ends of a run go word by word and byte by byte.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

// The words of the 16 bytes at byte `shift` of the 32 in (low, high).
__device__ inline uint4 funnelShift(uint4 low, uint4 high, uint32_t shift)
{
    if ((shift & 8) != 0) {
        low = make_uint4(low.z, low.w, high.x, high.y);
        high.x = high.z;
        high.y = high.w;
    }
    if ((shift & 4) != 0) {
        low = make_uint4(low.y, low.z, low.w, high.x);
        high.x = high.y;
    }
    const uint32_t bits = (shift & 3) * 8;
    return make_uint4(__funnelshift_r(low.x, low.y, bits), __funnelshift_r(low.y, low.z, bits),
                      __funnelshift_r(low.z, low.w, bits), __funnelshift_r(low.w, high.x, bits));
}

// The 16 bytes at `source`, which may be anywhere; only bytes [from, to) of them count.
//   within   the 32 aligned bytes around them may all be read; else nothing but [from, to) is
__device__ inline uint4 loadUnit(uint64_t source, uint32_t from, uint32_t to, bool within)
{
    uint4 low = make_uint4(0, 0, 0, 0), high = low;
    const uint32_t shift = static_cast<uint32_t>(source) & 15;
    if (within) {
        const uint4* block = reinterpret_cast<const uint4*>(source - shift);
        if (shift + from < 16) low = __ldg(block);
        if (shift + to > 16) high = __ldg(block + 1);
        return funnelShift(low, high, shift);
    }
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t i = 0; i < 16; ++i) {
        if (i >= from && i < to)
            words[i / 4] |= static_cast<uint32_t>(*reinterpret_cast<const uint8_t*>(source + i)) << 8 * (i % 4);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Bytes [from, to) of the unit at `target`, a multiple of 16.
__device__ inline void storeUnit(uint64_t target, uint4 value, uint32_t from, uint32_t to)
{
    if (from == 0 && to == 16) {
        *reinterpret_cast<uint4*>(target) = value;
        return;
    }
    const uint32_t words[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t low = max(from, 4 * i), high = min(to, 4 * i + 4);
        if (low + 4 == high) {
            reinterpret_cast<uint32_t*>(target)[i] = words[i];
        } else {
#pragma unroll
            for (uint32_t k = 4 * i; k < 4 * i + 4; ++k) {
                if (k >= low && k < high)
                    reinterpret_cast<uint8_t*>(target)[k] = static_cast<uint8_t>(words[i] >> 8 * (k % 4));
            }
        }
    }
}

} // namespace sluice
