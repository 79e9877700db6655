// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/readers.h"

#include <algorithm>
#include <cstring>

namespace sluice::stream {

namespace {

// The most bytes that a thread reads, in up to kReadsAtOnce reads, between two holds of the lock.
constexpr uint64_t kReadSizeAtOnce = kUnitRead / 2;
// A thread takes this many bytes even while other threads sleep, because reading them takes no
// longer than waking a thread.
constexpr uint64_t kReadSizeForOne = 65536;

} // namespace

// Says what a thread does next, with all that it needs without the lock.
struct Readers::Job {
    enum Kind {
        none,
        openFile,
        read,
        decode
    } kind = none;
    SluiceStreamFile file = nullptr;
    Unit* unit = nullptr;
    const Request* request = nullptr;
    bool isRead = false; // readTogether has read it
    ReadError error;
};

Readers::~Readers()
{
    m_monitor.stopWorkers();
    for (std::thread& thread : m_threads)
        thread.join();
}

void Readers::start()
{
    for (uint32_t i = 0; i < m_info.threads; ++i)
        m_threads.emplace_back([this, i] { runThread(i); });
}

void Readers::pickDecode(Held& held, Job& job, Group& group)
{
    job.kind = Job::decode;
    job.unit = &m_ledger.work.takeDecode(held, group);
    job.request = &m_ledger.requests[job.unit->request];
}

// Decodes come before reads of the same group, because they free memory.
bool Readers::pick(Held& held, Job& job, bool mayDecode)
{
    job.file = m_ledger.files.takeToOpen(held);
    if (job.file != nullptr) {
        job.kind = Job::openFile;
        return true;
    }
    for (;;) {
        Group* reads = m_ledger.units.freeCount() != 0 ? m_ledger.work.toRead(held) : nullptr;
        Group* decodes = mayDecode ? m_ledger.work.toDecode(held) : nullptr;
        if (decodes != nullptr &&
            (reads == nullptr || decodes == reads || decodes->priority >= reads->priority)) {
            pickDecode(held, job, *decodes);
            return true;
        }
        if (reads == nullptr) return false;
        const Cutter::Cut cut = m_cutter.cut(held, *reads, m_ledger.units.nextFree());
        if (reads->currentRequest == kNone) m_ledger.work.endRead(held, *reads);
        m_ledger.tellIfRecorded(held, *reads);
        switch (cut) {
        case Cutter::Cut::made:
            job.kind = Job::read;
            job.unit = &m_ledger.takeUnit(held);
            job.request = &m_ledger.requests[job.unit->request];
            return true;
        case Cutter::Cut::done: m_ledger.endIfDone(held, *reads); break;
        case Cutter::Cut::later:
            if (decodes == nullptr) return false;
            // There is no memory for the most urgent read, and decoding something else frees some.
            pickDecode(held, job, *decodes);
            return true;
        }
    }
}

// Takes several small reads if every thread is busy. Otherwise the other threads would be idle
// meanwhile.
uint32_t Readers::pickSome(Held& held, Job* jobs)
{
    uint32_t count = 0;
    uint64_t size = 0;
    m_cutter.noteRefusedKernels(held);
    while (count < kReadsAtOnce &&
           (count == 0 || size < (held.nobodySleeps() ? kReadSizeAtOnce : kReadSizeForOne))) {
        Job& job = jobs[count];
        job = {};
        if (!pick(held, job, true)) break;
        ++count;
        if (job.kind != Job::read) break;
        size += job.unit->storedSize;
    }
    return count;
}

void Readers::runThread(uint32_t number)
{
    Workspace& workspace = m_decoder.workspace(number);
    Job jobs[kReadsAtOnce];
    bool isLookout = false;
    uint32_t count = 0, reads = 0;
    for (;;) {
        {
            Held held(m_monitor);
            for (uint32_t i = 0; i < reads; ++i)
                finishRead(held, jobs[i]);
            reads = 0;
            if (held.stops()) return;
            const bool hasLooked = isLookout;
            if (isLookout) held.endLookout();
            isLookout = false;
            count = pickSome(held, jobs);
            // If there is more work, the next thread is woken for it.
            if (count != 0 &&
                (m_ledger.work.toRead(held) != nullptr || m_ledger.work.toDecode(held) != nullptr ||
                 m_ledger.files.hasToOpen(held)))
                held.wakeWorkers();
            if (count == 0 && held.maySleep()) {
                isLookout = !hasLooked && held.beginLookout();
                if (!isLookout) held.sleep();
            }
        }
        if (isLookout) m_monitor.lookOut();
        if (count > 1 && m_system.readsTogether()) readTogether(jobs, count);
        for (; reads < count && jobs[reads].kind == Job::read; ++reads)
            readUnit(jobs[reads]);
        if (reads == count) continue;
        // The units that were read continue now, and do not wait until this thread has decoded
        // something.
        if (reads != 0) {
            Held held(m_monitor);
            for (uint32_t i = 0; i < reads; ++i)
                finishRead(held, jobs[i]);
        }
        work(jobs[reads], &workspace);
        reads = 0;
    }
}

uint32_t Readers::pump(uint32_t jobs)
{
    uint32_t done = 0;
    for (; done < jobs; ++done) {
        Job job;
        Workspace* workspace = nullptr;
        bool isPicked = false;
        {
            Held held(m_monitor);
            workspace = m_info.threads == 0 ? m_decoder.take(held) : nullptr;
            m_cutter.noteRefusedKernels(held);
            isPicked = pick(held, job, workspace != nullptr);
        }
        if (isPicked) work(job, workspace);
        Held held(m_monitor);
        if (workspace != nullptr) m_decoder.give(held, *workspace);
        if (!isPicked) break;
    }
    return done;
}

void Readers::work(Job& job, Workspace* workspace)
{
    switch (job.kind) {
    case Job::openFile: {
        job.file->open();
        Held held(m_monitor);
        m_ledger.files.addOpened(held, job.file);
        m_ledger.events.add(held);
        break;
    }
    case Job::read: {
        readUnit(job);
        Held held(m_monitor);
        finishRead(held, job);
        break;
    }
    case Job::decode: {
        const BadTile bad = m_decoder.decode(*job.unit, job.request->info, *workspace,
                                             m_ledger.totals.bytesDecoded);
        Held held(m_monitor);
        finishDecode(held, job, bad);
        break;
    }
    case Job::none: break;
    }
}

// Reads all jobs that need only one read of the system each, all at the same time. If such a read
// does not bring all bytes, for whatever reason, readUnit reads them again.
void Readers::readTogether(Job* jobs, uint32_t count)
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
        if (of[i]->isRead) m_ledger.totals.bytesRead += wanted[i];
    }
}

