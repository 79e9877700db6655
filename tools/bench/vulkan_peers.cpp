// SPDX-License-Identifier: MIT OR Apache-2.0
// The peers on a Vulkan device: a copy shader and the driver's own GDeflate decoders.
#include <algorithm>

#include "peers.h"
#include "device/device_vulkan.h"
#include "layout.h"
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

void requireVulkan(VkResult result, const char* what)
{
    if (result != VK_SUCCESS)
        throw Failure{exitDevice, formatText("bench: %s: VkResult %d", what, int(result))};
}

// Loads one device function; nullptr if the device does not have it.
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

// The push constants of copy.comp; an address is a uvec2 there.
struct CopyParams {
    uint64_t from, to;
    uint32_t count, gridX;
};

class ShaderCopier final : public Copier {
public:
    explicit ShaderCopier(const BenchDevice& device)
        : device_(device), handles_(handlesOf(device)), vk_(handles_.contextInfo.device)
    {
        load(createShaderModule_, "vkCreateShaderModule");
        load(destroyShaderModule_, "vkDestroyShaderModule");
        load(createPipelineLayout_, "vkCreatePipelineLayout");
        load(destroyPipelineLayout_, "vkDestroyPipelineLayout");
        load(createComputePipelines_, "vkCreateComputePipelines");
        load(destroyPipeline_, "vkDestroyPipeline");
        load(bindPipeline_, "vkCmdBindPipeline");
        load(pushConstants_, "vkCmdPushConstants");
        load(dispatch_, "vkCmdDispatch");
        try {
            createPipeline();
        } catch (...) {
            destroy();
            throw;
        }
    }
    ~ShaderCopier() override { destroy(); }

    const char* name() const override { return "shader, 16 bytes a thread"; }

    void record(SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) override
    {
        CopyParams params = {};
        params.from = sluiceGetAddress(device_.handle(), from);
        params.to = sluiceGetAddress(device_.handle(), to);
        params.count = static_cast<uint32_t>(from.size / 16);
        const uint32_t groups = (params.count + threads_ - 1) / threads_;
        params.gridX = std::min(groups, SLUICE_MAX_GRID);
        const VkCommandBuffer cmd = commandBuffer(commands);
        bindPipeline_(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
        pushConstants_(cmd, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof params, &params);
        dispatch_(cmd, params.gridX, (groups + params.gridX - 1) / params.gridX, 1);
    }

private:
    template <typename Function>
    void load(Function& function, const char* name) const
    {
        function = deviceFunction<Function>(handles_, name);
        if (function == nullptr)
            throw Failure{exitDevice, std::string("bench: the driver has no ") + name};
    }

    void createPipeline()
    {
        VkShaderModuleCreateInfo module = {};
        module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
        module.codeSize = sizeof copy_shader;
        module.pCode = copy_shader;
        requireVulkan(createShaderModule_(vk_, &module, nullptr, &module_), "vkCreateShaderModule");

        const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(CopyParams)};
        VkPipelineLayoutCreateInfo layout = {};
        layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
        layout.pushConstantRangeCount = 1;
        layout.pPushConstantRanges = &range;
        requireVulkan(createPipelineLayout_(vk_, &layout, nullptr, &layout_),
                      "vkCreatePipelineLayout");

        // Large workgroups: with 128 threads the H200 launches them too slowly to fill its memory
        // (1750 of 4200 GB/s).
        const SluiceVulkanContextInfo& info = handles_.contextInfo;
        const auto getProperties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
            info.getInstanceProcAddr(info.instance, "vkGetPhysicalDeviceProperties"));
        VkPhysicalDeviceProperties properties = {};
        getProperties(info.physicalDevice, &properties);
        const VkPhysicalDeviceLimits& limits = properties.limits;
        threads_ = std::min(
            {1024u, limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]});
        const VkSpecializationMapEntry entry = {0, 0, sizeof threads_};
        const VkSpecializationInfo specialization = {1, &entry, sizeof threads_, &threads_};

        VkComputePipelineCreateInfo pipeline = {};
        pipeline.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
        pipeline.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        pipeline.stage.module = module_;
        pipeline.stage.pName = "main";
        pipeline.stage.pSpecializationInfo = &specialization;
        pipeline.layout = layout_;
        requireVulkan(
            createComputePipelines_(vk_, VK_NULL_HANDLE, 1, &pipeline, nullptr, &pipeline_),
            "vkCreateComputePipelines");
    }

    void destroy()
    {
        destroyPipeline_(vk_, pipeline_, nullptr);
        destroyPipelineLayout_(vk_, layout_, nullptr);
        destroyShaderModule_(vk_, module_, nullptr);
    }

    const BenchDevice& device_;
    VulkanHandles handles_;
    VkDevice vk_;
    uint32_t threads_ = 0; // local_size_x of the shader
    VkShaderModule module_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    PFN_vkCreateShaderModule createShaderModule_ = nullptr;
    PFN_vkDestroyShaderModule destroyShaderModule_ = nullptr;
    PFN_vkCreatePipelineLayout createPipelineLayout_ = nullptr;
    PFN_vkDestroyPipelineLayout destroyPipelineLayout_ = nullptr;
    PFN_vkCreateComputePipelines createComputePipelines_ = nullptr;
    PFN_vkDestroyPipeline destroyPipeline_ = nullptr;
    PFN_vkCmdBindPipeline bindPipeline_ = nullptr;
    PFN_vkCmdPushConstants pushConstants_ = nullptr;
    PFN_vkCmdDispatch dispatch_ = nullptr;
};

