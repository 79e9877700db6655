// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/stream/stream_ours.h"

#include <cfloat>
#include <chrono>
#include <thread>

#include "tools/bench/stream/stream_places.h"

namespace sluice {
namespace {

constexpr uint64_t kMiB = 1u << 20;
constexpr uint32_t kBatchesAtOnce = 2;
constexpr uint32_t kGroups = 4096, kRequests = 65536, kUnits = 8192;

} // namespace

StreamSetup largeSetup(const BenchDevice& device, uint32_t threads)
{
    StreamSetup setup = plainSetup(threads);
    if (!device.isGpu()) return setup;
    const bool isLarge = device.properties().memorySize >= uint64_t(16) << 30;
    setup.sourceSize = (isLarge ? 512 : 128) * kMiB;
    setup.outputSize = (isLarge ? 512 : 128) * kMiB;
    setup.batchTiles = isLarge ? 4096 : 1024;
    setup.tilesAtOnce = isLarge ? 1024 : 256;
    setup.filteredSize = (isLarge ? 512 : 128) * kMiB;
    return setup;
}

StreamSetup plainSetup(uint32_t threads)
{
    StreamSetup setup;
    setup.sourceSize = 64 * kMiB;
    setup.outputSize = 64 * kMiB;
    setup.threads = threads;
    return setup;
}

std::string nameOf(SluiceStreamSides sides)
{
    return sides == SLUICE_STREAM_GPU_ALONE   ? ", GPU alone"
           : sides == SLUICE_STREAM_CPU_ALONE ? ", CPU alone"
           : sides == SLUICE_STREAM_BOTH      ? ", both sides"
                                              : "";
}

namespace {

// Chooses the memory of the ring of decoded bytes. Threads can write to device memory if it is
// mapped. But if threads decode alone, they also read what they have written, so the ring must be
// in host memory.
StreamEngine::Memory outputMemory(const StreamEngine& engine, const StreamSetup& setup)
{
    switch (setup.sides) {
    case SLUICE_STREAM_GPU_ALONE: return StreamEngine::Memory::local;
    case SLUICE_STREAM_CPU_ALONE: return StreamEngine::Memory::host;
    default:
        return engine.hasMapped(setup.outputSize) ? StreamEngine::Memory::mapped
                                                  : StreamEngine::Memory::host;
    }
}

} // namespace

BenchStreamer::BenchStreamer(StreamEngine& engine, const StreamSetup& setup) : m_engine(engine)
{
    SluiceStreamerInfo info = {};
    info.context = engine.device().context();
    info.gpu = engine.gpu();
    info.maxGroups = kGroups;
    info.maxRequests = kRequests;
    info.maxUnits = kUnits;
    info.maxBatches = kBatchesAtOnce + 1;
    info.maxBatchTiles = setup.batchTiles;
    info.gstdTilesAtOnce = setup.tilesAtOnce;
    info.maxFilteredSize = setup.filteredSize;
    info.threads = setup.threads;
    info.reserveAbove = setup.reserveAbove;
    info.decoding.sides = setup.sides;
    SluiceStreamerRequirements required = {};
    require(sluiceGetStreamerRequirements(&info, &required), "streamer");
    m_source = engine.allocate(setup.sourceSize, setup.source);
    m_output = engine.allocate(setup.outputSize, outputMemory(engine, setup));
    info.source = m_source;
    info.output = m_output;
    if (required.scratchSize != 0) {
        m_control = engine.allocate(required.controlSize, StreamEngine::Memory::mapped);
        m_results = engine.allocate(required.resultsSize, StreamEngine::Memory::host);
        m_scratch = engine.device().allocate(required.scratchSize);
        info.control = m_control;
        info.results = m_results;
        info.scratch = m_scratch.whole();
    }
    require(sluiceCreateStreamer(&info, &m_streamer), "streamer");
    budget.milliseconds = FLT_MAX;
    budget.semaphore = sluiceStreamSemaphoreHandle(engine.semaphore());
    budget.maxAge = UINT32_MAX;
}

BenchStreamer::~BenchStreamer()
{
    m_engine.waitIdle();
    sluiceDestroyStreamer(m_streamer);
    for (const SluiceStreamMemory& memory : {m_source, m_output, m_control, m_results})
        if (memory.buffer.handle != 0) m_engine.release(memory);
}

double BenchStreamer::takeCpuShare()
{
    SluiceStreamCounters counters = {};
    require(sluiceStreamGetCounters(m_streamer, &counters), "counters");
    uint64_t cpu = 0, gpu = 0;
    for (uint32_t i = 0; i < SLUICE_STREAM_REASONS; ++i)
        (i < SLUICE_STREAM_GPU ? cpu : gpu) += counters.shares[i].bytes;
    const double newCpu = double(cpu - m_cpuBytes), newGpu = double(gpu - m_gpuBytes);
    m_cpuBytes = cpu;
    m_gpuBytes = gpu;
    return newCpu / std::max(newCpu + newGpu, 1.0);
}

std::vector<SluiceStreamFile> BenchStreamer::open(const std::vector<std::string>& paths)
{
    std::vector<SluiceStreamFile> files(paths.size());
    size_t opened = 0;
    for (size_t i = 0; i < paths.size(); ++i) {
        const SluiceStreamOpenInfo info = {paths[i].c_str(), nullptr, 1, 0};
        require(sluiceStreamOpen(m_streamer, &info, &files[i]), paths[i]);
    }
    while (opened < paths.size()) {
        const bool any = turn([&](const SluiceStreamEvent& event) {
            if (event.kind != SLUICE_STREAM_OPENED) return;
            require(event.status, "opening an archive");
            ++opened;
        });
        if (!any) rest();
    }
    return files;
}

void BenchStreamer::close(const std::vector<SluiceStreamFile>& files)
{
    for (const SluiceStreamFile file : files)
        require(sluiceStreamClose(m_streamer, file), "closing an archive");
}

void BenchStreamer::collectTimes()
{
    const uint64_t done = m_pending.empty() ? 0 : m_engine.doneValue();
    while (!m_pending.empty() && m_pending.front().value <= done) {
        const Pending& first = m_pending.front();
        const double milliseconds = m_engine.milliseconds(first.value);
        m_gpuMilliseconds += milliseconds;
        if (times != nullptr) times->push_back({first.batch, milliseconds});
        m_pending.pop_front();
    }
}

bool BenchStreamer::recordBatch()
{
    if (m_pending.size() >= kBatchesAtOnce) return false;
    const VkCommandBuffer commands = m_engine.begin();
    budget.minTiles = m_pending.empty() ? 0 : minTiles;
    budget.value = m_engine.nextValue();
    SluiceStreamBatch batch = {};
    const double start = secondsNow();
    require(sluiceStreamRecord(m_streamer, sluiceVulkanCommands(commands), &budget, &batch),
            "recording a batch");
    if (batch.number == 0) return false;
    m_recordSeconds += secondsNow() - start;
    m_recordedTiles += batch.tiles;
    m_engine.submit();
    m_pending.push_back({m_engine.lastValue(), batch});
    ++m_batchCount;
    return true;
}

bool BenchStreamer::turn(const std::function<void(const SluiceStreamEvent&)>& onEvent)
{
    collectTimes();
    SluiceStreamEvent events[256];
    uint32_t count = 256;
    require(sluiceStreamPoll(m_streamer, events, &count), "polling");
    for (uint32_t i = 0; i < count; ++i)
        onEvent(events[i]);
    return recordBatch() || count != 0;
}

// Waits a little: for the oldest batch if as many batches as allowed are under way, otherwise a
// fixed time, since no semaphore signals the end of a read.
void BenchStreamer::rest() const
{
    constexpr uint64_t kRest = 50000; // nanoseconds
    if (m_pending.size() >= kBatchesAtOnce)
        m_engine.waitFor(m_pending.front().value, 20 * kRest);
    else
        std::this_thread::sleep_for(std::chrono::nanoseconds(kRest));
}

std::vector<StreamGroupPlan> planGroups(const StreamContent& content, uint64_t groupSize)
{
    std::vector<StreamGroupPlan> groups;
    for (uint32_t i = 0; i < content.assets.size(); ++i) {
        if (groups.empty() || groups.back().size >= groupSize) groups.push_back({i, 0, 0});
        ++groups.back().assetCount;
        groups.back().size += placed(content.assets[i].size);
    }
    return groups;
}

namespace {

// Submits the groups of all files as places in the destination become free, and counts the groups
// that have ended.
class BufferPass {
public:
    BufferPass(BenchStreamer& streamer, const StreamContent& content,
               const std::vector<SluiceStreamFile>& files,
               const std::vector<StreamGroupPlan>& groups, SluiceBuffer destination,
               const OnGroup& onGroup)
        : m_streamer(streamer), m_content(content), m_files(files), m_groups(groups),
          m_destination(destination), m_onGroup(onGroup), m_places(destination.size),
          m_offsets(files.size() * groups.size())
    {
    }

