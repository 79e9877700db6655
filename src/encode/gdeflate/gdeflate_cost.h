// SPDX-License-Identifier: MIT OR Apache-2.0
// Fixed-point logarithms, and the symbol costs that the optimal parser works with: integers, so that
// the result is the same on every machine.
#pragma once

#include "encode/gdeflate/gdeflate_block.h"

namespace sluice::gdeflate {

constexpr u32 kCostShift = 6; // costs are in 1/64 bit

// Returns log2(value) in 1/64 bit, rounded down; value is not 0.
u32 log2Cost(u32 value);

// Returns n * log2(n) in 1/64 bit for n up to kTileBytes + 1. Symbols with frequencies f and a total
// of n take n log n - (sum of f log f) bits.
class EntropyTable {
public:
    EntropyTable();
    u32 operator[](u32 n) const { return m_table[n]; }

private:
    u32 m_table[kTileBytes + 2];
};

// The cost of a decoder's work, which parser and splitter add to that of the bits. 32 lanes decode a
// symbol each in one round, so the unit of work is a symbol; a match has two, its length and its
// distance.
struct DecodeWork {
    u32 symbol = 0;
    u32 block = 0;      // header and tables of a block
    u32 nearSource = 0; // a distance of 1; longer ones cost ever less, from kNear on nothing
    u32 overlap = 0;    // each time that a match which repeats its own bytes doubles them
    CodeLimits limits;

    // Decoders write the output in pieces of about this many bytes. A match with its source inside
    // the piece must wait for it, and a match that overlaps its source waits for itself repeatedly.
    static constexpr u32 kNear = 128;

    u32 ofDistance(u32 slot) const
    {
        const u32 distance = distanceBase(slot);
        return distance < kNear ? nearSource * (kNear - distance) / kNear : 0;
    }
    // The work of a block's symbols, header and tables apart.
    u32 ofSymbols(const Histogram& histogram) const;
};

struct Costs {
    u32 literal[256];
    u32 length[kMaxShortMatch + 1]; // by length, extra bits included
    u32 longLength;                 // any length above
    u32 distance[kDistanceSymbols]; // by slot, extra bits included
    u32 overlap; // of each doubling of a match that overlaps itself with a distance below kNear

    // Sets typical costs, for data about which nothing is known yet.
    void setDefault();
    // Sets the lengths of a code where it has them, else the information content of each symbol.
    void setFromHistogram(const Histogram& histogram, const CodeLengths* lengths);
    // Adds the decoder's work to each symbol.
    void add(const DecodeWork& work);
};

} // namespace sluice::gdeflate
