// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the frames of a Zstandard file in threads, in bounded memory.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "tools/common/zstd_file.h"

namespace sluice {

// Frames that follow each other and are decoded by one thread: a large one, or several small ones.
struct ZstdRun {
    uint64_t begin, end;           // in the file
    uint64_t firstFrame;           // its number
    uint64_t firstData;            // the same number without skippable frames
    uint64_t output = 0, size = 0; // where its content begins in that of the file, and its size
};

// What is to be decoded. It is made before any memory is taken for it.
class ZstdPlan {
public:
    // maxWindow: the most bytes that are kept for matches; 0: the default, 448 MiB. Throws a
    // Failure if a frame needs more, or if all decode to more than `most` bytes. If keepGoing is
    // set, frames that are damaged already are left out and noted. Frames behind so many of them
    // that not all are kept are left out too, since a run cannot span a frame that is left out.
    ZstdPlan(ZstdFile& file, uint64_t most, uint64_t maxWindow, bool keepGoing);

    const std::vector<ZstdRun>& runs() const { return m_runs; }
    const ZstdDamages& damages() const { return m_damages; }
    uint64_t size() const { return m_size; }     // what the frames decode to
    uint64_t memory() const { return m_memory; } // for the window of the frame that takes most

private:
    void add(const ZstdFile& file, const ZstdFrame& frame, uint64_t maxWindow);
    void closeRun();

    std::vector<ZstdRun> m_runs;
    ZstdDamages m_damages;
    uint64_t m_size = 0, m_memory = 0, m_data = 0;
    zstd::Frame m_widest; // the largest window of frames without a size in the last run
};

// Receives the content of runs from several threads; that of a run in order, in pieces.
class ZstdSink {
public:
    virtual ~ZstdSink() = default;
    virtual void write(size_t run, uint64_t offset, const uint8_t* bytes, size_t size) = 0;
    virtual void end(size_t run) = 0;
    virtual void stop(size_t run) = 0; // instead of end(), if the run is damaged or fails
};

class ZstdDecoder {
public:
    ZstdDecoder(const ZstdFile& file, const ZstdPlan& plan, ZstdSink& sink, bool keepGoing)
        : m_file(file), m_plan(plan), m_sink(sink), m_keepGoing(keepGoing),
          m_damages(plan.damages())
    {
    }

    // threads: 0 means one per core. Fewer are used if their memory would be too much. Returns the
    // damage that the plan has and that was found. The first of it is the file's first; later ones
    // are certain to be in it only if keepGoing is set.
    ZstdDamages run(uint32_t threads);

private:
    class Worker;

    void work();
    void note(size_t run, const ZstdDamage& damage);

    const ZstdFile& m_file;
    const ZstdPlan& m_plan;
    ZstdSink& m_sink;
    bool m_keepGoing;
    std::atomic<size_t> m_next = 0, m_last = SIZE_MAX; // runs behind m_last are not decoded
    std::mutex m_mutex;
    ZstdDamages m_damages;
    std::exception_ptr m_error;
};

} // namespace sluice
