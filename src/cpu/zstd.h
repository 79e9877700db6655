// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference decoder for Zstandard frames.
#pragma once

#include "formats/zstd_tables.h"

namespace sluice::cpu {

// The phases of decoding. If a region has several errors, its status is that of the earliest phase
// (docs/format.md, 12.3).
enum class ZstdPhase {
    structure,
    tables,
    symbols,
    output
};

struct ZstdOutcome {
    uint32_t status = SLUICE_ST_OK; // SLUICE_ST_...
    // Where the error is: its phase, and the index of the faulty block among the region's blocks.
    // Both are 0 if there is no error.
    ZstdPhase phase = ZstdPhase::structure;
    uint32_t block = 0;
    uint64_t bytes = 0; // bytes of output from the blocks before the first one with an error
};

struct ZstdRegion {
    const uint8_t* source;
    size_t sourceSize;
    uint8_t* destination;  // may be NULL if size is 0
    size_t size;           // the frames must decode to exactly this many bytes
    bool checksums = true; // compare the checksums that frames have
    const zstd::Dictionary* dictionary = nullptr; // may be NULL
    uint32_t maxBlocks = UINT32_MAX;              // limit of the region's blocks
};

// Decodes one or more frames. Skippable frames may stand before, between and after them.
ZstdOutcome decodeZstd(const ZstdRegion& region);

} // namespace sluice::cpu
