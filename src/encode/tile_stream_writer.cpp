// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes DirectStorage tile streams.
#include <sluice/sluice_archive.h>

#include <new>
#include <system_error>

#include "../formats/archive_layout.h"
#include "tile_pool.h"

namespace sluice {
namespace {

SluiceStatus writeStream(const SluiceTileStreamWriteInfo& info, uint64_t& streamSize)
{
    TilePool pool;
    SluiceStatus status = pool.start(SLUICE_CODEC_GDEFLATE, {info.level, info.decodeSpeed}, info.threadCount);
    if (status != SLUICE_OK) {
        return status;
    }
    const uint32_t tileCount = uint32_t((info.size + poolTileBytes - 1) / poolTileBytes);
    const uint32_t lastTileSize = uint32_t(info.size % poolTileBytes); // 0 stands for a full tile
    std::vector<uint8_t> head(SLUICE_TILE_STREAM_HEADER_SIZE + size_t(tileCount) * 4);
    storeLe32(head.data(), 0xfb04 | tileCount << 16);
    storeLe32(head.data() + 4, 1 | lastTileSize << 2);
    uint8_t* table = head.data() + SLUICE_TILE_STREAM_HEADER_SIZE;

    uint64_t dataSize = 0;
    uint64_t left = info.size;
    for (uint32_t written = 0; written < tileCount; ++written) {
        while (left != 0 && !pool.full()) {
            TilePool::Tile& tile = pool.next();
            tile.size = uint32_t(left < poolTileBytes ? left : poolTileBytes);
            status = info.read(info.readUser, tile.input.data(), tile.size);
            if (status != SLUICE_OK) {
                return status;
            }
            left -= tile.size;
            pool.submit();
        }
        const TilePool::Tile& tile = pool.oldest();
        if (tile.status != SLUICE_OK) {
            return tile.status;
        }
        if (dataSize + tile.encodedSize > UINT32_MAX) {
            return SLUICE_ERROR_UNSUPPORTED;
        }
        // Entry i > 0 is the tile's offset; entry 0 is the last tile's size.
        if (written > 0) {
            storeLe32(table + size_t(written) * 4, uint32_t(dataSize));
        }
        if (written + 1 == tileCount) {
            storeLe32(table, tile.encodedSize);
        }
        status = info.write(info.writeUser, head.size() + dataSize, tile.output.data(), tile.encodedSize);
        if (status != SLUICE_OK) {
            return status;
        }
        dataSize += tile.encodedSize;
        pool.release();
    }
    streamSize = head.size() + dataSize;
    return info.write(info.writeUser, 0, head.data(), head.size());
}

} // namespace
} // namespace sluice

SluiceStatus sluiceWriteTileStream(const SluiceTileStreamWriteInfo* info, uint64_t* streamSize)
{
    if (info == nullptr || info->read == nullptr || info->write == nullptr ||
        info->size > uint64_t(SLUICE_TILE_STREAM_MAX_TILES) * sluice::poolTileBytes) {
        return SLUICE_ERROR_ARGUMENT;
    }
    try {
        uint64_t size = 0;
        const SluiceStatus status = sluice::writeStream(*info, size);
        if (streamSize != nullptr) {
            *streamSize = size;
        }
        return status;
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    } catch (const std::system_error&) { // no thread to be had
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}
