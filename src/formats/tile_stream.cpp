// SPDX-License-Identifier: MIT OR Apache-2.0
// Parses the header and tile table of a DirectStorage tile stream.
#include "formats/tile_stream.h"

#include "layout/tile_streams.h"

using namespace sluice;

SluiceStatus sluiceParseTileStreamHeader(const void* bytes, size_t size, SluiceTileStream* stream)
{
    if ((bytes == nullptr && size != 0) || stream == nullptr) return SLUICE_ERROR_ARGUMENT;
    if (size < SLUICE_TILE_STREAM_HEADER_SIZE) return SLUICE_ERROR_BUFFER_SIZE;
    // Bits of the first word, from the lowest on: 16 of the identifier, 16 of the number of tiles.
    // Bits of the second word: 2 of the tile size (must be 1, which means 64 KiB), 18 of the last
    // tile's size, 12 reserved.
    const uint32_t first = loadLe32(bytes),
                   second = loadLe32(static_cast<const uint8_t*>(bytes) + 4);
    const uint32_t tileCount = first >> 16;
    const uint32_t lastTileSize = second >> 2 & 0x3ffff; // 0 means a full tile
    if (((first ^ (first >> 8)) & 0xff) != 0xff) return SLUICE_ERROR_FORMAT;
    if ((second & 3) != SLUICE_STREAM_TILE_SIZE_INDEX) return SLUICE_ERROR_VERSION;
    if (second >> 20 != 0 || lastTileSize > SLUICE_GD_TILE_BYTES ||
        (tileCount == 0 && lastTileSize != 0))
        return SLUICE_ERROR_FORMAT;
    stream->tileCount = tileCount;
    stream->size = uint64_t(tileCount) * SLUICE_GD_TILE_BYTES -
                   (lastTileSize == 0 ? 0 : SLUICE_GD_TILE_BYTES - lastTileSize);
    stream->dataOffset = SLUICE_TILE_STREAM_HEADER_SIZE + uint64_t(tileCount) * 4;
    return SLUICE_OK;
}

SluiceStatus sluiceParseTileStreamTable(const SluiceTileStream* stream, const void* table,
                                        size_t tableSize, uint64_t streamSize,
                                        SluiceTileStreamTile* tiles)
{
    if (stream == nullptr || stream->tileCount > SLUICE_TILE_STREAM_MAX_TILES)
        return SLUICE_ERROR_ARGUMENT;
    const uint32_t count = stream->tileCount;
    if (count == 0) return streamSize == stream->dataOffset ? SLUICE_OK : SLUICE_ERROR_FORMAT;
    if (table == nullptr || tiles == nullptr) return SLUICE_ERROR_ARGUMENT;
    if (tableSize / 4 < count || streamSize < stream->dataOffset) return SLUICE_ERROR_BUFFER_SIZE;
    return walkTileTable(
        *stream, static_cast<const uint8_t*>(table), streamSize, false,
        [tiles](uint32_t i, const SluiceTileStreamTile& tile) { tiles[i] = tile; });
}
