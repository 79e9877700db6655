// SPDX-License-Identifier: MIT OR Apache-2.0
// Fixed-point logarithms, and the symbol costs that the optimal parser works with. All are
// integers, so the result is the same on every machine.
#pragma once

#include "encode/gdeflate/gdeflate_block.h"

namespace sluice::gdeflate {

constexpr uint32_t kCostShift = 6; // costs are in units of 1/64 bit

// Returns log2(value) in units of 1/64 bit, rounded down. `value` must not be 0.
uint32_t log2Cost(uint32_t value);

// A table of n * log2(n) in units of 1/64 bit, for n up to kTileBytes + 1. Symbols with frequencies
// f that add up to n take n log n - (sum of f log f) bits.
class EntropyTable {
public:
    EntropyTable();
    uint32_t operator[](uint32_t n) const { return m_table[n]; }

private:
    uint32_t m_table[kTileBytes + 2];
};

// The cost of a decoder's work, which the parser and the splitter add to the cost of the bits. The
// 32 lanes decode one symbol each per round, so work is counted per symbol. A match consists of two
// symbols, its length and its distance.
struct DecodeWork {
    uint32_t symbol = 0;
    uint32_t block = 0;      // per block, for its header and tables
    uint32_t nearSource = 0; // for distance 1; it falls linearly to 0 at distance kNear
    uint32_t overlap = 0;    // per doubling of a match that copies its own bytes
    CodeLimits limits;

    // Decoders write the output in pieces of about this many bytes. A match whose source is in the
    // same piece must wait for the source, and a match that overlaps its source waits repeatedly.
    static constexpr uint32_t kNear = 128;

    uint32_t ofDistance(uint32_t slot) const
    {
        const uint32_t distance = distanceBase(slot);
        return distance < kNear ? nearSource * (kNear - distance) / kNear : 0;
    }
    // Returns the work of a block's symbols, without that of its header and tables.
    uint32_t ofSymbols(const Histogram& histogram) const;
};

struct Costs {
    uint32_t literal[256];
    uint32_t length[kMaxShortMatch + 1]; // per length, including extra bits
    uint32_t longLength;                 // for any length above kMaxShortMatch
    uint32_t distance[kDistanceSymbols]; // per slot, including extra bits
    uint32_t overlap; // for each doubling of a match that overlaps itself at a distance below kNear

    // Sets typical costs, for the first parse of data of which there is no histogram yet.
    void setDefault();
    // Sets each symbol's cost to its code length if `lengths` has one, otherwise to the information
    // content that follows from its frequency.
    void setFromHistogram(const Histogram& histogram, const CodeLengths* lengths);
    // Adds the decoder's work to each symbol.
    void add(const DecodeWork& work);
};

} // namespace sluice::gdeflate
