// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests assets that share tiles: archives with them are written, read and joined, and refused if
// anything is wrong.
#include "tests/support/packed_archives.h"

#include "tests/support/archive_io.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "encode/archive/archive_index.h"

namespace sluice::test {
namespace {

PackedAsset plainAsset(const std::string& name, Bytes bytes, bool filtered = false)
{
    PackedAsset asset;
    asset.name = name;
    asset.add(bytes, SLUICE_CODEC_STORE, 65536);
    if (filtered) asset.parameters = assetOfAllCodecs("", 1).parameters;
    return asset;
}

// Two shares, whose parts alternate in the order of names, and assets with tiles of their own.
struct Sample {
    std::vector<PackedAsset> own = {plainAsset("b", hard(1000)), plainAsset("d/e", {}),
                                    plainAsset("z", soft(70000))};
    std::vector<PackedAsset> first, second;
    std::vector<PackedShare> shares;
    Bytes file;

    Sample()
    {
        for (uint32_t i = 0; i < 6; ++i) {
            first.push_back(plainAsset("c/" + std::to_string(2 * i), soft(1 + 700 * i), i == 2));
            second.push_back(plainAsset("c/" + std::to_string(2 * i + 1), hard(17 * i + 1)));
        }
        std::sort(second.begin(), second.end(),
                  [](const PackedAsset& a, const PackedAsset& b) { return a.name < b.name; });
        std::sort(first.begin(), first.end(),
                  [](const PackedAsset& a, const PackedAsset& b) { return a.name < b.name; });
        shares.emplace_back(second, SLUICE_CODEC_GSTD, 65536);
        shares.emplace_back(first, SLUICE_CODEC_GDEFLATE, 2048, true);
        file = packArchive(own, shares);
    }
    // Returns all assets in the order of their names.
    std::vector<PackedAsset> all() const
    {
        std::vector<PackedAsset> all = own;
        all.insert(all.end(), first.begin(), first.end());
        all.insert(all.end(), second.begin(), second.end());
        std::sort(all.begin(), all.end(),
                  [](const PackedAsset& a, const PackedAsset& b) { return a.name < b.name; });
        return all;
    }
};

const Sample& sample()
{
    static const Sample one;
    return one;
}

OpenedArchive openSample()
{
    OpenedArchive opened;
    REQUIRE(opened.open(sample().file) == SLUICE_OK);
    return opened;
}

SluiceStatus checkIndex(const OpenedArchive& opened)
{
    return sluiceCheckArchiveIndex(&opened.archive, opened.index.data(), opened.index.size(),
                                   nullptr);
}

// Returns the sample's index in the coded form, before it is packed.
Bytes codedIndex()
{
    const OpenedArchive opened = openSample();
    return Bytes(opened.index.end() - ptrdiff_t(opened.archive.codedIndexSize), opened.index.end());
}

// Returns the sample with another coded index, stored unpacked, and with right checksums.
Bytes withCoded(const Bytes& coded)
{
    Bytes file = sample().file;
    const size_t index = size_t(loadLe64(&file[headerIndexOffset]));
    file.resize(index + kIndexPieceHead);
    storeLe32(&file[index], uint32_t(coded.size()));
    storeLe32(&file[index + 4], uint32_t(coded.size()));
    file.insert(file.end(), coded.begin(), coded.end());
    storeLe64(&file[headerFileSize], file.size());
    storeLe32(&file[headerCodedBytes], uint32_t(coded.size()));
    storeLe32(&file[headerIndexChecksum], xxh32(file.data() + index, file.size() - index, 0));
    storeLe32(&file[headerChecksum], xxh32(file.data(), headerChecksum, 0));
    return file;
}

} // namespace

TEST_CASE("archive shares: every asset is where its share says")
{
    const OpenedArchive opened = openSample();
    CHECK(check(sample().file) == SLUICE_OK);
    CHECK(opened.archive.versionMajor == 3);
    CHECK(opened.archive.shareCount == 2);
    const std::vector<PackedAsset> all = sample().all();
    REQUIRE(opened.archive.assetCount == all.size());
    for (uint32_t i = 0; i < all.size(); ++i) {
        CAPTURE(all[i].name);
        const SluiceArchiveAsset asset = opened.asset(i);
        CHECK(std::string(asset.name, asset.nameLength) == all[i].name);
        CHECK(asset.size == all[i].bytes.size());
        CHECK(asset.parameterSize == all[i].parameters.size());
        CHECK((asset.share != SLUICE_ARCHIVE_NO_SHARE) == (all[i].name[0] == 'c'));
        uint32_t found = 0;
        CHECK(sluiceFindArchiveAsset(&opened.archive, opened.index.data(), opened.index.size(),
                                     asset.name, asset.nameLength, &found) == SLUICE_OK);
        CHECK(found == i);
        if (asset.share == SLUICE_ARCHIVE_NO_SHARE) {
            CHECK(asset.tilesOffset == 0);
            CHECK(asset.tilesSize == asset.size);
            continue;
        }
        const PackedAsset& whole = sample().shares[asset.share].whole;
        CHECK(asset.tilesSize == whole.bytes.size());
        CHECK(asset.tileParameterSize == whole.parameters.size());
        CHECK(asset.tilesOffset % 16 == 0);
        CHECK(std::equal(all[i].bytes.begin(), all[i].bytes.end(),
                         whole.bytes.begin() + ptrdiff_t(asset.tilesOffset)));
        // Its tiles are those of the share, with the share's filter.
        std::vector<SluiceArchiveTile> tiles(asset.tileCount);
        SluiceArchiveTileReader reader;
        REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
        REQUIRE(sluiceParseArchiveTiles(&reader, sample().file.data() + asset.offset,
                                        size_t(asset.extentSize), asset.tileCount,
                                        tiles.data()) == SLUICE_OK);
        for (const SluiceArchiveTile& tile : tiles) {
            CHECK(tile.checksum ==
                  sluiceTileChecksum(whole.bytes.data() + tile.outputOffset, tile.size));
            SluiceTile one = {};
            CHECK(sluiceGetArchiveTile(&asset, &tile, 0, 0, &one) == SLUICE_OK);
            CHECK((one.filter != nullptr) == (tile.filterOffset != 0));
        }
    }
    // First the extents of assets with tiles of their own, then the shares, as they were added.
    std::vector<uint32_t> order(all.size());
    REQUIRE(sluiceGetArchiveOrder(&opened.archive, opened.index.data(), opened.index.size(),
                                  order.data()) == SLUICE_OK);
    std::vector<std::string> names;
    for (const uint32_t number : order)
        names.push_back(all[number].name);
    std::vector<std::string> expected;
    for (const auto* list : {&sample().own, &sample().second, &sample().first})
        for (const PackedAsset& asset : *list)
            expected.push_back(asset.name);
    CHECK(names == expected);
}

TEST_CASE("archive shares: taken over as they are encoded, the archive is the same")
{
    const OpenedArchive opened = openSample();
    Bytes joined;
    SluiceArchiveWriterInfo info = {};
    info.write = writeMemory;
    info.writeUser = &joined;
    info.anyOrder = 1;
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    struct Stored {
        SluiceArchiveAsset asset;
        std::vector<SluiceArchiveTile> tiles;
        static SluiceStatus read(void* user, uint32_t tile, void* bytes, uint32_t size)
        {
            const Stored& stored = *static_cast<Stored*>(user);
            std::memcpy(bytes,
                        sample().file.data() + stored.asset.offset + stored.tiles[tile].offset,
                        size);
            return SLUICE_OK;
        }
    };
    const ParsedArchive parsed(sample().file);
    std::vector<uint32_t> order(opened.archive.assetCount);
    REQUIRE(sluiceGetArchiveOrder(&opened.archive, opened.index.data(), opened.index.size(),
                                  order.data()) == SLUICE_OK);
    for (size_t i = 0; i < order.size(); ++i) {
        Stored stored = {opened.asset(order[i]), parsed.records(order[i])};
        const SluiceArchiveAsset& asset = stored.asset;
        if (asset.tilesOffset != 0) continue;
        SluiceEncodedAssetInfo add = {};
        add.name = asset.name;
        add.nameLength = asset.nameLength;
        add.tileSizeLog2 = asset.tileSizeLog2;
        add.size = asset.tilesSize;
        add.parameters = asset.tileParameters;
        add.parameterSize = asset.tileParameterSize;
        add.tileCount = asset.tileCount;
        add.tiles = stored.tiles.data();
        add.readTile = Stored::read;
        add.readUser = &stored;
        std::vector<SluiceArchivePart> parts;
        for (size_t k = i; asset.share != SLUICE_ARCHIVE_NO_SHARE && k < order.size(); ++k) {
            const SluiceArchiveAsset part = opened.asset(order[k]);
            if (part.share != asset.share) break;
            parts.push_back({part.name, part.nameLength, part.type, part.parameterSize,
                             part.parameters, part.size});
        }
        REQUIRE((parts.empty()
                     ? sluiceAddEncodedArchiveAsset(writer, &add)
                     : sluiceAddEncodedArchiveShare(writer, parts.data(), uint32_t(parts.size()),
                                                    &add)) == SLUICE_OK);
    }
    SluiceArchiveStats stats = {};
    REQUIRE(sluiceFinishArchive(writer, &stats) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    CHECK(stats.assetCount == opened.archive.assetCount);
    CHECK(joined == sample().file);
}

TEST_CASE("archive shares: parts that overlap or lie outside are refused")
{
    const OpenedArchive good = openSample();
    REQUIRE(checkIndex(good) == SLUICE_OK);
    const uint32_t assets = good.archive.assetCount, entries = assets + 2;
    uint32_t refused = 0;
    const auto isRefused = [&](const std::function<void(uint8_t*, uint8_t*)>& change) {
        OpenedArchive bad = good;
        change(bad.index.data(), bad.index.data() + size_t(entries) * assetBytes);
        if (bad.index == good.index) return;
        CHECK(checkIndex(bad) == SLUICE_ERROR_FORMAT);
        ++refused;
    };
    for (uint32_t i = 0; i < entries; ++i) {
        CAPTURE(i);
        const size_t at = size_t(i) * assetBytes;
        for (const uint32_t kind : {0, 1, 2, 3, 255})
            isRefused([&](uint8_t* table, uint8_t*) { table[at + assetReserved] = uint8_t(kind); });
        for (const uint32_t next : {0u, 1u, 5u, assets, assets + 1, entries, 1u << 30, ~0u})
            isRefused([&](uint8_t*, uint8_t* successors) {
                storeLe32(successors + size_t(i) * kSuccessorBytes, next);
            });
        const bool isPart = good.index[at + assetReserved] == entryPart;
        const bool isShare = good.index[at + assetReserved] == entryShare;
        if (isPart) {
            for (const int64_t by : {-16, -1, 1, 4, 16, 4096})
                isRefused([&](uint8_t* table, uint8_t*) {
                    storeLe64(table + at + assetOffset,
                              loadLe64(table + at + assetOffset) + uint64_t(by));
                });
            for (const uint64_t size : {uint64_t(0), uint64_t(9000), UINT64_MAX - 3})
                isRefused(
                    [&](uint8_t* table, uint8_t*) { storeLe64(table + at + assetSize, size); });
            for (const uint32_t share : {0u, 1u, 2u, ~0u})
                isRefused([&](uint8_t* table, uint8_t*) {
                    storeLe32(table + at + assetTileChecksum, share);
                });
            isRefused([&](uint8_t* table, uint8_t*) { table[at + assetTileCount] = 1; });
            isRefused([&](uint8_t* table, uint8_t*) { table[at + assetTileSizeLog2] = 16; });
        }
        if (isShare) {
            for (const uint32_t first : {0u, 1u, 2u, 3u, entries, ~0u})
                isRefused([&](uint8_t* table, uint8_t*) {
                    storeLe32(table + at + assetNameOffset, first);
                });
            isRefused([&](uint8_t* table, uint8_t*) { table[at + assetSize] ^= 1; });
            isRefused([&](uint8_t* table, uint8_t*) { table[at + assetType] = 1; });
            isRefused([&](uint8_t* table, uint8_t*) { table[at + assetNameLength] = 1; });
        }
    }
    CHECK(refused > 200);
}

TEST_CASE("archive shares: a changed index is refused, or right")
{
    const Bytes good = codedIndex();
    CHECK(check(withCoded(good)) == SLUICE_OK);
    Bytes flipped = sample().file;
    flipped.back() ^= 1;
    CHECK(check(flipped) == SLUICE_ERROR_CHECKSUM);
    for (size_t size = 0; size < good.size(); ++size) {
        const Bytes cut(good.begin(), good.begin() + ptrdiff_t(size));
        CHECK(check(withCoded(cut)) == SLUICE_ERROR_FORMAT);
    }
    Bytes longer = good;
    longer.push_back(0);
    CHECK(check(withCoded(longer)) == SLUICE_ERROR_FORMAT);
    uint32_t accepted = 0;
    for (size_t i = 0; i < good.size(); ++i) {
        for (uint32_t bit = 0; bit < 8; ++bit) {
            Bytes changed = good;
            changed[i] = uint8_t(changed[i] ^ 1u << bit);
            const Bytes file = withCoded(changed);
            OpenedArchive opened;
            if (opened.open(file) != SLUICE_OK || checkIndex(opened) != SLUICE_OK) continue;
            ++accepted; // the change was in a name, a checksum or a parameter
            for (uint32_t asset = 0; asset < opened.archive.assetCount; ++asset) {
                const SluiceArchiveAsset info = opened.asset(asset);
                CHECK(info.offset <= opened.archive.indexOffset);
                CHECK(info.extentSize <= opened.archive.indexOffset - info.offset);
                CHECK(info.tilesOffset <= info.tilesSize);
                CHECK(info.size <= info.tilesSize - info.tilesOffset);
            }
        }
    }
    CHECK(accepted < good.size() * 8);
}

TEST_CASE("archive shares: what a header may ask for is bounded")
{
    const auto withHeader = [](const std::function<void(uint8_t*)>& change) {
        Editable edited(sample().file);
        change(edited.header());
        edited.sealHeader();
        return check(edited.file);
    };
    CHECK(withHeader([](uint8_t*) {}) == SLUICE_OK);
    for (const uint32_t shares : {0u, 1u, 3u, 16u, 1u << 20, ~0u})
        CHECK(withHeader([&](uint8_t* h) { storeLe32(h + headerShareCount, shares); }) ==
              SLUICE_ERROR_FORMAT);
    for (const uint32_t coded : {0u, 1u, 100000u, kMaxCodedBytes, ~0u})
        CHECK(withHeader([&](uint8_t* h) { storeLe32(h + headerCodedBytes, coded); }) ==
              SLUICE_ERROR_FORMAT);
    // Versions that know no shares: these fields were reserved.
    for (const uint32_t version : {1, 2})
        CHECK(withHeader([&](uint8_t* h) { h[headerVersionMajor] = uint8_t(version); }) ==
              SLUICE_ERROR_FORMAT);
    CHECK(withHeader([](uint8_t* h) { h[headerVersionMajor] = 5; }) == SLUICE_ERROR_VERSION);
}

TEST_CASE("archive shares: what the writer refuses")
{
    Bytes file;
    SluiceArchiveWriterInfo info = {};
    info.write = writeMemory;
    info.writeUser = &file;
    const Bytes bytes = soft(100);
    const auto add = [&](uint32_t anyOrder, std::vector<SluiceArchivePart> parts, uint64_t size) {
        info.anyOrder = anyOrder;
        SluiceArchiveWriter writer = nullptr;
        REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
        MemorySource source = {bytes};
        SluiceArchiveAssetInfo whole = {};
        whole.size = size;
        whole.read = MemorySource::read;
        whole.readUser = &source;
        const SluiceStatus status =
            sluiceAddArchiveShare(writer, parts.data(), uint32_t(parts.size()), &whole);
        sluiceDestroyArchiveWriter(writer);
        return status;
    };
    const auto part = [](const char* name, uint64_t size) {
        return SluiceArchivePart{name, 1, 0, 0, nullptr, size};
    };
    CHECK(add(1, {part("a", 10), part("b", 20)}, 36) == SLUICE_OK);
    CHECK(add(0, {part("a", 10), part("b", 20)}, 36) == SLUICE_ERROR_ARGUMENT);
    CHECK(add(1, {}, 0) == SLUICE_ERROR_ARGUMENT);
    CHECK(add(1, {part("a", 10), part("b", 20)}, 30) == SLUICE_ERROR_ARGUMENT);
    CHECK(add(1, {part("a", 10), part("b", 20)}, 37) == SLUICE_ERROR_ARGUMENT);
    CHECK(add(1, {part("a", 0), part("b", 20)}, 20) == SLUICE_ERROR_ARGUMENT);
    CHECK(add(1, {part("b", 10), part("a", 20)}, 36) == SLUICE_ERROR_ARGUMENT);
    CHECK(add(1, {part("a", 10), part("a", 20)}, 36) == SLUICE_ERROR_ARGUMENT);
    CHECK(add(1, {part("/", 10)}, 10) == SLUICE_ERROR_ARGUMENT);
    CHECK(add(1, {part("a", UINT64_MAX)}, 10) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("archive shares: a large index is packed in pieces")
{
    std::vector<PackedShare> shares;
    std::vector<std::string> names;
    for (uint32_t s = 0; s < 45; ++s) {
        std::vector<PackedAsset> parts;
        for (uint32_t i = 0; i < 500; ++i) {
            char name[40];
            std::snprintf(name, sizeof name, "%08x/%05u", (s * 500 + i) * 2654435761u >> 8, i);
            parts.push_back(plainAsset(name, soft(1 + i % 40)));
            names.emplace_back(name);
        }
        std::sort(parts.begin(), parts.end(),
                  [](const PackedAsset& a, const PackedAsset& b) { return a.name < b.name; });
        shares.emplace_back(parts, SLUICE_CODEC_GSTD, 65536);
    }
    const Bytes file = packArchive({}, shares);
    OpenedArchive opened;
    REQUIRE(opened.open(file) == SLUICE_OK);
    CHECK(opened.archive.codedIndexSize > kIndexPieceBytes);
    CHECK(opened.archive.storedIndexSize < opened.archive.codedIndexSize);
    CHECK(check(file) == SLUICE_OK);
    std::sort(names.begin(), names.end());
    REQUIRE(opened.archive.assetCount == names.size());
    for (uint32_t i = 0; i < names.size(); i += 100) {
        const SluiceArchiveAsset asset = opened.asset(i);
        CHECK(std::string(asset.name, asset.nameLength) == names[i]);
    }
}

} // namespace sluice::test
