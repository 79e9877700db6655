// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests lists of pairs, as DirectStorage's metacommand gets them: streams of which only the offsets
// are known, and hostile lists.
#include <sluice/sluice_tile_streams.h>

#include "tests/stream/stream_batch.h"

#include "formats/archive_layout.h"

#include <algorithm>

using namespace sluice::test;
using sluice::storeLe32;

namespace {

struct PairBatch : StreamBatch {
    PairBatch() { flags = SLUICE_TILE_STREAMS_PAIRS; }

    // Adds a pair. The buffers' ends are its bounds, whatever the range says.
    void addPair(uint32_t from, uint32_t to) { ranges.push_back({from, 0, to, 0}); }
    void addStatus(uint32_t status) { statuses.push_back(status); }
    void add(uint32_t status, const Bytes& stream, uint64_t room)
    {
        StreamBatch::add(stream, room);
        addStatus(status);
    }
    StreamOutcome check(Device& device) const
    {
        const StreamOutcome outcome = runAndCompare(device);
        Words found;
        for (const SluiceStreamResult& result : outcome.results)
            found.push_back(result.status);
        CHECK((found == statuses));
        const auto isBad = [](uint32_t status) { return status != SLUICE_STREAM_OK; };
        const auto bad = std::find_if(statuses.begin(), statuses.end(), isBad);
        const uint32_t first = uint32_t(bad - statuses.begin());
        CHECK(outcome.summary.failedStreams ==
              pairsLeftOut + uint32_t(std::count_if(bad, statuses.end(), isBad)));
        CHECK(outcome.summary.firstFailedStream ==
              (first == statuses.size() && pairsLeftOut == 0 ? ~0u : first));
        return outcome;
    }

