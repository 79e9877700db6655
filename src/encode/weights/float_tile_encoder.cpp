// SPDX-License-Identifier: MIT OR Apache-2.0

#include "encode/weights/float_tile_encoder.h"

#include <algorithm>

#include "formats/float_tile.h"
#include "formats/little_endian.h"

namespace sluice {

using namespace floats;

SluiceStatus FloatTileEncoder::encode(const SluiceArchiveSegment& segment, const uint8_t* bytes,
                                      uint32_t size, std::vector<uint8_t>& out)
{
    const uint32_t type = segment.floatType, elementBytes = sluiceFloatElementSize(type);
    const uint32_t elements = size / elementBytes;
    out.clear();
    const TileParts parts = tilePartsOf(type, elements);
    // Store the tile unencoded (`out` stays empty) if it ends inside an element, as a segment's
    // last tile may, or if the tables alone are too large.
    if (size % elementBytes != 0 || parts.words >= size) return SLUICE_OK;
    out.reserve(size); // a larger result is given up
    out.resize(size_t(parts.words));
    uint64_t histogram[256] = {};
    SluiceStatus status = sluiceFloatCountSymbols(type, bytes, elements, histogram);
    if (status == SLUICE_OK) status = sluiceFloatCodeLengths(histogram, out.data() + parts.lengths);
    if (status == SLUICE_OK)
        status = sluiceFloatPackRaw(type, elements, bytes, 0, elements, out.data() + parts.raw);
    uint32_t wordsEnd = 0; // in units of kUnit bytes
    for (uint32_t first = 0; status == SLUICE_OK && first < elements; first += kTile) {
        uint32_t count = 0;
        status = sluiceFloatEncodeTile(
            type, out.data() + parts.lengths, bytes + size_t(first) * elementBytes,
            std::min(kTile, elements - first), m_words, SLUICE_FLOAT_TILE_BOUND, &count);
        const size_t at = out.size();
        if (at + size_t(count) * 4 >= size) {
            out.clear(); // not smaller than the plain bytes
            return status;
        }
        out.resize(at + size_t(count) * 4);
        for (uint32_t i = 0; i < count; ++i)
            storeLe32(out.data() + at + 4 * i, m_words[i]);
        wordsEnd += count * 4 / kUnit;
        storeLe32(out.data() + parts.index + (first / kTile + 1) * 4, wordsEnd);
    }
    storeLe32(out.data() + tileType, type);
    storeLe32(out.data() + tileElements, elements);
    storeLe32(out.data() + tileWordsSize, wordsEnd * kUnit);
    return status;
}

SluiceStatus FloatTensor::encode(uint32_t elementType, const uint8_t* elements,
                                 uint64_t elementCount)
{
    type = elementType;
    count = elementCount;
    lengths.resize(SLUICE_FLOAT_LENGTHS_SIZE);
    raw.resize(size_t(sluiceFloatRawSize(type, count)));
    words.clear();
    index.assign(1, 0);
    uint64_t histogram[256] = {};
    SluiceStatus status = sluiceFloatCountSymbols(type, elements, count, histogram);
    if (status == SLUICE_OK) status = sluiceFloatCodeLengths(histogram, lengths.data());
    for (uint64_t first = 0; status == SLUICE_OK && first < count; first += kTile) {
        uint32_t tile[SLUICE_FLOAT_TILE_BOUND], used = 0;
        status = sluiceFloatEncodeTile(type, lengths.data(),
                                       elements + first * sluiceFloatElementSize(type),
                                       uint32_t(std::min<uint64_t>(kTile, count - first)), tile,
                                       SLUICE_FLOAT_TILE_BOUND, &used);
        words.insert(words.end(), tile, tile + used);
        index.push_back(uint32_t(words.size() * 4 / kUnit));
    }
    return status == SLUICE_OK ? sluiceFloatPackRaw(type, count, elements, 0, count, raw.data())
                               : status;
}

SluiceFloatTensor FloatTensor::appendTo(std::vector<uint8_t>& source) const
{
    const auto append = [&](const auto& part) {
        const uint64_t at = source.size();
        const uint8_t* bytes = reinterpret_cast<const uint8_t*>(part.data());
        source.insert(source.end(), bytes, bytes + part.size() * sizeof part[0]);
        source.resize((source.size() + 15) / 16 * 16);
        return at;
    };
    SluiceFloatTensor tensor = {};
    tensor.words = append(words);
    tensor.wordsSize = words.size() * 4;
    tensor.index = append(index);
    tensor.lengths = append(lengths);
    tensor.raw = append(raw);
    tensor.count = count;
    tensor.type = type;
    return tensor;
}

} // namespace sluice
