// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests batches of tiles of any codec on every device: good ones, which must give the bytes that
// were packed, and damaged ones.
#include <sluice/sluice_tiles.h>

#include "tests/support/ignored.h"
#include "tests/support/packed_archives.h"
#include "tests/support/short_runs.h"
#include "tests/support/zstd_regions.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

using namespace sluice::test;

namespace {

// Holds tiles of an archive's first asset, each with a place in the output.
struct TileBatch {
    const PackedAsset* packed;
    std::shared_ptr<const ParsedArchive> archive; // it owns the descriptions of filters
    Bytes source;
    std::vector<SluiceTile> tiles;
    std::vector<uint64_t> places; // where the tiles are in the asset
    uint64_t destinationSize = 0;
    uint32_t flags = 0, gstdTilesAtOnce = 0;
    const void* sourceHost = nullptr; // NULL: that of source

    // Takes every `every`-th tile of the asset, beginning with tile `first`.
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
    // Returns whether tile i is what was packed.
    bool isRight(size_t i, const Bytes& decoded) const
    {
        return std::equal(packed->bytes.begin() + ptrdiff_t(places[i]),
                          packed->bytes.begin() + ptrdiff_t(places[i] + tiles[i].size),
                          decoded.begin() + ptrdiff_t(tiles[i].destinationOffset));
    }
};

// A batch whose lists are on the device.
class PreparedBatch {
public:
    PreparedBatch(Device& on, const TileBatch& batch)
        : m_batch(batch), m_totals(totalsOf(batch)), m_required(requiredOf(on, batch, m_totals)),
          m_control(m_required.controlSize, 0x5a), m_results(m_required.resultsSize, 0x5a),
          m_source(on, batch.source), m_destination(on, batch.destinationSize),
          m_controlBuffer(on, m_required.controlSize), m_resultsBuffer(on, m_required.resultsSize),
          m_scratch(on, m_required.scratchSize)
    {
        info.tiles = batch.tiles.data();
        info.tileCount = uint32_t(batch.tiles.size());
        info.flags = batch.flags;
        info.gstdTilesAtOnce = batch.gstdTilesAtOnce;
        // With totals or without, the results are the same.
        info.totals = batch.tiles.size() % 2 != 0 ? &m_totals : nullptr;
        info.source = m_source.range();
        info.sourceHost = batch.sourceHost != nullptr ? batch.sourceHost : batch.source.data();
        info.destination = m_destination.range();
        info.control = m_controlBuffer.range();
        info.controlHost = m_control.data();
        info.results = m_resultsBuffer.range();
        info.resultsHost = m_results.data();
        info.scratch = m_scratch.range();
        needZstd(on);
        REQUIRE(sluicePrepareTiles(on.context(), &info) == SLUICE_OK);
        REQUIRE(sluiceUpload(on.get(), info.control, m_control.data(), m_control.size()) ==
                SLUICE_OK);
        REQUIRE(sluiceUpload(on.get(), info.results, m_results.data(), m_results.size()) ==
                SLUICE_OK);
    }
    PreparedBatch(const PreparedBatch&) = delete;
    PreparedBatch& operator=(const PreparedBatch&) = delete;

    // Call this when the commands have run.
    TileBatch::Outcome finish()
    {
        m_results = m_resultsBuffer.bytes();
        m_controlBuffer.bytes(); // checks the bytes around both buffers
        m_scratch.bytes();
        TileBatch::Outcome outcome = {Words(m_batch.tiles.size()), m_destination.bytes(), 0};
        info.resultsHost = m_results.data();
        REQUIRE(sluiceGetTileResults(&info, outcome.statuses.data(), &outcome.failed) == SLUICE_OK);
        return outcome;
    }

    SluiceTilesInfo info = {};

private:
    static SluiceTileTotals totalsOf(const TileBatch& batch)
    {
        SluiceTileTotals totals = {};
        for (const SluiceTile& tile : batch.tiles)
            REQUIRE(sluiceAddTile(&totals, &tile) == SLUICE_OK);
        return totals;
    }
    static SluiceTilesRequirements requiredOf(Device& on, const TileBatch& batch,
                                              const SluiceTileTotals& totals)
    {
        SluiceTilesInfo info = {};
        info.flags = batch.flags;
        info.gstdTilesAtOnce = batch.gstdTilesAtOnce;
        SluiceTilesRequirements required = {};
        REQUIRE(sluiceGetTilesRequirements(on.context(), &info, &totals, &required) == SLUICE_OK);
        return required;
    }

