// SPDX-License-Identifier: MIT OR Apache-2.0
// The tile records of an archive are read at the first request for their extent: how many reads
// that takes, what damage costs, and who waits for what.
#include <doctest/doctest.h>

#include <cerrno>
#include <thread>

#include "tests/support/devices.h"
#include "tests/support/streams.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr uint32_t kTileSize = 4;

// An asset of stored tiles of 4 bytes.
PackedAsset tinyAsset(uint32_t number, uint32_t tiles)
{
    PackedAsset asset;
    asset.name = std::to_string(1000000 + number);
    Bytes bytes(size_t(tiles) * kTileSize);
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = uint8_t(number * 31 + i * 7);
    asset.add(bytes, SLUICE_CODEC_STORE, kTileSize);
    return asset;
}

std::vector<PackedAsset> tinyAssets(uint32_t count, uint32_t tiles, uint32_t first = 0)
{
    std::vector<PackedAsset> assets;
    for (uint32_t i = 0; i < count; ++i)
        assets.push_back(tinyAsset(first + i, tiles));
    return assets;
}

SluiceStreamEvent fetch(CpuStreamer& streamer, SluiceStreamFile file, uint32_t asset, Bytes& place)
{
    return streamer.waitFor(
        streamer.submit({fromArchive(file, asset, 0, place.size(), place.data())}));
}

uint64_t extentOf(SluiceStreamFile file, uint32_t asset)
{
    SluiceArchiveAsset about = {};
    REQUIRE(sluiceStreamGetAsset(file, asset, &about) == SLUICE_OK);
    return about.offset;
}

// Holds up reads that start at one offset of a file.
struct Gate {
    Gate(MemoryFile& file, uint64_t offset)
    {
        file.before = [this, offset](uint64_t at, uint64_t) -> int64_t {
            if (at != offset) return 0;
            ++reads;
            while (!isOpen)
                std::this_thread::yield();
            return 0;
        };
    }

    std::atomic<bool> isOpen{false};
    std::atomic<uint32_t> reads{0};
};

} // namespace

TEST_CASE("stream records: an archive of 100,000 assets opens with two reads")
{
    constexpr uint32_t kCount = 100000;
    MemoryFile file(packArchive(tinyAssets(kCount, 1)));
    CpuStreamer streamer(1);
    const SluiceStreamFile opened = streamer.open(file);
    CHECK(file.reads == 2);
    for (const uint32_t asset : {0u, kCount / 2, kCount - 1}) {
        CAPTURE(asset);
        const uint32_t before = file.reads;
        Bytes place(kTileSize);
        CHECK(fetch(streamer, opened, asset, place).status == SLUICE_OK);
        CHECK(place == tinyAsset(asset, 1).bytes);
        CHECK(file.reads == before + 2); // its records and its tile
        CHECK(fetch(streamer, opened, asset, place).status == SLUICE_OK);
        CHECK(file.reads <= before + 3);
    }
}

