// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/gdeflate_bit_writer.h"

#include <algorithm>

namespace sluice::test {
namespace {

// The base and the extra bits of a symbol for lengths or distances. A value takes the last range
// whose base is not above it.
struct Range {
    uint32_t base;
    uint32_t extraBits;
};

std::vector<Range> distanceRanges()
{
    std::vector<Range> ranges;
    uint32_t base = 1;
    for (uint32_t symbol = 0; symbol < 32; ++symbol) {
        const uint32_t extraBits = symbol < 4 ? 0 : symbol / 2 - 1;
        ranges.push_back({base, extraBits});
        base += 1u << extraBits;
    }
    return ranges;
}

std::vector<Range> lengthRanges()
{
    std::vector<Range> ranges;
    uint32_t base = 3;
    for (uint32_t symbol = 0; symbol < 28; ++symbol) {
        const uint32_t extraBits = symbol < 8 ? 0 : symbol / 4 - 1;
        ranges.push_back({base, extraBits});
        base += 1u << extraBits;
    }
    return ranges;
}

uint32_t lastRange(const std::vector<Range>& ranges, uint32_t value)
{
    uint32_t index = uint32_t(ranges.size()) - 1;
    while (index > 0 && ranges[index].base > value)
        --index;
    return index;
}

} // namespace

void GdeflateBitWriter::put(uint32_t lane, uint32_t value, uint32_t bitCount)
{
    for (uint32_t i = 0; i < bitCount; ++i)
        m_lanes[lane].bits.push_back((value >> i & 1) != 0);
    m_lanes[lane].available -= bitCount;
}

void GdeflateBitWriter::refill()
{
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (m_lanes[lane].available < 32) {
            m_lanes[lane].available += 32;
            m_wordOwners.push_back(lane);
        }
    }
}

void GdeflateBitWriter::blockHeader(bool final, uint32_t type)
{
    put(0, final ? 1 : 0, 1);
    put(0, type, 2);
    refill();
}

void GdeflateBitWriter::stored(bool final, const std::vector<uint8_t>& bytes)
{
    blockHeader(final, 0);
    put(0, uint32_t(bytes.size()), 16);
    for (size_t i = 0; i < bytes.size(); ++i) {
        put(uint32_t(i % 32), bytes[i], 8);
        if (i % 32 == 31) refill();
    }
    refill();
}

void GdeflateBitWriter::fixed(bool final, const std::vector<Token>& tokens)
{
    blockHeader(final, 1);
    symbols(fixedLiteralLengths(), fixedDistanceLengths(), tokens);
}

