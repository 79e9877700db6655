// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests pitched destinations: where decoded bytes lie, what is allowed, and that the padding of
// rows does not change.
#include <sluice/sluice_gdeflate.h>

#include "tests/support/gdeflate_tiles.h"

#include "api/plan_regions.h"

#include <algorithm>
#include <cstring>

using namespace sluice::test;

namespace {

struct Rows {
    uint32_t bytes, pitch;
};
constexpr Rows kLayouts[] = {{4, 4},
                             {4, 8},
                             {12, 16},
                             {60, 256},
                             {256, 256},
                             {1000, 1024},
                             {65532, 65536},
                             {65536, 65540},
                             {70000, 70004},
                             {1u << 30, 1u << 30},
                             {4, 1u << 16},
                             {1020, 4096},
                             {(1u << 30) - 4, 1u << 30}};

uint64_t place(const Rows& rows, uint64_t logical)
{
    return logical / rows.bytes * rows.pitch + logical % rows.bytes;
}

// Places tiles at logical offsets of a pitched destination, which ends where the last tile ends.
struct Layout {
    Layout(const Rows& layoutRows, const std::vector<uint64_t>& sizes) : rows(layoutRows)
    {
        for (const uint64_t size : sizes) {
            offsets.push_back(logicalSize);
            logicalSize += size;
            memorySize = place(rows, logicalSize - 1) + 1;
            logicalSize = (logicalSize + 3) / 4 * 4 + 8;
        }
    }

    Rows rows;
    std::vector<uint64_t> offsets;
    uint64_t logicalSize = 4;
    uint64_t memorySize = 0;
};

} // namespace

TEST_CASE("pitch: division by multiplication")
{
    std::mt19937 random = makeRandom(101);
    for (uint32_t trial = 0; trial < 2000; ++trial) {
        const uint32_t shift = uint32_t(random()) % 31;
        uint32_t rowBytes = std::max(uint32_t(random()) & ((2u << shift) - 1) & ~3u, 4u);
        if (trial < 28) rowBytes = 4u << trial;
        if (trial >= 28 && trial < 56) rowBytes = std::max((4u << (trial - 28)) - 4, 4u);
        rowBytes = std::min(rowBytes, 1u << 30);
        CAPTURE(rowBytes);
        sluice::RegionParams params = {};
        sluice::setRowPitch(params, rowBytes, rowBytes);
        const uint32_t top = 0x7fffffffu;
        bool right = true;
        for (const uint32_t n :
             {0u, 1u, rowBytes - 1, rowBytes, rowBytes + 1, top, top / rowBytes * rowBytes,
              top / rowBytes * rowBytes - 1, uint32_t(random()) & top, uint32_t(random()) & top})
            right = right && uint32_t(uint64_t(n) * params.rowMagic >> 32) >> params.rowShift ==
                                 n / rowBytes;
        CHECK(right);
    }
}

