// SPDX-License-Identifier: MIT OR Apache-2.0
// Logarithms in integers: the same on every machine.
#pragma once

#include <cstdint>

namespace sluice {

// value is not 0.
constexpr uint32_t floorLog2(uint32_t value)
{
#if defined(__GNUC__)
    return 31u - static_cast<uint32_t>(__builtin_clz(value));
#else
    uint32_t log = 0;
    while (value >> log > 1)
        ++log;
    return log;
#endif
}

// log2(value) in 1 / 2^fractionBits, rounded down; value is not 0. Each squaring of the mantissa
// gives one bit.
constexpr uint32_t log2Fixed(uint32_t value, uint32_t fractionBits)
{
    uint32_t result = floorLog2(value);
    uint64_t mantissa = (static_cast<uint64_t>(value) << 31) >> result; // 1.31
    for (uint32_t i = 0; i < fractionBits; ++i) {
        mantissa = (mantissa * mantissa) >> 31;
        result = result << 1 | static_cast<uint32_t>(mantissa >> 32);
        mantissa >>= mantissa >> 32;
    }
    return result;
}

} // namespace sluice
