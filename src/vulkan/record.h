// SPDX-License-Identifier: MIT OR Apache-2.0
// What the files that record commands have in common.
#pragma once

#include <algorithm>

#include "api/plan_regions.h"
#include "vulkan/context.h"

namespace sluice {

inline VkCommandBuffer commandBuffer(SluiceCommands commands)
{
    return reinterpret_cast<VkCommandBuffer>(commands);
}

struct VulkanBackend::Access {
    VkDeviceAddress address;
    uint64_t size;
    bool write;
};

// The workgroups are folded into two dimensions, whose product may exceed their number: kernels
// check their index.
template <typename Params>
void VulkanBackend::dispatch(VkCommandBuffer commands, Pipeline pipeline, const Params& params,
                             uint64_t workgroups, std::initializer_list<Access> accesses)
{
    static_assert(sizeof(Params) <= 128,
                  "every device has 128 bytes of push constants, and no more is promised");
    const uint32_t gridX = uint32_t(std::min<uint64_t>(workgroups, SLUICE_MAX_GRID));
    const uint32_t gridY = uint32_t((workgroups + gridX - 1) / gridX);
    m_vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, handle(pipeline));
    m_vk.CmdPushConstants(commands, m_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Params),
                          &params);
    m_vk.CmdDispatch(commands, gridX, gridY, 1);

    if (m_recorder != nullptr) {
        SluiceVulkanAccess ranges[8];
        uint32_t count = 0;
        for (const Access& one : accesses) {
            if (one.address != 0 && one.size != 0) {
                ranges[count++] = {one.address, one.size, one.write ? 1u : 0u};
            }
        }
        m_recorder(m_recorderUser, commands, pipelineRow(pipeline).name, ranges, count);
    }
}

} // namespace sluice
