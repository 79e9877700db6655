// SPDX-License-Identifier: MIT OR Apache-2.0
// Weights that the benchmark decodes: normally distributed, in any format of sign, exponent and mantissa.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

struct NumberFormat {
    uint32_t exponentBits, mantissaBits; // with the sign 8, 16 or 32 bits
};

// The same ones each time. Too large for the format: its largest number.
std::vector<uint8_t> makeWeights(const NumberFormat& format, float sigma, uint64_t count);

} // namespace sluice