    const TileBatch& m_batch;
    SluiceTileTotals m_totals;
    SluiceTilesRequirements m_required;
    Bytes m_control, m_results;
    Buffer m_source, m_destination, m_controlBuffer, m_resultsBuffer, m_scratch;
};

TileBatch::Outcome TileBatch::run(Device& on) const
{
    PreparedBatch prepared(on, *this);
    on.run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdTiles(on.context(), commands, &prepared.info) == SLUICE_OK);
    });
    return prepared.finish();
}

// An asset with tiles of every codec, and its archive.
struct Sample {
    explicit Sample(PackedAsset packed) : asset(std::move(packed)), file(packArchive({asset})) {}
    PackedAsset asset;
    Bytes file;
};

// Has tiles of every size, up to the largest.
const Sample& largeSample()
{
    static const Sample one(assetOfAllCodecs("all", 1, true));
    return one;
}

// Has as many kinds of tiles, with a fiftieth of the bytes. Software devices decode it quickly, so
// it is for what does not depend on sizes.
const Sample& sample()
{
    static const Sample one([] {
        std::mt19937 random = makeRandom(2);
        PackedAsset asset;
        asset.name = "small";
        asset.add(soft(10000), SLUICE_CODEC_GDEFLATE, 4096);
        asset.add(smoothBytes(random, 6000), SLUICE_CODEC_GDEFLATE, 4096, true);
        asset.add(soft(10000), SLUICE_CODEC_GSTD, 8192);
        asset.add(smoothBytes(random, 10000), SLUICE_CODEC_GSTD, 8192, true);
        asset.add(randomBytes(random, 6000), SLUICE_CODEC_STORE, 4096);
        Bytes few = randomBytes(random, 20000);
        for (uint8_t& byte : few)
            byte &= 15;
        asset.add(few, SLUICE_CODEC_FLOAT, 16384);
        asset.add(smoothBytes(random, 10000), SLUICE_CODEC_FLOAT, 8192, true);
        asset.add(soft(4), SLUICE_CODEC_GDEFLATE, 4096);
        asset.add(soft(10000), SLUICE_CODEC_ZSTD, 4096);
        asset.add(smoothBytes(random, 6000), SLUICE_CODEC_ZSTD, 4096, true);
        asset.add(soft(4), SLUICE_CODEC_ZSTD, 4096);
        asset.add(soft(3003), SLUICE_CODEC_ZSTD, 1024);
        return asset;
    }());
    return one;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("tiles: every codec, with and without filters, in one batch")
{
    const TileBatch batch(largeSample().asset, largeSample().file);
    const TileBatch::Outcome outcome = batch.run(device());
    CHECK(outcome.failed == 0);
    std::set<uint32_t> codecs;
    for (size_t i = 0; i < batch.tiles.size(); ++i) {
        CAPTURE(i);
        CHECK(outcome.statuses[i] == SLUICE_TILE_OK);
        CHECK(batch.isRight(i, outcome.bytes));
        codecs.insert(batch.tiles[i].codec * 2 + (batch.tiles[i].filter != nullptr ? 1 : 0));
    }
    CHECK(codecs.size() == 9); // stored tiles have no filter
    // No byte between the tiles may have been written.
    for (size_t i = 0; i + 1 < batch.tiles.size(); ++i) {
        const uint64_t end = batch.tiles[i].destinationOffset + batch.tiles[i].size;
        for (uint64_t at = end; at < batch.tiles[i + 1].destinationOffset; ++at)
            REQUIRE(outcome.bytes[at] == Buffer::kPoison);
    }
}

TEST_CASE("tiles: any part of a batch")
{
    if (skipsSlowCompiler()) return;
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

TEST_CASE("tiles: batches side by side have the results that each has alone")
{
    if (skipsOtherSizes() || skipsSlowCompiler()) return;
    std::vector<TileBatch> batches;
    std::vector<std::unique_ptr<PreparedBatch>> prepared;
    std::vector<SluiceTilesInfo> infos;
    for (uint32_t first = 0; first < 3; ++first)
        batches.emplace_back(sample().asset, sample().file, first, 3);
    // Together they have more dispatches than a backend collects at a time.
    while (batches.size() < 8)
        batches.emplace_back(sample().asset, sample().file);
    TileBatch& damaged = batches[4];
    // No decoder leaves half of a tile unread, as it may leave a bit.
    for (uint32_t at = damaged.tiles[1].storedSize / 2; at < damaged.tiles[1].storedSize; ++at)
        damaged.source[damaged.tiles[1].sourceOffset + at] ^= 1;
    for (const TileBatch& batch : batches) {
        prepared.push_back(std::make_unique<PreparedBatch>(device(), batch));
        infos.push_back(prepared.back()->info);
    }
    const auto record = [&](SluiceCommands commands) {
        return sluiceCmdTilesTogether(device().context(), commands, infos.data(),
                                      uint32_t(infos.size()));
    };
    device().run([&](SluiceCommands commands) { REQUIRE(record(commands) == SLUICE_OK); });
    for (size_t i = 0; i < batches.size(); ++i) {
        CAPTURE(i);
        const TileBatch::Outcome outcome = prepared[i]->finish();
        const bool isDamaged = &batches[i] == &damaged;
        CHECK(outcome.failed == (isDamaged ? 1u : 0u));
        for (size_t k = 0; k < batches[i].tiles.size(); ++k)
            CHECK(batches[i].isRight(k, outcome.bytes) == !(isDamaged && k == 1));
    }
    device().run([&](SluiceCommands commands) {
        infos[1].scratch = infos[0].scratch;
        CHECK(record(commands) == SLUICE_ERROR_ARGUMENT);
        infos[1] = prepared[1]->info;
        infos[5].results = infos[2].results;
        CHECK(record(commands) == SLUICE_ERROR_ARGUMENT);
        infos.resize(SLUICE_TILES_TOGETHER + 1); // of no tiles
        CHECK(record(commands) == SLUICE_ERROR_ARGUMENT);
        infos.clear();
        CHECK(record(commands) == SLUICE_OK);
    });
}

TEST_CASE("tiles: a damaged one fails alone")
{
    if (skipsOtherSizes()) return;
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

TEST_CASE("tiles: Zstandard tiles need pipelines of their own, and take any scratch")
{
    if (skipsOtherSizes()) return;
    const TileBatch all(sample().asset, sample().file);
    TileBatch batch = all;
    batch.tiles.clear();
    for (const SluiceTile& tile : all.tiles)
        if (tile.codec == SLUICE_CODEC_ZSTD) batch.tiles.push_back(tile);
    REQUIRE(batch.tiles.size() > 5);
    SluiceTileTotals totals = {};
    uint64_t before = 0;
    for (const SluiceTile& tile : batch.tiles)
        REQUIRE(sluiceAddTile(&totals, &tile) == SLUICE_OK);
    CHECK(sluiceGetTilesKernels(&totals) ==
          (SLUICE_KERNELS_ZSTD | SLUICE_KERNELS_FILTER | SLUICE_KERNELS_CHECKSUM));
    for (const uint32_t atOnce : {1u, 8u, 64u, 0u}) {
        CAPTURE(atOnce);
        batch.gstdTilesAtOnce = atOnce;
        SluiceTilesInfo info = {};
        info.gstdTilesAtOnce = atOnce;
        SluiceTilesRequirements required = {};
        REQUIRE(sluiceGetTilesRequirements(device().context(), &info, &totals, &required) ==
                SLUICE_OK);
        CHECK(required.scratchSize >= before);
        before = required.scratchSize;
        const TileBatch::Outcome outcome = batch.run(device());
        CHECK(outcome.failed == 0);
        for (size_t i = 0; i < batch.tiles.size(); ++i) {
            const auto from =
                std::find_if(all.tiles.begin(), all.tiles.end(), [&](const SluiceTile& tile) {
                    return tile.sourceOffset == batch.tiles[i].sourceOffset;
                });
            CHECK(all.isRight(size_t(from - all.tiles.begin()), outcome.bytes));
        }
    }
    if (device().backend() != SLUICE_BACKEND_VULKAN || skipsSlowCompiler()) return;
    Device fresh(device().selector(), device().info().tier,
                 environmentNumber("SLUICE_TEST_VALIDATION", 1), SLUICE_KERNELS_CHECKSUM);
    REQUIRE(fresh.isOpen());
    fresh.run([&](SluiceCommands commands) {
        PreparedBatch prepared(device(), batch);
        CHECK(sluiceCmdTiles(fresh.context(), commands, &prepared.info) == SLUICE_ERROR_NOT_READY);
    });
}

TEST_CASE("tiles: the status of a Zstandard frame is that of its tile")
{
    if (skipsOtherSizes()) return;
    const TileBatch good(sample().asset, sample().file);
    for (size_t i = 0; i < good.tiles.size(); ++i) {
        if (good.tiles[i].codec != SLUICE_CODEC_ZSTD) continue;
        TileBatch batch = good;
        batch.source[batch.tiles[i].sourceOffset] ^= 1; // the magic number
        TileBatch::Outcome outcome = batch.run(device());
        CHECK(outcome.failed == 1);
        CHECK(outcome.statuses[i] == SLUICE_TILE_BAD_CODE);
        batch = good;
        batch.tiles[i].storedSize -= 1;
        CHECK(batch.run(device()).statuses[i] == SLUICE_TILE_TRUNCATED);
        batch = good;
        batch.tiles[i].size -= 4;
        outcome = batch.run(device());
        CHECK(outcome.failed == 1);
        break;
    }
}

TEST_CASE("ignored members: batches of tiles")
{
    if (skipsOtherSizes()) return;
    TileBatch batch(sample().asset, sample().file);
    batch.flags = SLUICE_TILES_UNCHECKED;
    batch.tiles.erase(
        std::remove_if(batch.tiles.begin(), batch.tiles.end(),
                       [](const SluiceTile& tile) { return tile.codec == SLUICE_CODEC_FLOAT; }),
        batch.tiles.end());
    REQUIRE(batch.tiles.size() > 4);
    checkIgnored("tiles", [&](uint64_t value) {
        for (SluiceTile& tile : batch.tiles)
            tile.checksum = uint32_t(value);
        batch.sourceHost = reinterpret_cast<const void*>(uintptr_t(value));
        const TileBatch::Outcome outcome = batch.run(device());
        CHECK(outcome.failed == 0);
        return outcome.bytes;
    });
    checkIgnored("requirements of tiles", [&](uint64_t value) {
        SluiceTileTotals totals = {};
        for (const SluiceTile& tile : batch.tiles)
            REQUIRE(sluiceAddTile(&totals, &tile) == SLUICE_OK);
        SluiceTilesInfo info;
        static_assert(sizeof info % 8 == 0, "infos hold 64-bit members");
        for (size_t at = 0; at < sizeof info; at += 8)
            std::memcpy(reinterpret_cast<char*>(&info) + at, &value, 8);
        info.flags = SLUICE_TILES_UNCHECKED;
        info.gstdTilesAtOnce = 8;
        SluiceTilesRequirements made = {};
        CHECK(sluiceGetTilesRequirements(device().context(), &info, &totals, &made) == SLUICE_OK);
        return std::vector<uint64_t>{made.controlSize, made.resultsSize, made.scratchSize,
                                     made.scratchAlignment};
    });
}

TEST_CASE("tiles: wrong checksums, places outside the buffers, heads of float tiles")
{
    if (skipsOtherSizes()) return;
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
        batch.source[tile.sourceOffset] = 99; // there is no such type
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
    refused([](SluiceTile& t) { t.codec = 5; }, SLUICE_ERROR_VERSION);
    refused([](SluiceTile& t) { t.filterSize = 4; }, SLUICE_ERROR_ARGUMENT);
    refused([&](SluiceTile& t) { t.filter = description; }, SLUICE_ERROR_ARGUMENT);
    refused([&](SluiceTile& t) { t.filter = description, t.filterSize = 6; },
            SLUICE_ERROR_ARGUMENT);

    // Tiles that take turns with a few descriptions share the memory of these.
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

    // Totals that belong to other tiles are refused.
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
    info.source = info.destination = memoryOf(of, sizeof of); // these are not accessed
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
