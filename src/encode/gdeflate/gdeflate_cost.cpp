// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gdeflate/gdeflate_cost.h"

#include <algorithm>

namespace sluice::gdeflate {

namespace {

constexpr u32 bits(u32 count) { return count << kCostShift; }

// Gives each length and distance its cost from the costs of its slot's symbol.
template <typename LitLenCost, typename DistanceCost>
void setCosts(Costs& costs, const LitLenCost& litLenCost, const DistanceCost& distanceCost)
{
    for (u32 literal = 0; literal < 256; ++literal)
        costs.literal[literal] = litLenCost(literal);
    for (u32 slot = 0; slot < kLengthSlots - 1; ++slot) {
        const u32 cost = litLenCost(kFirstLength + slot) + bits(lengthExtraBits(slot));
        const u32 end =
            std::min(lengthBase(slot) + (1u << lengthExtraBits(slot)), kMaxShortMatch + 1);
        std::fill(costs.length + lengthBase(slot), costs.length + end, cost);
    }
    costs.overlap = 0;
    costs.longLength = litLenCost(kLitLenSymbols - 1) + bits(lengthExtraBits(kLengthSlots - 1));
    for (u32 slot = 0; slot < kDistanceSymbols; ++slot)
        costs.distance[slot] = distanceCost(slot) + bits(distanceExtraBits(slot));
}

} // namespace

u32 log2Cost(u32 value) { return log2Fixed(value, kCostShift); }

EntropyTable::EntropyTable()
{
    m_table[0] = 0;
    for (u32 n = 1; n < kTileBytes + 2; ++n) {
        m_table[n] = u32((u64(log2Fixed(n, 12)) * n) >> (12 - kCostShift));
    }
}

u32 DecodeWork::ofSymbols(const Histogram& histogram) const
{
    u32 symbols = 0, waits = 0;
    for (const u32 frequency : histogram.litLen)
        symbols += frequency;
    for (u32 slot = 0; slot < kDistanceSymbols; ++slot) {
        symbols += histogram.distance[slot];
        waits += histogram.distance[slot] * ofDistance(slot);
    }
    return symbol * symbols + waits;
}

void Costs::setDefault()
{
    setCosts(
        *this, [](u32 symbol) { return symbol < 256 ? bits(8) : bits(7) + bits(1) / 2; },
        [](u32) { return bits(5); });
}

void Costs::setFromHistogram(const Histogram& histogram, const CodeLengths* lengths)
{
    const auto costOf = [](const u32* frequencies, u32 count, const u8* known) {
        u32 total = 0;
        for (u32 symbol = 0; symbol < count; ++symbol)
            total += frequencies[symbol];
        // Doubled, so that a symbol that does not occur counts as half an occurrence.
        const u32 all = log2Cost(2 * total + 1);
        return [frequencies, known, all](u32 symbol) {
            if (known != nullptr && known[symbol] != 0) return bits(known[symbol]);
            const u32 cost = all - log2Cost(std::max(2 * frequencies[symbol], 1u));
            return std::clamp(cost, 1u << (kCostShift - 1), 15u << kCostShift);
        };
    };
    setCosts(
        *this,
        costOf(histogram.litLen, kLitLenSymbols, lengths != nullptr ? lengths->litLen : nullptr),
        costOf(histogram.distance, kDistanceSymbols,
               lengths != nullptr ? lengths->distance : nullptr));
}

void Costs::add(const DecodeWork& work)
{
    for (u32& cost : literal)
        cost += work.symbol;
    for (u32 slot = 0; slot < kDistanceSymbols; ++slot)
        distance[slot] += 2 * work.symbol + work.ofDistance(slot);
    overlap += work.overlap;
}

} // namespace sluice::gdeflate
