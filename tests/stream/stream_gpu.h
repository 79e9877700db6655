// SPDX-License-Identifier: MIT OR Apache-2.0
// A streamer to Vulkan, on whose engine tests run frame by frame.
#pragma once

#include "tests/stream/stream_content.h"

#include <cfloat>
#include <map>
#include <set>

namespace sluice::test {

// Who decodes for buffers and images.
enum class Decoder {
    gpu,        // alone
    cpu,        // alone, with the device's context
    cpuContext, // alone, with a context of the CPU
    both
};
constexpr Decoder kDecoders[] = {Decoder::gpu, Decoder::cpu, Decoder::cpuContext, Decoder::both};

// The member of SluiceStreamerInfo that lets this decoder decode.
SluiceStreamDecoding decodingOf(Decoder decoder);

// A streamer on an engine.
class GpuStreamer {
public:
    // source: the ring of stored bytes, if it is not to be one of the engine's buffers. threads: of
    // the streamer; 0: the frames pump. mostThreads: that decode at a time; 0: all.
    GpuStreamer(Device& on, Engine& engine, Decoder decoder, const SluiceStreamMemory& source = {},
                uint32_t threads = 0, uint32_t mostThreads = 0);
    ~GpuStreamer();
    GpuStreamer(const GpuStreamer&) = delete;
    GpuStreamer& operator=(const GpuStreamer&) = delete;

    SluiceStreamer get() const { return m_streamer; }
    SluiceStreamFile open(MemoryFile& file);
    SluiceStreamGroup submit(const std::vector<SluiceStreamRequest>& requests,
                             SluiceStreamSync wait = {}, SluiceStreamSync signal = {},
                             uint32_t flags = 0);
    // A frame: pumps up to `jobs`, records and submits, and polls. discards: the batch is thrown
    // away instead.
    void frame(bool discards = false);
    SluiceStreamEvent waitFor(SluiceStreamGroup group);
    // Takes the END events that have come since the last call.
    std::vector<SluiceStreamEvent> takeEnded();
    bool hasEnded(SluiceStreamGroup group) const { return m_ended.count(group) != 0; }
    bool isRecorded(SluiceStreamGroup group) const { return m_recorded.count(group) != 0; }
    SluiceStreamCounters counters() const;
    SluiceStreamBudget budget = {FLT_MAX, 0, 0, 0, 0, 0, 0};
    bool usesFences = false;
    uint32_t batches = 0;
    uint32_t jobs = 64; // of each frame

private:
    Engine& m_engine;
    SluiceContext m_cpuContext = nullptr;
    SluiceStreamer m_streamer = nullptr;
    VkSemaphore m_done = VK_NULL_HANDLE;
    uint64_t m_value = 0;
    std::map<SluiceStreamGroup, SluiceStreamEvent> m_ended;
    std::set<SluiceStreamGroup> m_recorded;
    std::vector<SluiceStreamEvent> m_opened, m_newlyEnded;
};

// Returns how much was decoded for all reasons that `counts` is true for.
template <class Function>
SluiceStreamShare sharesOf(const SluiceStreamCounters& counters, const Function& counts)
{
    SluiceStreamShare sum = {};
    for (uint32_t i = 0; i < SLUICE_STREAM_REASONS; ++i) {
        if (!counts(SluiceStreamReason(i))) continue;
        sum.units += counters.shares[i].units;
        sum.bytes += counters.shares[i].bytes;
    }
    return sum;
}
inline bool isOfGpu(SluiceStreamReason reason) { return reason >= SLUICE_STREAM_GPU; }

} // namespace sluice::test
