// SPDX-License-Identifier: MIT OR Apache-2.0
// Batches of tiles of any codec, on every device: against the bytes that were packed, and damaged.
#include <sluice/sluice_tiles.h>

#include "tests/support/packed_archives.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

using namespace sluice::test;

namespace {

// Tiles of an archive's first asset, each at a place of its own.
struct TileBatch {
    const PackedAsset* packed;
    std::shared_ptr<const ParsedArchive> archive; // has the descriptions of filters
    Bytes source;
    std::vector<SluiceTile> tiles;
    std::vector<uint64_t> places; // in the asset
    uint64_t destinationSize = 0;
    uint32_t flags = 0;

    // every: one of so many tiles is taken, beginning with `first`.
    TileBatch(const PackedAsset& asset, const Bytes& file, uint32_t first = 0, uint32_t every = 1)
        : packed(&asset), archive(std::make_shared<ParsedArchive>(file))
    {
        const SluiceArchiveAsset info = archive->asset(0);
        source.assign(archive->extent(0), archive->extent(0) + info.extentSize);
        const std::vector<SluiceArchiveTile> records = archive->records(0);
        for (uint32_t i = first; i < records.size(); i += every) {
            const bool isFloat = records[i].codec == SLUICE_CODEC_FLOAT;
            if (isFloat) destinationSize = (destinationSize + 15) / 16 * 16;
            SluiceTile tile = {};
            REQUIRE(sluiceGetArchiveTile(&info, &records[i], records[i].offset, destinationSize,
                                         &tile) == SLUICE_OK);
            tiles.push_back(tile);
            places.push_back(records[i].outputOffset);
            destinationSize += (tile.size + 3) / 4 * 4 + 12;
        }
    }

    struct Outcome {
        Words statuses;
        Bytes bytes;
        uint32_t failed;
    };
    Outcome run(Device& on) const;
    // Is tile i what was packed?
    bool isRight(size_t i, const Bytes& decoded) const
    {
        return std::equal(packed->bytes.begin() + ptrdiff_t(places[i]),
                          packed->bytes.begin() + ptrdiff_t(places[i] + tiles[i].size),
                          decoded.begin() + ptrdiff_t(tiles[i].destinationOffset));
    }
};

TileBatch::Outcome TileBatch::run(Device& on) const
{
    SluiceTileTotals totals = {};
    for (const SluiceTile& tile : tiles)
        REQUIRE(sluiceAddTile(&totals, &tile) == SLUICE_OK);
    SluiceTilesInfo info = {};
    info.tiles = tiles.data();
    info.tileCount = uint32_t(tiles.size());
    info.flags = flags;
    info.totals = tiles.size() % 2 != 0 ? &totals : nullptr; // it makes no difference
    SluiceTilesRequirements required = {};
    REQUIRE(sluiceGetTilesRequirements(on.context(), &info, &totals, &required) == SLUICE_OK);
    Bytes control(required.controlSize, 0x5a), results(required.resultsSize, 0x5a);
    Buffer sourceBuffer(on, source), destination(on, destinationSize);
    Buffer controlBuffer(on, required.controlSize), resultsBuffer(on, required.resultsSize);
    Buffer scratch(on, required.scratchSize);
    info.source = sourceBuffer.range();
    info.sourceHost = source.data();
    info.destination = destination.range();
    info.control = controlBuffer.range();
    info.controlHost = control.data();
    info.results = resultsBuffer.range();
    info.resultsHost = results.data();
    info.scratch = scratch.range();
    REQUIRE(sluicePrepareTiles(on.context(), &info) == SLUICE_OK);
    REQUIRE(sluiceUpload(on.get(), info.control, control.data(), control.size()) == SLUICE_OK);
    REQUIRE(sluiceUpload(on.get(), info.results, results.data(), results.size()) == SLUICE_OK);
    on.run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdTiles(on.context(), commands, &info) == SLUICE_OK);
    });
    results = resultsBuffer.bytes();
    controlBuffer.bytes(); // the guards of both are whole
    scratch.bytes();
    Outcome outcome = {Words(tiles.size()), destination.bytes(), 0};
    info.resultsHost = results.data();
    REQUIRE(sluiceGetTileResults(&info, outcome.statuses.data(), &outcome.failed) == SLUICE_OK);
    return outcome;
}

struct Sample {
    PackedAsset asset = assetOfAllCodecs("all", 1);
    Bytes file = packArchive({asset});
};

