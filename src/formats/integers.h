// SPDX-License-Identifier: MIT OR Apache-2.0
// Integer types and arithmetic that encoders, formats and the CPU reference share. Every function
// gives the same result on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

template <typename T>
constexpr T divideUp(T value, T divisor)
{
    return value / divisor + (value % divisor != 0 ? 1 : 0);
}

// Rounds up to a multiple of `alignment`, a power of two.
constexpr u64 alignUp(u64 value, u64 alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

// value is not 0.
constexpr u32 floorLog2(u32 value)
{
#if defined(__GNUC__)
    return 31u - u32(__builtin_clz(value));
#else
    u32 log = 0;
    while (value >> log > 1)
        ++log;
    return log;
#endif
}

// Returns the index of the lowest bit that is set; value is not 0.
constexpr u32 lowestBit(u64 value)
{
#if defined(__GNUC__)
    return u32(__builtin_ctzll(value));
#else
    const u32 low = u32(value), word = low != 0 ? low : u32(value >> 32);
    return floorLog2(word & (0 - word)) + (low != 0 ? 0 : 32);
#endif
}

// Returns log2(value) in units of 2^-fractionBits, rounded down; value is not 0. Each squaring of
// the mantissa gives one bit.
constexpr u32 log2Fixed(u32 value, u32 fractionBits)
{
    u32 result = floorLog2(value);
    u64 mantissa = (u64(value) << 31) >> result; // 1.31
    for (u32 i = 0; i < fractionBits; ++i) {
        mantissa = (mantissa * mantissa) >> 31;
        result = result << 1 | u32(mantissa >> 32);
        mantissa >>= mantissa >> 32;
    }
    return result;
}

} // namespace sluice
