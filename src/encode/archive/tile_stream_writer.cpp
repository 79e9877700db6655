// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes DirectStorage tile streams.
#include "formats/errors.h"
#include "formats/tile_stream.h"
#include "encode/archive/tile_pool.h"

namespace sluice {
namespace {

constexpr uint32_t kTileBytes = SLUICE_GD_TILE_BYTES;

SluiceStatus writeStream(const SluiceTileStreamWriteInfo& info, uint64_t& streamSize)
{
    const SluiceArchiveSegment segment = {
        info.size, SLUICE_CODEC_GDEFLATE, kTileBytes, info.level, info.decodeSpeed, 0, 0, 0, 0};
    if (!isEncodable(segment)) return SLUICE_ERROR_ARGUMENT;
    SluiceStatus status = SLUICE_OK;
    TilePool pool;
    pool.start(info.threadCount, nullptr, false);
    const uint32_t tileCount = uint32_t(divideUp<uint64_t>(info.size, kTileBytes));
    const uint32_t lastTileSize = uint32_t(info.size % kTileBytes); // 0 means a full tile
    std::vector<uint8_t> head(SLUICE_TILE_STREAM_HEADER_SIZE + size_t(tileCount) * 4);
    storeLe32(head.data(), kTileStreamId | tileCount << 16);
    storeLe32(head.data() + 4, 1 | lastTileSize << 2);
    uint8_t* table = head.data() + SLUICE_TILE_STREAM_HEADER_SIZE;

    uint64_t dataSize = 0;
    uint64_t left = info.size;
    for (uint32_t written = 0; written < tileCount; ++written) {
        while (left != 0 && !pool.full()) {
            TilePool::Tile& tile = pool.next();
            tile.segment = segment;
            uint8_t* input = tile.resize(nextTileSize(segment, left));
            status = info.read(info.readUser, input, tile.size);
            if (status != SLUICE_OK) return status;
            left -= tile.size;
            pool.submit();
        }
        const TilePool::Tile& tile = pool.oldest();
        if (tile.status != SLUICE_OK) return tile.status;
        if (dataSize + tile.output.size() > UINT32_MAX) return SLUICE_ERROR_UNSUPPORTED;
        // Entry i > 0 of the table is the offset of tile i. Entry 0 is the size of the last tile.
        if (written > 0) storeLe32(table + size_t(written) * 4, uint32_t(dataSize));
        if (written + 1 == tileCount) storeLe32(table, uint32_t(tile.output.size()));
        status = info.write(info.writeUser, head.size() + dataSize, tile.output.data(),
                            tile.output.size());
        if (status != SLUICE_OK) return status;
        dataSize += tile.output.size();
        pool.release();
    }
    streamSize = head.size() + dataSize;
    return info.write(info.writeUser, 0, head.data(), head.size());
}

} // namespace
} // namespace sluice

using namespace sluice;

SluiceStatus sluiceWriteTileStream(const SluiceTileStreamWriteInfo* info, uint64_t* streamSize)
{
    if (info == nullptr || info->read == nullptr || info->write == nullptr ||
        info->size > uint64_t(SLUICE_TILE_STREAM_MAX_TILES) * kTileBytes)
        return SLUICE_ERROR_ARGUMENT;
    uint64_t size = 0;
    const SluiceStatus status = withoutExceptions([&] { return writeStream(*info, size); });
    if (streamSize != nullptr) *streamSize = size;
    return status;
}
