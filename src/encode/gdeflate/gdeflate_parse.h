// SPDX-License-Identifier: MIT OR Apache-2.0
// Parsers: they choose the literals and matches that stand for the bytes.
#pragma once

#include "encode/gdeflate/gdeflate_cost.h"
#include "encode/gdeflate/gdeflate_match.h"

#include <memory>

namespace sluice::gdeflate {

constexpr u32 kMaxDepth = 256;

// How hard to look for matches.
struct Effort {
    u32 depth;      // candidates per position, up to kMaxDepth
    u32 niceLength; // long enough to stop looking
};

// Takes the longest match at each position unless one of the next `lookahead` (0 .. 2) positions
// has a better one. Returns the number of tokens; `tokens` has room for one per byte.
u32 parseLazily(HashChains& chains, const u8* tile, u32 size, Effort effort, u32 lookahead,
                Token* tokens);

// Remembers all matches of a tile, to find the cheapest parse of any part of it several times.
class OptimalParser {
public:
    OptimalParser();

    void findMatches(const u8* tile, u32 size, Effort effort);

    // Finds the cheapest path from byte `begin` to byte `end`. Returns the number of tokens.
    u32 parse(u32 begin, u32 end, const Costs& costs, Token* tokens);

private:
    template <bool kOverlapCosts>
    void findCheapestSteps(u32 begin, u32 end, const Costs& costs);

    // Room for remembered matches: how many a position has on average, and by how many a stretch
    // may exceed the average.
    static constexpr u32 kMatchesPerPosition = 12;
    static constexpr u32 kMatchesAhead = 1024;

    // A path from a position to the end: cost << 32 | distance << 16 | length, where distance and
    // length are those of its first step and a literal has length 1. The least of several such
    // words is the cheapest path, so one minimum compares costs and keeps the step.
    using Path = u64;
    static constexpr Path kCostMask = ~Path{0} << 32;
    static constexpr Path kNoPath = kCostMask >> 1; // more expensive than any path, with room to
                                                    // add to it
    static constexpr Path pathOf(u32 cost, u32 distance, u32 length)
    {
        return Path(cost) << 32 | distance << 16 | length;
    }

    const u8* m_tile = nullptr;
    std::unique_ptr<BinaryTrees> m_trees;
    std::unique_ptr<Match[]> m_matches;
    std::unique_ptr<u32[]> m_firstMatch; // per position, and one more
    std::unique_ptr<Path[]> m_costToEnd; // per position, and one more; the step is 0
    std::unique_ptr<u32[]> m_step;       // per position: the step of the cheapest way
};

} // namespace sluice::gdeflate
