// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gdeflate/gdeflate_split.h"

#include <algorithm>

namespace sluice::gdeflate {

void BlockSplitter::countChunk(const Token* tokens, u32 count, Chunk& chunk)
{
    Histogram histogram;
    histogram.count(tokens, count);
    --histogram.litLen[kEndOfBlock];
    chunk.used = 0;
    u32 extraBits = 0;
    const auto add = [&](u32 symbol, u32 frequency, u32 extra) {
        if (frequency != 0) {
            chunk.counts[chunk.used++] = {u16(symbol), u16(frequency)};
            extraBits += frequency * extra;
        }
    };
    for (u32 symbol = 0; symbol < kLitLenSymbols; ++symbol) {
        add(symbol, histogram.litLen[symbol],
            symbol < kFirstLength ? 0 : lengthExtraBits(symbol - kFirstLength));
    }
    for (u32 slot = 0; slot < kDistanceSymbols; ++slot)
        add(kLitLenSymbols + slot, histogram.distance[slot], distanceExtraBits(slot));
    chunk.extraCost = extraBits << kCostShift;
    chunk.staticCost = (staticBlockBits(histogram) - 3) << kCostShift; // the block type counts once
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
        for (u32 i = 0; i < chunk.used; ++i) {
            const Chunk::Count& more = chunk.counts[i];
            const bool isDistance = more.symbol >= kLitLenSymbols;
            u32& frequency = m_frequency[more.symbol];
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

    // Returns the cost of the cheapest of the three forms.
    u32 cost() const
    {
        const u32 header = kHeaderCost + kSymbolCost * m_used;
        const u32 dynamicCost =
            header + m_entropy[m_total[0]] + m_entropy[m_total[1]] - m_sum + m_extraCost;
        return std::min({dynamicCost, m_staticCost, m_storedCost});
    }

    // A header's average cost: some bits, and more for each symbol that occurs.
    static constexpr u32 kHeaderCost = 80 << kCostShift;
    static constexpr u32 kSymbolCost = 7 << (kCostShift - 1);
    static constexpr u32 kMaxHeaderCost = kHeaderCost + kAllSymbols * kSymbolCost;

private:
    const EntropyTable& m_entropy;
    u32 m_frequency[kAllSymbols] = {};
    u32 m_used = 1;
    u32 m_total[2] = {1, 0};
    u32 m_sum = 0; // of f log f
    u32 m_extraCost = 0;
    u32 m_staticCost = 10 << kCostShift; // of block type and end of block
    u32 m_storedCost = kStoredBlockBits << kCostShift;
};

u32 BlockSplitter::split(const Token* tokens, u32 count, u32 maxChunks, u32 blockCost, u32* blocks)
{
    const u32 chunks = std::clamp(count / kMinChunkTokens, 1u, maxChunks);
    const auto chunkStart = [count, chunks](u32 i) { return u32(u64(count) * i / chunks); };
    for (u32 i = 0; i < chunks; ++i)
        countChunk(tokens + chunkStart(i), chunkStart(i + 1) - chunkStart(i), m_chunks[i]);
    // best[j] is the least cost of chunks 0 .. j - 1, and from[j] is where the last block of that
    // solution starts.
    u32 best[kMaxChunks + 1];
    u32 from[kMaxChunks + 1];
    std::fill(best + 1, best + chunks + 1, UINT32_MAX);
    best[0] = 0;
    for (u32 i = 0; i < chunks; ++i) {
        GrowingBlock block(m_entropy);
        for (u32 j = i; j < chunks; ++j) {
            block.add(m_chunks[j]);
            const u32 cost = best[i] + blockCost + block.cost();
            if (cost < best[j + 1]) {
                best[j + 1] = cost;
                from[j + 1] = i;
            } else if (cost - best[j + 1] > GrowingBlock::kMaxHeaderCost + blockCost) {
                break; // a new block after j is better than any block that continues from here
            }
        }
    }
    u32 made = 0;
    for (u32 end = chunks; end > 0; end = from[end])
        blocks[made++] = chunkStart(end) - chunkStart(from[end]);
    std::reverse(blocks, blocks + made);
    return made;
}

} // namespace sluice::gdeflate
