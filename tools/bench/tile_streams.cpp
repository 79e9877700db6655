// SPDX-License-Identifier: MIT OR Apache-2.0
// The row of tile streams: the tiles of the gdeflate rows, in streams of at most 1 MiB whose
// headers and tables the device reads.
#include <sluice/sluice_tile_streams.h>

#include <algorithm>

#include "tools/bench/rows.h"
#include "tools/bench/scene.h"

namespace sluice {
namespace {

constexpr uint32_t kTileBytes = 65536;
constexpr size_t kTilesOfStream = 16;

void appendWord(Bytes& bytes, uint64_t value)
{
    for (uint32_t shift = 0; shift < 32; shift += 8)
        bytes.push_back(uint8_t(value >> shift));
}

// Appends the tiles [first, first + count) as one stream (docs/format.md, 2). Sizes are rounded up
// to 4; the set has zeros behind each tile, which do no harm there.
void appendStream(Bytes& bytes, const TileSet& set, size_t first, size_t count)
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
        const auto begin = set.source.begin() + ptrdiff_t(set.tiles[i].sourceOffset);
        bytes.insert(bytes.end(), begin, begin + ptrdiff_t(storedSize(i)));
    }
}

struct Streams {
    Bytes bytes;
    std::vector<SluiceStreamRange> ranges;
};

Streams makeStreams(const TileSet& set)
{
    Streams streams;
    for (size_t first = 0, count = 0; first < set.tiles.size(); first += count) {
        uint64_t size = set.tiles[first].size;
        for (count = 1; count < kTilesOfStream && first + count < set.tiles.size(); ++count) {
            // All tiles of a stream except the last must have the full size.
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
    // A command takes at most 65,536 streams.
    const uint64_t most = std::max<uint64_t>(65536 / streamCount, 1);
    return uint32_t(std::clamp<uint64_t>(gpuOutputBudget(device) / set.outputBytes, 1, most));
}

class StreamScene {
public:
    StreamScene(const BenchDevice& on, const TileSet& tiles)
        : m_device(on), m_set(tiles), m_streams(makeStreams(tiles)),
          m_copies(copiesFor(on, tiles, m_streams.ranges.size())),
          m_sourceStride(aligned256(m_streams.bytes.size())),
          m_outputStride(aligned256(tiles.expected.size())),
          m_source(on.allocate(m_copies * m_sourceStride)),
          m_destination(on.allocate(m_copies * m_outputStride)),
          m_results(on.allocate(m_copies * m_streams.ranges.size() * sizeof(SluiceStreamResult) +
                                sizeof(SluiceStreamSummary))),
          m_status(on.allocate((m_copies * tiles.tiles.size() + 2) * 4))
    {
        std::vector<SluiceStreamRange> ranges;
        for (uint32_t copy = 0; copy < m_copies; ++copy) {
            on.upload(m_source.part(copy * m_sourceStride, m_streams.bytes.size()),
                      m_streams.bytes.data(), m_streams.bytes.size());
            for (SluiceStreamRange range : m_streams.ranges) {
                range.sourceOffset += copy * m_sourceStride;
                range.destinationOffset += copy * m_outputStride;
                ranges.push_back(range);
            }
        }
        m_list = on.allocate(ranges);
        m_scratch = on.allocateScratch(sluiceGetTileStreamsRequirements, info(0, m_copies));
    }

    // Decodes all copies over memory with a pattern, and checks them.
    void check() const
    {
        m_device.fill(m_destination.whole(), 0xee);
        m_device.runOnce(
            [this](SluiceCommands commands, uint32_t) { record(commands, 0, m_copies); });
        SluiceStreamSummary summary = {};
        m_device.download(m_results.part(m_results.size() - sizeof summary, sizeof summary),
                          &summary, sizeof summary);
        if (summary.failedStreams != 0 || summary.tileCount != m_copies * m_set.tiles.size())
            throw Failure{exitDevice, "bench: tile streams: the summary counts failed streams"};
        checkCopies(m_device, m_set, m_destination, m_copies, m_outputStride, "tile streams");
    }

    uint32_t copies() const { return m_copies; }

    // Times the decode of `count` copies. Each run takes other copies, which are in no cache.
    BenchRow time(uint32_t count) const
    {
        const uint64_t bytes = count * m_set.outputBytes;
        const uint32_t groups = m_copies / count;
        const auto recordRun = [&](SluiceCommands commands, uint32_t run) {
            record(commands, run % groups * count, count);
        };
        return {"tile streams", sizeText(bytes),
                "sluice, " + std::to_string(count * m_streams.ranges.size()) + " streams", bytes,
                m_device.time(1, recordRun)};
    }

private:
    void record(SluiceCommands commands, uint32_t first, uint32_t count) const
    {
        const SluiceTileStreamsInfo command = info(first, count);
        require(sluiceCmdTileStreams(m_device.context(), commands, &command), "tile streams");
    }
    SluiceTileStreamsInfo info(uint32_t first, uint32_t count) const
    {
        const uint64_t listBytes = m_streams.ranges.size() * sizeof(SluiceStreamRange);
        SluiceTileStreamsInfo result = {};
        result.maxStreamCount = uint32_t(count * m_streams.ranges.size());
        result.maxTileCount = uint32_t(count * m_set.tiles.size());
        result.streams = m_list.part(first * listBytes, count * listBytes);
        result.source = m_source.whole();
        result.destination = m_destination.whole();
        result.results = m_results.whole();
        result.status = m_status.whole();
        result.scratch = m_scratch.whole();
        return result;
    }

    const BenchDevice& m_device;
    const TileSet& m_set;
    Streams m_streams;
    uint32_t m_copies;
    uint64_t m_sourceStride, m_outputStride;
    DeviceBuffer m_source, m_destination, m_results, m_status, m_list, m_scratch;
};

} // namespace

void benchTileStreams(const BenchDevice& device, const TileSet& tiles, BenchReport& report)
{
    if (!report.hasTime("tile streams", sizeText(tiles.outputBytes))) return;
    const StreamScene scene(device, tiles);
    scene.check();
    report.addGroup({scene.time(1)});
    const std::string all = sizeText(scene.copies() * tiles.outputBytes);
    if (scene.copies() > 1 && report.hasTime("tile streams", all))
        report.addGroup({scene.time(scene.copies())});
}

} // namespace sluice
