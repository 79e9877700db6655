// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/archives.h"

#include <sluice/sluice.h>
#include <sluice/sluice_gdeflate.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

namespace sluice::test {

SluiceStatus OpenedArchive::open(const Bytes& file)
{
    const SluiceStatus status = sluiceParseArchiveHeader(
        file.data(), std::min<size_t>(file.size(), 64), file.size(), &archive);
    if (status != SLUICE_OK) return status;
    index.resize(size_t(archive.indexSize));
    return sluiceUnpackArchiveIndex(&archive, file.data() + archive.indexOffset,
                                    file.size() - size_t(archive.indexOffset), index.data(),
                                    index.size());
}

SluiceArchiveAsset OpenedArchive::asset(uint32_t number) const
{
    SluiceArchiveAsset asset = {};
    REQUIRE(sluiceGetArchiveAsset(&archive, index.data(), index.size(), number, &asset) ==
            SLUICE_OK);
    return asset;
}

SluiceStatus check(const Bytes& file)
{
    OpenedArchive opened;
    SluiceStatus status = opened.open(file);
    if (status != SLUICE_OK) return status;
    const SluiceArchive& archive = opened.archive;
    status = sluiceCheckArchiveIndex(&archive, opened.index.data(), opened.index.size(), nullptr);
    for (uint32_t i = 0; status == SLUICE_OK && i < archive.assetCount; ++i) {
        const SluiceArchiveAsset asset = opened.asset(i);
        std::vector<SluiceArchiveTile> tiles(asset.tileCount);
        SluiceArchiveTileReader reader;
        REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
        REQUIRE(sluiceTakeEqualArchiveTiles(&reader) == SLUICE_OK);
        status = sluiceParseArchiveTiles(&reader, file.data() + asset.offset,
                                         size_t(asset.extentSize), asset.tileCount, tiles.data());
    }
    return status;
}

Bytes soft(size_t size)
{
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = uint8_t(i / 100);
    }
    return bytes;
}

Bytes hard(size_t size)
{
    Bytes bytes(size);
    uint32_t state = 1;
    for (uint8_t& byte : bytes) {
        state = state * 1664525u + 1013904223u;
        byte = uint8_t(state >> 24);
    }
    return bytes;
}

Bytes decodeGdeflate(SluiceContext context, const uint8_t* stored, const SluiceArchiveTile& tile)
{
    std::vector<uint32_t> source((tile.storedSize + 3) / 4), output((tile.size + 3) / 4);
    std::memcpy(source.data(), stored, tile.storedSize);
    SluiceRegion region = {reinterpret_cast<uintptr_t>(source.data()),
                           reinterpret_cast<uintptr_t>(output.data()), tile.storedSize, tile.size};
    uint32_t status[3];
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = 1;
    info.regionStride = sizeof(region);
    info.regions = {reinterpret_cast<uintptr_t>(&region), 0, sizeof(region)};
    info.source = {region.srcAddress, 0, source.size() * 4};
    info.destination = {region.dstAddress, 0, output.size() * 4};
    info.status = {reinterpret_cast<uintptr_t>(status), 0, sizeof(status)};
    REQUIRE(sluiceCmdGdeflate(context, nullptr, &info) == SLUICE_OK);
    CHECK(status[0] == SLUICE_TILE_OK);
    Bytes bytes(tile.size);
    std::memcpy(bytes.data(), output.data(), bytes.size());
    return bytes;
}

} // namespace sluice::test
