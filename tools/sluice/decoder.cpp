// SPDX-License-Identifier: MIT OR Apache-2.0
#include "decoder.h"

#include <algorithm>
#include <utility>

#include "codecs.h"

namespace sluice {
namespace {

// A GPU wants many tiles at once; a software device shall show progress.
constexpr uint64_t kGpuBatchBytes = uint64_t(256) << 20, kSoftwareBatchBytes = uint64_t(8) << 20;
constexpr size_t kBatchTiles = 65536;
// Descriptions of filters that tiles do not share: what a hostile archive may ask for at once.
constexpr uint64_t kBatchDescriptionBytes = uint64_t(16) << 20;
constexpr uint64_t kPlaceAlignment = 16;

uint64_t place(uint64_t& end, uint64_t size)
{
    const uint64_t start = end;
    end = (end + size + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
    return start;
}

} // namespace

uint32_t Decoder::kernels()
{
    uint32_t kernels = SLUICE_KERNELS_FILTER;
    for (const Codec& codec : kCodecs)
        kernels |= codec.kernels;
    return kernels;
}

Decoder::Decoder(const ToolDevice& device, Done done)
    : m_device(device), m_done(std::move(done)),
      m_batchBytes(device.properties().isSoftware != 0 ? kSoftwareBatchBytes : kGpuBatchBytes),
      m_sourceBuffer(device), m_destinationBuffer(device), m_controlBuffer(device),
      m_resultsBuffer(device), m_scratch(device)
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
    std::vector<Entry> entries; // done may throw: nothing is given back twice
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

void Decoder::decodeOnDevice()
{
    m_tiles.clear();
    SluiceTileTotals totals = {};
    for (const Entry& entry : m_entries) {
        m_tiles.push_back(tileOf(entry));
        m_device.check(sluiceAddTile(&totals, &m_tiles.back()), "tile");
    }
    SluiceTilesInfo info = {};
    info.tiles = m_tiles.data();
    info.tileCount = uint32_t(m_tiles.size());
    // A batch holds tiles of one kind of file; tile streams have no checksums and never store.
    if (!m_entries.front().tile.hasChecksum)
        info.flags = SLUICE_TILES_UNCHECKED | SLUICE_TILES_NEVER_STORED;
    SluiceTilesRequirements required = {};
    m_device.check(sluiceGetTilesRequirements(m_device.context(), &info, &totals, &required),
                   "requirements");
    m_control.resize(std::max<size_t>(m_control.size(), required.controlSize));
    m_results.resize(std::max<size_t>(m_results.size(), required.resultsSize));
    info.source = m_sourceBuffer.fill(m_source.data(), m_sourceSize);
    info.sourceHost = m_source.data();
    info.destination = m_destinationBuffer.reserve(m_destinationSize);
    info.control = m_controlBuffer.reserve(required.controlSize);
    info.controlHost = m_control.data();
    info.results = m_resultsBuffer.reserve(required.resultsSize);
    info.resultsHost = m_results.data();
    info.scratch = m_scratch.reserve(required.scratchSize);
    m_device.check(sluicePrepareTiles(m_device.context(), &info), "tiles");
    m_device.upload(info.control, m_control.data(), required.controlSize);
    m_device.upload(info.results, m_results.data(), required.resultsSize);
    m_stats.gpuMilliseconds += m_device.run([&](SluiceCommands commands) {
        m_device.check(sluiceCmdTiles(m_device.context(), commands, &info), "decode");
    });
    m_destination.resize(std::max<size_t>(m_destination.size(), m_destinationSize));
    m_device.download(info.destination, m_destination.data(), m_destinationSize);
    m_device.download(info.results, m_results.data(), required.resultsSize);
    m_status.resize(m_tiles.size());
    m_device.check(sluiceGetTileResults(&info, m_status.data(), nullptr), "results");
}

} // namespace sluice
