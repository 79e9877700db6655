// SPDX-License-Identifier: MIT OR Apache-2.0
// One part of a Gstd tile: which tables it uses, what it costs in each form, and its words.
#pragma once

#include "gstd_sequences.h"
#include "gstd_tables.h"

#include <array>

namespace sluice::gstd {

// How much is tried.
struct Effort {
    uint32_t firstLiteralLog, lastLiteralLog;
    uint32_t firstSequenceLog, lastSequenceLog;
    bool allModuli;
};

// A length or offset as a symbol and the bits that follow it.
struct Symbol {
    uint32_t symbol, value, bits;
};

struct LiteralTables {
    uint32_t mode = SLUICE_GS_LITERALS_PLAIN;
    Table table;
    Code code;
};

struct SequenceTables {
    uint32_t modulus = 1, log = 0;
    Table literalLength, matchLength, offset, remainder;
};

class PartEncoder {
public:
    explicit PartEncoder(const Effort& effort) : effort_(effort) {}

    void beginTile() { haveLiterals_ = haveSequences_ = false; }
    // Appends the part's words. Parts come in the tile's order, since one may use the tables of
    // those before.
    void encode(const uint8_t* tile, const PartSequences& part, std::vector<uint16_t>& words);

private:
    struct Coded {
        Symbol literals, length;
        uint32_t repeat, offset; // SLUICE_GS_REPEATS: none of them
    };

    void encodePlain(const uint8_t* bytes, uint32_t size, std::vector<uint16_t>& words) const;
    bool encodeCoded(const PartSequences& part, size_t most, std::vector<uint16_t>& words);
    void collect(const uint8_t* tile, const PartSequences& part);
    uint64_t chooseLiterals();
    uint64_t chooseSequences();
    uint64_t countOffsets(uint32_t modulus, Counts& offsets, Counts& remainders) const;
    uint64_t tryModulus(uint32_t modulus, SequenceTables& tables);
    void writeLiterals();
    void writeSequences();

    Effort effort_;
    LaneWriter writer_;

    // The part
    std::vector<uint8_t> literals_;
    std::vector<Coded> sequences_;
    Counts literalCounts_, literalLengths_, matchLengths_;
    uint64_t lengthBits_ = 0; // extra bits
    uint32_t newOffsets_ = 0;

    // Its tables, and whether they are those of an earlier part
    LiteralTables literalTables_;
    SequenceTables sequenceTables_;
    Description literalDescription_, sequenceDescription_;
    uint32_t literalMode_ = SLUICE_GS_LITERALS_PLAIN;
    bool oldLiterals_ = false, oldSequences_ = false;

    // What was described last in this tile
    bool haveLiterals_ = false, haveSequences_ = false;
    LiteralTables lastLiterals_;
    SequenceTables lastSequences_;
};

} // namespace sluice::gstd
