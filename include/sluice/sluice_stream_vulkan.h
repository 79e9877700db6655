// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a streamer needs of an engine's Vulkan device. Library: sluice_stream.
#ifndef SLUICE_STREAM_VULKAN_H
#define SLUICE_STREAM_VULKAN_H

#include <sluice/sluice_stream.h>
#include <sluice/sluice_vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

// All handles stay the caller's and outlive the streamer.
//   getInstanceProcAddr  the loader's entry point
//   queueFamily          of the queue that batches are submitted to
// The device has the feature timelineSemaphore enabled if groups or budgets name semaphores.
typedef struct SluiceStreamVulkanInfo {
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    uint32_t queueFamily;
} SluiceStreamVulkanInfo;

// Loads the functions that a streamer calls, for SluiceStreamerInfo::gpu. Errors: ARGUMENT,
// UNSUPPORTED (a function is missing), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateStreamVulkan(const SluiceStreamVulkanInfo* info,
                                                 struct SluiceStreamGpu** gpu);
// After the streamers that use it. NULL is allowed.
SLUICE_API void sluiceDestroyStreamVulkan(struct SluiceStreamGpu* gpu);

// A VkImage and a VkSemaphore as requests, groups and budgets hold them.
static inline uint64_t sluiceStreamImageHandle(VkImage image)
{
    return (uint64_t)image; // a pointer of 64 bits, or a number
}
static inline uint64_t sluiceStreamSemaphoreHandle(VkSemaphore semaphore)
{
    return (uint64_t)semaphore;
}

#ifdef __cplusplus
}
#endif
#endif // SLUICE_STREAM_VULKAN_H
