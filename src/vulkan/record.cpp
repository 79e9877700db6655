// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/record.h"

#include "layout/regions.h"
#include "api/address.h"

namespace sluice {

void CommandRecorder::dispatch(VkCommandBuffer commands, Pipeline pipeline, const void* params,
                               size_t size, uint64_t workgroups,
                               std::initializer_list<Access> accesses) const
{
    const uint32_t gridX = uint32_t(std::min<uint64_t>(workgroups, SLUICE_MAX_GRID));
    const uint32_t gridY = uint32_t((workgroups + gridX - 1) / gridX);
    const VulkanFunctions& vk = m_machine.vk;
    vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, m_pipelines.handle(pipeline));
    vk.CmdPushConstants(commands, m_pipelines.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        uint32_t(size), params);
    vk.CmdDispatch(commands, gridX, gridY, 1);
    note(commands, pipelineRow(pipeline).name, accesses);
}

void CommandRecorder::note(VkCommandBuffer commands, const char* what,
                           std::initializer_list<Access> accesses) const
{
    if (m_recorder == nullptr) return;
    SluiceVulkanAccess ranges[8];
    uint32_t count = 0;
    for (const Access& one : accesses) {
        const VkDeviceAddress address =
            one.address != 0 ? one.address : m_machine.address(one.buffer);
        if (address != 0 && one.size != 0)
            ranges[count++] = {address, one.size, one.write ? 1u : 0u};
    }
    m_recorder(m_user, commands, what, ranges, count);
}

void CommandRecorder::barrier(VkCommandBuffer commands, VkPipelineStageFlags stages,
                              VkAccessFlags accesses, bool toHost) const
{
    VkMemoryBarrier memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    memory.srcAccessMask = accesses;
    memory.dstAccessMask = accesses;
    VkPipelineStageFlags after = stages;
    if (toHost) {
        memory.dstAccessMask |= VK_ACCESS_HOST_READ_BIT;
        after |= VK_PIPELINE_STAGE_HOST_BIT;
    }
    m_machine.vk.CmdPipelineBarrier(commands, stages, after, 0, 1, &memory, 0, nullptr, 0, nullptr);
    if (m_recorder != nullptr) m_recorder(m_user, commands, "barrier", nullptr, 0);
}

void CommandRecorder::computeBarrier(VkCommandBuffer commands) const
{
    barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void CommandRecorder::status(VkCommandBuffer commands, const SluiceBuffer& status,
                             uint32_t count) const
{
    RegionParams params{};
    params.status = pair(m_machine.address(status));
    params.maxRegionCount = count;
    const uint32_t group = m_pipelines.workgroup(Pipeline::status);
    dispatch(commands, Pipeline::status, params, (uint64_t(count) + 2 + group - 1) / group,
             {writes(status)});
}

} // namespace sluice
