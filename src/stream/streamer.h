// SPDX-License-Identifier: MIT OR Apache-2.0
// The streamer: its components, and how the engine's calls use them. Each component knows only
// those above it:
//
//   monitor.h         the lock, and who sleeps
//   ledger.h          groups, requests, units, files, rings;
//                     work.h, line.h, sides.h, events.h, waits.h, signallers.h
//   cutter.h          cuts requests into units
//   cpu_decoder.h     decodes units on the CPU
//   readers.h         threads that read and decode
//   batcher.h         gathers units into batches and records them; batch_commands.h
//   completion.h      finds out which batches are complete; waits, signals, events
#pragma once

#include "api/arguments.h"
#include "stream/completion.h"
#include "stream/readers.h"

namespace sluice::stream {

// Replaces zeros of SluiceStreamerInfo by default values.
SluiceStreamerInfo withDefaults(SluiceStreamerInfo info);

} // namespace sluice::stream

struct SluiceStreamer_T {
    using Clock = sluice::stream::Clock;

    SluiceStreamer_T(const SluiceStreamerInfo& info, const sluice::stream::System& system);

    SluiceStatus start();
    SluiceStatus open(const SluiceStreamOpenInfo& info, SluiceStreamFile& file);
    void giveUp(SluiceStreamFile file);
    SluiceStatus submit(sluice::ArgumentChecker& check, const SluiceStreamGroupInfo& info,
                        SluiceStreamGroup& handle);
    void setPriority(SluiceStreamGroup handle, int32_t priority);
    void cancel(SluiceStreamGroup handle);
    void cancelTags(uint64_t mask, uint64_t value);
    void loseDevice();
    void counters(SluiceStreamCounters& result);

    // These are for submit mode (vulkan_submitter.cpp).
    bool attachSubmitter(); // false: one is attached, or a batch is under way
    void detachSubmitter();
    void callSubmitter();
    void stopSubmitter();
    // Sleeps until there is something to check, but not beyond `until`. Returns false if the thread
    // is to stop.
    bool waitForSubmitter(Clock::time_point until);
    // holds: true holds back RECORDED events until a call with false. The event tells the engine
    // that it may submit GPU work that waits for the batch, so the batch must have been submitted
    // first.
    void holdRecorded(bool holds);
    uint32_t maxBatches() const { return m_info.maxBatches; }
    bool isLost() const { return m_gpu.isLost(); }

    bool hasSubmitter() const { return m_monitor.hasSubmitter(); }
    int eventFd() const { return m_monitor.eventFd(); }

    sluice::Reporter reporter() const { return {m_info.report, m_info.reportUser}; }
    const sluice::stream::Gpu& gpu() const { return m_gpu; }
    sluice::stream::Readers& readers() { return m_readers; }
    sluice::stream::Batcher& batcher() { return m_batcher; }
    sluice::stream::Completion& completion() { return m_completion; }

private:
    const SluiceStreamerInfo m_info;
    const sluice::stream::System& m_system;
    sluice::stream::Monitor m_monitor;
    sluice::stream::Gpu m_gpu;
    sluice::stream::Ledger m_ledger;
    sluice::stream::CpuDecoder m_decoder;
    sluice::stream::Cutter m_cutter;
    sluice::stream::Batcher m_batcher;
    sluice::stream::Completion m_completion;
    sluice::stream::Readers m_readers; // last, so that its threads end first
};
