// SPDX-License-Identifier: MIT OR Apache-2.0
// Match finders for a single tile. The window is the whole tile, so positions fit into 16 bits and
// never leave the window.
#pragma once

#include "formats/gdeflate_symbols.h"

namespace sluice::gdeflate {

struct Match {
    uint16_t length;
    uint16_t distance;
};

// Hash chains. They are fast and find the longest match among the most recent candidates.
class HashChains {
public:
    void reset();

    // Inserts `at` and returns the longest match, among up to `depth` candidates, that is longer
    // than minLength and ends inside the tile. A match of niceLength or more ends the search.
    // Length 0 means that there is no such match.
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

// Binary trees of suffixes with the same hash of 4 bytes. They find matches of many lengths, and
// the nearest match for each length.
class BinaryTrees {
public:
    void reset();

    // Inserts `at` and stores at most depth + 1 matches of strictly increasing length. Returns the
    // end of the stored matches. A match of niceLength or more ends the search.
    Match* find(const uint8_t* tile, uint32_t at, uint32_t tileEnd, uint32_t niceLength,
                uint32_t depth, Match* matches);

    // Inserts `at` without looking for matches.
    void skip(const uint8_t* tile, uint32_t at, uint32_t tileEnd, uint32_t niceLength,
              uint32_t depth);

private:
    template <bool kStore>
    Match* insert(const uint8_t* tile, uint32_t at, uint32_t maxLength, uint32_t niceLength,
                  uint32_t depth, Match* matches);

    uint16_t m_head3[1u << 15][2]; // the two latest positions per hash of 3 bytes
    uint16_t m_head4[1u << 16];
    uint16_t m_child[kTileBytes][2]; // the lesser and the greater child of each position
};

} // namespace sluice::gdeflate
