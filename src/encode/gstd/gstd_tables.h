// SPDX-License-Identifier: MIT OR Apache-2.0
// Frequency tables and code lengths of a Gstd part: chooses them, computes their cost and writes
// them. Costs are integers, so that the result is the same on every machine.
#pragma once

#include "encode/gstd/gstd_lanes.h"

namespace sluice::gstd {

constexpr u32 kCostShift = 8; // costs are in 1/256 bit

constexpr u64 bitCost(u64 bits) { return bits << kCostShift; }

struct Counts {
    u32 count[256] = {};
    u32 total = 0;

    void add(u32 symbol)
    {
        ++count[symbol];
        ++total;
    }
    u32 used() const;
};

struct Table {
    u32 size = 0; // of the alphabet
    u32 log = 0;
    u16 frequency[256] = {}; // they add up to 2^log
    u16 start[256] = {};

    // Finds the best frequencies for these counts. Every symbol that occurs gets a frequency;
    // symbol 0 gets everything if none occurs.
    void fit(const Counts& counts, u32 alphabet, u32 wantedLog);
    void place(); // sets start
    // Returns the cost of all these symbols; UINT64_MAX if one of them has no frequency.
    u64 cost(const Counts& counts) const;
    void write(LaneWriter& writer, u32 lane, u32 symbol) const
    {
        writer.symbol(lane, frequency[symbol], start[symbol], log);
    }
};

// Prefix codes of the literals, whose bits are used from the lowest on.
struct Code {
    u8 length[256] = {}; // 0: the symbol does not occur
    u16 bits[256] = {};

    void fit(const Counts& counts); // of at least two symbols
    u64 cost(const Counts& counts) const;
    void write(LaneWriter& writer, u32 lane, u32 symbol) const
    {
        writer.bits(lane, bits[symbol], length[symbol]);
    }
};

// Describes the tables of a group: the classes of their symbols, coded with frequencies of their
// own, then the bits that turn each class into a frequency.
class Description {
public:
    void clear() { *this = {}; }
    void add(const Table& table);
    void add(const Code& code);
    u64 cost(); // after the last one was added
    void write(LaneWriter& writer) const;

private:
    struct Item {
        u8 lane, kind, bits;
        u16 extra;
    };

    void add(u32 symbol, u32 frequency);

    Item m_items[512];
    u32 m_count = 0;
    Counts m_counts;
    Table m_classes;
};

} // namespace sluice::gstd
