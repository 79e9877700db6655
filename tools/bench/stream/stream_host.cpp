// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how much time of the host calls of sluice_stream take. The device does nothing, so that
// the time of a driver does not count.
#include <algorithm>
#include <cfloat>

#include "tools/bench/stream/idle_backend.h"
#include "tools/bench/stream/idle_gpu.h"
#include "tools/bench/stream/stream.h"
#include "tools/bench/stream/stream_content.h"
#include "tools/bench/stream/stream_pass.h"
#include "tools/bench/stream/stream_read.h"

namespace sluice {
namespace {

constexpr uint32_t kRounds = 11;
constexpr uint64_t kContent = 4u << 20, kRing = 64u << 20;
constexpr uint32_t kBatchTiles = 1024, kMostGroups = 8192, kMostRequests = 65536;
constexpr uint32_t kMostWaiting = 65536; // the most groups that a streamer may hold

int64_t readContent(void* user, uint64_t offset, void* bytes, uint64_t size)
{
    static_cast<const InputFile*>(user)->read(offset, bytes, size_t(size));
    return int64_t(size);
}

// A streamer without threads of its own, on a device that does nothing.
class IdleStreamer {
public:
    IdleStreamer(const std::string& input, uint32_t maxGroups);
    ~IdleStreamer()
    {
        sluiceDestroyStreamer(m_streamer);
        sluiceDestroyContext(m_context);
    }
    IdleStreamer(const IdleStreamer&) = delete;
    IdleStreamer& operator=(const IdleStreamer&) = delete;

    // Submits groups of `requests` requests, each for a whole asset. If `waits` is set, the groups
    // wait for a semaphore that is never signalled. Returns how many nanoseconds that took.
    double submit(uint32_t groups, uint32_t requests, bool waits = false);
    // Submits groups of one asset each until they have `tiles` tiles in all.
    void submitTiles(uint32_t tiles);
    void pump() const { require(sluiceStreamPump(m_streamer, UINT32_MAX, nullptr), "pumping"); }
    // Records batches until no tile is ready, and completes each as if the device had done it. Adds
    // the time of all sluiceStreamRecord calls to `nanoseconds` and the number of tiles to `tiles`.
    // While the first batch is under way, calls sluiceStreamPoll `polls` times; returns the
    // nanoseconds of one call.
    double record(double& nanoseconds, uint64_t& tiles, uint32_t polls);
    // Calls sluiceStreamPoll `calls` times. Returns how many nanoseconds all calls took together.
    double poll(uint32_t calls) const;
    // Cancels all groups by one call of sluiceStreamCancelTags. Returns the call's nanoseconds.
    double cancelAll() const;

private:
    void takeEvents() const;
    SluiceStreamRequest requestFor(const StreamAsset& asset) const;
    SluiceStatus recordOne(SluiceStreamBatch& batch) const;

