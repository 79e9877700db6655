// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds matches in a tile: earlier occurrences of the bytes at a position. Matches may reach back
// to the tile's first byte, so positions fit into 16 bits and are never removed.
#pragma once

#include "formats/gdeflate_symbols.h"

namespace sluice::gdeflate {

struct Match {
    uint16_t length;
    uint16_t distance;
};

// Finds matches with hash chains, which is fast: the longest match among the latest candidates.
class HashChains {
public:
    void reset();

    // Inserts position `at`. Returns the longest match there that is longer than minLength and does
    // not reach past tileEnd, or a length of 0 if there is none. Examines up to `depth` earlier
    // positions, and stops at a match of niceLength or more.
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

// Finds matches with binary trees: the nearest match for each of many lengths. A tree has the
// positions with the same hash of 4 bytes, sorted by the bytes that begin there.
class BinaryTrees {
public:
    void reset();

    // Inserts position `at` and stores up to depth + 1 matches, each longer than the one before it.
    // A match of niceLength or more ends the search. Returns the end of the stored matches.
    Match* find(const uint8_t* tile, uint32_t at, uint32_t tileEnd, uint32_t niceLength,
                uint32_t depth, Match* matches);

    // Inserts `at` without looking for matches.
    void skip(const uint8_t* tile, uint32_t at, uint32_t tileEnd, uint32_t niceLength,
              uint32_t depth);

private:
    template <bool kStore>
    Match* insert(const uint8_t* tile, uint32_t at, uint32_t maxLength, uint32_t niceLength,
                  uint32_t depth, Match* matches);

    uint16_t m_head3[1u << 15][2]; // the two latest positions for each hash of 3 bytes
    uint16_t m_head4[1u << 16];
    // For each position, the child whose bytes are less, and the child whose bytes are greater.
    uint16_t m_child[kTileBytes][2];
};

} // namespace sluice::gdeflate
