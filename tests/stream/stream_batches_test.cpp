// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what becomes of groups whose batches decode nothing, are taken back or cannot be recorded.
// The device is one that does nothing.
#include "tests/support/streams.h"

#include <cfloat>
#include <utility>
#include <vector>

#include "tools/bench/stream/idle_backend.h"
#include "tools/bench/stream/idle_gpu.h"

using namespace sluice::test;

namespace {

SluiceStreamMemory memoryOf(Bytes& bytes)
{
    const uint64_t begin = uint64_t(reinterpret_cast<uintptr_t>(bytes.data()));
    const uint64_t aligned = (begin + 255) / 256 * 256;
    return {{aligned, 0, bytes.size() - 256}, bytes.data() + (aligned - begin)};
}

// Runs what is recorded at once, as CUDA does, and cannot copy.
struct FailingGpu final : sluice::IdleGpu {
    uint32_t ends = 0; // ends of batches that were recorded
    bool hasEnded = false;
    SluiceStatus ended = SLUICE_OK;

    bool isImmediate() const override { return true; }
    void timestamp(SluiceCommands, uint32_t, uint32_t, bool isEnd) override
    {
        if (isEnd) ++ends;
    }
    SluiceStatus batchDone(uint32_t, uint32_t, bool& isDone) override
    {
        isDone = hasEnded;
        return ended;
    }
    SluiceStatus copyToBuffer(SluiceCommands, uint64_t, uint64_t, const SluiceBuffer&) override
    {
        return SLUICE_ERROR_DEVICE;
    }
};

// A streamer that records to a device that does nothing. The tiles of its batches stay PENDING.
class IdleRun {
public:
    explicit IdleRun(const SluiceStreamGpu& gpu);
    ~IdleRun()
    {
        sluiceDestroyStreamer(m_streamer);
        sluiceDestroyContext(m_context);
    }
    IdleRun(const IdleRun&) = delete;
    IdleRun& operator=(const IdleRun&) = delete;

    SluiceStreamer get() const { return m_streamer; }
    // Submits a group of this many copies of memory to buffers. decodes: it also decodes an asset.
    SluiceStreamGroup submit(uint32_t copies, bool decodes = false);
    // Does all jobs, and records a batch with this value. mostCopies: 0 sets no limit.
    SluiceStatus record(uint64_t value, SluiceStreamBatch& batch, uint32_t mostCopies = 0);
    uint64_t recorded(uint64_t value, uint32_t mostCopies = 0);
    SluiceStatus poll();
    // Returns the events that have been polled since the last call.
    std::vector<SluiceStreamEvent> taken();
    std::vector<SluiceStreamEvent> events(); // polls before

private:
    Bytes m_source, m_output, m_control, m_results, m_bytes = soft(1000);
    MemoryFile m_file;
    SluiceContext m_context = nullptr;
    SluiceStreamer m_streamer = nullptr;
    SluiceStreamFile m_opened = nullptr;
    std::vector<SluiceStreamEvent> m_events;
};

Bytes smallArchive()
{
    PackedAsset asset;
    asset.name = "a";
    asset.add(soft(1000), SLUICE_CODEC_GDEFLATE, 65536);
    return packArchive({asset});
}

IdleRun::IdleRun(const SluiceStreamGpu& gpu)
    : m_source(SLUICE_STREAM_MIN_SOURCE + 256), m_output(SLUICE_STREAM_MIN_OUTPUT + 256),
      m_file(smallArchive()), m_context(new SluiceContext_T{new sluice::IdleBackend})
{
    SluiceStreamerInfo info = {};
    info.context = m_context;
    info.gpu = &gpu;
    info.maxGroups = info.maxRequests = 16;
    info.maxBatches = 4;
    SluiceStreamerRequirements required = {};
    REQUIRE(sluiceGetStreamerRequirements(&info, &required) == SLUICE_OK);
    m_control.resize(size_t(required.controlSize + 256));
    m_results.resize(size_t(required.resultsSize + 256));
    info.source = memoryOf(m_source);
    info.output = memoryOf(m_output);
    info.control = memoryOf(m_control);
    info.results = memoryOf(m_results);
    info.scratch = {uint64_t(1) << 44, 0, required.scratchSize}; // nothing touches it
    REQUIRE(sluiceCreateStreamer(&info, &m_streamer) == SLUICE_OK);
    m_opened = startOpening(m_streamer, m_file);
    REQUIRE(sluiceStreamPump(m_streamer, UINT32_MAX, nullptr) == SLUICE_OK);
    const std::vector<SluiceStreamEvent> opened = events();
    REQUIRE(opened.size() == 1);
    REQUIRE(opened[0].status == SLUICE_OK);
}

SluiceStreamGroup IdleRun::submit(uint32_t copies, bool decodes)
{
    std::vector<SluiceStreamRequest> requests(copies,
                                              fromMemory(m_bytes.data(), m_bytes.size(), nullptr));
    if (decodes) requests.push_back(fromArchive(m_opened, 0, 0, m_bytes.size(), nullptr));
    for (SluiceStreamRequest& request : requests) {
        request.target = SLUICE_STREAM_TO_BUFFER;
        request.buffer = {uint64_t(2) << 44, 4096 * uint64_t(&request - requests.data()),
                          m_bytes.size()};
    }
    SluiceStreamGroupInfo info = {};
    info.flags = SLUICE_STREAM_TELL_RECORDED;
    return submitGroup(m_streamer, requests, info);
}

SluiceStatus IdleRun::record(uint64_t value, SluiceStreamBatch& batch, uint32_t mostCopies)
{
    REQUIRE(sluiceStreamPump(m_streamer, UINT32_MAX, nullptr) == SLUICE_OK);
    SluiceStreamBudget budget = {};
    budget.milliseconds = FLT_MAX;
    budget.copies = mostCopies;
    budget.value = value;
    return sluiceStreamRecord(m_streamer, reinterpret_cast<SluiceCommands>(uintptr_t(1)), &budget,
                              &batch);
}

uint64_t IdleRun::recorded(uint64_t value, uint32_t mostCopies)
{
    SluiceStreamBatch batch = {};
    REQUIRE(record(value, batch, mostCopies) == SLUICE_OK);
    REQUIRE(batch.number != 0);
    return batch.number;
}

SluiceStatus IdleRun::poll()
{
    SluiceStreamEvent events[8];
    uint32_t count = 8;
    const SluiceStatus status = sluiceStreamPoll(m_streamer, events, &count);
    m_events.insert(m_events.end(), events, events + count);
    return status;
}

std::vector<SluiceStreamEvent> IdleRun::taken() { return std::exchange(m_events, {}); }

std::vector<SluiceStreamEvent> IdleRun::events()
{
    REQUIRE(poll() == SLUICE_OK);
    return taken();
}

} // namespace

