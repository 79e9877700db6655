// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/streamer.h"

#include <algorithm>
#include <new>

#include "stream/checks.h"

using namespace sluice;
using namespace sluice::stream;

namespace {

constexpr uint32_t kDefaultUnits = 1024;
// The number of groups that CancelTags checks per hold of the lock.
constexpr uint32_t kCancelsAtOnce = 256;
// The interval at which submit mode polls the semaphores that groups wait for. Vulkan could wait
// for any of several semaphores, but drivers that emulate timelines spin meanwhile.
constexpr auto kWaitInterval = std::chrono::milliseconds(1);

// `info.gpu` is const to promise that the streamer does not destroy the object. Its functions need
// a pointer that is not const.
SluiceStreamGpu* apiOf(const SluiceStreamerInfo& info)
{
    return const_cast<SluiceStreamGpu*>(info.gpu);
}

} // namespace

SluiceStreamerInfo sluice::stream::withDefaults(SluiceStreamerInfo info)
{
    if (info.maxUnits == 0) info.maxUnits = kDefaultUnits;
    if (info.maxBatchTiles == 0) info.maxBatchTiles = SLUICE_STREAM_BATCH_TILES;
    if (info.gstdTilesAtOnce == 0) info.gstdTilesAtOnce = SLUICE_STREAM_GSTD_TILES;
    if (info.maxFilteredSize == 0) info.maxFilteredSize = SLUICE_STREAM_FILTERED_SIZE;
    return info;
}

SluiceStreamer_T::SluiceStreamer_T(const SluiceStreamerInfo& info, const System& system)
    : m_info(withDefaults(info)), m_system(system),
      m_monitor(m_info.wake, m_info.wakeUser, m_info.threads != 0), m_gpu(apiOf(info)),
      m_ledger(m_info, m_gpu.hasSemaphores()),
      m_decoder(m_info, m_info.threads != 0 ? m_info.threads : kPumpDecodes, !gpuMayDecode(m_info)),
      m_cutter(m_info, m_ledger), m_batcher(m_info, m_monitor, m_gpu, m_ledger),
      m_completion(m_info, m_monitor, m_gpu, m_ledger, m_batcher),
      m_readers(m_info, system, m_monitor, m_ledger, m_decoder, m_cutter)
{
}

SluiceStatus SluiceStreamer_T::start()
{
    SluiceStatus status = m_decoder.start();
    if (status == SLUICE_OK) status = m_gpu.begin(m_info.maxBatches);
    if (status == SLUICE_OK) m_readers.start();
    return status;
}

SluiceStatus SluiceStreamer_T::open(const SluiceStreamOpenInfo& info, SluiceStreamFile& file)
{
    std::unique_ptr<SluiceStreamFile_T> made(
        new (std::nothrow) SluiceStreamFile_T(this, info, m_system, m_info.io));
    if (made == nullptr) return SLUICE_ERROR_OUT_OF_MEMORY;
    Held held(m_monitor);
    m_ledger.files.add(held, made.get());
    file = made.release();
    return SLUICE_OK;
}

void SluiceStreamer_T::giveUp(SluiceStreamFile file)
{
    Held held(m_monitor);
    m_ledger.files.giveUp(held, file);
}

SluiceStatus SluiceStreamer_T::submit(ArgumentChecker& check, const SluiceStreamGroupInfo& info,
                                      SluiceStreamGroup& handle)
{
    Held held(m_monitor);
    checkGroup(check, held, info, this, m_info.maxRequests, m_gpu);
    uint32_t signaller = kNone;
    if (info.signal.semaphore != 0)
        check.require(SLUICE_NAMED(info.signal.value),
                      m_ledger.signallers.find(held, info.signal, signaller),
                      "is more than the value of the semaphore's groups before");
    if (!check.isOk()) return check.status();
    if ((info.signal.semaphore != 0 && signaller == kNone) || !m_ledger.hasRoom(held, info))
        return SLUICE_ERROR_FULL;
    handle = m_ledger.add(held, info, signaller).handle;
    return SLUICE_OK;
}

void SluiceStreamer_T::setPriority(SluiceStreamGroup handle, int32_t priority)
{
    Held held(m_monitor);
    Group* group = m_ledger.find(held, handle);
    if (group != nullptr && !group->hasEnded()) m_ledger.work.setPriority(held, *group, priority);
}

