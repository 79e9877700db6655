// SPDX-License-Identifier: MIT OR Apache-2.0
// What an engine has anyway: a Vulkan device, memory that the host can see, compute pipelines, a
// command buffer. No more than the samples need.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#define VK_NO_PROTOTYPES
#include <volk.h>

#include <sluice/sluice_vulkan.h>

// There is no Vulkan device to run on.
struct NoDevice : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void requireVulkan(VkResult result, const char* what);

struct GpuBuffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceSize size = 0;
    VkDeviceAddress address = 0;
    void* mapped = nullptr;
    bool local = false; // memory of the device

    SluiceBuffer range() const { return sluiceVulkanBuffer(buffer, 0, size); }
    template <typename T>
    T* as() const
    {
        return static_cast<T*>(mapped);
    }
};

class Gpu {
public:
    // kernels: SluiceKernels that will be used. device: its number or a part of its name, "" for
    // the first one. tier: what sluice is to run on.
    explicit Gpu(uint32_t kernels, const std::string& device = "",
                 SluiceVulkanTier tier = SLUICE_VULKAN_TIER_AUTO);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    const char* name() const { return properties_.deviceName; }
    SluiceContext sluice() const { return sluice_; }
    const SluiceContextInfo& chosen() const { return chosen_; } // by sluice: tier and subgroup size

    GpuBuffer allocate(VkDeviceSize size); // zeroed
    VkCommandBuffer begin();
    double submit(); // waits; milliseconds on the GPU

    // They have no descriptors and push constants of at most 128 bytes.
    VkPipeline createPipeline(const uint32_t* code, size_t bytes);
    // The same for a shader that includes sluice's lanes.glsl: workgroups of `workgroup`
    // invocations, which are whole subgroups of the size that sluice chose.
    VkPipeline createLanePipeline(const uint32_t* code, size_t bytes, uint32_t workgroup);
    // The workgroup size for such a shader, if it gains by large ones.
    uint32_t laneWorkgroup() const;
    void dispatch(VkPipeline pipeline, const void* push, uint32_t pushBytes, uint32_t workgroups);

private:
    void choosePhysical(const std::string& device);
    void createDevice(const std::string& device);
    void createSluice(SluiceVulkanTier tier, uint32_t kernels);
    VkPipeline makePipeline(const uint32_t* code, size_t bytes, VkComputePipelineCreateInfo info);
    void destroy();

    VkInstance instance_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties_ = {};
    VkPhysicalDeviceVulkan12Features features12_ = {};
    VkPhysicalDeviceVulkan13Features features13_ = {};
    VkPhysicalDeviceVulkan13Properties properties13_ = {};
    VkDevice device_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    uint32_t family_ = 0;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkQueryPool times_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    std::vector<VkPipeline> pipelines_;
    std::vector<GpuBuffer> buffers_;
    SluiceContext sluice_ = nullptr;
    SluiceContextInfo chosen_ = {};
};
