// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes one part of a Gstd tile, a piece with tables of its own. Chooses the part's form (a run
// of one byte, stored or coded) and its tables, and writes its words. Costs are in 1/256 bit.
#pragma once

#include "encode/gstd/gstd_sequences.h"
#include "encode/gstd/gstd_tables.h"

namespace sluice::gstd {

// How many alternatives are tried. A table has 2^log slots; each log from first to last is tried.
struct Effort {
    uint32_t firstLiteralLog, lastLiteralLog;
    uint32_t firstSequenceLog, lastSequenceLog;
    // True: all moduli of offsets are tried; false: only the first few.
    bool allModuli;
};

// A length or an offset: a symbol, and `bits` extra bits with the value `value`.
struct Symbol {
    uint32_t symbol, value, bits;
};

struct LiteralTables {
    uint32_t mode = SLUICE_GS_LITERALS_PLAIN;
    Table table;
    Code code;

    uint64_t cost(const Counts& counts) const
    {
        return mode == SLUICE_GS_LITERALS_RANS ? table.cost(counts) : code.cost(counts);
    }
};

// The tables of a part's sequences, in the order in which the stream describes them. An offset is
// coded as its quotient (kOffsets) and remainder by the modulus. With modulus 1 there are no
// remainders, so their table is left out.
enum SequenceTable : uint32_t {
    kLiteralLengths,
    kMatchLengths,
    kOffsets,
    kRemainders,
    kSequenceTables
};

struct SequenceTables {
    uint32_t modulus = 1, log = 0;
    Table tables[kSequenceTables];

    uint32_t used() const { return modulus > 1 ? kSequenceTables : kRemainders; }
    void fitLengths(const Counts* counts, uint32_t newLog);
    void fitOffsets(const Counts* counts, uint32_t newModulus); // call fitLengths first
    Description describe() const;
    // Returns the cost of all symbols, or UINT64_MAX if a symbol that occurs has no slot.
    uint64_t cost(const Counts* counts) const;
};

class PartEncoder {
public:
    void beginTile(const Effort& effort)
    {
        m_effort = effort;
        m_haveLiterals = m_haveSequences = false;
    }
    // Appends the part's words. Parts must come in the tile's order, since a part may use the
    // tables of an earlier one.
    void encode(const uint8_t* tile, const PartSequences& part, std::vector<uint16_t>& words);

    // Estimates how many words encode() would append.
    size_t estimate(const uint8_t* tile, const PartSequences& part);

private:
    struct Coded {
        Symbol literals, length;
        uint32_t repeat, offset; // `repeat` is SLUICE_GS_REPEATS for a new offset
    };
    // Tables for a part's sequences, and what tables and sequences cost together.
    struct FittedTables {
        uint64_t cost = UINT64_MAX;
        SequenceTables tables;
    };

    bool encodeCoded(const PartSequences& part, size_t most, std::vector<uint16_t>& words);
    void collect(const uint8_t* tile, const PartSequences& part);
    uint64_t chooseLiterals();
    uint64_t chooseSequences();
    uint64_t countOffsets(uint32_t modulus);
    void tryModulus(uint32_t modulus, SequenceTables& tables, FittedTables& best);
    template <typename Write>
    void forEachLiteral(Write write) const;
    void writeLiterals();
    void writeSequences();

    Effort m_effort = {};
    LaneWriter m_writer;

    // The part's literals and sequences, and how often symbols occur in them.
    std::vector<uint8_t> m_literals;
    std::vector<Coded> m_sequences;
    Counts m_literalCounts;
    Counts m_counts[kSequenceTables];
    uint64_t m_lengthBits = 0;          // extra bits of all lengths
    std::vector<uint32_t> m_newOffsets; // offsets that are not among the last three
    Counts m_repeats;                   // counts of the symbols that repeat an offset

    // The part's tables, which may be those of an earlier part.
    LiteralTables m_literalTables;
    SequenceTables m_sequenceTables;
    Description m_literalDescription, m_sequenceDescription;
    uint32_t m_literalMode = SLUICE_GS_LITERALS_PLAIN;
    bool m_reusesLiterals = false, m_reusesSequences = false;

    // The tables that were written last in this tile.
    bool m_haveLiterals = false, m_haveSequences = false;
    LiteralTables m_lastLiterals;
    SequenceTables m_lastSequences;
};

} // namespace sluice::gstd
