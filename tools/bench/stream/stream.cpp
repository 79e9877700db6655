// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/stream/stream.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "tools/bench/contest.h"
#include "tools/bench/stream/stream_decode.h"
#include "tools/bench/stream/stream_latency.h"
#include "tools/bench/stream/stream_ours.h"
#include "tools/bench/stream/stream_peers.h"
#include "tools/bench/stream/stream_read.h"
#include "tools/common/platform.h"

namespace sluice {
namespace {

constexpr uint64_t kMiB = 1u << 20;
constexpr uint64_t kReadBlock = kMiB, kSmallBlock = kMiB / 4;
constexpr uint64_t kGroupSize = 8 * kMiB;
constexpr const char* kMemoryFolder = "/dev/shm";
constexpr const char* kFileRows[] = {"stream read",    "stream decode",  "stream bulk",
                                     "stream latency", "stream batches", "stream cancel"};

uint32_t cores() { return std::max(std::thread::hardware_concurrency(), 1u); }

// Returns the numbers of threads to measure: those of 1, 2, 4, 8 and 16 that are below the number
// of cores, then the number of cores.
Words threadCounts()
{
    Words counts;
    for (const uint32_t count : {1u, 2u, 4u, 8u, 16u})
        if (count < cores()) counts.push_back(count);
    counts.push_back(cores());
    return counts;
}

// A folder in which the files lie that are read. If isCold, the files are dropped from the page
// cache before each pass, so that they really are read from the disk.
struct Place {
    std::string folder, name; // "shm", "disk"
    bool isCold;
};

// Measures the rows about one archive.
class StreamBench {
public:
    StreamBench(StreamEngine& engine, const BenchOptions& options, const Wanted& wanted,
                BenchReport& report, const std::string& input);
    void run(const Place& place);

private:
    double readRate(const Place& place, const StreamFiles& files);
    std::vector<SluiceStreamSides> sides() const;
    void runOurs(const Place& place, const StreamFiles& files);
    void addOurs(const Place& place, const StreamFiles& files, const StreamSetup& setup,
                 const std::string& who);
    void runLatency(const StreamFiles& files);
    void runPeers(const Place& place);
    void runThreads(const Place& place, const StreamPack& pack, const std::string& who);
    void runDriver(const Place& place);
    void decodeRows(const StreamSetup& setup);
    std::string sizeOf(const Place& place, uint64_t bytes) const
    {
        return place.name + " " + sizeText(bytes);
    }
    uint32_t copiesFor(const Place& place, uint64_t fileSize, uint64_t outputSize) const;

