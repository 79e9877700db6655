// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides where to start a new block with codes of its own.
#pragma once

#include "encode/gdeflate/gdeflate_cost.h"

namespace sluice::gdeflate {

constexpr u32 kMaxChunks = 96;

// Holds tables and working memory.
class BlockSplitter {
public:
    // Cuts the tokens into up to maxChunks (1 .. kMaxChunks) equal chunks and joins neighbours to
    // the blocks that cost least in all, by entropy, an estimate of the header and blockCost.
    // Writes the number of tokens of each block to `blocks` (room for kMaxChunks) and returns their
    // count.
    u32 split(const Token* tokens, u32 count, u32 maxChunks, u32 blockCost, u32* blocks);

private:
    static constexpr u32 kAllSymbols = kLitLenSymbols + kDistanceSymbols;
    static constexpr u32 kMinChunkTokens = 64;

    // A chunk: the symbols that occur in it, and what does not depend on the codes. Costs are in
    // 1/64 bit.
    struct Chunk {
        struct Count {
            u16 symbol; // distances after the literals and lengths
            u16 count;
        };
        u32 used;
        Count counts[kAllSymbols];
        u32 extraCost;
        u32 staticCost;
        u32 storedCost;
    };
    class GrowingBlock;

    static void countChunk(const Token* tokens, u32 count, Chunk& chunk);

    EntropyTable m_entropy;
    Chunk m_chunks[kMaxChunks];
};

} // namespace sluice::gdeflate
