// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies bytes at any alignment, in words of 4 bytes and units of 16 bytes that are aligned at the
// destination. A word or unit takes two aligned loads, a funnel shift and one store. Where 8-bit
// storage is missing, shaders/lib/units.glsl stores single bytes by atomics on their words. It has
// no loadAhead(), because only NVIDIA's instructions have that hint to the L2 cache.
#pragma once

#include <cstdint>

#include "cuda/lib/launch.cuh"

namespace sluice {

// Joins `low` and `high` to 32 bytes, and returns the 16 bytes from byte `shift` (0 .. 15) on.
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

// Returns the `bytes` bytes at `source`, at most 16. `source` may have any alignment.
__device__ inline uint4 loadBytes(uint64_t source, uint32_t bytes)
{
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t i = 0; i < 16; ++i) {
        if (i < bytes)
            words[i / 4] |= static_cast<uint32_t>(*reinterpret_cast<const uint8_t*>(source + i))
                            << 8 * (i % 4);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Loads a value. A hint makes the L2 cache fetch the 256 bytes around it, because they will be read
// soon.
__device__ inline uint32_t loadAhead(const uint32_t* source)
{
#if __CUDA_ARCH__ >= 800
    uint32_t value;
    asm volatile("ld.global.nc.L2::256B.u32 %0, [%1];" : "=r"(value) : "l"(source));
    return value;
#else
    return __ldg(source);
#endif
}
__device__ inline uint4 loadAhead(const uint4* source)
{
#if __CUDA_ARCH__ >= 800
    uint4 value;
    asm volatile("ld.global.nc.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(source));
    return value;
#else
    return __ldg(source);
#endif
}

// Stores bytes [from, to) of `value` in the word at `target`, a multiple of 4.
__device__ inline void storeWord(uint64_t target, uint32_t value, uint32_t from, uint32_t to)
{
    if (from == 0 && to == 4) {
        *globalPointer<uint32_t>(target) = value;
        return;
    }
    if ((from & 1) != 0 && from < to) {
        *globalPointer<uint8_t>(target + from) = static_cast<uint8_t>(value >> 8 * from);
        ++from;
    }
    if (from + 2 <= to) {
        *globalPointer<uint16_t>(target + from) = static_cast<uint16_t>(value >> 8 * from);
        from += 2;
    }
    if (from < to) *globalPointer<uint8_t>(target + from) = static_cast<uint8_t>(value >> 8 * from);
}

// Stores bytes [from, to) of the unit at `target`, a multiple of 16.
__device__ inline void storeUnit(uint64_t target, uint4 value, uint32_t from, uint32_t to)
{
    if (from == 0 && to == 16) {
        *globalPointer<uint4>(target) = value;
        return;
    }
    const uint32_t words[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t low = max(from, 4 * i), high = min(to, 4 * i + 4);
        if (low < high) storeWord(target + 4 * i, words[i], low - 4 * i, high - 4 * i);
    }
}

// Stores bytes [from, to) like storeUnit, but `from` and `to` must be multiples of 4.
__device__ inline void storeWords(uint64_t target, uint4 value, uint32_t from, uint32_t to)
{
    if (from == 0 && to == 16) {
        *globalPointer<uint4>(target) = value;
        return;
    }
    const uint32_t words[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
        if (4 * i >= from && 4 * i < to) globalPointer<uint32_t>(target)[i] = words[i];
    }
}

} // namespace sluice
