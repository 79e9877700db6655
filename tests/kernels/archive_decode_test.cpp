// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests Gstd tiles with filters, as archives hold them, on every device: golden archives, and
// single tiles.
#include <sluice/sluice_filter.h>
#include <sluice/sluice_gstd.h>

#include "tests/support/archive_io.h"
#include "tests/support/filters.h"
#include "test_paths.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "formats/archive_layout.h"

using namespace sluice::test;
using sluice::loadLe16;
using sluice::loadLe32;

namespace {

struct Tile {
    Bytes stored;
    uint32_t size, codec, checksum;
    Bytes filter; // filter description; empty: no filter
};

struct Asset {
    std::string name;
    uint64_t size;
    std::vector<Tile> tiles;
};

std::vector<Asset> readArchive(const Bytes& file)
{
    SluiceArchive archive;
    REQUIRE(sluiceParseArchiveHeader(file.data(), 64, file.size(), &archive) == SLUICE_OK);
    const uint8_t* index = file.data() + archive.indexOffset;
    const size_t indexSize = size_t(archive.indexSize);
    REQUIRE(sluiceCheckArchiveIndex(&archive, index, indexSize, nullptr) == SLUICE_OK);
    std::vector<Asset> assets;
    for (uint32_t i = 0; i < archive.assetCount; ++i) {
        SluiceArchiveAsset info;
        REQUIRE(sluiceGetArchiveAsset(&archive, index, indexSize, i, &info) == SLUICE_OK);
        std::vector<SluiceArchiveTile> records(info.tileCount);
        SluiceArchiveTileReader reader;
        REQUIRE(sluiceBeginArchiveTiles(&info, &reader) == SLUICE_OK);
        const uint8_t* extent = file.data() + info.offset;
        REQUIRE(sluiceParseArchiveTiles(&reader, extent, size_t(info.extentSize), info.tileCount,
                                        records.data()) == SLUICE_OK);
        Asset asset = {std::string(info.name, info.nameLength), info.size, {}};
        for (const SluiceArchiveTile& record : records) {
            const uint8_t* stored = extent + record.offset;
            Tile tile = {Bytes(stored, stored + record.storedSize),
                         record.size,
                         record.codec,
                         record.checksum,
                         {}};
            if (record.filterOffset != 0) {
                const uint8_t* item =
                    static_cast<const uint8_t*>(info.parameters) + record.filterOffset - 4;
                tile.filter.assign(item + 8, item + 8 + loadLe32(item + 4));
            }
            asset.tiles.push_back(std::move(tile));
        }
        assets.push_back(std::move(asset));
    }
    return assets;
}

// Decodes tiles in one command, then undoes their filters in another. The source holds only these
// tiles.
std::vector<Bytes> decode(Device& on, const std::vector<const Tile*>& tiles)
{
    Bytes from, descriptions;
    std::vector<SluiceRegion> regions;
    std::vector<SluiceFilterTile> filters;
    uint64_t outputSize = 0;
    for (const Tile* tile : tiles) {
        from.resize((from.size() + 3) / 4 * 4);
        if (!tile->filter.empty()) {
            filters.push_back({outputSize, outputSize, tile->size, uint32_t(descriptions.size()),
                               uint32_t(tile->filter.size()), uint32_t(regions.size())});
            descriptions.insert(descriptions.end(), tile->filter.begin(), tile->filter.end());
        }
        regions.push_back({from.size(), outputSize, tile->stored.size(), tile->size});
        from.insert(from.end(), tile->stored.begin(), tile->stored.end());
        outputSize += tile == tiles.back() ? tile->size : (tile->size + 3) / 4 * 4;
    }
    Buffer source(on, from), decoded(on, outputSize), output(on, outputSize);
    for (SluiceRegion& region : regions) {
        region.srcAddress += source.address();
        region.dstAddress += decoded.address();
    }
    Buffer regionList(on, bytesOf(regions)), status(on, (regions.size() + 2) * 4);
    SluiceGstdInfo info = {};
    info.maxRegionCount = uint32_t(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.flags = SLUICE_DECODE_STORED_IF_EQUAL;
    info.regions = regionList.range();
    info.source = source.range();
    info.destination = decoded.range();
    info.status = status.range();
    runWithScratch(on, info, sluiceGetGstdRequirements, sluiceCmdGstd);
    if (!filters.empty()) {
        SluiceFilterInfo undo = {};
        for (SluiceFilterTile& tile : filters) {
            tile.srcAddress += decoded.address();
            tile.dstAddress += output.address();
            undo.maxTileSize = std::max(undo.maxTileSize, (tile.size + 3) / 4 * 4);
        }
        Buffer tileList(on, bytesOf(filters)), descriptionBuffer(on, descriptions);
        undo.maxTileCount = uint32_t(filters.size());
        undo.statusCount = uint32_t(regions.size());
        undo.tiles = tileList.range();
        undo.descriptions = descriptionBuffer.range();
        undo.source = decoded.range();
        undo.destination = output.range();
        undo.status = status.range();
        runWithScratch(on, undo, sluiceGetFilterRequirements, sluiceCmdFilter);
    }
    const Words statuses = status.words();
    const Bytes plain = decoded.bytes(), filtered = output.bytes();
    std::vector<Bytes> results;
    for (size_t i = 0; i < tiles.size(); ++i) {
        CHECK(statuses[i] == SLUICE_TILE_OK);
        const Bytes& all = tiles[i]->filter.empty() ? plain : filtered;
        const auto begin = all.begin() + std::ptrdiff_t(regions[i].dstAddress - decoded.address());
        results.emplace_back(begin, begin + tiles[i]->size);
    }
    CHECK(statuses[tiles.size()] == 0); // failed ones
    return results;
}

// -----------------------------------------------------------------------------------------------
// Golden archives

const std::string kGoldenFolder = SLUICE_TEST_DATA_DIR "/gstd/";

Bytes readFile(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), path);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

struct Golden {
    std::string archive;
    Asset asset;
    uint64_t size, xxh64; // as the manifest has them
};

std::vector<Golden> goldens()
{
    const Bytes manifest = readFile(kGoldenFolder + "manifest.txt");
    std::istringstream lines(std::string(manifest.begin(), manifest.end()));
    std::vector<Golden> all;
    std::vector<Asset> assets;
    Golden one;
    std::string archive, name, sha256;
    while (lines >> archive >> name >> one.size >> std::hex >> one.xxh64 >> std::dec >> sha256) {
        if (archive != one.archive) {
            CHECK(assets.empty()); // each asset of the archive before must be in the manifest
            assets = readArchive(readFile(kGoldenFolder + archive));
            one.archive = archive;
        }
        REQUIRE(!assets.empty());
        REQUIRE(assets.front().name == name);
        one.asset = std::move(assets.front());
        assets.erase(assets.begin());
        all.push_back(one);
    }
    CHECK(assets.empty());
    REQUIRE(all.size() > 10);
    return all;
}

void checkGolden(Device& on)
{
    std::vector<const Tile*> tiles;
    const std::vector<Golden> all = goldens();
    for (const Golden& golden : all) {
        for (const Tile& tile : golden.asset.tiles)
            tiles.push_back(&tile);
    }
    const std::vector<Bytes> decoded = decode(on, tiles);
    size_t next = 0;
    for (const Golden& golden : all) {
        CAPTURE(golden.archive);
        CAPTURE(golden.asset.name);
        Bytes bytes;
        for (const Tile& tile : golden.asset.tiles) {
            CHECK(sluiceTileChecksum(decoded[next].data(), tile.size) == tile.checksum);
            bytes.insert(bytes.end(), decoded[next].begin(), decoded[next].end());
            ++next;
        }
        CHECK(bytes.size() == golden.size);
        CHECK(XXH64(bytes.data(), bytes.size(), 0) == golden.xxh64);
    }
}

// Adds the names of what a tile uses of docs/format.md, 7.1.
void addFeatures(const Tile& tile, std::set<std::string>& features)
{
    const auto word = [&](size_t at) { return loadLe16(tile.stored.data() + 2 * at); };
    const uint32_t parts = (word(0) & 15u) + 1;
    features.insert("depth " + std::to_string((word(0) >> 4 & 7) + 1));
    size_t at = 2 + 2 * size_t(parts);
    for (uint32_t i = 0; i < parts; ++i) {
        const uint32_t kind = word(at) & 3u;
        features.insert("part of kind " + std::to_string(kind));
        if (kind == 2) {
            const bool kept = (word(at) & 16) != 0;
            features.insert(kept ? "literals' table kept"
                                 : "literals of kind " + std::to_string(word(at) >> 2 & 3));
            if ((word(at) & 32) != 0) features.insert("sequences' tables kept");
            if ((word(at + 3) & 63) != 0) features.insert("modulus");
        }
        at += word(3 + 2 * size_t(i)) + size_t(1);
    }
}

// -----------------------------------------------------------------------------------------------
// Tiles one by one

struct Packed {
    std::string name;
    Bytes bytes;
    Words description; // empty: none
    uint32_t tileSize;
};

// Returns assets of four kinds: smooth bytes under random filters, whose sections are in each tile;
// Targa packets; text-like bytes without a filter; and noise.
std::vector<Packed> randomAssets(std::mt19937& random)
{
    constexpr uint32_t sections = 3000; // most bytes of a description's sections together
    std::vector<Packed> assets;
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t tileSize = 4 * (sections / 4 + uint32_t(random() % 1000)),
                       last = sections + uint32_t(random() % 500);
        assets.push_back({"filter" + std::to_string(i),
                          smoothBytes(random, tileSize * (1 + random() % 3) + last),
                          randomDescription(random, sections), tileSize});
        if (last > tileSize)
            assets.back().bytes.resize(assets.back().bytes.size() - (last - tileSize));
    }
    const uint32_t pixelBytes = 3 + uint32_t(random() % 2);
    SectionWords packets;
    packets.packets = true;
    packets.runs = {columnRun(pixelBytes, 0, 0, sluice::FilterPredictor::left)};
    assets.push_back(
        {"packets", randomPackets(random, 9000, pixelBytes), describe({packets}), 65536});
    Bytes plain = smoothBytes(random, 70001);
    std::copy(plain.begin(), plain.begin() + 20000, plain.begin() + 45000);
    assets.push_back({"plain", plain, {}, 32768});
    assets.push_back({"plain noise", randomBytes(random, 1001), {}, 500});
    return assets;
}

