// SPDX-License-Identifier: MIT OR Apache-2.0
// Costs of symbols in fractions of a bit, by which the optimal parser compares paths. All costs are
// integers, so the result is the same on every machine.
#pragma once

#include "encode/gdeflate/gdeflate_block.h"

namespace sluice::gdeflate {

constexpr uint32_t kCostShift = 6; // costs are in units of 1/64 bit

// Returns log2(value) in units of 1/64, rounded down. `value` must not be 0.
uint32_t log2Cost(uint32_t value);

// A table of n * log2(n) in units of 1/64 bit, for n up to kTileBytes + 1. If symbols occur with
// frequencies f whose sum is n, an ideal code takes n log n - (sum of f log f) bits for all of
// them.
class EntropyTable {
public:
    EntropyTable();
    uint32_t operator[](uint32_t n) const { return m_table[n]; }

private:
    uint32_t m_table[kTileBytes + 2];
};

// How much time a decoder takes, expressed in units of 1/64 bit so that it can be added to the
// size. The 32 lanes decode one symbol each in a round, so time is counted per symbol; a match has
// two symbols, its length and its distance.
struct DecodeWork {
    uint32_t symbol = 0;
    uint32_t block = 0;      // time of a block's header and tables
    uint32_t nearSource = 0; // wait for a source at distance 1; falls linearly to 0 at kNear
    uint32_t overlap = 0;    // cost of each doubling in a match that overlaps its source
    CodeLimits limits;

    // Decoders write the output in pieces of about this many bytes. A match whose source lies in
    // the same piece waits for that source. A match that overlaps its own source waits several
    // times.
    static constexpr uint32_t kNear = 128;

    uint32_t ofDistance(uint32_t slot) const
    {
        const uint32_t distance = distanceBase(slot);
        return distance < kNear ? nearSource * (kNear - distance) / kNear : 0;
    }
    // Returns the time that a block's symbols take, without the block's header and tables.
    uint32_t ofSymbols(const Histogram& histogram) const;
};

// Holds the costs of symbols, in units of 1/64 bit.
struct Costs {
    uint32_t literal[256];
    uint32_t length[kMaxShortMatch + 1]; // cost of each length, with its extra bits
    uint32_t longLength;                 // cost of any length above kMaxShortMatch
    uint32_t distance[kDistanceSymbols]; // cost of each distance slot, with its extra bits
    // Cost of each doubling in a match that overlaps its source at a distance below kNear: a
    // decoder copies such a match in steps of 1, 2, 4 ... times the distance.
    uint32_t overlap;

    // Sets typical costs, for the first parse, before there is a histogram.
    void setDefault();
    // Sets the cost of a symbol to its code length in `lengths`, which may be null. The cost of a
    // symbol without a code is the number of bits that an ideal code for the histogram would give
    // it.
    void setFromHistogram(const Histogram& histogram, const CodeLengths* lengths);
    // Adds the time that a decoder takes for each symbol.
    void add(const DecodeWork& work);
};

} // namespace sluice::gdeflate
