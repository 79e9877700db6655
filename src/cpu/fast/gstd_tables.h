// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of a part of a Gstd tile (docs/format.md, 7.3), which later parts may use too.
#pragma once

#include "cpu/fast/gstd_lanes.h"

namespace sluice::cpu::fast {

struct LiteralTable {
    bool isRead;
    uint32_t mode, log;
    uint32_t slots[1u << SLUICE_GS_MAX_LITERAL_LOG];
    // An entry is a symbol with the length of its code above it. There is one more, since entries
    // may be read as words.
    uint16_t codes[(1u << SLUICE_GS_MAX_CODE_LENGTH) + 1];
};

struct SequenceTables {
    bool isRead;
    uint32_t modulus, log;
    uint32_t literalLength[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
    uint32_t matchLength[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
    uint32_t offset[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
    uint32_t remainder[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
};

// Read the tables that come next in the lanes. Return whether they keep the rules.
bool readLiteralTable(Lanes& lanes, uint32_t mode, uint32_t log, LiteralTable& table);
bool readSequenceTables(Lanes& lanes, uint32_t modulus, uint32_t log, SequenceTables& tables);

} // namespace sluice::cpu::fast
