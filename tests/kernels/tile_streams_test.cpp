// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests tile streams, decoded whole: good ones of every shape, every error, counts, limits, and
// many damaged ones.
#include <sluice/sluice_tile_streams.h>

#include "tests/stream/stream_batch.h"

#include "formats/archive_layout.h"

#include "tests/support/system.h"

#include <algorithm>

using namespace sluice::test;
using sluice::loadLe32;
using sluice::storeLe32;

namespace {

// Returns a golden stream of three tiles, two of which have all 65,536 bytes.
Bytes threeTiles()
{
    for (const GoldenStream& stream : goldenStreams()) {
        if (stream.name == "runs.bin.l12.gdeflate") return makeTileStream(stream.tiles);
    }
    return {};
}
constexpr uint64_t kThreeTilesSize = 152247;

Bytes oneTile(uint32_t size, std::mt19937& random)
{
    return makeTileStream({literalTile(size, random)});
}

Words statusesOf(const StreamOutcome& outcome)
{
    Words statuses;
    for (const SluiceStreamResult& result : outcome.results)
        statuses.push_back(result.status);
    return statuses;
}

} // namespace

TEST_CASE("tile streams: offsets past 4 GiB on the host")
{
    std::mt19937 random = makeRandom(91);
    const Tile tile = literalTile(1000, random);
    const Bytes stream = makeTileStream({tile}), expected = decodeOnHost({tile})[0].bytes;
    constexpr uint64_t far = (uint64_t(1) << 32) + 4096, size = far + 65536;
    // Reserves address space. The system backs only the pages that are touched.
    const auto reserve = [] {
        uint8_t* const memory = mapMemory(size, true);
        REQUIRE(memory != nullptr);
        return memory;
    };
    uint8_t *source = reserve(), *destination = reserve();
    std::copy(stream.begin(), stream.end(), source + far);
    SluiceStreamRange range = {far, stream.size(), far, 1000};
    alignas(8) uint32_t results[8] = {}, status[3] = {};
    const auto range64 = [](const void* memory, uint64_t bytes) {
        return SluiceBuffer{reinterpret_cast<uintptr_t>(memory), 0, bytes};
    };
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    SluiceTileStreamsInfo info = {};
    info.maxStreamCount = info.maxTileCount = 1;
    info.streams = range64(&range, sizeof range);
    info.source = range64(source, size);
    info.destination = range64(destination, size);
    info.results = range64(results, sizeof results);
    info.status = range64(status, sizeof status);
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetTileStreamsRequirements(context, &info, &requirements) == SLUICE_OK);
    std::vector<uint64_t> scratch(size_t(requirements.scratchSize / 8 + 1));
    info.scratch = range64(scratch.data(), requirements.scratchSize);
    CHECK(sluiceCmdTileStreams(context, nullptr, &info) == SLUICE_OK);
    CHECK(results[0] == SLUICE_STREAM_OK);
    CHECK(std::equal(expected.begin(), expected.end(), destination + far));
    CHECK(destination[0] == 0);

    // If the destination has a pitch, the same range has fewer logical bytes, so the offset is too
    // large.
    info.rowBytes = 1024;
    info.rowPitch = 1028;
    CHECK(sluiceCmdTileStreams(context, nullptr, &info) == SLUICE_OK);
    CHECK(results[0] == SLUICE_STREAM_BAD_RANGE);
    range.destinationOffset = far / 1028 * 1024 - 4;
    CHECK(sluiceCmdTileStreams(context, nullptr, &info) == SLUICE_OK);
    CHECK(results[0] == SLUICE_STREAM_OK);
    bool right = true;
    for (uint64_t i = 0; i < 1000; ++i) {
        const uint64_t at = range.destinationOffset + i;
        right = right && destination[at / 1024 * 1028 + at % 1024] == expected[i];
    }
    CHECK(right);
    sluiceDestroyContext(context);
    unmapMemory(source, size);
    unmapMemory(destination, size);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tile streams: mixed sizes in one command")
{
    std::mt19937 random = makeRandom(92);
    StreamBatch batch;
    std::vector<Bytes> expected;
    for (const GoldenStream& golden : goldenStreams()) {
        batch.add(makeTileStream(golden.tiles), golden.size);
        expected.emplace_back();
        for (const DecodedTile& tile : decodeOnHost(golden.tiles))
            expected.back().insert(expected.back().end(), tile.bytes.begin(), tile.bytes.end());
    }
    for (const uint32_t size : {1u, 2u, 3u, 4u, 999u}) {
        const Tile tile = literalTile(size, random);
        // The range has more room than the stream needs.
        batch.add(makeTileStream({tile}), size + 100);
        expected.push_back(decodeOnHost({tile})[0].bytes);
    }
    batch.add(makeTileStream({}), 0);
    expected.emplace_back();
    batch.add(makeTileStream({}), 50);
    expected.emplace_back();

    const StreamOutcome outcome = batch.runAndCompare(device());
    uint32_t tiles = 0;
    for (size_t s = 0; s < batch.ranges.size(); ++s) {
        CAPTURE(s);
        CHECK(outcome.results[s].status == SLUICE_STREAM_OK);
        CHECK(outcome.results[s].size == expected[s].size());
        CHECK(outcome.results[s].firstTile == tiles);
        CHECK(
            std::equal(expected[s].begin(), expected[s].end(),
                       outcome.output.begin() + std::ptrdiff_t(batch.ranges[s].destinationOffset)));
        tiles += outcome.results[s].tileCount;
    }
    CHECK(outcome.summary.failedStreams == 0);
    CHECK(outcome.summary.firstFailedStream == ~0u);
    CHECK(outcome.summary.tileCount == tiles);
    CHECK(outcome.summary.tilesNeeded == tiles);
    for (uint32_t i = 0; i < batch.maxTileCount; ++i)
        CHECK(outcome.status[i] == (i < tiles ? SLUICE_TILE_OK : SLUICE_TILE_PENDING));
}

