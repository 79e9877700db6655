// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout of a stored tile of codec FLOAT (docs/format.md, 6.5).
#pragma once

#include <sluice/sluice_float.h>

#include "formats/float_format.h"

namespace sluice::floats {

// Byte offsets of the fields in the head of a stored tile.
enum TileField : uint32_t {
    tileType = 0,      // u32: SluiceFloatType
    tileElements = 4,  // u32
    tileWordsSize = 8, // u32: bytes
    tileReserved = 12, // u32: 0
    tileHeaderBytes = 16,
};

// Offsets in a stored tile of the parts that follow the head. They are multiples of 16.
struct TileParts {
    uint64_t lengths, index, raw, words;
};
inline TileParts tilePartsOf(uint32_t type, uint64_t elements)
{
    TileParts parts = {};
    parts.lengths = tileHeaderBytes;
    parts.index = parts.lengths + SLUICE_FLOAT_LENGTHS_SIZE;
    parts.raw = parts.index + aligned16((tileCount(elements) + 1) * 4);
    parts.words = parts.raw + rawBytes(layoutOf(type), elements);
    return parts;
}

} // namespace sluice::floats
