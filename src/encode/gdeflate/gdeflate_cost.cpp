// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gdeflate/gdeflate_cost.h"

#include <algorithm>

namespace sluice::gdeflate {

namespace {

constexpr uint32_t bits(uint32_t count) { return count << kCostShift; }

// Sets the costs of all literals, lengths and distances. Each is the cost of a symbol plus that of
// its extra bits. litLenCost(symbol) and distanceCost(symbol) return the cost of a symbol.
template <typename LitLenCost, typename DistanceCost>
void setCosts(Costs& costs, const LitLenCost& litLenCost, const DistanceCost& distanceCost)
{
    for (uint32_t literal = 0; literal < 256; ++literal)
        costs.literal[literal] = litLenCost(literal);
    for (uint32_t slot = 0; slot < kLengthSlots - 1; ++slot) {
        const uint32_t cost = litLenCost(kFirstLength + slot) + bits(lengthExtraBits(slot));
        const uint32_t end =
            std::min(lengthBase(slot) + (1u << lengthExtraBits(slot)), kMaxShortMatch + 1);
        std::fill(costs.length + lengthBase(slot), costs.length + end, cost);
    }
    costs.overlap = 0;
    costs.longLength = litLenCost(kLitLenSymbols - 1) + bits(lengthExtraBits(kLengthSlots - 1));
    for (uint32_t slot = 0; slot < kDistanceSymbols; ++slot)
        costs.distance[slot] = distanceCost(slot) + bits(distanceExtraBits(slot));
}

} // namespace

uint32_t log2Cost(uint32_t value) { return log2Fixed(value, kCostShift); }

EntropyTable::EntropyTable()
{
    m_table[0] = 0;
    for (uint32_t n = 1; n < kTileBytes + 2; ++n) {
        m_table[n] = uint32_t((uint64_t(log2Fixed(n, 12)) * n) >> (12 - kCostShift));
    }
}

uint32_t DecodeWork::ofSymbols(const Histogram& histogram) const
{
    uint32_t symbols = 0, waits = 0;
    for (const uint32_t frequency : histogram.litLen)
        symbols += frequency;
    for (uint32_t slot = 0; slot < kDistanceSymbols; ++slot) {
        symbols += histogram.distance[slot];
        waits += histogram.distance[slot] * ofDistance(slot);
    }
    return symbol * symbols + waits;
}

void Costs::setDefault()
{
    setCosts(
        *this, [](uint32_t symbol) { return symbol < 256 ? bits(8) : bits(7) + bits(1) / 2; },
        [](uint32_t) { return bits(5); });
}

void Costs::setFromHistogram(const Histogram& histogram, const CodeLengths* lengths)
{
    const auto costOf = [](const uint32_t* frequencies, uint32_t count, const uint8_t* known) {
        uint32_t total = 0;
        for (uint32_t symbol = 0; symbol < count; ++symbol)
            total += frequencies[symbol];
        // A symbol that does not occur counts as if it occurred half a time. To stay in integers,
        // frequencies are doubled.
        const uint32_t all = log2Cost(2 * total + 1);
        return [frequencies, known, all](uint32_t symbol) {
            if (known != nullptr && known[symbol] != 0) return bits(known[symbol]);
            const uint32_t cost = all - log2Cost(std::max(2 * frequencies[symbol], 1u));
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
    for (uint32_t& cost : literal)
        cost += work.symbol;
    for (uint32_t slot = 0; slot < kDistanceSymbols; ++slot)
        distance[slot] += 2 * work.symbol + work.ofDistance(slot);
    overlap += work.overlap;
}

} // namespace sluice::gdeflate
