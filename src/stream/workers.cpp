// SPDX-License-Identifier: MIT OR Apache-2.0
// What threads do: open files, read units, decode those of the CPU.
#include "stream/streamer.h"

#include <algorithm>
#include <cstring>

using namespace sluice::stream;

namespace {

// Where a request's byte at `offset` goes, if the CPU puts it there.
uint8_t* hostPlace(const SluiceStreamRequest& request, uint64_t offset)
{
    uint8_t* start =
        request.target == SLUICE_STREAM_TO_HOST
            ? static_cast<uint8_t*>(request.host)
            : reinterpret_cast<uint8_t*>(uintptr_t(request.buffer.handle + request.buffer.offset));
    return start + (offset - request.offset);
}

uint8_t* ringPlace(const SluiceStreamMemory& ring, uint64_t offset)
{
    return static_cast<uint8_t*>(ring.host) + offset;
}

} // namespace

SluiceStreamer_T::Bench* SluiceStreamer_T::takeBench()
{
    for (Bench& bench : m_benches) {
        if (bench.isTaken) continue;
        bench.isTaken = true;
        return &bench;
    }
    return nullptr;
}

void SluiceStreamer_T::pickDecode(Job& job, Group& group)
{
    Unit& unit = m_units[pop(group.decodeHead, group.decodeTail)];
    if (group.decodeHead == kNone) m_toDecode.remove(&group);
    unit.state = UnitState::decoding;
    job.kind = Job::decode;
    job.unit = &unit;
    job.request = &m_requests[unit.request];
}

// Decodes go before reads of the same group, since they give memory back.
bool SluiceStreamer_T::pick(Job& job, bool hasBench)
{
    if (m_toOpen != nullptr) {
        job.kind = Job::openFile;
        job.file = m_toOpen;
        m_toOpen = m_toOpen->next;
        return true;
    }
    for (;;) {
        Group* reads = m_freeUnit != kNone ? m_toRead.top() : nullptr;
        Group* decodes = hasBench ? m_toDecode.top() : nullptr;
        if (decodes != nullptr &&
            (reads == nullptr || decodes == reads || decodes->priority >= reads->priority)) {
            pickDecode(job, *decodes);
            return true;
        }
        if (reads == nullptr) return false;
        Unit& unit = m_units[m_freeUnit];
        const uint32_t next = unit.next;
        const Cut cut = cutUnit(*reads, unit);
        if (reads->currentRequest == kNone) m_toRead.remove(reads);
        tellIfRecorded(*reads);
        if (cut == Cut::made) {
            m_freeUnit = next;
            unit.next = kNone;
            unit.state = UnitState::reading;
            ++m_unitsUsed;
            job.kind = Job::read;
            job.unit = &unit;
            job.request = &m_requests[unit.request];
            return true;
        }
        if (cut == Cut::done) {
            endIfDone(*reads);
            continue;
        }
        if (decodes == nullptr) return false;
        // There is no memory for what is most urgent; decoding something else gives some back.
        pickDecode(job, *decodes);
        return true;
    }
}

// Several small reads at once where every thread has something to do; else the other threads would
// stand by.
uint32_t SluiceStreamer_T::pickSome(Job* jobs)
{
    uint32_t count = 0;
    uint64_t size = 0;
    noteRefusedKernels();
    while (count < kReadsAtOnce &&
           (count == 0 || size < (m_idleThreads == 0 ? kReadSizeAtOnce : kReadSizeForOne))) {
        Job& job = jobs[count];
        job = {};
        if (!pick(job, true)) break;
        ++count;
        if (job.kind != Job::read) break;
        size += job.unit->storedSize;
    }
    return count;
}

// Waits for work for as long as it takes to fall asleep and to be woken.
void SluiceStreamer_T::lookOut() const
{
    const Clock::time_point until = Clock::now() + std::chrono::microseconds(20);
    while (!m_lookoutSeesWork && Clock::now() < until)
        pauseShortly();
}