    StreamPass run()
    {
        const PassClock clock;
        while (m_ended < m_offsets.size()) {
            bool any = submitSome();
            any = m_streamer.turn([&](const SluiceStreamEvent& event) { end(event); }) || any;
            if (!any) m_streamer.rest();
        }
        return clock.finish(m_content.outputBytes * m_files.size());
    }

private:
    bool submitSome()
    {
        bool any = false;
        for (; m_next < m_offsets.size(); ++m_next, any = true) {
            const StreamGroupPlan& plan = m_groups[m_next % m_groups.size()];
            uint64_t place = 0;
            // Each group takes one place, so the ticket of its place (see Places) is its number.
            if (!m_hasPlace && !m_places.take(plan.size, place)) return any;
            if (!m_hasPlace) m_offsets[m_next] = place;
            m_hasPlace = true;
            if (!submit(plan)) return any;
            m_hasPlace = false;
        }
        return any;
    }

    bool submit(const StreamGroupPlan& plan)
    {
        m_requests.clear();
        uint64_t at = m_destination.offset + m_offsets[m_next];
        for (uint32_t i = 0; i < plan.assetCount; ++i) {
            const StreamAsset& asset = m_content.assets[plan.firstAsset + i];
            SluiceStreamRequest request = {};
            request.source = SLUICE_STREAM_FROM_ARCHIVE;
            request.target = SLUICE_STREAM_TO_BUFFER;
            request.file = m_files[m_next / m_groups.size()];
            request.asset = asset.number;
            request.size = asset.size;
            request.buffer = {m_destination.handle, at, asset.size};
            m_requests.push_back(request);
            at += placed(asset.size);
        }
        SluiceStreamGroupInfo info = {};
        info.requests = m_requests.data();
        info.requestCount = uint32_t(m_requests.size());
        info.user = m_next;
        SluiceStreamGroup group = 0;
        const SluiceStatus status = sluiceStreamSubmit(m_streamer.get(), &info, &group);
        if (status == SLUICE_ERROR_FULL) return false;
        require(status, "submitting a group");
        return true;
    }

