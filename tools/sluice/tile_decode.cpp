// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tile_decode.h"

namespace sluice {

TileDecode::TileDecode(const ToolDevice& device)
    : device_(device), source_(device), destination_(device), regions_(device), expected_(device), status_(device),
      scratch_(device)
{
}

SluiceBuffer TileDecode::upload(DeviceBuffer& buffer, const void* bytes, uint64_t size)
{
    const SluiceBuffer range = buffer.reserve(size);
    device_.check(sluiceUpload(device_.handle(), range, bytes, size), "upload");
    return range;
}

SluiceGdeflateInfo TileDecode::prepare(const TileList& list)
{
    const uint32_t count = uint32_t(list.regions.size());
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = count;
    info.regionStride = sizeof(SluiceRegion);
    info.flags = list.flags;
    info.source = upload(source_, list.source, list.sourceSize);
    info.destination = destination_.reserve(list.destinationSize);
    std::vector<SluiceRegion> regions = list.regions;
    for (SluiceRegion& region : regions) {
        region.srcAddress += sluiceGetAddress(device_.handle(), info.source);
        region.dstAddress += sluiceGetAddress(device_.handle(), info.destination);
    }
    info.regions = upload(regions_, regions.data(), count * sizeof(SluiceRegion));
    if (!list.expected.empty()) info.expected = upload(expected_, list.expected.data(), uint64_t(count) * 4);
    info.status = status_.reserve((uint64_t(count) + 2) * 4);
    SluiceRequirements requirements = {};
    device_.check(sluiceGetGdeflateRequirements(device_.context(), &info, &requirements), "requirements");
    info.scratch = scratch_.reserve(requirements.scratchSize);
    return info;
}

} // namespace sluice
