// SPDX-License-Identifier: MIT OR Apache-2.0
// Parsers, which choose the literals and matches that represent a tile.
#pragma once

#include "encode/gdeflate/gdeflate_cost.h"
#include "encode/gdeflate/gdeflate_match.h"

#include <memory>

namespace sluice::gdeflate {

constexpr uint32_t kMaxDepth = 256;

// How hard to look for matches.
struct Effort {
    uint32_t depth;      // candidates per position, up to kMaxDepth
    uint32_t niceLength; // a match of this length ends the search
};

// Takes the longest match at each position unless one of the next `lookahead` (0 .. 2) positions
// has a better one. Returns the number of tokens; `tokens` must have room for one per byte.
uint32_t parseLazily(HashChains& chains, const uint8_t* tile, uint32_t size, Effort effort,
                     uint32_t lookahead, Token* tokens);

// Stores the matches of a tile, so that any part of it can be parsed several times with different
// costs.
class OptimalParser {
public:
    OptimalParser();

    void findMatches(const uint8_t* tile, uint32_t size, Effort effort);

    // Finds the cheapest path from byte `begin` to byte `end`. Returns the number of tokens.
    uint32_t parse(uint32_t begin, uint32_t end, const Costs& costs, Token* tokens);

private:
    template <bool kOverlapCosts>
    void findCheapestSteps(uint32_t begin, uint32_t end, const Costs& costs);

    // The room for stored matches: the average number per position, and how many more than the
    // average there may be up to any position.
    static constexpr uint32_t kMatchesPerPosition = 12;
    static constexpr uint32_t kMatchesAhead = 1024;

    // A path from a position to the end, packed as cost << 32 | distance << 16 | length. Distance
    // and length are those of its first step; a literal has length 1. The smallest of several such
    // words is the cheapest path, so a single minimum compares the costs and keeps the step.
    using Path = uint64_t;
    static constexpr Path kCostMask = ~Path{0} << 32;
    static constexpr Path kNoPath = kCostMask >> 1; // costs more than any path, but can be added
                                                    // to without overflow
    static constexpr Path pathOf(uint32_t cost, uint32_t distance, uint32_t length)
    {
        return Path(cost) << 32 | distance << 16 | length;
    }

    const uint8_t* m_tile = nullptr;
    std::unique_ptr<BinaryTrees> m_trees;
    std::unique_ptr<Match[]> m_matches;
    std::unique_ptr<uint32_t[]> m_firstMatch; // per position and for the tile's end: an index
    std::unique_ptr<Path[]> m_costToEnd;      // per position and for the end; the step bits are 0
    std::unique_ptr<uint32_t[]> m_step;       // per position: the first step of the cheapest path
};

} // namespace sluice::gdeflate
