// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the parser of tile streams: whatever it accepts must lie inside the stream.
#include <sluice/sluice_formats.h>

#include <cstdlib>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    SluiceTileStream stream;
    if (sluiceParseTileStreamHeader(data, size, &stream) != SLUICE_OK) {
        return 0;
    }
    std::vector<SluiceTileStreamTile> tiles(stream.tileCount);
    // A copy of the exact size, so that sanitizers notice reads after its end.
    const std::vector<uint8_t> table(data + SLUICE_TILE_STREAM_HEADER_SIZE, data + size);
    if (sluiceParseTileStreamTable(&stream, table.data(), table.size(), size, tiles.data()) !=
        SLUICE_OK) {
        return 0;
    }
    uint64_t decoded = 0, end = stream.dataOffset;
    for (const SluiceTileStreamTile& tile : tiles) {
        if (tile.offset != end || tile.offset % 4 != 0 || tile.compressedSize == 0 ||
            tile.compressedSize > size - tile.offset || tile.size == 0 || tile.size > 65536) {
            std::abort();
        }
        end = tile.offset + tile.compressedSize;
        decoded += tile.size;
    }
    if (end != size || decoded != stream.size) {
        std::abort();
    }
    return 0;
}
