// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/stream/stream_peers.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "tools/bench/peers.h"
#include "tools/common/platform.h"

namespace sluice {
namespace {

constexpr uint64_t kMiB = 1u << 20;
constexpr uint64_t kListRoom = kMiB; // room after a slot's bytes for the driver's list of regions

// Consecutive chunks (separately packed pieces) that are read together into one slot.
struct Part {
    uint32_t firstChunk = 0, chunkCount = 0;
    uint64_t fileOffset = 0, storedSize = 0, outputOffset = 0, outputSize = 0;
};

std::vector<Part> partsOf(const StreamPack& pack, uint64_t outputSize)
{
    std::vector<Part> parts;
    for (uint32_t i = 0; i < pack.chunks.size(); ++i) {
        const StreamChunk& chunk = pack.chunks[i];
        if (parts.empty() || parts.back().outputSize + chunk.size > outputSize)
            parts.push_back({i, 0, chunk.fileOffset, 0, chunk.outputOffset, 0});
        Part& part = parts.back();
        ++part.chunkCount;
        part.storedSize = chunk.fileOffset + chunk.storedSize - part.fileOffset;
        part.outputSize += chunk.size;
    }
    return parts;
}

int readAt(SystemFile file, uint64_t offset, uint8_t* bytes, uint64_t size)
{
    while (size != 0) {
        const int64_t got = readSomeAt(file, offset, bytes, size_t(size));
        if (got <= 0) return got == 0 ? EIO : errno;
        offset += uint64_t(got);
        bytes += got;
        size -= uint64_t(got);
    }
    return 0;
}

} // namespace

// The threads of one pass over the files, and the slots that they fill.
class StreamPeers::Pipeline {
public:
    struct Filled {
        uint32_t slot;
        const Part* part;
    };
    struct Submitted {
        uint64_t value;
        std::vector<Filled> slots;
    };

    Pipeline(StreamPeers& owner, const StreamPack& packed, const StreamFiles& from, bool isDriver)
        : m_owner(owner), m_pack(packed), m_isDriver(isDriver)
    {
        const bool isGpu = owner.m_engine.device().isGpu();
        const uint64_t output = isDriver ? 32 * kMiB : isGpu ? 4 * kMiB : kMiB / 2;
        m_slotSize = output + (isDriver ? 2 * kListRoom : 0);
        m_parts = partsOf(packed, output);
        const uint64_t count = owner.m_slots.buffer.size / m_slotSize;
        for (uint32_t i = 0; i < count; ++i)
            m_free.push_back(i);
        for (const std::string& path : from.paths()) {
            m_files.push_back(openForReading(path));
            if (m_files.back() == kNoFile) m_error = errno;
        }
        m_total = m_parts.size() * m_files.size();
    }
    ~Pipeline()
    {
        for (const SystemFile file : m_files)
            if (file != kNoFile) closeFile(file);
    }
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    void work();
    int produce(const Part& part, SystemFile file, uint32_t slot, Bytes& bytes) const;
    void list(const Part& part, uint32_t slot) const;
    void drive();
    int error() const { return m_error; } // an errno value; 0: none
    void stop(bool hasFailed)
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        if (hasFailed && m_error == 0) m_error = EIO;
        m_changed.notify_all();
    }
    void submit(std::vector<Filled> filled);
    void takeBack(bool mustWait);
    uint8_t* hostOf(uint32_t slot) const
    {
        return static_cast<uint8_t*>(m_owner.m_slots.host) + slot * m_slotSize;
    }
    static SluiceBuffer partOf(const SluiceBuffer& buffer, uint64_t offset, uint64_t size)
    {
        return {buffer.handle, buffer.offset + offset, size};
    }

private:
    StreamPeers& m_owner;
    const StreamPack& m_pack;
    const bool m_isDriver;
    uint64_t m_slotSize = 0;
    std::vector<Part> m_parts;
    std::vector<SystemFile> m_files;
    uint64_t m_total = 0, m_next = 0, m_done = 0;
    std::mutex m_mutex;
    std::condition_variable m_changed, m_hasFilled;
    std::vector<uint32_t> m_free;
    std::vector<Filled> m_filled;
    std::deque<Submitted> m_submitted;
    int m_error = 0;
};

