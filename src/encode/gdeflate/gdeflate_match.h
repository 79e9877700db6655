// SPDX-License-Identifier: MIT OR Apache-2.0
// Match finders over one tile. Positions fit 16 bits and the window is the tile, so nothing ever
// expires.
#pragma once

#include "formats/gdeflate_symbols.h"

namespace sluice::gdeflate {

struct Match {
    uint16_t length;
    uint16_t distance;
};

// Hash chains: fast, finds the longest match among the most recent candidates.
class HashChains {
public:
    void reset();

    // Inserts `at` and looks for the longest match that is longer than minLength and at most
    // tileEnd - at, among up to `depth` candidates. A match of niceLength or more ends the search.
    // Length 0 means that there is none.
    Match findLongest(const uint8_t* tile, uint32_t at, uint32_t tileEnd, uint32_t minLength,
                      uint32_t niceLength, uint32_t depth);

    // Inserts positions [at, at + count).
    void skip(const uint8_t* tile, uint32_t at, uint32_t count, uint32_t tileEnd);

private:
    uint32_t insert(const uint8_t* tile, uint32_t at, uint32_t& recent3);

    uint16_t m_head3[1u << 14];
    uint16_t m_head4[1u << 15];
    uint16_t m_next[kTileBytes];
};

// Binary trees of suffixes with the same hash of 4 bytes: finds matches of many lengths, for each
// the nearest.
class BinaryTrees {
public:
    void reset();

    // Inserts `at` and stores matches of strictly growing length; returns the end of what it
    // stored, never more than depth + 1 matches. A match of niceLength or more ends the search.
    Match* find(const uint8_t* tile, uint32_t at, uint32_t tileEnd, uint32_t niceLength,
                uint32_t depth, Match* matches);

    // Inserts `at` without looking for matches.
    void skip(const uint8_t* tile, uint32_t at, uint32_t tileEnd, uint32_t niceLength,
              uint32_t depth);

private:
    template <bool kStore>
    Match* insert(const uint8_t* tile, uint32_t at, uint32_t maxLength, uint32_t niceLength,
                  uint32_t depth, Match* matches);

    uint16_t m_head3[1u << 15][2]; // the two latest positions
    uint16_t m_head4[1u << 16];
    uint16_t m_child[kTileBytes][2]; // lesser, greater
};

} // namespace sluice::gdeflate
