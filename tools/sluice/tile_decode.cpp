// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>

#include "tile_decode.h"

#include <algorithm>

namespace sluice {

TileDecode::TileDecode(const ToolDevice& device)
    : m_device(device), m_source(device), m_destination(device), m_filtered(device),
      m_descriptions(device), m_tensors(device), m_tensorStatus(device), m_tensorScratch(device)
{
    for (uint32_t group = 0; group < kTileGroupCount; ++group)
        m_buffers.emplace_back(device);
}

SluiceBuffer TileDecode::uploadRegions(DeviceBuffer& buffer, std::vector<SluiceRegion> regions,
                                       const SluiceBuffer& destination)
{
    for (SluiceRegion& region : regions) {
        region.srcAddress += m_device.address(m_sourceRange);
        region.dstAddress += m_device.address(destination);
    }
    return buffer.fill(regions);
}

const TileCommands& TileDecode::prepare(const TileList& list)
{
    m_commands = {};
    m_sourceRange = m_source.fill(list.source, list.sourceSize);
    m_commands.destination = m_destination.reserve(list.destinationSize);
    if (list.filteredSize != 0) {
        m_filteredRange = m_filtered.reserve(list.filteredSize);
        m_descriptionRange = m_descriptions.fill(list.descriptions);
    }
    for (const TileGroup group : {kGdeflateTiles, kGdeflateFilteredTiles})
        prepareGroup(list, group, m_commands.groups[group].gdeflate, sluiceGetGdeflateRequirements);
    for (const TileGroup group : {kGstdTiles, kGstdFilteredTiles})
        prepareGroup(list, group, m_commands.groups[group].gstd, sluiceGetGstdRequirements);
    if (!list.groups[kFloatTiles].regions.empty()) prepareFloatChecks(list);
    if (!list.tensors.empty()) prepareTensors(list);
    return m_commands;
}

template <typename Info, typename GetRequirements>
void TileDecode::prepareGroup(const TileList& list, TileGroup group, Info& info,
                              GetRequirements getRequirements)
{
    const TileList::Group& tiles = list.groups[group];
    if (tiles.regions.empty()) return;
    GroupBuffers& buffers = m_buffers[group];
    const bool filtered = !tiles.filters.empty();
    info.maxRegionCount = uint32_t(tiles.regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.flags = list.flags;
    info.source = m_sourceRange;
    info.destination = filtered ? m_filteredRange : m_commands.destination;
    std::vector<SluiceRegion> regions = tiles.regions;
    for (size_t i = 0; filtered && i < regions.size(); ++i)
        regions[i].dstAddress = tiles.filters[i].srcAddress;
    info.regions = uploadRegions(buffers.regions, regions, info.destination);
    const SluiceBuffer expected = buffers.expected.fill(tiles.expected);
    info.expected = filtered ? SluiceBuffer{} : expected;
    info.status = m_commands.groups[group].status =
        buffers.status.reserve((tiles.regions.size() + 2) * 4);
    info.scratch = buffers.scratch.reserve(m_device.scratchSize(getRequirements, info));
    if (!filtered) return;
    prepareFilter(list, group);
    prepareChecksum(list, group, expected);
}

// The decode has a status for every 8,192 elements; the checksum wants one a tile, and takes all of
// them for decoded.
void TileDecode::prepareFloatChecks(const TileList& list)
{
    const TileList::Group& tiles = list.groups[kFloatTiles];
    GroupBuffers& buffers = m_buffers[kFloatTiles];
    Words status(tiles.regions.size(), SLUICE_TILE_UNVERIFIED);
    status.insert(status.end(), {0u, UINT32_MAX});
    m_commands.groups[kFloatTiles].status = buffers.status.fill(status);
    prepareChecksum(list, kFloatTiles, buffers.expected.fill(tiles.expected));
}

void TileDecode::prepareChecksum(const TileList& list, TileGroup group,
                                 const SluiceBuffer& expected)
{
    const std::vector<SluiceRegion>& regions = list.groups[group].regions;
    SluiceChecksumInfo& info = m_commands.groups[group].checksum;
    info.maxRegionCount = uint32_t(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.regions = uploadRegions(m_buffers[group].finalRegions, regions, m_commands.destination);
    info.destination = m_commands.destination;
    info.expected = expected;
    info.status = m_commands.groups[group].status;
}

void TileDecode::prepareFilter(const TileList& list, TileGroup group)
{
    GroupBuffers& buffers = m_buffers[group];
    SluiceFilterInfo& info = m_commands.groups[group].filter;
    std::vector<SluiceFilterTile> tiles = list.groups[group].filters;
    for (SluiceFilterTile& tile : tiles) {
        tile.srcAddress += m_device.address(m_filteredRange);
        tile.dstAddress += m_device.address(m_commands.destination);
        info.maxTileSize = std::max(info.maxTileSize, (tile.size + 3) / 4 * 4);
    }
    info.maxTileCount = info.statusCount = uint32_t(tiles.size());
    info.tiles = buffers.tiles.fill(tiles);
    info.descriptions = m_descriptionRange;
    info.source = m_filteredRange;
    info.destination = m_commands.destination;
    info.status = m_commands.groups[group].status;
    info.scratch =
        buffers.filterScratch.reserve(m_device.scratchSize(sluiceGetFilterRequirements, info));
}

void TileDecode::prepareTensors(const TileList& list)
{
    SluiceFloatDecodeInfo& info = m_commands.floats;
    info.tensorCount = uint32_t(list.tensors.size());
    info.tileCount = list.tensorTiles;
    info.source = m_sourceRange;
    info.destination = m_commands.destination;
    std::vector<SluiceFloatTensor> tensors = list.tensors;
    for (SluiceFloatTensor& tensor : tensors) {
        for (uint64_t* address : addressesOf(tensor))
            *address += m_device.address(info.source);
        tensor.output += m_device.address(info.destination);
    }
    info.tensors = m_tensors.fill(tensors);
    info.status = m_tensorStatus.reserve((uint64_t(info.tileCount) + 2) * 4);
    info.scratch =
        m_tensorScratch.reserve(m_device.scratchSize(sluiceGetFloatDecodeRequirements, info));
}

void TileDecode::record(SluiceCommands commands) const
{
    const SluiceContext context = m_device.context();
    const auto check = [this](SluiceStatus status, const char* what) {
        m_device.check(status, what);
    };
    for (const TileCommands::Group& group : m_commands.groups) {
        if (group.gdeflate.maxRegionCount != 0)
            check(sluiceCmdGdeflate(context, commands, &group.gdeflate), "decode");
        if (group.gstd.maxRegionCount == 0) continue;
        check(group.filter.maxTileCount != 0
                  ? sluiceCmdGstdFilter(context, commands, &group.gstd, &group.filter)
                  : sluiceCmdGstd(context, commands, &group.gstd),
              "decode");
    }
    if (m_commands.floats.tensorCount != 0)
        check(sluiceCmdFloatDecode(context, commands, &m_commands.floats), "decode");
    for (const TileCommands::Group& group : m_commands.groups) {
        if (group.checksum.maxRegionCount == 0) continue;
        check(sluiceCmdBarrier(context, commands), "barrier");
        // Gstd's filters are undone already.
        if (group.filter.maxTileCount != 0 && group.gstd.maxRegionCount == 0) {
            check(sluiceCmdFilter(context, commands, &group.filter), "filter");
            check(sluiceCmdBarrier(context, commands), "barrier");
        }
        check(sluiceCmdChecksum(context, commands, &group.checksum), "checksum");
    }
}

} // namespace sluice
