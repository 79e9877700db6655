// SPDX-License-Identifier: MIT OR Apache-2.0
// Arithmetic on bytes and on the integers that filters predict, and loads of four bytes from any
// address.
#pragma once

#include "formulas/filter.h"
#include "cuda/lib/launch.cuh"

namespace sluice {

// The predictors of a column. Predictors 1 to kLeft3 are differences of order 1 to 3.
constexpr uint32_t kNone = SLUICE_PREDICTOR_NONE, kLeft3 = SLUICE_PREDICTOR_LEFT3,
                   kUp = SLUICE_PREDICTOR_UP, kGradient = SLUICE_PREDICTOR_GRADIENT,
                   kMedian = SLUICE_PREDICTOR_MEDIAN, kAverage = SLUICE_PREDICTOR_AVERAGE;

// Returns a mask of the bits of a value of `bytes` bytes.
__device__ inline uint32_t maskOf(uint32_t bytes) { return 0xffffffffu >> (32 - 8 * bytes); }

__device__ inline uint32_t byteOf(uint32_t word, uint32_t k) { return word >> 8 * k & 0xff; }

// Returns the low bytes of four words as one word.
__device__ inline uint32_t packBytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// Transposes 4 x 4 bytes: byte b of word r becomes byte r of word b.
__device__ inline void transpose(uint32_t (&word)[4])
{
    const uint32_t low01 = __byte_perm(word[0], word[1], 0x5140),
                   high01 = __byte_perm(word[0], word[1], 0x7362);
    const uint32_t low23 = __byte_perm(word[2], word[3], 0x5140),
                   high23 = __byte_perm(word[2], word[3], 0x7362);
    word[0] = __byte_perm(low01, low23, 0x5410);
    word[1] = __byte_perm(low01, low23, 0x7632);
    word[2] = __byte_perm(high01, high23, 0x5410);
    word[3] = __byte_perm(high01, high23, 0x7632);
}

// Returns the four bytes at `at`, which may have any alignment. Reads only the aligned words that
// contain these bytes.
__device__ inline uint32_t loadWord(const uint8_t* at)
{
    const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) & 3);
    const uint32_t* words = global(reinterpret_cast<const uint32_t*>(at - lead));
    return __funnelshift_r(words[0], words[lead != 0 ? 1 : 0], 8 * lead);
}

// Returns the four bytes from byte `at` on of an array of `bytes` bytes at `from`. Bytes behind the
// end of the array have no meaning; words that lie wholly behind its end are not read.
__device__ inline uint32_t loadWordBefore(const uint8_t* from, uint32_t at, uint32_t bytes)
{
    const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 3);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(from - lead);
    const uint32_t last = (lead + bytes - 1) / 4, first = (lead + at) / 4;
    return __funnelshift_r(words[min(first, last)], words[min(first + 1, last)], 8 * lead);
}

// Returns four bytes from byte `at` on of a list of words. Words behind `lastWord` are not read.
__device__ inline uint32_t loadWordOf(const uint32_t* words, uint32_t at, uint32_t lastWord)
{
    return __funnelshift_r(*global(words + min(at / 4, lastWord)),
                           *global(words + min(at / 4 + 1, lastWord)), 8 * (at & 3));
}

} // namespace sluice
