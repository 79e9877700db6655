// SPDX-License-Identifier: MIT OR Apache-2.0
// Parses the stored tile of codec FLOAT.
#include <sluice/sluice_float.h>

#include "formats/float_tile.h"

#include "formats/archive_layout.h"

using namespace sluice;
using namespace sluice::floats;

SluiceStatus sluiceParseFloatTile(const void* bytes, size_t storedSize, uint32_t size,
                                  SluiceFloatTensor* tensor)
{
    if (bytes == nullptr || tensor == nullptr) return SLUICE_ERROR_ARGUMENT;
    if (storedSize < tileHeaderBytes) return SLUICE_ERROR_BUFFER_SIZE;
    const u8* header = static_cast<const u8*>(bytes);
    const u32 type = loadLe32(header + tileType), elements = loadLe32(header + tileElements);
    const u32 wordsSize = loadLe32(header + tileWordsSize);
    if (type >= SLUICE_FLOAT_TYPE_COUNT || elements == 0 ||
        size > maxTileBytes(SLUICE_CODEC_FLOAT) || wordsSize % kUnit != 0 ||
        u64(elements) * layoutOf(type).bytes != size || loadLe32(header + tileReserved) != 0)
        return SLUICE_ERROR_FORMAT;
    const TileParts parts = tilePartsOf(type, elements);
    const u64 end = parts.words + wordsSize;
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
