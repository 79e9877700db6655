// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <vector>

#include <sluice/sluice_archive.h>
#include <sluice/sluice_float.h>

#include "formats/integers.h"

namespace sluice {

// Encodes tiles of codec FLOAT, each with a code of its own (docs/format.md 6.5).
class FloatTileEncoder {
public:
    // Encodes one tile. `out` becomes empty if the encoded tile would not be smaller than the tile.
    SluiceStatus encode(const SluiceArchiveSegment& segment, const uint8_t* bytes, uint32_t size,
                        std::vector<uint8_t>& out);

private:
    uint32_t m_words[SLUICE_FLOAT_TILE_BOUND];
};

// A whole tensor as sluice_float.h wants it: the code lengths, the raw bits, the words, and an
// index of where the words of each tile begin.
struct FloatTensor {
    uint32_t type = 0;
    uint64_t count = 0;
    std::vector<uint8_t> lengths, raw;
    std::vector<uint32_t> words, index;

    SluiceStatus encode(uint32_t elementType, const uint8_t* elements, uint64_t elementCount);
    // Appends the four arrays to `source`, each at a multiple of 16 bytes. Sets the offsets, type
    // and count of the result; the caller sets the rest.
    SluiceFloatTensor appendTo(std::vector<uint8_t>& source) const;
};

} // namespace sluice
