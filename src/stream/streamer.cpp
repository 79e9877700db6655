// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/streamer.h"

#include <algorithm>
#include <climits>
#include <new>

using namespace sluice::stream;

namespace {

constexpr uint32_t kDefaultUnits = 1024;
constexpr uint64_t kMaxRequestSize = uint64_t(1) << 48;
constexpr uint32_t kPumpBenches = 16; // threads of the engine's that may decode at a time

uint64_t groupNumber(SluiceStreamGroup handle) { return handle & (kMaxGroups - 1); }

} // namespace

SluiceStreamerInfo sluice::stream::withDefaults(SluiceStreamerInfo info)
{
    if (info.maxUnits == 0) info.maxUnits = kDefaultUnits;
    if (info.maxBatchTiles == 0) info.maxBatchTiles = SLUICE_STREAM_BATCH_TILES;
    if (info.gstdTilesAtOnce == 0) info.gstdTilesAtOnce = SLUICE_STREAM_GSTD_TILES;
    if (info.maxFilteredSize == 0) info.maxFilteredSize = SLUICE_STREAM_FILTERED_SIZE;
    return info;
}

bool sluice::stream::isGpu(SluiceContext context)
{
    SluiceContextInfo about = {};
    return sluiceGetContextInfo(context, &about) == SLUICE_OK &&
           about.backend != SLUICE_BACKEND_CPU;
}

namespace {

// Each batch under way has a part of control and of results.
uint64_t slotSize(const SluiceStreamMemory& memory, uint32_t batches)
{
    return memory.buffer.size / batches / kSlotAlignment * kSlotAlignment;
}

} // namespace

SluiceStreamer_T::SluiceStreamer_T(const SluiceStreamerInfo& info, const System& system)
    : m_info(withDefaults(info)), m_system(system), m_gpuDecodes(isGpu(info.context)),
      m_source(info.source.buffer.size, kMinSourceBlock, kUnitSource),
      m_output(info.output.buffer.size, kMinOutputBlock, kUnitOutput),
      m_controlSlot(slotSize(m_info.control, m_info.maxBatches)),
      m_resultsSlot(slotSize(m_info.results, m_info.maxBatches))
{
    m_groups.resize(m_info.maxGroups);
    m_requests.resize(m_info.maxRequests);
    m_units.resize(m_info.maxUnits);
    const auto chain = [](auto& list, uint32_t& first) {
        for (uint32_t i = uint32_t(list.size()); i-- != 0; first = i)
            list[i].next = first;
    };
    chain(m_groups, m_freeGroup);
    chain(m_requests, m_freeRequest);
    chain(m_units, m_freeUnit);
    m_freeRequests = m_info.maxRequests;
    m_toRead.reserve(m_groups.size());
    m_toDecode.reserve(m_groups.size());
    m_toRecord.reserve(m_groups.size());
    m_recordedEvents.reserve(m_groups.size());
    m_batches.resize(m_info.maxBatches);
    for (Batch& batch : m_batches) {
        for (TargetBatch& target : batch.targets)
            target.tiles.reserve(m_gpuDecodes ? m_info.maxBatchTiles : 0);
        batch.unitTargets.reserve(m_info.maxUnits);
        batch.unitFirstTile.reserve(m_info.maxUnits);
    }
    for (std::vector<uint32_t>& statuses : m_statuses)
        statuses.resize(m_info.maxBatchTiles);
    m_benches.resize(m_info.threads != 0 ? m_info.threads : kPumpBenches);
}

SluiceStatus SluiceStreamer_T::start()
{
    SluiceStatus status = sluiceCreateCpuContext(&m_cpuContext);
    if (status == SLUICE_OK && m_info.gpu != nullptr) {
        // The handle is the caller's, whose const says that the streamer does not end it.
        uint32_t id = kNone;
        status = const_cast<SluiceStreamGpu*>(m_info.gpu)->begin(m_info.maxBatches, id);
        if (status == SLUICE_OK) m_gpuId = id;
    }
    if (status != SLUICE_OK) return status;
    m_eventFd = openEvent();
    for (Bench& bench : m_benches) {
        // Memory that is never touched is never taken from the system.
        for (std::unique_ptr<uint8_t[]>* part :
             {&bench.control, &bench.results, &bench.scratch, &bench.bounce})
            part->reset(new uint8_t[kBenchSize]);
    }
    for (uint32_t i = 0; i < m_info.threads; ++i)
        m_threads.emplace_back([this, i] { runThread(i); });
    return SLUICE_OK;
}

