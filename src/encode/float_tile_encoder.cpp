// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles of codec FLOAT: each with a code of its own (docs/format.md 6.5).
#include <sluice/sluice_float.h>

#include "float_tile_encoder.h"

#include <algorithm>

#include "../formats/archive_layout.h"
#include "../formats/float_tile.h"

namespace sluice {

using namespace floats;

SluiceStatus FloatTileEncoder::encode(const SluiceArchiveSegment& segment, const uint8_t* bytes,
                                      uint32_t size, std::vector<uint8_t>& out)
{
    const uint32_t type = segment.floatType, elementBytes = sluiceFloatElementSize(type);
    const uint32_t elements = size / elementBytes;
    out.clear();
    const TileParts parts = tilePartsOf(type, elements);
    if (size % elementBytes != 0 || parts.words >= size) {
        return SLUICE_OK; // a tail of the segment, or too small to get smaller
    }
    out.reserve(size); // it stays smaller
    out.resize(size_t(parts.words));
    uint64_t histogram[256] = {};
    uint8_t* lengths = out.data() + parts.lengths;
    SluiceStatus status = sluiceFloatCountSymbols(type, bytes, elements, histogram);
    if (status == SLUICE_OK) {
        status = sluiceFloatCodeLengths(histogram, lengths);
    }
    if (status == SLUICE_OK) {
        status = sluiceFloatPackRaw(type, elements, bytes, 0, elements, out.data() + parts.raw);
    }
    uint32_t wordsEnd = 0; // in units of the index
    for (uint32_t first = 0; status == SLUICE_OK && first < elements; first += kTile) {
        uint32_t count = 0;
        status = sluiceFloatEncodeTile(
            type, out.data() + parts.lengths, bytes + size_t(first) * elementBytes,
            std::min(kTile, elements - first), words_, SLUICE_FLOAT_TILE_BOUND, &count);
        if (out.size() + size_t(count) * 4 >= size) {
            out.clear(); // no gain
            return status;
        }
        // little-endian, as all that we run on
        const uint8_t* from = reinterpret_cast<const uint8_t*>(words_);
        out.insert(out.end(), from, from + size_t(count) * 4);
        wordsEnd += count * 4 / kUnit;
        storeLe32(out.data() + parts.index + (first / kTile + 1) * 4, wordsEnd);
    }
    storeLe32(out.data() + tileType, type);
    storeLe32(out.data() + tileElements, elements);
    storeLe32(out.data() + tileWordsSize, wordsEnd * kUnit);
    return status;
}

} // namespace sluice
