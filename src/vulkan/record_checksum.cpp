// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the checksum of lists of regions.
#include "api/plan_regions.h"
#include "vulkan/record.h"

namespace sluice {

RegionParams VulkanBackend::paramsOf(const SluiceChecksumInfo& list) const
{
    return regionParams(list, [this](const SluiceBuffer& buffer) { return address(buffer); });
}

SluiceStatus VulkanBackend::cmdChecksum(SluiceCommands commands, const SluiceChecksumInfo& info)
{
    if (info.maxRegionCount == 0) {
        return SLUICE_OK;
    }
    const uint32_t tiles = tilesPerWorkgroup();
    dispatch(commandBuffer(commands), Pipeline::checksum, paramsOf(info),
             (info.maxRegionCount + tiles - 1) / tiles,
             {access(info.regions, false), access(info.regionCount, false),
              access(info.destination, false), access(info.expected, false),
              access(info.status, true)});
    return SLUICE_OK;
}

} // namespace sluice