    void end(const SluiceStreamEvent& event)
    {
        if (event.kind != SLUICE_STREAM_END) return;
        if (event.status != SLUICE_OK) {
            throw Failure{exitDevice, formatText("bench: a group of %s: %s (tile %u: %s)",
                                                 m_content.description.c_str(),
                                                 sluiceGetStatusText(event.status), event.firstTile,
                                                 sluiceGetTileStatusText(event.tileStatus))};
        }
        if (m_onGroup) m_onGroup(m_groups[event.user % m_groups.size()], m_offsets[event.user]);
        m_places.give(event.user);
        ++m_ended;
    }

    BenchStreamer& m_streamer;
    const StreamContent& m_content;
    const std::vector<SluiceStreamFile>& m_files;
    const std::vector<StreamGroupPlan>& m_groups;
    SluiceBuffer m_destination;
    const OnGroup& m_onGroup;
    Places m_places;
    std::vector<uint64_t> m_offsets; // where each group's output begins
    std::vector<SluiceStreamRequest> m_requests;
    uint64_t m_next = 0, m_ended = 0;
    bool m_hasPlace = false; // group m_next has a place already, but the streamer was full
};

} // namespace

StreamPass streamToBuffer(BenchStreamer& streamer, const StreamContent& content,
                          const std::vector<SluiceStreamFile>& files,
                          const std::vector<StreamGroupPlan>& groups, SluiceBuffer destination,
                          const OnGroup& onGroup)
{
    return BufferPass(streamer, content, files, groups, destination, onGroup).run();
}

} // namespace sluice
