// SPDX-License-Identifier: MIT OR Apache-2.0
// A round of a GDeflate block: what its lanes hold before, and what it gives.
#pragma once

#include "cpu/fast/copy.h"
#include "cpu/fast/gdeflate_table.h"

namespace sluice::cpu::fast {

struct GdeflateLanes {
    u64 bits[gdeflate::kLanes];
    u64 counts[gdeflate::kLanes];
    u64 places[gdeflate::kLanes]; // in the table: the distances' half if the lane owes one
};

struct GdeflateTables {
    u32 entries[2 * kTableSize]; // literals and lengths, then distances
    u32 longEntries[kLongGroups * kLongSize];
};

struct GdeflateRound {
    u32 literals = 0; // in bytes, in the order of their places
    u32 matches = 0;  // the lanes that have read a length, a bit each
    // Of each lane: what it has read, a length or a distance, and how many literals of the round
    // stand before its match.
    u32 values[gdeflate::kLanes];
    u32 literalsBefore[gdeflate::kLanes];
    u8 bytes[gdeflate::kLanes + kWildBytes]; // which are copied in blocks
};

// Does a round in which every symbol is a literal, a length or a distance, with AVX2: advances
// `next`, of which 128 bytes may be read. Where a symbol is another one it returns false and has
// changed nothing but `round`.
bool gdeflateRoundAvx2(GdeflateLanes& lanes, const GdeflateTables& tables, const u8*& next,
                       GdeflateRound& round);

} // namespace sluice::cpu::fast