void SluiceStreamer_T::runThread(uint32_t number)
{
    Bench& bench = m_benches[number];
    Job jobs[kReadsAtOnce];
    bool isLookout = false;
    uint32_t count = 0, reads = 0;
    for (;;) {
        {
            Locked locked(*this);
            for (uint32_t i = 0; i < reads; ++i)
                finishRead(jobs[i]);
            count = reads = 0;
            if (m_stops) return;
            const bool hasLooked = isLookout;
            if (isLookout) m_hasLookout = isLookout = false;
            count = pickSome(jobs);
            // Whoever finds work leaves the rest to the next thread.
            if (count != 0 && (!m_toRead.empty() || !m_toDecode.empty() || m_toOpen != nullptr))
                wakeWorkers();
            // What has ended is told first.
            if (count == 0 && !m_mustTell && !m_mustSubmit && m_deadFiles == nullptr) {
                if (!hasLooked && !m_hasLookout) {
                    m_hasLookout = isLookout = true;
                    m_lookoutSeesWork = false;
                } else {
                    ++m_idleThreads;
                    m_work.wait(locked.lock());
                    --m_idleThreads;
                    m_isWaking = false;
                }
            }
        }
        if (isLookout) lookOut();
        if (count > 1 && m_system.readsTogether()) readTogether(jobs, count);
        for (; reads < count && jobs[reads].kind == Job::read; ++reads)
            readUnit(jobs[reads]);
        if (reads == count) continue;
        // Reads do not wait until something has been decoded.
        if (reads != 0) {
            const Locked locked(*this);
            for (uint32_t i = 0; i < reads; ++i)
                finishRead(jobs[i]);
        }
        work(jobs[reads], &bench);
        reads = 0;
    }
}

uint32_t SluiceStreamer_T::pump(uint32_t jobs)
{
    uint32_t done = 0;
    for (; done < jobs; ++done) {
        Job job;
        Bench* bench = nullptr;
        bool isPicked = false;
        {
            const Locked locked(*this);
            bench = m_threads.empty() ? takeBench() : nullptr;
            noteRefusedKernels();
            isPicked = pick(job, bench != nullptr);
        }
        if (isPicked) work(job, bench);
        const Locked locked(*this);
        if (bench != nullptr) bench->isTaken = false;
        if (!isPicked) break;
    }
    return done;
}

void SluiceStreamer_T::work(Job& job, Bench* bench)
{
    switch (job.kind) {
    case Job::openFile:
        job.file->open();
        finishOpen(job.file);
        break;
    case Job::read:
        readUnit(job);
        {
            const Locked locked(*this);
            finishRead(job);
        }
        break;
    case Job::decode:
        decodeUnit(job, *bench);
        finishDecode(job);
        break;
    case Job::none: break;
    }
}

void SluiceStreamer_T::finishOpen(SluiceStreamFile file)
{
    const Locked locked(*this);
    file->next = m_opened;
    m_opened = file;
    ++m_pending.events;
    tellEvent();
}

// Reads what one read of the system's each can bring, all at the same time. What has not come whole,
// for whatever reason, readUnit reads anew.
void SluiceStreamer_T::readTogether(Job* jobs, uint32_t count)
{
    Read reads[kReadsAtOnce];
    uint64_t needed[kReadsAtOnce] = {}, wanted[kReadsAtOnce] = {};
    Job* of[kReadsAtOnce] = {};
    uint32_t used = 0;
    for (Job* job = jobs; job != jobs + count; ++job) {
        if (job->kind != Job::read) break;
        wanted[used] = asOneRead(*job, reads[used], needed[used]);
        if (wanted[used] != 0) of[used++] = job;
    }
    if (used < 2) return;
    m_system.readMany(reads, used);
    for (uint32_t i = 0; i < used; ++i) {
        of[i]->isRead =
            reads[i].got >= int64_t(needed[i]) && uint64_t(reads[i].got) <= reads[i].size;
        if (of[i]->isRead) m_bytesRead += wanted[i];
    }
}

// The bytes that are wanted; 0: it takes more than one read.
uint64_t SluiceStreamer_T::asOneRead(const Job& job, Read& read, uint64_t& needed) const
{
    const Unit& unit = *job.unit;
    const SluiceStreamRequest& request = job.request->info;
    if (request.source == SLUICE_STREAM_FROM_MEMORY) return 0;
    uint64_t offset = unit.offset, size = unit.size, before = 0, after = 0;
    uint8_t* to = nullptr;
    if (request.source == SLUICE_STREAM_FROM_ARCHIVE) {
        uint32_t count = 0;
        const TileRecord* tile = request.file->records(request.asset, count) + unit.firstTile;
        const TileRecord* const last = tile + unit.tileCount - 1;
        offset = tile->offset;
        for (size = 0; tile != last; ++tile) {
            size += storedRoom(*tile);
            if (tile[1].offset != offset + size) return 0;
        }
        size += last->storedSize;
        to = ringPlace(m_info.source, unit.sourceBase);
        before = unit.sourceBase - unit.source;
        after = unit.sourceEnd - unit.sourceBase - size;
    } else if (unit.route == Route::plain) {
        to = ringPlace(m_info.source, unit.outputBase);
        before = unit.outputBase - unit.source;
        after = unit.sourceEnd - unit.outputBase - size;
    } else {
        to = hostPlace(request, offset);
    }
    return request.file->asOneRead(offset, to, size, before, after, read, needed) ? size : 0;
}

