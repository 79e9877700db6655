// SPDX-License-Identifier: MIT OR Apache-2.0
// The rules of a tile stream's table, for the parser and for the CPU reference of
// sluiceCmdTileStreams.
#pragma once

#include <sluice/sluice_formats.h>

#include "layout/gdeflate.h"
#include "formats/little_endian.h"

namespace sluice {

// The low half of the first word of the headers that we write: in the low byte 4, the number of the
// format, and in the high byte its complement. Readers accept any low byte whose complement
// follows, since other writers use other numbers.
constexpr uint32_t kTileStreamId = 0xfb04;

// Calls take(i, tile) for each tile in order, until a tile breaks a rule. `entries` has 4 *
// stream.tileCount bytes. bytesMayFollow: the stream may end before streamSize. Errors: FORMAT,
// BUFFER_SIZE (tiles reach past streamSize).
template <typename Take>
SluiceStatus walkTileTable(const SluiceTileStream& stream, const uint8_t* entries,
                           uint64_t streamSize, bool bytesMayFollow, Take take)
{
    const uint32_t count = stream.tileCount;
    // Entry 0 is the compressed size of the last tile. Entry i > 0 is the offset of tile i in the
    // data; tile 0 begins at 0.
    uint64_t offset = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const bool last = i + 1 == count;
        const uint64_t end =
            last ? offset + loadLe32(entries) : loadLe32(entries + size_t(i + 1) * 4);
        if (end <= offset || end - offset > SLUICE_GD_MAX_COMPRESSED || (!last && end % 4 != 0))
            return SLUICE_ERROR_FORMAT;
        SluiceTileStreamTile tile;
        tile.offset = stream.dataOffset + offset;
        tile.compressedSize = uint32_t(end - offset);
        tile.size = last ? uint32_t(stream.size - uint64_t(i) * SLUICE_GD_TILE_BYTES)
                         : SLUICE_GD_TILE_BYTES;
        take(i, tile);
        offset = end;
    }
    const uint64_t end = stream.dataOffset + offset;
    if (end > streamSize) return SLUICE_ERROR_BUFFER_SIZE;
    return end == streamSize || bytesMayFollow ? SLUICE_OK : SLUICE_ERROR_FORMAT;
}

} // namespace sluice
