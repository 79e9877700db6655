// SPDX-License-Identifier: MIT OR Apache-2.0
// What an engine has anyway: a Vulkan device, memory that the host can see, one compute pipeline, a command buffer. No
// more than the sample needs.
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

    SluiceBuffer range() const { return sluiceVulkanBuffer(buffer, 0, size); }
    template <typename T>
    T* as() const
    {
        return static_cast<T*>(mapped);
    }
};

class Gpu {
public:
    Gpu();
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    const char* name() const { return properties_.deviceName; }
    SluiceContext sluice() const { return sluice_; }

    GpuBuffer allocate(VkDeviceSize size); // zeroed
    VkCommandBuffer begin();
    double submit(); // waits; milliseconds on the GPU

    void createPipeline(const uint32_t* code, size_t bytes, uint32_t pushBytes);
    void dispatch(const void* push, uint32_t pushBytes, uint32_t workgroups);

private:
    void createDevice();
    void createSluice();
    void destroy();

    VkInstance instance_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties_ = {};
    VkPhysicalDeviceVulkan12Features features12_ = {};
    VkPhysicalDeviceVulkan13Features features13_ = {};
    VkDevice device_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    uint32_t family_ = 0;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkQueryPool times_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    std::vector<GpuBuffer> buffers_;
    SluiceContext sluice_ = nullptr;
};
