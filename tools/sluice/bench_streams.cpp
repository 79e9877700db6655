// SPDX-License-Identifier: MIT OR Apache-2.0
// The row of tile streams taken whole: the tiles of the gdeflate rows, packed into streams of at
// most 1 MiB, their headers and tables read on the device.
#include <sluice/sluice_tile_streams.h>

#include <algorithm>
#include <cstring>

#include "bench_rows.h"

namespace sluice {
namespace {

constexpr uint32_t kTileBytes = 65536;
constexpr size_t kTilesOfStream = 16;

void appendWord(std::vector<uint8_t>& bytes, uint64_t value)
{
    for (uint32_t shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<uint8_t>(value >> shift));
}

// Appends tiles [first, first + count) as a stream (docs/format.md, 2). Tiles start 16-byte aligned
// in the set, and nobody minds the zeros behind one.
void appendStream(std::vector<uint8_t>& bytes, const TileSet& set, size_t first, size_t count)
{
    const auto storedSize = [&](size_t i) { return (set.tiles[i].compressedSize + 3u) / 4 * 4; };
    const size_t last = first + count - 1;
    appendWord(bytes, 0xfb04 | count << 16);
    appendWord(bytes, 1 | set.tiles[last].size % kTileBytes << 2);
    appendWord(bytes, storedSize(last));
    uint64_t offset = 0;
    for (size_t i = first; i < last; ++i)
        appendWord(bytes, offset += storedSize(i));
    for (size_t i = first; i <= last; ++i) {
        const auto begin = set.source.begin() + static_cast<ptrdiff_t>(set.tiles[i].sourceOffset);
        bytes.insert(bytes.end(), begin, begin + static_cast<ptrdiff_t>(storedSize(i)));
    }
}

// The tiles as streams, the set once.
struct Streams {
    std::vector<uint8_t> bytes;
    std::vector<SluiceStreamRange> ranges;
};

Streams makeStreams(const TileSet& set)
{
    Streams streams;
    for (size_t first = 0, count = 0; first < set.tiles.size(); first += count) {
        uint64_t size = set.tiles[first].size;
        for (count = 1; count < kTilesOfStream && first + count < set.tiles.size(); ++count) {
            // only a stream's last tile may be shorter
            if (set.tiles[first + count - 1].size != kTileBytes) break;
            size += set.tiles[first + count].size;
        }
        const uint64_t begin = streams.bytes.size();
        appendStream(streams.bytes, set, first, count);
        streams.ranges.push_back(
            {begin, streams.bytes.size() - begin, set.tiles[first].outputOffset, size});
    }
    return streams;
}

uint32_t copiesFor(const BenchDevice& device, const TileSet& set, size_t streamCount)
{
    if (!device.isGpu()) return 1;
    // streams that a command may have
    const uint64_t most = std::max<uint64_t>(65536 / streamCount, 1);
    return static_cast<uint32_t>(
        std::clamp<uint64_t>(gpuOutputBudget(device) / set.outputBytes, 1, most));
}

// Copies of the streams, each at source and destination addresses of its own.
class StreamScene {
public:
    StreamScene(const BenchDevice& on, const TileSet& tiles)
        : device(on), set(tiles), streams(makeStreams(tiles)),
          copies(copiesFor(on, tiles, streams.ranges.size())),
          sourceStride(aligned256(streams.bytes.size())),
          outputStride(aligned256(tiles.expected.size())),
          source(on.allocate(copies * sourceStride)),
          destination(on.allocate(copies * outputStride)),
          list(on.allocate(copies * streams.ranges.size() * sizeof(SluiceStreamRange))),
          results(on.allocate(copies * streams.ranges.size() * sizeof(SluiceStreamResult) +
                              sizeof(SluiceStreamSummary))),
          status(on.allocate((copies * set.tiles.size() + 2) * 4))
    {
        std::vector<SluiceStreamRange> ranges;
        for (uint32_t copy = 0; copy < copies; ++copy) {
            device.upload(source.part(copy * sourceStride, streams.bytes.size()),
                          streams.bytes.data(), streams.bytes.size());
            for (SluiceStreamRange range : streams.ranges) {
                range.sourceOffset += copy * sourceStride;
                range.destinationOffset += copy * outputStride;
                ranges.push_back(range);
            }
        }
        device.upload(list.whole(), ranges.data(), ranges.size() * sizeof ranges[0]);
        SluiceRequirements requirements = {};
        const SluiceTileStreamsInfo all = info(0, copies);
        require(sluiceGetTileStreamsRequirements(device.context(), &all, &requirements),
                "requirements");
        scratch = device.allocate(requirements.scratchSize);
    }