TEST_CASE("stream records: a flipped bit costs the assets of its extent, and no other")
{
    // 90 assets of their own and 10 that share tiles, with 1,000 records together.
    constexpr uint32_t kAssets = 90, kParts = 10, kTiles = 10, kShareTiles = 100;
    const std::vector<PackedAsset> assets = tinyAssets(kAssets, kTiles);
    const std::vector<PackedAsset> parts =
        tinyAssets(kParts, kShareTiles / kParts - 2, kAssets); // 32 bytes each
    PackedShare share(parts, SLUICE_CODEC_STORE, kTileSize);
    REQUIRE(share.whole.bytes.size() <= kShareTiles * kTileSize);
    const Bytes good = packArchive(assets, {share});
    const ParsedArchive archive(good);
    std::vector<uint64_t> bits; // places of all bits of the records, in the file
    std::vector<uint32_t> extents;
    for (uint32_t asset = 0; asset <= kAssets; ++asset)
        for (uint64_t bit = 0; bit < uint64_t(archive.asset(asset).tileCount) * recordBytes * 8;
             ++bit) {
            bits.push_back(archive.asset(asset).offset * 8 + bit);
            extents.push_back(asset);
        }
    REQUIRE(bits.size() >= 980 * recordBytes * 8);

    const size_t tries = std::min<size_t>(environmentNumber("SLUICE_MUTATIONS", 1000), bits.size());
    CpuStreamer streamer(0);
    std::vector<Bytes> places(kAssets + kParts);
    for (size_t i = 0; i < tries; ++i) {
        const size_t at = i * bits.size() / tries; // every position if there are tries enough
        CAPTURE(bits[at]);
        MemoryFile file(good);
        file.bytes[size_t(bits[at] / 8)] ^= uint8_t(1u << bits[at] % 8);
        const SluiceStreamFile opened = streamer.open(file);
        std::vector<SluiceStreamGroup> groups;
        for (uint32_t asset = 0; asset < kAssets + kParts; ++asset) {
            const PackedAsset& one = asset < kAssets ? assets[asset] : parts[asset - kAssets];
            places[asset].assign(one.bytes.size(), 0);
            groups.push_back(streamer.submit(
                {fromArchive(opened, asset, 0, one.bytes.size(), places[asset].data())}));
        }
        bool isAsExpected = true;
        for (uint32_t asset = 0; asset < kAssets + kParts; ++asset) {
            const SluiceStreamEvent event = streamer.waitFor(groups[asset]);
            const PackedAsset& one = asset < kAssets ? assets[asset] : parts[asset - kAssets];
            const bool isHit = std::min(asset, kAssets) == extents[at];
            isAsExpected &= isHit ? event.status == SLUICE_ERROR_FORMAT &&
                                        event.failedRequests == 1 && event.firstRequest == 0 &&
                                        event.fileOffset == archive.asset(asset).offset &&
                                        places[asset] == Bytes(one.bytes.size())
                                  : event.status == SLUICE_OK && places[asset] == one.bytes;
        }
        CHECK(isAsExpected);
        CHECK(sluiceStreamClose(streamer.get(), opened) == SLUICE_OK);
        REQUIRE(file.closes == 1);
    }
}

TEST_CASE("stream records: a tile that only a newer version knows costs its own asset")
{
    const std::vector<PackedAsset> assets = tinyAssets(3, 4);
    Editable newer(packArchive(assets));
    newer.record(1, 2)[recordSizeAndCodec + 3] = 200;
    storeLe32(newer.record(1, 2) + recordStoredSize, 1); // smaller than the tile, as it must be
    newer.seal();
    MemoryFile file(newer.file);
    CpuStreamer streamer(2);
    const SluiceStreamFile opened = streamer.open(file);
    for (uint32_t asset = 0; asset < 3; ++asset) {
        Bytes place(assets[asset].bytes.size());
        CHECK(fetch(streamer, opened, asset, place).status ==
              (asset == 1 ? SLUICE_ERROR_VERSION : SLUICE_OK));
    }
}

TEST_CASE("stream records: a failed read fails the groups that wait for it, and no later ones")
{
    const std::vector<PackedAsset> assets = tinyAssets(2, 4);
    MemoryFile file(packArchive(assets));
    CpuStreamer streamer(0);
    const SluiceStreamFile opened = streamer.open(file);
    const uint64_t extent = extentOf(opened, 1);
    file.before = [&](uint64_t offset, uint64_t) -> int64_t { return offset == extent ? -EIO : 0; };
    Bytes place(assets[1].bytes.size());
    const SluiceStreamEvent event = fetch(streamer, opened, 1, place);
    CHECK(event.status == SLUICE_ERROR_IO);
    CHECK(event.osError == EIO);
    CHECK(event.fileOffset == extent);
    CHECK(event.firstRequest == 0);
    CHECK(fetch(streamer, opened, 0, place).status == SLUICE_OK);
    file.before = nullptr;
    CHECK(fetch(streamer, opened, 1, place).status == SLUICE_OK);
    CHECK(place == assets[1].bytes);
}

