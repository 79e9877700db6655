// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/ledger.h"

namespace sluice::stream {

Ledger::Ledger(const SluiceStreamerInfo& info, bool hasSemaphores)
    : groups(info.maxGroups), requests(info.maxRequests), units(info.maxUnits),
      rings(info.source.buffer.size, info.output.buffer.size), work(groups, units), sides(info),
      events(groups, pending), waits(hasSemaphores ? info.maxGroups : 0), m_info(info)
{
}

bool Ledger::hasRoom(Held&, const SluiceStreamGroupInfo& info) const
{
    if (groups.freeCount() == 0 || requests.freeCount() < info.requestCount) return false;
    if (info.priority >= m_info.reserveAbove || groups.usedCount() == 0) return true;
    return groups.usedCount() < groups.count() - groups.count() / 4 &&
           requests.freeCount() - info.requestCount >= requests.count() / 4;
}

void Ledger::addRequest(Held& held, Group& group, const SluiceStreamRequest& info, uint32_t index)
{
    Request& request = requests.take();
    request = Request();
    request.info = info;
    if (info.target == SLUICE_STREAM_TO_HOST) request.info.image.format = 0; // it is not read
    // The offset in `info` counts from the start of the asset. In `request` it counts from the
    // start of the decoded tiles, which several assets may share.
    if (info.source == SLUICE_STREAM_FROM_ARCHIVE && info.file->isPlainAsset()) {
        request.info.source = SLUICE_STREAM_FROM_FILE;
    } else if (info.source == SLUICE_STREAM_FROM_ARCHIVE) {
        request.info.offset += info.file->tilesOf(info.asset).tilesOffset;
        // Records that could not be read are read again for a new group. Damaged ones are not.
        Extent& extent = info.file->tileRecords.extentOf(info.asset);
        if (extent.state == Extent::failed && extent.error.status == SLUICE_ERROR_IO)
            extent.state = Extent::unread;
    }
    request.index = index;
    request.next = group.firstRequest;
    group.firstRequest = requests.numberOf(request);
    if (info.source != SLUICE_STREAM_FROM_MEMORY) files.use(held, info.file);
}

Group& Ledger::add(Held& held, const SluiceStreamGroupInfo& info, uint32_t signaller)
{
    Group& group = groups.take();
    const uint32_t number = groups.numberOf(group);
    group = Group();
    group.priority = info.priority;
    group.sequence = ++m_sequence;
    group.handle = group.sequence * kMaxGroups + number;
    group.flags = info.flags;
    group.wait = info.wait;
    group.signal = info.signal;
    group.requestCount = info.requestCount;
    group.event = {SLUICE_STREAM_END,
                   SLUICE_OK,
                   group.handle,
                   nullptr,
                   info.user,
                   info.tag,
                   0,
                   kNone,
                   kNone,
                   SLUICE_TILE_OK,
                   0,
                   0,
                   0};
    for (uint32_t i = info.requestCount; i-- != 0;)
        addRequest(held, group, info.requests[i], i);
    group.currentRequest = group.firstRequest;
    if (signaller != kNone) signallers.add(held, signaller, groups, group);
    if (info.wait.semaphore == 0) {
        work.addRead(held, group);
        return group;
    }
    group.life = Life::waiting;
    waits.insert({group.wait.semaphore, group.wait.value, group.sequence, number});
    ++pending.waits;
    held.wakeSubmitter();
    return group;
}

void Ledger::endWait(Held&, Group& group)
{
    waits.remove({group.wait.semaphore, group.wait.value, group.sequence, 0});
    --pending.waits;
    group.life = Life::running;
}

Group* Ledger::find(Held&, SluiceStreamGroup handle)
{
    const uint64_t number = handle & (kMaxGroups - 1);
    if (handle == 0 || number >= groups.count()) return nullptr;
    Group& group = groups[uint32_t(number)];
    return group.handle == handle ? &group : nullptr;
}

void Ledger::cancel(Held& held, Group& group)
{
    if (group.hasEnded() || group.isCancelled()) return;
    if (group.currentRequest == kNone && group.openUnits != 0 &&
        group.underWay == group.openUnits) {
        group.life = Life::tooLate;
        return;
    }
    if (group.life == Life::waiting) endWait(held, group);
    group.life = Life::cancelled;
    group.currentRequest = kNone;
    work.drop(held, group, [&](Unit& unit) { finishUnused(held, unit); });
    endIfDone(held, group);
}

void Ledger::fail(Held&, Group& group, Request& request, const Failure& failure)
{
    // Units of a request end in any order. The event names the first request that failed, and that
    // request's first damaged tile.
    const bool isEarlierTile =
        request.index == group.event.firstRequest && group.event.status == SLUICE_ERROR_CHECKSUM &&
        failure.status == SLUICE_ERROR_CHECKSUM && failure.tile < group.event.firstTile;
    if (group.event.status == SLUICE_OK || request.index < group.event.firstRequest ||
        isEarlierTile) {
        group.event.status = failure.status;
        group.event.firstRequest = request.index;
        group.event.firstTile = failure.tile;
        group.event.tileStatus = failure.tileStatus;
        group.event.osError = failure.osError;
        group.event.fileOffset = failure.fileOffset;
    }
    if (!request.hasFailed) ++group.event.failedRequests;
    request.hasFailed = true;
}

void Ledger::failTile(Held& held, const Unit& unit, uint32_t tile, uint32_t status)
{
    Request& request = requests[unit.request];
    uint32_t count = 0;
    const TileRecord* records = request.info.file->records(request.info.asset, count);
    fail(held, groups[unit.group], request,
         {SLUICE_ERROR_CHECKSUM, tile, status, 0, records[tile].offset});
}

bool Ledger::mayTakeUnit(Held& held, const Group& group, uint64_t sourceSize,
                         uint64_t outputSize) const
{
    if (units.usedCount() == 0 || group.priority >= m_info.reserveAbove) return true;
    return units.usedCount() < units.count() / 4 * 3 &&
           rings.leaveQuarter(held, sourceSize, outputSize);
}

SideChoice Ledger::chooseSide(Held& held) const
{
    const Unit& head = work.line.head(held);
    return sides.choose(held, work, tilesOf(requests[head.request].info, head));
}

Unit* Ledger::takeFromLine(Held& held, Group& group, SluiceStreamReason reason)
{
    Unit& head = units[group.line.head];
    // Only the GPU can decode into the destination buffer. What a thread decodes goes to the output
    // ring, from which it is copied to the buffer.
    if (head.route == Route::direct) {
        const bool hasRoom =
            group.priority >= m_info.reserveAbove || rings.leaveQuarter(held, 0, head.decodedSize);
        if (!hasRoom || !rings.takeOutput(held, head, head.decodedSize)) {
            sides.noteNoRoom(held);
            return nullptr;
        }
        head.outputBase = head.output;
        head.route = Route::output;
    }
    Unit& unit = work.line.take(held, group);
    unit.decodesOnCpu = true;
    unit.reason = uint8_t(reason);
    work.setState(held, unit, UnitState::decoding);
    sides.noteTaken(held, reason);
    return &unit;
}

Unit& Ledger::takeUnit(Held& held)
{
    Unit& unit = units.take();
    work.setState(held, unit, UnitState::reading);
    return unit;
}

void Ledger::finish(Held& held, Unit& unit)
{
    Group& group = groups[unit.group];
    Request& request = requests[unit.request];
    if (unit.state == UnitState::recorded) {
        --group.underWay;
    } else if (unit.route != Route::host) {
        --request.unrecorded;
        --group.unrecorded;
    }
    --request.openUnits;
    --group.openUnits;
    rings.give(held, unit);
    work.setState(held, unit, UnitState::free);
    units.give(unit);
    if (work.toRead(held) != nullptr) held.wakeWorkers(); // room for units was freed
}

void Ledger::finishUnused(Held& held, Unit& unit)
{
    totals.wastedBytes += unit.storedSize;
    finish(held, unit);
}

void Ledger::endIfDone(Held& held, Group& group)
{
    if (group.hasEnded() || group.openUnits != 0 || group.currentRequest != kNone) return;
    if (group.isCancelled())
        group.event.status = SLUICE_ERROR_CANCELLED;
    else if (group.event.status == SLUICE_OK)
        tellIfRecorded(held, group);
    group.life = Life::ended;
    events.addEnded(held, group);
    if (group.signal.semaphore != 0) {
        ++pending.signals;
        held.wakeSubmitter();
    }
    releaseRequests(held, group);
}

void Ledger::releaseRequests(Held& held, Group& group)
{
    while (group.firstRequest != kNone) {
        Request& request = requests[group.firstRequest];
        group.firstRequest = request.next;
        if (request.info.source != SLUICE_STREAM_FROM_MEMORY) files.drop(held, request.info.file);
        requests.give(request);
    }
}

void Ledger::tellIfRecorded(Held& held, Group& group)
{
    if ((group.flags & SLUICE_STREAM_TELL_RECORDED) == 0 || group.unrecorded != 0 ||
        group.currentRequest != kNone || group.event.value == 0 ||
        group.recordedEvent != RecordedEvent::none || group.hasEnded())
        return;
    events.addRecorded(held, group);
}

void Ledger::signalled(Held& held, Group& group)
{
    --pending.signals;
    leave(held, group, Life::signalled);
}

// Frees an ended group once its event was returned and its semaphore, if any, was signalled. life:
// which of these two has just happened (told or signalled).
void Ledger::leave(Held&, Group& group, Life life)
{
    const bool isLast = group.life != Life::ended || group.signal.semaphore == 0;
    group.life = life;
    if (!isLast) return;
    group.handle = 0;
    groups.give(group);
}

} // namespace sluice::stream