    StreamEngine& m_engine;
    const BenchOptions& m_options;
    const Wanted& m_wanted;
    BenchReport& m_report;
    DeviceBuffer m_destination;
    StreamContent m_content;
    uint64_t m_streamSize;
    uint32_t m_threads;
    double m_decodeRate = 0, m_readRate = 0; // bytes of output, and bytes read, a second
    double m_zstdRate = 0, m_zstdCost = 0;   // of Zstandard's fastest row in the current Place
};

uint64_t destinationSize(const BenchDevice& device)
{
    return device.isGpu() ? std::min<uint64_t>(1024 * kMiB, device.properties().memorySize / 4)
                          : 32 * kMiB;
}

uint64_t contentLimit(const BenchDevice& device, const std::string& input)
{
    if (!device.isGpu()) return kMiB / 2; // a software device decodes a few MB a second
    return input.empty() ? 64 * kMiB : destinationSize(device);
}

StreamBench::StreamBench(StreamEngine& engine, const BenchOptions& options, const Wanted& wanted,
                         BenchReport& report, const std::string& input)
    : m_engine(engine), m_options(options), m_wanted(wanted), m_report(report),
      m_destination(engine.device().allocate(destinationSize(engine.device()))),
      m_content(input, contentLimit(engine.device(), input)),
      m_threads(options.streamThreads != 0 ? options.streamThreads : std::min(cores(), 8u))
{
    m_streamSize = options.streamSize != 0   ? options.streamSize
                   : engine.device().isGpu() ? 8000000000u
                                             : 2 * m_content.outputBytes;
    report.beginInput(m_content.description, "archive", "tiles", m_content.tiles.size(),
                      m_content.storedBytes, m_content.outputBytes);
    // bench.cpp has made the pipelines of the usual codecs. The archive may need others, for
    // example Zstandard's.
    std::vector<uint32_t> assets(m_content.container->assetCount());
    std::iota(assets.begin(), assets.end(), 0u);
    engine.device().makePipelines(m_content.container->kernelsOf(assets));
    decodeRows(largeSetup(engine.device(), m_threads));
}

// Measures what limits streaming besides reading: decoding, and copies to the device's memory.
void StreamBench::decodeRows(const StreamSetup& setup)
{
    if (!m_wanted("stream decode") && !m_wanted("stream bulk")) return;
    const std::string size = sizeText(m_content.outputBytes);
    const SluiceBuffer to = m_destination.whole();
    const BenchRow large = timeDecode(m_engine, m_content, setup, to, size, "large batches", false);
    m_decodeRate = rateOf(large);
    m_report.addGroup({large});
    m_report.addGroup({timeDecode(m_engine, m_content, setup, to, size,
                                  "large batches, from the system's memory", true)});
    m_report.addGroup({timeDecode(m_engine, m_content, plainSetup(1), to, size,
                                  "batches of the defaults", false)});
    m_report.addGroup({timeLink(m_engine, to, sizeText(to.size))});
}

uint32_t StreamBench::copiesFor(const Place& place, uint64_t fileSize, uint64_t outputSize) const
{
    const uint64_t wanted = std::max<uint64_t>((m_streamSize + outputSize - 1) / outputSize, 1);
    const uint32_t copies =
        copiesThatFit(place.folder, fileSize, uint32_t(std::min<uint64_t>(wanted, 100000)));
    if (copies == 0) throw Failure{exitIo, place.folder + ": no room for " + sizeText(fileSize)};
    return copies;
}

double StreamBench::readRate(const Place& place, const StreamFiles& files)
{
    const bool isShown = m_wanted("stream read");
    const std::string size = sizeOf(place, files.fileSize() * files.paths().size());
    // For a GPU the ring is larger than any cache, so that the bytes really go to memory.
    const ReadRing ring(m_engine.device().isGpu() ? 256 * kMiB : 16 * kMiB);
    double best = 0;
    const auto add = [&](const ReadPlan& plan, const std::string& who) {
        BenchRow row = timePasses("stream read", size, who,
                                  [&] { return readFiles(files, plan, ring.data(), ring.size()); });
        row.isPeer = true;
        best = std::max(best, rateOf(row));
        if (isShown) m_report.addGroup({row});
    };
    if (!place.isCold) {
        for (const uint32_t threads : threadCounts())
            add({threads, kReadBlock, false, false}, formatText("buffered, %u threads", threads));
        return best;
    }
    add({std::min(cores(), 8u), kReadBlock, false, true}, "buffered, cold");
    const std::string why = whyNotDirect(files.paths()[0]);
    if (!why.empty()) {
        m_report.addMissing("stream read", "O_DIRECT", why);
        return best;
    }
    for (const uint32_t depth : {1u, 8u, 32u})
        add({depth, kReadBlock, true, true}, formatText("O_DIRECT, %u of 1 MiB", depth));
    add({32, kSmallBlock, true, true}, "O_DIRECT, 32 of 256 KiB");
    return best;
}

void StreamBench::addOurs(const Place& place, const StreamFiles& files, const StreamSetup& setup,
                          const std::string& who)
{
    BenchStreamer streamer(m_engine, setup);
    streamer.minTiles = (setup.batchTiles != 0 ? setup.batchTiles : 1024) / 8;
    const std::vector<SluiceStreamFile> opened = streamer.open(files.paths());
    const std::vector<StreamGroupPlan> groups = planGroups(m_content, kGroupSize);
    // Check the streamed output before anything is timed.
    const BenchDevice& device = m_engine.device();
    device.fill(m_destination.whole(), 0xee);
    streamToBuffer(
        streamer, m_content, {opened[0]}, groups, m_destination.whole(),
        [&](const StreamGroupPlan& group, uint64_t at) {
            for (uint32_t i = 0; i < group.assetCount; ++i) {
                const StreamAsset& asset = m_content.assets[group.firstAsset + i];
                Bytes got(asset.size);
                const uint64_t from = at + asset.offset - m_content.assets[group.firstAsset].offset;
                device.download(m_destination.part(from, got.size()), got.data(), got.size());
                if (!std::equal(got.begin(), got.end(), &m_content.plain[asset.offset]))
                    throw Failure{exitDevice, "bench: stream: " + who + ": wrong bytes"};
            }
        });
    streamer.takeCpuShare();
    const uint64_t batches = streamer.batchCount();
    const double recordStart = streamer.recordSeconds();
    const uint64_t tilesBefore = streamer.recordedTiles();
    const double gpuBefore = streamer.gpuMilliseconds();
    uint64_t passes = 0;
    BenchRow row = timePasses(
        "stream bulk", sizeOf(place, m_content.outputBytes * files.paths().size()), who, [&] {
            ++passes;
            if (place.isCold) files.dropFromMemory();
            return streamToBuffer(streamer, m_content, opened, groups, m_destination.whole(), {});
        });
    const double ceiling = std::min(m_readRate * m_content.growth(), m_decodeRate);
    row.figures.push_back({"of_ceiling", rateOf(row) / ceiling});
    row.figures.push_back({"ceiling_gb_per_s", ceiling * 1e-9});
    if (m_zstdCost > 0) row.figures.push_back({"cpu_of_zstd", row.figures[0].value / m_zstdCost});
    row.figures.push_back({"gpu_share", (streamer.gpuMilliseconds() - gpuBefore) / double(passes) /
                                            row.timing.median});
    row.figures.push_back({"batches", double(streamer.batchCount() - batches) / double(passes)});
    const uint64_t tiles = streamer.recordedTiles() - tilesBefore;
    if (tiles != 0)
        row.figures.push_back(
            {"record_ns_per_tile", (streamer.recordSeconds() - recordStart) * 1e9 / double(tiles)});
    row.figures.push_back({"cpu_share", streamer.takeCpuShare()});
    m_report.addGroup({row});
    streamer.close(opened);
}

// Returns the choices of who decodes (GPU, CPU or both), each of which gets rows of its own.
std::vector<SluiceStreamSides> StreamBench::sides() const
{
    std::vector<SluiceStreamSides> sides;
    for (const std::string& name : m_options.streamSides)
        sides.push_back(name == "gpu"    ? SLUICE_STREAM_GPU_ALONE
                        : name == "cpu"  ? SLUICE_STREAM_CPU_ALONE
                        : name == "both" ? SLUICE_STREAM_BOTH
                                         : SLUICE_STREAM_GPU_FIRST);
    return sides;
}

void StreamBench::runOurs(const Place& place, const StreamFiles& files)
{
    for (const SluiceStreamSides sides : this->sides()) {
        StreamSetup large = largeSetup(m_engine.device(), m_threads);
        large.sides = sides;
        const std::string end = nameOf(sides);
        addOurs(place, files, large, formatText("sluice, %u threads", m_threads) + end);
        StreamSetup mapped = large;
        mapped.source = StreamEngine::Memory::mapped;
        // If the CPU decodes too, its threads would read the mapped VRAM, which is slow, since the
        // CPU does not cache it.
        if (sides == SLUICE_STREAM_GPU_ALONE && m_engine.hasMapped(mapped.sourceSize))
            addOurs(place, files, mapped,
                    formatText("sluice, %u threads, into mapped VRAM", m_threads) + end);
        StreamSetup plain = plainSetup(m_threads);
        plain.sides = sides;
        if (m_engine.device().isGpu()) addOurs(place, files, plain, "sluice, defaults" + end);
    }
}

void StreamBench::runThreads(const Place& place, const StreamPack& pack, const std::string& who)
{
    const InputFile file(who, pack.bytes);
    const StreamFiles files(place.folder, file,
                            copiesFor(place, file.size(), m_content.outputBytes));
    StreamPeers peers(m_engine, m_destination.whole());
    const BenchDevice& device = m_engine.device();
    device.fill(m_destination.whole(), 0xee);
    peers.run(pack, files, cores(), place.isCold);
    peers.check(m_content.plain, who);
    for (const uint32_t threads : threadCounts()) {
        BenchRow row =
            timePasses("stream bulk", sizeOf(place, m_content.outputBytes * files.paths().size()),
                       formatText("%s, %u threads", who.c_str(), threads),
                       [&] { return peers.run(pack, files, threads, place.isCold); });
        row.isPeer = true;
        m_report.addGroup({row});
        if (who.find("zstd") == std::string::npos || rateOf(row) < m_zstdRate) continue;
        m_zstdRate = rateOf(row);
        m_zstdCost = row.figures[0].value;
    }
}

void StreamBench::runDriver(const Place& place)
{
    StreamPeers peers(m_engine, m_destination.whole());
    if (!peers.whyNoDriver().empty()) {
        m_report.addMissing("stream bulk", peers.driverName(), peers.whyNoDriver());
        return;
    }
    const StreamPack pack = packGdeflate(m_content.plain);
    const InputFile file("GDeflate", pack.bytes);
    const StreamFiles files(place.folder, file,
                            copiesFor(place, file.size(), m_content.outputBytes));
    m_engine.device().fill(m_destination.whole(), 0xee);
    peers.run(pack, files, m_threads, place.isCold, true);
    peers.check(m_content.plain, peers.driverName());
    BenchRow row = timePasses(
        "stream bulk", sizeOf(place, m_content.outputBytes * files.paths().size()),
        peers.driverName(), [&] { return peers.run(pack, files, m_threads, place.isCold, true); });
    row.isPeer = true;
    m_report.addGroup({row});
}

void StreamBench::runPeers(const Place& place)
{
    m_zstdRate = m_zstdCost = 0;
    runThreads(place, packZstd(m_content.plain), "zstd -19");
    runThreads(place, packDeflate(m_content.plain), "libdeflate -12");
    runThreads(place, packPlain(m_content.plain), "uncompressed");
    runDriver(place);
}

void StreamBench::run(const Place& place)
{
    const bool isBulk = m_wanted("stream bulk");
    const bool isOther =
        m_wanted("stream latency") || m_wanted("stream batches") || m_wanted("stream cancel");
    if (!isBulk && !m_wanted("stream read") && (!isOther || place.isCold)) return;
    const InputFile& archive = m_content.container->file();
    // The peers' files are removed before ours are made, so that the folder holds one kind at a
    // time.
    if (isBulk && !m_options.streamOursOnly) runPeers(place);
    const StreamFiles files(place.folder, archive,
                            copiesFor(place, archive.size(), m_content.outputBytes));
    m_readRate = readRate(place, files);
    if (isBulk) runOurs(place, files);
    if (!place.isCold) runLatency(files);
}

void StreamBench::runLatency(const StreamFiles& files)
{
    const bool isLatency = m_wanted("stream latency"), isBatches = m_wanted("stream batches");
    const bool isCancel = m_wanted("stream cancel");
    if (!isLatency && !isBatches && !isCancel) return;
    for (const SluiceStreamSides sides : this->sides()) {
        LatencyBench bench(m_engine, m_content, m_destination.whole(), files.paths(), m_threads,
                           m_readRate / cores(), sides);
        if (isLatency || isBatches) bench.addLatencies(m_report);
        if (isBatches) bench.addBatches(m_report, m_options.verbosity > 0);
        if (isCancel) bench.addCancelStorm(m_report);
    }
}

std::string diskFolder(const BenchOptions& options)
{
    if (!options.streamFolder.empty()) return options.streamFolder;
    return temporaryFolder();
}

} // namespace

void benchStream(const BenchDevice& device, const BenchOptions& options, const Wanted& wanted,
                 BenchReport& report)
{
    const std::vector<std::string> inputs = options.inputs.empty() || options.filters.empty()
                                                ? std::vector<std::string>{""}
                                                : options.inputs;
    for (const std::string& input : inputs)
        if (wanted("stream host") && report.hasTime("stream host", input))
            benchStreamHost(report, input);
    if (options.filters.empty()) return;
    const auto isWanted = [&](const char* name) { return wanted(name); };
    if (std::none_of(std::begin(kFileRows), std::end(kFileRows), isWanted)) return;
    if (device.backend() != SLUICE_BACKEND_VULKAN) {
        report.addMissing("stream", "all but the host's costs", "not run: needs Vulkan");
        return;
    }
    std::vector<Place> places;
    if (copiesThatFit(kMemoryFolder, kMiB, 1) != 0) places.push_back({kMemoryFolder, "shm", false});
    const std::string folder = diskFolder(options);
    if (!isInMemory(folder))
        places.push_back({folder, "disk", true});
    else
        report.addMissing("stream read", "disk",
                          "not run: " + folder + " is in memory; --stream-folder names another");
    StreamEngine engine(device);
    for (const std::string& input : inputs) {
        StreamBench bench(engine, options, wanted, report, input);
        for (const Place& place : places)
            bench.run(place);
    }
    report.endInputs();
}

} // namespace sluice
