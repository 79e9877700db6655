// SPDX-License-Identifier: MIT OR Apache-2.0
// The peers on a Vulkan device: a copy by a shader, and the driver's own GDeflate decoders.
#include <algorithm>
#include <memory>

#include "layout/base.h"
#include "tools/bench/peers.h"
#include "tools/common/compute_pipelines.h"
#include "vulkan/vulkan_new.h"

#include "copy_shader.h" // made from copy.comp

namespace sluice {
namespace {

// Returns a function of the device, or nullptr if it has none of this name.
template <typename Function>
Function deviceFunction(const VulkanHandles& handles, const char* name)
{
    const SluiceVulkanContextInfo& info = handles.contextInfo;
    const auto load = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        info.getInstanceProcAddr(info.instance, "vkGetDeviceProcAddr"));
    return reinterpret_cast<Function>(load(info.device, name));
}

VkCommandBuffer commandBuffer(SluiceCommands commands)
{
    return reinterpret_cast<VkCommandBuffer>(commands);
}

// The push constants of copy.comp, where the type of an address is uvec2.
struct CopyParams {
    uint64_t from, to;
    uint32_t count, gridX;
};

class ShaderCopier {
public:
    explicit ShaderCopier(const BenchDevice& device)
        : m_device(device), m_pipelines(engineInfo(device.handle()).vulkan)
    {
        // Workgroups have as many threads as possible: with 128, an H200 launches them too slowly
        // to use its memory fully (1,750 of 4,200 GB/s).
        VkPhysicalDeviceProperties2 properties = {};
        m_pipelines.getProperties(properties);
        const VkPhysicalDeviceLimits& limits = properties.properties.limits;
        m_threads = std::min(
            {1024u, limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]});
        const VkSpecializationMapEntry entry = {0, 0, sizeof m_threads};
        const VkSpecializationInfo specialization = {1, &entry, sizeof m_threads, &m_threads};
        VkPipelineShaderStageCreateInfo stage = {};
        stage.pSpecializationInfo = &specialization;
        m_pipeline = m_pipelines.make(copy_shader, sizeof copy_shader, stage);
    }

    void record(SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) const
    {
        CopyParams params = {};
        params.from = m_device.address(from);
        params.to = m_device.address(to);
        params.count = uint32_t(from.size / 16);
        const uint32_t groups = (params.count + m_threads - 1) / m_threads;
        params.gridX = std::min(groups, SLUICE_MAX_GRID);
        m_pipelines.dispatch(commandBuffer(commands), m_pipeline, &params, sizeof params,
                             params.gridX, (groups + params.gridX - 1) / params.gridX);
    }

private:
    const BenchDevice& m_device;
    ComputePipelines m_pipelines;
    uint32_t m_threads = 0; // the shader's local_size_x
    VkPipeline m_pipeline = VK_NULL_HANDLE;
};

// Returns whether the driver decodes GDeflate, and takes lists of this length from GPU memory. Both
// extensions have the same properties.
bool decodesGdeflate(const VulkanHandles& handles, uint32_t regionCount)
{
    if (!handles.nvDecompression && !handles.extDecompression) return false;
    VkPhysicalDeviceMemoryDecompressionPropertiesNV decompression = {};
    decompression.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_DECOMPRESSION_PROPERTIES_NV;
    VkPhysicalDeviceProperties2 properties = {};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &decompression;
    const SluiceVulkanContextInfo& info = handles.contextInfo;
    reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(info.getInstanceProcAddr(
        info.instance, "vkGetPhysicalDeviceProperties2"))(info.physicalDevice, &properties);
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
    const auto nv = deviceFunction<PFN_vkCmdDecompressMemoryIndirectCountNV>(
        handles, "vkCmdDecompressMemoryIndirectCountNV");
    if (handles.nvDecompression && nv != nullptr)
        decoders.push_back(
            {VK_NV_MEMORY_DECOMPRESSION_EXTENSION_NAME,
             [nv](SluiceCommands commands, uint64_t regions, uint64_t count, uint32_t) {
                 nv(commandBuffer(commands), regions, count, sizeof(DriverRegion));
             }});
    const auto ext = deviceFunction<PFN_vkCmdDecompressMemoryIndirectCountEXT>(
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
    VulkanHandles handles = {};
    vulkanHandles(device.handle(), handles);
    return [barrier = deviceFunction<PFN_vkCmdPipelineBarrier>(handles, "vkCmdPipelineBarrier")](
               SluiceCommands commands) {
        VkMemoryBarrier memory = {};
        memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
        memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
        barrier(commandBuffer(commands), VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, nullptr, 0, nullptr);
    };
}

} // namespace sluice
