// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tile_decode.h"

namespace sluice {

TileDecode::TileDecode(const ToolDevice& device)
    : device_(device), source_(device), destination_(device), gdeflate_(device), gstd_(device), tensors_(device), tensorStatus_(device), tensorScratch_(device)
{
}

SluiceBuffer TileDecode::upload(DeviceBuffer& buffer, const void* bytes, uint64_t size)
{
    const SluiceBuffer range = buffer.reserve(size);
    device_.check(sluiceUpload(device_.handle(), range, bytes, size), "upload");
    return range;
}

TileCommands TileDecode::prepare(const TileList& list)
{
    TileCommands commands = {};
    commands.gdeflate.source = commands.gstd.source = commands.floats.source = upload(source_, list.source, list.sourceSize);
    commands.gdeflate.destination = commands.gstd.destination = commands.floats.destination =
        destination_.reserve(list.destinationSize);
    if (!list.regions.empty()) {
        prepareRegions(list.regions, list.expected, list.flags, gdeflate_, commands.gdeflate,
                       sluiceGetGdeflateRequirements);
    }
    if (!list.gstdRegions.empty()) {
        prepareRegions(list.gstdRegions, list.gstdExpected, list.flags, gstd_, commands.gstd,
                       sluiceGetGstdRequirements);
    }
    if (!list.tensors.empty()) prepareTensors(list, commands.floats);
    return commands;
}

template <typename Info, typename GetRequirements>
void TileDecode::prepareRegions(std::vector<SluiceRegion> regions, const std::vector<uint32_t>& expected, uint32_t flags,
                                RegionBuffers& buffers, Info& info, GetRequirements getRequirements)
{
    const uint32_t count = uint32_t(regions.size());
    info.maxRegionCount = count;
    info.regionStride = sizeof(SluiceRegion);
    info.flags = flags;
    for (SluiceRegion& region : regions) {
        region.srcAddress += sluiceGetAddress(device_.handle(), info.source);
        region.dstAddress += sluiceGetAddress(device_.handle(), info.destination);
    }
    info.regions = upload(buffers.regions, regions.data(), count * sizeof(SluiceRegion));
    if (!expected.empty()) info.expected = upload(buffers.expected, expected.data(), uint64_t(count) * 4);
    info.status = buffers.status.reserve((uint64_t(count) + 2) * 4);
    SluiceRequirements requirements = {};
    device_.check(getRequirements(device_.context(), &info, &requirements), "requirements");
    info.scratch = buffers.scratch.reserve(requirements.scratchSize);
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
    device_.check(sluiceGetFloatDecodeRequirements(device_.context(), &info, &requirements), "requirements");
    info.scratch = tensorScratch_.reserve(requirements.scratchSize);
}

} // namespace sluice