SluiceStreamer_T::~SluiceStreamer_T()
{
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_stops = true;
    }
    m_work.notify_all();
    for (std::thread& thread : m_threads)
        thread.join();
    for (const SluiceStreamFile file : m_files)
        delete file;
    if (m_gpuId != kNone) const_cast<SluiceStreamGpu*>(m_info.gpu)->end(m_gpuId);
    sluiceDestroyContext(m_cpuContext);
    if (m_eventFd >= 0) closeEvent(m_eventFd);
}

// --- Submission ---

SluiceStatus SluiceStreamer_T::checkRequest(const SluiceStreamRequest& request) const
{
    uint64_t available = UINT64_MAX;
    if (request.source == SLUICE_STREAM_FROM_MEMORY) {
        if (request.memory == nullptr || request.offset != 0) return SLUICE_ERROR_ARGUMENT;
    } else if (request.source == SLUICE_STREAM_FROM_ARCHIVE ||
               request.source == SLUICE_STREAM_FROM_FILE) {
        if (request.file == nullptr || request.file->owner != this || request.file->isGivenUp)
            return SLUICE_ERROR_ARGUMENT;
        const auto state = request.file->state.load(std::memory_order_acquire);
        if (state == SluiceStreamFile_T::opening) return SLUICE_ERROR_NOT_READY;
        if (state == SluiceStreamFile_T::failed) return SLUICE_ERROR_IO;
        available = request.file->size;
        if (request.source == SLUICE_STREAM_FROM_ARCHIVE) {
            if (!request.file->isArchive || request.asset >= request.file->archive.assetCount)
                return SLUICE_ERROR_ARGUMENT;
            available = request.file->tilesOf(request.asset).size;
        }
    } else {
        return SLUICE_ERROR_ARGUMENT;
    }
    if (request.size > kMaxRequestSize || request.offset > available ||
        request.size > available - request.offset)
        return SLUICE_ERROR_ARGUMENT;
    switch (request.target) {
    case SLUICE_STREAM_TO_HOST:
        return request.size == 0 || request.host != nullptr ? SLUICE_OK : SLUICE_ERROR_ARGUMENT;
    case SLUICE_STREAM_TO_BUFFER:
        return request.buffer.size == request.size && request.buffer.handle != 0 &&
                       request.buffer.offset <= UINT64_MAX - request.size
                   ? SLUICE_OK
                   : SLUICE_ERROR_ARGUMENT;
    case SLUICE_STREAM_TO_IMAGE:
        return checkImage(request, m_info.gpu != nullptr && m_info.gpu->hasImages());
    default: return SLUICE_ERROR_ARGUMENT;
    }
}

SluiceStatus SluiceStreamer_T::checkSignal(const SluiceStreamSync& signal, uint32_t& slot)
{
    uint32_t unused = kNone;
    slot = kNone;
    for (uint32_t i = 0; i < kSignallers; ++i) {
        if (m_signallers[i].semaphore == signal.semaphore) slot = i;
        if (m_signallers[i].head == kNone && unused == kNone) unused = i;
    }
    // Once all have signalled, a new semaphore may have the handle.
    if (slot != kNone && m_signallers[slot].head != kNone)
        return signal.value > m_signallers[slot].lastSubmitted ? SLUICE_OK : SLUICE_ERROR_ARGUMENT;
    if (slot != kNone) return SLUICE_OK;
    slot = unused;
    return unused != kNone ? SLUICE_OK : SLUICE_ERROR_NOT_READY;
}

SluiceStatus SluiceStreamer_T::check(const SluiceStreamGroupInfo& info)
{
    if (info.requests == nullptr || info.requestCount == 0 ||
        info.requestCount > m_info.maxRequests ||
        (info.flags & ~uint32_t(SLUICE_STREAM_TELL_RECORDED)) != 0)
        return SLUICE_ERROR_ARGUMENT;
    if (!hasSemaphores() && (info.wait.semaphore != 0 || info.signal.semaphore != 0))
        return SLUICE_ERROR_UNSUPPORTED;
    for (uint32_t i = 0; i < info.requestCount; ++i) {
        const SluiceStatus status = checkRequest(info.requests[i]);
        if (status != SLUICE_OK) return status;
    }
    return SLUICE_OK;
}