TEST_CASE("tile streams: every error of ranges, headers and tables")
{
    std::mt19937 random = makeRandom(93);
    const Bytes good = threeTiles();
    const uint32_t first = loadLe32(good.data()), second = loadLe32(good.data() + 4);
    const uint32_t last = loadLe32(good.data() + 8), tile1 = loadLe32(good.data() + 12),
                   tile2 = loadLe32(good.data() + 16);
    StreamBatch batch;
    Words statuses;
    const auto add = [&](uint32_t status, const Bytes& stream, uint64_t room = kThreeTilesSize) {
        batch.add(stream, room);
        statuses.push_back(status);
    };
    const auto addWord = [&](uint32_t status, size_t at, uint32_t value) {
        Bytes stream = good;
        storeLe32(stream.data() + at, value);
        add(status, stream);
    };
    const auto addCut = [&](uint32_t status, size_t size) {
        add(status, Bytes(good.begin(), good.begin() + long(size)));
    };
    const auto addRange = [&](SluiceStreamRange change) { // adds a good stream, its range changed
        add(SLUICE_STREAM_BAD_RANGE, good);
        SluiceStreamRange& range = batch.ranges.back();
        range.sourceOffset += change.sourceOffset;
        range.sourceSize += change.sourceSize;
        range.destinationOffset += change.destinationOffset;
        range.destinationSize += change.destinationSize;
    };
    const uint32_t header = SLUICE_STREAM_BAD_HEADER, table = SLUICE_STREAM_BAD_TABLE,
                   truncated = SLUICE_STREAM_TRUNCATED;
    constexpr uint64_t huge = ~uint64_t(0) - 3, upper = uint64_t(1) << 32;

    add(SLUICE_STREAM_OK, oneTile(77, random), 77);
    addRange({1, 0, 0, 0}); // unaligned
    addRange({2, 0, 0, 0});
    addRange({0, 0, 1, 0});
    addRange({0, 0, 2, 0});
    addRange({upper, 0, 0, 0});
    addRange({0, upper, 0, 0});
    addRange({0, 0, upper, 0});
    addRange({0, 0, 0, upper});
    addRange({0, huge - 100000, 0, 0});
    addRange({0, 0, 0, huge - 200000});
    addRange({0, 0, 0, 0});
    batch.ranges.back().sourceOffset = huge; // offset + size wraps
    addRange({0, 0, 0, 0});
    batch.ranges.back().destinationOffset = huge;
    add(header, Bytes(good.size(), 0));
    addWord(header, 0, first ^ 1);
    addWord(header, 0, first ^ 0x8000);
    addWord(header, 0, first & 0xffff);       // no tiles, but the last one has a size
    for (const uint32_t index : {0u, 2u, 3u}) // tiles of another size
        addWord(SLUICE_STREAM_TILE_SIZE, 4, (second & ~3u) | index);
    addWord(SLUICE_STREAM_TILE_SIZE, 4, ~0u ^ 1u); // and everything else wrong
    addWord(header, 4, second | 1u << 20);         // reserved
    addWord(header, 4, second | 1u << 31);
    addWord(header, 4, 1u | 65537u << 2);       // the last tile is larger than a tile may be
    addWord(truncated, 0, first | 0xffff0000u); // the largest number of tiles that the field holds
    addCut(truncated, 0);
    addCut(truncated, 4);
    addCut(truncated, 7);
    addCut(truncated, 8);
    addCut(truncated, 19);
    addCut(truncated, 20);
    addCut(truncated, good.size() - 1);
    addWord(truncated, 8, last + 4);
    addWord(table, 8, last - 4); // there are bytes after the last tile
    addWord(table, 8, 0);        // a tile without bytes
    addWord(table, 12, 0);
    addWord(table, 12, tile2);
    addWord(table, 12, tile1 + 1); // unaligned
    addWord(table, 12, tile1 + 2);
    addWord(table, 16, tile2 + 2);
    addWord(table, 12, tile2 + 4); // the tile ends before it begins
    addWord(table, 8, 131073);     // a tile of more than 128 KiB
    addWord(table, 8, ~0u);
    addWord(table, 16, tile1 + 131076);
    addWord(table, 12, ~3u);
    add(table, [&] {
        Bytes longer = good;
        longer.push_back(0);
        return longer;
    }());
    add(table, {4, 0xfb, 0, 0, 1, 0, 0, 0, 0}); // no tiles, but bytes after the header
    add(SLUICE_STREAM_NO_SPACE, good, kThreeTilesSize - 1);
    add(SLUICE_STREAM_NO_SPACE, good, 0);
    Bytes damaged = good;
    std::fill(damaged.begin() + 20 + long(tile1), damaged.begin() + 20 + long(tile2),
              uint8_t(0xff));
    add(SLUICE_STREAM_BAD_TILE, damaged);
    add(SLUICE_STREAM_OK, oneTile(5, random), 5);

    const StreamOutcome outcome = batch.runAndCompare(device());
    CHECK((statusesOf(outcome) == statuses));
    CHECK(outcome.summary.failedStreams == statuses.size() - 2);
    CHECK(outcome.summary.firstFailedStream == 1);
    CHECK(outcome.summary.tileCount == 5);
    CHECK(outcome.status[1] == SLUICE_TILE_OK); // a damaged tile does not affect its neighbours
    CHECK(outcome.status[2] == SLUICE_TILE_BAD_CODE);
    CHECK(outcome.status[3] == SLUICE_TILE_OK);
    CHECK((outcome.tileSummary == Words{1, 2}));
}