// Returns the number of requested bytes, or 0 if the job needs more than one read.
uint64_t Readers::asOneRead(const Job& job, Read& read, uint64_t& needed) const
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

void Readers::readUnit(Job& job)
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
    m_ledger.totals.bytesRead += unit.size;
}

// Contiguous tiles, which writers normally make, take a single read. In the ring the tiles are
// always contiguous, even if the file has gaps.
void Readers::readTiles(Job& job)
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
        // No padding is read after the last tile, which may end the file.
        const TileRecord& last = tile[-1];
        const uint64_t wanted = last.offset + last.storedSize - first->offset;
        // Bytes before a later read belong to tiles that have been read already.
        const uint64_t before = place == unit.sourceBase ? place - unit.source : 0;
        job.error = request.file->readInto(first->offset, ringPlace(m_info.source, place), wanted,
                                           before, unit.sourceEnd - place - wanted);
        m_ledger.totals.bytesRead += wanted;
        place += size;
    }
}

void Readers::finishRead(Held& held, Job& job)
{
    Unit& unit = *job.unit;
    Group& group = m_ledger.groups[unit.group];
    Request& request = m_ledger.requests[unit.request];
    const bool isArchive = request.info.source == SLUICE_STREAM_FROM_ARCHIVE;
    if (job.error.status != SLUICE_OK) {
        m_ledger.fail(
            held, group, request,
            {job.error.status, kNone, SLUICE_TILE_OK, job.error.osError, job.error.offset});
        m_ledger.finish(held, unit);
    } else if (group.isCancelled()) {
        m_ledger.finishUnused(held, unit);
    } else if (unit.route == Route::host && !isArchive) {
        m_ledger.finish(held, unit);
    } else if (unit.decodesOnCpu) {
        m_ledger.work.addDecode(held, unit);
    } else {
        m_ledger.work.addReady(held, unit);
    }
    m_ledger.endIfDone(held, group);
}

void Readers::finishDecode(Held& held, Job& job, const BadTile& bad)
{
    Unit& unit = *job.unit;
    Group& group = m_ledger.groups[unit.group];
    if (bad.number != kNone) {
        m_ledger.failTile(held, unit, bad.number, bad.status);
        m_ledger.finish(held, unit);
    } else if (group.isCancelled()) {
        m_ledger.finishUnused(held, unit);
    } else if (unit.route == Route::host) {
        m_ledger.finish(held, unit);
    } else {
        m_ledger.work.addReady(held, unit);
    }
    m_ledger.endIfDone(held, group);
}

} // namespace sluice::stream
