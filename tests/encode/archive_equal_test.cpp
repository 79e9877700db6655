// SPDX-License-Identifier: MIT OR Apache-2.0
// Equal tiles that an archive stores once: what the writer makes of them, what readers take, and
// what they must refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "tests/support/packed_archives.h"
#include "tests/support/streams.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr uint32_t kTile = 65536;

PackedAsset assetOf(const char* name, const std::vector<Bytes>& tiles, SluiceCodec codec)
{
    PackedAsset asset;
    asset.name = name;
    Bytes all;
    for (const Bytes& tile : tiles)
        all.insert(all.end(), tile.begin(), tile.end());
    asset.add(all, codec, kTile);
    return asset;
}

Bytes tileOf(uint8_t seed, size_t size = kTile)
{
    Bytes bytes = hard(size);
    for (size_t i = 0; i < size; ++i)
        bytes[i] = uint8_t(bytes[i] >> 2) ^ seed; // the codecs make it smaller
    return bytes;
}

// "b" is equal to "a", "c" has two of its tiles in another order and twice, "d" has none of them.
std::vector<PackedAsset> assetsWithEqualTiles(SluiceCodec codec)
{
    const Bytes one = tileOf(1), two = tileOf(2), end = tileOf(3, 5000), other = tileOf(4);
    return {assetOf("a", {one, two, end}, codec), assetOf("b", {one, two, end}, codec),
            assetOf("c", {two, other, one, other, two}, codec), assetOf("d", {tileOf(5)}, codec)};
}

struct Reading {
    SluiceStatus status;
    std::vector<SluiceArchiveTile> tiles;
};

Reading readRecords(const SluiceArchiveAsset& asset, const uint8_t* records, bool takesEqual)
{
    Reading reading = {SLUICE_OK, std::vector<SluiceArchiveTile>(asset.tileCount)};
    SluiceArchiveTileReader reader;
    REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
    if (takesEqual) REQUIRE(sluiceTakeEqualArchiveTiles(&reader) == SLUICE_OK);
    reading.status =
        sluiceParseArchiveTiles(&reader, records, size_t(asset.tileCount) * recordBytes,
                                asset.tileCount, reading.tiles.data());
    return reading;
}

} // namespace

TEST_CASE("archive equal tiles: they are stored once, whatever the codec and the threads")
{
    for (const SluiceCodec codec : {SLUICE_CODEC_STORE, SLUICE_CODEC_GDEFLATE, SLUICE_CODEC_GSTD}) {
        CAPTURE(codec);
        const std::vector<PackedAsset> assets = assetsWithEqualTiles(codec);
        const Bytes file = packArchive(assets, {}, true), plain = packArchive(assets);
        for (const uint32_t threads : {2u, 5u})
            CHECK(packArchive(assets, {}, true, threads) == file);
        CHECK(loadLe16(&file[headerVersionMajor]) == 4);
        CHECK(loadLe16(&plain[headerVersionMajor]) == 1);
        REQUIRE(check(file) == SLUICE_OK);
        // The tiles that differ are one, two, end, other and the one of "d".
        const ParsedArchive archive(file), all(plain);
        const uint64_t single = all.asset(0).extentSize + all.asset(3).extentSize +
                                (all.records(2)[1].storedSize + 15) / 16 * 16;
        const uint64_t records = (3 + 5) * recordBytes + 64;
        CHECK(file.size() <= headerBytes + single + records + 400);
        CHECK(file.size() * 3 < plain.size() * 2);
        for (uint32_t i = 0; i < assets.size(); ++i) {
            const SluiceArchiveAsset asset = archive.asset(i), before = all.asset(i);
            CHECK(asset.hasEqualTiles == 1);
            CHECK(before.hasEqualTiles == 0);
            const std::vector<SluiceArchiveTile> now = archive.records(i), then = all.records(i);
            REQUIRE(now.size() == then.size());
            for (size_t k = 0; k < now.size(); ++k) {
                CHECK(now[k].checksum == then[k].checksum);
                CHECK(now[k].codec == then[k].codec);
                CHECK(now[k].outputOffset == then[k].outputOffset);
                REQUIRE(now[k].storedSize == then[k].storedSize);
                CHECK(std::memcmp(&file[size_t(asset.offset + now[k].offset)],
                                  &plain[size_t(before.offset + then[k].offset)],
                                  now[k].storedSize) == 0);
            }
        }
        // A reader that expects tiles in their extents is told that they are elsewhere.
        for (uint32_t i = 0; i < assets.size(); ++i)
            CHECK(readRecords(archive.asset(i), archive.extent(i), false).status ==
                  (i == 1 || i == 2 ? SLUICE_ERROR_UNSUPPORTED : SLUICE_OK));
    }
}