void SluiceStreamer_T::readUnit(Job& job)
{
    const Unit& unit = *job.unit;
    const SluiceStreamRequest& request = job.request->info;
    if (job.isRead) return;
    if (request.source == SLUICE_STREAM_FROM_ARCHIVE) {
        readTiles(job);
        return;
    }
    uint8_t* to = unit.route == Route::plain ? ringPlace(m_info.source, unit.outputBase)
                                             : hostPlace(request, unit.offset);
    if (request.source == SLUICE_STREAM_FROM_MEMORY)
        std::memcpy(to, static_cast<const uint8_t*>(request.memory) + unit.offset,
                    size_t(unit.size));
    else if (unit.route == Route::plain)
        job.error =
            request.file->readInto(unit.offset, to, unit.size, unit.outputBase - unit.source,
                                   unit.sourceEnd - unit.outputBase - unit.size);
    else
        job.error = request.file->readInto(unit.offset, to, unit.size, 0, 0);
    m_bytesRead += unit.size;
}

// Tiles that lie one after the other, as writers put them, are one read. In the ring there are no
// gaps, whatever the file has.
void SluiceStreamer_T::readTiles(Job& job)
{
    const Unit& unit = *job.unit;
    const SluiceStreamRequest& request = job.request->info;
    uint32_t count = 0;
    const TileRecord* tile = request.file->records(request.asset, count) + unit.firstTile;
    const TileRecord* end = tile + unit.tileCount;
    uint64_t place = unit.sourceBase;
    while (tile != end && job.error.status == SLUICE_OK) {
        const TileRecord* first = tile;
        uint64_t size = 0;
        for (; tile != end && tile->offset == first->offset + size; ++tile)
            size += storedRoom(*tile);
        // No padding is read after the last of them, which may end the file.
        const TileRecord& last = tile[-1];
        const uint64_t wanted = last.offset + last.storedSize - first->offset;
        // Before a later one lie tiles that have been read.
        const uint64_t before = place == unit.sourceBase ? place - unit.source : 0;
        job.error = request.file->readInto(first->offset, ringPlace(m_info.source, place), wanted,
                                           before, unit.sourceEnd - place - wanted);
        m_bytesRead += wanted;
        place += size;
    }
}

// It is called with the lock held.
void SluiceStreamer_T::finishRead(Job& job)
{
    Unit& unit = *job.unit;
    Group& group = m_groups[unit.group];
    Request& request = m_requests[unit.request];
    const bool isArchive = request.info.source == SLUICE_STREAM_FROM_ARCHIVE;
    if (job.error.status != SLUICE_OK) {
        fail(group, request,
             {job.error.status, kNone, SLUICE_TILE_OK, job.error.osError, job.error.offset});
        finishUnit(unit);
    } else if (group.isCancelled) {
        m_wastedBytes += unit.storedSize;
        finishUnit(unit);
    } else if (unit.route == Route::host && !isArchive) {
        finishUnit(unit);
    } else if (unit.decodesOnCpu) {
        queueDecode(unit);
    } else {
        makeReady(unit);
    }
    endIfDone(group);
}

