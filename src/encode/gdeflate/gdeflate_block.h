// SPDX-License-Identifier: MIT OR Apache-2.0
// GDeflate blocks: their size in each of the three forms that Deflate has (dynamic, static,
// stored), and functions that write them.
#pragma once

#include "encode/gdeflate/gdeflate_huffman.h"
#include "encode/gdeflate/gdeflate_writer.h"

namespace sluice::gdeflate {

// A literal or a match. A literal has length 0, and its value is the byte. A match's value is its
// distance, which is below 65,536 inside a tile.
struct Token {
    uint16_t length;
    uint16_t value;

    uint32_t bytes() const { return length == 0 ? 1u : length; }
};

uint32_t bytesOf(const Token* tokens, uint32_t count);

// How often a block uses each symbol.
struct Histogram {
    uint32_t litLen[kLitLenSymbols];
    uint32_t distance[kDistanceSymbols];

    // Counts the symbols of the tokens and one end of block; earlier counts are discarded.
    void count(const Token* tokens, uint32_t tokenCount);
};

struct CodeLengths {
    uint8_t litLen[kMaxSymbols];
    uint8_t distance[kDistanceSymbols];
};

// The longest codes that a dynamic block may use.
struct CodeLimits {
    uint32_t litLen = kMaxCodeLength;
    uint32_t distance = kMaxCodeLength;
};

// The codes of a dynamic block, and the header that describes them.
class DynamicCodes {
public:
    // Builds the codes for a histogram, and the shortest header that it finds for them.
    void build(const Histogram& histogram, const CodeLimits& limits);

    const CodeLengths& lengths() const { return m_lengths; }

    // Returns the size in bits of a dynamic block with this histogram, including the block type.
    uint32_t blockBits(const Histogram& histogram) const;

    void writeHeader(LaneWriter& writer) const;

private:
    struct Item { // a symbol of the precode with its extra bits
        uint8_t symbol;
        uint8_t extra;
    };

    uint32_t makeItems(const uint8_t* all, uint32_t count, const uint8_t* costs, Item* items) const;
    void setHeader(const Item* items, uint32_t count);

    CodeLengths m_lengths;
    uint32_t m_litLenCount;
    uint32_t m_distanceCount;
    Item m_items[kLitLenSymbols + kDistanceSymbols];
    uint32_t m_itemCount;
    uint8_t m_precodeLengths[kPrecodeSymbols];
    uint32_t m_precodeCount;
    uint32_t m_headerBits; // bits of the header, without the block type
};

// Returns the size in bits of a static block with this histogram, including the block type.
uint32_t staticBlockBits(const Histogram& histogram);

// A stored block holds at most kMaxStoredBytes, and begins with kStoredBlockBits for its type (3)
// and length (16). storedBlockBits returns the size in bits of `size` bytes in as few stored blocks
// as possible.
constexpr uint32_t kMaxStoredBytes = 65535, kStoredBlockBits = 3 + 16;
uint32_t storedBlockBits(uint32_t size);

void writeDynamicBlock(LaneWriter& writer, const DynamicCodes& codes, const Token* tokens,
                       uint32_t count, bool final);
void writeStaticBlock(LaneWriter& writer, const Token* tokens, uint32_t count, bool final);

// Writes `size` bytes as one stored block or, if they are too many for one, as several.
void writeStoredBlocks(LaneWriter& writer, const uint8_t* bytes, uint32_t size, bool final);

} // namespace sluice::gdeflate
