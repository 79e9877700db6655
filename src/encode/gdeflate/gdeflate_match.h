// SPDX-License-Identifier: MIT OR Apache-2.0
// Match finders over one tile. Positions fit 16 bits and the window is the tile, so nothing ever
// expires.
#pragma once

#include "formats/gdeflate_symbols.h"

namespace sluice::gdeflate {

struct Match {
    u16 length;
    u16 distance;
};

// Hash chains: fast, finds the longest match among the most recent candidates.
class HashChains {
public:
    void reset();

    // Inserts `at` and looks for the longest match that is longer than minLength and at most
    // tileEnd - at, among up to `depth` candidates. A match of niceLength or more ends the search.
    // Length 0 means that there is none.
    Match findLongest(const u8* tile, u32 at, u32 tileEnd, u32 minLength, u32 niceLength,
                      u32 depth);

    // Inserts positions [at, at + count).
    void skip(const u8* tile, u32 at, u32 count, u32 tileEnd);

private:
    u32 insert(const u8* tile, u32 at, u32& recent3);

    u16 m_head3[1u << 14];
    u16 m_head4[1u << 15];
    u16 m_next[kTileBytes];
};

// Binary trees of suffixes with the same hash of 4 bytes: finds matches of many lengths, for each
// the nearest.
class BinaryTrees {
public:
    void reset();

    // Inserts `at` and stores matches of strictly growing length; returns the end of what it
    // stored, never more than depth + 1 matches. A match of niceLength or more ends the search.
    Match* find(const u8* tile, u32 at, u32 tileEnd, u32 niceLength, u32 depth, Match* matches);

    // Inserts `at` without looking for matches.
    void skip(const u8* tile, u32 at, u32 tileEnd, u32 niceLength, u32 depth);

private:
    template <bool kStore>
    Match* insert(const u8* tile, u32 at, u32 maxLength, u32 niceLength, u32 depth, Match* matches);

    u16 m_head3[1u << 15][2]; // the two latest positions
    u16 m_head4[1u << 16];
    u16 m_child[kTileBytes][2]; // lesser, greater
};

} // namespace sluice::gdeflate
