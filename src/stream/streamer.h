// SPDX-License-Identifier: MIT OR Apache-2.0
// The streamer: groups, their requests, and the units that requests are cut into.
//
//   streamer.cpp  creation, submission, priorities, cancellation, events
//   units.cpp     cuts requests into units
//   workers.cpp   reads units, and decodes those of the CPU
//   record.cpp    gathers units into batches and records them
//   results.cpp   what batches have come to, waits, signals
//   submit.cpp    what a thread that records and submits by itself asks of it
#pragma once

#include <sluice/sluice_stream.h>
#include <sluice/sluice_tiles.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "stream/blocks.h"
#include "stream/cost_model.h"
#include "stream/file.h"
#include "stream/gpu.h"
#include "stream/queue.h"

namespace sluice::stream {

constexpr uint32_t kNone = UINT32_MAX;

// Tells the processor that a loop waits.
inline void pauseShortly()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Has the processor fetch an object that will be written soon: what threads have touched last lies in
// the caches of their cores.
template <class T>
void prefetch(const T& object)
{
#if defined(__GNUC__)
    constexpr size_t kLine = 64;
    for (size_t at = 0; at < sizeof(T); at += kLine)
        __builtin_prefetch(reinterpret_cast<const char*>(&object) + at, 1);
#else
    (void)object;
#endif
}

// Limits of one unit, so that an urgent group never waits for much.
constexpr uint32_t kUnitTiles = 256;
constexpr uint64_t kUnitRead = SLUICE_STREAM_READ_SIZE;    // aimed at
constexpr uint64_t kUnitSource = SLUICE_STREAM_MIN_SOURCE; // rows of images may need more
constexpr uint64_t kUnitOutput = SLUICE_STREAM_BLOCK_SIZE;
constexpr uint64_t kStripSize = SLUICE_STREAM_READ_SIZE; // of images, aimed at
constexpr uint64_t kUnitWork = uint64_t(8) << 20; // tiles times the largest of them, for scratch
constexpr uint64_t kMinSourceBlock = 16384, kMinOutputBlock = 65536;

// How many bytes a thread reads at most, in kReadsAtOnce reads, and what a batch takes or gives back,
// between one lock and the next.
constexpr uint64_t kReadSizeAtOnce = kUnitRead / 2;
// So many bytes of them are taken also while other threads sleep: to wake one takes as long.
constexpr uint64_t kReadSizeForOne = 65536;
constexpr uint32_t kUnitsAtOnce = 16;

// The queues that a group can be in.
enum GroupQueue : uint32_t {
    kReadQueue,
    kDecodeQueue,
    kRecordQueue,
    kGroupQueues
};

enum class UnitState : uint8_t {
    free,
    reading,
    toDecode,
    decoding,
    ready,
    recorded
};

// How a unit's bytes come to their destination.
enum class Route : uint8_t {
    host,   // the CPU puts them there: host memory, or buffers without a GPU
    direct, // the GPU decodes to the buffer
    output, // decoded into the output ring, then copied
    plain,  // copied from the source ring
};

struct Unit {
    UnitState state = UnitState::free;
    Route route = Route::host;
    bool decodesOnCpu = false;
    bool isRetried = false;                      // the GPU could not decode it: the CPU does
    bool beginsImage = false, endsImage = false; // it changes the layout, before and after its copy
    uint32_t group = 0, request = 0;
    uint32_t next = kNone; // in a list of its group, or of its batch
    // What is read of an archive are tiles of the asset, of anything else bytes of the file or of
    // memory.
    uint32_t firstTile = 0, tileCount = 0;
    uint64_t offset = 0, size = 0; // what is wanted: bytes of the asset, file or memory
    uint64_t decodedSize = 0;      // of its tiles
    uint64_t storedSize = 0;       // of them, or the bytes themselves
    uint64_t source = Blocks::kNone, output = Blocks::kNone; // blocks
    uint64_t sourceBase = 0,
             sourceEnd = 0; // where its stored bytes begin in source, and what of it may be written
    uint64_t outputBase = 0; // where its first tile goes in output, or its plain bytes in source
    // Images: planes (layers or slices) and rows of blocks.
    uint32_t plane = 0, planes = 0, row = 0, rows = 0;
};

struct Request {
    SluiceStreamRequest info{};
    uint32_t index = 0; // in its group
    uint32_t next = kNone;
    uint64_t cut = 0;                // bytes that units have been made of
    uint32_t openUnits = 0;          // not done
    uint32_t unrecorded = 0;         // units for the GPU that are not recorded yet
    uint64_t begunIn = 0, endIn = 0; // the batches in which its image changed its layout; 0: none
    bool hasFailed = false;
};

struct Group {
    int32_t priority = 0;
    uint64_t sequence = 0;
    uint32_t place[kGroupQueues] = {kNotQueued, kNotQueued, kNotQueued};
    SluiceStreamGroup handle = 0; // 0: free
    uint32_t flags = 0;
    SluiceStreamSync wait{}, signal{};
    uint32_t firstRequest = kNone, currentRequest = kNone, requestCount = 0;
    uint32_t openUnits = 0;
    uint32_t readyHead = kNone, readyTail = kNone;   // units to be recorded
    uint32_t decodeHead = kNone, decodeTail = kNone; // units to be decoded by the CPU
    uint32_t unrecorded = 0;                         // units for the GPU
    uint32_t underWay = 0;                           // units that are UnitState::recorded
    uint32_t next = kNone;                           // in the list of free, waiting or ended groups
    uint32_t nextSignal = kNone; // in the list of those that signal the same semaphore
    bool isCancelled = false, hasEnded = false, isPolled = false, isSignalled = false;
    bool isCancelledIfPutBack =
        false;                  // it was too late to cancel it, unless its batch is discarded
    bool tellsRecorded = false; // a RECORDED event is to be told
    bool toldRecorded = false;
    SluiceStreamEvent event{};
};

// A semaphore that groups signal.
struct Signaller {
    uint64_t semaphore = 0;
    uint64_t lastSubmitted = 0;
    uint32_t head = kNone, tail = kNone; // groups, in the order of submission
};
constexpr uint32_t kSignallers = 64;

// The tiles of a batch that go to one buffer, and so are one batch of sluice_tiles.h.
struct TargetBatch {
    SluiceBuffer destination{};
    SluiceTileTotals totals{};
    SluiceTileTotals room{}; // as many tiles as `required` is enough for
    SluiceTilesRequirements required{};
    SluiceTilesInfo info{};
    std::vector<SluiceTile> tiles;
};
constexpr uint32_t kTargets = 4;
// In control and results, of what each batch and each of its targets has there.
constexpr uint64_t kSlotAlignment = 256;

struct Batch {
    uint64_t number = 0; // 0: free
    uint64_t semaphore = 0, value = 0;
    uint32_t firstUnit = kNone, lastUnit = kNone;
    uint32_t unitCount = 0, copies = 0;
    uint32_t targetCount = 0;
    TargetBatch targets[kTargets];
    std::vector<uint32_t> unitTargets;   // of each unit in its list: kNone without tiles
    std::vector<uint32_t> unitFirstTile; // in the target's tiles
    CostInputs cost;
    CostWeights weights; // as they were when it began
    float predicted = 0;
};

// Limits of SluiceStreamerInfo.
constexpr uint32_t kMaxGroups = 65536, kMaxRequests = 1u << 24, kMaxUnits = 1u << 20;
constexpr uint32_t kMaxBatches = 16, kMaxBatchTiles = 65536, kMaxThreads = 64;
// What its zeros stand for.
SluiceStreamerInfo withDefaults(SluiceStreamerInfo info);
bool isGpu(SluiceContext context);

// A request for an image: is its box one, and as large as the request says?
SluiceStatus checkImage(const SluiceStreamRequest& request, bool hasGpu);
// Bytes of a row of blocks, and of a plane of rows.
inline uint64_t rowSize(const SluiceStreamImage& image)
{
    return (uint64_t(image.extent[0]) + image.blockWidth - 1) / image.blockWidth * image.blockSize;
}
inline uint64_t rowCount(const SluiceStreamImage& image)
{
    return (uint64_t(image.extent[1]) + image.blockHeight - 1) / image.blockHeight;
}

// Bytes of each part of a Bench: a tile of the largest size, and its lists.
constexpr size_t kBenchSize = (size_t(1) << 20) + 65536;

// Memory for decoding on the CPU, of one thread at a time.
struct Bench {
    std::unique_ptr<uint8_t[]> control, results, scratch, bounce;
    bool isTaken = false;
    // The tile that was decoded into `bounce` last: a good one, with its checksum right. Small
    // assets that share a tile are often wanted one after the other, and it is decoded once then.
    uint64_t bouncedFile = 0;                // SluiceStreamFile_T::serial; 0: there is none
    const TileRecord* bouncedTile = nullptr; // among the records of that file
};

} // namespace sluice::stream

