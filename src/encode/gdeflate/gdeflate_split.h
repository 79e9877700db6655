// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides where in a tile a new block begins, so that its codes suit its symbols.
#pragma once

#include "encode/gdeflate/gdeflate_cost.h"

namespace sluice::gdeflate {

constexpr uint32_t kMaxChunks = 96;

// Divides a tile's tokens into blocks. Keep the object for all tiles, since it holds large tables.
class BlockSplitter {
public:
    // Cuts the tokens into at most maxChunks (1 .. kMaxChunks) chunks of equal size, and joins
    // neighbouring chunks into blocks so that the total cost is least. The cost of a block is the
    // entropy of its symbols, an estimate of its header, and blockCost. `blocks`, with room for
    // kMaxChunks, receives the number of tokens in each block. Returns the number of blocks.
    uint32_t split(const Token* tokens, uint32_t count, uint32_t maxChunks, uint32_t blockCost,
                   uint32_t* blocks);

private:
    static constexpr uint32_t kAllSymbols = kLitLenSymbols + kDistanceSymbols;
    static constexpr uint32_t kMinChunkTokens = 64;

    // The symbols that occur in a chunk, and the part of its cost that does not depend on the codes
    // of a dynamic block. Costs are in units of 1/64 bit.
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