    StreamContent m_content;
    ReadRing m_ring{kRing};
    std::vector<Bytes> m_lists;
    IdleGpu m_gpu;
    SluiceContext m_context = nullptr;
    SluiceStreamMemory m_results{};
    SluiceStreamer m_streamer = nullptr;
    SluiceStreamFile m_file = nullptr;
    size_t m_nextAsset = 0;
};

SluiceBuffer bufferOf(void* bytes, uint64_t size)
{
    return {uint64_t(reinterpret_cast<uintptr_t>(bytes)), 0, size};
}

// Returns a buffer handle for memory that nothing reads or writes.
SluiceBuffer untouched(uint64_t number, uint64_t size) { return {number << 44, 0, size}; }

IdleStreamer::IdleStreamer(const std::string& input, uint32_t maxGroups)
    : m_content(input, kContent)
{
    m_context = new SluiceContext_T{new IdleBackend};
    SluiceStreamerInfo info = {};
    info.context = m_context;
    info.gpu = &m_gpu;
    info.maxGroups = maxGroups;
    info.maxRequests = kMostRequests;
    info.maxBatches = 2;
    info.maxBatchTiles = kBatchTiles;
    info.maxUnits = 4096;
    SluiceStreamerRequirements required = {};
    require(sluiceGetStreamerRequirements(&info, &required), "streamer");
    info.source = {bufferOf(m_ring.data(), kRing), m_ring.data()};
    info.output = {untouched(2, kRing), nullptr};
    const auto list = [&](uint64_t size) {
        m_lists.emplace_back(size + 64);
        return SluiceStreamMemory{bufferOf(m_lists.back().data(), size), m_lists.back().data()};
    };
    info.control = list(required.controlSize);
    info.results = m_results = list(required.resultsSize);
    info.scratch = untouched(3, required.scratchSize);
    require(sluiceCreateStreamer(&info, &m_streamer), "streamer");
    const SluiceStreamFileInterface file = {const_cast<InputFile*>(&m_content.container->file()),
                                            m_content.container->file().size(), readContent,
                                            nullptr};
    const SluiceStreamOpenInfo opening = {nullptr, &file, 1, 0};
    require(sluiceStreamOpen(m_streamer, &opening, &m_file), "opening");
    pump();
    SluiceStreamEvent event = {};
    uint32_t count = 1;
    require(sluiceStreamPoll(m_streamer, &event, &count), "polling");
    require(count == 1 ? event.status : SLUICE_ERROR_IO, "opening");
}

SluiceStreamRequest IdleStreamer::requestFor(const StreamAsset& asset) const
{
    SluiceStreamRequest request = {};
    request.source = SLUICE_STREAM_FROM_ARCHIVE;
    request.target = SLUICE_STREAM_TO_BUFFER;
    request.file = m_file;
    request.asset = asset.number;
    request.size = asset.size;
    request.buffer = untouched(1, asset.size);
    return request;
}

double IdleStreamer::submit(uint32_t groups, uint32_t requests, bool waits)
{
    std::vector<SluiceStreamRequest> list;
    for (uint32_t i = 0; i < requests; ++i)
        list.push_back(requestFor(m_content.assets[i % m_content.assets.size()]));
    SluiceStreamGroupInfo info = {};
    info.requests = list.data();
    info.requestCount = requests;
    info.tag = 1;
    if (waits) info.wait = {1, 1};
    const double start = secondsNow();
    for (uint32_t i = 0; i < groups; ++i) {
        SluiceStreamGroup group = 0;
        require(sluiceStreamSubmit(m_streamer, &info, &group), "submitting");
    }
    return (secondsNow() - start) * 1e9;
}

void IdleStreamer::submitTiles(uint32_t tiles)
{
    const size_t assets = m_content.assets.size();
    for (uint32_t submitted = 0; submitted < tiles; m_nextAsset = (m_nextAsset + 1) % assets) {
        const StreamAsset& asset = m_content.assets[m_nextAsset];
        const SluiceStreamRequest request = requestFor(asset);
        SluiceStreamGroupInfo info = {};
        info.requests = &request;
        info.requestCount = 1;
        SluiceStreamGroup group = 0;
        require(sluiceStreamSubmit(m_streamer, &info, &group), "submitting");
        submitted += m_content.container->asset(asset.number).tileCount;
    }
}

SluiceStatus IdleStreamer::recordOne(SluiceStreamBatch& batch) const
{
    SluiceStreamBudget budget = {};
    budget.milliseconds = FLT_MAX;
    return sluiceStreamRecord(m_streamer, reinterpret_cast<SluiceCommands>(uintptr_t(1)), &budget,
                              &batch);
}

double IdleStreamer::record(double& nanoseconds, uint64_t& tiles, uint32_t polls)
{
    double polled = 0;
    for (;;) {
        SluiceStreamBatch batch = {};
        const double start = secondsNow();
        require(recordOne(batch), "recording");
        const double end = secondsNow();
        if (batch.number == 0) return polled;
        nanoseconds += (end - start) * 1e9;
        tiles += batch.tiles;
        if (polled == 0) polled = poll(polls) / polls;
        // Writes what a device would have written: every tile is OK.
        uint32_t* words = static_cast<uint32_t*>(m_results.host);
        std::fill_n(words, m_results.buffer.size / 4, uint32_t(SLUICE_TILE_OK));
        require(sluiceStreamComplete(m_streamer, batch.number), "completing");
        takeEvents();
    }
}

double IdleStreamer::poll(uint32_t calls) const
{
    const double start = secondsNow();
    for (uint32_t i = 0; i < calls; ++i) {
        SluiceStreamEvent events[8];
        uint32_t count = 8;
        require(sluiceStreamPoll(m_streamer, events, &count), "polling");
        if (count != 0) throw Failure{exitDevice, "bench: an event that nobody has caused"};
    }
    return (secondsNow() - start) * 1e9;
}

void IdleStreamer::takeEvents() const
{
    for (uint32_t count = 1; count != 0;) {
        SluiceStreamEvent events[256];
        count = 256;
        require(sluiceStreamPoll(m_streamer, events, &count), "polling");
        for (uint32_t i = 0; i < count; ++i)
            if (events[i].status != SLUICE_ERROR_CANCELLED) require(events[i].status, "a group");
    }
}

double IdleStreamer::cancelAll() const
{
    const double start = secondsNow();
    require(sluiceStreamCancelTags(m_streamer, 1, 1), "cancelling");
    const double taken = secondsNow() - start;
    takeEvents();
    return taken * 1e9;
}

void addCost(BenchReport& report, const char* what, const char* unit, std::vector<double> rounds,
             double goal)
{
    std::sort(rounds.begin(), rounds.end());
    report.addGroup({figureRow("stream host", what, "sluice",
                               {{std::string("ns_per_") + unit, rounds[rounds.size() / 2]},
                                {"fastest", rounds.front()},
                                {"slowest", rounds.back()},
                                {"goal", goal}})});
}

// Measures a streamer that holds as many waiting groups as it may: the time of one call of
// sluiceStreamPoll, which checks the semaphore that the groups wait for, and the time to cancel one
// group.
void benchWaiting(BenchReport& report, const std::string& input)
{
    IdleStreamer streamer(input, kMostWaiting);
    std::vector<double> polls, cancels;
    for (uint32_t i = 0; i <= kRounds; ++i) {
        constexpr uint32_t kPolls = 1000;
        streamer.submit(kMostWaiting, 1, true);
        const double poll = streamer.poll(kPolls) / kPolls;
        const double cancel = streamer.cancelAll() / kMostWaiting;
        if (i == 0) continue;
        polls.push_back(poll);
        cancels.push_back(cancel);
    }
    addCost(report, "poll waits", "call", polls, 100000);
    addCost(report, "cancel waits", "group", cancels, 300);
}

} // namespace

void benchStreamHost(BenchReport& report, const std::string& input)
{
    IdleStreamer streamer(input, kMostGroups);
    for (const uint32_t requests : {1u, 16u, 256u}) {
        std::vector<double> rounds;
        const uint32_t groups = std::min(4096u, 32768 / requests);
        for (uint32_t i = 0; i <= kRounds; ++i) {
            const double taken = streamer.submit(groups, requests);
            if (i != 0) rounds.push_back(taken / (double(groups) * requests));
            streamer.cancelAll();
        }
        addCost(report, formatText("submit %u", requests).c_str(), "request", rounds, 200);
    }
    std::vector<double> records, idlePolls, busyPolls;
    for (uint32_t i = 0; i <= kRounds; ++i) {
        constexpr uint32_t kPolls = 100000;
        double nanoseconds = 0;
        uint64_t tiles = 0;
        streamer.submitTiles(kBatchTiles);
        streamer.pump();
        const double busy = streamer.record(nanoseconds, tiles, kPolls);
        const double idle = streamer.poll(kPolls) / kPolls;
        if (i == 0) continue;
        records.push_back(nanoseconds / double(tiles));
        idlePolls.push_back(idle);
        busyPolls.push_back(busy);
    }
    addCost(report, "record", "tile", records, 50);
    addCost(report, "poll idle", "call", idlePolls, 100);
    addCost(report, "poll busy", "call", busyPolls, 100);
    benchWaiting(report, input);
}

} // namespace sluice