TEST_CASE("pitch: logical sizes")
{
    CHECK(sluice::logicalSize(1000, 0, 0) == 1000);
    CHECK(sluice::logicalSize(1024, 60, 256) == 240);
    CHECK(sluice::logicalSize(1023, 60, 256) == 240);
    CHECK(sluice::logicalSize(768 + 60, 60, 256) == 240);
    CHECK(sluice::logicalSize(768 + 59, 60, 256) == 239);
    CHECK(sluice::logicalSize(768, 60, 256) == 180);
    CHECK(sluice::logicalSize(0, 60, 256) == 0);
    CHECK(sluice::logicalSize(~uint64_t(0), 4, 4) == ~uint64_t(0));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("pitch: gdeflate and its checksums")
{
    std::mt19937 random = makeRandom(102);
    std::vector<Tile> tiles;
    for (const uint32_t size : {1u, 2u, 3u, 4u, 5u, 63u, 64u, 997u, 4099u})
        tiles.push_back(literalTile(size, random));
    for (const GoldenStream& stream : goldenStreams()) { // matches, over many rows
        if (stream.name == "runs.bin.l12.gdeflate")
            tiles.insert(tiles.end(), stream.tiles.begin(), stream.tiles.end());
    }
    tiles.push_back(literalTile(1, random));
    const std::vector<DecodedTile> expected = decodeOnHost(tiles);
    const uint32_t count = uint32_t(tiles.size());
    Bytes sourceBytes;
    std::vector<uint64_t> sizes;
    Words checksums;
    std::vector<SluiceRegion> list;
    for (uint32_t i = 0; i < count; ++i) {
        list.push_back({sourceBytes.size(), 0, tiles[i].compressed.size(), tiles[i].size});
        sourceBytes.insert(sourceBytes.end(), tiles[i].compressed.begin(),
                           tiles[i].compressed.end());
        sourceBytes.resize((sourceBytes.size() + 3) / 4 * 4);
        sizes.push_back(tiles[i].size);
        checksums.push_back(sluiceTileChecksum(expected[i].bytes.data(), expected[i].bytes.size()));
    }
    checksums[4] ^= 1;
    Buffer source(device(), sourceBytes), expectedBuffer(device(), checksums);
    for (const Rows& rows : kLayouts) {
        CAPTURE(rows.bytes);
        CAPTURE(rows.pitch);
        const Layout layout(rows, sizes);
        if (layout.memorySize > 64u << 20)
            continue; // The test after this one has rows of 4 bytes with a pitch of 64 KiB.
        Buffer destination(device(), layout.memorySize);
        std::vector<SluiceRegion> regions = list;
        for (uint32_t i = 0; i < count; ++i) {
            regions[i].srcAddress += source.address();
            regions[i].dstAddress = destination.address() + layout.offsets[i];
        }
        Buffer regionList(device(), bytesOf(regions)), status(device(), (count + 2) * 4);
        SluiceGdeflateInfo info = {};
        info.maxRegionCount = count;
        info.regionStride = sizeof(SluiceRegion);
        info.rowBytes = rows.bytes;
        info.rowPitch = rows.pitch;
        info.regions = regionList.range();
        info.source = source.range();
        info.destination = destination.range();
        info.expected = expectedBuffer.range();
        info.status = status.range();
        runWithScratch(device(), info, sluiceGetGdeflateRequirements, sluiceCmdGdeflate);
        Words statuses(count, SLUICE_TILE_OK);
        statuses[4] = SLUICE_TILE_BAD_CHECKSUM;
        statuses.insert(statuses.end(), {1u, 4u});
        CHECK((status.words() == statuses));
        Bytes memory(size_t(layout.memorySize), Buffer::kPoison);
        for (uint32_t i = 0; i < count; ++i) {
            for (uint64_t k = 0; k < tiles[i].size; ++k)
                memory[size_t(place(rows, layout.offsets[i] + k))] = expected[i].bytes[size_t(k)];
        }
        CHECK((destination.bytes() == memory));
    }
}

// Tests sluiceCmdChecksum alone, on bytes that the host has laid out.
TEST_CASE("pitch: checksum")
{
    std::mt19937 random = makeRandom(103);
    const std::vector<uint64_t> sizes = {1, 4, 5, 127, 128, 129, 700, 5001, 1};
    const uint32_t count = uint32_t(sizes.size());
    for (const Rows& rows : kLayouts) {
        CAPTURE(rows.bytes);
        CAPTURE(rows.pitch);
        const Layout layout(rows, sizes);
        Bytes memory(size_t(layout.memorySize), Buffer::kPoison);
        Words checksums;
        for (uint32_t i = 0; i < count; ++i) {
            Bytes bytes(static_cast<size_t>(sizes[i]));
            for (size_t k = 0; k < bytes.size(); ++k) {
                bytes[k] = uint8_t(random());
                memory[size_t(place(rows, layout.offsets[i] + k))] = bytes[k];
            }
            checksums.push_back(sluiceTileChecksum(bytes.data(), bytes.size()));
        }
        checksums[3] ^= 4;
        Buffer destination(device(), memory), expected(device(), checksums);
        std::vector<SluiceRegion> regions;
        for (uint32_t i = 0; i < count; ++i)
            regions.push_back({0, destination.address() + layout.offsets[i], 1, sizes[i]});
        // Beyond the last row, whose end the destination cuts off.
        regions.back().decompressedSize = 2;
        Words statuses(count, SLUICE_TILE_OK);
        statuses[1] = SLUICE_TILE_UNVERIFIED;
        statuses.insert(statuses.end(), {0u, ~0u});
        Buffer regionList(device(), bytesOf(regions)), status(device(), statuses);
        SluiceChecksumInfo info = {};
        info.maxRegionCount = count;
        info.regionStride = sizeof(SluiceRegion);
        info.rowBytes = rows.bytes;
        info.rowPitch = rows.pitch;
        info.regions = regionList.range();
        info.destination = destination.range();
        info.expected = expected.range();
        info.status = status.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdChecksum(device().context(), commands, &info) == SLUICE_OK);
        });
        statuses[1] = SLUICE_TILE_OK;
        statuses[3] = statuses[count - 1] = SLUICE_TILE_BAD_CHECKSUM;
        statuses[count] = 2;
        statuses[count + 1] = 3;
        CHECK((status.words() == statuses));
        CHECK((destination.bytes() == memory));
    }
}

TEST_CASE("pitch: regions past the logical bytes are not allowed")
{
    std::mt19937 random = makeRandom(104);
    const Tile tile = literalTile(12, random);
    const Bytes expected = decodeOnHost({tile})[0].bytes;
    // 3 rows of 16 bytes, then 12 bytes
    Buffer source(device(), tile.compressed), destination(device(), 3 * 32 + 12);
    std::vector<SluiceRegion> regions;
    for (const uint64_t offset : {48u, 52u, 60u, 64u, 96u, 0u})
        regions.push_back(
            {source.address(), destination.address() + offset, tile.compressed.size(), 12});
    Buffer regionList(device(), bytesOf(regions)), status(device(), 8 * 4);
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = uint32_t(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.rowBytes = 16;
    info.rowPitch = 32;
    info.regions = regionList.range();
    info.source = source.range();
    info.destination = destination.range();
    info.status = status.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdGdeflate(device().context(), commands, &info) == SLUICE_OK);
    });
    constexpr uint32_t ok = SLUICE_TILE_OK, bad = SLUICE_TILE_BAD_REGION;
    CHECK((status.words() == Words{ok, bad, bad, bad, bad, ok, 4, 1}));
    Bytes memory(3 * 32 + 12, Buffer::kPoison);
    std::copy(expected.begin(), expected.end(), memory.begin() + 96);
    std::copy(expected.begin(), expected.end(), memory.begin());
    CHECK((destination.bytes() == memory));
}

TEST_SUITE_END();