TEST_CASE("tile streams: every identifier decodes whose second byte is its complement")
{
    std::mt19937 random = makeRandom(101);
    const Tile tile = literalTile(9, random);
    StreamBatch batch;
    batch.maxTileCount = 256;
    for (uint32_t id = 0; id < 256; ++id)
        batch.add(makeTileStream({tile}, uint8_t(id)), 9);
    for (uint32_t bit = 0; bit < 16; ++bit) { // the second byte is another one
        Bytes stream = makeTileStream({tile}, 0xfe);
        stream[bit / 8] ^= uint8_t(1u << bit % 8);
        batch.add(stream, 9);
    }
    const StreamOutcome outcome = batch.runAndCompare(device());
    for (uint32_t s = 0; s < batch.ranges.size(); ++s)
        CHECK(outcome.results[s].status == (s < 256 ? SLUICE_STREAM_OK : SLUICE_STREAM_BAD_HEADER));
}

TEST_CASE("tile streams: the last stream ends where the source ends")
{
    std::mt19937 random = makeRandom(94);
    StreamBatch batch;
    batch.add(oneTile(300, random), 300);
    batch.source.resize(size_t(batch.ranges[0].sourceOffset + batch.ranges[0].sourceSize));
    batch.destinationSize = batch.ranges[0].destinationOffset + 300;
    CHECK(batch.runAndCompare(device()).results[0].status == SLUICE_STREAM_OK);
    batch.source.pop_back();
    CHECK(batch.runAndCompare(device()).results[0].status == SLUICE_STREAM_BAD_RANGE);
}