void SluiceStreamer_T::cancel(SluiceStreamGroup handle)
{
    Held held(m_monitor);
    Group* group = m_ledger.find(held, handle);
    if (group != nullptr) m_ledger.cancel(held, *group);
}

// Cancels a limited number of groups per hold of the lock, so that other threads get the lock in
// between. Groups that these threads submit meanwhile are not cancelled.
void SluiceStreamer_T::cancelTags(uint64_t mask, uint64_t value)
{
    uint64_t last = UINT64_MAX;
    for (uint32_t at = 0; at < m_ledger.groups.count();) {
        Held held(m_monitor);
        last = std::min(last, m_ledger.lastSequence(held));
        for (uint32_t i = 0; i < kCancelsAtOnce && at < m_ledger.groups.count(); ++i, ++at) {
            Group& group = m_ledger.groups[at];
            if (group.handle != 0 && group.sequence <= last && (group.event.tag & mask) == value)
                m_ledger.cancel(held, group);
        }
    }
}

void SluiceStreamer_T::loseDevice()
{
    m_gpu.lose();
    callSubmitter();
}

void SluiceStreamer_T::counters(SluiceStreamCounters& result)
{
    Held held(m_monitor);
    const auto inState = [&](UnitState state) { return m_ledger.work.inState(held, state); };
    result = {};
    result.groups = m_ledger.groups.usedCount();
    result.requests = m_ledger.requests.usedCount();
    result.reading = inState(UnitState::reading);
    result.decoding = inState(UnitState::toDecode) + inState(UnitState::decoding);
    result.ready = inState(UnitState::ready);
    result.recorded = inState(UnitState::recorded);
    result.sourceUsed = m_ledger.rings.sourceUsed(held);
    result.outputUsed = m_ledger.rings.outputUsed(held);
    result.bytesRead = m_ledger.totals.bytesRead;
    result.bytesDecoded = m_ledger.totals.bytesDecoded;
    result.wastedBytes = m_ledger.totals.wastedBytes;
    result.retriedTiles = m_ledger.totals.retriedTiles;
    for (uint32_t i = 0; i < SLUICE_STREAM_REASONS; ++i)
        result.shares[i] = m_ledger.sides.share(held, SluiceStreamReason(i));
    constexpr CpuCodec kCodecs[] = {kCpuGdeflate, kCpuGstd, kCpuFloat};
    for (uint32_t i = 0; i < 3; ++i)
        result.threadMillisecondsPerMiB[i] =
            float(m_ledger.sides.cpuCosts(held).millisecondsPerMiB(kCodecs[i]));
    const CostModel& costs = m_ledger.sides.gpuCosts(held);
    result.floorMilliseconds = float(costs.floor());
    constexpr CostKind kKinds[] = {kCostGdeflate, kCostGstd, kCostFloat, kCostCopy};
    for (uint32_t i = 0; i < 4; ++i)
        result.millisecondsPerMiB[i] = float(costs.weight(kKinds[i]));
    result.predictionError = float(costs.error());
}

// --- Submit mode ---

bool SluiceStreamer_T::attachSubmitter()
{
    Held held(m_monitor);
    return m_gpu.hasSemaphores() && m_batcher.underWay() == 0 && held.attachSubmitter();
}

void SluiceStreamer_T::detachSubmitter()
{
    Held held(m_monitor);
    held.detachSubmitter();
    if (m_completion.hasEvents(held)) held.tellEvent();
}

void SluiceStreamer_T::callSubmitter()
{
    Held held(m_monitor);
    held.wakeSubmitter();
}

void SluiceStreamer_T::stopSubmitter()
{
    Held held(m_monitor);
    held.stopSubmitter();
}

bool SluiceStreamer_T::waitForSubmitter(Clock::time_point until)
{
    Held held(m_monitor);
    if (m_ledger.pending.waits != 0) until = std::min(until, Clock::now() + kWaitInterval);
    return held.waitForSubmitter(until);
}

void SluiceStreamer_T::holdRecorded(bool holds)
{
    Held held(m_monitor);
    m_ledger.events.holdRecorded(held, holds);
    if (!holds && m_completion.hasEvents(held)) held.tellEvent();
}
