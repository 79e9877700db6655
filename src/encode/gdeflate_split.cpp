// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gdeflate_split.h"

#include <algorithm>
#include <cstring>

namespace sluice::gdeflate {

namespace {

constexpr uint32_t kAllSymbols = kLitLenSymbols + kDistanceSymbols;
constexpr uint32_t kMinChunkTokens = 128;

// A chunk's symbols that occur, with how often.
struct Chunk {
    struct Count {
        uint16_t symbol; // distances after the literals and lengths
        uint16_t count;
    };
    uint32_t used;
    Count counts[kAllSymbols];
};

void countChunk(const Token* tokens, uint32_t count, Chunk& chunk)
{
    Histogram histogram;
    histogram.count(tokens, count);
    --histogram.litLen[kEndOfBlock];
    chunk.used = 0;
    const auto add = [&chunk](const uint32_t* frequencies, uint32_t symbols, uint32_t first) {
        for (uint32_t i = 0; i < symbols; ++i) {
            if (frequencies[i] != 0) {
                chunk.counts[chunk.used++] = {static_cast<uint16_t>(first + i), static_cast<uint16_t>(frequencies[i])};
            }
        }
    };
    add(histogram.litLen, kLitLenSymbols, 0);
    add(histogram.distance, kDistanceSymbols, kLitLenSymbols);
}

// The cost of a block that grows chunk by chunk.
class GrowingBlock {
public:
    explicit GrowingBlock(const EntropyTable& entropy) : entropy_(entropy)
    {
        std::memset(frequency_, 0, sizeof(frequency_));
        frequency_[kEndOfBlock] = 1;
    }

    void add(const Chunk& chunk)
    {
        for (uint32_t i = 0; i < chunk.used; ++i) {
            const Chunk::Count& more = chunk.counts[i];
            const bool isDistance = more.symbol >= kLitLenSymbols;
            uint32_t& frequency = frequency_[more.symbol];
            used_[isDistance] += frequency == 0;
            sum_ -= entropy_[frequency];
            frequency += more.count;
            sum_ += entropy_[frequency];
            total_[isDistance] += more.count;
        }
    }

    uint32_t cost() const
    {
        // A header takes about this much; extra bits are the same however the tokens are cut.
        const uint32_t header = (kHeaderBits << kCostShift) + kLitLenCost * used_[0] + kDistanceCost * used_[1];
        return header + entropy_[total_[0]] + entropy_[total_[1]] - sum_;
    }

private:
    static constexpr uint32_t kHeaderBits = 80;
    static constexpr uint32_t kLitLenCost = 7 << (kCostShift - 1);
    static constexpr uint32_t kDistanceCost = 7 << (kCostShift - 1);

    const EntropyTable& entropy_;
    uint32_t frequency_[kAllSymbols];
    uint32_t used_[2] = {1, 0};
    uint32_t total_[2] = {1, 0};
    uint32_t sum_ = 0; // of f log f
};

} // namespace

uint32_t splitIntoBlocks(const EntropyTable& entropy, const Token* tokens, uint32_t count, uint32_t maxChunks, uint32_t* blocks)
{
    const uint32_t chunks = std::clamp(count / kMinChunkTokens, 1u, maxChunks);
    const auto chunkStart = [count, chunks](uint32_t i) { return static_cast<uint32_t>(uint64_t{count} * i / chunks); };

    Chunk chunk[kMaxChunks];
    for (uint32_t i = 0; i < chunks; ++i) {
        countChunk(tokens + chunkStart(i), chunkStart(i + 1) - chunkStart(i), chunk[i]);
    }
    // best[j]: the least cost of chunks 0 .. j - 1; from[j]: where the last block of that way starts.
    uint32_t best[kMaxChunks + 1];
    uint32_t from[kMaxChunks + 1];
    std::fill(best + 1, best + chunks + 1, UINT32_MAX);
    best[0] = 0;
    for (uint32_t i = 0; i < chunks; ++i) {
        GrowingBlock block(entropy);
        for (uint32_t j = i; j < chunks; ++j) {
            block.add(chunk[j]);
            const uint32_t cost = best[i] + block.cost();
            if (cost < best[j + 1]) {
                best[j + 1] = cost;
                from[j + 1] = i;
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
