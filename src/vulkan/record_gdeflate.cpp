// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the GDeflate decode, by the library's kernel or by the driver's decoder.
#include <sluice/sluice_gdeflate.h>

#include "api/plan_regions.h"
#include "vulkan/context.h"

namespace sluice {
namespace {

constexpr uint64_t driverListBytes(uint64_t regionCount)
{
    return (SLUICE_DRIVER_LIST_AT + regionCount * SLUICE_DRIVER_REGION_WORDS) * 4;
}

Pipeline gdeflatePipeline(const VulkanPipelines& pipelines, const VulkanTuning& tuning,
                          bool pitched, uint32_t tiles)
{
    if (pitched && pipelines.has(Pipeline::gdeflate_pitched)) return Pipeline::gdeflate_pitched;
    if (pipelines.has(Pipeline::gdeflate_few) && tiles <= tuning.gdeflate.fewTiles)
        return Pipeline::gdeflate_few;
    return pipelines.has(Pipeline::gdeflate_many) && tiles >= tuning.gdeflate.manyTiles
               ? Pipeline::gdeflate_many
               : Pipeline::gdeflate;
}

// Records a decode by the driver. The library's kernel writes the list of regions that the driver
// then decodes. The driver's decoder runs in a pipeline stage of its own, and for both extensions
// only a barrier for all commands covers that stage.
void recordDriverDecode(const CommandRecorder& recorder, const DriverDecoder& driver,
                        Recording commands, uint32_t group, const RegionParams& params,
                        const SluiceGdeflateInfo& info)
{
    const VkDeviceAddress list = fromPair(params.scratch);
    const uint64_t listBytes = driverListBytes(info.maxRegionCount);
    recorder.dispatch(commands, Pipeline::driver_regions, params,
                      (info.maxRegionCount + group - 1) / group,
                      {reads(info.regions), reads(info.regionCount), writes(info.status),
                       writesAt(list, listBytes)});
    constexpr VkAccessFlags everyAccess = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    recorder.barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, everyAccess);
    driver.record(commands.commands, list, info.maxRegionCount);
    recorder.note(commands, "vkCmdDecompressMemoryIndirectCount",
                  {readsAt(list, listBytes), reads(info.source), writes(info.destination)});
    recorder.barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, everyAccess);
}

} // namespace

SluiceRequirements VulkanBackend::gdeflateRequirements(const SluiceGdeflateInfo& info) const
{
    const bool byDriver = (info.flags & SLUICE_DECODE_BY_DRIVER) != 0 && info.maxRegionCount != 0;
    return {byDriver ? driverListBytes(info.maxRegionCount) : 0, byDriver ? 16u : 4u, 0};
}

SluiceStatus VulkanBackend::cmdGdeflate(SluiceCommands commands, const SluiceGdeflateInfo& info)
{
    const Recording cmd = recordingOf(commands);
    const SluiceChecksumInfo checksum = checksumOf(info);
    const Access status = writes(info.status);
    const bool byDriver = (info.flags & SLUICE_DECODE_BY_DRIVER) != 0 && info.maxRegionCount != 0;
    RegionParams params = regionParams(checksum, addressOf());
    params.source = pair(m_machine.address(info.source));
    params.sourceSize = pair(info.source.size);
    params.scratch = pair(byDriver ? m_machine.address(info.scratch) : 0);
    params.flags = byDriver ? info.flags : info.flags & ~uint32_t(SLUICE_DECODE_BY_DRIVER);
    const uint32_t statusGroup = m_pipelines.workgroup(Pipeline::status);
    m_recorder.dispatch(cmd, Pipeline::status, params,
                        (info.maxRegionCount + 3 + statusGroup - 1) / statusGroup,
                        {status, writesAt(byDriver ? m_machine.address(info.scratch) : 0, 4)});
    if (info.maxRegionCount == 0) {
        return SLUICE_OK;
    }
    m_recorder.computeBarrier(cmd);
    if (byDriver) {
        recordDriverDecode(m_recorder, m_machine.driver, cmd,
                           m_pipelines.workgroup(Pipeline::driver_regions), params, info);
    } else {
        const uint32_t tiles = m_machine.traits.tilesPerWorkgroup();
        const Pipeline pipeline =
            gdeflatePipeline(m_pipelines, tuning(), params.rowBytes != 0, info.maxRegionCount);
        m_recorder.dispatch(cmd, pipeline, params, (info.maxRegionCount + tiles - 1) / tiles,
                            {reads(info.regions), reads(info.regionCount), reads(info.source),
                             writes(info.destination), status});
    }
    if (info.expected.size == 0) {
        return SLUICE_OK;
    }
    m_recorder.computeBarrier(cmd);
    return cmdChecksum(commands, checksum);
}

} // namespace sluice
