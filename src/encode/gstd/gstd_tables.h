// SPDX-License-Identifier: MIT OR Apache-2.0
// Frequency tables and code lengths of a Gstd part: chooses them, computes their cost and writes
// them. Costs are integers, so that the result is the same on every machine.
#pragma once

#include "encode/gstd/gstd_lanes.h"

namespace sluice::gstd {

constexpr uint32_t kCostShift = 8; // costs are in 1/256 bit

constexpr uint64_t bitCost(uint64_t bits) { return bits << kCostShift; }

struct Counts {
    uint32_t count[256] = {};
    uint32_t total = 0;

    void add(uint32_t symbol)
    {
        ++count[symbol];
        ++total;
    }
    uint32_t used() const;
};

struct Table {
    uint32_t size = 0; // of the alphabet
    uint32_t log = 0;
    uint16_t frequency[256] = {}; // they add up to 2^log
    uint16_t start[256] = {};

    // Finds the best frequencies for these counts. Every symbol that occurs receives a frequency
    // other than 0. If none occurs, symbol 0 receives all slots.
    void fit(const Counts& counts, uint32_t alphabet, uint32_t wantedLog);
    void place(); // sets start
    // Returns the cost of all these symbols, or UINT64_MAX if one that occurs has frequency 0.
    uint64_t cost(const Counts& counts) const;
    void write(LaneWriter& writer, uint32_t lane, uint32_t symbol) const
    {
        writer.symbol(lane, frequency[symbol], start[symbol], log);
    }
};

// A prefix code for literals. A decoder reads the bits of a code from the lowest to the highest.
struct Code {
    uint8_t length[256] = {}; // 0: the symbol does not occur
    uint16_t bits[256] = {};

    void fit(const Counts& counts); // of at least two symbols
    uint64_t cost(const Counts& counts) const;
    void write(LaneWriter& writer, uint32_t lane, uint32_t symbol) const
    {
        writer.bits(lane, bits[symbol], length[symbol]);
    }
};

// The description of a set of tables in the stream: the classes of all symbols, coded with a table
// of their own, and the extra bits that turn each class into a frequency.
class Description {
public:
    void clear() { *this = {}; }
    void add(const Table& table);
    void add(const Code& code);
    uint64_t cost(); // after the last one was added
    void write(LaneWriter& writer) const;

private:
    struct Item {
        uint8_t lane, kind, bits;
        uint16_t extra;
    };

    void add(uint32_t symbol, uint32_t frequency);

    Item m_items[512];
    uint32_t m_count = 0;
    Counts m_counts;
    Table m_classes;
};

} // namespace sluice::gstd
