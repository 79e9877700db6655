// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/readers.h"

#include <algorithm>
#include <cstring>

namespace sluice::stream {

namespace {

// While a thread holds the lock, it picks at most kReadsAtOnce units to read, and stops once they
// have this many bytes together.
constexpr uint64_t kReadSizeAtOnce = kUnitRead / 2;
// A thread takes this many bytes even while other threads sleep, because reading them takes no
// longer than waking a thread.
constexpr uint64_t kReadSizeForOne = 65536;

// Returns where the bytes of a unit without tiles begin in the source ring.
uint64_t plainPlace(const Unit& unit)
{
    return unit.route == Route::plain ? unit.outputBase : unit.sourceBase;
}

} // namespace

// A thread's next task, with all data that it needs while it does not hold the lock.
struct Readers::Job {
    enum Kind {
        none,
        openFile,
        records,
        read,
        decode
    } kind = none;
    SluiceStreamFile file = nullptr;
    uint32_t asset = 0; // whose records are read
    Unit* unit = nullptr;
    const Request* request = nullptr;
    bool isRead = false; // readTogether has read it
    ReadError error;
    UnitCosts costs; // of a unit to decode or transcode; only if both sides decode
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

void Readers::pickDecode(Held&, Job& job, Unit& unit)
{
    job.kind = Job::decode;
    job.unit = &unit;
    job.request = &m_ledger.requests[unit.request];
}

bool Readers::pickFromLine(Held& held, Job& job, Group& group, SluiceStreamReason reason)
{
    Unit* const unit = m_ledger.takeFromLine(held, group, reason);
    if (unit != nullptr) pickDecode(held, job, *unit);
    return unit != nullptr;
}

// Returns the group of the line (units that the GPU or a thread may decode) from which a thread is
// to take a unit now; NULL if there is none.
Group* Readers::lineFor(Held& held, SluiceStreamReason& reason) const
{
    Group* const top = m_ledger.sides.areBoth() ? m_ledger.work.line.top(held) : nullptr;
    if (top == nullptr) return nullptr;
    const SideChoice choice = m_ledger.chooseSide(held);
    reason = choice.cpuReason;
    if (!choice.cpu) return nullptr;
    // If the GPU takes the most urgent units, a thread takes one that is not in the next batch.
    Group* const later =
        choice.gpu ? m_ledger.work.line.later(held, m_ledger.sides.unitsOfBatch(held)) : nullptr;
    return later != nullptr ? later : top;
}

// Picks a job that reads records which the group needs. Returns false if other threads read all of
// these records.
bool Readers::pickRecords(Held& held, Job& job, Group& group)
{
    const Request* const request = m_cutter.takeRecords(held, group);
    if (request == nullptr) {
        const SluiceStreamRequest& next = m_ledger.requests[group.currentRequest].info;
        m_ledger.work.park(held, group, next.file->tileRecords.extentOf(next.asset));
        return false;
    }
    job.kind = Job::records;
    job.file = request->info.file;
    job.asset = request->info.asset;
    // The group may end before the records are read, so the job keeps the file open by itself.
    m_ledger.files.use(held, job.file);
    return true;
}

// Picks the next job, and returns false if there is nothing to do. Decodes come before reads of the
// same group, because they free memory.
bool Readers::pick(Held& held, Job& job, bool mayDecode)
{
    job.file = m_ledger.files.takeToOpen(held);
    if (job.file != nullptr) {
        job.kind = Job::openFile;
        return true;
    }
    for (uint32_t parked = 0;;) {
        Group* reads = m_ledger.units.freeCount() != 0 ? m_ledger.work.toRead(held) : nullptr;
        SluiceStreamReason reason = SLUICE_STREAM_CPU_SOONER;
        Group* line = mayDecode ? lineFor(held, reason) : nullptr;
        Group* decodes = mayDecode ? m_ledger.work.toDecode(held) : nullptr;
        const auto isFirst = [](const Group* one, const Group* other) {
            return one != nullptr &&
                   (other == nullptr || one == other || one->priority >= other->priority);
        };
        // Units that only the CPU decodes come before units in the line, which the GPU can decode,
        // too.
        if (!isFirst(decodes, line) && isFirst(line, reads) &&
            pickFromLine(held, job, *line, reason))
            return true;
        if (isFirst(decodes, reads)) {
            pickDecode(held, job, m_ledger.work.takeDecode(held, *decodes));
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
        case Cutter::Cut::records:
            if (pickRecords(held, job, *reads)) return true;
            // Returns without a job now and then, so that the caller releases the lock: any number
            // of groups may wait for records.
            if (++parked == kParkedAtOnce) return true;
            break;
        case Cutter::Cut::later:
            // There is no memory for the most urgent read, and decoding something else frees some.
            if (decodes == nullptr)
                return line != nullptr && pickFromLine(held, job, *line, reason);
            pickDecode(held, job, m_ledger.work.takeDecode(held, *decodes));
            return true;
        }
    }
}

// Picks up to kReadsAtOnce jobs, mostly small reads, and returns their number. If other threads
// sleep, it stops at kReadSizeForOne bytes, and leaves the other reads to them.
uint32_t Readers::pickSome(Held& held, Job* jobs)
{
    uint32_t count = 0;
    uint64_t size = 0;
    m_ledger.sides.noteKernels(held, m_ledger.work);
    while (count < kReadsAtOnce &&
           (count == 0 || size < (held.nobodySleeps() ? kReadSizeAtOnce : kReadSizeForOne))) {
        Job& job = jobs[count];
        job = {};
        if (!pick(held, job, m_ledger.sides.mayDecode(held, m_ledger.work))) break;
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
            SluiceStreamReason reason = SLUICE_STREAM_CPU_SOONER;
            const bool hasLooked = isLookout;
            if (isLookout) held.endLookout();
            isLookout = false;
            count = pickSome(held, jobs);
            // If there is more work, the next thread is woken for it.
            if (count != 0 &&
                (m_ledger.work.toRead(held) != nullptr || m_ledger.work.toDecode(held) != nullptr ||
                 m_ledger.files.hasToOpen(held) || lineFor(held, reason) != nullptr))
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
            m_ledger.sides.noteKernels(held, m_ledger.work);
            isPicked = pick(held, job,
                            workspace != nullptr && m_ledger.sides.mayDecode(held, m_ledger.work));
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
    case Job::records:
        job.file->readRecords(job.asset);
        finishRecords(job);
        break;
    case Job::read: {
        readUnit(job);
        Held held(m_monitor);
        finishRead(held, job);
        break;
    }
    case Job::decode: {
        CpuDecoder::Done done;
        const BadTile bad = m_decoder.decode(*job.unit, job.request->info, *workspace, done);
        m_ledger.totals.bytesDecoded += done.bytes;
        Held held(m_monitor);
        finishDecode(held, job, bad, done);
        break;
    }
    case Job::none: break;
    }
}

// Reads all jobs that need only a single system call, all at the same time. If such a read brings
// too few bytes, for whatever reason, readUnit reads the job again.
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

// If a single read can do the job, describes it in `read`, sets `needed` to the least number of
// bytes that it must return, and returns the number of requested bytes. Otherwise returns 0.
uint64_t Readers::asOneRead(const Job& job, Read& read, uint64_t& needed) const
{
    const Unit& unit = *job.unit;
    const SluiceStreamRequest& request = job.request->info;
    if (request.source == SLUICE_STREAM_FROM_MEMORY) return 0;
    uint64_t offset = unit.offset, size = unit.size, before = 0, after = 0;
    uint8_t* to = nullptr;
    if (request.source == SLUICE_STREAM_FROM_ARCHIVE) {
        const TileRecord* tile = tilesOf(request, unit);
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
    } else if (unit.route != Route::host) {
        to = ringPlace(m_info.source, plainPlace(unit));
        before = plainPlace(unit) - unit.source;
        after = unit.sourceEnd - plainPlace(unit) - size;
    } else {
        to = hostPlace(request, offset);
    }
    return request.file->asOneRead(offset, to, size, before, after, read, needed) ? size : 0;
}

void Readers::readUnit(Job& job)
{
    const Unit& unit = *job.unit;
    const SluiceStreamRequest& request = job.request->info;
    if (m_ledger.sides.areBoth()) {
        const TileRecord* tiles = tilesOf(request, unit);
        for (uint32_t i = 0; i < unit.tileCount; ++i)
            job.costs.add(tiles[i]);
        if (unit.isTranscoded) job.costs.add(request.image, unit);
    }
    if (job.isRead) return;
    if (request.source == SLUICE_STREAM_FROM_ARCHIVE) {
        readTiles(job);
        return;
    }
    const bool isForRing = unit.route != Route::host;
    const uint64_t place = plainPlace(unit);
    uint8_t* to = isForRing ? ringPlace(m_info.source, place) : hostPlace(request, unit.offset);
    if (request.source == SLUICE_STREAM_FROM_MEMORY)
        std::memcpy(to, static_cast<const uint8_t*>(request.memory) + unit.offset,
                    size_t(unit.size));
    else if (isForRing)
        job.error = request.file->readInto(unit.offset, to, unit.size, place - unit.source,
                                           unit.sourceEnd - place - unit.size);
    else
        job.error = request.file->readInto(unit.offset, to, unit.size, 0, 0);
    m_ledger.totals.bytesRead += unit.size;
}

// Reads a unit's tiles. Contiguous tiles, which writers normally make, take a single read. In the
// ring the tiles are always contiguous, even if the file has gaps.
void Readers::readTiles(Job& job)
{
    const Unit& unit = *job.unit;
    const SluiceStreamRequest& request = job.request->info;
    const TileRecord* tile = tilesOf(request, unit);
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
        // Only the first read may overwrite bytes before its destination. Before a later read lie
        // tiles that have been read already.
        const uint64_t before = place == unit.sourceBase ? place - unit.source : 0;
        job.error = request.file->readInto(first->offset, ringPlace(m_info.source, place), wanted,
                                           before, unit.sourceEnd - place - wanted);
        m_ledger.totals.bytesRead += wanted;
        place += size;
    }
}

void Readers::finishRecords(Job& job)
{
    Extent& extent = job.file->tileRecords.extentOf(job.asset);
    bool hasMore = false;
    {
        Held held(m_monitor);
        extent.state = extent.error.status == SLUICE_OK ? Extent::ready : Extent::failed;
        hasMore = m_ledger.work.unpark(held, extent);
    }
    while (hasMore) {
        Held held(m_monitor);
        hasMore = m_ledger.work.unpark(held, extent);
    }
    Held held(m_monitor);
    m_ledger.files.drop(held, job.file);
}

void Readers::finishRead(Held& held, Job& job)
{
    Unit& unit = *job.unit;
    Group& group = m_ledger.groups[unit.group];
    Request& request = m_ledger.requests[unit.request];
    SluiceStreamReason reason = SLUICE_STREAM_CPU_SOONER;
    const bool isArchive = request.info.source == SLUICE_STREAM_FROM_ARCHIVE;
    if ((isArchive || unit.isTranscoded) && m_ledger.sides.areBoth())
        m_ledger.sides.estimate(held, unit, job.costs);
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
        if (isDecodedByGpu(unit) && m_ledger.work.line.empty(held)) m_ledger.sides.noteLine(held);
        m_ledger.work.addReady(held, unit);
        if (lineFor(held, reason) != nullptr) held.wakeWorkers();
    }
    m_ledger.endIfDone(held, group);
}

