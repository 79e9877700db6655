// SPDX-License-Identifier: MIT OR Apache-2.0
// Integer types and arithmetic for encoders, formats and the CPU reference. All of it gives the
// same results on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

template <typename T>
constexpr T divideUp(T value, T divisor)
{
    return value / divisor + (value % divisor != 0 ? 1 : 0);
}

// Rounds up to a multiple of `alignment`, which is a power of two.
constexpr uint64_t alignUp(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

// Returns floor(log2(value)); `value` must not be 0.
constexpr uint32_t floorLog2(uint32_t value)
{
#if defined(__GNUC__)
    return 31u - uint32_t(__builtin_clz(value));
#else
    uint32_t log = 0;
    while (value >> log > 1)
        ++log;
    return log;
#endif
}

// Returns the index of the lowest set bit; `value` must not be 0.
constexpr uint32_t lowestBit(uint64_t value)
{
#if defined(__GNUC__)
    return uint32_t(__builtin_ctzll(value));
#else
    const uint32_t low = uint32_t(value), word = low != 0 ? low : uint32_t(value >> 32);
    return floorLog2(word & (0 - word)) + (low != 0 ? 0 : 32);
#endif
}

// Returns log2(value) in units of 2^-fractionBits, rounded down; `value` must not be 0. Squaring
// the mantissa doubles its logarithm, so each squaring gives one more bit of the result.
constexpr uint32_t log2Fixed(uint32_t value, uint32_t fractionBits)
{
    uint32_t result = floorLog2(value);
    // `mantissa` is value / 2^floor(log2), in fixed point with 31 bits after the point.
    uint64_t mantissa = (uint64_t(value) << 31) >> result;
    for (uint32_t i = 0; i < fractionBits; ++i) {
        mantissa = (mantissa * mantissa) >> 31;
        result = result << 1 | uint32_t(mantissa >> 32);
        mantissa >>= mantissa >> 32;
    }
    return result;
}

} // namespace sluice
