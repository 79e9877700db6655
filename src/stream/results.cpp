// SPDX-License-Identifier: MIT OR Apache-2.0
// What batches have come to, semaphores that are waited for and signalled, and events.
#include "stream/streamer.h"

#include <algorithm>

using namespace sluice::stream;

namespace {

constexpr uint32_t kWaitsAtOnce = 64;

} // namespace

SluiceStatus SluiceStreamer_T::complete(uint64_t number)
{
    const Locked locked(*this);
    if (number == 0 || number > m_batchNumber) return SLUICE_ERROR_ARGUMENT;
    m_completed = std::max(m_completed, number);
    return SLUICE_OK;
}

void SluiceStreamer_T::loseDevice()
{
    m_isLost = true;
    callSubmitter();
}

SluiceStatus SluiceStreamer_T::semaphoreValue(uint64_t semaphore, uint64_t& value)
{
    if (m_isLost) return SLUICE_ERROR_DEVICE;
    const SluiceStatus status =
        const_cast<SluiceStreamGpu*>(m_info.gpu)->semaphoreValue(semaphore, value);
    if (status != SLUICE_OK) m_isLost = true;
    return status;
}

// Only this thread touches batches now, so that the lock is taken for their units alone.
void SluiceStreamer_T::checkBatches(SluiceStatus& status)
{
    uint64_t known = 0, value = 0;
    // In the order in which they were recorded, for that is how events are expected.
    for (;;) {
        Batch* oldest = nullptr;
        for (Batch& batch : m_batches)
            if (batch.number != 0 && (oldest == nullptr || batch.number < oldest->number))
                oldest = &batch;
        if (oldest == nullptr) return;
        SluiceStatus result = m_isLost ? SLUICE_ERROR_DEVICE : SLUICE_OK;
        if (result == SLUICE_OK && isImmediate()) {
            bool isDone = false;
            result = const_cast<SluiceStreamGpu*>(m_info.gpu)
                         ->batchDone(m_gpuId, indexOf(*oldest), isDone);
            if (result != SLUICE_OK) m_isLost = true;
            if (result == SLUICE_OK && !isDone) return;
        } else if (result == SLUICE_OK && oldest->semaphore == 0) {
            if (oldest->number > m_completed) return;
        } else if (result == SLUICE_OK) {
            if (known != oldest->semaphore) result = semaphoreValue(oldest->semaphore, value);
            known = oldest->semaphore;
            if (result == SLUICE_OK && value < oldest->value) return;
        }
        if (result != SLUICE_OK) status = result;
        finishBatch(*oldest, result);
    }
}

void SluiceStreamer_T::finishBatch(Batch& batch, SluiceStatus status)
{
    for (uint32_t i = 0; i < batch.targetCount && status == SLUICE_OK; ++i)
        status = sluiceGetTileResults(&batch.targets[i].info, m_statuses[i].data(), nullptr);
    double milliseconds = 0;
    const bool isMeasured =
        status == SLUICE_OK && const_cast<SluiceStreamGpu*>(m_info.gpu)
                                   ->milliseconds(m_gpuId, indexOf(batch), milliseconds);
    if (isMeasured) {
        const Locked locked(*this);
        m_cost.learn(batch.cost, milliseconds);
    }
    // Some at a time: threads that read and decode get the lock in between.
    uint32_t order = 0;
    for (uint32_t at = batch.firstUnit; at != kNone;) {
        const Locked locked(*this);
        for (uint32_t i = 0; i < kUnitsAtOnce && at != kNone; ++i, ++order) {
            Unit& unit = m_units[at];
            at = unit.next;
            if (at != kNone) {
                prefetch(m_requests[m_units[at].request]);
                prefetch(m_groups[m_units[at].group]);
            }
            const uint32_t target = batch.unitTargets[order];
            finishRecorded(unit, status,
                           target != kNone ? m_statuses[target].data() + batch.unitFirstTile[order]
                                           : nullptr);
        }
    }
    const Locked locked(*this);
    batch.number = 0;
    --m_pending.batches;
}

