// SPDX-License-Identifier: MIT OR Apache-2.0
// Compute pipelines that get all their arguments by push constants, at most 128 bytes: buffers are
// given by address, so there are no descriptor sets.
#pragma once

#include <vector>

#include "tools/common/engine.h"
#include "vulkan/functions.h"

namespace sluice {

class ComputePipelines {
public:
    explicit ComputePipelines(const SluiceStreamVulkanInfo& on);
    ~ComputePipelines();
    ComputePipelines(const ComputePipelines&) = delete;
    ComputePipelines& operator=(const ComputePipelines&) = delete;

    // Makes a pipeline from SPIR-V of `bytes` bytes. The caller sets in `stage` only specialization
    // constants, flags and subgroup size. The pipeline lives as long as this object.
    VkPipeline make(const uint32_t* code, size_t bytes, VkPipelineShaderStageCreateInfo stage);
    void dispatch(VkCommandBuffer commands, VkPipeline pipeline, const void* push,
                  uint32_t pushBytes, uint32_t x, uint32_t y = 1) const;
    void getProperties(VkPhysicalDeviceProperties2& properties) const;

private:
    const SluiceStreamVulkanInfo m_on;
    VulkanFunctions m_vk;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    std::vector<VkPipeline> m_pipelines;
};

} // namespace sluice