void GdeflateBitWriter::dynamic(bool final, const CodeLengths& literalLengths,
                                const CodeLengths& distanceLengths,
                                const std::vector<Token>& tokens)
{
    blockHeader(final, 2);
    dynamicCounts(uint32_t(literalLengths.size()) - 257, uint32_t(distanceLengths.size()) - 1, 15);
    // The precode has 4 bits for each of the lengths 0 to 15, and no codes for runs.
    precodeLengths({0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
    CodeLengths precode(19, 4);
    std::fill(precode.begin() + 16, precode.end(), uint8_t(0));
    std::vector<LengthSymbol> lengths;
    for (const CodeLengths* table : {&literalLengths, &distanceLengths}) {
        for (const uint8_t length : *table)
            lengths.push_back({length, 0});
    }
    lengthSymbols(precode, lengths);
    symbols(literalLengths, distanceLengths, tokens);
}

void GdeflateBitWriter::dynamicCounts(uint32_t hlit, uint32_t hdist, uint32_t hclen)
{
    put(0, hlit, 5);
    put(0, hdist, 5);
    put(0, hclen, 4);
    refill();
}

void GdeflateBitWriter::precodeLengths(const CodeLengths& inSentOrder)
{
    for (uint32_t i = 0; i < inSentOrder.size(); ++i)
        put(i, inSentOrder[i], 3);
    refill();
}

void GdeflateBitWriter::lengthSymbols(const CodeLengths& precode,
                                      const std::vector<LengthSymbol>& symbols)
{
    const std::vector<uint32_t> code = canonicalCode(precode);
    for (size_t i = 0; i < symbols.size(); ++i) {
        const uint32_t lane = uint32_t(i % 32);
        const uint32_t symbol = symbols[i].symbol;
        put(lane, code[symbol], precode[symbol]);
        put(lane, symbols[i].extra, symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7);
        if (lane == 31) refill();
    }
    refill();
}

void GdeflateBitWriter::symbols(const CodeLengths& literalLengths,
                                const CodeLengths& distanceLengths,
                                const std::vector<Token>& tokens, bool endOfBlock)
{
    static const std::vector<Range> lengths = lengthRanges(), distances = distanceRanges();
    const std::vector<uint32_t> literalCode = canonicalCode(literalLengths);
    const std::vector<uint32_t> distanceCode = canonicalCode(distanceLengths);
    uint32_t pending[32] = {}; // the distance that a lane still has to send; 0: none
    size_t next = 0;
    bool ended = false;
    for (bool lastRound = false; !lastRound;) {
        lastRound = ended;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (pending[lane] != 0) {
                const uint32_t symbol = lastRange(distances, pending[lane]);
                put(lane, distanceCode[symbol], distanceLengths[symbol]);
                put(lane, pending[lane] - distances[symbol].base, distances[symbol].extraBits);
                pending[lane] = 0;
            } else if (next < tokens.size()) {
                const Token token = tokens[next++];
                if (token.length == 0) {
                    put(lane, literalCode[token.value], literalLengths[token.value]);
                } else if (token.length > 258) {
                    put(lane, literalCode[285], literalLengths[285]);
                    put(lane, token.length - 3, 16);
                    pending[lane] = token.value;
                } else {
                    const uint32_t range = lastRange(lengths, token.length);
                    put(lane, literalCode[257 + range], literalLengths[257 + range]);
                    put(lane, token.length - lengths[range].base, lengths[range].extraBits);
                    pending[lane] = token.value;
                }
            } else if (!ended) {
                if (endOfBlock) put(lane, literalCode[256], literalLengths[256]);
                ended = true;
            }
        }
        refill();
    }
}

std::vector<uint8_t> GdeflateBitWriter::bytes() const
{
    std::vector<uint8_t> result;
    size_t wordsTaken[32] = {};
    for (const uint32_t owner : m_wordOwners) {
        const std::vector<bool>& bits = m_lanes[owner].bits;
        const size_t first = 32 * wordsTaken[owner]++;
        uint32_t word = 0;
        for (size_t i = 0; i < 32 && first + i < bits.size(); ++i)
            word |= uint32_t(bits[first + i]) << i;
        for (uint32_t i = 0; i < 4; ++i)
            result.push_back(uint8_t(word >> 8 * i));
    }
    return result;
}

std::vector<uint32_t> canonicalCode(const CodeLengths& lengths)
{
    std::vector<uint32_t> code(lengths.size());
    uint32_t next = 0;
    for (uint32_t length = 1; length <= 15; ++length, next <<= 1) {
        for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
            if (lengths[symbol] != length) continue;
            for (uint32_t bit = 0; bit < length; ++bit)
                code[symbol] |= (next >> bit & 1) << (length - 1 - bit);
            ++next;
        }
    }
    return code;
}

CodeLengths fixedLiteralLengths()
{
    CodeLengths lengths(288, 8);
    std::fill(lengths.begin() + 144, lengths.begin() + 256, uint8_t(9));
    std::fill(lengths.begin() + 256, lengths.begin() + 280, uint8_t(7));
    return lengths;
}

CodeLengths fixedDistanceLengths() { return CodeLengths(32, 5); }

std::vector<uint8_t> expand(const std::vector<Token>& tokens)
{
    std::vector<uint8_t> bytes;
    for (const Token token : tokens) {
        if (token.length == 0) bytes.push_back(uint8_t(token.value));
        for (uint32_t i = 0; i < token.length; ++i)
            bytes.push_back(bytes[bytes.size() - token.value]);
    }
    return bytes;
}

} // namespace sluice::test
