// SPDX-License-Identifier: MIT OR Apache-2.0
// Parsers: they choose the literals and matches that stand for the bytes.
#pragma once

#include "encode/gdeflate/gdeflate_cost.h"
#include "encode/gdeflate/gdeflate_match.h"

#include <memory>

namespace sluice::gdeflate {

constexpr uint32_t kMaxDepth = 256;

// How hard to look for matches.
struct Effort {
    uint32_t depth;      // candidates per position, up to kMaxDepth
    uint32_t niceLength; // long enough to stop looking
};

// Takes the longest match at each position unless one of the next `lookahead` (0 .. 2) positions
// has a better one. Returns the number of tokens; `tokens` has room for one per byte.
uint32_t parseLazily(HashChains& chains, const uint8_t* tile, uint32_t size, Effort effort,
                     uint32_t lookahead, Token* tokens);

// Remembers all matches of a tile, to find the cheapest parse of any part of it several times.
class OptimalParser {
public:
    OptimalParser();

    void findMatches(const uint8_t* tile, uint32_t size, Effort effort);

    // Finds the cheapest path from byte `begin` to byte `end`. Returns the number of tokens.
    uint32_t parse(uint32_t begin, uint32_t end, const Costs& costs, Token* tokens);

private:
    template <bool kOverlapCosts>
    void findCheapestSteps(uint32_t begin, uint32_t end, const Costs& costs);

    // Room for remembered matches: how many a position has on average, and by how many a stretch
    // may exceed the average.
    static constexpr uint32_t kMatchesPerPosition = 12;
    static constexpr uint32_t kMatchesAhead = 1024;

    // A path from a position to the end: cost << 32 | distance << 16 | length, where distance and
    // length are those of its first step and a literal has length 1. The least of several such
    // words is the cheapest path, so one minimum compares costs and keeps the step.
    using Path = uint64_t;
    static constexpr Path kCostMask = ~Path{0} << 32;
    static constexpr Path kNoPath = kCostMask >> 1; // more expensive than any path, with room to
                                                    // add to it
    static constexpr Path pathOf(uint32_t cost, uint32_t distance, uint32_t length)
    {
        return Path(cost) << 32 | distance << 16 | length;
    }

    const uint8_t* m_tile = nullptr;
    std::unique_ptr<BinaryTrees> m_trees;
    std::unique_ptr<Match[]> m_matches;
    std::unique_ptr<uint32_t[]> m_firstMatch; // per position, and one more
    std::unique_ptr<Path[]> m_costToEnd;      // per position, and one more; the step is 0
    std::unique_ptr<uint32_t[]> m_step;       // per position: the step of the cheapest way
};

} // namespace sluice::gdeflate
