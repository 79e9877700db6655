// SPDX-License-Identifier: MIT OR Apache-2.0
// The peers on a Vulkan device: a copy shader and the driver's own GDeflate decoders.
#include <algorithm>
#include <memory>

#include "device/device_vulkan.h"
#include "layout/base.h"
#include "tools/bench/peers.h"
#include "vulkan/functions.h"
#include "vulkan/vulkan_new.h"

#include "copy_shader.h" // made from copy.comp

namespace sluice {
namespace {

VulkanHandles handlesOf(const BenchDevice& device)
{
    VulkanHandles handles = {};
    if (!vulkanHandles(device.handle(), handles))
        throw Failure{exitDevice, "bench: not a Vulkan device"};
    return handles;
}

VulkanFunctions functionsOf(const VulkanHandles& handles)
{
    const SluiceVulkanContextInfo& info = handles.contextInfo;
    VulkanFunctions functions;
    if (!functions.load(info.getInstanceProcAddr, info.instance, info.device))
        throw Failure{exitDevice, "bench: the driver lacks functions"};
    return functions;
}

// A function that not every device has; nullptr then.
template <typename Function>
Function optionalFunction(const VulkanHandles& handles, const char* name)
{
    const SluiceVulkanContextInfo& info = handles.contextInfo;
    const auto load = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        info.getInstanceProcAddr(info.instance, "vkGetDeviceProcAddr"));
    return reinterpret_cast<Function>(load(info.device, name));
}

void requireVulkan(VkResult result, const char* what)
{
    if (result != VK_SUCCESS)
        throw Failure{exitDevice, formatText("bench: %s: VkResult %d", what, int(result))};
}

VkCommandBuffer commandBuffer(SluiceCommands commands)
{
    return reinterpret_cast<VkCommandBuffer>(commands);
}

// The push constants of copy.comp; an address is a uvec2 there.
struct CopyParams {
    uint64_t from, to;
    uint32_t count, gridX;
};

class ShaderCopier {
public:
    explicit ShaderCopier(const BenchDevice& device)
        : m_device(device), m_handles(handlesOf(device)), m_vk(functionsOf(m_handles))
    {
        try {
            createPipeline();
        } catch (...) {
            destroy();
            throw;
        }
    }
    ~ShaderCopier() { destroy(); }

    void record(SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) const
    {
        CopyParams params = {};
        params.from = m_device.address(from);
        params.to = m_device.address(to);
        params.count = uint32_t(from.size / 16);
        const uint32_t groups = (params.count + m_threads - 1) / m_threads;
        params.gridX = std::min(groups, SLUICE_MAX_GRID);
        const VkCommandBuffer buffer = commandBuffer(commands);
        m_vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, m_pipeline);
        m_vk.CmdPushConstants(buffer, m_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof params,
                              &params);
        m_vk.CmdDispatch(buffer, params.gridX, (groups + params.gridX - 1) / params.gridX, 1);
    }

private:
    VkDevice device() const { return m_handles.contextInfo.device; }

    void createPipeline()
    {
        VkShaderModuleCreateInfo module = {};
        module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
        module.codeSize = sizeof copy_shader;
        module.pCode = copy_shader;
        requireVulkan(m_vk.CreateShaderModule(device(), &module, nullptr, &m_module),
                      "vkCreateShaderModule");

        const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(CopyParams)};
        VkPipelineLayoutCreateInfo layout = {};
        layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
        layout.pushConstantRangeCount = 1;
        layout.pPushConstantRanges = &range;
        requireVulkan(m_vk.CreatePipelineLayout(device(), &layout, nullptr, &m_layout),
                      "vkCreatePipelineLayout");

