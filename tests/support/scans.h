// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what the tests of scans and reductions have in common: random elements of all types, and
// the results on the host.
#pragma once

#include <sluice/sluice_scan.h>

#include "tests/support/devices.h"

namespace sluice::test {

Words randomWords(size_t count, std::mt19937& random);
// Elements of a type, `wordsOf(type)` words each. f32: small and large, both signs, zeros; with NaN
// and infinity where `special`.
Words randomValues(SluiceValueType type, size_t count, bool special, std::mt19937& random);
size_t wordsOf(SluiceValueType type);
// Bits, about one in `every` set; some heads come in pairs.
Words randomHeads(size_t count, uint32_t every, std::mt19937& random);

// Results as words. For f32 sums there are no such; they come with the exact sums and how far from
// those they may be.
struct HostScan {
    Words total;
    Words output;
    std::vector<double> exact;
    std::vector<double> bound;
    double exactTotal = 0;
    double totalBound = 0;
};

// A single-threaded scan, written without the library's own code.
HostScan scanOnHost(SluiceScanKind kind, SluiceOperation operation, SluiceValueType type,
                    const Words& input, const Words& heads);
// Each of `got` is within its bound.
void checkF32(const Words& got, const HostScan& expected);

} // namespace sluice::test
