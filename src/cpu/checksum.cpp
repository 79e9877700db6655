// SPDX-License-Identifier: MIT OR Apache-2.0
#include "regions.h"

#include "../formats/xxh32.h"

#include <vector>

// 32 pieces of whole words, each hashed by itself as a lane would, then the hash of their hashes.
uint32_t sluiceTileChecksum(const void* bytes, size_t size)
{
    const uint8_t* data = static_cast<const uint8_t*>(bytes);
    const size_t words = size / 4 + (size % 4 != 0);
    const size_t pieceBytes = (words + 31) / 32 * 4;
    uint8_t hashes[32 * 4];
    for (size_t piece = 0; piece < 32; ++piece) {
        const size_t begin = std::min(size, piece * pieceBytes);
        const size_t end = std::min(size, begin + pieceBytes);
        const uint32_t hash = sluice::xxh32(data == nullptr ? data : data + begin, end - begin, 0);
        for (size_t i = 0; i < 4; ++i)
            hashes[4 * piece + i] = uint8_t(hash >> 8 * i);
    }
    return sluice::xxh32(hashes, sizeof hashes, 0);
}

namespace sluice::cpu {

static uint32_t regionChecksum(const SluiceChecksumInfo& info, const SluiceRegion& tile)
{
    const size_t size = size_t(tile.decompressedSize);
    if (info.rowBytes == 0)
        return sluiceTileChecksum(reinterpret_cast<const void*>(uintptr_t(tile.dstAddress)), size);
    std::vector<uint8_t> bytes(size); // without the padding between them
    forEachRun(info, tile, [&](const uint8_t* run, size_t at, size_t count) {
        std::copy_n(run, count, &bytes[at]);
    });
    return sluiceTileChecksum(bytes.data(), size);
}

void checksum(const SluiceChecksumInfo& info)
{
    StatusWords status(info.status, info.maxRegionCount);
    const u32* expected = pointer<const u32>(info.expected);
    const u32 count = regionCount(info);
    for (u32 i = 0; i < count; ++i) {
        if (status.get(i) != SLUICE_ST_OK && status.get(i) != SLUICE_ST_UNVERIFIED) continue;
        // Such a tile had a valid region; a list that has changed since must still not lead outside
        // the destination.
        const SluiceRegion tile = region(info, i);
        const bool match = validDestination(info, tile, SLUICE_MAX_TILE_BYTES) &&
                           regionChecksum(info, tile) == expected[i];
        status.set(i, match ? SLUICE_ST_OK : SLUICE_ST_BAD_CHECKSUM);
    }
}

} // namespace sluice::cpu
