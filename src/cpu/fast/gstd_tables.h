// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of a Gstd part (docs/format.md, 7.3). They are kept after the part, since later parts
// of the tile may use them again. A table has 2^log slots.
#pragma once

#include "cpu/fast/gstd_lanes.h"

namespace sluice::cpu::fast {

// The table of literals: `slots` or, if the mode is SLUICE_GS_LITERALS_HUFFMAN, `codes`.
struct LiteralTable {
    bool isRead; // a part of this tile has had such a table
    uint32_t mode, log;
    uint32_t slots[1u << SLUICE_GS_MAX_LITERAL_LOG];
    // For each value of the next SLUICE_GS_MAX_CODE_LENGTH bits: the symbol in bits 0 to 7, and the
    // length of its code above. There is an unused entry at the end, because AVX2 loads four bytes
    // to get an entry of two.
    uint16_t codes[(1u << SLUICE_GS_MAX_CODE_LENGTH) + 1];
};

// The tables of sequences, which all have 2^log slots. Without remainders (modulus 1) the table of
// remainders is not used.
struct SequenceTables {
    bool isRead;
    uint32_t modulus, log;
    uint32_t literalLength[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
    uint32_t matchLength[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
    uint32_t offset[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
    uint32_t remainder[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
};

// Read the next tables of a part from its lanes: the table of literals, or the tables of sequences.
// Return false if a table breaks a rule of the format.
bool readLiteralTable(Lanes& lanes, uint32_t mode, uint32_t log, LiteralTable& table);
bool readSequenceTables(Lanes& lanes, uint32_t modulus, uint32_t log, SequenceTables& tables);

} // namespace sluice::cpu::fast
