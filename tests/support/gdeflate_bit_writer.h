// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes GDeflate tiles for tests bit by bit, right or wrong ones. It knows only the order in which
// lanes take bits.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::test {

using CodeLengths = std::vector<uint8_t>;

// A literal byte (its length is 0) or a match.
struct Token {
    uint32_t length;
    uint32_t value; // the literal, or the distance of the match
};
inline Token literal(uint32_t byte) { return {0, byte}; }
inline Token match(uint32_t length, uint32_t distance) { return {length, distance}; }

// A symbol of the code that code lengths are sent with. extra: for the runs 16, 17 and 18, their
// length minus their base.
struct LengthSymbol {
    uint32_t symbol;
    uint32_t extra;
};

class GdeflateBitWriter {
public:
    GdeflateBitWriter() { refill(); }

    // Writes bits that a lane takes; `refill` ends a round.
    void put(uint32_t lane, uint32_t value, uint32_t bitCount);
    void refill();

    void blockHeader(bool final, uint32_t type);
    void stored(bool final, const std::vector<uint8_t>& bytes);
    void fixed(bool final, const std::vector<Token>& tokens);
    // Writes a block with these code lengths, at least 257 and at least 1. Each length is sent as
    // itself, without runs.
    void dynamic(bool final, const CodeLengths& literalLengths, const CodeLengths& distanceLengths,
                 const std::vector<Token>& tokens);

    // These write parts of a dynamic block, also for headers that no encoder would write. hlit,
    // hdist and hclen are the counts HLIT, HDIST and HCLEN as they are sent.
    void dynamicCounts(uint32_t hlit, uint32_t hdist, uint32_t hclen);
    void precodeLengths(const CodeLengths& inSentOrder);
    void lengthSymbols(const CodeLengths& precode, const std::vector<LengthSymbol>& symbols);
    // Writes the tokens of a block. endOfBlock: false ends the block after the last token's round,
    // without its symbol.
    void symbols(const CodeLengths& literalLengths, const CodeLengths& distanceLengths,
                 const std::vector<Token>& tokens, bool endOfBlock = true);

    // Returns the tile as written so far.
    std::vector<uint8_t> bytes() const;

private:
    struct Lane {
        std::vector<bool> bits; // all that the lane takes
        uint32_t available = 0; // how many bits the decoder holds for the lane now
    };
    Lane m_lanes[32];
    std::vector<uint32_t> m_wordOwners; // for each word of the tile, the lane that takes it
};

// Returns the canonical code with these lengths. The first bit of each code is the lowest.
std::vector<uint32_t> canonicalCode(const CodeLengths& lengths);

// The code lengths of fixed blocks.
CodeLengths fixedLiteralLengths();
CodeLengths fixedDistanceLengths();

// Returns what the tokens decode to.
std::vector<uint8_t> expand(const std::vector<Token>& tokens);

} // namespace sluice::test
