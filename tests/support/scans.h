// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what tests of scans and reductions share: random elements of all types, and results from
// the host.
#pragma once

#include <sluice/sluice_scan.h>

#include "tests/support/devices.h"

namespace sluice::test {

Words randomWords(size_t count, std::mt19937& random);
// Returns elements of a type, each of `wordsOf(type)` words. Elements of f32 are small and large,
// of both signs, and zeros. `special`: some are NaN or infinity.
Words randomValues(SluiceValueType type, size_t count, bool special, std::mt19937& random);
size_t wordsOf(SluiceValueType type);
// Returns bits, about one in `every` of which is set. Some set bits are neighbours.
Words randomHeads(size_t count, uint32_t every, std::mt19937& random);

// Holds the results as words. Sums of f32 are not exact: for them, it holds the exact sums and how
// far from these a result may be.
struct HostScan {
    Words total;
    Words output;
    std::vector<double> exact;
    std::vector<double> bound;
    double exactTotal = 0;
    double totalBound = 0;
};

// Scans with one thread, without the library's code.
HostScan scanOnHost(SluiceScanKind kind, SluiceOperation operation, SluiceValueType type,
                    const Words& input, const Words& heads);
// Checks that each of `got` is within its bound.
void checkF32(const Words& got, const HostScan& expected);

} // namespace sluice::test
