// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_float.h>

#include "float_tile_encoder.h"

#include <algorithm>

#include "../formats/float_tile.h"
#include "../formats/little_endian.h"

namespace sluice {

using namespace floats;

SluiceStatus FloatTileEncoder::encode(const SluiceArchiveSegment& segment, const u8* bytes,
                                      u32 size, std::vector<u8>& out)
{
    const u32 type = segment.floatType, elementBytes = sluiceFloatElementSize(type);
    const u32 elements = size / elementBytes;
    out.clear();
    const TileParts parts = tilePartsOf(type, elements);
    // A segment's tail is no whole element, and the tables alone may be too large.
    if (size % elementBytes != 0 || parts.words >= size) return SLUICE_OK;
    out.reserve(size); // it stays smaller
    out.resize(size_t(parts.words));
    u64 histogram[256] = {};
    SluiceStatus status = sluiceFloatCountSymbols(type, bytes, elements, histogram);
    if (status == SLUICE_OK) status = sluiceFloatCodeLengths(histogram, out.data() + parts.lengths);
    if (status == SLUICE_OK)
        status = sluiceFloatPackRaw(type, elements, bytes, 0, elements, out.data() + parts.raw);
    u32 wordsEnd = 0; // in units of the index
    for (u32 first = 0; status == SLUICE_OK && first < elements; first += kTile) {
        u32 count = 0;
        status = sluiceFloatEncodeTile(
            type, out.data() + parts.lengths, bytes + size_t(first) * elementBytes,
            std::min(kTile, elements - first), m_words, SLUICE_FLOAT_TILE_BOUND, &count);
        const size_t at = out.size();
        if (at + size_t(count) * 4 >= size) {
            out.clear(); // no gain
            return status;
        }
        out.resize(at + size_t(count) * 4);
        for (u32 i = 0; i < count; ++i)
            storeLe32(out.data() + at + 4 * i, m_words[i]);
        wordsEnd += count * 4 / kUnit;
        storeLe32(out.data() + parts.index + (first / kTile + 1) * 4, wordsEnd);
    }
    storeLe32(out.data() + tileType, type);
    storeLe32(out.data() + tileElements, elements);
    storeLe32(out.data() + tileWordsSize, wordsEnd * kUnit);
    return status;
}

} // namespace sluice
