// SPDX-License-Identifier: MIT OR Apache-2.0
// Parsers: they choose the literals and matches (tokens) that represent a tile.
#pragma once

#include "encode/gdeflate/gdeflate_cost.h"
#include "encode/gdeflate/gdeflate_match.h"

#include <memory>

namespace sluice::gdeflate {

constexpr uint32_t kMaxDepth = 256;

// How hard a parser looks for matches.
struct Effort {
    uint32_t depth;      // earlier positions to examine, up to kMaxDepth
    uint32_t niceLength; // a match this long ends the search
};

// Takes the longest match at each position, unless one of the next `lookahead` (0 .. 2) positions
// has a better one. Returns the number of tokens; `tokens` must have room for one per byte.
uint32_t parseLazily(HashChains& chains, const uint8_t* tile, uint32_t size, Effort effort,
                     uint32_t lookahead, Token* tokens);

// Finds all matches of a tile once. Then any part of the tile can be parsed several times with
// different costs.
class OptimalParser {
public:
    OptimalParser();

    void findMatches(const uint8_t* tile, uint32_t size, Effort effort);

    // Finds the cheapest tokens for the bytes [begin, end). Returns their number.
    uint32_t parse(uint32_t begin, uint32_t end, const Costs& costs, Token* tokens);

private:
    template <bool kOverlapCosts>
    void findCheapestSteps(uint32_t begin, uint32_t end, const Costs& costs);

    // m_matches has room for kMatchesPerPosition matches for each position, on average. The first n
    // positions may have up to kMatchesAhead more than n times this number.
    static constexpr uint32_t kMatchesPerPosition = 12;
    static constexpr uint32_t kMatchesAhead = 1024;

    // The cheapest way from a position to the end, packed as cost << 32 | distance << 16 | length.
    // Distance and length are those of the way's first token; a literal has length 1. So a
    // minimum of such numbers finds the cheapest way and its first token at once.
    using Path = uint64_t;
    static constexpr Path kCostMask = ~Path{0} << 32;
    // Costs more than any path, but can be added to without overflow.
    static constexpr Path kNoPath = kCostMask >> 1;
    static constexpr Path pathOf(uint32_t cost, uint32_t distance, uint32_t length)
    {
        return Path(cost) << 32 | distance << 16 | length;
    }

    const uint8_t* m_tile = nullptr;
    std::unique_ptr<BinaryTrees> m_trees;
    std::unique_ptr<Match[]> m_matches;
    // Holds an index into m_matches for each position and for the end.
    std::unique_ptr<uint32_t[]> m_firstMatch;
    // The cheapest path from each position and from the end; only its cost bits are set.
    std::unique_ptr<Path[]> m_costToEnd;
    // Holds the first token of the cheapest path from each position.
    std::unique_ptr<uint32_t[]> m_step;
};

} // namespace sluice::gdeflate