TEST_CASE("stream batches: RECORDED names the batch whose bytes were decoded")
{
    sluice::IdleGpu gpu;
    IdleRun run(gpu);
    run.submit(0, true);
    const uint64_t first = run.recorded(5);
    CHECK(sluiceStreamComplete(run.get(), first) == SLUICE_OK);
    CHECK(run.events().empty()); // the GPU has left the tile undecoded
    SluiceStreamCounters counters = {};
    CHECK(sluiceStreamGetCounters(run.get(), &counters) == SLUICE_OK);
    CHECK(counters.retriedTiles == 1);
    const uint64_t second = run.recorded(6);
    std::vector<SluiceStreamEvent> events = run.events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == SLUICE_STREAM_RECORDED);
    CHECK(events[0].value == 6);
    CHECK(sluiceStreamComplete(run.get(), second) == SLUICE_OK);
    events = run.events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == SLUICE_STREAM_END);
    CHECK(events[0].status == SLUICE_OK);
    CHECK(events[0].value == 6);
}

TEST_CASE("stream batches: END names no batch that was taken back")
{
    for (const uint32_t discards : {0u, 1u, 2u}) {
        for (const bool isCancelled : {false, true}) {
            CAPTURE(discards);
            CAPTURE(isCancelled);
            sluice::IdleGpu gpu;
            IdleRun run(gpu);
            const SluiceStreamGroup group = run.submit(4);
            const uint64_t first = run.recorded(5, 2), second = run.recorded(6);
            if (discards > 0) CHECK(sluiceStreamDiscard(run.get(), second) == SLUICE_OK);
            if (discards > 1) CHECK(sluiceStreamDiscard(run.get(), first) == SLUICE_OK);
            if (isCancelled) CHECK(sluiceStreamCancel(run.get(), group) == SLUICE_OK);
            CHECK(sluiceStreamDeviceLost(run.get()) == SLUICE_OK);
            CHECK(run.poll() == SLUICE_ERROR_DEVICE);
            const std::vector<SluiceStreamEvent> events = run.taken();
            REQUIRE(!events.empty());
            CHECK(events.back().kind == SLUICE_STREAM_END);
            CHECK(events.back().value == (discards == 0 ? 6u : discards == 1 ? 5u : 0u));
        }
    }
    // If a group is recorded again after its batch was discarded, END names the later batch.
    sluice::IdleGpu gpu;
    IdleRun run(gpu);
    run.submit(2);
    CHECK(sluiceStreamDiscard(run.get(), run.recorded(5)) == SLUICE_OK);
    run.recorded(7);
    const std::vector<SluiceStreamEvent> events = run.events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == SLUICE_STREAM_RECORDED);
    CHECK(events[0].value == 7);
}

TEST_CASE("stream batches: a group ends after the part of its batch that runs already")
{
    for (const bool isError : {false, true}) {
        CAPTURE(isError);
        FailingGpu gpu;
        IdleRun run(gpu);
        run.submit(1, true);
        SluiceStreamBatch batch = {};
        CHECK(run.record(5, batch) == SLUICE_ERROR_DEVICE);
        CHECK(batch.number == 0);
        CHECK(gpu.ends == 1);
        CHECK(run.events().empty());
        // Nothing more is recorded, and nothing is given back.
        run.submit(1);
        CHECK(run.record(6, batch) == SLUICE_OK);
        CHECK(batch.number == 0);
        CHECK(run.events().empty());
        SluiceStreamCounters counters = {};
        CHECK(sluiceStreamGetCounters(run.get(), &counters) == SLUICE_OK);
        CHECK(counters.groups == 2);
        CHECK(counters.recorded == 2);
        gpu.hasEnded = !isError;
        gpu.ended = isError ? SLUICE_ERROR_DEVICE : SLUICE_OK;
        CHECK(run.poll() == SLUICE_ERROR_DEVICE);
        const std::vector<SluiceStreamEvent> events = run.taken();
        REQUIRE(events.size() == 2);
        for (const SluiceStreamEvent& event : events) {
            CHECK(event.kind == SLUICE_STREAM_END);
            CHECK(event.status == SLUICE_ERROR_DEVICE);
        }
        CHECK(sluiceStreamGetCounters(run.get(), &counters) == SLUICE_OK);
        CHECK(counters.groups + counters.sourceUsed + counters.outputUsed == 0);
    }
}
