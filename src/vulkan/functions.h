// SPDX-License-Identifier: MIT OR Apache-2.0
// The Vulkan functions that the library calls, in a table of its own. The library neither defines
// nor uses global vk* symbols, which could clash with those of the engine's loader.
#pragma once

#include <vulkan/vulkan_core.h>

namespace sluice {

#define SLUICE_VULKAN_DEVICE_FUNCTIONS(X)                                                          \
    X(CreateShaderModule)                                                                          \
    X(DestroyShaderModule)                                                                         \
    X(CreatePipelineLayout)                                                                        \
    X(DestroyPipelineLayout)                                                                       \
    X(CreateComputePipelines)                                                                      \
    X(DestroyPipeline)                                                                             \
    X(GetBufferDeviceAddress)                                                                      \
    X(CmdBindPipeline)                                                                             \
    X(CmdPushConstants)                                                                            \
    X(CmdDispatch)                                                                                 \
    X(CmdPipelineBarrier)

struct VulkanFunctions {
    PFN_vkGetPhysicalDeviceProperties2 GetPhysicalDeviceProperties2 = nullptr;
#define SLUICE_MEMBER(name) PFN_vk##name name = nullptr;
    SLUICE_VULKAN_DEVICE_FUNCTIONS(SLUICE_MEMBER)
#undef SLUICE_MEMBER

    // Returns false if any function is missing.
    bool load(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance instance, VkDevice device)
    {
        const auto getDeviceProcAddr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
            getInstanceProcAddr(instance, "vkGetDeviceProcAddr"));
        GetPhysicalDeviceProperties2 = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
            getInstanceProcAddr(instance, "vkGetPhysicalDeviceProperties2"));
        if (getDeviceProcAddr == nullptr || GetPhysicalDeviceProperties2 == nullptr) {
            return false;
        }
        bool complete = true;
#define SLUICE_LOAD(name)                                                                          \
    name = reinterpret_cast<PFN_vk##name>(getDeviceProcAddr(device, "vk" #name));                  \
    complete = complete && name != nullptr;
        SLUICE_VULKAN_DEVICE_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
        return complete;
    }
};

} // namespace sluice
