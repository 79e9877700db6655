// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gdeflate/gdeflate_parse.h"

#include <algorithm>

namespace sluice::gdeflate {

// --- Greedy and lazy

uint32_t parseLazily(HashChains& chains, const uint8_t* tile, uint32_t size, Effort effort,
                     uint32_t lookahead, Token* tokens)
{
    chains.reset();
    uint32_t made = 0;
    uint32_t at = 0;       // the first byte without a token
    uint32_t inserted = 0; // the first position that the chains do not contain
    while (at < size) {
        Match match =
            chains.findLongest(tile, at, size, kMinMatch - 1, effort.niceLength, effort.depth);
        inserted = at + 1;
        // A match of 3 bytes that far away takes more bits than 3 literals.
        if (match.length == 0 || (match.length == kMinMatch && match.distance > 16384)) {
            tokens[made++] = {0, tile[at++]};
            continue;
        }
        for (uint32_t ahead = 0;
             ahead < lookahead && match.length < effort.niceLength && inserted < size;) {
            const uint32_t next = inserted++;
            const Match better = chains.findLongest(tile, next, size, match.length + ahead,
                                                    effort.niceLength, effort.depth >> (1 + ahead));
            // A longer match is better. But each doubling of the distance costs one more bit, and a
            // later match needs literals before it, which are expensive.
            const auto value = [](Match m) { return m.length + 16 - floorLog2(m.distance); };
            if (better.length != 0 && value(better) > value(match) + 4 * ahead) {
                for (; at < next; ++at)
                    tokens[made++] = {0, tile[at]};
                match = better;
                ahead = 0;
            } else {
                ++ahead;
            }
        }
        tokens[made++] = {match.length, match.distance};
        at += match.length;
        if (inserted < at) chains.skip(tile, inserted, at - inserted, size);
    }
    return made;
}

// --- Optimal

OptimalParser::OptimalParser()
    : m_trees(new BinaryTrees),
      m_matches(new Match[kTileBytes * kMatchesPerPosition + kMatchesAhead + 2 * (kMaxDepth + 1)]),
      m_firstMatch(new uint32_t[kTileBytes + 1]), m_costToEnd(new Path[kTileBytes + 1]),
      m_step(new uint32_t[kTileBytes])
{
}

void OptimalParser::findMatches(const uint8_t* tile, uint32_t size, Effort effort)
{
    m_tile = tile;
    m_trees->reset();
    Match* end = m_matches.get();
    for (uint32_t at = 0; at < size;) {
        Match* const first = end;
        m_firstMatch[at] = uint32_t(first - m_matches.get());
        end = m_trees->find(tile, at, size, effort.niceLength, effort.depth, first);
        // On average there is room for kMatchesPerPosition matches per position. If all room is
        // used up, keep only the longest match of this position.
        if (end > first + 1 && m_firstMatch[at] >= kMatchesPerPosition * at + kMatchesAhead) {
            *first = end[-1];
            end = first + 1;
        }
        const Match longest = end > first ? end[-1] : Match{0, 0};
        ++at;
        if (longest.length < effort.niceLength) continue;
        // Matches that begin inside a long match are not stored: there can be very many, and hardly
        // one is useful.
        for (uint32_t left = longest.length - 1u; left > 0; --left, ++at) {
            m_trees->skip(tile, at, size, effort.niceLength, effort.depth);
            m_firstMatch[at] = uint32_t(end - m_matches.get());
        }
    }
    m_firstMatch[size] = uint32_t(end - m_matches.get());
}

template <bool kOverlapCosts>
void OptimalParser::findCheapestSteps(uint32_t begin, uint32_t end, const Costs& costs)
{
    const uint8_t* const tile = m_tile;
    const Match* const matches = m_matches.get();
    const uint32_t* const firstMatch = m_firstMatch.get();
    Path* const costToEnd = m_costToEnd.get();
    uint32_t* const step = m_step.get();

    Path lengthPaths[kMaxShortMatch + 1];
    for (uint32_t length = kMinMatch; length <= kMaxShortMatch; ++length)
        lengthPaths[length] = pathOf(costs.length[length], 0, length);
    costToEnd[end] = 0;
    uint32_t last = firstMatch[end];
    for (uint32_t at = end; at-- > begin;) {
        Path best = pathOf(costs.literal[tile[at]], 0, 1) + costToEnd[at + 1];
        // For each length, try the nearest match that is long enough: matches are sorted by length.
        const uint32_t first = firstMatch[at];
        const uint32_t maxLength = end - at;
        uint32_t length = kMinMatch;
        for (uint32_t i = first; i != last; ++i) {
            const Match match = matches[i];
            Path base = pathOf(costs.distance[distanceSlot(match.distance)], match.distance, 0);
            const uint32_t full = std::min<uint32_t>(match.length, maxLength);
            const uint32_t lastShort = std::min(full, kMaxShortMatch);
            const auto tryLengthsTo = [&](uint32_t lastLength) {
                Path even = kNoPath, odd = kNoPath; // two independent minima, to hide latency
                for (; length < lastLength; length += 2) {
                    even = std::min(even, lengthPaths[length] + costToEnd[at + length]);
                    odd = std::min(odd, lengthPaths[length + 1] + costToEnd[at + length + 1]);
                }
                if (length == lastLength) {
                    even = std::min(even, lengthPaths[length] + costToEnd[at + length]);
                    ++length;
                }
                best = std::min(best, base + std::min(even, odd));
            };
            if (kOverlapCosts && match.distance < DecodeWork::kNear) {
                for (uint32_t reach = match.distance; reach < lastShort; reach *= 2) {
                    tryLengthsTo(reach);
                    base += pathOf(costs.overlap, 0, 0);
                }
            }
            tryLengthsTo(lastShort);
            // All long lengths cost the same, so the longest is the best.
            if (full > kMaxShortMatch) {
                best =
                    std::min(best, base + pathOf(costs.longLength, 0, full) + costToEnd[at + full]);
            }
        }
        costToEnd[at] = best & kCostMask;
        step[at] = uint32_t(best);
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
    const uint8_t* const tile = m_tile;
    const uint32_t* const step = m_step.get();
    uint32_t made = 0;
    for (uint32_t at = begin; at < end;) {
        const uint32_t length = step[at] & 0xffff;
        const uint32_t distance = step[at] >> 16;
        const auto match = [&](uint32_t matchLength, uint32_t matchDistance) {
            tokens[made++] = {uint16_t(matchLength), uint16_t(matchDistance)};
        };
        if (length == 1) {
            tokens[made++] = {0, tile[at]};
        } else if (costs.overlap != 0 && length >= 2 * DecodeWork::kNear &&
                   distance < DecodeWork::kNear / 2) {
            // Split a long run with a short period (`distance`) into two matches. After the first
            // there are enough bytes for the second to copy from kNear bytes back or more, at a
            // multiple of the period. So a decoder need not wait for bytes that it is just writing.
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
