// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gdeflate/gdeflate_parse.h"

#include <algorithm>

namespace sluice::gdeflate {

// --- Greedy and lazy

u32 parseLazily(HashChains& chains, const u8* tile, u32 size, Effort effort, u32 lookahead,
                Token* tokens)
{
    chains.reset();
    u32 made = 0;
    u32 at = 0;       // first byte without a token
    u32 inserted = 0; // first position that the chains do not know
    while (at < size) {
        Match match =
            chains.findLongest(tile, at, size, kMinMatch - 1, effort.niceLength, effort.depth);
        inserted = at + 1;
        // A match of 3 bytes far away costs more than its literals.
        if (match.length == 0 || (match.length == kMinMatch && match.distance > 16384)) {
            tokens[made++] = {0, tile[at++]};
            continue;
        }
        for (u32 ahead = 0;
             ahead < lookahead && match.length < effort.niceLength && inserted < size;) {
            const u32 next = inserted++;
            const Match better = chains.findLongest(tile, next, size, match.length + ahead,
                                                    effort.niceLength, effort.depth >> (1 + ahead));
            // Longer is better, but each doubling of the distance takes a bit more, and literals
            // are expensive.
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
      m_firstMatch(new u32[kTileBytes + 1]), m_costToEnd(new Path[kTileBytes + 1]),
      m_step(new u32[kTileBytes])
{
}

void OptimalParser::findMatches(const u8* tile, u32 size, Effort effort)
{
    m_tile = tile;
    m_trees->reset();
    Match* end = m_matches.get();
    for (u32 at = 0; at < size;) {
        Match* const first = end;
        m_firstMatch[at] = u32(first - m_matches.get());
        end = m_trees->find(tile, at, size, effort.niceLength, effort.depth, first);
        // There is room for an average number of matches; when that is used up, only the longest is
        // remembered.
        if (end > first + 1 && m_firstMatch[at] >= kMatchesPerPosition * at + kMatchesAhead) {
            *first = end[-1];
            end = first + 1;
        }
        const Match longest = end > first ? end[-1] : Match{0, 0};
        ++at;
        if (longest.length < effort.niceLength) continue;
        // Inside a long match none are remembered, since there can be very many and hardly any is
        // useful.
        for (u32 left = longest.length - 1u; left > 0; --left, ++at) {
            m_trees->skip(tile, at, size, effort.niceLength, effort.depth);
            m_firstMatch[at] = u32(end - m_matches.get());
        }
    }
    m_firstMatch[size] = u32(end - m_matches.get());
}

template <bool kOverlapCosts>
void OptimalParser::findCheapestSteps(u32 begin, u32 end, const Costs& costs)
{
    const u8* const tile = m_tile;
    const Match* const matches = m_matches.get();
    const u32* const firstMatch = m_firstMatch.get();
    Path* const costToEnd = m_costToEnd.get();
    u32* const step = m_step.get();

    Path lengthPaths[kMaxShortMatch + 1];
    for (u32 length = kMinMatch; length <= kMaxShortMatch; ++length)
        lengthPaths[length] = pathOf(costs.length[length], 0, length);
    costToEnd[end] = 0;
    u32 last = firstMatch[end];
    for (u32 at = end; at-- > begin;) {
        Path best = pathOf(costs.literal[tile[at]], 0, 1) + costToEnd[at + 1];
        // Each length is tried with the nearest match that is long enough.
        const u32 first = firstMatch[at];
        const u32 maxLength = end - at;
        u32 length = kMinMatch;
        for (u32 i = first; i != last; ++i) {
            const Match match = matches[i];
            Path base = pathOf(costs.distance[distanceSlot(match.distance)], match.distance, 0);
            const u32 full = std::min<u32>(match.length, maxLength);
            const u32 lastShort = std::min(full, kMaxShortMatch);
            const auto tryLengthsTo = [&](u32 lastLength) {
                Path even = kNoPath, odd = kNoPath; // two minima that do not wait for each other
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
                for (u32 reach = match.distance; reach < lastShort; reach *= 2) {
                    tryLengthsTo(reach);
                    base += pathOf(costs.overlap, 0, 0);
                }
            }
            tryLengthsTo(lastShort);
            // All long lengths cost the same, so only the longest is tried.
            if (full > kMaxShortMatch) {
                best =
                    std::min(best, base + pathOf(costs.longLength, 0, full) + costToEnd[at + full]);
            }
        }
        costToEnd[at] = best & kCostMask;
        step[at] = u32(best);
        last = first;
    }
}

u32 OptimalParser::parse(u32 begin, u32 end, const Costs& costs, Token* tokens)
{
    if (costs.overlap != 0) {
        findCheapestSteps<true>(begin, end, costs);
    } else {
        findCheapestSteps<false>(begin, end, costs);
    }
    const u8* const tile = m_tile;
    const u32* const step = m_step.get();
    u32 made = 0;
    for (u32 at = begin; at < end;) {
        const u32 length = step[at] & 0xffff;
        const u32 distance = step[at] >> 16;
        const auto match = [&](u32 matchLength, u32 matchDistance) {
            tokens[made++] = {u16(matchLength), u16(matchDistance)};
        };
        if (length == 1) {
            tokens[made++] = {0, tile[at]};
        } else if (costs.overlap != 0 && length >= 2 * DecodeWork::kNear &&
                   distance < DecodeWork::kNear / 2) {
            // In a long run the decoder soon has enough bytes that a match from further back, by a
            // multiple of the run's period, need not wait for any.
            const u32 far = (DecodeWork::kNear + distance - 1) / distance * distance;
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
