// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides where a new block with its own codes begins.
#pragma once

#include "encode/gdeflate/gdeflate_cost.h"

namespace sluice::gdeflate {

constexpr uint32_t kMaxChunks = 96;

// Holds tables and working memory.
class BlockSplitter {
public:
    // Cuts the tokens into up to maxChunks (1 .. kMaxChunks) equal chunks and joins neighbouring
    // chunks to blocks, so that the total cost is least. A block costs the entropy of its symbols,
    // an estimate of its header, and blockCost. `blocks`, which has room for kMaxChunks, receives
    // the number of tokens of each block. Returns the number of blocks.
    uint32_t split(const Token* tokens, uint32_t count, uint32_t maxChunks, uint32_t blockCost,
                   uint32_t* blocks);

private:
    static constexpr uint32_t kAllSymbols = kLitLenSymbols + kDistanceSymbols;
    static constexpr uint32_t kMinChunkTokens = 64;

    // The symbols that occur in a chunk, and the costs that do not depend on a dynamic block's
    // codes. Costs are in units of 1/64 bit.
    struct Chunk {
        struct Count {
            uint16_t symbol; // distances are numbered after literals and lengths
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