    void record(SluiceCommands commands, uint32_t first, uint32_t copyCount) const
    {
        const SluiceTileStreamsInfo command = info(first, copyCount);
        require(sluiceCmdTileStreams(device.context(), commands, &command), "tile streams");
    }

    // All copies, over poisoned memory.
    void check() const
    {
        device.fill(destination.whole(), 0xee);
        device.runOnce([this](SluiceCommands commands, uint32_t) { record(commands, 0, copies); });
        SluiceStreamSummary summary = {};
        device.download(results.part(results.size() - sizeof summary, sizeof summary), &summary,
                        sizeof summary);
        if (summary.failedStreams != 0 || summary.tileCount != copies * set.tiles.size())
            throw Failure{exitDevice, "bench: tile streams: the summary counts failed streams"};
        std::vector<uint8_t> bytes(static_cast<size_t>(outputStride));
        for (uint32_t copy = 0; copy < copies; ++copy) {
            device.download(destination.part(copy * outputStride, outputStride), bytes.data(),
                            outputStride);
            for (const TileSet::Tile& tile : set.tiles) {
                const size_t at = static_cast<size_t>(tile.outputOffset);
                if (std::memcmp(bytes.data() + at, set.expected.data() + at, tile.size) != 0)
                    throw Failure{exitDevice, "bench: tile streams: wrong bytes"};
            }
        }
    }

    uint32_t copyCount() const { return copies; }

    // Run after run decodes the next `count` copies.
    BenchRow time(uint32_t count) const
    {
        BenchRow row;
        row.kernel = "tile streams";
        row.size = sizeText(count * set.outputBytes);
        row.who = "sluice, " + std::to_string(count * streams.ranges.size()) + " streams";
        row.bytes = count * set.outputBytes;
        const uint32_t groups = copies / count;
        row.timing = device.time(1, [&](SluiceCommands commands, uint32_t run) {
            record(commands, run % groups * count, count);
        });
        return row;
    }

private:
    SluiceTileStreamsInfo info(uint32_t first, uint32_t copyCount) const
    {
        const uint64_t listBytes = streams.ranges.size() * sizeof(SluiceStreamRange);
        SluiceTileStreamsInfo result = {};
        result.maxStreamCount = static_cast<uint32_t>(copyCount * streams.ranges.size());
        result.maxTileCount = static_cast<uint32_t>(copyCount * set.tiles.size());
        result.streams = list.part(first * listBytes, copyCount * listBytes);
        result.source = source.whole();
        result.destination = destination.whole();
        result.results = results.whole();
        result.status = status.whole();
        result.scratch = scratch.whole();
        return result;
    }

    const BenchDevice& device;
    const TileSet& set;
    Streams streams;
    uint32_t copies;
    uint64_t sourceStride, outputStride;
    BenchBuffer source, destination, list, results, status, scratch;
};

} // namespace

void benchTileStreams(const BenchDevice& device, const TileSet& tiles, BenchReport& report)
{
    const StreamScene scene(device, tiles);
    scene.check();
    report.addGroup({scene.time(1)});
    if (scene.copyCount() > 1) report.addGroup({scene.time(scene.copyCount())});
}

} // namespace sluice