TEST_CASE("tile streams: the count comes from GPU memory")
{
    std::mt19937 random = makeRandom(95);
    StreamBatch batch;
    for (uint32_t s = 0; s < 5; ++s)
        batch.add(oneTile(40 + s, random), 64);
    batch.countOnDevice = true;
    for (const uint32_t count : {0u, 1u, 4u, 5u, 6u, 4000000000u}) {
        CAPTURE(count);
        batch.count = count;
        const StreamOutcome outcome = batch.runAndCompare(device());
        for (uint32_t s = 0; s < 5; ++s)
            CHECK(outcome.results[s].status ==
                  (s < count ? SLUICE_STREAM_OK : SLUICE_STREAM_PENDING));
        CHECK(outcome.summary.tileCount == std::min(count, 5u));
        CHECK(outcome.summary.failedStreams == 0);
    }
}

TEST_CASE("tile streams: more tiles than there is room for")
{
    std::mt19937 random = makeRandom(96);
    StreamBatch batch;
    batch.add(oneTile(100, random), 100);
    batch.add(makeTileStream({}), 0);
    batch.add(threeTiles(), kThreeTilesSize);
    batch.add(oneTile(101, random), 101);
    batch.add(makeTileStream({}), 0);
    batch.add(Bytes(8, 0), 0);
    for (uint32_t maxTileCount = 0; maxTileCount <= 6; ++maxTileCount) {
        CAPTURE(maxTileCount);
        batch.maxTileCount = maxTileCount;
        const StreamOutcome outcome = batch.runAndCompare(device());
        const auto fits = [maxTileCount](uint32_t end) -> uint32_t {
            return end <= maxTileCount ? SLUICE_STREAM_OK : SLUICE_STREAM_NO_TILES;
        };
        CHECK((statusesOf(outcome) == Words{fits(1), SLUICE_STREAM_OK, fits(4), fits(5),
                                            SLUICE_STREAM_OK, SLUICE_STREAM_BAD_HEADER}));
        CHECK(outcome.summary.tilesNeeded == 5);
        CHECK(outcome.summary.tileCount == (maxTileCount >= 5   ? 5
                                            : maxTileCount >= 4 ? 4
                                                                : std::min(maxTileCount, 1u)));
    }
}

TEST_CASE("tile streams: no streams, and more than a workgroup scans")
{
    StreamBatch batch;
    CHECK(batch.runAndCompare(device()).summary.tileCount == 0);

    std::mt19937 random = makeRandom(97);
    for (uint32_t s = 0; s < 2500; ++s) { // most streams are empty, since software devices are slow
        if (s % 100 == 99)
            batch.add(oneTile(20 + s % 7, random), 30);
        else
            batch.add(s % 10 == 5 ? Bytes(8, 1) : makeTileStream({}), 4);
    }
    const StreamOutcome outcome = batch.runAndCompare(device());
    CHECK(outcome.summary.tileCount == 25);
    CHECK(outcome.summary.failedStreams == 250);
    CHECK(outcome.summary.firstFailedStream == 5);
}

