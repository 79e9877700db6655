// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes GDeflate tiles bit by bit, legal or not, for the tests: it knows the order of the format
// and nothing else.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::test {

using CodeLengths = std::vector<uint8_t>;

// A literal byte (length 0) or a match.
struct Token {
    uint32_t length;
    uint32_t value; // the literal, or the match's distance
};
inline Token literal(uint32_t byte) { return {0, byte}; }
inline Token match(uint32_t length, uint32_t distance) { return {length, distance}; }

// A symbol of a code length table: the value is the run of 16, 17 and 18 less its base.
struct LengthSymbol {
    uint32_t symbol;
    uint32_t extra;
};

class GdeflateBitWriter {
public:
    GdeflateBitWriter() { refill(); }

    // The raw steps: bits that a lane consumes, and the end of a round.
    void put(uint32_t lane, uint32_t value, uint32_t bitCount);
    void refill();

    void blockHeader(bool final, uint32_t type);
    void stored(bool final, const std::vector<uint8_t>& bytes);
    void fixed(bool final, const std::vector<Token>& tokens);
    // Code lengths by symbol, at least 257 and at least 1; every one is sent as itself, without
    // runs.
    void dynamic(bool final, const CodeLengths& literalLengths, const CodeLengths& distanceLengths,
                 const std::vector<Token>& tokens);

    // The parts of a dynamic block, for headers that no encoder would write. counts: HLIT, HDIST,
    // HCLEN as sent.
    void dynamicCounts(uint32_t hlit, uint32_t hdist, uint32_t hclen);
    void precodeLengths(const CodeLengths& inSentOrder);
    void lengthSymbols(const CodeLengths& precode, const std::vector<LengthSymbol>& symbols);
    // The symbols of a block; without the end-of-block symbol the block just stops after the last
    // token's round.
    void symbols(const CodeLengths& literalLengths, const CodeLengths& distanceLengths,
                 const std::vector<Token>& tokens, bool endOfBlock = true);

    // The tile so far.
    std::vector<uint8_t> bytes() const;

private:
    struct Lane {
        std::vector<bool> bits; // all that it ever consumes
        uint32_t available = 0; // bits that the decoder holds for it
    };
    Lane m_lanes[32];
    std::vector<uint32_t> m_wordOwners; // the lane that takes each word of the tile
};

// Codewords of the canonical code with these lengths, first bit lowest.
std::vector<uint32_t> canonicalCode(const CodeLengths& lengths);

// The code lengths of the fixed block type.
CodeLengths fixedLiteralLengths();
CodeLengths fixedDistanceLengths();

// Returns what the tokens decode to.
std::vector<uint8_t> expand(const std::vector<Token>& tokens);

} // namespace sluice::test