// statuses: of the unit's tiles; NULL: the GPU has decoded none.
void SluiceStreamer_T::finishRecorded(Unit& unit, SluiceStatus status, const uint32_t* statuses)
{
    Group& group = m_groups[unit.group];
    Request& request = m_requests[unit.request];
    uint32_t bad = kNone;
    bool mayRetry = true;
    if (status != SLUICE_OK) {
        fail(group, request, {status});
    } else if (statuses != nullptr) {
        for (uint32_t i = 0; i < unit.tileCount; ++i) {
            if (statuses[i] == SLUICE_TILE_OK) continue;
            if (bad == kNone) bad = i;
            // These say nothing about the data.
            mayRetry = mayRetry &&
                       (statuses[i] == SLUICE_TILE_INTERNAL || statuses[i] == SLUICE_TILE_PENDING);
        }
        if (bad == kNone) m_bytesDecoded += unit.decodedSize;
        if (bad != kNone && mayRetry && !group.isCancelled && retry(unit)) return;
        if (bad != kNone) {
            uint32_t count = 0;
            const TileRecord* records = request.info.file->records(request.info.asset, count);
            fail(group, request,
                 {SLUICE_ERROR_CHECKSUM, unit.firstTile + bad, statuses[bad], 0,
                  records[unit.firstTile + bad].offset});
        }
    }
    finishUnit(unit);
    endIfDone(group);
}

// The CPU decodes what the GPU could not, if it can reach where that goes.
bool SluiceStreamer_T::retry(Unit& unit)
{
    Group& group = m_groups[unit.group];
    Request& request = m_requests[unit.request];
    const SluiceStreamImage& image = request.info.image;
    const bool isReleased = request.info.target == SLUICE_STREAM_TO_IMAGE && request.endIn != 0 &&
                            image.sourceFamily != image.destinationFamily;
    // Who was told that the group is recorded may be using the destination already.
    if (unit.isRetried || m_info.output.host == nullptr || isReleased || group.toldRecorded)
        return false;
    if (unit.output == Blocks::kNone) {
        unit.output = m_output.take(unit.decodedSize);
        if (unit.output == Blocks::kNone) return false;
        unit.outputBase = unit.output;
        unit.route = Route::output;
    }
    unit.isRetried = unit.decodesOnCpu = true;
    ++request.unrecorded;
    ++group.unrecorded;
    --group.underWay;
    m_retriedTiles += unit.tileCount;
    queueDecode(unit);
    return true;
}

// Groups whose semaphore has its value begin.
void SluiceStreamer_T::checkWaits(SluiceStatus& status)
{
    struct Wait {
        SluiceStreamGroup group;
        SluiceStreamSync sync;
        bool isMet;
    } waits[kWaitsAtOnce];
    uint64_t last = UINT64_MAX;
    for (;;) {
        uint32_t count = 0;
        {
            const Locked locked(*this);
            for (uint32_t at = m_waiting; at != kNone && count < kWaitsAtOnce;
                 at = m_groups[at].next) {
                // Newer groups come first in the list, so that `last` says where to go on.
                if (m_groups[at].sequence < last)
                    waits[count++] = {m_groups[at].handle, m_groups[at].wait, false};
            }
        }
        if (count == 0) return;
        uint64_t known = 0, value = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const SluiceStatus result = known == waits[i].sync.semaphore
                                            ? SLUICE_OK
                                            : semaphoreValue(waits[i].sync.semaphore, value);
            known = result == SLUICE_OK ? waits[i].sync.semaphore : 0;
            if (result != SLUICE_OK) status = result;
            waits[i].isMet = result != SLUICE_OK || value >= waits[i].sync.value;
        }
        const Locked locked(*this);
        for (uint32_t i = 0; i < count; ++i) {
            Group* group = find(waits[i].group);
            if (group == nullptr) continue;
            last = group->sequence;
            if (!waits[i].isMet || group->hasEnded) continue;
            for (uint32_t* at = &m_waiting; *at != kNone; at = &m_groups[*at].next) {
                if (*at != indexOf(*group)) continue;
                *at = group->next;
                --m_pending.waits;
                break;
            }
            startGroup(*group);
        }
        if (count < kWaitsAtOnce) return;
    }
}

