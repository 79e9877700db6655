// SPDX-License-Identifier: MIT OR Apache-2.0
// The inputs and results of a round of a GDeflate block: the state of the 32 lanes, the tables, and
// the symbols that the lanes have read. In a round every lane reads one symbol: a literal, a
// length, or the distance of the match whose length it read in the round before.
#pragma once

#include "cpu/fast/copy.h"
#include "cpu/fast/gdeflate_table.h"

namespace sluice::cpu::fast {

// The state of the lanes. All numbers have 64 bits, so that AVX2 can combine them without
// conversions.
struct GdeflateLanes {
    uint64_t bits[gdeflate::kLanes];   // unread bits; the next one is the lowest
    uint64_t counts[gdeflate::kLanes]; // the number of unread bits
    // The offset in GdeflateTables::entries of the table for the lane's next symbol: 0, or
    // kTableSize if the lane must read a distance.
    uint64_t places[gdeflate::kLanes];
};

// The tables of the block's codes; gdeflate_table.h describes the entries.
struct GdeflateTables {
    uint32_t entries[2 * kTableSize]; // literals and lengths, then distances
    uint32_t longEntries[kLongGroups * kLongSize];
};

// The symbols that the lanes have read in a round.
struct GdeflateRound {
    uint32_t literals = 0; // the number of literals; they are in `bytes`, in the order of the lanes
    uint32_t matches = 0;  // the lanes that have read a length, one bit per lane
    uint32_t values[gdeflate::kLanes]; // the literal, length or distance that the lane has read
    // For each lane with a length: how many of the round's literals come before it.
    uint32_t literalsBefore[gdeflate::kLanes];
    // The literals, and behind them room for wild copies (copy.h).
    uint8_t bytes[gdeflate::kLanes + kWildBytes];
};

// Decodes a round with AVX2, and advances `next` by the words that it took. At least 128 bytes must
// be readable at `next`. If the round has another symbol than a literal, length or distance,
// returns false and changes nothing but `round`.
bool gdeflateRoundAvx2(GdeflateLanes& lanes, const GdeflateTables& tables, const uint8_t*& next,
                       GdeflateRound& round);

} // namespace sluice::cpu::fast
