// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_tile_streams.h>

#include "tests/stream/stream_batch.h"

#include "formats/archive_layout.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace sluice::test {
namespace {

constexpr uint64_t kTileBytes = 65536;
constexpr uint64_t kGap = 12;

// Calls take(status, begin, size) for every tile of a stream that was decoded: the number of its
// status word, and the range of its logical bytes.
template <typename Take>
void forEachTile(const SluiceStreamRange& range, const SluiceStreamResult& result, Take take)
{
    if (result.status != SLUICE_STREAM_OK && result.status != SLUICE_STREAM_BAD_TILE &&
        result.status != SLUICE_STREAM_UNVERIFIED)
        return;
    for (uint32_t i = 0; i < result.tileCount; ++i)
        take(result.firstTile + i, range.destinationOffset + i * kTileBytes,
             std::min<uint64_t>(kTileBytes, result.size - i * kTileBytes));
}

} // namespace

Bytes makeTileStream(const std::vector<Tile>& tiles, uint8_t id)
{
    const size_t count = tiles.size();
    Bytes stream(8 + 4 * count);
    storeLe32(stream.data(), id | (id ^ 0xffu) << 8 | uint32_t(count) << 16);
    storeLe32(stream.data() + 4,
              1u | (count == 0 ? 0 : tiles.back().size % uint32_t(kTileBytes) << 2));
    const size_t data = stream.size();
    for (size_t i = 0; i < count; ++i) {
        const bool last = i + 1 == count;
        if (!last) REQUIRE(tiles[i].size == kTileBytes);
        if (i != 0) storeLe32(stream.data() + 8 + 4 * i, uint32_t(stream.size() - data));
        if (last) storeLe32(stream.data() + 8, uint32_t(tiles[i].compressed.size()));
        stream.insert(stream.end(), tiles[i].compressed.begin(), tiles[i].compressed.end());
        if (!last) stream.resize((stream.size() + 3) / 4 * 4);
    }
    return stream;
}

void StreamBatch::add(const Bytes& stream, uint64_t room)
{
    ranges.push_back({source.size(), stream.size(), destinationSize, room});
    source.insert(source.end(), stream.begin(), stream.end());
    source.resize((source.size() + 3) / 4 * 4 + 4, 0xEE);
    destinationSize = (destinationSize + room + 3) / 4 * 4 + kGap;
}

StreamOutcome StreamBatch::run(Device* onDevice) const
{
    std::unique_ptr<Device> host;
    if (onDevice == nullptr) host = std::make_unique<Device>("cpu", "ref", 0);
    Device& device = onDevice != nullptr ? *onDevice : *host;
    REQUIRE(device.isOpen());

    const uint32_t streamCount = uint32_t(ranges.size());
    const uint64_t memorySize =
        rowBytes == 0 ? destinationSize
                      : destinationSize / rowBytes * rowPitch + destinationSize % rowBytes;
    Words pairs = {streamCount + pairsLeftOut};
    for (const SluiceStreamRange& range : ranges)
        pairs.insert(pairs.end(),
                     {uint32_t(range.sourceOffset), uint32_t(range.destinationOffset)});
    const bool hasPairs = (flags & SLUICE_TILE_STREAMS_PAIRS) != 0;
    Buffer streamList(device, hasPairs ? bytesOf(pairs) : bytesOf(ranges)),
        countBuffer(device, Words{count}), sourceBuffer(device, source);
    Buffer destination(device, memorySize), expectedBuffer(device, expected);
    Buffer results(device, uint64_t(streamCount) * sizeof(SluiceStreamResult) +
                               sizeof(SluiceStreamSummary));
    Buffer status(device, (uint64_t(maxTileCount) + 2) * 4);
    SluiceTileStreamsInfo info = {};
    info.maxStreamCount = streamCount;
    info.maxTileCount = maxTileCount;
    info.flags = flags;
    info.rowBytes = rowBytes;
    info.rowPitch = rowPitch;
    info.streams = streamList.range();
    if (countOnDevice) info.streamCount = countBuffer.range();
    info.source = sourceBuffer.range();
    info.destination = destination.range();
    if (!expected.empty()) info.expected = expectedBuffer.range();
    info.results = results.range();
    info.status = status.range();
    runWithScratch(device, info, sluiceGetTileStreamsRequirements, sluiceCmdTileStreams);

    StreamOutcome outcome;
    const Bytes resultBytes = results.bytes();
    outcome.results.resize(streamCount);
    const size_t summaryAt = streamCount * sizeof(SluiceStreamResult);
    if (streamCount != 0) std::memcpy(outcome.results.data(), resultBytes.data(), summaryAt);
    std::memcpy(&outcome.summary, resultBytes.data() + summaryAt, sizeof outcome.summary);
    outcome.status = status.words();
    outcome.tileSummary.assign(outcome.status.end() - 2, outcome.status.end());
    outcome.status.resize(maxTileCount);
    outcome.output = logicalBytes(destination.bytes());
    checkUntouched(outcome);
    return outcome;
}

// Returns the bytes without the padding of rows, and checks that nobody has written to it.
Bytes StreamBatch::logicalBytes(const Bytes& memory) const
{
    if (rowBytes == 0) return memory;
    Bytes logical;
    bool paddingChanged = false;
    for (size_t at = 0; at < memory.size(); ++at) {
        if (at % rowPitch < rowBytes)
            logical.push_back(memory[at]);
        else
            paddingChanged = paddingChanged || memory[at] != Buffer::kPoison;
    }
    CHECK_FALSE(paddingChanged);
    return logical;
}

void StreamBatch::checkUntouched(const StreamOutcome& outcome) const
{
    Bytes rest = outcome.output;
    for (size_t s = 0; s < ranges.size(); ++s) {
        forEachTile(ranges[s], outcome.results[s],
                    [&rest](uint32_t, uint64_t begin, uint64_t size) {
                        std::fill_n(rest.begin() + std::ptrdiff_t(begin), size, Buffer::kPoison);
                    });
    }
    CHECK_MESSAGE(
        std::all_of(rest.begin(), rest.end(), [](uint8_t byte) { return byte == Buffer::kPoison; }),
        "bytes outside the decoded tiles changed");
}

StreamOutcome StreamBatch::runAndCompare(Device& device) const
{
    const StreamOutcome expect = runOnHost(), result = runOnDevice(device);
    for (size_t s = 0; s < ranges.size(); ++s) {
        CAPTURE(s);
        CHECK(result.results[s].status == expect.results[s].status);
        CHECK(result.results[s].firstTile == expect.results[s].firstTile);
        CHECK(result.results[s].tileCount == expect.results[s].tileCount);
        CHECK(result.results[s].size == expect.results[s].size);
        forEachTile(ranges[s], expect.results[s],
                    [&](uint32_t tile, uint64_t begin, uint64_t size) {
                        if (overlaps || expect.status[tile] != SLUICE_TILE_OK) return;
                        const auto first = expect.output.begin() + std::ptrdiff_t(begin);
                        CHECK(std::equal(first, first + std::ptrdiff_t(size),
                                         result.output.begin() + std::ptrdiff_t(begin)));
                    });
    }
    CHECK(result.summary.failedStreams == expect.summary.failedStreams);
    CHECK(result.summary.firstFailedStream == expect.summary.firstFailedStream);
    CHECK(result.summary.tileCount == expect.summary.tileCount);
    CHECK(result.summary.tilesNeeded == expect.summary.tilesNeeded);
    CHECK((result.status == expect.status));
    CHECK((result.tileSummary == expect.tileSummary));
    return result;
}

} // namespace sluice::test
