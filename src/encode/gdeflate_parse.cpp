// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gdeflate_parse.h"

#include <algorithm>

namespace sluice::gdeflate {

// -----------------------------------------------------------------------------------------------
// Greedy and lazy

uint32_t parseLazily(HashChains& chains, const uint8_t* tile, uint32_t size, Effort effort,
                     uint32_t lookahead, Token* tokens)
{
    chains.reset();
    uint32_t made = 0;
    uint32_t at = 0;       // first byte without a token
    uint32_t inserted = 0; // first position that the chains do not know
    while (at < size) {
        Match match =
            chains.findLongest(tile, at, size, kMinMatch - 1, effort.niceLength, effort.depth);
        inserted = at + 1;
        // A match of 3 far away costs more than its literals do.
        if (match.length == 0 || (match.length == kMinMatch && match.distance > 16384)) {
            tokens[made++] = {0, tile[at++]};
            continue;
        }
        for (uint32_t ahead = 0;
             ahead < lookahead && match.length < effort.niceLength && inserted < size;) {
            const uint32_t next = inserted++;
            const Match better = chains.findLongest(tile, next, size, match.length + ahead,
                                                    effort.niceLength, effort.depth >> (1 + ahead));
            // Longer is better, but a longer distance takes a bit more for each doubling, and
            // literals are dear.
            const auto value = [](Match m) { return m.length + 16 - floorLog2(m.distance); };
            if (better.length != 0 && value(better) > value(match) + 4 * ahead) {
                for (; at < next; ++at) {
                    tokens[made++] = {0, tile[at]};
                }
                match = better;
                ahead = 0;
            } else {
                ++ahead;
            }
        }
        tokens[made++] = {match.length, match.distance};
        at += match.length;
        if (inserted < at) {
            chains.skip(tile, inserted, at - inserted, size);
        }
    }
    return made;
}

// -----------------------------------------------------------------------------------------------
// Optimal

OptimalParser::OptimalParser()
    : trees_(new BinaryTrees),
      matches_(new Match[kTileBytes * kMatchesPerPosition + kMatchesAhead + 2 * (kMaxDepth + 1)]),
      firstMatch_(new uint32_t[kTileBytes + 1]), costToEnd_(new Way[kTileBytes + 1]),
      step_(new uint32_t[kTileBytes])
{
}

void OptimalParser::findMatches(const uint8_t* tile, uint32_t size, Effort effort)
{
    tile_ = tile;
    trees_->reset();
    Match* end = matches_.get();
    for (uint32_t at = 0; at < size;) {
        Match* const first = end;
        firstMatch_[at] = static_cast<uint32_t>(first - matches_.get());
        end = trees_->find(tile, at, size, effort.niceLength, effort.depth, first);
        // Room is for an average; where it is used up, only the longest is remembered.
        if (end > first + 1 && firstMatch_[at] >= kMatchesPerPosition * at + kMatchesAhead) {
            *first = end[-1];
            end = first + 1;
        }
        const Match longest = end > first ? end[-1] : Match{0, 0};
        ++at;
        if (longest.length < effort.niceLength) {
            continue;
        }
        // Inside a long match none are remembered: hardly any would be of use, and there can be
        // very many.
        for (uint32_t left = longest.length - 1u; left > 0; --left, ++at) {
            trees_->skip(tile, at, size, effort.niceLength, effort.depth);
            firstMatch_[at] = static_cast<uint32_t>(end - matches_.get());
        }
    }
    firstMatch_[size] = static_cast<uint32_t>(end - matches_.get());
}

template <bool kOverlapCosts>
void OptimalParser::findCheapestSteps(uint32_t begin, uint32_t end, const Costs& costs)
{
    const uint8_t* const tile = tile_;
    const Match* const matches = matches_.get();
    const uint32_t* const firstMatch = firstMatch_.get();
    Way* const costToEnd = costToEnd_.get();
    uint32_t* const step = step_.get();

    Way lengthWays[kMaxShortMatch + 1];
    for (uint32_t length = kMinMatch; length <= kMaxShortMatch; ++length) {
        lengthWays[length] = wayOf(costs.length[length], 0, length);
    }
    costToEnd[end] = 0;
    uint32_t last = firstMatch[end];
    for (uint32_t at = end; at-- > begin;) {
        Way best = wayOf(costs.literal[tile[at]], 0, 1) + costToEnd[at + 1];
        // For each length the nearest match that is long enough.
        const uint32_t first = firstMatch[at];
        const uint32_t maxLength = end - at;
        uint32_t length = kMinMatch;
        for (uint32_t i = first; i != last; ++i) {
            const Match match = matches[i];
            Way base = wayOf(costs.distance[distanceSlot(match.distance)], match.distance, 0);
            const uint32_t full = std::min<uint32_t>(match.length, maxLength);
            const uint32_t lastShort = std::min(full, kMaxShortMatch);
            const auto tryLengthsTo = [&](uint32_t lastLength) {
                Way even = kNoWay, odd = kNoWay; // two minima that do not wait for each other
                for (; length < lastLength; length += 2) {
                    even = std::min(even, lengthWays[length] + costToEnd[at + length]);
                    odd = std::min(odd, lengthWays[length + 1] + costToEnd[at + length + 1]);
                }
                if (length == lastLength) {
                    even = std::min(even, lengthWays[length] + costToEnd[at + length]);
                    ++length;
                }
                best = std::min(best, base + std::min(even, odd));
            };
            if (kOverlapCosts && match.distance < DecodeWork::kNear) {
                for (uint32_t reach = match.distance; reach < lastShort; reach *= 2) {
                    tryLengthsTo(reach);
                    base += wayOf(costs.overlap, 0, 0);
                }
            }
            tryLengthsTo(lastShort);
            // All long lengths cost the same, so only the longest is tried.
            if (full > kMaxShortMatch) {
                best =
                    std::min(best, base + wayOf(costs.longLength, 0, full) + costToEnd[at + full]);
            }
        }
        costToEnd[at] = best & kCostMask;
        step[at] = static_cast<uint32_t>(best);
        last = first;
    }
}

uint32_t OptimalParser::parse(uint32_t begin, uint32_t end, const Costs& costs, Token* tokens)
{
    if (costs.overlap != 0) {
        findCheapestSteps<true>(begin, end, costs);
    } else {
        findCheapestSteps<false>(begin, end, costs);
    }
    const uint8_t* const tile = tile_;
    const uint32_t* const step = step_.get();
    uint32_t made = 0;
    for (uint32_t at = begin; at < end;) {
        const uint32_t length = step[at] & 0xffff;
        const uint32_t distance = step[at] >> 16;
        const auto match = [&](uint32_t matchLength, uint32_t matchDistance) {
            tokens[made++] = {static_cast<uint16_t>(matchLength),
                              static_cast<uint16_t>(matchDistance)};
        };
        if (length == 1) {
            tokens[made++] = {0, tile[at]};
        } else if (costs.overlap != 0 && length >= 2 * DecodeWork::kNear &&
                   distance < DecodeWork::kNear / 2) {
            // A long run: as soon as there is enough of it, the rest repeats a multiple of its
            // period from further back and waits for nothing.
            const uint32_t far = (DecodeWork::kNear + distance - 1) / distance * distance;
            match(far - distance, distance);
            match(length - (far - distance), far);
        } else {
            match(length, distance);
        }
        at += length;
    }
    return made;
}

} // namespace sluice::gdeflate
