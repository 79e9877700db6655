// SPDX-License-Identifier: MIT OR Apache-2.0
// An engine has all of this anyway: a Vulkan device, memory that the host can see, compute
// pipelines, a command buffer. Here is no more of it than the samples need.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <volk.h>

#include <sluice/sluice_vulkan.h>

// There is no Vulkan device to run on.
struct NoDevice : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void requireVulkan(VkResult result, const char* what);

// Runs a sample and returns its exit code: 77 where there is nothing to run on.
int runSample(const char* name, const std::function<void()>& run);

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
    // the first one. tier: sluice runs on it.
    explicit Gpu(uint32_t kernels, const std::string& device = "",
                 SluiceVulkanTier tier = SLUICE_VULKAN_TIER_AUTO);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    const char* name() const { return m_properties.deviceName; }
    SluiceContext sluice() const { return m_sluice; }
    const SluiceContextInfo& chosen() const
    {
        return m_chosen;
    } // by sluice: tier and subgroup size

    GpuBuffer allocate(VkDeviceSize size); // zeroed
    VkCommandBuffer begin();
    double submit(); // waits; milliseconds on the GPU

    // Pipelines have no descriptors and push constants of at most 128 bytes.
    VkPipeline createPipeline(const uint32_t* code, size_t bytes);
    // Makes one of a shader that includes sluice's lanes.glsl: workgroups of `workgroup`
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

    VkInstance m_instance = VK_NULL_HANDLE;
    VkPhysicalDevice m_physical = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties m_properties = {};
    VkPhysicalDeviceVulkan12Features m_features12 = {};
    VkPhysicalDeviceVulkan13Features m_features13 = {};
    VkPhysicalDeviceVulkan13Properties m_properties13 = {};
    VkDevice m_device = VK_NULL_HANDLE;
    VkQueue m_queue = VK_NULL_HANDLE;
    uint32_t m_family = 0;
    VkCommandPool m_pool = VK_NULL_HANDLE;
    VkCommandBuffer m_commands = VK_NULL_HANDLE;
    VkQueryPool m_times = VK_NULL_HANDLE;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    std::vector<VkPipeline> m_pipelines;
    std::vector<GpuBuffer> m_buffers;
    SluiceContext m_sluice = nullptr;
    SluiceContextInfo m_chosen = {};
};
