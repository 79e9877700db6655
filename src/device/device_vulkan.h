// SPDX-License-Identifier: MIT OR Apache-2.0
// Internal: the Vulkan objects behind a device of the convenience layer, for the tool's benchmark
// of the driver's own decoders and for tests that need a context with other parameters.
#pragma once

#include <vulkan/vulkan_core.h>

#include <sluice/sluice_device.h>
#include <sluice/sluice_vulkan.h>

#include "formats/integers.h"

namespace sluice {

struct VulkanHandles {
    SluiceVulkanContextInfo contextInfo; // what the device's own context was made from; no pipeline
                                         // cache, no recorder
    VkQueue queue;
    uint32_t queueFamily;
    bool nvDecompression;  // VK_NV_memory_decompression is enabled
    bool extDecompression; // VK_EXT_memory_decompression is enabled, and every buffer has its usage
                           // flag
};

// Returns false if the device is not a Vulkan one. The pointers live as long as the device.
bool vulkanHandles(SluiceDevice device, VulkanHandles& handles);

} // namespace sluice
