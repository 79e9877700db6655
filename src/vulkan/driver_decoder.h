// SPDX-License-Identifier: MIT OR Apache-2.0
// The GDeflate decoder of the driver (VK_EXT_memory_decompression or VK_NV_memory_decompression),
// for callers that have enabled one of these extensions.
#pragma once

#include <algorithm>
#include <cstring>

#include <sluice/sluice_vulkan.h>

#include "layout/regions.h"
#include "vulkan/vulkan_new.h"

namespace sluice {

struct DriverDecoder {
    PFN_vkCmdDecompressMemoryIndirectCountEXT decompressExt = nullptr;
    PFN_vkCmdDecompressMemoryIndirectCountNV decompressNv = nullptr;
    // The most regions that the decoder takes at once; 0: there is no such decoder.
    uint32_t regionLimit = 0;

    // Looks for the decoder. An extension counts only if it is enabled, its feature is in the chain
    // of enabled features, and it supports GDeflate.
    void load(const SluiceVulkanContextInfo& info)
    {
        const bool ext = enabled(info, VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME);
        const bool nv = enabled(info, VK_NV_MEMORY_DECOMPRESSION_EXTENSION_NAME);
        if ((!ext && !nv) || !featureEnabled(info.enabledFeatures)) return;
        const auto instanceFunction = [&](const char* name) {
            return info.getInstanceProcAddr(info.instance, name);
        };
        const auto getDeviceProcAddr =
            reinterpret_cast<PFN_vkGetDeviceProcAddr>(instanceFunction("vkGetDeviceProcAddr"));
        const auto getProperties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
            instanceFunction("vkGetPhysicalDeviceProperties2"));
        if (ext)
            decompressExt = reinterpret_cast<PFN_vkCmdDecompressMemoryIndirectCountEXT>(
                getDeviceProcAddr(info.device, "vkCmdDecompressMemoryIndirectCountEXT"));
        if (nv)
            decompressNv = reinterpret_cast<PFN_vkCmdDecompressMemoryIndirectCountNV>(
                getDeviceProcAddr(info.device, "vkCmdDecompressMemoryIndirectCountNV"));
        // Both extensions use the same properties structure.
        VkPhysicalDeviceMemoryDecompressionPropertiesNV decompression{};
        decompression.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_DECOMPRESSION_PROPERTIES_NV;
        VkPhysicalDeviceProperties2 properties{};
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        properties.pNext = &decompression;
        getProperties(info.physicalDevice, &properties);
        const bool gdeflate = (decompression.decompressionMethods &
                               VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_NV) != 0;
        if (gdeflate && (decompressExt != nullptr || decompressNv != nullptr))
            regionLimit = uint32_t(
                std::min<uint64_t>(decompression.maxDecompressionIndirectCount, UINT32_MAX));
    }

    // Records the decode of the regions in the list at `list`, which driver_regions.comp has
    // written.
    void record(VkCommandBuffer commands, VkDeviceAddress list, uint32_t maxRegionCount) const
    {
        const VkDeviceAddress regions = list + SLUICE_DRIVER_LIST_AT * 4;
        constexpr uint32_t stride = SLUICE_DRIVER_REGION_WORDS * 4;
        if (decompressExt != nullptr) {
            decompressExt(commands, VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_EXT, regions,
                          list, maxRegionCount, stride);
        } else {
            decompressNv(commands, regions, list, stride);
        }
    }

private:
    static bool enabled(const SluiceVulkanContextInfo& info, const char* extension)
    {
        const char* const* const end = info.enabledExtensions + info.enabledExtensionCount;
        return std::any_of(info.enabledExtensions, end,
                           [&](const char* one) { return std::strcmp(one, extension) == 0; });
    }

    // Returns whether the feature memoryDecompression is enabled in the pNext chain `chain`. Both
    // extensions use the same features structure.
    static bool featureEnabled(const void* chain)
    {
        for (auto* next = static_cast<const VkBaseInStructure*>(chain); next != nullptr;
             next = next->pNext) {
            if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_DECOMPRESSION_FEATURES_NV)
                return reinterpret_cast<const VkPhysicalDeviceMemoryDecompressionFeaturesNV*>(next)
                           ->memoryDecompression != VK_FALSE;
        }
        return false;
    }
};

} // namespace sluice
