// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/decoder.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/common/codecs.h"

namespace sluice {
namespace {

// The most decoded bytes of a batch. A GPU is busy only if it has many tiles at once. A software
// device gets smaller batches, so that the progress line moves: 8 MiB for each of its threads.
constexpr uint64_t kGpuBatchBytes = uint64_t(256) << 20, kSoftwareBatchBytes = uint64_t(8) << 20;
constexpr size_t kBatchTiles = 65536;
// A hostile archive may give each of very many tiles a filter description of its own. This bounds
// the bytes of filter descriptions in a batch.
constexpr uint64_t kBatchDescriptionBytes = uint64_t(16) << 20;
constexpr uint64_t kPlaceAlignment = 16;

uint64_t place(uint64_t& end, uint64_t size)
{
    const uint64_t start = end;
    end = (end + size + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
    return start;
}

} // namespace

uint64_t batchBytes(const ToolDevice& device)
{
    return device.properties().isSoftware == 0
               ? kGpuBatchBytes
               : std::min(kGpuBatchBytes, kSoftwareBatchBytes * device.threads());
}

uint32_t Decoder::kernels()
{
    uint32_t kernels = SLUICE_KERNELS_FILTER;
    for (const Codec& codec : kCodecs)
        kernels |= codec.kernels;
    return kernels;
}

Decoder::Decoder(const ToolDevice& device, Done done)
    : m_device(device), m_done(std::move(done)), m_batchBytes(batchBytes(device)),
      m_sourceBuffer(device), m_destinationBuffer(device)
{
}

bool Decoder::fits(const DecodeTile& added) const
{
    const ContainerTile& tile = added.tile;
    return m_destinationSize + tile.size <= m_batchBytes &&
           m_sourceSize + tile.storedSize <= m_batchBytes && m_entries.size() < kBatchTiles &&
           m_descriptionSize + tile.filterSize <= kBatchDescriptionBytes;
}

uint8_t* Decoder::add(const DecodeTile& added)
{
    const ContainerTile& tile = added.tile;
    if (!m_entries.empty() && !fits(added)) flush();
    const bool sharesFilter =
        !m_entries.empty() && m_entries.back().tile.tile.filter == tile.filter;
    if (!sharesFilter) m_descriptionSize += tile.filterSize;
    m_entries.push_back(
        {added, place(m_sourceSize, tile.storedSize), place(m_destinationSize, tile.size)});
    if (m_source.size() < m_sourceSize) {
        m_source.resize(
            std::max<size_t>(m_sourceSize, std::min<size_t>(m_source.size() * 2, m_batchBytes)));
    }
    return m_source.data() + m_entries.back().source;
}

void Decoder::flush()
{
    if (!m_entries.empty()) decodeOnDevice();
    // The batch is emptied first: m_done may throw, and no tile may be reported again after that.
    std::vector<Entry> entries;
    entries.swap(m_entries);
    m_sourceSize = m_destinationSize = m_descriptionSize = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        m_stats.bytesIn += entry.tile.tile.storedSize;
        m_stats.bytesOut += entry.tile.tile.size;
        ++m_stats.tiles;
        m_done(entry.tile, m_status[i], m_destination.data() + entry.destination);
    }
}

SluiceTile Decoder::tileOf(const Entry& entry) const
{
    const ContainerTile& tile = entry.tile.tile;
    return {entry.source, entry.destination, tile.storedSize, tile.size,
            tile.codec,   tile.checksum,     tile.filter,     tile.filterSize};
}

// Fills a slice, the tiles that one command decodes, with the tiles [first, last) of the batch.
void Decoder::prepare(Slice& slice, size_t first, size_t last)
{
    slice.first = first;
    slice.tiles.clear();
    for (size_t i = first; i < last; ++i)
        slice.tiles.add(tileOf(m_entries[i]));
    SluiceTilesInfo& info = slice.tiles.info;
    // All tiles of a batch come from the same kind of file. Tiles of bare tile streams have no
    // checksums and are always compressed.
    if (!m_entries.front().tile.hasChecksum)
        info.flags = SLUICE_TILES_UNCHECKED | SLUICE_TILES_NEVER_STORED;
    info.source = m_sourceRange;
    info.sourceHost = m_source.data();
    info.destination = m_destinationRange;
    slice.tiles.prepare();
}

// Decodes the first `slices` slices, each in a thread of its own. Returns the time in milliseconds.
double Decoder::runInThreads(size_t slices)
{
    const auto start = std::chrono::steady_clock::now();
    std::vector<SluiceStatus> statuses(slices, SLUICE_OK);
    const auto decode = [&](size_t i) { statuses[i] = m_slices[i].tiles.record(nullptr); };
    std::vector<std::thread> threads;
    threads.reserve(slices);
    size_t begun = 1; // this thread decodes the first slice
    try {
        for (; begun < slices; ++begun)
            threads.emplace_back(decode, begun);
    } catch (const std::system_error&) { // the system has no more threads: decode the rest here
        for (; begun < slices; ++begun)
            decode(begun);
    }
    decode(0);
    for (std::thread& thread : threads)
        thread.join();
    for (const SluiceStatus status : statuses)
        m_device.check(status, "decode");
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

void Decoder::decodeOnDevice()
{
    m_sourceRange = m_sourceBuffer.fill(m_source.data(), m_sourceSize);
    m_destinationRange = m_destinationBuffer.reserve(m_destinationSize);
    // Each slice gets about the same number of decoded bytes.
    const size_t wanted = std::min<size_t>(m_device.threads(), m_entries.size());
    size_t slices = 0;
    for (size_t first = 0; first < m_entries.size(); ++slices) {
        const uint64_t end = m_destinationSize * (slices + 1) / wanted;
        size_t last = first + 1;
        while (last < m_entries.size() && m_entries[last].destination < end)
            ++last;
        if (slices == m_slices.size()) m_slices.push_back({0, TileBatch(m_device)});
        prepare(m_slices[slices], first, last);
        first = last;
    }
    m_stats.gpuMilliseconds +=
        slices > 1 ? runInThreads(slices) : m_device.run([&](SluiceCommands commands) {
            m_device.check(m_slices[0].tiles.record(commands), "decode");
        });
    m_destination.resize(std::max<size_t>(m_destination.size(), m_destinationSize));
    m_device.download(m_destinationRange, m_destination.data(), m_destinationSize);
    m_status.resize(m_entries.size());
    for (size_t i = 0; i < slices; ++i)
        m_slices[i].tiles.takeResults(m_status.data() + m_slices[i].first);
}

} // namespace sluice
