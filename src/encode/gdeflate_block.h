// SPDX-License-Identifier: MIT OR Apache-2.0
// One block: what it costs in each of its three forms, and how it is written.
#pragma once

#include "gdeflate_format.h"
#include "gdeflate_huffman.h"
#include "gdeflate_writer.h"

namespace sluice::gdeflate {

// How often each symbol occurs. Arrays are as long as the format's alphabets, unused tails stay 0.
struct Histogram {
    uint32_t litLen[kLitLenSymbols];
    uint32_t distance[kDistanceSymbols];

    // Counts tokens[0 .. count - 1] and one end of block.
    void count(const Token* tokens, uint32_t tokenCount);
};

struct CodeLengths {
    uint8_t litLen[kMaxSymbols];
    uint8_t distance[kDistanceSymbols];
};

// The longest codes that a dynamic block may have.
struct CodeLimits {
    uint32_t litLen = kMaxCodeLength;
    uint32_t distance = kMaxCodeLength;
};

// A dynamic block's codes and the header that describes them.
class DynamicCodes {
public:
    // Builds the codes for a histogram and the cheapest header found.
    void build(const Histogram& histogram, const CodeLimits& limits);

    const CodeLengths& lengths() const { return lengths_; }

    // Bits of a whole dynamic block with this histogram, block type included.
    uint32_t blockBits(const Histogram& histogram) const;

    void writeHeader(LaneWriter& writer) const;

private:
    struct Item { // a symbol of the precode and its extra bits
        uint8_t symbol;
        uint8_t extra;
    };

    uint32_t makeItems(const uint8_t* all, uint32_t count, const uint8_t* costs, Item* items) const;
    void setHeader(const Item* items, uint32_t count);

    CodeLengths lengths_;
    uint32_t litLenCount_;
    uint32_t distanceCount_;
    Item items_[kLitLenSymbols + kDistanceSymbols];
    uint32_t itemCount_;
    uint8_t precodeLengths_[kPrecodeSymbols];
    uint32_t precodeCount_;
    uint32_t headerBits_; // all before the first literal or length but the block type
};

// Bits of a static block with this histogram, block type included.
uint32_t staticBlockBits(const Histogram& histogram);

// Bits of `size` bytes as stored blocks, block types included.
uint32_t storedBlockBits(uint32_t size);

void writeDynamicBlock(LaneWriter& writer, const DynamicCodes& codes, const Token* tokens,
                       uint32_t count, bool final);
void writeStaticBlock(LaneWriter& writer, const Token* tokens, uint32_t count, bool final);

// Writes as many stored blocks as `size` bytes need, at least one.
void writeStoredBlocks(LaneWriter& writer, const uint8_t* bytes, uint32_t size, bool final);

} // namespace sluice::gdeflate