// As mayTake: groups of low priority leave a quarter to others, but the only one is always taken.
bool SluiceStreamer_T::hasRoom(const SluiceStreamGroupInfo& info) const
{
    if (m_freeGroup == kNone || m_freeRequests < info.requestCount) return false;
    if (info.priority >= m_info.reserveAbove || m_groupsUsed == 0) return true;
    return m_groupsUsed < m_info.maxGroups - m_info.maxGroups / 4 &&
           m_freeRequests - info.requestCount >= m_info.maxRequests / 4;
}

SluiceStatus SluiceStreamer_T::submit(const SluiceStreamGroupInfo& info, SluiceStreamGroup& handle)
{
    const Locked locked(*this);
    SluiceStatus status = check(info);
    uint32_t signaller = kNone;
    if (status == SLUICE_OK && info.signal.semaphore != 0)
        status = checkSignal(info.signal, signaller);
    if (status != SLUICE_OK) return status;
    if (!hasRoom(info)) return SLUICE_ERROR_NOT_READY;

    const uint32_t number = m_freeGroup;
    Group& group = m_groups[number];
    m_freeGroup = group.next;
    group = Group();
    group.priority = info.priority;
    group.sequence = ++m_sequence;
    group.handle = handle = group.sequence * kMaxGroups + number;
    group.flags = info.flags;
    group.wait = info.wait;
    group.signal = info.signal;
    group.requestCount = info.requestCount;
    group.event = {
        SLUICE_STREAM_END, SLUICE_OK, handle, nullptr, info.user, info.tag, 0, kNone, kNone,
        SLUICE_TILE_OK,    0,         0,      0};
    for (uint32_t i = info.requestCount; i-- != 0;) {
        const uint32_t slot = m_freeRequest;
        Request& request = m_requests[slot];
        m_freeRequest = request.next;
        request = Request();
        request.info = info.requests[i];
        // From here on offsets count in what the tiles decode to, which assets may share.
        if (request.info.source == SLUICE_STREAM_FROM_ARCHIVE)
            request.info.offset += request.info.file->tilesOf(request.info.asset).tilesOffset;
        request.index = i;
        request.next = group.firstRequest;
        group.firstRequest = slot;
        if (request.info.source != SLUICE_STREAM_FROM_MEMORY) ++request.info.file->groups;
    }
    group.currentRequest = group.firstRequest;
    m_freeRequests -= info.requestCount;
    ++m_groupsUsed;
    if (signaller != kNone) {
        Signaller& queue = m_signallers[signaller];
        queue.semaphore = info.signal.semaphore;
        queue.lastSubmitted = info.signal.value;
        if (queue.head == kNone)
            queue.head = number;
        else
            m_groups[queue.tail].nextSignal = number;
        queue.tail = number;
    }
    if (info.wait.semaphore != 0) {
        group.next = m_waiting;
        m_waiting = number;
        ++m_pending.waits;
        wakeSubmitter();
    } else {
        startGroup(group);
    }
    return SLUICE_OK;
}

void SluiceStreamer_T::startGroup(Group& group)
{
    m_toRead.insert(&group);
    wakeWorkers();
}

SluiceStreamer_T::Group* SluiceStreamer_T::find(SluiceStreamGroup handle)
{
    const uint64_t number = groupNumber(handle);
    if (handle == 0 || number >= m_groups.size()) return nullptr;
    Group& group = m_groups[size_t(number)];
    return group.handle == handle ? &group : nullptr;
}

void SluiceStreamer_T::setPriority(SluiceStreamGroup handle, int32_t priority)
{
    const Locked locked(*this);
    Group* group = find(handle);
    if (group == nullptr || group->hasEnded) return;
    group->priority = priority;
    m_toRead.update(group);
    m_toDecode.update(group);
    m_toRecord.update(group);
    wakeWorkers();
}

// --- The end of groups ---

void SluiceStreamer_T::cancel(SluiceStreamGroup handle)
{
    const Locked locked(*this);
    Group* group = find(handle);
    if (group != nullptr) cancelGroup(*group);
}

