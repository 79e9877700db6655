// SPDX-License-Identifier: MIT OR Apache-2.0
#include "decoder.h"

#include <algorithm>
#include <utility>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_formats.h>

namespace sluice {
namespace {

// A GPU wants many tiles at once; a software device shall show progress.
constexpr uint64_t kGpuBatchBytes = uint64_t(256) << 20, kSoftwareBatchBytes = uint64_t(8) << 20;
constexpr size_t kBatchTiles = 65536;
constexpr uint32_t kGdeflateTileBytes = 65536, kGstdTileBytes = 262144; // at most
constexpr uint64_t kPlaceAlignment = 16;

uint64_t place(uint64_t& end, uint64_t size)
{
    const uint64_t start = end;
    end = (end + size + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
    return start;
}

// Stored tiles go with those of a command that takes tiles of their size.
TileGroup groupOf(const ContainerTile& tile)
{
    TileGroup group = tile.codec != SLUICE_CODEC_STORE  ? codecOfTiles(tile.codec).tileGroup
                      : tile.size <= kGdeflateTileBytes ? kGdeflateTiles
                      : tile.size <= kGstdTileBytes     ? kGstdTiles
                                                        : kHostTiles;
    if (tile.filter == nullptr) return group;
    return group == kGdeflateTiles ? kGdeflateFilteredTiles
           : group == kGstdTiles   ? kGstdFilteredTiles
                                   : group;
}

uint32_t tilesOf(const SluiceFloatTensor& tensor)
{
    return uint32_t((tensor.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE);
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
      m_tileDecode(device)
{
}

uint8_t* Decoder::add(const DecodeTile& added)
{
    const ContainerTile& tile = added.tile;
    if (!m_entries.empty() &&
        (m_destinationSize + tile.size > m_batchBytes ||
         m_sourceSize + tile.storedSize > m_batchBytes || m_entries.size() == kBatchTiles)) {
        flush();
    }
    Entry entry = {added, groupOf(tile), place(m_sourceSize, tile.storedSize), 0,
                   0,     SLUICE_TILE_OK};
    if (entry.group != kHostTiles) entry.destination = place(m_destinationSize, tile.size);
    if (entry.group == kGdeflateFilteredTiles || entry.group == kGstdFilteredTiles)
        entry.filtered = place(m_filteredSize, tile.size);
    m_entries.push_back(entry);
    if (m_source.size() < m_sourceSize) {
        m_source.resize(
            std::max<size_t>(m_sourceSize, std::min<size_t>(m_source.size() * 2, m_batchBytes)));
    }
    return m_source.data() + entry.source;
}

void Decoder::flush()
{
    std::vector<Entry> entries; // done may throw: nothing is given back twice
    entries.swap(m_entries);
    if (m_destinationSize != 0) decodeOnDevice(entries);
    m_sourceSize = m_destinationSize = m_filteredSize = 0;
    for (Entry& entry : entries) {
        const uint8_t* bytes = entry.group != kHostTiles ? m_destination.data() + entry.destination
                                                         : m_source.data() + entry.source;
        if (!entry.isCheckedOnDevice() && entry.status == SLUICE_TILE_OK) checkOnHost(entry, bytes);
        m_stats.bytesIn += entry.tile.tile.storedSize;
        m_stats.bytesOut += entry.tile.tile.size;
        ++m_stats.tiles;
        m_done(entry.tile, entry.status, bytes);
    }
}

// Undoes the filter, to which bytes points then, and compares the checksum.
void Decoder::checkOnHost(Entry& entry, const uint8_t*& bytes)
{
    const ContainerTile& tile = entry.tile.tile;
    if (tile.filter != nullptr) {
        m_unfiltered.resize(tile.size);
        if (sluiceUndoFilter(tile.filter, tile.filterSize, bytes, m_unfiltered.data(), tile.size) !=
            SLUICE_OK) {
            entry.status = SLUICE_TILE_BAD_FILTER;
            return;
        }
        bytes = m_unfiltered.data();
    }
    if (entry.tile.hasChecksum && sluiceTileChecksum(bytes, tile.size) != tile.checksum)
        entry.status = SLUICE_TILE_BAD_CHECKSUM;
}

void Decoder::addRegion(const Entry& entry, TileList& list) const
{
    TileList::Group& group = list.groups[entry.group];
    const ContainerTile& tile = entry.tile.tile;
    if (entry.tile.hasChecksum) group.expected.push_back(tile.checksum);
    if (tile.filter != nullptr) {
        // Tiles in a row mostly have the same filter.
        const uint8_t* bytes = static_cast<const uint8_t*>(tile.filter);
        const bool same =
            !group.filters.empty() && group.filters.back().descriptionSize == tile.filterSize &&
            std::equal(bytes, bytes + tile.filterSize,
                       list.descriptions.data() + group.filters.back().descriptionOffset);
        const uint32_t at =
            same ? group.filters.back().descriptionOffset : uint32_t(list.descriptions.size());
        if (!same)
            list.descriptions.insert(list.descriptions.end(), bytes, bytes + tile.filterSize);
        group.filters.push_back({entry.filtered, entry.destination, tile.size, at, tile.filterSize,
                                 uint32_t(group.regions.size())});
    }
    group.regions.push_back({entry.source, entry.destination, tile.storedSize, tile.size});
}

// False if the tile's header makes no sense.
bool Decoder::addTensor(const Entry& entry, TileList& list) const
{
    SluiceFloatTensor tensor = {};
    const ContainerTile& tile = entry.tile.tile;
    if (sluiceParseFloatTile(m_source.data() + entry.source, tile.storedSize, tile.size, &tensor) !=
        SLUICE_OK) {
        return false;
    }
    for (uint64_t* address : addressesOf(tensor))
        *address += entry.source;
    tensor.output = entry.destination;
    tensor.firstTile = list.tensorTiles;
    list.tensorTiles += tilesOf(tensor);
    list.tensors.push_back(tensor);
    return true;
}

void Decoder::decodeOnDevice(std::vector<Entry>& entries)
{
    TileList list = {};
    list.source = m_source.data();
    list.sourceSize = m_sourceSize;
    list.destinationSize = m_destinationSize;
    list.filteredSize = m_filteredSize;
    // A batch holds tiles of one kind of file, and tile streams never store.
    if (entries.front().tile.hasChecksum) list.flags = SLUICE_DECODE_STORED_IF_EQUAL;
    for (Entry& entry : entries) {
        if (entry.group == kFloatTiles && !addTensor(entry, list)) {
            entry.status = SLUICE_TILE_BAD_REGION;
        } else if (entry.isCheckedOnDevice()) {
            addRegion(entry, list);
        }
    }
    const TileCommands& decode = m_tileDecode.prepare(list);
    m_stats.gpuMilliseconds +=
        m_device.run([this](SluiceCommands commands) { m_tileDecode.record(commands); });

    const auto download = [&](const SluiceBuffer& buffer, auto& to, size_t count) {
        to.resize(std::max(to.size(), count));
        m_device.download(buffer, to.data(), buffer.size);
    };
    download(decode.destination, m_destination, size_t(m_destinationSize));
    for (uint32_t group = 0; group < kTileGroupCount; ++group) {
        const size_t count = list.groups[group].regions.size();
        if (count != 0) download(decode.groups[group].status, m_status[group], count + 2);
    }
    if (!list.tensors.empty())
        download(decode.floats.status, m_tensorStatus, size_t(list.tensorTiles) + 2);
    size_t region[kTileGroupCount] = {}, tensor = 0;
    for (Entry& entry : entries) {
        if (entry.group == kHostTiles || entry.status != SLUICE_TILE_OK) continue;
        if (entry.isCheckedOnDevice()) entry.status = m_status[entry.group][region[entry.group]++];
        if (entry.group == kFloatTiles) {
            const SluiceFloatTensor& decoded = list.tensors[tensor++];
            const uint32_t* status = m_tensorStatus.data() + decoded.firstTile;
            const uint32_t* end = status + tilesOf(decoded);
            const uint32_t* bad =
                std::find_if(status, end, [](uint32_t one) { return one != SLUICE_TILE_OK; });
            if (bad != end) entry.status = *bad;
        }
    }
}

} // namespace sluice
