// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/record.h"

#include <algorithm>
#include <cstring>

#include "layout/regions.h"
#include "api/address.h"

namespace sluice {

void CommandRecorder::dispatch(Recording commands, Pipeline pipeline, const void* params,
                               size_t size, uint64_t workgroups,
                               std::initializer_list<Access> accesses) const
{
    SideBySide* const collected = commands.collected;
    SideBySide::Dispatch single;
    if (collected != nullptr && collected->count == SideBySide::kMost) flush(*collected, true);
    SideBySide::Dispatch& dispatch =
        collected != nullptr ? collected->dispatches[collected->count++] : single;
    dispatch.pipeline = pipeline;
    dispatch.chain = collected != nullptr ? collected->chain : 0;
    dispatch.step = collected != nullptr ? collected->step : 0;
    dispatch.workgroups = workgroups;
    dispatch.size = uint32_t(size);
    std::memcpy(dispatch.params, params, size);
    dispatch.accessCount = 0;
    if (m_recorder != nullptr)
        for (const Access& one : accesses)
            dispatch.accesses[dispatch.accessCount++] = one;
    if (collected == nullptr) record(commands.commands, dispatch);
}

void CommandRecorder::record(VkCommandBuffer commands, const SideBySide::Dispatch& dispatch) const
{
    const uint32_t gridX = uint32_t(std::min<uint64_t>(dispatch.workgroups, SLUICE_MAX_GRID));
    const uint32_t gridY = uint32_t((dispatch.workgroups + gridX - 1) / gridX);
    const VulkanFunctions& vk = m_machine.vk;
    vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                       m_pipelines.handle(dispatch.pipeline));
    vk.CmdPushConstants(commands, m_pipelines.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        dispatch.size, dispatch.params);
    vk.CmdDispatch(commands, gridX, gridY, 1);
    note(commands, pipelineRow(dispatch.pipeline).name, dispatch.chain, dispatch.accesses,
         dispatch.accessCount);
}

void CommandRecorder::flush(SideBySide& collected, bool moreFollows) const
{
    const Recording direct = {collected.commands, nullptr};
    uint32_t left = collected.count;
    for (uint32_t step = 0; left != 0; ++step) {
        if (step != 0) computeBarrier(direct);
        for (uint32_t i = 0; i < collected.count; ++i) {
            if (collected.dispatches[i].step != step) continue;
            record(collected.commands, collected.dispatches[i]);
            --left;
        }
    }
    if (collected.count != 0 && moreFollows) computeBarrier(direct);
    collected.count = collected.step = 0;
}

void CommandRecorder::note(VkCommandBuffer commands, const char* what, uint32_t chain,
                           const Access* accesses, uint32_t count) const
{
    if (m_recorder == nullptr) return;
    SluiceVulkanAccess ranges[kMaxAccesses];
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const Access& one = accesses[i];
        const VkDeviceAddress address =
            one.address != 0 ? one.address : m_machine.address(one.buffer);
        if (address != 0 && one.size != 0)
            ranges[used++] = {address, one.size, one.write ? 1u : 0u, chain};
    }
    m_recorder(m_user, commands, what, ranges, used);
}

void CommandRecorder::barrier(Recording commands, VkPipelineStageFlags stages,
                              VkAccessFlags accesses, bool toHost) const
{
    if (commands.collected != nullptr) {
        ++commands.collected->step;
        return;
    }
    VkMemoryBarrier memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    memory.srcAccessMask = accesses;
    memory.dstAccessMask = accesses;
    VkPipelineStageFlags after = stages;
    if (toHost) {
        memory.dstAccessMask |= VK_ACCESS_HOST_READ_BIT;
        after |= VK_PIPELINE_STAGE_HOST_BIT;
    }
    m_machine.vk.CmdPipelineBarrier(commands.commands, stages, after, 0, 1, &memory, 0, nullptr, 0,
                                    nullptr);
    if (m_recorder != nullptr) m_recorder(m_user, commands.commands, "barrier", nullptr, 0);
}

void CommandRecorder::computeBarrier(Recording commands) const
{
    barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void CommandRecorder::status(Recording commands, const SluiceBuffer& status, uint32_t count) const
{
    RegionParams params{};
    params.status = pair(m_machine.address(status));
    params.maxRegionCount = count;
    const uint32_t group = m_pipelines.workgroup(Pipeline::status);
    dispatch(commands, Pipeline::status, params, (uint64_t(count) + 2 + group - 1) / group,
             {writes(status)});
}

} // namespace sluice
