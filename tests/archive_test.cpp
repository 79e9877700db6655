// SPDX-License-Identifier: MIT OR Apache-2.0
// The .sluice archive: what the writer writes, what the reader must reject, names, versions, sizes above 4 GiB.
#include "archive_io.h"
#include "devices.h"

#include <sluice/sluice_filter_encode.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../src/formats/archive_layout.h"

using namespace sluice;
using sluice::test::MemorySource;
using sluice::test::writeMemory;

namespace {

using Bytes = std::vector<uint8_t>;

using Assets = std::map<std::string, Bytes>; // ordered as archives are

Bytes pack(const Assets& assets, SluiceCodec codec = SLUICE_CODEC_GDEFLATE, uint32_t threads = 1)
{
    Bytes archive;
    const SluiceArchiveWriterInfo info = {codec, 3, 0, threads, writeMemory, &archive, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    uint64_t bytesIn = 0;
    for (const auto& [name, bytes] : assets) {
        MemorySource source = {bytes};
        const SluiceArchiveAssetInfo asset = {name.data(), name.size(), 0, bytes.size(), MemorySource::read,
                                              &source,     nullptr,     0, 0,            nullptr, nullptr};
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

// Everything that a reader does before it decodes.
SluiceStatus check(const Bytes& file)
{
    SluiceArchive archive;
    SluiceStatus status =
        sluiceParseArchiveHeader(file.data(), std::min<size_t>(file.size(), 64), file.size(), &archive);
    if (status != SLUICE_OK) {
        return status;
    }
    const uint8_t* index = file.data() + archive.indexOffset;
    const size_t indexSize = size_t(archive.indexSize);
    status = sluiceCheckArchiveIndex(&archive, index, indexSize, nullptr);
    for (uint32_t i = 0; status == SLUICE_OK && i < archive.assetCount; ++i) {
        SluiceArchiveAsset asset;
        REQUIRE(sluiceGetArchiveAsset(&archive, index, indexSize, i, &asset) == SLUICE_OK);
        std::vector<SluiceArchiveTile> tiles(asset.tileCount);
        SluiceArchiveTileReader reader;
        REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
        status = sluiceParseArchiveTiles(&reader, file.data() + asset.offset, size_t(asset.extentSize), asset.tileCount,
                                         tiles.data());
    }
    return status;
}

// An archive taken apart, to be changed and put together again with right checksums.
struct Editable {
    Bytes file;
    size_t index = 0, indexSize = 0;

    explicit Editable(Bytes bytes) : file(std::move(bytes))
    {
        index = size_t(loadLe64(&file[headerIndexOffset]));
        indexSize = file.size() - index;
    }
    uint8_t* header() { return file.data(); }
    uint8_t* entry(uint32_t asset) { return file.data() + index + size_t(asset) * assetBytes; }
    uint8_t* record(uint32_t asset, uint32_t tile)
    {
        return file.data() + loadLe64(entry(asset) + assetOffset) + size_t(tile) * recordBytes;
    }
    char* names() { return reinterpret_cast<char*>(file.data()) + file.size() - loadLe32(&file[headerNameBytes]); }
    void seal()
    {
        for (uint32_t i = 0; i < loadLe32(&file[headerAssetCount]); ++i) {
            const uint64_t offset = loadLe64(entry(i) + assetOffset);
            const uint64_t size = uint64_t(loadLe32(entry(i) + assetTileCount)) * recordBytes;
            if (offset <= file.size() && size <= file.size() - offset) {
                storeLe32(entry(i) + assetTileChecksum, xxh32(file.data() + offset, size_t(size), 0));
            }
        }
        storeLe32(&file[headerIndexChecksum], xxh32(file.data() + index, file.size() - index, 0));
        sealHeader();
    }
    void sealHeader() { storeLe32(&file[headerChecksum], xxh32(file.data(), headerChecksum, 0)); }
};

Bytes soft(size_t size) // compresses well
{
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = uint8_t(i / 100);
    }
    return bytes;
}

Bytes hard(size_t size) // does not compress
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
    SluiceRegion region = {reinterpret_cast<uintptr_t>(source.data()), reinterpret_cast<uintptr_t>(output.data()),
                           tile.storedSize, tile.size};
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

Assets someAssets()
{
    return {{"a/empty", {}},
            {"a/hard", hard(150000)},
            {"a/soft", soft(200001)},
            {"b", soft(5)},
            {"z/\xc3\xa4 \xe2\x82\xac", {}}};
}

// Applies `change` to a good archive of someAssets, seals it, and says what a reader makes of it.
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
            REQUIRE(sluiceFindArchiveAsset(&archive, index, size_t(archive.indexSize), name.data(), name.size(),
                                           &number) == SLUICE_OK);
            REQUIRE(number != 0xffffffffu);
            SluiceArchiveAsset asset;
            REQUIRE(sluiceGetArchiveAsset(&archive, index, size_t(archive.indexSize), number, &asset) == SLUICE_OK);
            CHECK(std::string(asset.name, asset.nameLength) == name);
            CHECK(asset.size == bytes.size());
            CHECK(asset.parameters == nullptr);
            std::vector<SluiceArchiveTile> tiles(asset.tileCount + 1);
            SluiceArchiveTileReader reader;
            REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
            for (uint32_t i = 0; i < asset.tileCount; ++i) { // one at a time
                REQUIRE(sluiceParseArchiveTiles(&reader, file.data() + asset.offset + i * recordBytes, recordBytes, 1,
                                                &tiles[i]) == SLUICE_OK);
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
        CHECK(sluiceFindArchiveAsset(&archive, index, size_t(archive.indexSize), "a", 1, &number) == SLUICE_OK);
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
    const SluiceArchiveWriterInfo info = {SLUICE_CODEC_STORE, 0, 0, 1, writeMemory, &output, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    const auto add = [&](const std::string& name, uint64_t size = 0) {
        const SluiceArchiveAssetInfo asset = {name.data(), name.size(), 0, size, nullptr,
                                              nullptr,     nullptr,     0, 0,    nullptr, nullptr};
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

TEST_CASE("archive: failing callbacks end the writer")
{
    const auto failRead = [](void*, void*, size_t) { return SLUICE_ERROR_IO; };
    const auto failWrite = [](void*, uint64_t, const void*, size_t) { return SLUICE_ERROR_IO; };
    Bytes output;
    const Bytes bytes = soft(500000);
    for (const uint32_t threads : {1u, 3u}) {
        SluiceArchiveWriterInfo info = {SLUICE_CODEC_GDEFLATE, 1, 0, threads, writeMemory, &output, 0};
        SluiceArchiveWriter writer = nullptr;
        REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
        SluiceArchiveAssetInfo asset = {"a", 1, 0, bytes.size(), failRead, nullptr, nullptr, 0, 0, nullptr, nullptr};
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
        CHECK_MESSAGE((status == SLUICE_ERROR_CHECKSUM || status == SLUICE_ERROR_FORMAT), "byte ", place, " status ",
                      int(status));
    }
}

TEST_CASE("archive: every rule of the header")
{
    CHECK(changed([](Editable&) {}) == SLUICE_OK);
    const auto header = [](uint32_t field, uint32_t value) {
        return changed([&](Editable& a) { storeLe32(a.header() + field, value); });
    };
    CHECK(header(headerVersionMajor, 2) == SLUICE_ERROR_VERSION);
    CHECK(header(headerVersionMajor, 0) == SLUICE_ERROR_FORMAT);
    CHECK(header(headerVersionMajor, 1 | 7 << 16) == SLUICE_OK); // a newer minor version
    CHECK(header(headerReserved, 1) == SLUICE_ERROR_FORMAT);
    CHECK(changed([](Editable& a) { // which may use what is reserved here
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
    const auto record = [](uint32_t tile, uint32_t field, uint32_t value) { // of asset 2, a/soft: 4 tiles
        return changed([&](Editable& a) { storeLe32(a.record(2, tile) + field, value); });
    };
    const uint32_t gdeflate = 1u << 24;
    CHECK(record(1, recordSizeAndCodec, 65536 | gdeflate) == SLUICE_OK);
    CHECK(record(1, recordSizeAndCodec, gdeflate) == SLUICE_ERROR_FORMAT);
    CHECK(record(1, recordSizeAndCodec, 65532 | gdeflate) == SLUICE_ERROR_FORMAT); // the sum is too small
    CHECK(record(1, recordSizeAndCodec, 65535 | gdeflate) == SLUICE_ERROR_FORMAT); // not a multiple of 4
    CHECK(record(1, recordSizeAndCodec, 65540 | gdeflate) == SLUICE_ERROR_FORMAT); // more than a tile
    CHECK(record(1, recordSizeAndCodec, 65536) == SLUICE_ERROR_FORMAT);            // store, but smaller
    CHECK(record(1, recordSizeAndCodec, 65536 | 2u << 24) == SLUICE_OK); // float
    CHECK(record(1, recordSizeAndCodec, 65536 | 3u << 24) == SLUICE_OK); // gstd
    CHECK(record(1, recordSizeAndCodec, 65536 | 4u << 24) == SLUICE_ERROR_VERSION);
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
    CHECK(changed([](Editable& a) { // a stored tile too: only the last may have a size that is not a multiple of 4
              storeLe32(a.record(1, 0) + recordSizeAndCodec, 65535);
              storeLe32(a.record(1, 0) + recordStoredSize, 65535);
          }) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("archive: a large gdeflate tile is rejected, a large stored one is not")
{
    const Bytes bytes = hard(131072); // two stored tiles, made one by hand: data lies together
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
    const auto good = [](const std::string& name) { return sluiceIsArchiveName(name.data(), name.size()) == 1; };
    for (const char* name :
         {"a", "a/b", ".a", "a.", "...", "a b", "\xc3\xa4/\xf0\x9f\x8e\xae", "ab:c", "a/c:d", "-", "a..b"}) {
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

    // "a/empty", "a/hard", "a/soft", "b", "z/...": changed in place.
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
    CHECK(renamed(19, "z") == SLUICE_ERROR_FORMAT);      // a file where the next one needs a folder

    // The same with names between the file and what is in the folder. The writer would refuse them: '0' is turned into
    // '/', which comes just before it in the order.
    const auto slashed = [](const Assets& assets) {
        Editable archive(pack(assets));
        std::replace(archive.names(), reinterpret_cast<char*>(archive.file.data()) + archive.file.size(), '0', '/');
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
    // Adds a block section to a good archive, and gives it to asset 2.
    const auto withBlock = [](const Bytes& block, uint32_t offset, uint32_t filterOffset) {
        Editable archive(pack(someAssets()));
        archive.file.insert(archive.file.begin() + ptrdiff_t(archive.index + 5 * assetBytes), block.begin(),
                            block.end());
        storeLe32(archive.header() + headerBlockBytes, uint32_t(block.size()));
        storeLe64(archive.header() + headerFileSize, archive.file.size());
        storeLe32(archive.entry(2) + assetParameterOffset, offset);
        storeLe32(archive.record(2, 1) + recordFilterOffset, filterOffset);
        archive.seal();
        return check(archive.file);
    };
    // One item of kind 9: u16 kind, u16 flags, u32 size, 3 bytes and one of padding.
    const Bytes block = {12, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3, 0};
    CHECK(withBlock(block, 0, 0) == SLUICE_OK);
    CHECK(withBlock(block, noParameters, 0) == SLUICE_OK);
    CHECK(withBlock(block, 4, 0) == SLUICE_ERROR_FORMAT); // its "length" is 9
    CHECK(withBlock(block, 2, 0) == SLUICE_ERROR_FORMAT);
    CHECK(withBlock(block, 16, 0) == SLUICE_ERROR_FORMAT);
    CHECK(withBlock(block, 0, 4) == SLUICE_ERROR_VERSION); // a filter that is not known
    CHECK(withBlock(block, 0, 12) == SLUICE_ERROR_FORMAT); // no room for an item there
    CHECK(withBlock(block, 0, 6) == SLUICE_ERROR_FORMAT);
    CHECK(withBlock(block, noParameters, 4) == SLUICE_ERROR_FORMAT);
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
    // 2^10 assets with one block of the given size, full of empty items.
    const auto shared = [](uint32_t size) {
        Assets assets;
        for (int i = 0; i < 1024; ++i) {
            assets[std::to_string(i)];
        }
        Editable archive(pack(assets));
        Bytes block(size + 4);
        storeLe32(block.data(), size);
        archive.file.insert(archive.file.begin() + ptrdiff_t(archive.index + 1024 * assetBytes), block.begin(),
                            block.end());
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
    // 70,000 tiles of 64 KiB, stored: a sink that keeps the head of the file and drops the rest.
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
    const SluiceArchiveWriterInfo info = {SLUICE_CODEC_STORE, 0, 0, 2, Sink::write, &sink, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    const SluiceArchiveAssetInfo big = {"big", 3, 0, size, zeros, &bytesRead, nullptr, 0, 0, nullptr, nullptr};
    REQUIRE(sluiceAddArchiveAsset(writer, &big) == SLUICE_OK);
    const SluiceArchiveAssetInfo small = {"small", 5, 0, 0, nullptr, nullptr, nullptr, 0, 0, nullptr, nullptr};
    REQUIRE(sluiceAddArchiveAsset(writer, &small) == SLUICE_OK);
    SluiceArchiveStats stats = {};
    REQUIRE(sluiceFinishArchive(writer, &stats) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    CHECK(bytesRead == size);
    CHECK(stats.bytesOut == sink.end);

    SluiceArchive archive;
    REQUIRE(sluiceParseArchiveHeader(sink.head.data(), 64, sink.end, &archive) == SLUICE_OK);
    REQUIRE(sink.tail.size() == archive.indexSize);
    REQUIRE(sluiceCheckArchiveIndex(&archive, sink.tail.data(), sink.tail.size(), nullptr) == SLUICE_OK);
    SluiceArchiveAsset asset;
    REQUIRE(sluiceGetArchiveAsset(&archive, sink.tail.data(), sink.tail.size(), 0, &asset) == SLUICE_OK);
    CHECK(asset.size == size);
    CHECK(asset.tileCount == 70000);
    std::vector<SluiceArchiveTile> tiles(asset.tileCount);
    SluiceArchiveTileReader reader;
    REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
    REQUIRE(sluiceParseArchiveTiles(&reader, sink.head.data() + asset.offset, sink.head.size() - size_t(asset.offset),
                                    asset.tileCount, tiles.data()) == SLUICE_OK);
    CHECK(tiles.back().outputOffset == size - 65531);
    CHECK(tiles.back().offset > uint64_t(1) << 32);
    CHECK(tiles.back().size == 65531);
}

namespace {

// One asset with segments, packed.
struct Segmented {
    Bytes bytes;
    std::vector<SluiceArchiveSegment> segments;
    Bytes parameters;

    void add(const Bytes& more, SluiceArchiveSegment segment)
    {
        segment.size = more.size();
        segments.push_back(segment);
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    SluiceStatus addTo(SluiceArchiveWriter writer, const std::string& name) const
    {
        MemorySource source = {bytes};
        const SluiceArchiveAssetInfo info = {name.data(),        name.size(),
                                             0,                  bytes.size(),
                                             MemorySource::read, &source,
                                             segments.data(),    uint32_t(segments.size()),
                                             uint32_t(parameters.size()), parameters.data(), nullptr};
        return sluiceAddArchiveAsset(writer, &info);
    }
    // What the writer says; where it is OK, archive receives the file.
    SluiceStatus pack(Bytes& archive, uint32_t threads = 1) const
    {
        archive.clear();
        const SluiceArchiveWriterInfo info = {SLUICE_CODEC_STORE, 0, 0, threads, writeMemory, &archive, 0};
        SluiceArchiveWriter writer = nullptr;
        REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
        const SluiceStatus status = addTo(writer, "asset");
        CHECK(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
        sluiceDestroyArchiveWriter(writer);
        return status;
    }
};

SluiceArchiveAsset onlyAsset(const Bytes& file)
{
    SluiceArchive archive;
    REQUIRE(sluiceParseArchiveHeader(file.data(), 64, file.size(), &archive) == SLUICE_OK);
    const uint8_t* index = file.data() + archive.indexOffset;
    SluiceArchiveAsset asset;
    REQUIRE(sluiceGetArchiveAsset(&archive, index, size_t(archive.indexSize), 0, &asset) == SLUICE_OK);
    return asset;
}

// All records of the only asset; status: what the parser says after the last.
std::vector<SluiceArchiveTile> tilesOf(const Bytes& file, SluiceStatus expected = SLUICE_OK)
{
    const SluiceArchiveAsset asset = onlyAsset(file);
    std::vector<SluiceArchiveTile> tiles(asset.tileCount);
    SluiceArchiveTileReader reader;
    REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
    REQUIRE(sluiceParseArchiveTiles(&reader, file.data() + asset.offset, size_t(asset.extentSize), asset.tileCount,
                                    tiles.data()) == expected);
    return tiles;
}

constexpr SluiceArchiveSegment stored(uint32_t tileSize)
{
    return {0, SLUICE_CODEC_STORE, tileSize, 0, 0, 0, 0, 0, 0};
}
constexpr SluiceArchiveSegment gdeflate(uint32_t level, uint32_t tileSize = 65536)
{
    return {0, SLUICE_CODEC_GDEFLATE, tileSize, level, 0, 0, 0, 0, 0};
}

} // namespace

TEST_CASE("archive: segments, each with its codec and tiles of its own")
{
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    Segmented asset;
    asset.add(soft(100000), gdeflate(2));
    asset.add({}, gdeflate(3));
    asset.add(hard(70000), gdeflate(9));
    asset.add(hard(1300000), stored(1 << 20));
    asset.add(soft(4), gdeflate(1));
    asset.add(soft(200003), gdeflate(9, 4096));
    Bytes file, again;
    REQUIRE(asset.pack(file) == SLUICE_OK);
    CHECK(check(file) == SLUICE_OK);
    for (const uint32_t threads : {2u, 5u}) {
        REQUIRE(asset.pack(again, threads) == SLUICE_OK);
        CHECK(again == file);
    }
    CHECK(onlyAsset(file).tileSizeLog2 == 20);
    uint64_t segmentEnd = 0;
    size_t segment = 0;
    for (const SluiceArchiveTile& tile : tilesOf(file)) {
        while (tile.outputOffset >= segmentEnd) { // a segment starts a tile
            CHECK(tile.outputOffset == segmentEnd);
            segmentEnd += asset.segments[segment++].size;
        }
        const SluiceArchiveSegment& from = asset.segments[segment - 1];
        CHECK(tile.size == std::min<uint64_t>(from.tileSize, segmentEnd - tile.outputOffset));
        const bool small = from.codec == SLUICE_CODEC_STORE || from.size == 70000 || from.size == 4;
        CHECK(tile.codec == uint32_t(small ? SLUICE_CODEC_STORE : SLUICE_CODEC_GDEFLATE));
        const uint8_t* bytes = file.data() + onlyAsset(file).offset + tile.offset;
        const Bytes decoded =
            small ? Bytes(bytes, bytes + tile.size) : decodeGdeflate(context, bytes, tile);
        CHECK(std::equal(decoded.begin(), decoded.end(), asset.bytes.begin() + ptrdiff_t(tile.outputOffset)));
        CHECK(tile.checksum == sluiceTileChecksum(decoded.data(), decoded.size()));
    }
    CHECK(segmentEnd == asset.bytes.size());
    sluiceDestroyContext(context);

    const std::map<uint32_t, uint32_t> logarithms = {{4, 16}, {65536, 16}, {65540, 17}, {1 << 19, 19}};
    for (const auto& [tileSize, log2] : logarithms) {
        Segmented other;
        other.add(hard(100), stored(tileSize));
        REQUIRE(other.pack(file) == SLUICE_OK);
        CHECK(onlyAsset(file).tileSizeLog2 == log2);
        CHECK(check(file) == SLUICE_OK);
    }
}

TEST_CASE("archive: segments and parameters that the writer refuses")
{
    Bytes file;
    const auto status = [&](const std::function<void(Segmented&)>& change) {
        Segmented asset;
        asset.add(soft(65536), gdeflate(1));
        asset.add(soft(10), stored(65536));
        change(asset);
        const SluiceStatus result = asset.pack(file);
        CHECK(check(file) == SLUICE_OK); // a refused asset leaves nothing behind
        return result;
    };
    const auto first = [&](const std::function<void(SluiceArchiveSegment&)>& change) {
        return status([&](Segmented& asset) { change(asset.segments[0]); });
    };
    CHECK(status([](Segmented&) {}) == SLUICE_OK);
    CHECK(first([](auto& s) { s.size += 4; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.size = ~uint64_t(0); }) == SLUICE_ERROR_ARGUMENT);
    CHECK(status([](Segmented& a) { a.segments.pop_back(); }) == SLUICE_ERROR_ARGUMENT);
    CHECK(status([](Segmented& a) { --a.segments[0].size, ++a.segments[1].size; }) == SLUICE_ERROR_ARGUMENT);
    for (const uint32_t tileSize : {0u, 2u, 65538u, 65540u, (1u << 20) + 4}) {
        CHECK(first([&](auto& s) { s.tileSize = tileSize; }) == SLUICE_ERROR_ARGUMENT);
    }
    CHECK(first([](auto& s) { s.level = 0; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.level = 13; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.decodeSpeed = 7; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.codec = SluiceCodec(77); }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.filterOffset = 4; }) == SLUICE_ERROR_ARGUMENT); // no parameters
    CHECK(first([](auto& s) { s.filterTrial = 2; }) == SLUICE_ERROR_ARGUMENT);
    const Bytes item = {1, 0, 0, 0, 4, 0, 0, 0, 9, 9, 9, 9};
    CHECK(status([&](Segmented& a) { a.parameters = item; }) == SLUICE_OK);
    CHECK(status([&](Segmented& a) { a.parameters = Bytes(item.begin(), item.end() - 4); }) == SLUICE_ERROR_ARGUMENT);
    CHECK(status([&](Segmented& a) { a.parameters = Bytes(item.begin(), item.end() - 1); }) == SLUICE_ERROR_ARGUMENT);
    for (const uint32_t offset : {2u, 12u, 400u}) {
        CHECK(status([&](Segmented& a) {
                  a.parameters = item;
                  a.segments[0].filterOffset = offset;
              }) == SLUICE_ERROR_ARGUMENT);
    }
}

TEST_CASE("archive: parameter blocks are written, shared by neighbours; filters reach the records")
{
    Segmented asset, other;
    asset.add(soft(65536), gdeflate(1));
    asset.add(hard(100), gdeflate(1));
    asset.parameters = {1, 0, 0, 0, 4, 0, 0, 0, 9, 9, 9, 9};
    other.parameters = {2, 0, 0, 0, 0, 0, 0, 0};
    Bytes file;
    const SluiceArchiveWriterInfo info = {SLUICE_CODEC_STORE, 0, 0, 1, writeMemory, &file, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    const std::vector<const Segmented*> order = {&asset, &asset, &other, &asset};
    for (size_t i = 0; i < order.size(); ++i) {
        REQUIRE(order[i]->addTo(writer, std::to_string(i)) == SLUICE_OK);
    }
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    CHECK(check(file) == SLUICE_OK);
    SluiceArchive archive;
    REQUIRE(sluiceParseArchiveHeader(file.data(), 64, file.size(), &archive) == SLUICE_OK);
    CHECK(archive.blockBytes == 16 + 12 + 16);
    for (uint32_t i = 0; i < 4; ++i) {
        SluiceArchiveAsset found;
        REQUIRE(sluiceGetArchiveAsset(&archive, file.data() + archive.indexOffset, size_t(archive.indexSize), i,
                                      &found) == SLUICE_OK);
        const uint8_t* bytes = static_cast<const uint8_t*>(found.parameters);
        CHECK(Bytes(bytes, bytes + found.parameterSize) == order[i]->parameters);
    }

    for (SluiceArchiveSegment& segment : asset.segments) {
        segment.filterOffset = 4;
    }
    CHECK(asset.pack(file) == SLUICE_ERROR_ARGUMENT); // that is no filter
}

namespace {

// Records of 4 bytes, and the block of their filter: differences.
struct FilteredRamp {
    Bytes ramp, description, parameters;
};

FilteredRamp filteredRamp()
{
    FilteredRamp made;
    made.ramp.resize(65536);
    for (uint32_t i = 0; i < made.ramp.size() / 4; ++i) {
        storeLe32(&made.ramp[4 * size_t(i)], i * i * 77);
    }
    SluiceFilterPlanInfo info = {};
    info.maxTileSize = 65536;
    info.features = SLUICE_FILTER_DIFFERENCE;
    info.force = 1;
    info.layout = SLUICE_FILTER_LAYOUT_RECORDS;
    info.stride = info.columnSize = 4;
    SluiceFilterPlan plan = nullptr;
    REQUIRE(sluiceCreateFilterPlan(made.ramp.data(), made.ramp.size(), &info, &plan) == SLUICE_OK);
    uint32_t count = 0, size = 0;
    const SluiceFilterSegment* found = sluiceGetFilterSegments(plan, &count);
    const uint8_t* parameters = static_cast<const uint8_t*>(sluiceGetFilterParameters(plan, &size));
    REQUIRE(count == 1);
    REQUIRE(found->filterOffset == 4);
    CHECK(found->doubtful == 0); // forced
    const uint8_t* description = static_cast<const uint8_t*>(found->description);
    made.description.assign(description, description + found->descriptionSize);
    made.parameters.assign(parameters, parameters + size);
    sluiceDestroyFilterPlan(plan);
    return made;
}

} // namespace

TEST_CASE("archive: tiles are filtered, but for those that are stored")
{
    const FilteredRamp filter = filteredRamp();
    const Bytes& ramp = filter.ramp;
    Segmented asset;
    asset.add(ramp, gdeflate(9));
    asset.add(hard(100), gdeflate(9));
    asset.parameters = filter.parameters;
    Bytes plain, file;
    REQUIRE(asset.pack(plain) == SLUICE_OK);
    for (SluiceArchiveSegment& segment : asset.segments) {
        segment.filterOffset = 4;
    }
    REQUIRE(asset.pack(file) == SLUICE_OK);
    const std::vector<SluiceArchiveTile> tiles = tilesOf(file);
    CHECK(tiles[0].filterOffset == 4);
    CHECK(tiles[1].filterOffset == 0); // stored
    CHECK(tiles[0].storedSize < tilesOf(plain)[0].storedSize);
    CHECK(tiles[0].checksum == sluiceTileChecksum(ramp.data(), ramp.size()));
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    Bytes decoded = decodeGdeflate(context, file.data() + onlyAsset(file).offset + tiles[0].offset, tiles[0]);
    Bytes undone(decoded.size());
    REQUIRE(sluiceUndoFilter(filter.description.data(), filter.description.size(), decoded.data(), undone.data(),
                             undone.size()) == SLUICE_OK);
    CHECK(undone == ramp);
    sluiceDestroyContext(context);

    // What a reader says of other descriptions: of a newer version, damaged, and cut off.
    const auto changed = [&](size_t at, uint8_t value) {
        Editable archive(file);
        archive.file[archive.index + assetBytes + 4 + at] = value;
        archive.seal();
        tilesOf(archive.file, at == 8 ? SLUICE_ERROR_VERSION : SLUICE_ERROR_FORMAT);
    };
    changed(8, 2);                                // version
    changed(10, 0);                               // no section
    changed(4, uint8_t(filter.description.size() + 4)); // more than there is
}

TEST_CASE("archive: filters on trial stay where they pay, and parameters where a tile or anybody else wants them")
{
    const FilteredRamp filter = filteredRamp();
    Bytes words; // of one to five letters, in any order: differences of records only hurt
    std::mt19937 random = sluice::test::makeRandom(58);
    while (words.size() < 65536) {
        const char* const word = std::array<const char*, 7>{"a ", "of ", "the ", "gate ", "water ", "flows ", "lock "}[random() % 7];
        words.insert(words.end(), word, word + std::strlen(word));
    }
    words.resize(65536);
    const Bytes unknownItem = {9, 0, 0, 0, 2, 0, 0, 0, 1, 2, 0, 0};
    const auto packed = [&](const std::vector<Bytes>& parts, uint32_t filterOffset, uint32_t trial, const Bytes& parameters,
                            SluiceCodec codec = SLUICE_CODEC_GSTD) {
        Segmented asset;
        for (const Bytes& part : parts) {
            SluiceArchiveSegment segment = {0, codec, 65536, 9, 0, filterOffset, 0, 4, trial};
            asset.add(part, segment);
        }
        asset.parameters = parameters;
        Bytes one, two;
        REQUIRE(asset.pack(one) == SLUICE_OK);
        REQUIRE(asset.pack(two, 3) == SLUICE_OK);
        CHECK(one == two);
        return one;
    };
    const auto filters = [](const Bytes& file) {
        std::vector<uint32_t> offsets;
        for (const SluiceArchiveTile& tile : tilesOf(file)) offsets.push_back(tile.filterOffset);
        return offsets;
    };
    const Bytes& block = filter.parameters;
    CHECK(packed({filter.ramp}, 4, 1, block) == packed({filter.ramp}, 4, 0, block));
    CHECK(packed({words}, 4, 1, block) == packed({words}, 0, 0, {}));
    CHECK((filters(packed({words}, 4, 0, block)) == std::vector<uint32_t>{4}));
    const Bytes both = packed({words, filter.ramp}, 4, 1, block);
    CHECK((filters(both) == std::vector<uint32_t>{0, 4}));
    CHECK(both.size() < packed({words, filter.ramp}, 4, 0, block).size());
    Bytes more = block;
    more.insert(more.end(), unknownItem.begin(), unknownItem.end());
    const Bytes kept = packed({words}, 4, 1, more);
    CHECK((filters(kept) == std::vector<uint32_t>{0}));
    CHECK(onlyAsset(kept).parameterSize == more.size());

    // A tile that no encoding makes smaller counts as it is: the filter may not win against what would never be written.
    for (uint32_t rampWords = 4; rampWords < 80; rampWords += 4) {
        CAPTURE(rampWords);
        Bytes noise = hard(4096);
        for (uint32_t i = 0; i < rampWords; ++i) {
            storeLe32(&noise[2048 + 4 * size_t(i)], i * i * 77);
        }
        const std::vector<Bytes> noisy(4, noise);
        for (const SluiceCodec codec : {SLUICE_CODEC_GSTD, SLUICE_CODEC_GDEFLATE}) {
            CHECK(packed(noisy, 4, 1, block, codec).size() <= packed(noisy, 0, 0, {}, codec).size());
        }
    }

    // Matches that the caller knows are of the bytes without a filter.
    Segmented matched;
    matched.add(words, {0, SLUICE_CODEC_GSTD, 65536, 9, 0, 4, 0, 4, 1});
    matched.parameters = block;
    Bytes with;
    const SluiceArchiveWriterInfo single = {SLUICE_CODEC_STORE, 0, 0, 1, writeMemory, &with, 0};
    SluiceArchiveWriter knowing = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&single, &knowing) == SLUICE_OK);
    MemorySource source = {words};
    const auto noMatches = [](void*, uint64_t, uint32_t, SluiceGstdMatch*, uint32_t* count) {
        *count = 0;
        return SLUICE_OK;
    };
    const SluiceArchiveAssetInfo known = {"asset", 5, 0, words.size(), MemorySource::read, &source, matched.segments.data(), 1,
                                          uint32_t(block.size()), block.data(), noMatches};
    CHECK(sluiceAddArchiveAsset(knowing, &known) == SLUICE_OK);
    CHECK(sluiceFinishArchive(knowing, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(knowing);
    // Without a match it is the filter that wins.
    CHECK((filters(with) == std::vector<uint32_t>{4}));

    // Assets that share a block, of which the last wants it; the next one has another.
    Bytes archive;
    const SluiceArchiveWriterInfo info = {SLUICE_CODEC_STORE, 0, 0, 2, writeMemory, &archive, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    const auto add = [&](const char* name, const Bytes& bytes, const Bytes& parameters) {
        Segmented asset;
        asset.add(bytes, {0, SLUICE_CODEC_GSTD, 65536, 9, 0, 4, 0, 4, 1});
        asset.parameters = parameters;
        CHECK(asset.addTo(writer, name) == SLUICE_OK);
    };
    add("a", words, block);
    add("b", words, more);
    add("c", filter.ramp, block);
    add("d", filter.ramp, block);
    add("e", words, block);
    CHECK(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    SluiceArchive parsed;
    REQUIRE(sluiceParseArchiveHeader(archive.data(), 64, archive.size(), &parsed) == SLUICE_OK);
    const Bytes wanted[] = {{}, more, block, block, {}};
    for (uint32_t i = 0; i < 5; ++i) {
        SluiceArchiveAsset asset;
        REQUIRE(sluiceGetArchiveAsset(&parsed, archive.data() + parsed.indexOffset, size_t(parsed.indexSize), i, &asset) == SLUICE_OK);
        const uint8_t* bytes = static_cast<const uint8_t*>(asset.parameters);
        CHECK(Bytes(bytes, bytes + asset.parameterSize) == wanted[i]);
    }
}
