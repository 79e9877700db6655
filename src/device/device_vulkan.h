// SPDX-License-Identifier: MIT OR Apache-2.0
// Internal header: the Vulkan objects of a device of the convenience layer. They are for the tool's
// benchmark of the driver's own decoders, and for tests that create contexts with other parameters.
#pragma once

#include <vulkan/vulkan_core.h>

#include <sluice/sluice_device.h>
#include <sluice/sluice_vulkan.h>

#include "formats/integers.h"

namespace sluice {

// The objects of a device, and which of the driver's own decoders can be used.
struct VulkanHandles {
    // The parameters with which the device's own context was created, except for the pipeline cache
    // and the recorder, which are left empty.
    SluiceVulkanContextInfo contextInfo;
    VkQueue queue;
    uint32_t queueFamily;
    bool nvDecompression; // VK_NV_memory_decompression is enabled
    // VK_EXT_memory_decompression is enabled, and all buffers have the usage flag that it needs.
    bool extDecompression;
};

// Fills `handles`. The pointers in it are valid as long as the device is open. Returns false if the
// device is not a Vulkan device.
bool vulkanHandles(SluiceDevice device, VulkanHandles& handles);

} // namespace sluice