struct SluiceStreamer_T {
    SluiceStreamer_T(const SluiceStreamerInfo& info, const sluice::stream::System& system);
    ~SluiceStreamer_T();

    SluiceStatus start();
    // streamer.cpp
    SluiceStatus submit(const SluiceStreamGroupInfo& info, SluiceStreamGroup& handle);
    void setPriority(SluiceStreamGroup handle, int32_t priority);
    void cancel(SluiceStreamGroup handle);
    void cancelTags(uint64_t mask, uint64_t value);
    SluiceStatus open(const SluiceStreamOpenInfo& info, SluiceStreamFile& file);
    void giveUp(SluiceStreamFile file);
    void counters(SluiceStreamCounters& result);
    // workers.cpp
    uint32_t pump(uint32_t jobs);
    // record.cpp
    SluiceStatus record(SluiceCommands commands, const SluiceStreamBudget& budget,
                        SluiceStreamBatch& result);
    SluiceStatus discard(uint64_t number);
    // results.cpp
    SluiceStatus complete(uint64_t number);
    void loseDevice();
    SluiceStatus poll(SluiceStreamEvent* events, uint32_t& count);
    int eventFd() const { return m_eventFd; }
    // submit.cpp: submit mode. All but attach, detach, callSubmitter and stopSubmitter are for the
    // submitter's thread alone.
    using Clock = std::chrono::steady_clock;
    enum class Ready {
        nothing,
        tooLittle, // fewer tiles than the budget gathers
        enough
    };
    bool attach(); // false: there is one already, or a batch is under way
    void detach();
    bool hasSubmitter() const { return m_hasSubmitter; }
    void callSubmitter();
    void stopSubmitter();
    bool waitForSubmitter(Clock::time_point until);
    void collect();
    Ready readiness(const SluiceStreamBudget& budget, bool countsCall);
    uint32_t batchesUnderWay() const;
    uint32_t maxBatches() const { return m_info.maxBatches; }
    bool isLost() const { return m_isLost; }
    void holdRecorded(bool holds);

private:
    using Batch = sluice::stream::Batch;
    using Bench = sluice::stream::Bench;
    using Group = sluice::stream::Group;
    using Request = sluice::stream::Request;
    using TargetBatch = sluice::stream::TargetBatch;
    using Unit = sluice::stream::Unit;
    class Locked;
    struct Job;
    struct Failure;

