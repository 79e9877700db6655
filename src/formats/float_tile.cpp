// SPDX-License-Identifier: MIT OR Apache-2.0
// The stored tile of codec FLOAT.
#include <sluice/sluice_float.h>
#include <sluice/sluice_formats.h>

#include "archive_layout.h"
#include "float_tile.h"

SluiceStatus sluiceParseFloatTile(const void* bytes, size_t storedSize, uint32_t size,
                                  SluiceFloatTensor* tensor)
{
    using namespace sluice;
    using namespace sluice::floats;
    if (bytes == nullptr || tensor == nullptr) {
        return SLUICE_ERROR_ARGUMENT;
    }
    if (storedSize < tileHeaderBytes) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    const uint8_t* header = static_cast<const uint8_t*>(bytes);
    const uint32_t type = loadLe32(header + tileType), elements = loadLe32(header + tileElements);
    const uint32_t wordsSize = loadLe32(header + tileWordsSize);
    if (type >= SLUICE_FLOAT_TYPE_COUNT || elements == 0 || size > kMaxTileBytes ||
        wordsSize % kUnit != 0 || uint64_t(elements) * layoutOf(type).bytes != size ||
        loadLe32(header + tileReserved) != 0) {
        return SLUICE_ERROR_FORMAT;
    }
    const TileParts parts = tilePartsOf(type, elements);
    if (parts.words + wordsSize != storedSize) {
        return storedSize < parts.words + wordsSize ? SLUICE_ERROR_BUFFER_SIZE
                                                    : SLUICE_ERROR_FORMAT;
    }
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
