// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests groups that wait for semaphores. The number of steps that the streamer takes for them must
// grow only slowly with the number of groups.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "stream/waits.h"
#include "tools/bench/stream/idle_gpu.h"

namespace {

using sluice::stream::Wait;

uint64_t comparisons = 0;

struct CountingLess {
    bool operator()(const Wait& a, const Wait& b) const
    {
        ++comparisons;
        return a < b;
    }
};

// Counts how often semaphores are asked for their values, which the test sets.
struct CountingGpu final : sluice::IdleGpu {
    std::map<uint64_t, uint64_t> values;
    uint32_t asked = 0;

    SluiceStatus semaphoreValue(uint64_t semaphore, uint64_t& value) override
    {
        ++asked;
        value = values[semaphore];
        return SLUICE_OK;
    }
};

// A streamer of the CPU. Its groups wait, then copy eight bytes of memory.
class WaitingGroups {
public:
    WaitingGroups(uint32_t count, uint32_t semaphores) : m_semaphores(semaphores)
    {
        REQUIRE(sluiceCreateCpuContext(&m_context) == SLUICE_OK);
        REQUIRE(sluiceStreamAllocateHost(kSource, &m_source) == SLUICE_OK);
        REQUIRE(sluiceStreamAllocateHost(kOutput, &m_output) == SLUICE_OK);
        SluiceStreamerInfo info = {};
        info.context = m_context;
        info.gpu = &gpu;
        info.source = {{1, 0, kSource}, m_source};
        info.output = {{2, 0, kOutput}, m_output};
        info.maxGroups = info.maxRequests = count;
        info.maxBatches = 1;
        REQUIRE(sluiceCreateStreamer(&info, &m_streamer) == SLUICE_OK);
        for (uint32_t i = 0; i < count; ++i)
            submit(i);
    }
    ~WaitingGroups()
    {
        sluiceDestroyStreamer(m_streamer);
        sluiceStreamFreeHost(m_output, kOutput);
        sluiceStreamFreeHost(m_source, kSource);
        sluiceDestroyContext(m_context);
    }
    WaitingGroups(const WaitingGroups&) = delete;
    WaitingGroups& operator=(const WaitingGroups&) = delete;

    // Returns the tag and the status of each group that ended.
    std::map<uint64_t, SluiceStatus> poll()
    {
        std::map<uint64_t, SluiceStatus> ended;
        SluiceStreamEvent events[256];
        uint32_t count = 0;
        do {
            count = 256;
            REQUIRE(sluiceStreamPoll(m_streamer, events, &count) == SLUICE_OK);
            for (uint32_t i = 0; i < count; ++i)
                ended[events[i].tag] = events[i].status;
        } while (count != 0);
        return ended;
    }
    void pump()
    {
        uint32_t done = 0;
        do
            REQUIRE(sluiceStreamPump(m_streamer, 256, &done) == SLUICE_OK);
        while (done != 0);
    }
    SluiceStreamer streamer() const { return m_streamer; }

    CountingGpu gpu;

private:
    static constexpr uint64_t kSource = uint64_t(8) << 20, kOutput = uint64_t(16) << 20;

    // Group i waits for the value i / m_semaphores + 1 of semaphore i % m_semaphores + 1.
    void submit(uint32_t i)
    {
        SluiceStreamRequest request = {};
        request.source = SLUICE_STREAM_FROM_MEMORY;
        request.target = SLUICE_STREAM_TO_HOST;
        request.memory = m_from;
        request.host = m_to;
        request.size = sizeof m_from;
        SluiceStreamGroupInfo group = {};
        group.requests = &request;
        group.requestCount = 1;
        group.tag = i;
        group.wait = {i % m_semaphores + 1, i / m_semaphores + 1};
        SluiceStreamGroup handle = 0;
        REQUIRE(sluiceStreamSubmit(m_streamer, &group, &handle) == SLUICE_OK);
    }

    const uint32_t m_semaphores;
    SluiceContext m_context = nullptr;
    void *m_source = nullptr, *m_output = nullptr;
    SluiceStreamer m_streamer = nullptr;
    uint8_t m_from[8] = {}, m_to[8] = {};
};

} // namespace

TEST_CASE("stream waits: each operation takes a logarithmic number of comparisons")
{
    constexpr uint32_t kCount = 65536;
    const uint64_t most = 4 * uint64_t(std::log2(kCount));
    sluice::stream::Waits<CountingLess> waits(kCount);
    std::vector<Wait> all;
    for (uint32_t i = 0; i < kCount; ++i)
        all.push_back({7, kCount - i / 2, i + 1, i});
    comparisons = 0;
    for (const Wait& wait : all)
        waits.insert(wait);
    CHECK(comparisons <= most * kCount);
    comparisons = 0;
    // Two groups wait for the same value; the one that came first is returned.
    CHECK(waits.first(0)->group == kCount - 2);
    CHECK(waits.first(8) == nullptr);
    CHECK(comparisons <= 2 * most);
    std::shuffle(all.begin(), all.end(), std::mt19937(1));
    comparisons = 0;
    for (const Wait& wait : all)
        waits.remove(wait);
    CHECK(comparisons <= most * kCount);
    CHECK(waits.empty());
}

TEST_CASE("stream waits: Poll asks each semaphore once, and begins groups by their values")
{
    constexpr uint32_t kCount = 1000, kSemaphores = 3;
    WaitingGroups groups(kCount, kSemaphores);
    CHECK(groups.poll().empty());
    CHECK(groups.gpu.asked == kSemaphores);
    groups.gpu.values = {{1, 10}, {2, 0}, {3, 1}};
    groups.poll();
    groups.pump();
    const std::map<uint64_t, SluiceStatus> ended = groups.poll();
    CHECK(ended.size() == 11);
    for (const auto& [tag, status] : ended) {
        CHECK(status == SLUICE_OK);
        CHECK(tag / kSemaphores + 1 <= groups.gpu.values[tag % kSemaphores + 1]);
    }
    // All other groups are cancelled. Their semaphores are no longer asked.
    REQUIRE(sluiceStreamCancelTags(groups.streamer(), 0, 0) == SLUICE_OK);
    const std::map<uint64_t, SluiceStatus> cancelled = groups.poll();
    CHECK(cancelled.size() == kCount - ended.size());
    for (const auto& [tag, status] : cancelled)
        CHECK(status == SLUICE_ERROR_CANCELLED);
    groups.gpu.asked = 0;
    groups.poll();
    CHECK(groups.gpu.asked == 0);
}

TEST_CASE("stream waits: of many semaphores each call of Poll asks some, and all have their turn")
{
    constexpr uint32_t kCount = 1000, kAtOnce = 64;
    WaitingGroups groups(kCount, kCount);
    uint32_t ended = 0;
    for (uint32_t i = 1; i <= kCount; ++i)
        groups.gpu.values[i] = i % 2;
    for (uint32_t call = 0; call <= kCount / kAtOnce; ++call) {
        groups.gpu.asked = 0;
        SluiceStreamEvent event;
        uint32_t count = 1;
        REQUIRE(sluiceStreamPoll(groups.streamer(), &event, &count) == SLUICE_OK);
        ended += count;
        CHECK(groups.gpu.asked == kAtOnce);
    }
    groups.pump();
    for (const auto& [tag, status] : groups.poll()) {
        ++ended;
        CHECK(tag % 2 == 0); // only semaphores of even tags have reached their value
        CHECK(status == SLUICE_OK);
    }
    CHECK(ended == kCount / 2);
}