    // Whether the GPU decodes an archive's tiles: it does not where pipelines that they need are
    // refused, by the driver or after a self-test, if the CPU can reach the output ring.
    bool gpuDecodes(const SluiceStreamFile_T& file) const;
    // Asked once for all units that a thread cuts while it holds the lock.
    void noteRefusedKernels();
    bool isImmediate() const { return m_info.gpu != nullptr && m_info.gpu->isImmediate(); }
    bool hasSemaphores() const { return m_info.gpu != nullptr && m_info.gpu->hasSemaphores(); }

    // streamer.cpp: all with the lock held.
    SluiceStatus check(const SluiceStreamGroupInfo& info);
    bool hasRoom(const SluiceStreamGroupInfo& info) const;
    SluiceStatus checkRequest(const SluiceStreamRequest& request) const;
    SluiceStatus checkSignal(const SluiceStreamSync& signal, uint32_t& slot);
    Group* find(SluiceStreamGroup handle);
    void cancelGroup(Group& group);
    void startGroup(Group& group);
    void fail(Group& group, Request& request, const Failure& failure);
    void endIfDone(Group& group);
    void dropFile(SluiceStreamFile file);
    void releaseGroup(Group& group);
    void releaseRequests(Group& group);
    void finishUnit(Unit& unit);
    void freeBlocks(Unit& unit);
    void append(uint32_t& head, uint32_t& tail, Unit& unit);
    uint32_t pop(uint32_t& head, uint32_t& tail);
    void makeReady(Unit& unit);
    void queueDecode(Unit& unit);
    // One thread at a time is woken, and wakes the next if there is more: a call to the system for
    // each group would cost more than all else that Submit does.
    void wakeWorkers()
    {
        if (m_hasLookout)
            m_lookoutSeesWork = true;
        else if (m_threads.empty() || (m_idleThreads != 0 && !m_isWaking))
            m_mustWake = m_isWaking = true;
    }
    void tellEvent() { m_mustTell = true; }
    void wakeSubmitter() { m_mustSubmit = m_submitterLooks = m_hasSubmitter; }
    void afterUnlock(bool wakes, bool tells, bool submits, SluiceStreamFile dead);
    uint32_t indexOf(const Group& group) const { return uint32_t(&group - m_groups.data()); }
    uint32_t indexOf(const Unit& unit) const { return uint32_t(&unit - m_units.data()); }

