// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/zstd/zstd_decoder.h"

#include <algorithm>
#include <system_error>
#include <thread>

namespace sluice {
namespace {

using cpu::fast::ZstdFrames;
using cpu::fast::ZstdWindow;

constexpr uint64_t kMebi = uint64_t(1) << 20;
constexpr uint64_t kDefaultWindow = 448 * kMebi; // all memory together stays below 512 MiB
// A run is the frames that a thread decodes together. In large files runs are larger, so that their
// list has at most about this many.
constexpr uint64_t kMostRuns = 65536;
constexpr size_t kPiece = size_t(1) << 20;       // about how many bytes a sink gets at once
constexpr uint64_t kWorkerMemory = 4 * kMebi;    // bytes for a thread, besides its window
constexpr uint64_t kThreadsMemory = 256 * kMebi; // bytes for all threads, unless one takes more

} // namespace

ZstdPlan::ZstdPlan(ZstdFile& file, uint64_t most, uint64_t maxWindow, bool keepGoing,
                   const ZstdRunSize& runSize)
    : m_runSize(runSize)
{
    const uint64_t window = maxWindow != 0 ? maxWindow : kDefaultWindow;
    const auto note = [&](const ZstdDamage& damage) {
        m_damages.add(damage);
        ++m_data; // a seek table has an entry for it
    };
    const auto take = [&](const ZstdFrame& frame) {
        const uint64_t reach =
            frame.isSkippable ? 0 : ZstdWindow::reachOf(frame.header, frame.size);
        if (reach <= window) return add(file, frame);
        ZstdDamage damage = {frame.number, frame.offset, 0, frame.offset, SLUICE_TILE_UNSUPPORTED};
        damage.window = reach;
        damage.maxWindow = window;
        if (!keepGoing) throw Failure{damage.exitCode(), file.text(damage)};
        note(damage);
    };
    file.scan(most, take, keepGoing ? note : std::function<void(const ZstdDamage&)>());
    closeRun();
}

// Ends the last run. A frame that does not state its content size may decode to as many bytes as
// its whole run, so memory for its window is planned for that many.
void ZstdPlan::closeRun()
{
    if (m_widest.window != 0)
        m_memory = std::max(m_memory, ZstdWindow::memoryFor(m_widest, m_runs.back().size));
    m_widest = {};
}

void ZstdPlan::add(const ZstdFile& file, const ZstdFrame& frame)
{
    const uint64_t size = frame.isSkippable ? 0 : frame.size;
    if (m_damages.isFull()) return;
    const uint64_t mostStored = std::max(m_runSize.stored, file.file().size() / kMostRuns),
                   mostSize = std::max(m_runSize.size, m_size / kMostRuns);
    const bool fits = !m_runs.empty() && m_runs.back().end == frame.offset &&
                      m_runs.back().end - m_runs.back().begin < mostStored &&
                      m_runs.back().size < mostSize && size < mostSize;
    if (!fits) {
        closeRun();
        m_runs.push_back({frame.offset, frame.offset, frame.number, m_data, m_size, 0});
    }
    ZstdRun& run = m_runs.back();
    run.end = frame.offset + frame.storedSize;
    run.size += size;
    m_size += size;
    if (frame.isSkippable) return;
    ++m_data;
    for (const uint64_t blocks : frame.blocks)
        run.blocks += blocks;
    if (frame.header.hasContentSize)
        m_memory = std::max(m_memory, ZstdWindow::memoryFor(frame.header, size));
    else if (frame.header.window > m_widest.window)
        m_widest = frame.header;
}

// Decodes runs in one thread, one after the other.
class ZstdDecoder::Worker {
public:
    explicit Worker(ZstdDecoder& decoder)
        : m_decoder(decoder), m_window(decoder.m_file.dictionary()->get())
    {
    }

    void decode(size_t index)
    {
        m_run = index;
        const ZstdRun& run = m_decoder.m_plan.runs()[index];
        m_offset = run.output;
        m_isDamaged = false;
        m_pending.clear();
        ZstdFrames frames = m_decoder.m_file.reader(run.begin, run.end);
        uint64_t number = run.firstFrame, data = run.firstData;
        for (;; ++number) {
            const ZstdFrames::Kind kind = frames.next();
            if (kind == ZstdFrames::Kind::end) break;
            if (kind == ZstdFrames::Kind::skippable) continue;
            const bool isGood =
                kind == ZstdFrames::Kind::frame && decodeFrame(frames, number, data);
            ++data;
            if (isGood) continue;
            if (kind != ZstdFrames::Kind::frame || frames.status() != SLUICE_TILE_OK) changed();
            m_isDamaged = true;
            flush();
            m_decoder.m_sink.stop(index);
            if (!m_decoder.m_keepGoing) return;
            zstd::Block block;
            while (frames.nextBlock(block)) {
            }
        }
        flush();
        if (m_offset != run.output + run.size && !m_isDamaged) changed();
        if (!m_isDamaged) m_decoder.m_sink.end(index);
    }

private:
    [[noreturn]] void changed() const
    {
        throw Failure{exitIo, m_decoder.m_file.file().name() + ": has changed meanwhile"};
    }

