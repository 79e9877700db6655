// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what tests of streaming share: a file in memory whose reads can fail on purpose, and a
// streamer of the CPU.
#pragma once

#include <sluice/sluice_stream.h>

#include "tests/support/packed_archives.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sluice::test {

// A file that the engine reads by itself, here from memory.
struct MemoryFile {
    explicit MemoryFile(Bytes content) : bytes(std::move(content)) {}

    SluiceStreamFileInterface interface();

    Bytes bytes;
    std::atomic<uint32_t> reads{0}, closes{0};
    // Called before each read. If it does not return 0, that is the read's result.
    std::function<int64_t(uint64_t offset, uint64_t size)> before;
    uint64_t mostAtOnce = UINT64_MAX; // the most bytes that one read returns
};

// Memory with the alignment that a ring of the host must have.
class RingMemory {
public:
    explicit RingMemory(size_t size);
    SluiceStreamMemory memory() const;
    uint8_t* data() const { return m_start; }

private:
    std::unique_ptr<uint8_t[]> m_bytes;
    uint8_t* m_start;
    size_t m_size;
};

// Starts to open an archive, or a plain file. The event will have `user`.
SluiceStreamFile startOpening(SluiceStreamer streamer, MemoryFile& file, bool isArchive = true,
                              uint64_t user = 0);

// Submits a group of these requests. `info` holds its other members.
SluiceStreamGroup submitGroup(SluiceStreamer streamer,
                              const std::vector<SluiceStreamRequest>& requests,
                              SluiceStreamGroupInfo info = {});

// A streamer without a GPU. threads: 0 means that the test pumps.
class CpuStreamer {
public:
    explicit CpuStreamer(uint32_t threads, const SluiceStreamerInfo& limits = {});
    ~CpuStreamer();
    CpuStreamer(const CpuStreamer&) = delete;
    CpuStreamer& operator=(const CpuStreamer&) = delete;

    SluiceStreamer get() const { return m_streamer; }
    SluiceStreamFile open(MemoryFile& file, bool isArchive = true);
    // Opens a file and returns the event.
    SluiceStreamEvent tryOpen(MemoryFile& file, bool isArchive, SluiceStreamFile& opened);
    SluiceStreamGroup submit(const std::vector<SluiceStreamRequest>& requests, int32_t priority = 0,
                             uint64_t tag = 0);
    // Pumps (if there are no threads) and polls until the group has ended. Events of other groups
    // are kept.
    SluiceStreamEvent waitFor(SluiceStreamGroup group);
    // Polls once. Without threads, does at most `jobs` jobs before.
    void turn(uint32_t jobs = 1);
    bool hasEnded(SluiceStreamGroup group) const { return m_ended.count(group) != 0; }
    SluiceStreamCounters counters() const;
    uint32_t endCount() const { return m_endCount; }

private:
    uint32_t m_threads;
    SluiceContext m_context = nullptr;
    RingMemory m_source;
    SluiceStreamer m_streamer = nullptr;
    std::map<SluiceStreamGroup, SluiceStreamEvent> m_ended;
    std::vector<SluiceStreamEvent> m_opened;
    uint32_t m_endCount = 0;
};

// Returns a request for bytes of an asset, of a file or of memory.
SluiceStreamRequest fromArchive(SluiceStreamFile file, uint32_t asset, uint64_t offset,
                                uint64_t size, void* host);
SluiceStreamRequest fromFile(SluiceStreamFile file, uint64_t offset, uint64_t size, void* host);
SluiceStreamRequest fromMemory(const void* memory, uint64_t size, void* host);

// Holds bytes between guard bytes, which `checkGuards` compares.
class GuardedBytes {
public:
    explicit GuardedBytes(size_t size, size_t misalign = 0);
    uint8_t* data() { return m_bytes.data() + m_start; }
    Bytes content() const;
    void checkGuards() const;

private:
    static constexpr size_t kGuard = 64;
    static constexpr uint8_t kPattern = 0xC3;
    Bytes m_bytes;
    size_t m_start, m_size;
};

} // namespace sluice::test
