// SPDX-License-Identifier: MIT OR Apache-2.0
// Declarations that the Vulkan headers of older distributions (1.3.239) lack: those of
// VK_EXT_memory_decompression, and the 64-bit buffer usage flags of VK_KHR_maintenance5.
#pragma once

#include <vulkan/vulkan_core.h>

#ifndef VK_KHR_maintenance5
#define VK_KHR_maintenance5 1
#define VK_KHR_MAINTENANCE_5_EXTENSION_NAME "VK_KHR_maintenance5"
constexpr VkStructureType VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES_KHR =
    static_cast<VkStructureType>(1000470000);
constexpr VkStructureType VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO_KHR =
    static_cast<VkStructureType>(1000470006);
typedef VkFlags64 VkBufferUsageFlags2KHR;
typedef struct VkPhysicalDeviceMaintenance5FeaturesKHR {
    VkStructureType sType;
    void* pNext;
    VkBool32 maintenance5;
} VkPhysicalDeviceMaintenance5FeaturesKHR;
typedef struct VkBufferUsageFlags2CreateInfoKHR {
    VkStructureType sType;
    const void* pNext;
    VkBufferUsageFlags2KHR usage;
} VkBufferUsageFlags2CreateInfoKHR;
#endif

#ifndef VK_EXT_memory_decompression
#define VK_EXT_memory_decompression 1
#define VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME "VK_EXT_memory_decompression"
// The features structure has the same sType value and layout as that of VK_NV_memory_decompression.
typedef VkPhysicalDeviceMemoryDecompressionFeaturesNV
    VkPhysicalDeviceMemoryDecompressionFeaturesEXT;
constexpr VkStructureType VK_STRUCTURE_TYPE_DECOMPRESS_MEMORY_INFO_EXT =
    static_cast<VkStructureType>(1000550002);
constexpr VkFlags64 VK_BUFFER_USAGE_2_MEMORY_DECOMPRESSION_BIT_EXT = 0x100000000ull;
constexpr VkFlags64 VK_PIPELINE_STAGE_2_MEMORY_DECOMPRESSION_BIT_EXT = 0x200000000000ull;
constexpr VkFlags64 VK_ACCESS_2_MEMORY_DECOMPRESSION_READ_BIT_EXT = 0x80000000000000ull;
constexpr VkFlags64 VK_ACCESS_2_MEMORY_DECOMPRESSION_WRITE_BIT_EXT = 0x100000000000000ull;
constexpr VkFlags64 VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_EXT = 1;
typedef VkFlags64 VkMemoryDecompressionMethodFlagsEXT;
typedef struct VkDecompressMemoryRegionEXT {
    VkDeviceAddress srcAddress;
    VkDeviceAddress dstAddress;
    VkDeviceSize compressedSize;
    VkDeviceSize decompressedSize;
} VkDecompressMemoryRegionEXT;
typedef struct VkDecompressMemoryInfoEXT {
    VkStructureType sType;
    const void* pNext;
    VkMemoryDecompressionMethodFlagsEXT decompressionMethod;
    uint32_t regionCount;
    const VkDecompressMemoryRegionEXT* pRegions;
} VkDecompressMemoryInfoEXT;
typedef void(VKAPI_PTR* PFN_vkCmdDecompressMemoryEXT)(VkCommandBuffer,
                                                      const VkDecompressMemoryInfoEXT*);
typedef void(VKAPI_PTR* PFN_vkCmdDecompressMemoryIndirectCountEXT)(
    VkCommandBuffer, VkMemoryDecompressionMethodFlagsEXT, VkDeviceAddress indirectCommandsAddress,
    VkDeviceAddress indirectCommandsCountAddress, uint32_t maxDecompressionCount, uint32_t stride);
#endif