    Words statuses; // what the streams must have
};

// Two tiles, the first of which has all 65,536 bytes.
Bytes twoTiles(uint32_t lastSize, std::mt19937& random)
{
    return makeTileStream({literalTile(65536, random), literalTile(lastSize, random)}, 0xfe);
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("tile stream pairs: a stream is as long as its own header says")
{
    std::mt19937 random = makeRandom(110);
    PairBatch batch;
    for (const uint32_t size : {1u, 2u, 3u, 1000u, 4u}) // other bytes and streams follow each
        batch.add(SLUICE_STREAM_OK, makeTileStream({literalTile(size, random)}, 0xfe), size);
    batch.add(SLUICE_STREAM_OK, makeTileStream({}, 0xfe), 0);
    batch.add(SLUICE_STREAM_OK, twoTiles(77, random), 65536 + 77);
    const StreamOutcome outcome = batch.check(device());
    CHECK(outcome.summary.tileCount == 7);
    CHECK(outcome.results[6].size == 65536 + 77);
}

TEST_CASE("tile stream pairs: the list is empty, or the largest number is 0")
{
    PairBatch batch;
    batch.check(device());
    batch.pairsLeftOut = 3;
    batch.check(device());
}

TEST_CASE("tile stream pairs: those beyond the largest number are counted as failed")
{
    std::mt19937 random = makeRandom(111);
    PairBatch batch;
    batch.add(SLUICE_STREAM_OK, makeTileStream({literalTile(50, random)}), 50);
    batch.add(SLUICE_STREAM_OK, makeTileStream({literalTile(60, random)}), 60);
    for (const uint32_t leftOut : {1u, 70000u, ~0u - 2}) {
        CAPTURE(leftOut);
        batch.pairsLeftOut = leftOut;
        batch.check(device());
    }
    batch.add(SLUICE_STREAM_BAD_HEADER, Bytes(8, 0), 8); // this one is the first that fails
    batch.pairsLeftOut = 5;
    batch.check(device());
}

TEST_CASE("tile stream pairs: hostile offsets have a status each and change nothing")
{
    std::mt19937 random = makeRandom(112);
    const Bytes good = makeTileStream({literalTile(100, random)}, 0x7b);
    PairBatch batch;
    batch.add(SLUICE_STREAM_OK, good, 100);
    batch.add(SLUICE_STREAM_OK, good, 100);
    const uint32_t from = uint32_t(batch.ranges[0].sourceOffset),
                   to = uint32_t(batch.ranges[0].destinationOffset);
    const auto addPair = [&batch](uint32_t status, uint32_t source, uint32_t destination) {
        batch.addPair(source, destination);
        batch.addStatus(status);
    };
    const uint32_t badRange = SLUICE_STREAM_BAD_RANGE, truncated = SLUICE_STREAM_TRUNCATED;
    for (const uint32_t odd : {1u, 2u, 3u}) {
        addPair(badRange, from + odd, to);
        addPair(badRange, from, to + odd);
        addPair(badRange, ~0u - odd + 1, to);
    }
    const uint32_t sourceEnd = uint32_t(batch.source.size()),
                   destinationEnd = uint32_t(batch.destinationSize);
    REQUIRE(sourceEnd % 4 == 0);
    REQUIRE(destinationEnd % 4 == 0);
    addPair(badRange, sourceEnd + 4, to);
    addPair(badRange, from, destinationEnd + 4);
    addPair(badRange, 0x80000000u, to);
    addPair(badRange, ~3u, to);
    addPair(badRange, from, ~3u);
    addPair(badRange, ~0u, ~0u);
    addPair(truncated, sourceEnd, to); // no header
    addPair(truncated, sourceEnd - 4, to);
    addPair(SLUICE_STREAM_NO_SPACE, from, destinationEnd);
    addPair(SLUICE_STREAM_NO_SPACE, from, destinationEnd - 4);
    addPair(SLUICE_STREAM_NO_SPACE, from, destinationEnd - 96);
    addPair(SLUICE_STREAM_BAD_HEADER, 0, to); // bytes between streams
    batch.check(device());
}

TEST_CASE("tile stream pairs: the source ends inside a stream")
{
    std::mt19937 random = makeRandom(113);
    PairBatch batch;
    batch.add(SLUICE_STREAM_OK, twoTiles(9, random), 65536 + 9);
    const size_t begin = size_t(batch.ranges[0].sourceOffset),
                 size = size_t(batch.ranges[0].sourceSize);
    const Bytes whole = batch.source;
    for (const size_t left : {size, size - 1, size_t(16), size_t(15), size_t(8), size_t(7)}) {
        CAPTURE(left);
        batch.source.assign(whole.begin(), whole.begin() + std::ptrdiff_t(begin + left));
        batch.statuses = {left == size ? SLUICE_STREAM_OK : SLUICE_STREAM_TRUNCATED};
        batch.check(device());
    }
}

TEST_CASE("tile stream pairs: one stream several times, and outputs that overlap")
{
    std::mt19937 random = makeRandom(114);
    PairBatch batch;
    batch.add(SLUICE_STREAM_OK, makeTileStream({literalTile(5000, random)}, 0x80), 5000);
    batch.add(SLUICE_STREAM_OK, makeTileStream({literalTile(3000, random)}, 0x81), 3000);
    const uint32_t from = uint32_t(batch.ranges[0].sourceOffset),
                   to = uint32_t(batch.ranges[0].destinationOffset);
    batch.destinationSize += 5000;
    batch.addPair(from, uint32_t(batch.destinationSize - 5000)); // once more, somewhere else
    batch.addStatus(SLUICE_STREAM_OK);
    batch.check(device());
    batch.overlaps = true;
    batch.addPair(from, to);
    batch.addStatus(SLUICE_STREAM_OK);
    batch.addPair(uint32_t(batch.ranges[1].sourceOffset), to + 1004);
    batch.addStatus(SLUICE_STREAM_OK);
    batch.addPair(from + 4, to); // inside a stream
    batch.addStatus(SLUICE_STREAM_BAD_HEADER);
    batch.check(device());
}

TEST_CASE("tile stream pairs: into a pitched destination, with checksums, and too few tiles")
{
    std::mt19937 random = makeRandom(115);
    PairBatch batch;
    batch.rowBytes = 1020;
    batch.rowPitch = 1024;
    for (uint32_t s = 0; s < 3; ++s) {
        const Tile tile = literalTile(1500 + s, random);
        const Bytes bytes = decodeOnHost({tile})[0].bytes;
        batch.add(s == 1   ? SLUICE_STREAM_BAD_TILE
                  : s == 2 ? SLUICE_STREAM_NO_TILES
                           : SLUICE_STREAM_OK,
                  makeTileStream({tile}, 0xfe), tile.size);
        batch.expected.push_back(sluiceTileChecksum(bytes.data(), bytes.size()) ^ (s == 1 ? 1 : 0));
    }
    batch.expected.pop_back();
    batch.maxTileCount = 2;
    CHECK(batch.check(device()).summary.tilesNeeded == 3);
}

TEST_CASE("tile stream pairs: mutated lists and streams")
{
    std::mt19937 random = makeRandom(116);
    const auto below = [&random](size_t limit) { return size_t(random()) % limit; };
    uint32_t okCount = 0, total = environmentNumber("SLUICE_MUTATIONS", 100);
    for (uint32_t done = 0; done < total; done += 500) {
        PairBatch batch;
        batch.overlaps = true;
        batch.maxTileCount = 1000;
        for (uint32_t i = done; i < std::min(total, done + 500); ++i) {
            const uint32_t size = 1 + uint32_t(below(60));
            Bytes stream = makeTileStream({literalTile(size, random)}, uint8_t(random()));
            if (below(3) == 0) {
                const size_t bit = below(8 * 12); // of the header or the table
                stream[bit / 8] = uint8_t(stream[bit / 8] ^ 1u << bit % 8);
            }
            batch.StreamBatch::add(stream, size);
            SluiceStreamRange& range = batch.ranges.back();
            switch (below(4)) {
            case 0: range.sourceOffset ^= 1u << below(32); break;
            case 1: range.destinationOffset ^= 1u << below(32); break;
            default: break;
            }
        }
        batch.pairsLeftOut = uint32_t(below(3));
        for (const SluiceStreamResult& result : batch.runAndCompare(device()).results)
            okCount += result.status == SLUICE_STREAM_OK;
    }
    CHECK(okCount < total);
    if (total >= 100) CHECK(okCount > 0);
}

TEST_SUITE_END();