void StreamPeers::Pipeline::work()
{
    Bytes bytes;
    for (;;) {
        uint64_t number = 0;
        uint32_t slot = 0;
        {
            std::unique_lock<std::mutex> lock(m_mutex);
            m_changed.wait(lock,
                           [&] { return m_error != 0 || m_next == m_total || !m_free.empty(); });
            if (m_error != 0 || m_next == m_total) return;
            number = m_next++;
            slot = m_free.back();
            m_free.pop_back();
        }
        const Part& part = m_parts[number % m_parts.size()];
        const int error = produce(part, m_files[number / m_parts.size()], slot, bytes);
        const std::lock_guard<std::mutex> lock(m_mutex);
        if (error != 0) m_error = error;
        m_filled.push_back({slot, &part});
        m_hasFilled.notify_one();
    }
}

int StreamPeers::Pipeline::produce(const Part& part, SystemFile file, uint32_t slot,
                                   Bytes& bytes) const
{
    uint8_t* to = hostOf(slot);
    if (m_pack.decode == nullptr) {
        if (m_isDriver) list(part, slot);
        return readAt(file, part.fileOffset, to, part.storedSize);
    }
    bytes.resize(std::max<size_t>(bytes.size(), part.storedSize));
    if (const int error = readAt(file, part.fileOffset, bytes.data(), part.storedSize))
        return error;
    for (uint32_t i = 0; i < part.chunkCount; ++i) {
        const StreamChunk& chunk = m_pack.chunks[part.firstChunk + i];
        if (!m_pack.decode(bytes.data() + (chunk.fileOffset - part.fileOffset), chunk,
                           to + (chunk.outputOffset - part.outputOffset)))
            return EILSEQ;
    }
    return 0;
}

// After a slot's bytes, writes the list that the driver's decoder reads: the number of regions, and
// from byte 64 of the list on the regions.
void StreamPeers::Pipeline::list(const Part& part, uint32_t slot) const
{
    const BenchDevice& device = m_owner.m_engine.device();
    const uint64_t source = m_owner.m_staging.address() + slot * m_slotSize;
    const uint64_t destination = device.address(m_owner.m_destination);
    uint8_t* at = hostOf(slot) + m_slotSize - kListRoom;
    std::memcpy(at, &part.chunkCount, sizeof part.chunkCount);
    for (uint32_t i = 0; i < part.chunkCount; ++i) {
        const StreamChunk& chunk = m_pack.chunks[part.firstChunk + i];
        const DriverRegion region = {{source + (chunk.fileOffset - part.fileOffset),
                                      destination + chunk.outputOffset, chunk.storedSize,
                                      chunk.size},
                                     kMethodGdeflate};
        std::memcpy(at + 64 + i * sizeof region, &region, sizeof region);
    }
}

void StreamPeers::Pipeline::submit(std::vector<Filled> filled)
{
    StreamEngine& engine = m_owner.m_engine;
    const VkCommandBuffer commands = engine.begin();
    const SluiceBuffer& slots = m_owner.m_slots.buffer;
    for (const Filled& one : filled) {
        const uint64_t at = one.slot * m_slotSize;
        if (!m_isDriver) {
            engine.copy(
                commands, partOf(slots, at, one.part->outputSize),
                partOf(m_owner.m_destination, one.part->outputOffset, one.part->outputSize));
            continue;
        }
        const SluiceBuffer staging = m_owner.m_staging.whole();
        const uint64_t list = m_slotSize - kListRoom;
        const uint64_t listSize = 64 + one.part->chunkCount * sizeof(DriverRegion);
        engine.copy(commands, partOf(slots, at, one.part->storedSize),
                    partOf(staging, at, one.part->storedSize));
        engine.copy(commands, partOf(slots, at + list, listSize),
                    partOf(staging, at + list, listSize));
    }
    if (m_isDriver) {
        engine.barrier(commands);
        for (const Filled& one : filled) {
            const uint64_t list =
                m_owner.m_staging.address() + one.slot * m_slotSize + m_slotSize - kListRoom;
            m_owner.m_driver(sluiceVulkanCommands(commands), list + 64, list, one.part->chunkCount);
        }
        engine.barrier(commands);
    }
    engine.submit();
    m_submitted.push_back({engine.lastValue(), std::move(filled)});
}