void SluiceStreamer_T::cancelTags(uint64_t mask, uint64_t value)
{
    const Locked locked(*this);
    for (Group& group : m_groups)
        if (group.handle != 0 && (group.event.tag & mask) == value) cancelGroup(group);
}

// Units that a thread reads or decodes, or that are recorded, end by themselves.
void SluiceStreamer_T::cancelGroup(Group& group)
{
    if (group.hasEnded || group.isCancelled) return;
    const bool isAllUnderWay =
        group.currentRequest == kNone && group.openUnits != 0 && group.underWay == group.openUnits;
    if (isAllUnderWay) { // too late: it ends as it would
        group.isCancelledIfPutBack = true;
        return;
    }
    group.isCancelled = true;
    group.currentRequest = kNone;
    m_toRead.remove(&group);
    m_toDecode.remove(&group);
    m_toRecord.remove(&group);
    for (uint32_t* list : {&group.decodeHead, &group.readyHead}) {
        while (*list != kNone) {
            Unit& unit = m_units[*list];
            *list = unit.next;
            if (unit.state == UnitState::ready) m_readyTiles -= unit.tileCount;
            m_wastedBytes += unit.storedSize;
            finishUnit(unit);
        }
    }
    group.decodeTail = group.readyTail = kNone;
    endIfDone(group);
}