// Groups that signal one semaphore do so in the order of submission: what is signalled is the value
// of the last before the first that has not ended.
void SluiceStreamer_T::checkSignals(SluiceStatus& status)
{
    SluiceStreamSync signals[kSignallers];
    uint32_t count = 0;
    {
        const Locked locked(*this);
        for (Signaller& one : m_signallers) {
            uint64_t value = 0;
            while (one.head != kNone && m_groups[one.head].hasEnded) {
                Group& group = m_groups[one.head];
                value = group.signal.value;
                one.head = group.nextSignal;
                if (one.head == kNone) one.tail = kNone;
                group.isSignalled = true;
                --m_pending.signals;
                if (group.isPolled) releaseGroup(group);
            }
            if (value != 0) signals[count++] = {one.semaphore, value};
        }
    }
    for (uint32_t i = 0; i < count && !m_isLost; ++i) {
        const SluiceStatus result = const_cast<SluiceStreamGpu*>(m_info.gpu)
                                        ->signal(signals[i].semaphore, signals[i].value);
        if (result == SLUICE_OK) continue;
        status = result;
        m_isLost = true;
    }
}

// On a lost device nothing will be recorded any more.
void SluiceStreamer_T::dropReady()
{
    const Locked locked(*this);
    while (Group* group = m_toRecord.top()) {
        Unit& unit = m_units[pop(group->readyHead, group->readyTail)];
        if (group->readyHead == kNone) m_toRecord.remove(group);
        m_readyTiles -= unit.tileCount;
        fail(*group, m_requests[unit.request], {SLUICE_ERROR_DEVICE});
        finishUnit(unit);
        endIfDone(*group);
    }
}

uint32_t SluiceStreamer_T::giveEvents(SluiceStreamEvent* events, uint32_t room)
{
    uint32_t count = 0;
    while (m_opened != nullptr && count < room) {
        const SluiceStreamFile file = m_opened;
        m_opened = file->next;
        file->isListed = false;
        SluiceStreamEvent& event = events[count++];
        event = {};
        event.kind = SLUICE_STREAM_OPENED;
        event.status = file->status;
        event.file = file;
        event.user = file->user;
        event.osError = file->osError;
        event.firstRequest = event.firstTile = kNone;
        --m_pending.events;
        ++file->groups; // it may have been given up meanwhile
        dropFile(file);
    }
    uint32_t told = 0;
    for (; told < m_recordedEvents.size() && count < room && !m_holdsRecorded; ++told) {
        Group& group = m_groups[m_recordedEvents[told]];
        --m_pending.events;
        group.tellsRecorded = false;
        group.toldRecorded = true;
        events[count] = group.event;
        events[count++].kind = SLUICE_STREAM_RECORDED;
    }
    m_recordedEvents.erase(m_recordedEvents.begin(), m_recordedEvents.begin() + told);
    while (m_endedHead != kNone && count < room) {
        Group& group = m_groups[m_endedHead];
        if (group.tellsRecorded && m_holdsRecorded) break; // which comes first
        m_endedHead = group.next;
        if (m_endedHead == kNone) m_endedTail = kNone;
        events[count++] = group.event;
        group.isPolled = true;
        --m_pending.events;
        if (group.signal.semaphore == 0 || group.isSignalled) releaseGroup(group);
    }
    return count;
}

// Events that Poll would give now.
bool SluiceStreamer_T::hasEvents() const
{
    if (m_opened != nullptr) return true;
    if (m_holdsRecorded) return m_endedHead != kNone && !m_groups[m_endedHead].tellsRecorded;
    return m_endedHead != kNone || !m_recordedEvents.empty();
}

// What the GPU has done.
void SluiceStreamer_T::checkAll(SluiceStatus& status)
{
    if (m_pending.batches != 0) checkBatches(status);
    if (m_pending.waits != 0) checkWaits(status);
    if (m_isLost) dropReady();
}

SluiceStatus SluiceStreamer_T::poll(SluiceStreamEvent* events, uint32_t& count)
{
    SluiceStatus status = SLUICE_OK;
    const uint32_t room = count;
    count = 0;
    // The descriptor is emptied before anything is looked at, so that it is written again for what
    // comes later; a write that is still to come is emptied by the next call.
    if (m_isEventTold && resetEvent(m_eventFd)) m_isEventTold = false;
    if (m_pending.nothing() && !m_isLost) return status;
    const bool looks = m_info.gpu != nullptr && !m_hasSubmitter;
    if (looks) checkAll(status);
    if (m_pending.events != 0) {
        const Locked locked(*this);
        count = giveEvents(events, room);
        if (hasEvents()) tellEvent(); // what found no room is told again
    }
    // After the events: a group that has one is never left unsignalled.
    if (looks && m_pending.signals != 0) checkSignals(status);
    if (!m_isLost) return SLUICE_OK;
    status = m_toldLost ? SLUICE_OK : SLUICE_ERROR_DEVICE;
    m_toldLost = true;
    return status;
}