void StreamPeers::Pipeline::takeBack(bool mustWait)
{
    constexpr uint64_t kPatience = 1000000; // nanoseconds
    if (m_submitted.empty()) return;
    if (mustWait) m_owner.m_engine.waitFor(m_submitted.front().value, kPatience);
    const uint64_t done = m_owner.m_engine.doneValue();
    while (!m_submitted.empty() && m_submitted.front().value <= done) {
        const std::lock_guard<std::mutex> lock(m_mutex);
        for (const Filled& one : m_submitted.front().slots)
            m_free.push_back(one.slot);
        m_done += m_submitted.front().slots.size();
        m_submitted.pop_front();
        m_changed.notify_all();
    }
}

void StreamPeers::Pipeline::drive()
{
    constexpr auto kPatience = std::chrono::milliseconds(1);
    while (m_done < m_total) {
        std::vector<Filled> filled;
        {
            std::unique_lock<std::mutex> lock(m_mutex);
            if (m_filled.empty() && m_submitted.empty()) m_hasFilled.wait_for(lock, kPatience);
            if (m_error != 0) break;
            filled.swap(m_filled);
        }
        const bool hasNew = !filled.empty();
        if (hasNew) submit(std::move(filled));
        takeBack(!hasNew);
    }
    m_owner.m_engine.waitIdle();
}

StreamPeers::StreamPeers(StreamEngine& engine, SluiceBuffer destination)
    : m_engine(engine), m_destination(destination)
{
    const bool isGpu = engine.device().isGpu();
    m_slots = engine.allocate((isGpu ? 272 : 40) * kMiB, StreamEngine::Memory::host);
    constexpr uint32_t kMostRegions = 4096;
    const std::vector<DriverPeer> drivers = makeDriverDecoders(engine.device(), kMostRegions);
    if (drivers.empty()) {
        m_driverName = "VK_NV/EXT_memory_decompression";
        m_whyNoDriver = "the device does not offer it";
        return;
    }
    m_driverName = drivers[0].name;
    m_driver = drivers[0].record;
    m_staging = engine.device().allocate(m_slots.buffer.size);
}

StreamPeers::~StreamPeers()
{
    m_engine.waitIdle();
    m_engine.release(m_slots);
}

StreamPass StreamPeers::run(const StreamPack& pack, const StreamFiles& files, uint32_t threads,
                            bool isCold, bool isDriver)
{
    if (isCold) files.dropFromMemory();
    const PassClock clock;
    Pipeline pipeline(*this, pack, files, isDriver);
    std::vector<std::thread> workers;
    for (uint32_t i = 0; i < threads; ++i)
        workers.emplace_back([&] { pipeline.work(); });
    std::exception_ptr failure;
    try {
        pipeline.drive();
    } catch (...) { // rethrown below, when all threads have ended
        failure = std::current_exception();
    }
    pipeline.stop(failure != nullptr);
    for (std::thread& worker : workers)
        worker.join();
    if (failure != nullptr) std::rethrow_exception(failure);
    if (pipeline.error() != 0)
        throw Failure{exitIo, std::string("bench: a peer: ") + std::strerror(pipeline.error())};
    return clock.finish(pack.outputBytes * files.paths().size());
}

void StreamPeers::check(const Bytes& plain, const std::string& who) const
{
    Bytes got(plain.size());
    m_engine.device().download({m_destination.handle, m_destination.offset, got.size()}, got.data(),
                               got.size());
    if (got != plain) throw Failure{exitDevice, "bench: stream: " + who + ": wrong bytes"};
}

} // namespace sluice