// Decodes one tile, whose stored bytes are at `source` in the ring. False: the status says why.
bool SluiceStreamer_T::decodeTile(const Job& job, uint32_t number, uint64_t source,
                                  const SluiceArchiveAsset& asset, Bench& bench, uint32_t& status)
{
    const Unit& unit = *job.unit;
    const SluiceStreamRequest& request = job.request->info;
    uint32_t count = 0;
    const TileRecord* tiles = request.file->records(request.asset, count) + unit.firstTile;
    const TileRecord& tile = tiles[number];
    // The host gets what is wanted of the tile, a ring all of it.
    const bool isHost = unit.route == Route::host;
    const uint64_t tileEnd = tile.outputOffset + tile.size;
    const uint64_t begin = isHost ? std::max(tile.outputOffset, unit.offset) : tile.outputOffset;
    const uint64_t end = isHost ? std::min(tileEnd, unit.offset + unit.size) : tileEnd;
    uint8_t* wanted = nullptr;
    uint8_t* to = bench.bounce.get();
    if (isHost) {
        wanted = hostPlace(request, begin);
        if (end - begin == tile.size && reinterpret_cast<uintptr_t>(wanted) % 16 == 0) to = wanted;
    } else {
        wanted =
            ringPlace(m_info.output, unit.outputBase + tile.outputOffset - tiles[0].outputOffset);
        if (reinterpret_cast<uintptr_t>(wanted) % (isPlainFloat(tile) ? kFloatAlignment : 4) == 0)
            to = wanted;
    }
    const bool isBounced = to != wanted;
    const auto copyBounced = [&] {
        std::memcpy(wanted, to + (begin - tile.outputOffset), size_t(end - begin));
    };
    if (isBounced && bench.bouncedFile == request.file->serial && bench.bouncedTile == &tile) {
        copyBounced();
        return true;
    }

    const SluiceArchiveTile record = archiveTileOf(tile);
    SluiceTile one = {};
    SluiceTilesInfo info = {};
    const auto memory = [](void* bytes, uint64_t size) {
        return SluiceBuffer{uint64_t(reinterpret_cast<uintptr_t>(bytes)), 0, size};
    };
    info.tiles = &one;
    info.tileCount = 1;
    info.sourceHost = ringPlace(m_info.source, source);
    info.source = memory(ringPlace(m_info.source, source), tile.storedSize);
    info.destination = memory(to, tile.size);
    info.controlHost = bench.control.get();
    info.control = memory(info.controlHost, kBenchSize);
    info.resultsHost = bench.results.get();
    info.results = memory(info.resultsHost, kBenchSize);
    info.scratch = memory(bench.scratch.get(), kBenchSize);
    status = SLUICE_TILE_INTERNAL;
    if (isBounced) bench.bouncedFile = 0;
    SluiceStatus called = sluiceGetArchiveTile(&asset, &record, 0, 0, &one);
    if (called == SLUICE_OK) called = sluicePrepareTiles(m_cpuContext, &info);
    if (called == SLUICE_OK) called = sluiceCmdTiles(m_cpuContext, nullptr, &info);
    if (called == SLUICE_OK) called = sluiceGetTileResults(&info, &status, nullptr);
    if (called != SLUICE_OK || status != SLUICE_TILE_OK) return false;
    m_bytesDecoded += tile.size;
    if (isBounced) {
        bench.bouncedFile = request.file->serial;
        bench.bouncedTile = &tile;
        copyBounced();
    }
    return true;
}

void SluiceStreamer_T::decodeUnit(Job& job, Bench& bench)
{
    const Unit& unit = *job.unit;
    const SluiceStreamRequest& request = job.request->info;
    const SluiceArchiveAsset asset = request.file->filtersOf(request.asset);
    uint32_t count = 0;
    const TileRecord* tiles = request.file->records(request.asset, count) + unit.firstTile;
    uint64_t source = unit.sourceBase;
    for (uint32_t i = 0; i < unit.tileCount && job.badTile == kNone; ++i) {
        if (!decodeTile(job, i, source, asset, bench, job.badStatus))
            job.badTile = unit.firstTile + i;
        source += storedRoom(tiles[i]);
    }
}

void SluiceStreamer_T::finishDecode(Job& job)
{
    const Locked locked(*this);
    Unit& unit = *job.unit;
    Group& group = m_groups[unit.group];
    Request& request = m_requests[unit.request];
    if (job.badTile != kNone) {
        uint32_t count = 0;
        const TileRecord* records = request.info.file->records(request.info.asset, count);
        fail(group, request,
             {SLUICE_ERROR_CHECKSUM, job.badTile, job.badStatus, 0, records[job.badTile].offset});
        finishUnit(unit);
    } else if (group.isCancelled || unit.route == Route::host) {
        if (group.isCancelled) m_wastedBytes += unit.storedSize;
        finishUnit(unit);
    } else {
        makeReady(unit);
    }
    endIfDone(group);
}
