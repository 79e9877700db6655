// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes Gstd tiles for tests word by word, right or wrong ones. It follows docs/format.md, section
// 7, and shares no code with the encoder.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::test {

using GstdWords = std::vector<uint16_t>;
using GstdCounts = std::vector<uint32_t>; // for each symbol, its slots or its code length

// Holds a part as it is in the tile. Tests change its words to break rules.
struct GstdPart {
    uint32_t size = 0; // of the part's output
    GstdWords words;
};

// A sequence of literals and a match. `offset` is an offset or, if it repeats one of the last
// three, the number 0, 1 or 2.
struct GstdSequence {
    uint32_t literals, length, offset;
    bool repeats = false;
};

// Holds what a coded part says. Empty tables are filled in so that they fit what is sent with them.
struct GstdCoded {
    uint32_t size = 0;
    uint32_t literalKind = 2;
    bool reusesLiterals = false, reusesSequences = false;
    uint32_t literalLog = 8, sequenceLog = 10, modulus = 1;
    std::vector<uint8_t> literals;
    std::vector<GstdSequence> sequences;
    GstdCounts literalTable;
    GstdCounts sequenceTables[4]; // literal lengths, match lengths, offsets, remainders
    GstdCounts classes;           // for both kinds of tables
    // If they are not null, symbols are written with the tables of these parts, as in a part that
    // uses tables of an earlier one.
    const GstdCoded* literalsOf = nullptr;
    const GstdCoded* sequencesOf = nullptr;
};

GstdPart plainPart(const std::vector<uint8_t>& bytes);
GstdPart runPart(uint8_t byte, uint32_t size);
// Fills in the tables that codedPart would make, for parts whose tables others use.
GstdCoded complete(GstdCoded part);
GstdPart codedPart(const GstdCoded& part);

// depth: 1 to 8, not the number in the header.
std::vector<uint8_t> gstdTile(uint32_t depth, const std::vector<GstdPart>& parts);

// Collects the reads of one part and makes its words from them. Lanes take words in the order in
// which the decoder needs them.
class GstdLaneWriter {
public:
    // A lane reads `count` bits, or a symbol of a table with 2^log slots.
    void bits(uint32_t lane, uint32_t value, uint32_t count);
    void symbol(uint32_t lane, uint32_t symbol, const GstdCounts& table, uint32_t log);
    GstdWords words() const;

private:
    struct Read {
        uint32_t lane, start, count, log;
    };
    std::vector<Read> m_reads;
};

} // namespace sluice::test
