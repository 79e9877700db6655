// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gdeflate_split.h"

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
            chunk.counts[chunk.used++] = {static_cast<uint16_t>(symbol),
                                          static_cast<uint16_t>(frequency)};
            extraBits += frequency * extra;
        }
    };
    for (uint32_t symbol = 0; symbol < kLitLenSymbols; ++symbol) {
        add(symbol, histogram.litLen[symbol],
            symbol < kFirstLength ? 0 : lengthExtraBits(symbol - kFirstLength));
    }
    for (uint32_t slot = 0; slot < kDistanceSymbols; ++slot) {
        add(kLitLenSymbols + slot, histogram.distance[slot], distanceExtraBits(slot));
    }
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < count; ++i) {
        bytes += tokens[i].bytes();
    }
    chunk.extraCost = extraBits << kCostShift;
    chunk.staticCost = (staticBlockBits(histogram) - 3) << kCostShift; // the block type counts once
    chunk.storedCost = 8 * bytes << kCostShift;
}

// The cost of a block that grows chunk by chunk.
class BlockSplitter::GrowingBlock {
public:
    explicit GrowingBlock(const EntropyTable& entropy) : entropy_(entropy)
    {
        frequency_[kEndOfBlock] = 1;
    }

    void add(const Chunk& chunk)
    {
        for (uint32_t i = 0; i < chunk.used; ++i) {
            const Chunk::Count& more = chunk.counts[i];
            const bool isDistance = more.symbol >= kLitLenSymbols;
            uint32_t& frequency = frequency_[more.symbol];
            used_ += frequency == 0;
            sum_ -= entropy_[frequency];
            frequency += more.count;
            sum_ += entropy_[frequency];
            total_[isDistance] += more.count;
        }
        extraCost_ += chunk.extraCost;
        staticCost_ += chunk.staticCost;
        storedCost_ += chunk.storedCost;
    }

    // Of the cheapest of the three forms.
    uint32_t cost() const
    {
        const uint32_t header = kHeaderCost + kSymbolCost * used_;
        const uint32_t dynamicCost =
            header + entropy_[total_[0]] + entropy_[total_[1]] - sum_ + extraCost_;
        return std::min({dynamicCost, staticCost_, storedCost_});
    }

    // What a header takes on average: some bits, and more for each symbol that occurs.
    static constexpr uint32_t kHeaderCost = 80 << kCostShift;
    static constexpr uint32_t kSymbolCost = 7 << (kCostShift - 1);
    static constexpr uint32_t kMaxHeaderCost = kHeaderCost + kAllSymbols * kSymbolCost;

private:
    const EntropyTable& entropy_;
    uint32_t frequency_[kAllSymbols] = {};
    uint32_t used_ = 1;
    uint32_t total_[2] = {1, 0};
    uint32_t sum_ = 0; // of f log f
    uint32_t extraCost_ = 0;
    uint32_t staticCost_ = 10 << kCostShift; // block type and end of block
    uint32_t storedCost_ = 19 << kCostShift; // block type and length
};

uint32_t BlockSplitter::split(const Token* tokens, uint32_t count, uint32_t maxChunks,
                              uint32_t blockCost, uint32_t* blocks)
{
    const uint32_t chunks = std::clamp(count / kMinChunkTokens, 1u, maxChunks);
    const auto chunkStart = [count, chunks](uint32_t i) {
        return static_cast<uint32_t>(uint64_t{count} * i / chunks);
    };
    for (uint32_t i = 0; i < chunks; ++i) {
        countChunk(tokens + chunkStart(i), chunkStart(i + 1) - chunkStart(i), chunks_[i]);
    }
    // best[j]: the least cost of chunks 0 .. j - 1; from[j]: where the last block of that way
    // starts.
    uint32_t best[kMaxChunks + 1];
    uint32_t from[kMaxChunks + 1];
    std::fill(best + 1, best + chunks + 1, UINT32_MAX);
    best[0] = 0;
    for (uint32_t i = 0; i < chunks; ++i) {
        GrowingBlock block(entropy_);
        for (uint32_t j = i; j < chunks; ++j) {
            block.add(chunks_[j]);
            const uint32_t cost = best[i] + blockCost + block.cost();
            if (cost < best[j + 1]) {
                best[j + 1] = cost;
                from[j + 1] = i;
            } else if (cost - best[j + 1] > GrowingBlock::kMaxHeaderCost + blockCost) {
                break; // a new block after j is better than any that goes on from here
            }
        }
    }
    uint32_t made = 0;
    for (uint32_t end = chunks; end > 0; end = from[end]) {
        blocks[made++] = chunkStart(end) - chunkStart(from[end]);
    }
    std::reverse(blocks, blocks + made);
    return made;
}

} // namespace sluice::gdeflate
