// SPDX-License-Identifier: MIT OR Apache-2.0
// The device of a context: its functions, the tier that was chosen for it, and the numbers on which
// plans depend. This file knows nothing of pipelines and commands.
#pragma once

#include <vulkan/vulkan_core.h>

#include <string>

#include <sluice/sluice_vulkan.h>

#include "vulkan/driver_decoder.h"
#include "vulkan/functions.h"
#include "vulkan/traits.h"
#include "vulkan/tuning.h"

namespace sluice {

struct VulkanMachine {
    // Loads the functions, then chooses tier and subgroup size. If this fails, *reason receives a
    // static text that says why.
    SluiceStatus open(const SluiceVulkanContextInfo& info, const char** reason);
    const char* tierName() const;                              // NULL if there is no such tier
    VkDeviceAddress address(const SluiceBuffer& buffer) const; // returns 0 for an empty range

    VulkanFunctions vk;
    DriverDecoder driver;
    VkDevice device = VK_NULL_HANDLE;
    SluiceVulkanTier tier = SLUICE_VULKAN_TIER_AUTO;
    DeviceTraits traits;
    VulkanTuning tuning{};
    bool requiresSize = false;          // pipelines must require traits.subgroupSize
    bool requiresFullSubgroups = false; // pipelines must require full subgroups
    std::string report;                 // says why no better tier was chosen
};

} // namespace sluice
