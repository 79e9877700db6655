// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>

#include "tile_decode.h"

#include <algorithm>

namespace sluice {

TileDecode::TileDecode(const ToolDevice& device)
    : device_(device), source_(device), destination_(device), filtered_(device),
      descriptions_(device), groups_{GroupBuffers(device), GroupBuffers(device),
                                     GroupBuffers(device), GroupBuffers(device),
                                     GroupBuffers(device)},
      tensors_(device), tensorStatus_(device), tensorScratch_(device)
{
}

SluiceBuffer TileDecode::upload(DeviceBuffer& buffer, const void* bytes, uint64_t size)
{
    const SluiceBuffer range = buffer.reserve(size);
    device_.check(sluiceUpload(device_.handle(), range, bytes, size), "upload");
    return range;
}

SluiceBuffer TileDecode::uploadRegions(DeviceBuffer& buffer, std::vector<SluiceRegion> regions,
                                       const SluiceBuffer& destination)
{
    for (SluiceRegion& region : regions) {
        region.srcAddress += sluiceGetAddress(device_.handle(), sourceRange_);
        region.dstAddress += sluiceGetAddress(device_.handle(), destination);
    }
    return upload(buffer, regions.data(), regions.size() * sizeof(SluiceRegion));
}

const TileCommands& TileDecode::prepare(const TileList& list)
{
    commands_ = {};
    sourceRange_ = upload(source_, list.source, list.sourceSize);
    commands_.destination = destination_.reserve(list.destinationSize);
    if (list.filteredSize != 0) {
        filteredRange_ = filtered_.reserve(list.filteredSize);
        descriptionRange_ =
            upload(descriptions_, list.descriptions.data(), list.descriptions.size());
    }
    for (uint32_t g = 0; g < kTileGroups; ++g) {
        if (list.groups[g].regions.empty()) continue;
        if (g < 2) {
            prepareGroup(list, g, commands_.gdeflate[g], sluiceGetGdeflateRequirements);
        } else if (g < kTensorGroup) {
            prepareGroup(list, g, commands_.gstd[g - 2], sluiceGetGstdRequirements);
        } else {
            prepareTensorChecks(list.groups[g]);
        }
    }
    commands_.floats.source = sourceRange_;
    commands_.floats.destination = commands_.destination;
    if (!list.tensors.empty()) prepareTensors(list, commands_.floats);
    return commands_;
}

template <typename Info, typename GetRequirements>
void TileDecode::prepareGroup(const TileList& list, uint32_t number, Info& info,
                              GetRequirements getRequirements)
{
    const TileGroup& group = list.groups[number];
    GroupBuffers& buffers = groups_[number];
    const uint32_t count = uint32_t(group.regions.size());
    const bool filtered = !group.filters.empty();
    info.maxRegionCount = count;
    info.regionStride = sizeof(SluiceRegion);
    info.flags = list.flags;
    info.source = sourceRange_;
    info.destination = filtered ? filteredRange_ : commands_.destination;
    std::vector<SluiceRegion> regions = group.regions;
    for (size_t i = 0; filtered && i < regions.size(); ++i) {
        regions[i].dstAddress = group.filters[i].srcAddress;
    }
    info.regions = uploadRegions(buffers.regions, regions, info.destination);
    SluiceBuffer expected = {};
    if (!group.expected.empty())
        expected = upload(buffers.expected, group.expected.data(), uint64_t(count) * 4);
    info.expected = filtered ? SluiceBuffer{} : expected;
    info.status = commands_.status[number] = buffers.status.reserve((uint64_t(count) + 2) * 4);
    SluiceRequirements requirements = {};
    device_.check(getRequirements(device_.context(), &info, &requirements), "requirements");
    info.scratch = buffers.scratch.reserve(requirements.scratchSize);
    if (!filtered) return;
    prepareFilter(group, number);
    prepareChecksum(group, number, expected);
}

// The decode has a status for every 8,192 elements; these are of whole tiles, all taken as decoded.
void TileDecode::prepareTensorChecks(const TileGroup& group)
{
    GroupBuffers& buffers = groups_[kTensorGroup];
    std::vector<uint32_t> status(group.regions.size(), SLUICE_TILE_UNVERIFIED);
    status.insert(status.end(), {0u, UINT32_MAX});
    commands_.status[kTensorGroup] = upload(buffers.status, status.data(), status.size() * 4);
    prepareChecksum(group, kTensorGroup,
                    upload(buffers.expected, group.expected.data(), group.expected.size() * 4));
}

void TileDecode::prepareChecksum(const TileGroup& group, uint32_t number,
                                 const SluiceBuffer& expected)
{
    SluiceChecksumInfo& info = commands_.checksum[number];
    info.maxRegionCount = uint32_t(group.regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.regions =
        uploadRegions(groups_[number].finalRegions, group.regions, commands_.destination);
    info.destination = commands_.destination;
    info.expected = expected;
    info.status = commands_.status[number];
}

void TileDecode::prepareFilter(const TileGroup& group, uint32_t number)
{
    GroupBuffers& buffers = groups_[number];
    SluiceFilterInfo& info = commands_.filter[number];
    std::vector<SluiceFilterTile> tiles = group.filters;
    for (SluiceFilterTile& tile : tiles) {
        tile.srcAddress += sluiceGetAddress(device_.handle(), filteredRange_);
        tile.dstAddress += sluiceGetAddress(device_.handle(), commands_.destination);
        info.maxTileSize = std::max(info.maxTileSize, (tile.size + 3) / 4 * 4);
    }
    info.maxTileCount = info.statusCount = uint32_t(tiles.size());
    info.tiles = upload(buffers.tiles, tiles.data(), tiles.size() * sizeof(SluiceFilterTile));
    info.descriptions = descriptionRange_;
    info.source = filteredRange_;
    info.destination = commands_.destination;
    info.status = commands_.status[number];
    SluiceRequirements requirements = {};
    device_.check(sluiceGetFilterRequirements(device_.context(), &info, &requirements),
                  "requirements");
    info.scratch = buffers.filterScratch.reserve(requirements.scratchSize);
}

void TileDecode::record(SluiceCommands commands) const
{
    const SluiceContext context = device_.context();
    for (uint32_t i = 0; i < 2; ++i) {
        if (commands_.gdeflate[i].maxRegionCount != 0)
            device_.check(sluiceCmdGdeflate(context, commands, &commands_.gdeflate[i]), "decode");
        const SluiceFilterInfo& filter = commands_.filter[2 + i];
        if (filter.maxTileCount != 0) {
            device_.check(sluiceCmdGstdFilter(context, commands, &commands_.gstd[i], &filter),
                          "decode");
        } else if (commands_.gstd[i].maxRegionCount != 0) {
            device_.check(sluiceCmdGstd(context, commands, &commands_.gstd[i]), "decode");
        }
    }
    if (commands_.floats.tensorCount != 0)
        device_.check(sluiceCmdFloatDecode(context, commands, &commands_.floats), "decode");
    for (uint32_t g = 0; g < kTileGroups; ++g) {
        if (commands_.checksum[g].maxRegionCount == 0) continue;
        device_.check(sluiceCmdBarrier(context, commands), "barrier");
        const bool isGstd = g >= 2 && g < kTensorGroup; // whose filters have been recorded
        if (commands_.filter[g].maxTileCount != 0 && !isGstd) {
            device_.check(sluiceCmdFilter(context, commands, &commands_.filter[g]), "filter");
            device_.check(sluiceCmdBarrier(context, commands), "barrier");
        }
        device_.check(sluiceCmdChecksum(context, commands, &commands_.checksum[g]), "checksum");
    }
}

void TileDecode::prepareTensors(const TileList& list, SluiceFloatDecodeInfo& info)
{
    info.tensorCount = uint32_t(list.tensors.size());
    info.tileCount = list.tensorTiles;
    std::vector<SluiceFloatTensor> tensors = list.tensors;
    const uint64_t source = sluiceGetAddress(device_.handle(), info.source);
    for (SluiceFloatTensor& tensor : tensors) {
        tensor.words += source;
        tensor.index += source;
        tensor.lengths += source;
        tensor.raw += source;
        tensor.output += sluiceGetAddress(device_.handle(), info.destination);
    }
    info.tensors = upload(tensors_, tensors.data(), tensors.size() * sizeof(SluiceFloatTensor));
    info.status = tensorStatus_.reserve((uint64_t(info.tileCount) + 2) * 4);
    SluiceRequirements requirements = {};
    device_.check(sluiceGetFloatDecodeRequirements(device_.context(), &info, &requirements),
                  "requirements");
    info.scratch = tensorScratch_.reserve(requirements.scratchSize);
}

} // namespace sluice