TEST_CASE("tile streams: expected checksums")
{
    std::mt19937 random = makeRandom(98);
    StreamBatch batch;
    batch.maxTileCount = 4;
    for (uint32_t s = 0; s < 3; ++s) {
        const Tile tile = literalTile(500 + s, random);
        const Bytes bytes = decodeOnHost({tile})[0].bytes;
        batch.add(makeTileStream({tile}), tile.size);
        batch.expected.push_back(sluiceTileChecksum(bytes.data(), bytes.size()) ^
                                 (s == 1 ? 1u : 0u));
    }
    batch.expected.push_back(0);
    const StreamOutcome outcome = batch.runAndCompare(device());
    CHECK(
        (statusesOf(outcome) == Words{SLUICE_STREAM_OK, SLUICE_STREAM_BAD_TILE, SLUICE_STREAM_OK}));
    CHECK((outcome.status ==
           Words{SLUICE_TILE_OK, SLUICE_TILE_BAD_CHECKSUM, SLUICE_TILE_OK, SLUICE_TILE_PENDING}));
    CHECK(outcome.summary.failedStreams == 1);
    CHECK(outcome.summary.firstFailedStream == 1);
}

TEST_CASE("tile streams: into a pitched destination")
{
    std::mt19937 random = makeRandom(99);
    StreamBatch batch;
    batch.add(threeTiles(), kThreeTilesSize);
    batch.add(oneTile(1001, random), 1001);
    batch.rowBytes = 1020;
    batch.rowPitch = 1024;
    const StreamOutcome outcome = batch.runAndCompare(device());
    CHECK((statusesOf(outcome) == Words{SLUICE_STREAM_OK, SLUICE_STREAM_OK}));
}

TEST_CASE("tile streams: mutated streams")
{
    std::mt19937 random = makeRandom(100);
    const auto below = [&random](size_t limit) { return size_t(random()) % limit; };
    uint32_t okCount = 0, total = environmentNumber("SLUICE_MUTATIONS", 100);
    for (uint32_t done = 0; done < total; done += 500) {
        StreamBatch batch;
        // With room for very many tiles, another kernel may run.
        batch.maxTileCount = done / 500 % 4 == 3 ? 40000 : 1000;
        for (uint32_t i = done; i < std::min(total, done + 500); ++i) {
            // A stream has up to three tiles. All but the last one decode to fewer than 65,536
            // bytes: what matters here is the table.
            std::vector<Tile> tiles;
            for (size_t t = 1 + below(3); t-- != 0;) {
                tiles.push_back(literalTile(1 + uint32_t(below(60)), random));
                if (t != 0) tiles.back().size = 65536;
            }
            Bytes stream = makeTileStream(tiles);
            const uint64_t room = (tiles.size() - 1) * 65536 + tiles.back().size;
            switch (below(5)) {
            case 0: // bits in the header or the table
                for (size_t flips = 1 + below(3); flips-- != 0;) {
                    const size_t bit =
                        below(8 * std::min<size_t>(stream.size(), 8 + 4 * tiles.size()));
                    stream[bit / 8] = uint8_t(stream[bit / 8] ^ 1u << bit % 8);
                }
                break;
            case 1: { // a small change of an entry of the table
                uint8_t* entry = stream.data() + 8 + 4 * below(tiles.size());
                storeLe32(entry, loadLe32(entry) + uint32_t(below(9)) * 4 - 16);
                break;
            }
            case 2: // anywhere
                stream[below(stream.size())] ^= uint8_t(1u << below(8));
                break;
            case 3: stream.resize(below(stream.size() + 1)); break;
            default: break;
            }
            batch.add(stream, below(8) == 0 ? room - 1 : room + below(8));
        }
        for (const SluiceStreamResult& result : batch.runAndCompare(device()).results)
            okCount += result.status == SLUICE_STREAM_OK;
    }
    CHECK(okCount < total);
    if (total >= 100) CHECK(okCount > 0);
}

TEST_SUITE_END();
