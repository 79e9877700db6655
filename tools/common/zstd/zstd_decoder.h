// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the frames of a Zstandard file in threads, in bounded memory.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "tools/common/zstd/zstd_file.h"

namespace sluice {

// Frames that follow each other and are decoded by one thread: a large one, or several small ones.
struct ZstdRun {
    uint64_t begin, end;           // offsets in the file
    uint64_t firstFrame;           // number of the run's first frame
    uint64_t firstData;            // the same number if skippable frames are not counted
    uint64_t output = 0, size = 0; // range of the run's content in the file's content
    uint64_t blocks = 0;
};

// A run of small frames ends when it has this many stored or decoded bytes.
struct ZstdRunSize {
    uint64_t stored, size;
};
constexpr ZstdRunSize kZstdThreadRun = {256 << 10, 2 << 20};
// A device decodes thousands of runs at a time, so it gets most frames one by one.
constexpr ZstdRunSize kZstdDeviceRun = {64 << 10, 128 << 10};

// The runs to decode. The plan is made before any memory is allocated for decoding.
class ZstdPlan {
public:
    // Reads all frames. Throws a Failure if all frames decode to more than `most` bytes, if one is
    // damaged, or if one needs a window of more than maxWindow bytes (0: 448 MiB). If keepGoing is
    // set, such a frame is noted as a damage and left out, which ends a run. After
    // ZstdDamages::kMostKept damages all further frames are left out, so that the list of runs stays
    // small.
    ZstdPlan(ZstdFile& file, uint64_t most, uint64_t maxWindow, bool keepGoing,
             const ZstdRunSize& runSize = kZstdThreadRun);

    const std::vector<ZstdRun>& runs() const { return m_runs; }
    const ZstdDamages& damages() const { return m_damages; }
    uint64_t size() const { return m_size; }     // bytes that the frames decode to
    uint64_t memory() const { return m_memory; } // bytes for the frame with the largest window

private:
    void add(const ZstdFile& file, const ZstdFrame& frame);
    void closeRun();

    ZstdRunSize m_runSize;
    std::vector<ZstdRun> m_runs;
    ZstdDamages m_damages;
    uint64_t m_size = 0, m_memory = 0, m_data = 0;
    // The header with the largest window among those frames of the last run that state no size.
    zstd::Frame m_widest;
};

// Receives the content of runs from several threads. The content of one run comes in order.
class ZstdSink {
public:
    virtual ~ZstdSink() = default;
    virtual void write(size_t run, uint64_t offset, const uint8_t* bytes, size_t size) = 0;
    virtual void end(size_t run) = 0;
    virtual void stop(size_t run) = 0; // instead of end(), if the run is damaged or fails
};

class ZstdDecoder {
public:
    ZstdDecoder(const ZstdFile& file, const ZstdPlan& plan, ZstdSink& sink, bool keepGoing);
    ~ZstdDecoder();

    // Decodes all runs. threads: 0 means one per core; fewer are used if their windows would take
    // too much memory. Returns the damages that the plan found and those found while decoding. The
    // first is always the first in the file. Without keepGoing, later ones may be missing.
    ZstdDamages run(uint32_t threads);
    // Decodes one run in this thread. Returns whether it is right.
    bool decodeRun(size_t run);
    // Returns whether the content of a run has the checksums of the seek table, if there are any.
    bool fitsTable(size_t run, const uint8_t* content) const;
    const ZstdDamages& damages() const { return m_damages; }

private:
    class Worker;

    void work();
    void note(size_t run, const ZstdDamage& damage);

    const ZstdFile& m_file;
    const ZstdPlan& m_plan;
    ZstdSink& m_sink;
    bool m_keepGoing;
    std::atomic<size_t> m_next = 0, m_last = SIZE_MAX; // runs after m_last are not decoded
    std::mutex m_mutex;
    ZstdDamages m_damages;
    std::exception_ptr m_error;
    std::unique_ptr<Worker> m_worker; // of decodeRun
};

} // namespace sluice
