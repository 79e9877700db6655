// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes Gstd tiles word by word, legal or not, for the tests: it knows docs/format.md, section 7,
// and shares no code with the encoder.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::test {

using GstdWords = std::vector<uint16_t>;
using GstdCounts = std::vector<uint32_t>; // slots, or code lengths, by symbol

// A part as the tile has it. Tests change its words to break rules.
struct GstdPart {
    uint32_t size = 0; // of its output
    GstdWords words;
};

// A sequence. A new offset is sent as itself; a repeated one as the number 0, 1 or 2.
struct GstdSequence {
    uint32_t literals, length, offset;
    bool repeats = false;
};

// Holds what a coded part says. Tables that are left empty are made to fit what is sent with them.
struct GstdCoded {
    uint32_t size = 0;
    uint32_t literalKind = 2;
    bool reusesLiterals = false, reusesSequences = false;
    uint32_t literalLog = 8, sequenceLog = 10, modulus = 1;
    std::vector<uint8_t> literals;
    std::vector<GstdSequence> sequences;
    GstdCounts literalTable;
    GstdCounts sequenceTables[4]; // literal lengths, match lengths, offsets, remainders
    GstdCounts classes;           // of both tables
    // Other tables than are sent, to read symbols with tables of an earlier part.
    const GstdCoded* literalsOf = nullptr;
    const GstdCoded* sequencesOf = nullptr;
};

GstdPart plainPart(const std::vector<uint8_t>& bytes);
GstdPart runPart(uint8_t byte, uint32_t size);
// complete: fills in the tables that codedPart would make, for parts that reuse them.
GstdCoded complete(GstdCoded part);
GstdPart codedPart(const GstdCoded& part);

// depth: as meant, 1 to 8.
std::vector<uint8_t> gstdTile(uint32_t depth, const std::vector<GstdPart>& parts);

// The words of one part, read by read: lanes take words in the order in which the decoder refills
// them.
class GstdLaneWriter {
public:
    // A lane reads bits, or a symbol of a table with 2^log slots.
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
