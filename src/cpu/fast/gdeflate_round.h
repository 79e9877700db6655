// SPDX-License-Identifier: MIT OR Apache-2.0
// A round of a GDeflate block: what its lanes hold before it, and its results.
#pragma once

#include "cpu/fast/copy.h"
#include "cpu/fast/gdeflate_table.h"

namespace sluice::cpu::fast {

struct GdeflateLanes {
    uint64_t bits[gdeflate::kLanes];
    uint64_t counts[gdeflate::kLanes];
    uint64_t places[gdeflate::kLanes]; // in the table: the distances' half if the lane owes one
};

struct GdeflateTables {
    uint32_t entries[2 * kTableSize]; // literals and lengths, then distances
    uint32_t longEntries[kLongGroups * kLongSize];
};

struct GdeflateRound {
    uint32_t literals = 0; // in bytes, in the order of their places
    uint32_t matches = 0;  // the lanes that have read a length, a bit each
    // For each lane, the length or distance that it has read, and how many literals of the round
    // stand before its match.
    uint32_t values[gdeflate::kLanes];
    uint32_t literalsBefore[gdeflate::kLanes];
    uint8_t bytes[gdeflate::kLanes + kWildBytes]; // which are copied in blocks
};

// Does a round with AVX2 in which every symbol is a literal, a length or a distance, and advances
// `next`, at which 128 bytes may be read. If there is another symbol it returns false and has
// changed nothing but `round`.
bool gdeflateRoundAvx2(GdeflateLanes& lanes, const GdeflateTables& tables, const uint8_t*& next,
                       GdeflateRound& round);

} // namespace sluice::cpu::fast