    // units.cpp
    enum class Cut {
        made,
        later,
        done
    };
    Cut cutUnit(Group& group, Unit& unit);
    Cut cutTiles(Group& group, Request& request, Unit& unit);
    Cut cutImage(Group& group, Request& request, Unit& unit);
    Cut cutPlain(Request& request, Unit& unit);
    bool takeBlocks(const Group& group, Unit& unit, uint64_t sourceSize, uint64_t outputSize);
    void placeSource(const Request& request, Unit& unit, uint64_t fileOffset, uint64_t room) const;
    bool placeOutput(const Request& request, Unit& unit, uint32_t alignment, uint64_t& pad) const;
    bool mayTake(const Group& group, uint64_t sourceSize, uint64_t outputSize) const;

    // workers.cpp
    bool pick(Job& job, bool hasBench);
    void pickDecode(Job& job, Group& group);
    void work(Job& job, Bench* bench);
    uint32_t pickSome(Job* jobs);
    void runThread(uint32_t number);
    void lookOut() const;
    void readTogether(Job* jobs, uint32_t count);
    uint64_t asOneRead(const Job& job, sluice::stream::Read& read, uint64_t& needed) const;
    void readUnit(Job& job);
    void readTiles(Job& job);
    void finishRead(Job& job);
    void decodeUnit(Job& job, Bench& bench);
    bool decodeTile(const Job& job, uint32_t tile, uint64_t source, const SluiceArchiveAsset& asset,
                    Bench& bench, uint32_t& status);
    void finishDecode(Job& job);
    void finishOpen(SluiceStreamFile file);
    Bench* takeBench();

