// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gdeflate/gdeflate_split.h"

#include <algorithm>

namespace sluice::gdeflate {

void BlockSplitter::countChunk(const Token* tokens, uint32_t count, Chunk& chunk)
{
    Histogram histogram;
    histogram.count(tokens, count);
    --histogram.litLen[kEndOfBlock];
    chunk.used = 0;
    uint32_t extraBits = 0;
    const auto add = [&](uint32_t symbol, uint32_t frequency, uint32_t extra) {
        if (frequency != 0) {
            chunk.counts[chunk.used++] = {uint16_t(symbol), uint16_t(frequency)};
            extraBits += frequency * extra;
        }
    };
    for (uint32_t symbol = 0; symbol < kLitLenSymbols; ++symbol) {
        add(symbol, histogram.litLen[symbol],
            symbol < kFirstLength ? 0 : lengthExtraBits(symbol - kFirstLength));
    }
    for (uint32_t slot = 0; slot < kDistanceSymbols; ++slot)
        add(kLitLenSymbols + slot, histogram.distance[slot], distanceExtraBits(slot));
    chunk.extraCost = extraBits << kCostShift;
    // Subtract the 3 bits of the block type: they count once for a block, not for each chunk.
    chunk.staticCost = (staticBlockBits(histogram) - 3) << kCostShift;
    chunk.storedCost = 8 * bytesOf(tokens, count) << kCostShift;
}

// The cost of a block that grows chunk by chunk.
class BlockSplitter::GrowingBlock {
public:
    explicit GrowingBlock(const EntropyTable& entropy) : m_entropy(entropy)
    {
        m_frequency[kEndOfBlock] = 1;
    }

    void add(const Chunk& chunk)
    {
        for (uint32_t i = 0; i < chunk.used; ++i) {
            const Chunk::Count& more = chunk.counts[i];
            const bool isDistance = more.symbol >= kLitLenSymbols;
            uint32_t& frequency = m_frequency[more.symbol];
            m_used += frequency == 0;
            m_sum -= m_entropy[frequency];
            frequency += more.count;
            m_sum += m_entropy[frequency];
            m_total[isDistance] += more.count;
        }
        m_extraCost += chunk.extraCost;
        m_staticCost += chunk.staticCost;
        m_storedCost += chunk.storedCost;
    }

    // Returns the cost of the block in the cheapest of its three forms.
    uint32_t cost() const
    {
        const uint32_t header = kHeaderCost + kSymbolCost * m_used;
        const uint32_t dynamicCost =
            header + m_entropy[m_total[0]] + m_entropy[m_total[1]] - m_sum + m_extraCost;
        return std::min({dynamicCost, m_staticCost, m_storedCost});
    }

    // Estimates a dynamic block's header: a fixed cost, and a cost for each symbol in use.
    static constexpr uint32_t kHeaderCost = 80 << kCostShift;
    static constexpr uint32_t kSymbolCost = 7 << (kCostShift - 1);
    static constexpr uint32_t kMaxHeaderCost = kHeaderCost + kAllSymbols * kSymbolCost;

private:
    const EntropyTable& m_entropy;
    uint32_t m_frequency[kAllSymbols] = {};
    uint32_t m_used = 1;
    uint32_t m_total[2] = {1, 0};
    uint32_t m_sum = 0; // the sum of f log f over all symbols
    uint32_t m_extraCost = 0;
    uint32_t m_staticCost = 10 << kCostShift; // bits of the block type and the end of block
    uint32_t m_storedCost = kStoredBlockBits << kCostShift;
};

uint32_t BlockSplitter::split(const Token* tokens, uint32_t count, uint32_t maxChunks,
                              uint32_t blockCost, uint32_t* blocks)
{
    const uint32_t chunks = std::clamp(count / kMinChunkTokens, 1u, maxChunks);
    const auto chunkStart = [count, chunks](uint32_t i) {
        return uint32_t(uint64_t(count) * i / chunks);
    };
    for (uint32_t i = 0; i < chunks; ++i)
        countChunk(tokens + chunkStart(i), chunkStart(i + 1) - chunkStart(i), m_chunks[i]);
    // best[j] is the least cost of chunks 0 .. j - 1. The last block of this cheapest division
    // begins with chunk from[j].
    uint32_t best[kMaxChunks + 1];
    uint32_t from[kMaxChunks + 1];
    std::fill(best + 1, best + chunks + 1, UINT32_MAX);
    best[0] = 0;
    for (uint32_t i = 0; i < chunks; ++i) {
        GrowingBlock block(m_entropy);
        for (uint32_t j = i; j < chunks; ++j) {
            block.add(m_chunks[j]);
            const uint32_t cost = best[i] + blockCost + block.cost();
            if (cost < best[j + 1]) {
                best[j + 1] = cost;
                from[j + 1] = i;
            } else if (cost - best[j + 1] > GrowingBlock::kMaxHeaderCost + blockCost) {
                break; // a new block after chunk j is cheaper than any longer block
            }
        }
    }
    uint32_t made = 0;
    for (uint32_t end = chunks; end > 0; end = from[end])
        blocks[made++] = chunkStart(end) - chunkStart(from[end]);
    std::reverse(blocks, blocks + made);
    return made;
}

} // namespace sluice::gdeflate
