// SPDX-License-Identifier: MIT OR Apache-2.0
// The DirectStorage tile stream: header and tile table.
#include <sluice/sluice_formats.h>

#include "xxh32.h"

namespace {

constexpr uint32_t tileBytes = 65536;
constexpr uint32_t maxCompressedTile = 131072;

} // namespace

SluiceStatus sluiceParseTileStreamHeader(const void* bytes, size_t size, SluiceTileStream* stream)
{
    if ((bytes == nullptr && size != 0) || stream == nullptr) {
        return SLUICE_ERROR_ARGUMENT;
    }
    if (size < SLUICE_TILE_STREAM_HEADER_SIZE) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    // u8 id = 4, u8 id ^ 0xff, u16 tile count; tile size index : 2, last tile's size : 18, reserved : 12
    const uint32_t first = sluice::loadLe32(bytes);
    const uint32_t second = sluice::loadLe32(static_cast<const uint8_t*>(bytes) + 4);
    const uint32_t tileCount = first >> 16;
    const uint32_t lastTileSize = second >> 2 & 0x3ffff; // 0 means a full tile
    if ((first & 0xffff) != 0xfb04 || (second & 3) != 1 || second >> 20 != 0 || lastTileSize > tileBytes) {
        return SLUICE_ERROR_FORMAT;
    }
    if (tileCount == 0 && lastTileSize != 0) {
        return SLUICE_ERROR_FORMAT;
    }
    stream->tileCount = tileCount;
    stream->size = uint64_t(tileCount) * tileBytes - (lastTileSize == 0 ? 0 : tileBytes - lastTileSize);
    stream->dataOffset = SLUICE_TILE_STREAM_HEADER_SIZE + uint64_t(tileCount) * 4;
    return SLUICE_OK;
}

SluiceStatus sluiceParseTileStreamTable(const SluiceTileStream* stream, const void* table, size_t tableSize,
                                        uint64_t streamSize, SluiceTileStreamTile* tiles)
{
    if (stream == nullptr || stream->tileCount > SLUICE_TILE_STREAM_MAX_TILES) {
        return SLUICE_ERROR_ARGUMENT;
    }
    const uint32_t count = stream->tileCount;
    if (count == 0) {
        return streamSize == stream->dataOffset ? SLUICE_OK : SLUICE_ERROR_FORMAT;
    }
    if (table == nullptr || tiles == nullptr) {
        return SLUICE_ERROR_ARGUMENT;
    }
    if (tableSize / 4 < count || streamSize < stream->dataOffset) {
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    // Entry 0 is the compressed size of the last tile; entry i > 0 is tile i's offset in the data; tile 0 starts at 0.
    const uint8_t* entries = static_cast<const uint8_t*>(table);
    const uint32_t lastSize = sluice::loadLe32(entries);
    uint64_t offset = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t end = i + 1 < count ? sluice::loadLe32(entries + size_t(i + 1) * 4) : offset + lastSize;
        if (end <= offset || end - offset > maxCompressedTile || (i + 1 < count && end % 4 != 0)) {
            return SLUICE_ERROR_FORMAT;
        }
        tiles[i].offset = stream->dataOffset + offset;
        tiles[i].compressedSize = uint32_t(end - offset);
        tiles[i].size = i + 1 < count ? tileBytes : uint32_t(stream->size - uint64_t(i) * tileBytes);
        offset = end;
    }
    const uint64_t end = stream->dataOffset + offset;
    return end == streamSize ? SLUICE_OK : end > streamSize ? SLUICE_ERROR_BUFFER_SIZE : SLUICE_ERROR_FORMAT;
}
