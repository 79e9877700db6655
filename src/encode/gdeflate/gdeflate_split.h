// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides where to start a new block with codes of its own.
#pragma once

#include "encode/gdeflate/gdeflate_cost.h"

namespace sluice::gdeflate {

constexpr uint32_t kMaxChunks = 96;

// Holds tables and working memory.
class BlockSplitter {
public:
    // Cuts the tokens into up to maxChunks (1 .. kMaxChunks) equal chunks and joins neighbours to
    // the blocks that cost least in all, by entropy, an estimate of the header and blockCost.
    // Writes the number of tokens of each block to `blocks` (room for kMaxChunks) and returns their
    // count.
    uint32_t split(const Token* tokens, uint32_t count, uint32_t maxChunks, uint32_t blockCost,
                   uint32_t* blocks);

private:
    static constexpr uint32_t kAllSymbols = kLitLenSymbols + kDistanceSymbols;
    static constexpr uint32_t kMinChunkTokens = 64;

    // A chunk: the symbols that occur in it, and what does not depend on the codes. Costs are in
    // 1/64 bit.
    struct Chunk {
        struct Count {
            uint16_t symbol; // distances after the literals and lengths
            uint16_t count;
        };
        uint32_t used;
        Count counts[kAllSymbols];
        uint32_t extraCost;
        uint32_t staticCost;
        uint32_t storedCost;
    };
    class GrowingBlock;

    static void countChunk(const Token* tokens, uint32_t count, Chunk& chunk);

    EntropyTable m_entropy;
    Chunk m_chunks[kMaxChunks];
};

} // namespace sluice::gdeflate
