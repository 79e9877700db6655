// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/compute_pipelines.h"

namespace sluice {

ComputePipelines::ComputePipelines(const SluiceStreamVulkanInfo& on) : m_on(on)
{
    if (!m_vk.load(on.getInstanceProcAddr, on.instance, on.device))
        throw EngineError("the driver lacks functions");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
    const VkPipelineLayoutCreateInfo layout = {
        VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, nullptr, 0, 0, nullptr, 1, &range};
    require(m_vk.CreatePipelineLayout(on.device, &layout, nullptr, &m_layout),
            "vkCreatePipelineLayout");
}

ComputePipelines::~ComputePipelines()
{
    for (const VkPipeline pipeline : m_pipelines)
        m_vk.DestroyPipeline(m_on.device, pipeline, nullptr);
    m_vk.DestroyPipelineLayout(m_on.device, m_layout, nullptr);
}

VkPipeline ComputePipelines::make(const uint32_t* code, size_t bytes,
                                  VkPipelineShaderStageCreateInfo stage)
{
    const VkShaderModuleCreateInfo module = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr,
                                             0, bytes, code};
    stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    stage.pName = "main";
    require(m_vk.CreateShaderModule(m_on.device, &module, nullptr, &stage.module),
            "vkCreateShaderModule");
    const VkComputePipelineCreateInfo info = {
        VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, nullptr, 0, stage, m_layout, nullptr, 0};
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result =
        m_vk.CreateComputePipelines(m_on.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    m_vk.DestroyShaderModule(m_on.device, stage.module, nullptr);
    require(result, "vkCreateComputePipelines");
    m_pipelines.push_back(pipeline);
    return pipeline;
}

void ComputePipelines::dispatch(VkCommandBuffer commands, VkPipeline pipeline, const void* push,
                                uint32_t pushBytes, uint32_t x, uint32_t y) const
{
    m_vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    m_vk.CmdPushConstants(commands, m_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes, push);
    m_vk.CmdDispatch(commands, x, y, 1);
}

void ComputePipelines::getProperties(VkPhysicalDeviceProperties2& properties) const
{
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    m_vk.GetPhysicalDeviceProperties2(m_on.physicalDevice, &properties);
}

} // namespace sluice
