// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the .sluice archive: what the writer writes, what the reader must reject, names, versions,
// and sizes above 4 GiB.
#include "tests/support/archive_io.h"
#include "tests/support/archives.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace sluice;
using namespace sluice::test;

namespace {

using Assets = std::map<std::string, Bytes>; // ordered as archives are

Bytes pack(const Assets& assets, SluiceCodec codec = SLUICE_CODEC_GDEFLATE, uint32_t threads = 1)
{
    Bytes archive;
    const SluiceArchiveWriterInfo info = {codec, 3,       0, threads, writeMemory, &archive, 0,
                                          0,     nullptr, 0, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    uint64_t bytesIn = 0;
    for (const auto& [name, bytes] : assets) {
        MemorySource source = {bytes};
        const SluiceArchiveAssetInfo asset = {
            name.data(), name.size(), 0,       bytes.size(), MemorySource::read, &source, nullptr,
            0,           0,           nullptr, nullptr};
        REQUIRE(sluiceAddArchiveAsset(writer, &asset) == SLUICE_OK);
        bytesIn += bytes.size();
    }
    SluiceArchiveStats stats = {};
    REQUIRE(sluiceFinishArchive(writer, &stats) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    CHECK(stats.assetCount == assets.size());
    CHECK(stats.bytesIn == bytesIn);
    CHECK(stats.bytesOut == archive.size());
    return archive;
}

Assets someAssets()
{
    return {{"a/empty", {}},
            {"a/hard", hard(150000)},
            {"a/soft", soft(200001)},
            {"b", soft(5)},
            {"z/\xc3\xa4 \xe2\x82\xac", {}}};
}

// Makes a change to a good archive of someAssets, repairs its checksums, and returns the reader's
// status.
SluiceStatus changed(const std::function<void(Editable&)>& change)
{
    static const Bytes good = pack(someAssets());
    Editable archive(good);
    change(archive);
    archive.seal();
    return check(archive.file);
}

} // namespace

TEST_CASE("archive: what goes in comes out, for both codecs")
{
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    const Assets assets = someAssets();
    for (const SluiceCodec codec : {SLUICE_CODEC_GDEFLATE, SLUICE_CODEC_STORE}) {
        const Bytes file = pack(assets, codec);
        REQUIRE(check(file) == SLUICE_OK);
        SluiceArchive archive;
        REQUIRE(sluiceParseArchiveHeader(file.data(), 64, file.size(), &archive) == SLUICE_OK);
        REQUIRE(archive.assetCount == assets.size());
        const uint8_t* index = file.data() + archive.indexOffset;
        for (const auto& [name, bytes] : assets) {
            uint32_t number = 0;
            REQUIRE(sluiceFindArchiveAsset(&archive, index, size_t(archive.indexSize), name.data(),
                                           name.size(), &number) == SLUICE_OK);
            REQUIRE(number != 0xffffffffu);
            SluiceArchiveAsset asset;
            REQUIRE(sluiceGetArchiveAsset(&archive, index, size_t(archive.indexSize), number,
                                          &asset) == SLUICE_OK);
            CHECK(std::string(asset.name, asset.nameLength) == name);
            CHECK(asset.size == bytes.size());
            CHECK(asset.parameters == nullptr);
            std::vector<SluiceArchiveTile> tiles(asset.tileCount + 1);
            SluiceArchiveTileReader reader;
            REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
            for (uint32_t i = 0; i < asset.tileCount; ++i) { // one at a time
                REQUIRE(sluiceParseArchiveTiles(&reader,
                                                file.data() + asset.offset + i * recordBytes,
                                                recordBytes, 1, &tiles[i]) == SLUICE_OK);
            }
            for (uint32_t i = 0; i < asset.tileCount; ++i) {
                const SluiceArchiveTile& tile = tiles[i];
                const uint8_t* stored = file.data() + asset.offset + tile.offset;
                const uint8_t* expected = bytes.data() + tile.outputOffset;
                CHECK(tile.checksum == sluiceTileChecksum(expected, tile.size));
                CHECK((asset.offset + tile.offset) % 16 == 0);
                if (tile.codec == SLUICE_CODEC_STORE) {
                    CHECK(std::memcmp(stored, expected, tile.size) == 0);
                    continue;
                }
                CHECK(name != "a/hard");
                const Bytes output = decodeGdeflate(context, stored, tile);
                CHECK(std::memcmp(output.data(), expected, tile.size) == 0);
            }
        }
        uint32_t number = 0;
        CHECK(sluiceFindArchiveAsset(&archive, index, size_t(archive.indexSize), "a", 1, &number) ==
              SLUICE_OK);
        CHECK(number == 0xffffffffu);
    }
    sluiceDestroyContext(context);
}

TEST_CASE("archive: no assets at all")
{
    const Bytes file = pack({});
    CHECK(file.size() == 64);
    CHECK(check(file) == SLUICE_OK);
}

TEST_CASE("archive: the same bytes whatever the thread count, with little overhead")
{
    Assets assets = someAssets();
    for (int i = 0; i < 300; ++i) {
        assets["many/" + std::to_string(i)] = soft(size_t(i) * 37);
    }
    assets["many/tiles"] = soft(2000000);
    const Bytes one = pack(assets, SLUICE_CODEC_GDEFLATE, 1);
    CHECK(check(one) == SLUICE_OK);
    CHECK(pack(assets, SLUICE_CODEC_GDEFLATE, 2) == one);
    CHECK(pack(assets, SLUICE_CODEC_GDEFLATE, 7) == one);

    Assets small;
    size_t names = 0;
    for (int i = 0; i < 1000; ++i) {
        small[std::to_string(i)] = hard(512);
        names += std::to_string(i).size();
    }
    CHECK(pack(small).size() - names - 64 - 512 * 1000 <= 72 * 1000);
}

TEST_CASE("archive: the writer refuses what a reader would reject")
{
    Bytes output;
    const SluiceArchiveWriterInfo info = {
        SLUICE_CODEC_STORE, 0, 0, 1, writeMemory, &output, 0, 0, nullptr, 0, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    const auto add = [&](const std::string& name, uint64_t size = 0) {
        const SluiceArchiveAssetInfo asset = {
            name.data(), name.size(), 0, size, nullptr, nullptr, nullptr, 0, 0, nullptr, nullptr};
        return sluiceAddArchiveAsset(writer, &asset);
    };
    CHECK(add("b") == SLUICE_OK);
    CHECK(add("b") == SLUICE_ERROR_ARGUMENT);
    CHECK(add("a") == SLUICE_ERROR_ARGUMENT);
    CHECK(add("../c") == SLUICE_ERROR_ARGUMENT);
    CHECK(add("b/c") == SLUICE_ERROR_ARGUMENT); // b is a file
    CHECK(add("b.c") == SLUICE_OK);
    CHECK(add("b/c") == SLUICE_ERROR_ARGUMENT);
    CHECK(add("c", 1) == SLUICE_ERROR_ARGUMENT); // no way to read it
    CHECK(add("c") == SLUICE_OK);
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    CHECK(add("d") == SLUICE_ERROR_ARGUMENT);
    sluiceDestroyArchiveWriter(writer);
    CHECK(check(output) == SLUICE_OK);
    CHECK(sluiceCreateArchiveWriter(nullptr, &writer) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("archive: sizes of Gstd tiles that a writer takes")
{
    Bytes output;
    const auto create = [&](uint32_t tileSize) {
        const SluiceArchiveWriterInfo info = {
            SLUICE_CODEC_GSTD, 1, 0, 1, writeMemory, &output, 0, tileSize, nullptr, 0, 0};
        SluiceArchiveWriter writer = nullptr;
        const SluiceStatus status = sluiceCreateArchiveWriter(&info, &writer);
        sluiceDestroyArchiveWriter(writer);
        return status;
    };
    for (const uint32_t size : {0u, 4u, 65536u, 262144u})
        CHECK(create(size) == SLUICE_OK);
    for (const uint32_t size : {1u, 65537u, 262148u, ~0u})
        CHECK(create(size) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("archive: failing callbacks end the writer")
{
    const auto failRead = [](void*, void*, size_t) { return SLUICE_ERROR_IO; };
    const auto failWrite = [](void*, uint64_t, const void*, size_t) { return SLUICE_ERROR_IO; };
    Bytes output;
    const Bytes bytes = soft(500000);
    for (const uint32_t threads : {1u, 3u}) {
        SluiceArchiveWriterInfo info = {
            SLUICE_CODEC_GDEFLATE, 1, 0, threads, writeMemory, &output, 0, 0, nullptr, 0, 0};
        SluiceArchiveWriter writer = nullptr;
        REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
        SluiceArchiveAssetInfo asset = {"a",     1, 0, bytes.size(), failRead, nullptr,
                                        nullptr, 0, 0, nullptr,      nullptr};
        CHECK(sluiceAddArchiveAsset(writer, &asset) == SLUICE_ERROR_IO);
        CHECK(sluiceFinishArchive(writer, nullptr) == SLUICE_ERROR_IO);
        sluiceDestroyArchiveWriter(writer);

        info.write = failWrite;
        REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
        MemorySource source = {bytes};
        asset.read = MemorySource::read;
        asset.readUser = &source;
        const SluiceStatus added = sluiceAddArchiveAsset(writer, &asset);
        CHECK((added == SLUICE_OK || added == SLUICE_ERROR_IO));
        CHECK(sluiceFinishArchive(writer, nullptr) == SLUICE_ERROR_IO);
        sluiceDestroyArchiveWriter(writer);
    }
}

TEST_CASE("archive: truncated anywhere, or with any bit of header, index or records flipped")
{
    const Bytes good = pack(someAssets());
    for (size_t size = 0; size < good.size(); size += size < 64 ? 1 : 997) {
        const SluiceStatus status = check(Bytes(good.begin(), good.begin() + ptrdiff_t(size)));
        CHECK((status == SLUICE_ERROR_BUFFER_SIZE || (size < 8 && status == SLUICE_ERROR_FORMAT)));
    }
    Bytes longer = good;
    longer.push_back(0);
    CHECK(check(longer) == SLUICE_ERROR_FORMAT);

    Editable parts(good);
    std::vector<size_t> places;
    for (size_t i = 0; i < headerBytes; ++i) {
        places.push_back(i);
    }
    for (size_t i = parts.index; i < good.size(); ++i) {
        places.push_back(i);
    }
    for (uint32_t asset = 0; asset < 5; ++asset) {
        const size_t first = size_t(parts.record(asset, 0) - parts.file.data());
        for (size_t i = 0; i < loadLe32(parts.entry(asset) + assetTileCount) * recordBytes; ++i) {
            places.push_back(first + i);
        }
    }
    for (const size_t place : places) {
        Bytes bad = good;
        bad[place] ^= uint8_t(1 << place % 8);
        const SluiceStatus status = check(bad);
        CHECK_MESSAGE((status == SLUICE_ERROR_CHECKSUM || status == SLUICE_ERROR_FORMAT), "byte ",
                      place, " status ", int(status));
    }
}

TEST_CASE("archive: every rule of the header")
{
    CHECK(changed([](Editable&) {}) == SLUICE_OK);
    const auto header = [](uint32_t field, uint32_t value) {
        return changed([&](Editable& a) { storeLe32(a.header() + field, value); });
    };
    CHECK(header(headerVersionMajor, 5) == SLUICE_ERROR_VERSION);
    CHECK(header(headerVersionMajor, 0) == SLUICE_ERROR_FORMAT);
    CHECK(header(headerVersionMajor, 1 | 7 << 16) == SLUICE_OK); // a newer minor version
    CHECK(header(headerReserved, 1) == SLUICE_ERROR_FORMAT);
    CHECK(changed([](Editable& a) { // a newer version may use what is reserved here
              storeLe16(a.header() + headerVersionMinor, 1);
              storeLe32(a.header() + headerReserved, 1);
          }) == SLUICE_OK);
    CHECK(header(headerBlockBytes, 4) == SLUICE_ERROR_FORMAT);
    CHECK(header(headerBlockBytes, 0xfffffffc) == SLUICE_ERROR_FORMAT);
    CHECK(header(headerNameBytes, 0xffffffff) == SLUICE_ERROR_FORMAT);
    CHECK(header(headerTileCount, 1) == SLUICE_ERROR_FORMAT);
    CHECK(header(headerIndexOffset, 0) == SLUICE_ERROR_FORMAT);
    CHECK(header(headerFileSize, 63) == SLUICE_ERROR_FORMAT);
    Editable many(pack({}));
    storeLe32(many.header() + headerAssetCount, 0xffffffff);
    many.sealHeader();
    CHECK(check(many.file) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("archive: every rule of an asset entry")
{
    const auto entry = [](uint32_t field, uint32_t value) { // of asset 2, a/soft
        return changed([&](Editable& a) { storeLe32(a.entry(2) + field, value); });
    };
    const uint32_t size = 200001;
    CHECK(entry(assetSize, size) == SLUICE_OK);
    CHECK(entry(assetSize, size - 1) == SLUICE_ERROR_FORMAT);
    CHECK(entry(assetSize, size + 1) == SLUICE_ERROR_FORMAT);
    CHECK(entry(assetSize, 0) == SLUICE_ERROR_FORMAT);
    CHECK(entry(assetSize + 4, 1) == SLUICE_ERROR_FORMAT); // 4 GiB more than its tiles can hold
    CHECK(entry(assetOffset, 8) == SLUICE_ERROR_FORMAT);
    CHECK(entry(assetOffset, 16) == SLUICE_ERROR_FORMAT); // in the header
    CHECK(entry(assetOffset + 4, 0xffffffff) == SLUICE_ERROR_FORMAT);
    CHECK(entry(assetTileCount, 0) == SLUICE_ERROR_FORMAT);
    CHECK(entry(assetTileCount, 5) == SLUICE_ERROR_FORMAT);
    CHECK(entry(assetTileCount, 0xffffffff) == SLUICE_ERROR_FORMAT);
    CHECK(entry(assetNameOffset, 0) == SLUICE_ERROR_FORMAT);
    CHECK(entry(assetType, 12345) == SLUICE_OK);
    CHECK(entry(assetParameterOffset, 0) == SLUICE_ERROR_FORMAT); // there are no blocks
    const auto byte = [](uint32_t field, uint8_t value) {
        return changed([&](Editable& a) { a.entry(2)[field] = value; });
    };
    CHECK(byte(assetTileSizeLog2, 15) == SLUICE_ERROR_FORMAT);
    CHECK(byte(assetTileSizeLog2, 20) == SLUICE_OK);
    CHECK(byte(assetTileSizeLog2, 21) == SLUICE_ERROR_FORMAT);
    CHECK(byte(assetReserved, 1) == SLUICE_ERROR_FORMAT);
    CHECK(byte(assetNameLength, 0) == SLUICE_ERROR_FORMAT);
    CHECK(byte(assetNameLength, 7) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("archive: every rule of a tile record")
{
    // Changes a field of a tile record of asset 2, a/soft, which has 4 tiles.
    const auto record = [](uint32_t tile, uint32_t field, uint32_t value) {
        return changed([&](Editable& a) { storeLe32(a.record(2, tile) + field, value); });
    };
    const uint32_t gdeflate = 1u << 24;
    CHECK(record(1, recordSizeAndCodec, 65536 | gdeflate) == SLUICE_OK);
    CHECK(record(1, recordSizeAndCodec, gdeflate) == SLUICE_ERROR_FORMAT);
    // the sum is too small
    CHECK(record(1, recordSizeAndCodec, 65532 | gdeflate) == SLUICE_ERROR_FORMAT);
    // not a multiple of 4
    CHECK(record(1, recordSizeAndCodec, 65535 | gdeflate) == SLUICE_ERROR_FORMAT);
    // more than a tile
    CHECK(record(1, recordSizeAndCodec, 65540 | gdeflate) == SLUICE_ERROR_FORMAT);
    // store, but smaller
    CHECK(record(1, recordSizeAndCodec, 65536) == SLUICE_ERROR_FORMAT);
    CHECK(record(1, recordSizeAndCodec, 65536 | 2u << 24) == SLUICE_OK); // float
    CHECK(record(1, recordSizeAndCodec, 65536 | 3u << 24) == SLUICE_OK); // gstd
    CHECK(record(1, recordSizeAndCodec, 65536 | 4u << 24) == SLUICE_OK); // zstd
    CHECK(record(1, recordSizeAndCodec, 65536 | 5u << 24) == SLUICE_ERROR_VERSION);
    CHECK(record(1, recordSizeAndCodec, 65536 | 255u << 24) == SLUICE_ERROR_VERSION);
    CHECK(record(1, recordStoredSize, 0) == SLUICE_ERROR_FORMAT);
    CHECK(record(1, recordStoredSize, 65536) == SLUICE_ERROR_FORMAT); // gdeflate, but not smaller
    CHECK(record(3, recordStoredSize, 3000) == SLUICE_ERROR_FORMAT);  // past the extent
    CHECK(record(1, recordOffset, 96) == SLUICE_ERROR_FORMAT);        // over tile 0
    CHECK(record(0, recordOffset, 80) == SLUICE_ERROR_FORMAT);        // over the records
    CHECK(record(0, recordOffset, 97) == SLUICE_ERROR_FORMAT);
    CHECK(record(3, recordOffset + 4, 1) == SLUICE_ERROR_FORMAT);
    CHECK(record(3, recordOffset + 4, 0xffffffff) == SLUICE_ERROR_FORMAT);
    CHECK(record(1, recordFilterOffset, 4) == SLUICE_ERROR_FORMAT); // no parameter block
    // Even of stored tiles, only the last may have a size that is not a multiple of 4.
    CHECK(changed([](Editable& a) {
              storeLe32(a.record(1, 0) + recordSizeAndCodec, 65535);
              storeLe32(a.record(1, 0) + recordStoredSize, 65535);
          }) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("archive: a large gdeflate tile is rejected, a large stored one is not")
{
    // Two stored tiles, whose data lies together, are made one by hand.
    const Bytes bytes = hard(131072);
    Editable archive(pack({{"a", bytes}}));
    uint8_t* entry = archive.entry(0);
    storeLe32(entry + assetTileCount, 1);
    entry[assetTileSizeLog2] = 17;
    storeLe64(archive.header() + headerTileCount, 1);
    storeLe32(archive.record(0, 0) + recordStoredSize, 131072);
    storeLe32(archive.record(0, 0) + recordSizeAndCodec, 131072);
    archive.seal();
    CHECK(check(archive.file) == SLUICE_OK);
    storeLe32(archive.record(0, 0) + recordStoredSize, 131000);
    storeLe32(archive.record(0, 0) + recordSizeAndCodec, 131072 | 1u << 24);
    archive.seal();
    CHECK(check(archive.file) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("archive: names")
{
    const auto good = [](const std::string& name) {
        return sluiceIsArchiveName(name.data(), name.size()) == 1;
    };
    for (const char* name : {"a", "a/b", ".a", "a.", "...", "a b", "\xc3\xa4/\xf0\x9f\x8e\xae",
                             "ab:c", "a/c:d", "-", "a..b"}) {
        CHECK_MESSAGE(good(name), name);
    }
    for (const char* name : {"",
                             "/",
                             "/a",
                             "a/",
                             "a//b",
                             ".",
                             "..",
                             "a/..",
                             "../a",
                             "a/../b",
                             "a/./b",
                             "a\\b",
                             "c:",
                             "C:/a",
                             "a\x01",
                             "a\x7f",
                             "\xff",
                             "\xc3",
                             "\xc0\xaf",
                             "\xed\xa0\x80",
                             "\xf4\x90\x80\x80",
                             "\xe0\x80\xaf"}) {
        CHECK_MESSAGE(!good(name), name);
    }
    CHECK(!good(std::string("a\0b", 3)));
    CHECK(good(std::string(4096, 'a')));
    CHECK(!good(std::string(4097, 'a')));

    // Changes bytes of the names "a/empty", "a/hard", "a/soft", "b", "z/..." in place.
    const auto renamed = [](size_t at, const char* text) {
        return changed([&](Editable& a) { std::memcpy(a.names() + at, text, std::strlen(text)); });
    };
    CHECK(renamed(0, "a/Empty") == SLUICE_OK);
    CHECK(renamed(0, "../mpty") == SLUICE_ERROR_FORMAT);
    CHECK(renamed(0, "/a/mpty") == SLUICE_ERROR_FORMAT);
    CHECK(renamed(0, "a\\empty") == SLUICE_ERROR_FORMAT);
    CHECK(renamed(0, "b/empty") == SLUICE_ERROR_FORMAT); // out of order
    CHECK(renamed(13, "a/hard") == SLUICE_ERROR_FORMAT); // twice
    CHECK(renamed(19, "0") == SLUICE_ERROR_FORMAT);      // out of order
    // A file cannot have the name of the folder in which the next file is.
    CHECK(renamed(19, "z") == SLUICE_ERROR_FORMAT);

    // Nor may a file's name be that of a folder if other names lie between the file and those in
    // the folder. The writer would refuse these, so the test turns '0' into '/', the character
    // before it in the order.
    const auto slashed = [](const Assets& assets) {
        Editable archive(pack(assets));
        std::replace(archive.names(),
                     reinterpret_cast<char*>(archive.file.data()) + archive.file.size(), '0', '/');
        archive.seal();
        return check(archive.file);
    };
    CHECK(slashed({{"a", {}}, {"a b", {}}, {"a-b", {}}, {"a.x", {}}, {"a1", {}}}) == SLUICE_OK);
    CHECK(slashed({{"a", {}}, {"a0b", {}}}) == SLUICE_ERROR_FORMAT);
    CHECK(slashed({{"a", {}}, {"a!", {}}, {"a0b", {}}}) == SLUICE_ERROR_FORMAT);
    CHECK(slashed({{"a", {}}, {"a!", {}}, {"a.0c", {}}, {"a0b", {}}}) == SLUICE_ERROR_FORMAT);
    CHECK(slashed({{"a0b", {}}, {"a0b.c", {}}, {"a0b0c0d", {}}}) == SLUICE_ERROR_FORMAT);
    CHECK(slashed({{"a0b.c", {}}, {"a0b0c", {}}, {"a0b0d", {}}, {"a0bb", {}}}) == SLUICE_OK);
}

TEST_CASE("archive: parameter blocks and filters")
{
    // Adds a section of parameter blocks to a good archive, and gives one to asset 2.
    const auto withBlock = [](const Bytes& block, uint32_t offset, uint32_t filterOffset) {
        Editable archive(pack(someAssets()));
        archive.file.insert(archive.file.begin() + ptrdiff_t(archive.index + 5 * assetBytes),
                            block.begin(), block.end());
        storeLe32(archive.header() + headerBlockBytes, uint32_t(block.size()));
        storeLe64(archive.header() + headerFileSize, archive.file.size());
        storeLe32(archive.entry(2) + assetParameterOffset, offset);
        storeLe32(archive.record(2, 1) + recordFilterOffset, filterOffset);
        archive.seal();
        return check(archive.file);
    };
    // One item of kind 9: u16 kind, u16 flags, u32 size, 3 bytes, and a byte of padding.
    const Bytes block = {12, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3, 0};
    CHECK(withBlock(block, 0, 0) == SLUICE_OK);
    CHECK(withBlock(block, kNoParameters, 0) == SLUICE_OK);
    CHECK(withBlock(block, 4, 0) == SLUICE_ERROR_FORMAT); // its "length" is 9
    CHECK(withBlock(block, 2, 0) == SLUICE_ERROR_FORMAT);
    CHECK(withBlock(block, 16, 0) == SLUICE_ERROR_FORMAT);
    CHECK(withBlock(block, 0, 4) == SLUICE_ERROR_VERSION); // a filter that is not known
    CHECK(withBlock(block, 0, 12) == SLUICE_ERROR_FORMAT); // no room for an item there
    CHECK(withBlock(block, 0, 6) == SLUICE_ERROR_FORMAT);
    CHECK(withBlock(block, kNoParameters, 4) == SLUICE_ERROR_FORMAT);
    const auto blockWith = [&](size_t at, uint8_t value) {
        Bytes bad = block;
        bad[at] = value;
        return withBlock(bad, 0, 0);
    };
    CHECK(blockWith(0, 8) == SLUICE_ERROR_FORMAT);  // an item that does not fit
    CHECK(blockWith(0, 16) == SLUICE_ERROR_FORMAT); // a block that does not fit
    CHECK(blockWith(0, 11) == SLUICE_ERROR_FORMAT);
    CHECK(blockWith(6, 1) == SLUICE_ERROR_VERSION); // an item that a reader must know
    CHECK(blockWith(8, 5) == SLUICE_ERROR_FORMAT);
    CHECK(blockWith(11, 0xff) == SLUICE_ERROR_FORMAT);
    CHECK(blockWith(0, 0) == SLUICE_OK); // an empty block
}

TEST_CASE("archive: many assets may share a block, but not forever")
{
    // Returns an archive of 2^10 assets that have one block of this size, full of empty items.
    const auto shared = [](uint32_t size) {
        Assets assets;
        for (int i = 0; i < 1024; ++i) {
            assets[std::to_string(i)];
        }
        Editable archive(pack(assets));
        Bytes block(size + 4);
        storeLe32(block.data(), size);
        archive.file.insert(archive.file.begin() + ptrdiff_t(archive.index + 1024 * assetBytes),
                            block.begin(), block.end());
        storeLe32(archive.header() + headerBlockBytes, uint32_t(block.size()));
        storeLe64(archive.header() + headerFileSize, archive.file.size());
        for (uint32_t i = 0; i < 1024; ++i) {
            storeLe32(archive.entry(i) + assetParameterOffset, 0);
        }
        archive.seal();
        return check(archive.file);
    };
    CHECK(shared(1 << 18) == SLUICE_OK);
    CHECK(shared((1 << 18) + 8) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("archive: assets above 4 GiB")
{
    // 70,000 stored tiles of 64 KiB. The sink keeps the beginning of the file and drops the rest.
    struct Sink {
        Bytes head;
        uint64_t end = 0;
        Bytes tail; // the index

        static SluiceStatus write(void* user, uint64_t offset, const void* bytes, size_t size)
        {
            Sink& sink = *static_cast<Sink*>(user);
            constexpr uint64_t keep = 4 << 20;
            if (offset < keep) {
                sink.head.resize(std::max(sink.head.size(), size_t(offset) + size));
                std::memcpy(sink.head.data() + offset, bytes, size);
            } else if (size < 65536) { // the index, in two pieces
                const uint8_t* from = static_cast<const uint8_t*>(bytes);
                sink.tail.insert(sink.tail.end(), from, from + size);
            }
            sink.end = std::max(sink.end, offset + size);
            return SLUICE_OK;
        }
    } sink;
    uint64_t bytesRead = 0;
    const SluiceReadBytes zeros = [](void* user, void* bytes, size_t size) {
        std::memset(bytes, 0, size);
        *static_cast<uint64_t*>(user) += size;
        return SLUICE_OK;
    };
    const uint64_t size = uint64_t(70000) * 65536 - 5;
    REQUIRE(size > uint64_t(1) << 32);
    const SluiceArchiveWriterInfo info = {
        SLUICE_CODEC_STORE, 0, 0, 2, Sink::write, &sink, 0, 0, nullptr, 0, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    const SluiceArchiveAssetInfo big = {"big",   3, 0, size,    zeros,  &bytesRead,
                                        nullptr, 0, 0, nullptr, nullptr};
    REQUIRE(sluiceAddArchiveAsset(writer, &big) == SLUICE_OK);
    const SluiceArchiveAssetInfo small = {"small", 5, 0, 0,       nullptr, nullptr,
                                          nullptr, 0, 0, nullptr, nullptr};
    REQUIRE(sluiceAddArchiveAsset(writer, &small) == SLUICE_OK);
    SluiceArchiveStats stats = {};
    REQUIRE(sluiceFinishArchive(writer, &stats) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    CHECK(bytesRead == size);
    CHECK(stats.bytesOut == sink.end);

    SluiceArchive archive;
    REQUIRE(sluiceParseArchiveHeader(sink.head.data(), 64, sink.end, &archive) == SLUICE_OK);
    REQUIRE(sink.tail.size() == archive.indexSize);
    REQUIRE(sluiceCheckArchiveIndex(&archive, sink.tail.data(), sink.tail.size(), nullptr) ==
            SLUICE_OK);
    SluiceArchiveAsset asset;
    REQUIRE(sluiceGetArchiveAsset(&archive, sink.tail.data(), sink.tail.size(), 0, &asset) ==
            SLUICE_OK);
    CHECK(asset.size == size);
    CHECK(asset.tileCount == 70000);
    std::vector<SluiceArchiveTile> tiles(asset.tileCount);
    SluiceArchiveTileReader reader;
    REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
    REQUIRE(sluiceParseArchiveTiles(&reader, sink.head.data() + asset.offset,
                                    sink.head.size() - size_t(asset.offset), asset.tileCount,
                                    tiles.data()) == SLUICE_OK);
    CHECK(tiles.back().outputOffset == size - 65531);
    CHECK(tiles.back().offset > uint64_t(1) << 32);
    CHECK(tiles.back().size == 65531);
}
