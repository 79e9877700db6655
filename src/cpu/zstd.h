// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference decoder for Zstandard frames.
#pragma once

#include "formats/zstd_tables.h"

namespace sluice::cpu {

// An error in an earlier phase takes precedence over one in a later phase (docs/format.md, 12.3).
enum class ZstdPhase {
    structure,
    tables,
    symbols,
    output
};

struct ZstdOutcome {
    uint32_t status = SLUICE_ST_OK; // SLUICE_ST_...
    // Where the first fault is: its phase, and how many blocks of the region precede its block. Both
    // are 0 if there is none.
    ZstdPhase phase = ZstdPhase::structure;
    uint32_t block = 0;
    uint64_t bytes = 0; // of the output, in blocks without a fault at its start
};

struct ZstdRegion {
    const uint8_t* source;
    size_t sourceSize;
    uint8_t* destination;                         // may be NULL if size is 0
    size_t size;                                  // exactly what the frames decode to
    bool checksums = true;                        // checked where frames have them
    const zstd::Dictionary* dictionary = nullptr; // may be NULL
};

// Decodes one or more frames, with skippable ones between them.
ZstdOutcome decodeZstd(const ZstdRegion& region);

} // namespace sluice::cpu
