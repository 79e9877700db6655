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

// The first `bytes` bytes at `source`, which may be anywhere; at most 16.
__device__ inline uint4 loadBytes(uint64_t source, uint32_t bytes)
{
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t i = 0; i < 16; ++i) {
        if (i < bytes) words[i / 4] |= static_cast<uint32_t>(*reinterpret_cast<const uint8_t*>(source + i)) << 8 * (i % 4);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Loads at any alignment come in two steps: first all the aligned pieces in which the wanted bytes begin, so that they
// overlap; then the pieces behind, most of which a neighbouring lane has brought into the cache.

// The aligned 16 bytes that hold the byte at `source`.
__device__ inline uint4 beginUnit(uint64_t source)
{
    return __ldg(reinterpret_cast<const uint4*>(source & ~15ull));
}
// The 16 bytes at `source`; low: what beginUnit gave.
__device__ inline uint4 endUnit(uint64_t source, uint4 low)
{
    const uint32_t shift = static_cast<uint32_t>(source) & 15;
    if (shift == 0) return low;
    return funnelShift(low, __ldg(reinterpret_cast<const uint4*>(source & ~15ull) + 1), shift);
}

// The same for 4 bytes, of which only [from, to) count: no word without any of them is read.
__device__ inline uint32_t beginWord(uint64_t source, uint32_t from)
{
    return (static_cast<uint32_t>(source) & 3) + from < 4 ? __ldg(reinterpret_cast<const uint32_t*>(source & ~3ull)) : 0;
}
__device__ inline uint32_t endWord(uint64_t source, uint32_t to, uint32_t low)
{
    const uint32_t shift = static_cast<uint32_t>(source) & 3;
    if (shift + to <= 4) return low >> 8 * shift;
    return __funnelshift_r(low, __ldg(reinterpret_cast<const uint32_t*>(source & ~3ull) + 1), 8 * shift);
}

// Bytes [from, to) of the word at `target`, a multiple of 4.
__device__ inline void storeWord(uint64_t target, uint32_t value, uint32_t from, uint32_t to)
{
    if (from == 0 && to == 4) {
        *reinterpret_cast<uint32_t*>(target) = value;
        return;
    }
    if ((from & 1) != 0 && from < to) {
        *reinterpret_cast<uint8_t*>(target + from) = static_cast<uint8_t>(value >> 8 * from);
        ++from;
    }
    if (from + 2 <= to) {
        *reinterpret_cast<uint16_t*>(target + from) = static_cast<uint16_t>(value >> 8 * from);
        from += 2;
    }
    if (from < to) *reinterpret_cast<uint8_t*>(target + from) = static_cast<uint8_t>(value >> 8 * from);
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
        if (low < high) storeWord(target + 4 * i, words[i], low - 4 * i, high - 4 * i);
    }
}

} // namespace sluice