    // record.cpp
    enum class Added {
        yes,
        full,
        impossible
    };
    Batch* beginBatch(const SluiceStreamBudget& budget);
    void prefetchReady() const;
    bool gather(Batch& batch, const SluiceStreamBudget& budget, SluiceStreamBatch& result);
    Added addUnit(Batch& batch, Unit& unit, const SluiceStreamBudget& budget,
                  SluiceStreamBatch& result);
    Added addTiles(Batch& batch, const Unit& unit);
    void markRecorded(Batch& batch, Unit& unit);
    uint32_t targetFor(Batch& batch, uint64_t handle);
    void tellIfRecorded(Group& group);
    void forgetRecorded(Group& group);
    bool fits(const Batch& batch, uint32_t target, const SluiceTilesRequirements& required) const;
    bool makeRoom(Batch& batch, uint32_t number) const;
    SluiceStatus prepare(Batch& batch);
    SluiceStatus recordCommands(const Batch& batch, SluiceCommands commands);
    SluiceStatus copySome(uint32_t& at, SluiceCommands commands);
    SluiceStatus copyUnit(const Unit& unit, SluiceCommands commands);
    void putBack(Batch& batch);
    bool isWorthIt(const SluiceStreamBudget& budget);
    uint32_t indexOf(const Batch& batch) const { return uint32_t(&batch - m_batches.data()); }

    // results.cpp
    void finishBatch(Batch& batch, SluiceStatus status);
    void finishRecorded(Unit& unit, SluiceStatus status, const uint32_t* statuses);
    bool retry(Unit& unit);
    uint32_t giveEvents(SluiceStreamEvent* events, uint32_t room);
    bool hasEvents() const;
    void checkAll(SluiceStatus& status);
    void checkBatches(SluiceStatus& status);
    void checkWaits(SluiceStatus& status);
    void checkSignals(SluiceStatus& status);
    void dropReady();
    SluiceStatus semaphoreValue(uint64_t semaphore, uint64_t& value);

    const SluiceStreamerInfo m_info;
    const sluice::stream::System& m_system;
    const bool m_gpuDecodes;
    SluiceContext m_cpuContext = nullptr;
    uint32_t m_gpuId = sluice::stream::kNone;
    int m_eventFd = -1;
    std::atomic<bool> m_isEventTold{false};

    std::mutex m_mutex;
    // What is done as soon as the mutex is unlocked, since it calls the system or the engine.
    bool m_mustWake = false, m_mustTell = false, m_mustSubmit = false;
    SluiceStreamFile m_deadFiles = nullptr;
    std::condition_variable m_work;
    uint32_t m_idleThreads = 0; // that sleep
    bool m_isWaking = false;    // one of them has been told, and does not have the lock yet
    // A thread that looks for work a little longer before it sleeps, and what it looks at: Submit
    // then wakes nobody.
    bool m_hasLookout = false;
    std::atomic<bool> m_lookoutSeesWork{false};
    bool m_stops = false;
    std::vector<std::thread> m_threads;
    std::vector<Bench> m_benches;

    std::vector<Group> m_groups;
    std::vector<Request> m_requests;
    std::vector<Unit> m_units;
    uint32_t m_freeGroup = sluice::stream::kNone, m_freeRequest = sluice::stream::kNone,
             m_freeUnit = sluice::stream::kNone;
    uint32_t m_freeRequests = 0, m_unitsUsed = 0, m_groupsUsed = 0;
    uint64_t m_sequence = 0;
    sluice::stream::PriorityQueue<Group, sluice::stream::kReadQueue> m_toRead;
    sluice::stream::PriorityQueue<Group, sluice::stream::kDecodeQueue> m_toDecode;
    sluice::stream::PriorityQueue<Group, sluice::stream::kRecordQueue> m_toRecord;
    uint32_t m_waiting = sluice::stream::kNone; // groups whose semaphore is not there yet
    uint32_t m_endedHead = sluice::stream::kNone, m_endedTail = sluice::stream::kNone;
    std::vector<uint32_t> m_recordedEvents; // groups that have one to tell
    sluice::stream::Signaller m_signallers[sluice::stream::kSignallers];
    sluice::stream::Blocks m_source, m_output;

    std::vector<SluiceStreamFile> m_files;
    uint64_t m_fileSerial = 0; // of the one that was opened last
    SluiceStreamFile m_toOpen = nullptr, m_opened = nullptr;

