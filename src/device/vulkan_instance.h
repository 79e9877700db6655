// SPDX-License-Identifier: MIT OR Apache-2.0
// The loader, an instance with its validation messages, and the physical devices. The loader is
// opened at run time, so that programs start on machines without Vulkan.
#pragma once

#include <vulkan/vulkan_core.h>

#include <memory>
#include <string>
#include <vector>

#include <sluice/sluice_device.h>

#include "formats/errors.h"
#include "formats/integers.h"

namespace sluice {

#define SLUICE_INSTANCE_FUNCTIONS(X)                                                               \
    X(DestroyInstance)                                                                             \
    X(EnumeratePhysicalDevices)                                                                    \
    X(GetPhysicalDeviceProperties)                                                                 \
    X(GetPhysicalDeviceProperties2)                                                                \
    X(GetPhysicalDeviceFeatures2)                                                                  \
    X(GetPhysicalDeviceMemoryProperties)                                                           \
    X(GetPhysicalDeviceQueueFamilyProperties)                                                      \
    X(EnumerateDeviceExtensionProperties)                                                          \
    X(CreateDevice)                                                                                \
    X(GetDeviceProcAddr)

class VulkanInstance {
public:
    // The version that VkApplicationInfo requests. Devices may have a lower one.
    static constexpr uint32_t kApiVersion = VK_API_VERSION_1_3;

    // `info` may be NULL. `validation` is as in SluiceDeviceInfo, and messages go to the `message`
    // callback of `info`. On failure `error` says why.
    static SluiceStatus create(const SluiceDeviceInfo* info,
                               std::unique_ptr<VulkanInstance>& instance, std::string& error);
    ~VulkanInstance();
    VulkanInstance(const VulkanInstance&) = delete;
    VulkanInstance& operator=(const VulkanInstance&) = delete;

    // Passes a message on to SluiceDeviceInfo's callback.
    void message(const char* text) const;

    PFN_vkGetInstanceProcAddr getInstanceProcAddr = nullptr;
    VkInstance handle = VK_NULL_HANDLE;
    std::vector<VkPhysicalDevice> physicalDevices;
    // The Vulkan version that the validation layer knows, if there is a layer.
    uint32_t validationVersion = UINT32_MAX;
#define SLUICE_MEMBER(name) PFN_vk##name name = nullptr;
    SLUICE_INSTANCE_FUNCTIONS(SLUICE_MEMBER)
#undef SLUICE_MEMBER

private:
    VulkanInstance() = default;
    SluiceStatus open(uint32_t validation, std::string& error);
    SluiceStatus createInstance(uint32_t validation, std::string& error);

    VkDebugUtilsMessengerEXT m_messenger = VK_NULL_HANDLE;
    void (*m_message)(void* user, const char* text) = nullptr;
    void* m_messageUser = nullptr;
};

// The features of a physical device that the library and the benchmark can use, as a chain for
// vkCreateDevice.
class VulkanFeatureChain {
public:
    // With pipelineStatistics, drivers also report statistics of compiled pipelines, if they can.
    VulkanFeatureChain(const VulkanInstance& instance, VkPhysicalDevice device,
                       bool pipelineStatistics);
    ~VulkanFeatureChain();
    VulkanFeatureChain(const VulkanFeatureChain&) = delete;
    VulkanFeatureChain& operator=(const VulkanFeatureChain&) = delete;

    const void* chain() const { return &m_features; }
    const std::vector<const char*>& extensions() const { return m_extensions; }
    bool has(const char* extension) const;

private:
    void append(void* structure);

    VkPhysicalDeviceFeatures2 m_features{};
    void* m_last = &m_features;
    std::vector<const char*> m_extensions;
    struct Structures;
    std::unique_ptr<Structures> m_structures;
};

} // namespace sluice