TEST_CASE("archive equal tiles: without any the archive is the same as ever")
{
    const std::vector<PackedAsset> assets = {
        assetOf("a", {tileOf(1), tileOf(2)}, SLUICE_CODEC_GSTD),
        assetOf("b", {tileOf(3)}, SLUICE_CODEC_GDEFLATE),
        // Equal, but too small to be worth a read of its own.
        assetOf("c", {Bytes(1000, 9)}, SLUICE_CODEC_STORE),
        assetOf("d", {Bytes(1000, 9)}, SLUICE_CODEC_STORE)};
    CHECK(packArchive(assets, {}, true) == packArchive(assets));
}

TEST_CASE("archive equal tiles: the example of docs/format.md")
{
    const Bytes bytes = tileOf(1, 2048);
    const Bytes file = packArchive(
        {assetOf("a", {bytes}, SLUICE_CODEC_STORE), assetOf("b", {bytes}, SLUICE_CODEC_STORE)}, {},
        true);
    const Bytes first = {32, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0};
    const Bytes second = {0, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 8, 0, 0, 0, 8, 0, 0};
    REQUIRE(file.size() > 0x870);
    CHECK(Bytes(file.begin() + 0x40, file.begin() + 0x50) == first);
    CHECK(Bytes(file.begin() + 0x860, file.begin() + 0x870) == second);
}

TEST_CASE("archive equal tiles: in shares, and of shares and assets of their own")
{
    const Bytes one = tileOf(1);
    const auto shareOf = [&](const char* name, const char* next) {
        return PackedShare({assetOf(name, {one}, SLUICE_CODEC_STORE),
                            assetOf(next, {tileOf(9, 100)}, SLUICE_CODEC_STORE)},
                           SLUICE_CODEC_GDEFLATE, kTile);
    };
    const std::vector<PackedAsset> own = {assetOf("a", {one}, SLUICE_CODEC_GDEFLATE)};
    const std::vector<PackedShare> shares = {shareOf("b", "c"), shareOf("d", "e")};
    MemoryFile file(packArchive(own, shares, true));
    CHECK(loadLe16(&file.bytes[headerVersionMajor]) == 4);
    CHECK(loadLe32(&file.bytes[headerShareCount]) == 2);
    CHECK(file.bytes.size() < packArchive(own, shares).size() / 2);
    CpuStreamer streamer(2);
    const SluiceStreamFile opened = streamer.open(file);
    for (uint32_t i = 0; i < 5; ++i) {
        const Bytes& expected = i == 0 ? one : shares[(i - 1) / 2].parts[(i - 1) % 2].bytes;
        Bytes place(expected.size());
        CHECK(streamer
                  .waitFor(streamer.submit({fromArchive(opened, i, 0, place.size(), place.data())}))
                  .status == SLUICE_OK);
        CHECK(place == expected);
    }
}

TEST_CASE("archive equal tiles: the streamer finds them")
{
    for (const SluiceCodec codec : {SLUICE_CODEC_STORE, SLUICE_CODEC_GSTD}) {
        const std::vector<PackedAsset> assets = assetsWithEqualTiles(codec);
        MemoryFile file(packArchive(assets, {}, true));
        for (const uint32_t threads : {0u, 3u}) {
            CpuStreamer streamer(threads);
            const SluiceStreamFile opened = streamer.open(file);
            std::vector<Bytes> places;
            std::vector<SluiceStreamRequest> requests;
            for (const PackedAsset& asset : assets)
                places.emplace_back(asset.bytes.size());
            for (uint32_t i = 0; i < assets.size(); ++i)
                requests.push_back(fromArchive(opened, i, 0, places[i].size(), places[i].data()));
            CHECK(streamer.waitFor(streamer.submit(requests)).status == SLUICE_OK);
            for (uint32_t i = 0; i < assets.size(); ++i)
                CHECK(places[i] == assets[i].bytes);
            // A part that begins and ends inside tiles.
            Bytes part(100000);
            CHECK(streamer
                      .waitFor(streamer.submit(
                          {fromArchive(opened, 2, 100000, part.size(), part.data())}))
                      .status == SLUICE_OK);
            CHECK(std::equal(part.begin(), part.end(), assets[2].bytes.begin() + 100000));
        }
    }
}

