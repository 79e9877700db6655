// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of a part of a Gstd tile (docs/format.md, 7.3), which later parts may use too.
#pragma once

#include "cpu/fast/gstd_lanes.h"

namespace sluice::cpu::fast {

struct LiteralTable {
    bool isRead;
    u32 mode, log;
    u32 slots[1u << SLUICE_GS_MAX_LITERAL_LOG];
    // An entry is a symbol with the length of its code above it. There is one more, since entries
    // may be read as words.
    u16 codes[(1u << SLUICE_GS_MAX_CODE_LENGTH) + 1];
};

struct SequenceTables {
    bool isRead;
    u32 modulus, log;
    u32 literalLength[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
    u32 matchLength[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
    u32 offset[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
    u32 remainder[1u << SLUICE_GS_MAX_SEQUENCE_LOG];
};

// Read the tables that come next in the lanes. Return whether they keep the rules.
bool readLiteralTable(Lanes& lanes, u32 mode, u32 log, LiteralTable& table);
bool readSequenceTables(Lanes& lanes, u32 modulus, u32 log, SequenceTables& tables);

} // namespace sluice::cpu::fast