    // Decodes a frame. If it is damaged, notes the damage and returns false.
    bool decodeFrame(ZstdFrames& frames, uint64_t number, uint64_t data)
    {
        const ZstdSeekTable& table = m_decoder.m_file.seekTable();
        const bool hashes = table.hasChecksums();
        const ZstdRun& run = m_decoder.m_plan.runs()[m_run];
        const uint64_t done = m_offset + m_pending.size() - run.output;
        m_window.begin(frames.header(), run.size - done, hashes);
        uint64_t blocks = 0, blockOffset = frames.offset();
        const auto note = [&](uint32_t status) {
            m_decoder.note(m_run, {number, frames.offset(), blocks, blockOffset, status});
            return false;
        };
        for (zstd::Block block; frames.nextBlock(block); blockOffset = frames.position()) {
            const uint32_t status = m_window.decode(block, frames.checksum());
            put(m_window.bytes(), m_window.size());
            if (status != SLUICE_TILE_OK) return note(status);
            ++blocks;
        }
        if (frames.status() != SLUICE_TILE_OK) changed(); // the plan had found no error
        const uint64_t entry = table.skipsSkippable ? data : number;
        blocks = 0;
        blockOffset = frames.offset();
        return !hashes || m_decoder.m_file.tableChecksum(entry) == m_window.hash() ||
               note(SLUICE_TILE_BAD_CHECKSUM);
    }

    void put(const uint8_t* bytes, size_t size)
    {
        if (m_pending.size() + size > kPiece) flush();
        m_pending.insert(m_pending.end(), bytes, bytes + size);
    }
    void flush()
    {
        const ZstdRun& run = m_decoder.m_plan.runs()[m_run];
        if (m_offset + m_pending.size() > run.output + run.size) changed();
        if (!m_pending.empty())
            m_decoder.m_sink.write(m_run, m_offset, m_pending.data(), m_pending.size());
        m_offset += m_pending.size();
        m_pending.clear();
    }

    ZstdDecoder& m_decoder;
    ZstdWindow m_window;
    size_t m_run = 0;
    bool m_isDamaged = false;
    uint64_t m_offset = 0; // where m_pending begins in the file's content
    Bytes m_pending;
};

ZstdDecoder::ZstdDecoder(const ZstdFile& file, const ZstdPlan& plan, ZstdSink& sink, bool keepGoing)
    : m_file(file), m_plan(plan), m_sink(sink), m_keepGoing(keepGoing), m_damages(plan.damages())
{
}

ZstdDecoder::~ZstdDecoder() = default;

bool ZstdDecoder::decodeRun(size_t run)
{
    const uint64_t before = m_damages.count();
    if (m_worker == nullptr) m_worker = std::make_unique<Worker>(*this);
    m_worker->decode(run);
    return m_damages.count() == before;
}

bool ZstdDecoder::fitsTable(size_t run, const uint8_t* content) const
{
    const ZstdSeekTable& table = m_file.seekTable();
    if (!table.hasChecksums()) return true;
    const ZstdRun& frames = m_plan.runs()[run];
    ZstdFrames reader = m_file.reader(frames.begin, frames.end);
    uint64_t number = frames.firstFrame, data = frames.firstData, left = frames.size;
    for (;; ++number) {
        const ZstdFrames::Kind kind = reader.next();
        if (kind == ZstdFrames::Kind::end) return true;
        if (kind == ZstdFrames::Kind::skippable) continue;
        if (kind != ZstdFrames::Kind::frame) return false; // the file has changed meanwhile
        zstd::Block block;
        while (reader.nextBlock(block)) {
        }
        const uint64_t entry = table.skipsSkippable ? data : number;
        const uint64_t size = m_file.tableSize(entry);
        if (size > left || uint32_t(xxh64(content, size_t(size), 0)) != m_file.tableChecksum(entry))
            return false;
        content += size;
        left -= size;
        ++data;
    }
}

void ZstdDecoder::note(size_t run, const ZstdDamage& damage)
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (!m_keepGoing) m_last = std::min<size_t>(m_last, run);
    m_damages.add(damage);
}

void ZstdDecoder::work()
{
    size_t index = 0;
    try {
        Worker worker(*this);
        while ((index = m_next++) < m_plan.runs().size() && index <= m_last)
            worker.decode(index);
    } catch (...) {
        const std::lock_guard<std::mutex> lock(m_mutex);
        // No thread begins a run after this one. Earlier runs are still decoded, since a sink may
        // wait for their end.
        m_last = std::min<size_t>(m_last, index);
        if (!m_error) m_error = std::current_exception();
        m_sink.stop(index);
    }
}

ZstdDamages ZstdDecoder::run(uint32_t threads)
{
    const uint64_t each = m_plan.memory() + kWorkerMemory,
                   most = std::max<uint64_t>(kThreadsMemory / each, 1),
                   count = std::min<uint64_t>({threadCount(threads), m_plan.runs().size(), most});
    std::vector<std::thread> others;
    try {
        for (uint64_t i = 1; i < count; ++i)
            others.emplace_back([this] { work(); });
    } catch (const std::system_error&) { // the system has no more threads
    }
    work();
    for (std::thread& thread : others)
        thread.join();
    if (m_error) std::rethrow_exception(m_error);
    return m_damages;
}

} // namespace sluice