TEST_CASE("stream records: a slow read holds up only the groups that need it")
{
    constexpr uint32_t kGroups = 200; // more than one hold of the lock parks
    const std::vector<PackedAsset> assets = tinyAssets(4, 4);
    const uint64_t size = assets[0].bytes.size();
    MemoryFile file(packArchive(assets));
    CpuStreamer streamer(3);
    const SluiceStreamFile opened = streamer.open(file);
    Gate gate(file, extentOf(opened, 0));
    std::vector<Bytes> places(kGroups, Bytes(size));
    std::vector<SluiceStreamGroup> groups;
    for (Bytes& place : places)
        groups.push_back(streamer.submit({fromArchive(opened, 0, 0, size, place.data())}, 5));
    Bytes other(size), third(size);
    CHECK(fetch(streamer, opened, 1, other).status == SLUICE_OK);
    // Records of a group's later requests are read meanwhile.
    const SluiceStreamGroup both = streamer.submit({fromArchive(opened, 0, 0, size, other.data()),
                                                    fromArchive(opened, 2, 0, size, third.data())});
    CHECK(fetch(streamer, opened, 3, third).status == SLUICE_OK);
    for (uint32_t i = 0; i < kGroups; i += 3) {
        CHECK(sluiceStreamCancel(streamer.get(), groups[i]) == SLUICE_OK);
        CHECK(streamer.waitFor(groups[i]).status == SLUICE_ERROR_CANCELLED);
        if (i % 2 == 0) CHECK(sluiceStreamSetPriority(streamer.get(), groups[i + 1], 9) == 0);
    }
    CHECK(gate.reads == 1);
    gate.isOpen = true;
    for (uint32_t i = 0; i < kGroups; ++i) {
        if (i % 3 == 0) continue;
        CHECK(streamer.waitFor(groups[i]).status == SLUICE_OK);
        CHECK(places[i] == assets[0].bytes);
    }
    CHECK(streamer.waitFor(both).status == SLUICE_OK);
    CHECK(other == assets[0].bytes);
    CHECK(third == assets[2].bytes);
    CHECK(gate.reads == 1);
}

TEST_CASE("stream records: a file that is closed meanwhile lives until its records are read")
{
    const std::vector<PackedAsset> assets = tinyAssets(1, 4);
    MemoryFile file(packArchive(assets));
    CpuStreamer streamer(1);
    const SluiceStreamFile opened = streamer.open(file);
    Gate gate(file, extentOf(opened, 0));
    Bytes place(assets[0].bytes.size());
    const SluiceStreamGroup group =
        streamer.submit({fromArchive(opened, 0, 0, place.size(), place.data())});
    while (gate.reads == 0)
        std::this_thread::yield();
    CHECK(sluiceStreamCancel(streamer.get(), group) == SLUICE_OK);
    CHECK(streamer.waitFor(group).status == SLUICE_ERROR_CANCELLED);
    CHECK(sluiceStreamClose(streamer.get(), opened) == SLUICE_OK);
    CHECK(file.closes == 0);
    gate.isOpen = true;
    while (file.closes == 0)
        std::this_thread::yield();
    CHECK(place == Bytes(place.size()));
}

TEST_CASE("stream records: kernels are those that the index allows")
{
    const auto kernelsOf = [](const std::vector<PackedAsset>& assets) {
        MemoryFile file(packArchive(assets));
        CpuStreamer streamer(0);
        uint32_t kernels = 0;
        CHECK(sluiceStreamGetKernels(streamer.open(file), &kernels) == SLUICE_OK);
        CHECK(file.reads <= 2);
        return kernels;
    };
    constexpr uint32_t kPlain = SLUICE_KERNELS_GDEFLATE_LINEAR | SLUICE_KERNELS_GSTD |
                                SLUICE_KERNELS_FLOAT | SLUICE_KERNELS_CHECKSUM;
    CHECK(kernelsOf(tinyAssets(2, 1)) == kPlain);
    PackedAsset filtered;
    filtered.name = "filtered";
    filtered.add(soft(5000), SLUICE_CODEC_GDEFLATE, 4096, true);
    CHECK(kernelsOf({filtered}) == (kPlain | SLUICE_KERNELS_FILTER));
    PackedAsset zstd;
    zstd.name = "zstd";
    zstd.add(soft(5000), SLUICE_CODEC_ZSTD, 4096);
    CHECK(kernelsOf({zstd}) == (kPlain | SLUICE_KERNELS_ZSTD));
    CHECK(kernelsOf({}) == 0);
}
