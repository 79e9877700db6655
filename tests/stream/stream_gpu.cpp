// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/stream/stream_gpu.h"

#include <utility>

namespace sluice::test {

SluiceStreamDecoding decodingOf(Decoder decoder)
{
    switch (decoder) {
    case Decoder::gpu: return {SLUICE_STREAM_GPU_ALONE, 0};
    case Decoder::cpu: return {SLUICE_STREAM_CPU_ALONE, 0};
    default: return {SLUICE_STREAM_BOTH, 0};
    }
}

GpuStreamer::GpuStreamer(Device& on, Engine& engine, Decoder decoder,
                         const SluiceStreamMemory& source, uint32_t threads, uint32_t mostThreads)
    : m_engine(engine)
{
    SluiceStreamerInfo info = {};
    REQUIRE(sluiceCreateCpuContext(&m_cpuContext) == SLUICE_OK);
    info.context = decoder == Decoder::cpuContext ? m_cpuContext : on.context();
    info.decoding = decodingOf(decoder);
    info.decoding.maxThreads = mostThreads;
    info.threads = threads;
    info.gpu = engine.gpu();
    info.maxGroups = 64;
    info.maxRequests = 256;
    info.maxBatches = 2;
    info.maxBatchTiles = 256;
    info.maxFilteredSize = 4 << 20;
    info.gstdTilesAtOnce = 8;
    SluiceStreamerRequirements required = {};
    REQUIRE(sluiceGetStreamerRequirements(&info, &required) == SLUICE_OK);
    const bool decodesOnGpu = decoder == Decoder::gpu || decoder == Decoder::both;
    CHECK((required.scratchSize != 0) == decodesOnGpu);
    CHECK((required.outputHost != 0) == (decoder != Decoder::gpu));
    info.source = source.host != nullptr ? source : engine.makeBuffer(SLUICE_STREAM_MIN_SOURCE);
    info.output = engine.makeBuffer(SLUICE_STREAM_MIN_OUTPUT);
    if (decodesOnGpu) {
        info.control = engine.makeBuffer(required.controlSize);
        info.results = engine.makeBuffer(required.resultsSize);
        info.scratch = engine.makeBuffer(required.scratchSize).buffer;
    }
    REQUIRE(sluiceCreateStreamer(&info, &m_streamer) == SLUICE_OK);
    m_done = engine.makeSemaphore();
}

GpuStreamer::~GpuStreamer()
{
    m_engine.waitIdle();
    sluiceDestroyStreamer(m_streamer);
    sluiceDestroyContext(m_cpuContext);
}

SluiceStreamFile GpuStreamer::open(MemoryFile& file)
{
    m_opened.clear();
    const SluiceStreamFile opened = startOpening(m_streamer, file);
    while (m_opened.empty())
        frame();
    REQUIRE(m_opened.back().status == SLUICE_OK);
    return opened;
}

SluiceStreamGroup GpuStreamer::submit(const std::vector<SluiceStreamRequest>& requests,
                                      SluiceStreamSync wait, SluiceStreamSync signal,
                                      uint32_t flags)
{
    SluiceStreamGroupInfo info = {};
    info.wait = wait;
    info.signal = signal;
    info.flags = flags;
    return submitGroup(m_streamer, requests, info);
}

void GpuStreamer::frame(bool discards)
{
    REQUIRE(sluiceStreamPump(m_streamer, jobs, nullptr) == SLUICE_OK);
    const VkCommandBuffer commands = m_engine.begin();
    SluiceStreamBudget now = budget;
    now.semaphore = usesFences ? 0 : sluiceStreamSemaphoreHandle(m_done);
    now.value = ++m_value;
    SluiceStreamBatch batch = {};
    REQUIRE(sluiceStreamRecord(m_streamer, sluiceVulkanCommands(commands), &now, &batch) ==
            SLUICE_OK);
    if (batch.number != 0) ++batches;
    if (discards) {
        REQUIRE(m_engine.EndCommandBuffer(commands) == VK_SUCCESS);
        if (batch.number != 0) REQUIRE(sluiceStreamDiscard(m_streamer, batch.number) == SLUICE_OK);
    } else {
        m_engine.submit(m_done, m_value);
        if (usesFences && batch.number != 0) {
            m_engine.waitIdle();
            REQUIRE(sluiceStreamComplete(m_streamer, batch.number) == SLUICE_OK);
        }
    }
    SluiceStreamEvent events[4];
    uint32_t count = 4;
    REQUIRE(sluiceStreamPoll(m_streamer, events, &count) == SLUICE_OK);
    for (uint32_t i = 0; i < count; ++i) {
        if (events[i].kind == SLUICE_STREAM_OPENED) m_opened.push_back(events[i]);
        if (events[i].kind == SLUICE_STREAM_RECORDED) m_recorded.insert(events[i].group);
        if (events[i].kind != SLUICE_STREAM_END) continue;
        m_ended[events[i].group] = events[i];
        m_newlyEnded.push_back(events[i]);
    }
}

SluiceStreamEvent GpuStreamer::waitFor(SluiceStreamGroup group)
{
    for (uint32_t frames = 0; m_ended.count(group) == 0; ++frames) {
        REQUIRE(frames < 1000);
        frame();
    }
    return m_ended[group];
}

SluiceStreamCounters GpuStreamer::counters() const
{
    SluiceStreamCounters counters = {};
    REQUIRE(sluiceStreamGetCounters(m_streamer, &counters) == SLUICE_OK);
    return counters;
}

std::vector<SluiceStreamEvent> GpuStreamer::takeEnded() { return std::exchange(m_newlyEnded, {}); }

} // namespace sluice::test