        // Large workgroups: with 128 threads the H200 launches them too slowly to fill its memory
        // (1750 of 4200 GB/s).
        VkPhysicalDeviceProperties2 properties = {};
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        m_vk.GetPhysicalDeviceProperties2(m_handles.contextInfo.physicalDevice, &properties);
        const VkPhysicalDeviceLimits& limits = properties.properties.limits;
        m_threads = std::min(
            {1024u, limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]});
        const VkSpecializationMapEntry entry = {0, 0, sizeof m_threads};
        const VkSpecializationInfo specialization = {1, &entry, sizeof m_threads, &m_threads};

        VkComputePipelineCreateInfo pipeline = {};
        pipeline.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
        pipeline.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        pipeline.stage.module = m_module;
        pipeline.stage.pName = "main";
        pipeline.stage.pSpecializationInfo = &specialization;
        pipeline.layout = m_layout;
        requireVulkan(m_vk.CreateComputePipelines(device(), VK_NULL_HANDLE, 1, &pipeline, nullptr,
                                                  &m_pipeline),
                      "vkCreateComputePipelines");
    }

    void destroy()
    {
        m_vk.DestroyPipeline(device(), m_pipeline, nullptr);
        m_vk.DestroyPipelineLayout(device(), m_layout, nullptr);
        m_vk.DestroyShaderModule(device(), m_module, nullptr);
    }

    const BenchDevice& m_device;
    VulkanHandles m_handles;
    VulkanFunctions m_vk;
    uint32_t m_threads = 0; // local_size_x of the shader
    VkShaderModule m_module = VK_NULL_HANDLE;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    VkPipeline m_pipeline = VK_NULL_HANDLE;
};

// Does the driver know GDeflate, and lists in GPU memory of that length? The properties of both
// extensions are the same.
bool decodesGdeflate(const VulkanHandles& handles, uint32_t regionCount)
{
    if (!handles.nvDecompression && !handles.extDecompression) return false;
    VkPhysicalDeviceMemoryDecompressionPropertiesNV decompression = {};
    decompression.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_DECOMPRESSION_PROPERTIES_NV;
    VkPhysicalDeviceProperties2 properties = {};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &decompression;
    functionsOf(handles).GetPhysicalDeviceProperties2(handles.contextInfo.physicalDevice,
                                                      &properties);
    return (decompression.decompressionMethods & kMethodGdeflate) != 0 &&
           decompression.maxDecompressionIndirectCount >= regionCount;
}

} // namespace

std::vector<Copier> makeVulkanCopiers(const BenchDevice& device)
{
    const auto copier = std::make_shared<ShaderCopier>(device);
    return {{"shader, 16 bytes a thread",
             [copier](SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) {
                 copier->record(commands, from, to);
             }}};
}

std::vector<DriverPeer> makeDriverDecoders(const BenchDevice& device, uint32_t regionCount)
{
    std::vector<DriverPeer> decoders;
    VulkanHandles handles = {};
    if (!vulkanHandles(device.handle(), handles) || !decodesGdeflate(handles, regionCount))
        return decoders;
    const auto nv = optionalFunction<PFN_vkCmdDecompressMemoryIndirectCountNV>(
        handles, "vkCmdDecompressMemoryIndirectCountNV");
    if (handles.nvDecompression && nv != nullptr)
        decoders.push_back(
            {VK_NV_MEMORY_DECOMPRESSION_EXTENSION_NAME,
             [nv](SluiceCommands commands, uint64_t regions, uint64_t count, uint32_t) {
                 nv(commandBuffer(commands), regions, count, sizeof(DriverRegion));
             }});
    const auto ext = optionalFunction<PFN_vkCmdDecompressMemoryIndirectCountEXT>(
        handles, "vkCmdDecompressMemoryIndirectCountEXT");
    if (handles.extDecompression && ext != nullptr)
        decoders.push_back(
            {VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME,
             [ext](SluiceCommands commands, uint64_t regions, uint64_t count, uint32_t maxCount) {
                 ext(commandBuffer(commands), VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_EXT,
                     regions, count, maxCount, sizeof(DriverRegion));
             }});
    return decoders;
}

std::function<void(SluiceCommands)> makeVulkanBarrier(const BenchDevice& device)
{
    return [barrier = functionsOf(handlesOf(device)).CmdPipelineBarrier](SluiceCommands commands) {
        VkMemoryBarrier memory = {};
        memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
        memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
        barrier(commandBuffer(commands), VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, nullptr, 0, nullptr);
    };
}

} // namespace sluice
