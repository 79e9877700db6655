// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/completion.h"

#include <algorithm>

namespace sluice::stream {

namespace {

// The number of semaphores that one call queries, and the number of groups that begin per hold of
// the lock.
constexpr uint32_t kSemaphoresAtOnce = 64, kGroupsAtOnce = 64;

} // namespace

Completion::Completion(const SluiceStreamerInfo& info, Monitor& monitor, Gpu& gpu, Ledger& ledger,
                       Batcher& batcher)
    : m_info(info), m_monitor(monitor), m_gpu(gpu), m_ledger(ledger), m_batcher(batcher)
{
    for (std::vector<uint32_t>& statuses : m_statuses)
        statuses.resize(info.maxBatchTiles);
}

bool Completion::complete(uint64_t number)
{
    Held held(m_monitor);
    if (number == 0 || number > m_batcher.lastNumber(held)) return false;
    m_completed = std::max(m_completed, number);
    return true;
}

// Only one thread at a time checks batches. So this function takes the lock only for the units of
// batches that are complete.
void Completion::checkBatches(SluiceStatus& status)
{
    uint64_t known = 0, value = 0;
    // Batches complete in the order in which they were recorded, and the engine expects events in
    // that order. So the loop ends at the first batch that is not complete.
    while (Batch* oldest = m_batcher.oldest()) {
        SluiceStatus result = m_gpu.isLost() ? SLUICE_ERROR_DEVICE : SLUICE_OK;
        if (result == SLUICE_OK && m_gpu.isImmediate()) {
            bool isDone = false;
            result = m_gpu.batchDone(m_batcher.slotOf(*oldest), isDone);
            if (result == SLUICE_OK && !isDone) return;
            if (oldest->hasFailed) {
                m_gpu.lose();
                result = SLUICE_ERROR_DEVICE;
            }
        } else if (result == SLUICE_OK && oldest->semaphore == 0) {
            if (oldest->number > m_completed) return;
        } else if (result == SLUICE_OK) {
            if (known != oldest->semaphore) result = m_gpu.semaphoreValue(oldest->semaphore, value);
            known = oldest->semaphore;
            if (result == SLUICE_OK && value < oldest->value) return;
        }
        if (result != SLUICE_OK) status = result;
        finishBatch(*oldest, result);
    }
}

void Completion::finishBatch(Batch& batch, SluiceStatus status)
{
    for (uint32_t i = 0; i < batch.targetCount && status == SLUICE_OK; ++i)
        status = sluiceGetTileResults(&batch.targets[i].info, m_statuses[i].data(), nullptr);
    double milliseconds = 0;
    const bool isMeasured =
        status == SLUICE_OK &&
        m_gpu.api().milliseconds(m_gpu.id(), m_batcher.slotOf(batch), milliseconds);
    if (isMeasured) {
        Held held(m_monitor);
        m_ledger.sides.learnGpu(held, batch.cost, milliseconds);
    }
    // Handles a few units per hold of the lock, so that threads that read and decode get the lock
    // in between.
    uint32_t order = 0, regions = 0;
    for (uint32_t at = batch.units.head; at != kNone;) {
        Held held(m_monitor);
        for (uint32_t i = 0; i < kUnitsAtOnce && at != kNone; ++i, ++order) {
            Unit& unit = m_ledger.units[at];
            at = unit.next;
            if (at != kNone) {
                prefetch(m_ledger.requests[m_ledger.units[at].request]);
                prefetch(m_ledger.groups[m_ledger.units[at].group]);
            }
            const uint32_t target = batch.unitTargets[order];
            const SluiceTileStatus transcoded =
                status == SLUICE_OK ? transcodeStatus(batch, unit, regions) : SLUICE_TILE_OK;
            finishUnit(held, unit, status,
                       target != kNone ? m_statuses[target].data() + batch.unitFirstTile[order]
                                       : nullptr,
                       transcoded);
        }
    }
    Held held(m_monitor);
    m_batcher.release(held, batch);
}

// Returns the combined status of a unit's regions, the pieces that the transcoder is given; OK if
// the GPU did not transcode the unit. regions: index of the unit's first region in the batch; set
// to that of the next unit.
SluiceTileStatus Completion::transcodeStatus(const Batch& batch, const Unit& unit,
                                             uint32_t& regions) const
{
    if (!isTranscodedByGpu(unit)) return SLUICE_TILE_OK;
    SluiceTileStatus result = SLUICE_TILE_OK;
    const uint32_t count = regionCount(m_ledger.requests[unit.request].info.image, unit);
    for (uint32_t i = 0; i < count; ++i)
        result = worseOf(result, batch.transcodes.status(regions++));
    return result;
}

// Finishes a unit of a complete batch, or lets the CPU decode the unit again. statuses: one per
// tile of the unit; NULL: the GPU has decoded no tiles of the unit. transcoded: the status of what
// the GPU has transcoded.
void Completion::finishUnit(Held& held, Unit& unit, SluiceStatus status, const uint32_t* statuses,
                            SluiceTileStatus transcoded)
{
    Group& group = m_ledger.groups[unit.group];
    if (status == SLUICE_OK && isDecodedByGpu(unit)) m_ledger.sides.count(held, unit);
    if (status != SLUICE_OK) {
        m_ledger.fail(held, group, m_ledger.requests[unit.request], {status});
    } else if (statuses != nullptr) {
        uint32_t bad = kNone;
        bool mayRetry = true;
        for (uint32_t i = 0; i < unit.tileCount; ++i) {
            if (statuses[i] == SLUICE_TILE_OK) continue;
            if (bad == kNone) bad = i;
            // All other statuses mean that the data is bad, and a retry would fail, too.
            mayRetry = mayRetry &&
                       (statuses[i] == SLUICE_TILE_INTERNAL || statuses[i] == SLUICE_TILE_PENDING);
        }
        if (bad == kNone)
            m_ledger.totals.bytesDecoded += isDecodedElsewhere(unit) ? 0 : unit.decodedSize;
        else if (mayRetry && !group.isCancelled() && retry(held, unit))
            return;
        else
            m_ledger.failTile(held, unit, unit.firstTile + bad, statuses[bad]);
        if (bad != kNone) transcoded = SLUICE_TILE_OK; // a consequence of the bad tile
    }
    if (transcoded == SLUICE_TILE_BAD_CODE)
        m_ledger.failBlocks(held, unit);
    else if (transcoded != SLUICE_TILE_OK && !group.isCancelled() && retry(held, unit))
        return;
    else if (transcoded != SLUICE_TILE_OK)
        m_ledger.fail(held, group, m_ledger.requests[unit.request],
                      {SLUICE_ERROR_CHECKSUM, kNone, uint32_t(transcoded)});
    m_ledger.finish(held, unit);
    m_ledger.endIfDone(held, group);
}

// Lets the CPU decode a unit that the GPU could not decode. Returns false if that is not possible,
// for example because the CPU cannot write to the place where the unit's tiles go.
bool Completion::retry(Held& held, Unit& unit)
{
    Group& group = m_ledger.groups[unit.group];
    Request& request = m_ledger.requests[unit.request];
    const SluiceStreamImage& image = request.info.image;
    const bool isReleased = request.info.target == SLUICE_STREAM_TO_IMAGE && request.endIn != 0 &&
                            image.sourceFamily != image.destinationFamily;
    // An engine that has seen the RECORDED event may be using the destination already, so the bytes
    // must not be written again.
    if (unit.isRetried || m_info.output.host == nullptr || isReleased ||
        group.recordedEvent == RecordedEvent::told)
        return false;
    if (unit.output == Blocks::kNone) {
        if (!m_ledger.rings.takeOutput(held, unit, unit.decodedSize)) return false;
        unit.outputBase = unit.output;
        unit.route = Route::output;
    }
    // If the group has a RECORDED event that Poll has not returned, it names the value of a batch
    // that did not decode the unit. The group has the event again when the unit is recorded again.
    m_ledger.events.forgetRecorded(held, group);
    unit.isRetried = unit.decodesOnCpu = true;
    unit.reason = SLUICE_STREAM_CPU_RETRIED;
    ++request.unrecorded;
    ++group.unrecorded;
    --group.underWay;
    m_ledger.totals.retriedTiles += unit.tileCount;
    m_ledger.work.addDecode(held, unit);
    return true;
}

// Begins the groups whose semaphores have reached the values that the groups wait for. If groups
// wait for more semaphores than one call queries, the next call continues after the last semaphore
// that this call has queried.
void Completion::checkWaits(SluiceStatus& status)
{
    uint64_t semaphores[kSemaphoresAtOnce];
    uint32_t count = 0;
    {
        Held held(m_monitor);
        const uint64_t begin = m_nextSemaphore;
        bool isAround = begin == 0;
        while (count < kSemaphoresAtOnce) {
            const Wait* wait = m_ledger.waits.first(m_nextSemaphore);
            const bool isEnd =
                wait == nullptr || (isAround && begin != 0 && wait->semaphore >= begin);
            if (isEnd && isAround) break;
            isAround = isAround || isEnd;
            if (!isEnd) semaphores[count++] = wait->semaphore;
            m_nextSemaphore = isEnd ? 0 : wait->semaphore + 1;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t value = 0;
        const SluiceStatus result = m_gpu.semaphoreValue(semaphores[i], value);
        if (result != SLUICE_OK) status = result;
        beginWaiting(semaphores[i], result == SLUICE_OK ? value : UINT64_MAX);
    }
}

void Completion::beginWaiting(uint64_t semaphore, uint64_t value)
{
    for (;;) {
        Held held(m_monitor);
        for (uint32_t i = 0; i < kGroupsAtOnce; ++i) {
            const Wait* wait = m_ledger.waits.first(semaphore);
            if (wait == nullptr || wait->semaphore != semaphore || wait->value > value) return;
            Group& group = m_ledger.groups[wait->group];
            m_ledger.endWait(held, group);
            m_ledger.work.addRead(held, group);
        }
    }
}

// Signals the semaphores of groups that have ended. Groups with the same semaphore signal in the
// order of submission, so a group must wait until all earlier ones have ended. Each semaphore is
// signalled once per call, with the value of the last group that may signal.
void Completion::checkSignals(SluiceStatus& status)
{
    SluiceStreamSync signals[Signallers::kCount];
    uint32_t count = 0;
    {
        Held held(m_monitor);
        for (uint32_t i = 0; i < Signallers::kCount; ++i) {
            const bool hasSignal =
                m_ledger.signallers.advance(held, i, m_ledger.groups, signals[count],
                                            [&](Group& group) { m_ledger.signalled(held, group); });
            if (hasSignal) ++count;
        }
    }
    for (uint32_t i = 0; i < count && !m_gpu.isLost(); ++i) {
        const SluiceStatus result = m_gpu.signal(signals[i]);
        if (result != SLUICE_OK) status = result;
    }
}

// On a lost device nothing will be recorded any more, so ready units fail.
void Completion::dropReady()
{
    Held held(m_monitor);
    while (Group* group = m_ledger.work.toRecord(held, true)) {
        Unit& unit = group->ready.empty() ? m_ledger.work.line.take(held, *group)
                                          : m_ledger.work.takeReady(held, *group);
        m_ledger.fail(held, *group, m_ledger.requests[unit.request], {SLUICE_ERROR_DEVICE});
        m_ledger.finish(held, unit);
        m_ledger.endIfDone(held, *group);
    }
}

bool Completion::hasEvents(Held& held) const
{
    return m_ledger.files.hasOpened(held) || m_ledger.events.hasSome(held);
}

uint32_t Completion::giveEvents(Held& held, SluiceStreamEvent* events, uint32_t room)
{
    uint32_t count = 0;
    for (; m_ledger.files.hasOpened(held) && count < room; ++count) {
        m_ledger.files.tellOpened(held, events[count]);
        --m_ledger.pending.events;
    }
    return count + m_ledger.events.give(held, events + count, room - count,
                                        [&](Group& group) { m_ledger.told(held, group); });
}

void Completion::checkAll(SluiceStatus& status)
{
    if (m_ledger.pending.batches != 0) checkBatches(status);
    if (m_ledger.pending.waits != 0) checkWaits(status);
    if (m_gpu.isLost()) dropReady();
}

// A check may discover that the device is lost. Everything is then checked once more, because no
// later event would cause another call.
void Completion::collect()
{
    bool wasLost = false;
    do {
        wasLost = m_gpu.isLost();
        SluiceStatus status = SLUICE_OK;
        checkAll(status);
        checkSignals(status);
    } while (m_gpu.isLost() && !wasLost);
}

SluiceStatus Completion::poll(SluiceStreamEvent* events, uint32_t& count)
{
    SluiceStatus status = SLUICE_OK;
    const uint32_t room = count;
    count = 0;
    m_monitor.emptyEvent();
    if (m_ledger.pending.nothing() && !m_gpu.isLost()) return status;
    const bool looks = m_gpu.isThere() && !m_monitor.hasSubmitter();
    if (looks) checkAll(status);
    if (m_ledger.pending.events != 0) {
        Held held(m_monitor);
        count = giveEvents(held, events, room);
        if (hasEvents(held)) held.tellEvent(); // `events` had no room for some
    }
    // Semaphores come after events. Otherwise a group that ends between the two steps would have
    // its event returned by this call, but its semaphore signalled only by the next call.
    if (looks && m_ledger.pending.signals != 0) checkSignals(status);
    if (!m_gpu.isLost()) return SLUICE_OK;
    status = m_toldLost ? SLUICE_OK : SLUICE_ERROR_DEVICE;
    m_toldLost = true;
    return status;
}

} // namespace sluice::stream
