// SPDX-License-Identifier: MIT OR Apache-2.0
// One block: what it costs in each of its three forms, and how it is written.
#pragma once

#include "encode/gdeflate/gdeflate_huffman.h"
#include "encode/gdeflate/gdeflate_writer.h"

namespace sluice::gdeflate {

// A literal (length 0, value is the byte) or a match (value is the distance, which is less than
// 65,536 inside a tile).
struct Token {
    u16 length;
    u16 value;

    u32 bytes() const { return length == 0 ? 1u : length; }
};

u32 bytesOf(const Token* tokens, u32 count);

// How often each symbol occurs.
struct Histogram {
    u32 litLen[kLitLenSymbols];
    u32 distance[kDistanceSymbols];

    // Counts the tokens and one end of block.
    void count(const Token* tokens, u32 tokenCount);
};

struct CodeLengths {
    u8 litLen[kMaxSymbols];
    u8 distance[kDistanceSymbols];
};

// The limits of code lengths in a dynamic block.
struct CodeLimits {
    u32 litLen = kMaxCodeLength;
    u32 distance = kMaxCodeLength;
};

// A dynamic block's codes and the header that describes them.
class DynamicCodes {
public:
    // Builds the codes for a histogram and the cheapest header found.
    void build(const Histogram& histogram, const CodeLimits& limits);

    const CodeLengths& lengths() const { return m_lengths; }

    // Returns the bits of a whole dynamic block with this histogram, block type included.
    u32 blockBits(const Histogram& histogram) const;

    void writeHeader(LaneWriter& writer) const;

private:
    struct Item { // a symbol of the precode with its extra bits
        u8 symbol;
        u8 extra;
    };

    u32 makeItems(const u8* all, u32 count, const u8* costs, Item* items) const;
    void setHeader(const Item* items, u32 count);

    CodeLengths m_lengths;
    u32 m_litLenCount;
    u32 m_distanceCount;
    Item m_items[kLitLenSymbols + kDistanceSymbols];
    u32 m_itemCount;
    u8 m_precodeLengths[kPrecodeSymbols];
    u32 m_precodeCount;
    u32 m_headerBits; // up to the first literal or length, without the block type
};

// Returns the bits of a static block with this histogram, block type included.
u32 staticBlockBits(const Histogram& histogram);

// Returns the bits of `size` bytes as stored blocks, block types included. A stored block has a
// type and a length.
constexpr u32 kMaxStoredBytes = 65535, kStoredBlockBits = 3 + 16;
u32 storedBlockBits(u32 size);

void writeDynamicBlock(LaneWriter& writer, const DynamicCodes& codes, const Token* tokens,
                       u32 count, bool final);
void writeStaticBlock(LaneWriter& writer, const Token* tokens, u32 count, bool final);

// Writes as many stored blocks as `size` bytes need, at least one.
void writeStoredBlocks(LaneWriter& writer, const u8* bytes, u32 size, bool final);

} // namespace sluice::gdeflate
