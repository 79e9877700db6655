// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the GDeflate decode, by our kernel or by the driver.
#include <sluice/sluice_gdeflate.h>

#include "api/plan_regions.h"
#include "vulkan/record.h"

namespace sluice {
namespace {

constexpr uint64_t driverListBytes(uint64_t regionCount)
{
    return (SLUICE_DRIVER_LIST_AT + regionCount * SLUICE_DRIVER_REGION_WORDS) * 4;
}

} // namespace

SluiceRequirements VulkanBackend::gdeflateRequirements(const SluiceGdeflateInfo& info) const
{
    const bool byDriver = (info.flags & SLUICE_DECODE_BY_DRIVER) != 0 && info.maxRegionCount != 0;
    return {byDriver ? driverListBytes(info.maxRegionCount) : 0, byDriver ? 16u : 4u, 0};
}

Pipeline VulkanBackend::decodePipeline(bool pitched, uint32_t tiles) const
{
    if (pitched && has(Pipeline::gdeflate_pitched)) return Pipeline::gdeflate_pitched;
    if (has(Pipeline::gdeflate_few) && tiles <= m_tuning.gdeflate.fewTiles)
        return Pipeline::gdeflate_few;
    return has(Pipeline::gdeflate_many) && tiles >= m_tuning.gdeflate.manyTiles
               ? Pipeline::gdeflate_many
               : Pipeline::gdeflate;
}

SluiceStatus VulkanBackend::cmdGdeflate(SluiceCommands commands, const SluiceGdeflateInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    const SluiceChecksumInfo checksum = checksumOf(info);
    const Access status = access(info.status, true);
    const bool byDriver = (info.flags & SLUICE_DECODE_BY_DRIVER) != 0 && info.maxRegionCount != 0;
    RegionParams params = paramsOf(checksum);
    params.source = pair(address(info.source));
    params.sourceSize = pair(info.source.size);
    params.scratch = pair(byDriver ? address(info.scratch) : 0);
    params.flags = byDriver ? info.flags : info.flags & ~u32(SLUICE_DECODE_BY_DRIVER);
    const uint32_t statusGroup = workgroup(Pipeline::status);
    dispatch(cmd, Pipeline::status, params,
             (info.maxRegionCount + 3 + statusGroup - 1) / statusGroup,
             {status, {byDriver ? address(info.scratch) : 0, 4, true}});
    if (info.maxRegionCount == 0) {
        return SLUICE_OK;
    }
    computeBarrier(cmd);
    if (byDriver) {
        recordDriverDecode(cmd, params, info);
    } else {
        const uint32_t tiles = tilesPerWorkgroup();
        const Pipeline pipeline = decodePipeline(params.rowBytes != 0, info.maxRegionCount);
        dispatch(cmd, pipeline, params, (info.maxRegionCount + tiles - 1) / tiles,
                 {access(info.regions, false), access(info.regionCount, false),
                  access(info.source, false), access(info.destination, true), status});
    }
    if (info.expected.size == 0) {
        return SLUICE_OK;
    }
    computeBarrier(cmd);
    return cmdChecksum(commands, checksum);
}

// Our kernel makes the driver's list, then the driver decodes it. Its decoder has a pipeline stage
// of its own, which only a barrier of all commands names for both extensions.
void VulkanBackend::recordDriverDecode(VkCommandBuffer commands, const RegionParams& params,
                                       const SluiceGdeflateInfo& info)
{
    const VkDeviceAddress list = address(info.scratch);
    const uint64_t listBytes = driverListBytes(info.maxRegionCount);
    const uint32_t group = workgroup(Pipeline::driver_regions);
    dispatch(commands, Pipeline::driver_regions, params, (info.maxRegionCount + group - 1) / group,
             {access(info.regions, false),
              access(info.regionCount, false),
              access(info.status, true),
              {list, listBytes, true}});
    constexpr VkAccessFlags everyAccess = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, everyAccess);
    m_driver.record(commands, list, info.maxRegionCount);
    if (m_recorder != nullptr) {
        const SluiceVulkanAccess ranges[3] = {
            {list, listBytes, 0},
            {address(info.source), info.source.size, 0},
            {address(info.destination), info.destination.size, 1}};
        m_recorder(m_recorderUser, commands, "vkCmdDecompressMemoryIndirectCount", ranges, 3);
    }
    barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, everyAccess);
}

} // namespace sluice
