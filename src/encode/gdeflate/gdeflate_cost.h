// SPDX-License-Identifier: MIT OR Apache-2.0
// Fixed-point logarithms, and the symbol costs that the optimal parser works with: integers, so that
// the result is the same on every machine.
#pragma once

#include "encode/gdeflate/gdeflate_block.h"

namespace sluice::gdeflate {

constexpr uint32_t kCostShift = 6; // costs are in 1/64 bit

// Returns log2(value) in 1/64 bit, rounded down; value is not 0.
uint32_t log2Cost(uint32_t value);

// Returns n * log2(n) in 1/64 bit for n up to kTileBytes + 1. Symbols with frequencies f and a total
// of n take n log n - (sum of f log f) bits.
class EntropyTable {
public:
    EntropyTable();
    uint32_t operator[](uint32_t n) const { return m_table[n]; }

private:
    uint32_t m_table[kTileBytes + 2];
};

// The cost of a decoder's work, which parser and splitter add to that of the bits. 32 lanes decode a
// symbol each in one round, so the unit of work is a symbol; a match has two, its length and its
// distance.
struct DecodeWork {
    uint32_t symbol = 0;
    uint32_t block = 0;      // header and tables of a block
    uint32_t nearSource = 0; // a distance of 1; longer ones cost ever less, from kNear on nothing
    uint32_t overlap = 0;    // each time that a match which repeats its own bytes doubles them
    CodeLimits limits;

    // Decoders write the output in pieces of about this many bytes. A match with its source inside
    // the piece must wait for it, and a match that overlaps its source waits for itself repeatedly.
    static constexpr uint32_t kNear = 128;

    uint32_t ofDistance(uint32_t slot) const
    {
        const uint32_t distance = distanceBase(slot);
        return distance < kNear ? nearSource * (kNear - distance) / kNear : 0;
    }
    // The work of a block's symbols, header and tables apart.
    uint32_t ofSymbols(const Histogram& histogram) const;
};

struct Costs {
    uint32_t literal[256];
    uint32_t length[kMaxShortMatch + 1]; // by length, extra bits included
    uint32_t longLength;                 // any length above
    uint32_t distance[kDistanceSymbols]; // by slot, extra bits included
    uint32_t
        overlap; // of each doubling of a match that overlaps itself with a distance below kNear

    // Sets typical costs, for data about which nothing is known yet.
    void setDefault();
    // Sets the lengths of a code where it has them, else the information content of each symbol.
    void setFromHistogram(const Histogram& histogram, const CodeLengths* lengths);
    // Adds the decoder's work to each symbol.
    void add(const DecodeWork& work);
};

} // namespace sluice::gdeflate