Bytes pack(const std::vector<Packed>& assets, std::mt19937& random)
{
    Bytes file;
    const SluiceArchiveWriterInfo info = {SLUICE_CODEC_GSTD, 1, 0, 2, writeMemory, &file, 0, 0,
                                          nullptr,           0, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    for (const Packed& asset : assets) {
        Words parameters;
        if (!asset.description.empty()) {
            // The parameters are one item of kind filter (1), without flags.
            parameters = {1, uint32_t(4 * asset.description.size())};
            parameters.insert(parameters.end(), asset.description.begin(), asset.description.end());
        }
        const uint32_t level = 1 + uint32_t(random() % 12), depth = uint32_t(random() % 9);
        const SluiceArchiveSegment segment = {asset.bytes.size(),
                                              SLUICE_CODEC_GSTD,
                                              asset.tileSize,
                                              level,
                                              0,
                                              parameters.empty() ? 0u : 4u,
                                              0,
                                              depth,
                                              0};
        MemorySource source = {asset.bytes};
        const SluiceArchiveAssetInfo assetInfo = {asset.name.data(),
                                                  asset.name.size(),
                                                  0,
                                                  asset.bytes.size(),
                                                  MemorySource::read,
                                                  &source,
                                                  &segment,
                                                  1,
                                                  uint32_t(4 * parameters.size()),
                                                  parameters.data(),
                                                  nullptr};
        REQUIRE(sluiceAddArchiveAsset(writer, &assetInfo) == SLUICE_OK);
    }
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    return file;
}

} // namespace