TEST_CASE("archive equal tiles: a record may name only what lies before")
{
    // An asset of three stored tiles of 32 bytes, whose extent begins at byte 1,024.
    constexpr uint64_t kExtent = 1024, kRecords = uint64_t(3) * recordBytes + 8; // a multiple of 16
    Bytes records(size_t(3) * recordBytes);
    SluiceArchiveAsset asset = {};
    asset.size = asset.tilesSize = 96;
    asset.offset = kExtent;
    asset.extentSize = kRecords + 96;
    asset.tileCount = 3;
    asset.tileSizeLog2 = SLUICE_ARCHIVE_MIN_TILE_LOG2;
    const auto statusOf = [&](uint64_t second, bool hasEqual = true, bool takesEqual = true) {
        for (uint32_t i = 0; i < 3; ++i) {
            uint8_t* record = records.data() + i * recordBytes;
            storeLe64(record + recordOffset, i == 1 ? second : kRecords + 32 * i);
            storeLe32(record + recordStoredSize, 32);
            storeLe32(record + recordSizeAndCodec, 32);
        }
        asset.tileChecksum = xxh32(records.data(), records.size(), 0);
        asset.hasEqualTiles = hasEqual ? 1 : 0;
        return readRecords(asset, records.data(), takesEqual).status;
    };
    constexpr SluiceStatus kBad = SLUICE_ERROR_FORMAT;
    const auto back = [](uint64_t bytes) { return 0 - bytes; };
    CHECK(statusOf(kRecords + 32) == SLUICE_OK);
    CHECK(statusOf(kRecords) == SLUICE_OK); // the first one's bytes
    CHECK(statusOf(back(32)) == SLUICE_OK); // up to the extent
    CHECK(statusOf(back(kExtent - headerBytes)) == SLUICE_OK);
    CHECK(statusOf(back(kExtent - headerBytes + 16)) == kBad); // in the header
    CHECK(statusOf(back(kExtent + 16)) == kBad);               // before the file
    CHECK(statusOf(uint64_t(1) << 63) == kBad);
    CHECK(statusOf((uint64_t(1) << 63) - 16) == kBad);
    CHECK(statusOf(back(16)) == kBad); // reaches into the extent
    CHECK(statusOf(0) == kBad);        // its records
    CHECK(statusOf(kRecords - 16) == kBad);
    CHECK(statusOf(kRecords + 16) == kBad); // half of the first one
    CHECK(statusOf(back(40)) == kBad);      // not a multiple of 16
    CHECK(statusOf(kRecords + 48) == kBad); // the third one would overlap it
    for (const uint64_t place : {kRecords, back(32)}) {
        CHECK(statusOf(place, false) == kBad);
        CHECK(statusOf(place, false, false) == kBad);
        CHECK(statusOf(place, true, false) == SLUICE_ERROR_UNSUPPORTED);
    }
    asset.offset = 0; // of no archive
    CHECK(statusOf(back(32)) == kBad);
    CHECK(sluiceTakeEqualArchiveTiles(nullptr) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("archive equal tiles: a header of version 4 must be of an archive that has assets")
{
    const Bytes good = packArchive(assetsWithEqualTiles(SLUICE_CODEC_STORE), {}, true);
    const auto statusOf = [&](uint32_t field, uint32_t value) {
        Editable archive(good);
        storeLe32(archive.header() + field, value);
        archive.sealHeader();
        SluiceArchive parsed = {};
        return sluiceParseArchiveHeader(archive.file.data(), archive.file.size(),
                                        archive.file.size(), &parsed);
    };
    CHECK(statusOf(headerVersionMajor, 4) == SLUICE_OK);
    CHECK(statusOf(headerVersionMajor, 5) == SLUICE_ERROR_VERSION);
    CHECK(statusOf(headerVersionMajor, 3) == SLUICE_ERROR_FORMAT); // which has shares
    CHECK(statusOf(headerAssetCount, 0) == SLUICE_ERROR_FORMAT);
    CHECK(statusOf(headerCodedBytes, 0) == SLUICE_ERROR_FORMAT);
}
