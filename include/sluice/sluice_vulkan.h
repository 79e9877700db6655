// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Creates a sluice context on the engine's own VkDevice. Include <vulkan/vulkan.h> (or volk.h)
// before this file.
#ifndef SLUICE_VULKAN_H
#define SLUICE_VULKAN_H

#include <sluice/sluice.h>

#ifndef VULKAN_CORE_H_
#error "include <vulkan/vulkan.h> before <sluice/sluice_vulkan.h>"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Wrap a VkCommandBuffer and a VkBuffer, without state or cost.
static inline SluiceCommands sluiceVulkanCommands(VkCommandBuffer commandBuffer)
{
    return (SluiceCommands)(void*)commandBuffer;
}
static inline SluiceBuffer sluiceVulkanBuffer(VkBuffer buffer, VkDeviceSize offset,
                                              VkDeviceSize size)
{
    SluiceBuffer range;
#if defined(VK_USE_64_BIT_PTR_DEFINES) && VK_USE_64_BIT_PTR_DEFINES
    range.handle = (uint64_t)(uintptr_t)buffer;
#elif defined(__LP64__) || defined(_WIN64)
    range.handle = (uint64_t)(uintptr_t)buffer;
#else
    range.handle = (uint64_t)buffer;
#endif
    range.offset = offset;
    range.size = size;
    return range;
}

// The tier that a Vulkan context runs on. AUTO selects the best one that the enabled features
// allow.
typedef enum SluiceVulkanTier {
    SLUICE_VULKAN_TIER_AUTO = 0,
    SLUICE_VULKAN_TIER_BASE = 1,
    SLUICE_VULKAN_TIER_EXT = 2,
    SLUICE_VULKAN_TIER_EMU4 = 4,
    SLUICE_VULKAN_TIER_EMU8 = 8,
    SLUICE_VULKAN_TIER_EMU16 = 16,
    SLUICE_VULKAN_TIER_EMU32 = 32,
    SLUICE_VULKAN_TIER_EMU64 = 64,
    SLUICE_VULKAN_TIER_EMU128 = 128,
    SLUICE_VULKAN_TIER_MAX_ENUM = 0x7fffffff
} SluiceVulkanTier;

// A range of device addresses that a dispatch reads or writes.
typedef struct SluiceVulkanAccess {
    VkDeviceAddress address; // address of the first byte
    VkDeviceSize size;       // bytes
    uint32_t write;          // 0: only read; 1: written, or read and written
    // The number of the chain of dispatches to which this dispatch belongs; 0: none. Different
    // chains may run at the same time. If two chains name the same range, each uses its own bytes
    // in the range, so this is not a conflict.
    uint32_t chain;
} SluiceVulkanAccess;
// Called once per recorded dispatch with the device-address ranges that the dispatch reads and
// writes. It is for tests that look for missing barriers, because synchronization validation does
// not see accesses through device addresses. For a barrier, ranges is NULL and count is 0.
typedef void (*SluiceVulkanRecorder)(void* user, VkCommandBuffer commandBuffer, const char* kernel,
                                     const SluiceVulkanAccess* ranges, uint32_t count);

// Describes the device to sluice. All handles belong to the caller and must outlive the context.
// The create-info pointers are only read during the call.
typedef struct SluiceVulkanContextInfo {
    // The loader's entry point; sluice uses it to load its own table of functions.
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    VkInstance instance;             // the instance of physicalDevice
    VkPhysicalDevice physicalDevice; // the physical device of device
    VkDevice device;                 // the device that commands run on
    // The version that the application requested in VkApplicationInfo; at least VK_API_VERSION_1_2.
    uint32_t apiVersion;
    // The pNext chain of features that was passed to vkCreateDevice (VkPhysicalDeviceFeatures2 or
    // the VkDeviceCreateInfo's pNext); NULL: none. bufferDeviceAddress must be enabled.
    const void* enabledFeatures;
    // pEnabledFeatures of VkDeviceCreateInfo if it was used, otherwise NULL.
    const VkPhysicalDeviceFeatures* enabledFeatures10;
    // Extension names that were passed to vkCreateDevice. SLUICE_DECODE_BY_DRIVER needs
    // VK_EXT_memory_decompression (or the NV extension) among them, and its feature in
    // enabledFeatures.
    const char* const* enabledExtensions;
    uint32_t enabledExtensionCount; // number of names
    // May be VK_NULL_HANDLE. Several threads may create pipelines at the same time, so the cache
    // must not be created with VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT.
    VkPipelineCache pipelineCache;
    // VkPipelineCreateFlags for all pipelines, usually 0. For example, a profiler needs
    // VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR.
    VkPipelineCreateFlags pipelineFlags;
    // AUTO, or the required tier (UNSUPPORTED if the enabled features do not allow it).
    SluiceVulkanTier tier;
    uint32_t requiredSubgroupSize; // 0, or the required hardware subgroup size
    SluiceVulkanRecorder recorder; // may be NULL
    void* recorderUser;            // the `user` of `recorder`
    // 1: All commands go to queues of a family without VK_QUEUE_GRAPHICS_BIT, on which kernels may
    // use more shared memory (docs/portability.md). This only affects speed; 0 is suitable for
    // every queue.
    uint32_t queueWithoutGraphics;
    // NULL, or a row of the tuning table as text, "name=value name=value", as `sluice tune` prints
    // it. Its members replace those chosen for the device. src/vulkan/tuning.h has the names and
    // ranges. Another name, or a value out of range, is an ARGUMENT error. A value that the device
    // cannot run, for example a workgroup that is too large for it, is rounded to one that it can
    // run. No row makes a result wrong, except that gstd.symbolsOnly and zstd.steps, which are for
    // benchmarks, leave data undecoded.
    const char* tuning;
    SluiceReportFunction report; // may be NULL; see sluiceSetReport
    void* reportUser;            // the `user` of `report`
} SluiceVulkanContextInfo;

// Creates a context on an existing device, within milliseconds, because it has no pipelines yet;
// sluiceCreatePipelines creates them. The baseline is Vulkan 1.2 with bufferDeviceAddress, 32 KiB
// of shared memory and workgroups of 128. The tiers, and what each needs:
//   emu32   the baseline alone; subgroups of 32 are emulated in shared memory
//   base    subgroup basic, ballot, arithmetic and shuffle operations in compute, and full
//           subgroups of a known size (computeFullSubgroups and subgroupSizeControl enabled, or
//           minSubgroupSize = maxSubgroupSize); where those are missing, AUTO takes `emu32`
//   ext     the same, and storageBuffer8BitAccess, which must be enabled; shaderInt64 is also used
//           if it is enabled (the float codec on NVIDIA's driver, about 5 % faster)
// The shaders do not need the Vulkan memory model.
//   report   may be NULL; otherwise receives a pointer to static text that says why the call failed
// Errors: ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY, DEVICE.
SLUICE_API SluiceStatus sluiceCreateVulkanContext(const SluiceVulkanContextInfo* info,
                                                  SluiceContext* context, const char** report);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_VULKAN_H