// Does the driver know GDeflate, and lists in GPU memory of that length? The properties of both
// extensions are the same.
bool decodesGdeflate(const VulkanHandles& handles, uint32_t regionCount)
{
    if (!handles.nvDecompression && !handles.extDecompression) return false;
    const SluiceVulkanContextInfo& info = handles.contextInfo;
    const auto getProperties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
        info.getInstanceProcAddr(info.instance, "vkGetPhysicalDeviceProperties2"));
    VkPhysicalDeviceMemoryDecompressionPropertiesNV decompression = {};
    decompression.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_DECOMPRESSION_PROPERTIES_NV;
    VkPhysicalDeviceProperties2 properties = {};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &decompression;
    getProperties(info.physicalDevice, &properties);
    return (decompression.decompressionMethods & kMethodGdeflate) != 0 &&
           decompression.maxDecompressionIndirectCount >= regionCount;
}

class NvDecoder final : public DriverDecoder {
public:
    explicit NvDecoder(PFN_vkCmdDecompressMemoryIndirectCountNV decompress)
        : decompress_(decompress)
    {
    }
    const char* name() const override { return VK_NV_MEMORY_DECOMPRESSION_EXTENSION_NAME; }
    void record(SluiceCommands commands, uint64_t regionsAddress, uint64_t countAddress,
                uint32_t) override
    {
        decompress_(commandBuffer(commands), regionsAddress, countAddress, sizeof(DriverRegion));
    }

private:
    PFN_vkCmdDecompressMemoryIndirectCountNV decompress_;
};

class ExtDecoder final : public DriverDecoder {
public:
    explicit ExtDecoder(PFN_vkCmdDecompressMemoryIndirectCountEXT decompress)
        : decompress_(decompress)
    {
    }
    const char* name() const override { return VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME; }
    void record(SluiceCommands commands, uint64_t regionsAddress, uint64_t countAddress,
                uint32_t maxCount) override
    {
        decompress_(commandBuffer(commands), VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_EXT,
                    regionsAddress, countAddress, maxCount, sizeof(DriverRegion));
    }

private:
    PFN_vkCmdDecompressMemoryIndirectCountEXT decompress_;
};

} // namespace

std::vector<std::unique_ptr<Copier>> makeVulkanCopiers(const BenchDevice& device)
{
    std::vector<std::unique_ptr<Copier>> copiers;
    copiers.push_back(std::make_unique<ShaderCopier>(device));
    return copiers;
}

std::vector<std::unique_ptr<DriverDecoder>> makeDriverDecoders(const BenchDevice& device,
                                                               uint32_t regionCount)
{
    std::vector<std::unique_ptr<DriverDecoder>> decoders;
    VulkanHandles handles = {};
    if (!vulkanHandles(device.handle(), handles) || !decodesGdeflate(handles, regionCount))
        return decoders;
    if (handles.nvDecompression) {
        const auto decompress = deviceFunction<PFN_vkCmdDecompressMemoryIndirectCountNV>(
            handles, "vkCmdDecompressMemoryIndirectCountNV");
        if (decompress != nullptr) decoders.push_back(std::make_unique<NvDecoder>(decompress));
    }
    if (handles.extDecompression) {
        const auto decompress = deviceFunction<PFN_vkCmdDecompressMemoryIndirectCountEXT>(
            handles, "vkCmdDecompressMemoryIndirectCountEXT");
        if (decompress != nullptr) decoders.push_back(std::make_unique<ExtDecoder>(decompress));
    }
    return decoders;
}

BenchDevice::Record makeVulkanBarrier(const BenchDevice& device)
{
    const auto barrier =
        deviceFunction<PFN_vkCmdPipelineBarrier>(handlesOf(device), "vkCmdPipelineBarrier");
    return [barrier](SluiceCommands commands, uint32_t) {
        VkMemoryBarrier memory = {};
        memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
        memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
        barrier(commandBuffer(commands), VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, nullptr, 0, nullptr);
    };
}

} // namespace sluice
