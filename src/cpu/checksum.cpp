// SPDX-License-Identifier: MIT OR Apache-2.0
#include "regions.h"

#include "../formats/xxh32.h"

#include <vector>

using namespace sluice;

// Hashes 32 pieces of whole words, each by itself as a lane does it, and then their hashes.
uint32_t sluiceTileChecksum(const void* bytes, size_t size)
{
    const u8* data = static_cast<const u8*>(bytes);
    const size_t pieceBytes = divideUp<size_t>(divideUp<size_t>(size, 4), 32) * 4;
    u8 hashes[32 * 4];
    for (size_t piece = 0; piece < 32; ++piece) {
        const size_t begin = std::min(size, piece * pieceBytes);
        const size_t end = std::min(size, begin + pieceBytes);
        storeLe32(hashes + 4 * piece, xxh32(data == nullptr ? data : data + begin, end - begin, 0));
    }
    return xxh32(hashes, sizeof hashes, 0);
}

namespace sluice::cpu {

static u32 regionChecksum(const SluiceChecksumInfo& info, const SluiceRegion& tile)
{
    const size_t size = size_t(tile.decompressedSize);
    if (info.rowBytes == 0) return sluiceTileChecksum(pointer<const u8>(tile.dstAddress), size);
    std::vector<u8> bytes(size); // without the padding between rows
    forEachRun(info, tile, [&](const u8* run, size_t at, size_t count) {
        std::copy_n(run, count, &bytes[at]);
    });
    return sluiceTileChecksum(bytes.data(), size);
}

void checksum(const SluiceChecksumInfo& info)
{
    StatusWords status(info.status, info.maxRegionCount);
    const u32* expected = pointer<const u32>(info.expected);
    const u32 count = countOf(info.regionCount, info.maxRegionCount);
    for (u32 i = 0; i < count; ++i) {
        if (status.get(i) != SLUICE_ST_OK && status.get(i) != SLUICE_ST_UNVERIFIED) continue;
        // The decode found this region valid, but the list may have changed since.
        const auto tile = entryAt<SluiceRegion>(info.regions, i, info.regionStride);
        const bool match = validDestination(info, tile, SLUICE_MAX_TILE_BYTES) &&
                           regionChecksum(info, tile) == expected[i];
        status.set(i, match ? SLUICE_ST_OK : SLUICE_ST_BAD_CHECKSUM);
    }
}

} // namespace sluice::cpu
