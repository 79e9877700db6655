// SPDX-License-Identifier: MIT OR Apache-2.0
// Fixed-point logarithms and the symbol costs that the optimal parser works with. Integers only:
// the same result on every machine.
#pragma once

#include "gdeflate_block.h"

namespace sluice::gdeflate {

constexpr uint32_t kCostShift = 6; // costs are in 1/64 bit

// log2(value) in 1/64 bit, rounded down; value is not 0.
uint32_t log2Cost(uint32_t value);

// n * log2(n) in 1/64 bit for n up to kTileBytes + 1, where f symbols of a total of n take n log n
// - sum of f log f bits.
class EntropyTable {
public:
    EntropyTable();
    uint32_t operator[](uint32_t n) const { return table_[n]; }

private:
    uint32_t table_[kTileBytes + 2];
};

// What the work of a decoder counts for, in the unit of the costs: what the parser and the splitter
// add to the bits. 32 lanes decode a symbol each in one round, so the unit of work is a symbol; a
// match is two, its length and its distance.
struct DecodeWork {
    uint32_t symbol = 0;
    uint32_t block = 0;      // header and tables of a block
    uint32_t nearSource = 0; // a distance of 1, and ever less for longer ones until nothing is left
                             // at kNear
    uint32_t overlap = 0;    // a match that repeats its own bytes, for each time that they double
    CodeLimits limits;

    // Decoders write the output in pieces of about so many bytes. What has its source inside the
    // piece must wait for it, and a match that overlaps its source for itself, again and again.
    static constexpr uint32_t kNear = 128;

    uint32_t ofDistance(uint32_t slot) const
    {
        const uint32_t distance = distanceBase(slot);
        return distance < kNear ? nearSource * (kNear - distance) / kNear : 0;
    }
    // Of the symbols of a block, header and tables apart.
    uint32_t ofSymbols(const Histogram& histogram) const;
};

struct Costs {
    uint32_t literal[256];
    uint32_t length[kMaxShortMatch + 1]; // by length, extra bits included
    uint32_t longLength;                 // any length above
    uint32_t distance[kDistanceSymbols]; // by slot, extra bits included
    uint32_t overlap;                    // for each doubling that a match is longer than its
                                         // distance, below kNear

    // What is usual for data about which nothing is known yet.
    void setDefault();
    // The code lengths of a code for this histogram where it has them; else the information content
    // of each symbol.
    void setFromHistogram(const Histogram& histogram, const CodeLengths* lengths);
    // Adds the decoder's work to each symbol.
    void add(const DecodeWork& work);
};

} // namespace sluice::gdeflate
