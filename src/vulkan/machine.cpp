// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/machine.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "vulkan/tiers.h"

namespace sluice {
namespace {

// Returns a Vulkan handle from the integer in which the API passes it. Handles are pointers on
// 64-bit machines and integers elsewhere.
template <typename Handle>
Handle handleOf(uint64_t value)
{
    if constexpr (std::is_pointer_v<Handle>) {
        return reinterpret_cast<Handle>(static_cast<uintptr_t>(value));
    } else {
        return value;
    }
}

bool contains(const char* const* names, uint32_t count, const char* name)
{
    return std::any_of(names, names + count,
                       [&](const char* one) { return std::strcmp(one, name) == 0; });
}

// Returns the number of SMs of an NVIDIA device, or 0 if its driver does not report it.
uint32_t readProcessors(const SluiceVulkanContextInfo& info,
                        PFN_vkGetPhysicalDeviceProperties2 getProperties)
{
    const auto enumerate = reinterpret_cast<PFN_vkEnumerateDeviceExtensionProperties>(
        info.getInstanceProcAddr(info.instance, "vkEnumerateDeviceExtensionProperties"));
    uint32_t count = 0;
    if (enumerate == nullptr ||
        enumerate(info.physicalDevice, nullptr, &count, nullptr) != VK_SUCCESS)
        return 0;
    const std::unique_ptr<VkExtensionProperties[]> known(new (std::nothrow)
                                                             VkExtensionProperties[count]);
    if (known == nullptr ||
        enumerate(info.physicalDevice, nullptr, &count, known.get()) != VK_SUCCESS)
        return 0;
    const bool says =
        std::any_of(known.get(), known.get() + count, [](const VkExtensionProperties& one) {
            return std::strcmp(one.extensionName, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME) == 0;
        });
    if (!says) return 0;
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV processors{};
    processors.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
    VkPhysicalDeviceProperties2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    all.pNext = &processors;
    getProperties(info.physicalDevice, &all);
    return processors.shaderSMCount;
}

// Chooses the tier and the subgroup size, and writes to the report why no better tier was chosen.
SluiceStatus chooseTier(VulkanMachine& machine, const SluiceVulkanContextInfo& info,
                        const char** reason)
{
    const VulkanFeatures features =
        readEnabledFeatures(info.enabledFeatures, info.enabledFeatures10);
    const bool sizeControl =
        features.subgroupSizeControl || contains(info.enabledExtensions, info.enabledExtensionCount,
                                                 VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    const VulkanProperties properties = readProperties(
        machine.vk.GetPhysicalDeviceProperties2, info.physicalDevice, info.apiVersion, sizeControl);
    *reason = whyNotVulkan(features, properties);
    if (*reason != nullptr) return SLUICE_ERROR_UNSUPPORTED;
    const char* const notBase = whyNotBase(features, properties, info.requiredSubgroupSize);
    const char* const notExt = notBase != nullptr ? notBase : whyNotExt(features);

    DeviceTraits& traits = machine.traits;
    traits.vendor = properties.vendor;
    traits.maxInvocations = safeInvocations(properties);
    traits.maxSubgroups = properties.maxSubgroups;
    traits.sharedBytes = properties.sharedBytes;
    traits.forwardProgress = hasForwardProgress(properties);
    traits.plainStoresVisible = properties.driver == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
    if (traits.plainStoresVisible) {
        traits.processors = readProcessors(info, machine.vk.GetPhysicalDeviceProperties2);
        traits.ampleSharedMemory = info.queueWithoutGraphics != 0;
    }
    traits.driverDecodes = machine.driver.regionLimit != 0;
    machine.tier = info.tier;
    if (machine.tier == SLUICE_VULKAN_TIER_AUTO) {
        if (info.requiredSubgroupSize != 0 && notBase != nullptr) {
            // Only an emulated tier is left, but requiredSubgroupSize asks for hardware subgroups.
            *reason = notBase;
            return SLUICE_ERROR_UNSUPPORTED;
        }
        machine.tier = notExt == nullptr    ? SLUICE_VULKAN_TIER_EXT
                       : notBase == nullptr ? SLUICE_VULKAN_TIER_BASE
                                            : SLUICE_VULKAN_TIER_EMU32;
    }
    if (machine.tierName() == nullptr) {
        *reason = "no such tier";
        return SLUICE_ERROR_ARGUMENT;
    }
    ShaderVariant& variant = traits.variant;
    if (emulatedSize(machine.tier) != 0) {
        variant = ShaderVariant::emu;
        traits.subgroupSize = emulatedSize(machine.tier);
    } else {
        const bool ext = machine.tier == SLUICE_VULKAN_TIER_EXT;
        *reason = ext ? notExt : notBase;
        if (*reason != nullptr) return SLUICE_ERROR_UNSUPPORTED;
        traits.subgroupSize = chooseSubgroupSize(features, properties, info.requiredSubgroupSize);
        variant = traits.subgroupSize < 32
                      ? (ext ? ShaderVariant::extNarrow : ShaderVariant::baseNarrow)
                      : (ext ? ShaderVariant::ext : ShaderVariant::base);
        // Only NVIDIA's driver gets the variant with 64-bit integers (plainStoresVisible stands for
        // that driver here). With other drivers a 64-bit shift may take several instructions.
        if (variant == ShaderVariant::ext && traits.plainStoresVisible && features.shaderInt64)
            variant = ShaderVariant::extInt64;
        machine.requiresSize = canChooseSize(features, properties);
        machine.requiresFullSubgroups = features.computeFullSubgroups;
    }
    machine.tuning = tuningFor(traits);
    if (info.tuning != nullptr) {
        *reason = "tuning has an unknown name or a value out of range (src/vulkan/tuning.h)";
        if (const SluiceStatus status = readTuning(info.tuning, machine.tuning)) return status;
        fitTuning(traits, machine.tuning);
    }

    const bool asked = info.tier != SLUICE_VULKAN_TIER_AUTO;
    const auto report = [&](const char* tier, const char* why) {
        machine.report +=
            std::string(tier) + ": " + (why != nullptr ? why : "another tier was asked for") + "\n";
    };
    if (machine.tier != SLUICE_VULKAN_TIER_EXT && (notExt != nullptr || asked))
        report("ext", notExt);
    if (traits.isEmulated() && (notBase != nullptr || asked)) report("base", notBase);
    return SLUICE_OK;
}

} // namespace

SluiceStatus VulkanMachine::open(const SluiceVulkanContextInfo& info, const char** reason)
{
    device = info.device;
    if (!vk.load(info.getInstanceProcAddr, info.instance, info.device)) {
        *reason =
            "the loader does not give all functions of Vulkan 1.2; was apiVersion 1.2 asked for?";
        return SLUICE_ERROR_UNSUPPORTED;
    }
    driver.load(info);
    return chooseTier(*this, info, reason);
}

const char* VulkanMachine::tierName() const
{
    for (const TierName& known : kVulkanTiers)
        if (known.tier == tier) return known.name;
    return nullptr;
}

VkDeviceAddress VulkanMachine::address(const SluiceBuffer& buffer) const
{
    if (buffer.size == 0) return 0;
    VkBufferDeviceAddressInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    info.buffer = handleOf<VkBuffer>(buffer.handle);
    return vk.GetBufferDeviceAddress(device, &info) + buffer.offset;
}

} // namespace sluice