void SluiceStreamer_T::fail(Group& group, Request& request, const Failure& failure)
{
    if (group.event.status == SLUICE_OK || request.index < group.event.firstRequest) {
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

void SluiceStreamer_T::endIfDone(Group& group)
{
    if (group.hasEnded || group.openUnits != 0 || group.currentRequest != kNone) return;
    for (uint32_t* at = &m_waiting; group.wait.semaphore != 0 && *at != kNone;
         at = &m_groups[*at].next) {
        if (*at != indexOf(group)) continue;
        *at = group.next; // it was cancelled before its semaphore came
        --m_pending.waits;
        break;
    }
    if (!group.isCancelled && group.event.status == SLUICE_OK) tellIfRecorded(group);
    group.hasEnded = true;
    if (group.isCancelled) group.event.status = SLUICE_ERROR_CANCELLED;
    group.next = kNone;
    if (m_endedTail == kNone)
        m_endedHead = indexOf(group);
    else
        m_groups[m_endedTail].next = indexOf(group);
    m_endedTail = indexOf(group);
    ++m_pending.events;
    if (group.signal.semaphore != 0) {
        ++m_pending.signals;
        wakeSubmitter();
    }
    releaseRequests(group);
    tellEvent();
}

void SluiceStreamer_T::releaseRequests(Group& group)
{
    while (group.firstRequest != kNone) {
        const uint32_t slot = group.firstRequest;
        Request& request = m_requests[slot];
        group.firstRequest = request.next;
        if (request.info.source != SLUICE_STREAM_FROM_MEMORY) dropFile(request.info.file);
        request.next = m_freeRequest;
        m_freeRequest = slot;
        ++m_freeRequests;
    }
}

// Its events are told and its semaphore is signalled.
void SluiceStreamer_T::releaseGroup(Group& group)
{
    group.handle = 0;
    group.next = m_freeGroup;
    m_freeGroup = indexOf(group);
    --m_groupsUsed;
}

void SluiceStreamer_T::afterUnlock(bool wakes, bool tells, bool submits, SluiceStreamFile dead)
{
    if (wakes) m_work.notify_one();
    if (submits && m_hasSubmitter) m_submitterWork.notify_one();
    if (wakes && m_info.wake != nullptr) m_info.wake(m_info.wakeUser);
    if (tells && m_eventFd >= 0 && !m_isEventTold.exchange(true) && !setEvent(m_eventFd))
        m_isEventTold = false;
    while (dead != nullptr) {
        const SluiceStreamFile next = dead->next;
        delete dead;
        dead = next;
    }
}

// --- Units ---

void SluiceStreamer_T::append(uint32_t& head, uint32_t& tail, Unit& unit)
{
    unit.next = kNone;
    if (tail == kNone)
        head = indexOf(unit);
    else
        m_units[tail].next = indexOf(unit);
    tail = indexOf(unit);
}

uint32_t SluiceStreamer_T::pop(uint32_t& head, uint32_t& tail)
{
    const uint32_t first = head;
    if (first == kNone) return kNone;
    head = m_units[first].next;
    if (head == kNone) tail = kNone;
    return first;
}

void SluiceStreamer_T::makeReady(Unit& unit)
{
    Group& group = m_groups[unit.group];
    unit.state = UnitState::ready;
    if (m_toRecord.empty()) m_readySince = m_recordCalls;
    m_readyTiles += unit.tileCount;
    append(group.readyHead, group.readyTail, unit);
    m_toRecord.insert(&group);
    wakeSubmitter();
}

void SluiceStreamer_T::queueDecode(Unit& unit)
{
    Group& group = m_groups[unit.group];
    unit.state = UnitState::toDecode;
    append(group.decodeHead, group.decodeTail, unit);
    m_toDecode.insert(&group);
    wakeWorkers();
}

void SluiceStreamer_T::freeBlocks(Unit& unit)
{
    if (unit.source != Blocks::kNone) m_source.give(unit.source);
    if (unit.output != Blocks::kNone) m_output.give(unit.output);
    unit.source = unit.output = Blocks::kNone;
}

// The unit is done, in whatever way.
void SluiceStreamer_T::finishUnit(Unit& unit)
{
    Group& group = m_groups[unit.group];
    Request& request = m_requests[unit.request];
    if (unit.state == UnitState::recorded) {
        --group.underWay;
    } else if (unit.route != Route::host) {
        --request.unrecorded;
        --group.unrecorded;
    }
    --request.openUnits;
    --group.openUnits;
    freeBlocks(unit);
    unit.state = UnitState::free;
    unit.next = m_freeUnit;
    m_freeUnit = indexOf(unit);
    --m_unitsUsed;
    if (!m_toRead.empty()) wakeWorkers(); // there is room again
}

// --- Files ---

SluiceStatus SluiceStreamer_T::open(const SluiceStreamOpenInfo& info, SluiceStreamFile& file)
{
    std::unique_ptr<SluiceStreamFile_T> made(
        new (std::nothrow) SluiceStreamFile_T(this, info, m_system, m_info.io));
    if (made == nullptr) return SLUICE_ERROR_OUT_OF_MEMORY;
    const Locked locked(*this);
    made->serial = ++m_fileSerial;
    m_files.push_back(made.get());
    file = made.release();
    file->next = m_toOpen;
    m_toOpen = file;
    wakeWorkers();
    return SLUICE_OK;
}

void SluiceStreamer_T::giveUp(SluiceStreamFile file)
{
    const Locked locked(*this);
    if (file->isGivenUp) return;
    file->isGivenUp = true;
    ++file->groups; // dropFile takes it back
    dropFile(file);
}

void SluiceStreamer_T::dropFile(SluiceStreamFile file)
{
    --file->groups;
    // One that is being opened, or whose event is not told, is deleted afterwards.
    if (!file->isGivenUp || file->groups != 0 || file->isListed) return;
    m_files.erase(std::find(m_files.begin(), m_files.end(), file));
    file->next = m_deadFiles;
    m_deadFiles = file;
}

void SluiceStreamer_T::counters(SluiceStreamCounters& result)
{
    const Locked locked(*this);
    result = {};
    result.groups = m_groupsUsed;
    result.requests = m_info.maxRequests - m_freeRequests;
    for (const Unit& unit : m_units) {
        switch (unit.state) {
        case UnitState::free: break;
        case UnitState::reading: ++result.reading; break;
        case UnitState::toDecode:
        case UnitState::decoding: ++result.decoding; break;
        case UnitState::ready: ++result.ready; break;
        case UnitState::recorded: ++result.recorded; break;
        }
    }
    result.sourceUsed = m_source.used();
    result.outputUsed = m_output.used();
    result.bytesRead = m_bytesRead;
    result.bytesDecoded = m_bytesDecoded;
    result.wastedBytes = m_wastedBytes;
    result.retriedTiles = m_retriedTiles;
    result.floorMilliseconds = float(m_cost.floor());
    for (uint32_t i = 0; i < 4; ++i)
        result.millisecondsPerMiB[i] = float(m_cost.weight(CostKind(kCostGdeflate + i)));
    result.predictionError = float(m_cost.error());
}
