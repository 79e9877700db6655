// SPDX-License-Identifier: MIT OR Apache-2.0
// Weights that the benchmark decodes: normally distributed, in any format of sign, exponent and mantissa.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench_rows.h"

namespace sluice {

struct NumberFormat {
    uint32_t exponentBits, mantissaBits; // with the sign 8, 16 or 32 bits
};

// The same ones each time. Too large for the format: its largest number.
std::vector<uint8_t> makeWeights(const NumberFormat& format, float sigma, uint64_t count);

// A decode that writes `outputBytes`, the plain bytes over and over. The last two words of status are its summary.
struct WeightDecode {
    const char* kernel;
    std::string name; // of the codec
    const BenchBuffer &destination, &status;
    uint64_t outputBytes, encodedBytes;
    const std::vector<uint8_t>& plain;
    std::function<void(SluiceCommands)> record;
};
// Runs it over other bytes, checks all that it wrote, then times it.
void benchDecode(const BenchDevice& device, const WeightDecode& decode, BenchReport& report);

} // namespace sluice