    std::vector<Batch> m_batches;
    const uint64_t m_controlSlot, m_resultsSlot; // bytes of control and results of each batch
    uint64_t m_batchNumber = 0;                  // of the newest
    uint64_t m_completed = 0;                    // all up to this one, as the engine said
    uint64_t m_recordCalls = 0;
    uint64_t m_readySince = 0; // the call of Record that first saw what is ready
    uint32_t m_readyTiles = 0; // of units that are ready
    std::vector<uint32_t> m_statuses[sluice::stream::kTargets]; // of a batch that is complete
    sluice::stream::CostModel m_cost;
    std::atomic<bool> m_isLost{false};
    bool m_toldLost = false;
    uint32_t m_refusedKernels = 0; // SluiceContextInfo::refusedKernels, if the CPU can stand in
    // Submit mode: its thread touches batches, and Poll only gives events.
    std::atomic<bool> m_hasSubmitter{false};
    std::condition_variable m_submitterWork;
    bool m_submitterLooks = false; // there is something that it has not looked at
    bool m_submitterStops = false;
    bool m_holdsRecorded = false; // RECORDED events wait until their batch is submitted
    // What Poll has to look at, so that it takes no lock for nothing.
    struct Pending {
        // Batches under way, groups that wait, events to tell, and groups that have ended
        // and have not signalled.
        std::atomic<uint32_t> batches{0}, waits{0}, events{0}, signals{0};
        bool nothing() const { return batches == 0 && waits == 0 && events == 0 && signals == 0; }
    } m_pending;

    std::atomic<uint64_t> m_bytesRead{0}, m_bytesDecoded{0}, m_wastedBytes{0};
    std::atomic<uint32_t> m_retriedTiles{0};
};

// Holds the mutex, and does afterwards what must not be done under it.
class SluiceStreamer_T::Locked {
public:
    // What is done under the lock takes a microsecond or so, less than going to sleep for it.
    explicit Locked(SluiceStreamer_T& streamer)
        : m_streamer(streamer), m_lock(streamer.m_mutex, std::try_to_lock)
    {
        constexpr uint32_t kTries = 64;
        for (uint32_t i = 0; i < kTries && !m_lock.owns_lock(); ++i) {
            sluice::stream::pauseShortly();
            m_lock.try_lock();
        }
        if (!m_lock.owns_lock()) m_lock.lock();
    }
    ~Locked()
    {
        const bool wakes = m_streamer.m_mustWake, tells = m_streamer.m_mustTell;
        const bool submits = m_streamer.m_mustSubmit;
        const SluiceStreamFile dead = m_streamer.m_deadFiles;
        m_streamer.m_mustWake = m_streamer.m_mustTell = m_streamer.m_mustSubmit = false;
        m_streamer.m_deadFiles = nullptr;
        m_lock.unlock();
        if (wakes || tells || submits || dead != nullptr)
            m_streamer.afterUnlock(wakes, tells, submits, dead);
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

    std::unique_lock<std::mutex>& lock() { return m_lock; }

private:
    SluiceStreamer_T& m_streamer;
    std::unique_lock<std::mutex> m_lock;
};

// What went wrong with a request.
struct SluiceStreamer_T::Failure {
    SluiceStatus status;
    uint32_t tile = sluice::stream::kNone, tileStatus = SLUICE_TILE_OK;
    int32_t osError = 0;
    uint64_t fileOffset = 0;
};

// What a worker does next, with all that it needs without the lock.
struct SluiceStreamer_T::Job {
    enum Kind {
        none,
        openFile,
        read,
        decode
    } kind = none;
    SluiceStreamFile file = nullptr;
    Unit* unit = nullptr;
    const Request* request = nullptr;
    bool isRead = false;
    sluice::stream::ReadError error;
    uint32_t badTile = sluice::stream::kNone, badStatus = SLUICE_TILE_OK;
};
