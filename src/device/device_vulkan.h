// SPDX-License-Identifier: MIT OR Apache-2.0
// Internal: the Vulkan objects of a device of the convenience layer. The tool's benchmark of the
// driver's own decoders needs them, and so do tests that create contexts with other parameters.
#pragma once

#include <vulkan/vulkan_core.h>

#include <sluice/sluice_device.h>
#include <sluice/sluice_vulkan.h>

#include "formats/integers.h"

namespace sluice {

struct VulkanHandles {
    // The parameters of the device's own context, without the pipeline cache and the recorder.
    SluiceVulkanContextInfo contextInfo;
    VkQueue queue;
    uint32_t queueFamily;
    bool nvDecompression; // VK_NV_memory_decompression is enabled
    // VK_EXT_memory_decompression is enabled, and every buffer has its usage flag.
    bool extDecompression;
};

// Returns false if the device is not a Vulkan one. The pointers live as long as the device.
bool vulkanHandles(SluiceDevice device, VulkanHandles& handles);

} // namespace sluice
