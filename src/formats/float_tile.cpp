// SPDX-License-Identifier: MIT OR Apache-2.0
// Parses the head of a stored tile of codec FLOAT.

#include "formats/float_tile.h"

#include "formats/archive_layout.h"

using namespace sluice;
using namespace sluice::floats;

SluiceStatus sluiceParseFloatTile(const void* bytes, size_t storedSize, uint32_t size,
                                  SluiceFloatTensor* tensor)
{
    if (bytes == nullptr || tensor == nullptr) return SLUICE_ERROR_ARGUMENT;
    if (storedSize < tileHeaderBytes) return SLUICE_ERROR_BUFFER_SIZE;
    const uint8_t* header = static_cast<const uint8_t*>(bytes);
    const uint32_t type = loadLe32(header + tileType), elements = loadLe32(header + tileElements);
    const uint32_t wordsSize = loadLe32(header + tileWordsSize);
    if (type >= SLUICE_FLOAT_TYPE_COUNT || elements == 0 ||
        size > maxTileBytes(SLUICE_CODEC_FLOAT) || wordsSize % kUnit != 0 ||
        uint64_t(elements) * layoutOf(type).bytes != size || loadLe32(header + tileReserved) != 0)
        return SLUICE_ERROR_FORMAT;
    const TileParts parts = tilePartsOf(type, elements);
    const uint64_t end = parts.words + wordsSize;
    if (end != storedSize) return storedSize < end ? SLUICE_ERROR_BUFFER_SIZE : SLUICE_ERROR_FORMAT;
    *tensor = {};
    tensor->words = parts.words;
    tensor->wordsSize = wordsSize;
    tensor->index = parts.index;
    tensor->lengths = parts.lengths;
    tensor->raw = parts.raw;
    tensor->count = elements;
    tensor->type = type;
    return SLUICE_OK;
}