TEST_CASE("archive decode: the golden archives have every kind of part, table and filter")
{
    std::set<std::string> features;
    std::string filters;
    for (const Golden& golden : goldens()) {
        for (const Tile& tile : golden.asset.tiles) {
            if (tile.codec == SLUICE_CODEC_GSTD) addFeatures(tile, features);
            if (tile.codec == SLUICE_CODEC_STORE) features.insert("stored");
            char text[1000];
            if (tile.filter.empty()) continue;
            REQUIRE(sluiceGetFilterText(tile.filter.data(), tile.filter.size(), text,
                                        sizeof text) == SLUICE_OK);
            filters += " " + std::string(text) + " ";
        }
    }
    for (const char* wanted :
         {"stored", "depth 1", "depth 2", "depth 3", "depth 4", "depth 8", "part of kind 0",
          "part of kind 1", "part of kind 2", "literals of kind 0", "literals of kind 1",
          "literals of kind 2", "literals of kind 3", "literals' table kept",
          "sequences' tables kept", "modulus"}) {
        CHECK_MESSAGE(features.count(wanted) == 1, wanted);
    }
    for (const char* wanted :
         {" u8 ",      " u16 ",      " u32 ",      " left",   " left2",  " left3",  " up",
          " gradient", " median",    " average",   " -0",     " zigzag", " planes", " joined",
          " float",    " u16 block", " u32 block", "packets", "width ",  "plain |"})
        CHECK_MESSAGE(filters.find(wanted) != std::string::npos, wanted);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("archive decode: golden archives") { checkGolden(device()); }

TEST_CASE("archive decode: tiles one by one, in any order, with nothing but their own bytes")
{
    std::mt19937 random = makeRandom(520);
    const std::vector<Packed> originals = randomAssets(random);
    const std::vector<Asset> assets = readArchive(pack(originals, random));
    REQUIRE(assets.size() == originals.size());
    struct Place {
        size_t asset, tile;
        uint64_t offset;
    };
    std::vector<Place> order;
    uint32_t filtered = 0;
    for (size_t a = 0; a < assets.size(); ++a) {
        uint64_t offset = 0;
        for (size_t t = 0; t < assets[a].tiles.size(); ++t) {
            order.push_back({a, t, offset});
            offset += assets[a].tiles[t].size;
            filtered += assets[a].tiles[t].filter.empty() ? 0 : 1;
        }
        CHECK(offset == originals[a].bytes.size());
    }
    CHECK(filtered > 0);
    std::shuffle(order.begin(), order.end(), random);
    for (const Place& place : order) {
        CAPTURE(assets[place.asset].name);
        CAPTURE(place.tile);
        const Bytes decoded = decode(device(), {&assets[place.asset].tiles[place.tile]}).front();
        const auto begin = originals[place.asset].bytes.begin() + std::ptrdiff_t(place.offset);
        CHECK(std::equal(decoded.begin(), decoded.end(), begin));
    }
}

TEST_SUITE_END();
