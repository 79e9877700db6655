// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/streams.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace sluice::test {
namespace {

constexpr size_t kRingAlignment = 4096;
constexpr auto kPatience = std::chrono::seconds(60);

int64_t readMemoryFile(void* user, uint64_t offset, void* bytes, uint64_t size)
{
    MemoryFile& file = *static_cast<MemoryFile*>(user);
    ++file.reads;
    if (file.before != nullptr) {
        const int64_t instead = file.before(offset, size);
        if (instead != 0) return instead;
    }
    if (offset >= file.bytes.size()) return 0;
    const uint64_t count = std::min({size, uint64_t(file.bytes.size()) - offset, file.mostAtOnce});
    std::memcpy(bytes, file.bytes.data() + offset, size_t(count));
    return int64_t(count);
}

void closeMemoryFile(void* user) { ++static_cast<MemoryFile*>(user)->closes; }

} // namespace

SluiceStreamFileInterface MemoryFile::interface()
{
    return {this, bytes.size(), readMemoryFile, closeMemoryFile};
}

RingMemory::RingMemory(size_t size) : m_bytes(new uint8_t[size + kRingAlignment]), m_size(size)
{
    const uintptr_t start = reinterpret_cast<uintptr_t>(m_bytes.get());
    m_start = m_bytes.get() + (kRingAlignment - start % kRingAlignment) % kRingAlignment;
}

SluiceStreamMemory RingMemory::memory() const
{
    return {{uint64_t(reinterpret_cast<uintptr_t>(m_start)), 0, m_size}, m_start};
}

CpuStreamer::CpuStreamer(uint32_t threads, const SluiceStreamerInfo& limits)
    : m_threads(threads), m_source(limits.source.buffer.size != 0 ? limits.source.buffer.size
                                                                  : SLUICE_STREAM_MIN_SOURCE)
{
    REQUIRE(sluiceCreateCpuContext(&m_context) == SLUICE_OK);
    SluiceStreamerInfo info = limits;
    info.context = m_context;
    info.source = m_source.memory();
    if (info.maxGroups == 0) info.maxGroups = 256;
    if (info.maxRequests == 0) info.maxRequests = 1024;
    if (info.maxBatches == 0) info.maxBatches = 2;
    info.threads = threads;
    REQUIRE(sluiceCreateStreamer(&info, &m_streamer) == SLUICE_OK);
}

CpuStreamer::~CpuStreamer()
{
    sluiceDestroyStreamer(m_streamer);
    sluiceDestroyContext(m_context);
}

SluiceStreamFile startOpening(SluiceStreamer streamer, MemoryFile& file, bool isArchive,
                              uint64_t user)
{
    const SluiceStreamFileInterface interface = file.interface();
    const SluiceStreamOpenInfo info = {nullptr, &interface, isArchive ? 1u : 0u, user};
    SluiceStreamFile opened = nullptr;
    REQUIRE(sluiceStreamOpen(streamer, &info, &opened) == SLUICE_OK);
    return opened;
}

SluiceStreamGroup submitGroup(SluiceStreamer streamer,
                              const std::vector<SluiceStreamRequest>& requests,
                              SluiceStreamGroupInfo info)
{
    info.requests = requests.data();
    info.requestCount = uint32_t(requests.size());
    SluiceStreamGroup group = 0;
    REQUIRE(sluiceStreamSubmit(streamer, &info, &group) == SLUICE_OK);
    CHECK(group != 0);
    return group;
}

SluiceStreamEvent CpuStreamer::tryOpen(MemoryFile& file, bool isArchive, SluiceStreamFile& opened)
{
    opened = startOpening(m_streamer, file, isArchive, 77);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
        for (size_t i = 0; i < m_opened.size(); ++i) {
            const SluiceStreamEvent event = m_opened[i];
            if (event.file != opened) continue;
            // Another file may get the same address.
            m_opened.erase(m_opened.begin() + ptrdiff_t(i));
            return event;
        }
        turn();
        REQUIRE(std::chrono::steady_clock::now() < end);
    }
}

SluiceStreamFile CpuStreamer::open(MemoryFile& file, bool isArchive)
{
    SluiceStreamFile opened = nullptr;
    const SluiceStreamEvent event = tryOpen(file, isArchive, opened);
    REQUIRE(event.status == SLUICE_OK);
    CHECK(event.user == 77);
    return opened;
}

SluiceStreamGroup CpuStreamer::submit(const std::vector<SluiceStreamRequest>& requests,
                                      int32_t priority, uint64_t tag)
{
    SluiceStreamGroupInfo info = {};
    info.priority = priority;
    info.tag = tag;
    return submitGroup(m_streamer, requests, info);
}

void CpuStreamer::turn(uint32_t jobs)
{
    if (m_threads == 0) REQUIRE(sluiceStreamPump(m_streamer, jobs, nullptr) == SLUICE_OK);
    SluiceStreamEvent events[3];
    uint32_t count = 3;
    REQUIRE(sluiceStreamPoll(m_streamer, events, &count) == SLUICE_OK);
    for (uint32_t i = 0; i < count; ++i) {
        if (events[i].kind == SLUICE_STREAM_OPENED) m_opened.push_back(events[i]);
        if (events[i].kind != SLUICE_STREAM_END) continue;
        CHECK(m_ended.count(events[i].group) == 0); // no group may end twice
        m_ended[events[i].group] = events[i];
        ++m_endCount;
    }
    if (count == 0 && m_threads != 0) std::this_thread::yield();
}

SluiceStreamEvent CpuStreamer::waitFor(SluiceStreamGroup group)
{
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (m_ended.count(group) == 0) {
        turn();
        REQUIRE(std::chrono::steady_clock::now() < end);
    }
    return m_ended[group];
}

SluiceStreamCounters CpuStreamer::counters() const
{
    SluiceStreamCounters counters = {};
    REQUIRE(sluiceStreamGetCounters(m_streamer, &counters) == SLUICE_OK);
    return counters;
}

SluiceStreamRequest fromArchive(SluiceStreamFile file, uint32_t asset, uint64_t offset,
                                uint64_t size, void* host)
{
    SluiceStreamRequest request = {};
    request.source = SLUICE_STREAM_FROM_ARCHIVE;
    request.file = file;
    request.asset = asset;
    request.offset = offset;
    request.size = size;
    request.host = host;
    return request;
}

SluiceStreamRequest fromFile(SluiceStreamFile file, uint64_t offset, uint64_t size, void* host)
{
    SluiceStreamRequest request = fromArchive(file, 0, offset, size, host);
    request.source = SLUICE_STREAM_FROM_FILE;
    return request;
}

SluiceStreamRequest fromMemory(const void* memory, uint64_t size, void* host)
{
    SluiceStreamRequest request = fromArchive(nullptr, 0, 0, size, host);
    request.source = SLUICE_STREAM_FROM_MEMORY;
    request.memory = memory;
    return request;
}

GuardedBytes::GuardedBytes(size_t size, size_t misalign)
    : m_bytes(size + misalign + 2 * kGuard, kPattern), m_start(kGuard + misalign), m_size(size)
{
}

Bytes GuardedBytes::content() const
{
    return Bytes(m_bytes.begin() + ptrdiff_t(m_start),
                 m_bytes.begin() + ptrdiff_t(m_start + m_size));
}

void GuardedBytes::checkGuards() const
{
    for (size_t i = 0; i < m_bytes.size(); ++i)
        if (i < m_start || i >= m_start + m_size) REQUIRE(m_bytes[i] == kPattern);
}

} // namespace sluice::test
