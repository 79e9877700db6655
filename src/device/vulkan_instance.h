// SPDX-License-Identifier: MIT OR Apache-2.0
// The Vulkan loader, an instance with its validation messages, and the physical devices. The loader
// is opened at run time, so that programs also start on machines without Vulkan.
#pragma once

#include <vulkan/vulkan_core.h>

#include <memory>
#include <string>
#include <vector>

#include <sluice/sluice_device.h>

#include "formats/errors.h"
#include "formats/integers.h"

namespace sluice {

// The functions of Vulkan that are loaded from the instance. They become members of VulkanInstance,
// named without "vk".
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

// An instance, and the functions that need it.
class VulkanInstance {
public:
    // The version of Vulkan that is requested. Devices may support only a lower one.
    static constexpr uint32_t kApiVersion = VK_API_VERSION_1_3;

    // Loads Vulkan and makes an instance. `info` may be nullptr; otherwise its `validation` says
    // whether the validation layer is used, and its `message` callback receives the layer's
    // messages. On failure `error` says why.
    static SluiceStatus create(const SluiceDeviceInfo* info,
                               std::unique_ptr<VulkanInstance>& instance, std::string& error);
    ~VulkanInstance();
    VulkanInstance(const VulkanInstance&) = delete;
    VulkanInstance& operator=(const VulkanInstance&) = delete;

    // Calls the callback of SluiceDeviceInfo, if there is one.
    void message(const char* text) const;

    PFN_vkGetInstanceProcAddr getInstanceProcAddr = nullptr;
    VkInstance handle = VK_NULL_HANDLE;
    std::vector<VkPhysicalDevice> physicalDevices;
    // The version of Vulkan that the validation layer knows; the highest number if the layer is not
    // used.
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

// The features and extensions of a physical device that the library and the benchmark can use.
// chain() is what vkCreateDevice takes.
class VulkanFeatureChain {
public:
    // pipelineStatistics: whether to enable the extension by which a driver reports statistics of
    // compiled pipelines, such as their registers. A driver without it is no error.
    VulkanFeatureChain(const VulkanInstance& instance, VkPhysicalDevice device,
                       bool pipelineStatistics);
    ~VulkanFeatureChain();
    VulkanFeatureChain(const VulkanFeatureChain&) = delete;
    VulkanFeatureChain& operator=(const VulkanFeatureChain&) = delete;

    const void* chain() const { return &m_features; }
    const std::vector<const char*>& extensions() const { return m_extensions; }
    // Returns whether an extension is enabled.
    bool has(const char* extension) const;

private:
    void append(void* structure);

    VkPhysicalDeviceFeatures2 m_features{};
    void* m_last = &m_features; // the last structure of the chain
    std::vector<const char*> m_extensions;
    struct Structures;
    std::unique_ptr<Structures> m_structures;
};

} // namespace sluice
