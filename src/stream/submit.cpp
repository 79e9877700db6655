// SPDX-License-Identifier: MIT OR Apache-2.0
// What a thread that records and submits by itself asks of the streamer.
#include "stream/streamer.h"

#include <algorithm>

using namespace sluice::stream;

namespace {

// Groups that wait for a semaphore are looked at so often. Vulkan can wait for any of several
// semaphores, but drivers that emulate timelines spin meanwhile.
constexpr auto kWaitInterval = std::chrono::milliseconds(1);

} // namespace

bool SluiceStreamer_T::attach()
{
    const Locked locked(*this);
    if (!hasSemaphores() || m_hasSubmitter || batchesUnderWay() != 0) return false;
    m_submitterStops = false;
    m_hasSubmitter = true;
    wakeSubmitter(); // something may be ready already
    return true;
}

void SluiceStreamer_T::detach()
{
    const Locked locked(*this);
    m_hasSubmitter = false;
    if (hasEvents()) tellEvent();
}

void SluiceStreamer_T::callSubmitter()
{
    const Locked locked(*this);
    wakeSubmitter();
}

void SluiceStreamer_T::stopSubmitter()
{
    const Locked locked(*this);
    m_submitterStops = true;
    wakeSubmitter();
}

// Sleeps until there is something to look at, at the longest until `until`. False: it is to stop.
bool SluiceStreamer_T::waitForSubmitter(Clock::time_point until)
{
    Locked locked(*this);
    if (m_waiting != kNone) until = std::min(until, Clock::now() + kWaitInterval);
    const auto isCalled = [this] { return m_submitterLooks || m_submitterStops; };
    if (until == Clock::time_point::max())
        m_submitterWork.wait(locked.lock(), isCalled);
    else
        m_submitterWork.wait_until(locked.lock(), until, isCalled);
    m_submitterLooks = false;
    return !m_submitterStops;
}

// What Poll does in record mode but to give events. A device may be found lost by the way, and then
// all is looked at once more, since nobody calls for it.
void SluiceStreamer_T::collect()
{
    bool wasLost = false;
    do {
        wasLost = m_isLost;
        SluiceStatus status = SLUICE_OK;
        checkAll(status);
        checkSignals(status);
    } while (m_isLost && !wasLost);
}

// countsCall: too little grows older by this call.
SluiceStreamer_T::Ready SluiceStreamer_T::readiness(const SluiceStreamBudget& budget,
                                                    bool countsCall)
{
    const Locked locked(*this);
    if (m_toRecord.empty() || m_isLost || !(budget.milliseconds > 0)) return Ready::nothing;
    if (isWorthIt(budget)) return Ready::enough;
    if (countsCall) ++m_recordCalls;
    return Ready::tooLittle;
}

uint32_t SluiceStreamer_T::batchesUnderWay() const
{
    return uint32_t(std::count_if(m_batches.begin(), m_batches.end(),
                                  [](const Batch& batch) { return batch.number != 0; }));
}

// RECORDED says that GPU work may wait for the batch, so that the batch is to be submitted before.
void SluiceStreamer_T::holdRecorded(bool holds)
{
    const Locked locked(*this);
    m_holdsRecorded = holds;
    if (!holds && hasEvents()) tellEvent();
}
