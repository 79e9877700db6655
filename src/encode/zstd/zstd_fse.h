// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables for the encoder: chooses the states of symbols, computes what symbols cost, and writes
// descriptions. Costs are integers, so that the result is the same on every machine.
#pragma once

#include <memory>
#include <vector>

#include "layout/zstd.h"
#include "formats/fse.h"
#include "encode/zstd/zstd_bits.h"

namespace sluice::zstd {

constexpr uint32_t kCostShift = 12; // costs are in 1/4096 bit
constexpr uint64_t kNever = uint64_t(1) << 60;
constexpr uint64_t bitCost(uint64_t bits) { return bits << kCostShift; }

// Counts the symbols of one FSE table of sequences, or the weights of a Huffman tree.
struct Histogram {
    uint32_t count[64] = {};
    uint32_t total = 0;

    void add(uint32_t symbol)
    {
        ++count[symbol];
        ++total;
    }
    void add(const Histogram& other);
    uint32_t used() const; // how many symbols occur
};

class FseCode {
public:
    uint32_t mode = SLUICE_ZS_FSE;    // SLUICE_ZS_PREDEFINED, ONE_SYMBOL or FSE
    std::vector<uint8_t> description; // the description of the table in a block
    fse::Distribution states;         // log 0: one symbol, which takes no bits

    void build();
    uint64_t cost(const Histogram& histogram) const; // kNever if a symbol has no state

    // The encoder works backwards. first() returns its state for the symbol that a decoder reads
    // last. next() returns its state after it has added the symbol that a decoder reads before.
    // States are 2^log .. 2^(log + 1) - 1.
    uint32_t first(uint32_t symbol) const { return place(symbol, 0); }
    uint32_t next(uint32_t state, uint32_t symbol, BitWriter& bits) const
    {
        const uint32_t count = uint32_t(states.count[symbol]);
        uint32_t n = states.log - floorLog2(count);
        if (state >> n < count) --n;
        bits.put(state & ((1u << n) - 1), n);
        return place(symbol, (state >> n) - count);
    }
    void flush(uint32_t state, BitWriter& bits) const
    {
        bits.put(state - (1u << states.log), states.log);
    }

private:
    uint32_t place(uint32_t symbol, uint32_t k) const
    {
        return (1u << states.log) + m_places[m_begin[symbol] + k];
    }

    uint16_t m_begin[64] = {};
    uint16_t m_places[SLUICE_ZS_MAX_STATES] = {}; // the states of each symbol, in ascending order
    uint32_t m_cost[64] = {};
};

// Returns a table of 2^log states for these symbols, at least two of which occur. Returns null if
// more symbols occur than there are states.
std::unique_ptr<FseCode> fitFse(const Histogram& histogram, uint32_t log);

// Returns the cheapest table that a block can describe for these symbols. kind:
// SLUICE_ZS_LITERAL_LENGTHS, OFFSETS or MATCH_LENGTHS. cost: receives the cost of the description
// and of the symbols.
std::unique_ptr<FseCode> bestFse(uint32_t kind, const Histogram& histogram, uint64_t& cost);
std::unique_ptr<FseCode> predefinedFse(uint32_t kind);

} // namespace sluice::zstd
