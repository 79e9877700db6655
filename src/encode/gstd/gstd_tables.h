// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of a Gstd part: chooses frequencies and code lengths, computes what they cost, and
// writes them. Costs are integers, so that the result is the same on every machine.
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
    uint32_t size = 0; // number of symbols in the alphabet
    uint32_t log = 0;
    uint16_t frequency[256] = {}; // of each symbol; the sum is 2^log
    uint16_t start[256] = {};

    // Chooses a frequency for each symbol, for these counts; the sum is 2^wantedLog. Every symbol
    // that occurs gets at least one slot. If none occurs, symbol 0 gets all slots.
    void fit(const Counts& counts, uint32_t alphabet, uint32_t wantedLog);
    void place(); // sets `start`, each symbol's first slot
    // Returns what the counted symbols cost, or UINT64_MAX if one of them has no slot.
    uint64_t cost(const Counts& counts) const;
    void write(LaneWriter& writer, uint32_t lane, uint32_t symbol) const
    {
        writer.symbol(lane, frequency[symbol], start[symbol], log);
    }
};

// A prefix code for literals. A decoder reads a code's bits from the lowest to the highest.
struct Code {
    uint8_t length[256] = {}; // 0: the symbol does not occur
    uint16_t bits[256] = {};

    void fit(const Counts& counts); // at least two symbols must occur
    uint64_t cost(const Counts& counts) const;
    void write(LaneWriter& writer, uint32_t lane, uint32_t symbol) const
    {
        writer.bits(lane, bits[symbol], length[symbol]);
    }
};

// Describes tables in the stream: the classes of all frequencies, coded with a table for classes,
// and the extra bits that complete each class to a frequency.
class Description {
public:
    void clear() { *this = {}; }
    void add(const Table& table);
    void add(const Code& code);
    uint64_t cost(); // also fits the table of classes: call it after the last add(), before write()
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