void Readers::finishDecode(Held& held, Job& job, const BadTile& bad, const CpuDecoder::Done& done)
{
    SluiceStreamReason reason = SLUICE_STREAM_CPU_SOONER;
    m_ledger.sides.learnCpu(held, done.inputs, done.milliseconds);
    m_ledger.sides.count(held, *job.unit);
    Unit& unit = *job.unit;
    Group& group = m_ledger.groups[unit.group];
    if (bad.isOutOfMemory) {
        m_ledger.fail(held, group, m_ledger.requests[unit.request],
                      {SLUICE_ERROR_OUT_OF_MEMORY, bad.number});
        m_ledger.finish(held, unit);
    } else if (bad.number != kNone) {
        m_ledger.failTile(held, unit, bad.number, bad.status);
        m_ledger.finish(held, unit);
    } else if (bad.transcoded != SLUICE_TILE_OK && bad.transcoded != SLUICE_TILE_BAD_CODE) {
        m_ledger.fail(held, group, m_ledger.requests[unit.request],
                      {SLUICE_ERROR_CHECKSUM, kNone, uint32_t(bad.transcoded)});
        m_ledger.finish(held, unit);
    } else if (group.isCancelled()) {
        m_ledger.finishUnused(held, unit);
    } else if (unit.route == Route::host) {
        m_ledger.finish(held, unit);
    } else {
        if (bad.transcoded == SLUICE_TILE_BAD_CODE) m_ledger.failBlocks(held, unit);
        m_ledger.work.addReady(held, unit);
    }
    m_ledger.endIfDone(held, group);
    // Calls of Pump may have returned because the maximum number of threads were decoding. So the
    // engine is told to call Pump again.
    if (m_info.threads == 0 &&
        (m_ledger.work.toDecode(held) != nullptr || lineFor(held, reason) != nullptr))
        held.wakeWorkers();
}

} // namespace sluice::stream