const Sample& sample()
{
    static const Sample one;
    return one;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("tiles: every codec, with and without filters, in one batch")
{
    const TileBatch batch(sample().asset, sample().file);
    const TileBatch::Outcome outcome = batch.run(device());
    CHECK(outcome.failed == 0);
    std::set<uint32_t> codecs;
    for (size_t i = 0; i < batch.tiles.size(); ++i) {
        CAPTURE(i);
        CHECK(outcome.statuses[i] == SLUICE_TILE_OK);
        CHECK(batch.isRight(i, outcome.bytes));
        codecs.insert(batch.tiles[i].codec * 2 + (batch.tiles[i].filter != nullptr ? 1 : 0));
    }
    CHECK(codecs.size() == 7); // no filter with stored tiles
    // Between the tiles nothing was written.
    for (size_t i = 0; i + 1 < batch.tiles.size(); ++i) {
        const uint64_t end = batch.tiles[i].destinationOffset + batch.tiles[i].size;
        for (uint64_t at = end; at < batch.tiles[i + 1].destinationOffset; ++at)
            REQUIRE(outcome.bytes[at] == Buffer::kPoison);
    }
}

TEST_CASE("tiles: any part of a batch")
{
    for (const uint32_t every : {3u, 5u}) {
        for (uint32_t first = 0; first < every; ++first) {
            const TileBatch batch(sample().asset, sample().file, first, every);
            const TileBatch::Outcome outcome = batch.run(device());
            CHECK(outcome.failed == 0);
            for (size_t i = 0; i < batch.tiles.size(); ++i)
                CHECK(batch.isRight(i, outcome.bytes));
        }
    }
}

TEST_CASE("tiles: a damaged one fails alone")
{
    const TileBatch good(sample().asset, sample().file);
    std::mt19937 random = makeRandom(7);
    for (size_t bad = 0; bad < good.tiles.size(); bad += 1 + good.tiles.size() / 4) {
        CAPTURE(bad);
        TileBatch batch = good;
        const SluiceTile& tile = batch.tiles[bad];
        for (int i = 0; i < 8; ++i)
            batch.source[tile.sourceOffset + random() % tile.storedSize] ^=
                uint8_t(1 + random() % 255);
        const TileBatch::Outcome outcome = batch.run(device());
        CHECK(outcome.failed == 1);
        for (size_t i = 0; i < batch.tiles.size(); ++i) {
            CHECK((outcome.statuses[i] == SLUICE_TILE_OK) == (i != bad));
            if (i != bad) CHECK(batch.isRight(i, outcome.bytes));
        }
    }
}

TEST_CASE("tiles: wrong checksums, places outside the buffers, heads of float tiles")
{
    TileBatch batch(sample().asset, sample().file);
    for (SluiceTile& tile : batch.tiles)
        tile.checksum ^= 1;
    TileBatch::Outcome outcome = batch.run(device());
    CHECK(outcome.failed == batch.tiles.size());
    for (const uint32_t status : outcome.statuses)
        CHECK(status == SLUICE_TILE_BAD_CHECKSUM);

    batch.flags = SLUICE_TILES_UNCHECKED;
    outcome = batch.run(device());
    CHECK(outcome.failed == 0);
    for (size_t i = 0; i < batch.tiles.size(); ++i)
        CHECK(batch.isRight(i, outcome.bytes));

    batch = TileBatch(sample().asset, sample().file);
    uint32_t floats = 0;
    for (const SluiceTile& tile : batch.tiles) {
        if (tile.codec != SLUICE_CODEC_FLOAT) continue;
        batch.source[tile.sourceOffset] = 99; // no such type
        ++floats;
    }
    outcome = batch.run(device());
    CHECK(outcome.failed == floats);
    for (size_t i = 0; i < batch.tiles.size(); ++i)
        CHECK((outcome.statuses[i] == SLUICE_TILE_BAD_REGION) ==
              (batch.tiles[i].codec == SLUICE_CODEC_FLOAT));

    batch = TileBatch(sample().asset, sample().file, 1, 2);
    batch.tiles[0].sourceOffset = (batch.source.size() + 15) / 16 * 16 + 16;
    batch.tiles[1].destinationOffset = batch.destinationSize + 4;
    batch.tiles.back().destinationOffset = uint64_t(1) << 60;
    outcome = batch.run(device());
    CHECK(outcome.failed == 3);
    CHECK(outcome.statuses[0] != SLUICE_TILE_OK);
    CHECK(outcome.statuses[1] != SLUICE_TILE_OK);
    CHECK(outcome.statuses.back() != SLUICE_TILE_OK);
}

TEST_SUITE_END();

TEST_CASE("tiles: what is refused")
{
    SluiceTile tile = {0, 0, 10, 20, SLUICE_CODEC_GDEFLATE, 0, nullptr, 0};
    SluiceTileTotals totals = {};
    CHECK(sluiceAddTile(nullptr, &tile) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceAddTile(&totals, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceAddTile(&totals, &tile) == SLUICE_OK);
    CHECK(totals.tileCount == 1);
    const uint32_t description[4] = {};
    const auto refused = [&](auto change, SluiceStatus status) {
        SluiceTile other = tile;
        change(other);
        const SluiceTileTotals before = totals;
        CHECK(sluiceAddTile(&totals, &other) == status);
        CHECK(std::memcmp(&before, &totals, sizeof totals) == 0);
    };
    refused([](SluiceTile& t) { t.sourceOffset = 8; }, SLUICE_ERROR_ARGUMENT);
    refused([](SluiceTile& t) { t.destinationOffset = 2; }, SLUICE_ERROR_ARGUMENT);
    refused([](SluiceTile& t) { t.destinationOffset = 4, t.codec = SLUICE_CODEC_FLOAT; },
            SLUICE_ERROR_ARGUMENT);
    refused([](SluiceTile& t) { t.storedSize = 0; }, SLUICE_ERROR_ARGUMENT);
    refused([](SluiceTile& t) { t.size = 0; }, SLUICE_ERROR_ARGUMENT);
    refused([](SluiceTile& t) { t.size = 65537; }, SLUICE_ERROR_ARGUMENT);
    refused([](SluiceTile& t) { t.codec = SLUICE_CODEC_STORE; }, SLUICE_ERROR_ARGUMENT);
    refused([](SluiceTile& t) { t.codec = 4; }, SLUICE_ERROR_VERSION);
    refused([](SluiceTile& t) { t.filterSize = 4; }, SLUICE_ERROR_ARGUMENT);
    refused([&](SluiceTile& t) { t.filter = description; }, SLUICE_ERROR_ARGUMENT);
    refused([&](SluiceTile& t) { t.filter = description, t.filterSize = 6; },
            SLUICE_ERROR_ARGUMENT);

    // Tiles that take turns with a few descriptions share them.
    tile.filterSize = 4;
    for (uint32_t i = 0; i < 1000; ++i) {
        tile.filter = description + i % 4;
        REQUIRE(sluiceAddTile(&totals, &tile) == SLUICE_OK);
    }
    CHECK(totals.descriptionSize == 16);

    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    SluiceTilesInfo info = {};
    CHECK(sluicePrepareTiles(context, &info) == SLUICE_OK); // no tiles
    CHECK(sluiceCmdTiles(context, nullptr, &info) == SLUICE_OK);
    info.flags = 4;
    CHECK(sluicePrepareTiles(context, &info) == SLUICE_ERROR_ARGUMENT);
    info.flags = 0;
    info.tileCount = 1;
    CHECK(sluicePrepareTiles(context, &info) == SLUICE_ERROR_ARGUMENT);
    info.tiles = &tile;
    CHECK(sluicePrepareTiles(context, &info) == SLUICE_ERROR_ARGUMENT);
    Words memory(1024);
    info.controlHost = memory.data();
    info.resultsHost = memory.data();
    CHECK(sluicePrepareTiles(context, &info) == SLUICE_ERROR_BUFFER_SIZE);

    // Totals of other tiles.
    Words results(1024);
    const auto memoryOf = [](void* bytes, uint64_t size) {
        return SluiceBuffer{uint64_t(reinterpret_cast<uintptr_t>(bytes)), 0, size};
    };
    const SluiceTile plain = {0, 0, 10, 20, SLUICE_CODEC_GDEFLATE, 0, nullptr, 0};
    const SluiceTile other = {0, 0, 10, 20, SLUICE_CODEC_GSTD, 0, nullptr, 0};
    const SluiceTile both[2] = {plain, other}, same[2] = {plain, plain};
    SluiceTileTotals of[3] = {};
    for (uint32_t i = 0; i < 2; ++i) {
        REQUIRE(sluiceAddTile(&of[0], &both[i]) == SLUICE_OK);
        REQUIRE(sluiceAddTile(&of[1], &same[i]) == SLUICE_OK);
    }
    REQUIRE(sluiceAddTile(&of[2], &plain) == SLUICE_OK);
    info.tiles = both;
    info.tileCount = 2;
    info.control = memoryOf(memory.data(), 4096);
    info.results = memoryOf(results.data(), 4096);
    info.resultsHost = results.data();
    info.source = info.destination = memoryOf(of, sizeof of); // not touched
    SluiceTilesRequirements required = {};
    REQUIRE(sluiceGetTilesRequirements(context, &info, &of[0], &required) == SLUICE_OK);
    Bytes scratch(size_t(required.scratchSize) + 64);
    info.scratch = memoryOf(scratch.data(), scratch.size());
    info.totals = &of[0];
    CHECK(sluicePrepareTiles(context, &info) == SLUICE_OK);
    for (uint32_t i = 1; i < 3; ++i) {
        info.totals = &of[i];
        CHECK(sluicePrepareTiles(context, &info) == SLUICE_ERROR_ARGUMENT);
    }
    sluiceDestroyContext(context);
}
