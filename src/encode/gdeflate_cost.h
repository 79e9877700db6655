// SPDX-License-Identifier: MIT OR Apache-2.0
// Fixed-point logarithms and the symbol costs that the optimal parser works with. Integers only: the same result on
// every machine.
#pragma once

#include "gdeflate_block.h"

namespace sluice::gdeflate {

constexpr uint32_t kCostShift = 6; // costs are in 1/64 bit

// log2(value) in 1/64 bit, rounded down; value is not 0.
uint32_t log2Cost(uint32_t value);

// n * log2(n) in 1/64 bit for n up to kTileBytes + 1, where f symbols of a total of n take n log n - sum of f log f
// bits.
class EntropyTable {
public:
    EntropyTable();
    uint32_t operator[](uint32_t n) const { return table_[n]; }

private:
    uint32_t table_[kTileBytes + 2];
};

struct Costs {
    uint32_t literal[256];
    uint32_t length[kMaxShortMatch + 1]; // by length, extra bits included
    uint32_t longLength;                 // any length above
    uint32_t distance[kDistanceSymbols]; // by slot, extra bits included

    // What is usual for data about which nothing is known yet.
    void setDefault();
    // The code lengths of a code for this histogram where it has them; else the information content of each symbol.
    void setFromHistogram(const Histogram& histogram, const CodeLengths* lengths);
};

} // namespace sluice::gdeflate
