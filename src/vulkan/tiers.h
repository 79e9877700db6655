// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides which tiers a Vulkan device can run, from the properties that it reports and the features
// that are enabled, and says why it cannot run a better one. The convenience layer (src/device)
// also uses this, before it creates a device.
#pragma once

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <cstdint>

#include <sluice/sluice_vulkan.h>

namespace sluice {

// The features on which tiers depend; true if the caller has enabled them.
struct VulkanFeatures {
    bool bufferDeviceAddress = false;
    bool storageBuffer8BitAccess = false;
    bool subgroupSizeControl = false;
    bool computeFullSubgroups = false;
    bool shaderInt64 = false;
};

// The properties on which tiers depend.
struct VulkanProperties {
    uint32_t apiVersion = 0; // the lower one of the device's and the application's
    uint32_t subgroupSize = 0;
    uint32_t minSubgroupSize = 0, maxSubgroupSize = 0; // 0: not known
    uint32_t maxSubgroups = 0;             // in a workgroup, if a subgroup size is required
    bool canRequireSize = false;           // compute pipelines can require a subgroup size
    VkSubgroupFeatureFlags operations = 0; // supported in compute shaders
    uint32_t sharedBytes = 0;
    VkDriverId driver = VkDriverId(0);
    uint32_t maxInvocations = 0; // in a workgroup
    uint32_t vendor = 0;
    VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
};

// Reads which features are enabled. `chain` is the pNext chain and `core` the pEnabledFeatures of
// the caller's VkDeviceCreateInfo; both may be null.
inline VulkanFeatures readEnabledFeatures(const void* chain, const VkPhysicalDeviceFeatures* core)
{
    VulkanFeatures features;
    features.shaderInt64 = core != nullptr && core->shaderInt64 != VK_FALSE;
    for (auto* next = static_cast<const VkBaseInStructure*>(chain); next != nullptr;
         next = next->pNext) {
        const auto on = [](bool& feature, VkBool32 enabled) {
            feature = feature || enabled != VK_FALSE;
        };
        switch (next->sType) {
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2: {
            auto* f = reinterpret_cast<const VkPhysicalDeviceFeatures2*>(next);
            on(features.shaderInt64, f->features.shaderInt64);
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES: {
            auto* f = reinterpret_cast<const VkPhysicalDeviceVulkan12Features*>(next);
            on(features.bufferDeviceAddress, f->bufferDeviceAddress);
            on(features.storageBuffer8BitAccess, f->storageBuffer8BitAccess);
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES: {
            auto* f = reinterpret_cast<const VkPhysicalDeviceVulkan13Features*>(next);
            on(features.subgroupSizeControl, f->subgroupSizeControl);
            on(features.computeFullSubgroups, f->computeFullSubgroups);
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES: {
            auto* f = reinterpret_cast<const VkPhysicalDeviceBufferDeviceAddressFeatures*>(next);
            on(features.bufferDeviceAddress, f->bufferDeviceAddress);
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES: {
            auto* f = reinterpret_cast<const VkPhysicalDevice8BitStorageFeatures*>(next);
            on(features.storageBuffer8BitAccess, f->storageBuffer8BitAccess);
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES: {
            auto* f = reinterpret_cast<const VkPhysicalDeviceSubgroupSizeControlFeatures*>(next);
            on(features.subgroupSizeControl, f->subgroupSizeControl);
            on(features.computeFullSubgroups, f->computeFullSubgroups);
            break;
        }
        default: break;
        }
    }
    return features;
}

// Reads the device's properties. apiVersion is the version that the application has asked for.
// sizeControl: whether the extension VK_EXT_subgroup_size_control is or can be enabled, so that the
// range of subgroup sizes can be read, too. Vulkan 1.3 has it in the core.
inline VulkanProperties readProperties(PFN_vkGetPhysicalDeviceProperties2 getProperties,
                                       VkPhysicalDevice device, uint32_t apiVersion,
                                       bool sizeControl)
{
    VkPhysicalDeviceSubgroupProperties subgroup{};
    subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    VkPhysicalDeviceProperties2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    all.pNext = &subgroup;
    getProperties(device, &all);

    VulkanProperties properties;
    properties.apiVersion = std::min(apiVersion, all.properties.apiVersion);
    if (properties.apiVersion >= VK_API_VERSION_1_2) {
        VkPhysicalDeviceDriverProperties driver{};
        driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
        VkPhysicalDeviceProperties2 more{};
        more.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        more.pNext = &driver;
        getProperties(device, &more);
        properties.driver = driver.driverID;
    }
    properties.subgroupSize = subgroup.subgroupSize;
    properties.operations = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0
                                ? subgroup.supportedOperations
                                : 0;
    properties.sharedBytes = all.properties.limits.maxComputeSharedMemorySize;
    properties.vendor = all.properties.vendorID;
    properties.type = all.properties.deviceType;
    properties.maxInvocations = std::min(all.properties.limits.maxComputeWorkGroupInvocations,
                                         all.properties.limits.maxComputeWorkGroupSize[0]);
    if (properties.apiVersion >= VK_API_VERSION_1_3 || sizeControl) {
        VkPhysicalDeviceSubgroupSizeControlProperties sizes{};
        sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
        all.pNext = &sizes;
        getProperties(device, &all);
        properties.minSubgroupSize = sizes.minSubgroupSize;
        properties.maxSubgroupSize = sizes.maxSubgroupSize;
        properties.maxSubgroups = sizes.maxComputeWorkgroupSubgroups;
        properties.canRequireSize =
            (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    }
    return properties;
}

// Returns whether pipelines can require a subgroup size.
inline bool canChooseSize(const VulkanFeatures& features, const VulkanProperties& properties)
{
    return features.subgroupSizeControl && features.computeFullSubgroups &&
           properties.canRequireSize;
}

constexpr uint32_t kVendorAmd = 0x1002, kVendorNvidia = 0x10de, kVendorIntel = 0x8086;

// Returns the subgroup size with which a device is fastest. That is 32, the size of a lane group,
// except on Intel's GPUs whose smallest size is 8 (up to Xe and Arc A). These have too few
// registers: with 32 lanes their compiler spills in nearly all kernels, five times as much as with
// 16, and takes three times as long (docs/compilers.md). Later GPUs, whose smallest size is 16,
// have twice as many registers.
inline uint32_t bestSubgroupSize(const VulkanProperties& properties)
{
    return properties.vendor == kVendorIntel && properties.minSubgroupSize <= 8 ? 16 : 32;
}

// Returns the subgroup size to use: `required` if it is not 0, otherwise the possible size that is
// nearest to the best one. Returns 0 if the kernels cannot run with it.
inline uint32_t chooseSubgroupSize(const VulkanFeatures& features,
                                   const VulkanProperties& properties, uint32_t required)
{
    const uint32_t low = properties.minSubgroupSize, high = properties.maxSubgroupSize;
    if (low == 0 || (low != high && !canChooseSize(features, properties))) return 0;
    // Kernels may need workgroups of 128 invocations. A subgroup size is unusable if such a
    // workgroup would have more subgroups than the device allows.
    uint32_t size =
        required != 0 ? required : std::min(std::max(bestSubgroupSize(properties), low), high);
    if (required == 0 && low != high) {
        while (size < high && properties.maxSubgroups * size < 128)
            size *= 2;
    }
    const bool usable = size >= std::max(low, 4u) && size <= std::min(high, 128u) &&
                        (size & (size - 1)) == 0 && properties.maxSubgroups * size >= 128;
    return usable ? size : 0;
}

// Returns whether the kernels have been tested with this vendor's compilers and GPUs.
inline bool isOfKnownVendor(const VulkanProperties& properties)
{
    return properties.vendor == kVendorAmd || properties.vendor == kVendorNvidia ||
           properties.vendor == kVendorIntel;
}

// Returns the most invocations that workgroups get. A device reports one limit for all shaders, but
// not every compiler keeps to it: Turnip (Mesa 25.0) for Adreno 630 and 740 ends the process when
// it compiles float_decode with 512 invocations, and compiles it with 256.
inline uint32_t safeInvocations(const VulkanProperties& properties)
{
    const bool isKnown =
        isOfKnownVendor(properties) || properties.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    return isKnown ? properties.maxInvocations : std::min(properties.maxInvocations, 256u);
}

// Returns whether a workgroup that has started is known to go on making progress, whatever other
// workgroups do. Vulkan has no query for this; Sorensen et al. (2021) found it on the GPUs of these
// vendors.
inline bool hasForwardProgress(const VulkanProperties& properties)
{
    return isOfKnownVendor(properties) &&
           (properties.type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ||
            properties.type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU);
}

// Each function below returns why certain tiers cannot run (all tiers, base or ext), or NULL if
// they can.

inline const char* whyNotVulkan(const VulkanFeatures& features, const VulkanProperties& properties)
{
    if (properties.apiVersion < VK_API_VERSION_1_2)
        return "Vulkan 1.2 is needed, of the device and as the application's apiVersion";
    if (!features.bufferDeviceAddress) return "bufferDeviceAddress is not enabled";
    if (properties.sharedBytes < 32768) return "the device has less than 32 KiB of shared memory";
    return nullptr;
}

inline const char* whyNotBase(const VulkanFeatures& features, const VulkanProperties& properties,
                              uint32_t requiredSubgroupSize)
{
    constexpr VkSubgroupFeatureFlags needed =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT |
        VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    if ((properties.operations & needed) != needed)
        return "the device lacks basic, ballot, arithmetic or shuffle subgroup operations in "
               "compute";
    if (properties.minSubgroupSize == 0)
        return "the subgroup size is not known: neither Vulkan 1.3 nor "
               "VK_EXT_subgroup_size_control is enabled";
    if (properties.minSubgroupSize != properties.maxSubgroupSize &&
        !canChooseSize(features, properties)) {
        return "the subgroup size varies and subgroupSizeControl or computeFullSubgroups is not "
               "enabled";
    }
    if (chooseSubgroupSize(features, properties, requiredSubgroupSize) == 0)
        return "the device has no such subgroup size, or allows too few subgroups a workgroup";
    return nullptr;
}

inline const char* whyNotExt(const VulkanFeatures& features)
{
    return features.storageBuffer8BitAccess ? nullptr : "storageBuffer8BitAccess is not enabled";
}

struct TierName {
    SluiceVulkanTier tier;
    const char* name;
};
constexpr TierName kVulkanTiers[] = {
    {SLUICE_VULKAN_TIER_EXT, "ext"},     {SLUICE_VULKAN_TIER_BASE, "base"},
    {SLUICE_VULKAN_TIER_EMU32, "emu32"}, {SLUICE_VULKAN_TIER_EMU4, "emu4"},
    {SLUICE_VULKAN_TIER_EMU8, "emu8"},   {SLUICE_VULKAN_TIER_EMU16, "emu16"},
    {SLUICE_VULKAN_TIER_EMU64, "emu64"}, {SLUICE_VULKAN_TIER_EMU128, "emu128"},
};

// Returns the subgroup size of an emulated tier, or 0 for other tiers.
inline uint32_t emulatedSize(SluiceVulkanTier tier)
{
    return tier >= SLUICE_VULKAN_TIER_EMU4 ? uint32_t(tier) : 0;
}

} // namespace sluice
