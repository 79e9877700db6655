// SPDX-License-Identifier: MIT OR Apache-2.0
// Parsers: which literals and matches stand for the bytes.
#pragma once

#include "gdeflate_cost.h"
#include "gdeflate_match.h"

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

// Remembers all matches of a tile and finds the cheapest parse of any part of it, as often as
// wanted.
class OptimalParser {
public:
    OptimalParser();

    void findMatches(const uint8_t* tile, uint32_t size, Effort effort);

    // The cheapest way from byte `begin` to byte `end` of the tile. Returns the number of tokens.
    uint32_t parse(uint32_t begin, uint32_t end, const Costs& costs, Token* tokens);

private:
    template <bool kOverlapCosts>
    void findCheapestSteps(uint32_t begin, uint32_t end, const Costs& costs);

    // Room for remembered matches: so many a position on average, and a number that any stretch may
    // be ahead of that.
    static constexpr uint32_t kMatchesPerPosition = 12;
    static constexpr uint32_t kMatchesAhead = 1024;

    // A way from a position to the end: its cost << 32 | distance << 16 | length, where distance
    // and length are those of its first step and a literal has length 1. The least of several such
    // words is the cheapest way: comparing costs and keeping the step is one minimum.
    using Way = uint64_t;
    static constexpr Way kCostMask = ~Way{0} << 32;
    static constexpr Way kNoWay = kCostMask >> 1; // dearer than any, and a base can be added to it
    static constexpr Way wayOf(uint32_t cost, uint32_t distance, uint32_t length)
    {
        return static_cast<Way>(cost) << 32 | distance << 16 | length;
    }

    const uint8_t* tile_ = nullptr;
    std::unique_ptr<BinaryTrees> trees_;
    std::unique_ptr<Match[]> matches_;
    std::unique_ptr<uint32_t[]> firstMatch_; // per position, and one more
    std::unique_ptr<Way[]> costToEnd_;       // per position, and one more; the step is 0
    std::unique_ptr<uint32_t[]> step_;       // per position: the step of the cheapest way
};

} // namespace sluice::gdeflate
