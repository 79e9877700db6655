// SPDX-License-Identifier: MIT OR Apache-2.0
// A round of a GDeflate block: the state of the lanes before it, and its results.
#pragma once

#include "cpu/fast/copy.h"
#include "cpu/fast/gdeflate_table.h"

namespace sluice::cpu::fast {

struct GdeflateLanes {
    uint64_t bits[gdeflate::kLanes];
    uint64_t counts[gdeflate::kLanes];
    uint64_t places[gdeflate::kLanes]; // offset of the table: of distances if a match is open
};

struct GdeflateTables {
    uint32_t entries[2 * kTableSize]; // literals and lengths, then distances
    uint32_t longEntries[kLongGroups * kLongSize];
};

struct GdeflateRound {
    uint32_t literals = 0; // number of literals in `bytes`, which are in the order of the lanes
    uint32_t matches = 0;  // the lanes that have read a length, one bit per lane
    // Per lane: the length or distance that it has read, and the number of the round's literals
    // before its match.
    uint32_t values[gdeflate::kLanes];
    uint32_t literalsBefore[gdeflate::kLanes];
    uint8_t bytes[gdeflate::kLanes + kWildBytes]; // which are copied in blocks
};

// Decodes a round with AVX2 and advances `next`, at which 128 bytes must be readable. Every symbol
// of the round must be a literal, a length or a distance; if one is not, returns false and changes
// nothing but `round`.
bool gdeflateRoundAvx2(GdeflateLanes& lanes, const GdeflateTables& tables, const uint8_t*& next,
                       GdeflateRound& round);

} // namespace sluice::cpu::fast
