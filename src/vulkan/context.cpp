// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/context.h"

#include <memory>
#include <new>

#include "layout/constants.h"
#include "vulkan/tiers.h"

namespace sluice {
namespace {

const char* tierName(SluiceVulkanTier tier)
{
    for (const TierName& known : kVulkanTiers) {
        if (known.tier == tier) {
            return known.name;
        }
    }
    return nullptr;
}

bool contains(const char* const* names, uint32_t count, const char* name)
{
    return std::any_of(names, names + count,
                       [&](const char* one) { return std::strcmp(one, name) == 0; });
}

// How many SMs a device of NVIDIA has; 0 if its driver does not say.
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

} // namespace

SluiceStatus VulkanBackend::create(const SluiceVulkanContextInfo& info,
                                   std::unique_ptr<VulkanBackend>& backend, const char** reason)
{
    backend.reset(new VulkanBackend);
    backend->m_device = info.device;
    backend->m_pipelineCache = info.pipelineCache;
    backend->m_pipelineFlags = info.pipelineFlags;
    backend->m_recorder = info.recorder;
    backend->m_recorderUser = info.recorderUser;
    if (!backend->m_vk.load(info.getInstanceProcAddr, info.instance, info.device)) {
        // Nothing was made yet, and the destructor must not call what is missing.
        backend->m_device = VK_NULL_HANDLE;
        *reason =
            "the loader does not give all functions of Vulkan 1.2; was apiVersion 1.2 asked for?";
        return SLUICE_ERROR_UNSUPPORTED;
    }
    backend->m_driver.load(info);
    const SluiceStatus status = backend->chooseTier(info, reason);
    return status != SLUICE_OK ? status : backend->preparePipelines(reason);
}

VulkanBackend::~VulkanBackend()
{
    if (m_device == VK_NULL_HANDLE) {
        return;
    }
    for (const Made& made : m_made)
        destroyPipeline(made.handle.load());
    m_vk.DestroyPipelineLayout(m_device, m_layout, nullptr);
}

// Picks tier and subgroup size, and writes down why no better one.
SluiceStatus VulkanBackend::chooseTier(const SluiceVulkanContextInfo& info, const char** reason)
{
    const VulkanFeatures features =
        readEnabledFeatures(info.enabledFeatures, info.enabledFeatures10);
    const bool sizeControl =
        features.subgroupSizeControl || contains(info.enabledExtensions, info.enabledExtensionCount,
                                                 VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    const VulkanProperties properties = readProperties(
        m_vk.GetPhysicalDeviceProperties2, info.physicalDevice, info.apiVersion, sizeControl);
    *reason = whyNotVulkan(features, properties);
    if (*reason != nullptr) {
        return SLUICE_ERROR_UNSUPPORTED;
    }
    const char* const notBase = whyNotBase(features, properties, info.requiredSubgroupSize);
    const char* const notExt = notBase != nullptr ? notBase : whyNotExt(features);

    m_traits.vendor = properties.vendor;
    m_traits.maxInvocations = safeInvocations(properties);
    m_traits.maxSubgroups = properties.maxSubgroups;
    m_traits.sharedBytes = properties.sharedBytes;
    m_traits.forwardProgress = hasForwardProgress(properties);
    m_traits.plainStoresVisible = properties.driver == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
    if (m_traits.plainStoresVisible) {
        m_traits.processors = readProcessors(info, m_vk.GetPhysicalDeviceProperties2);
        m_traits.ampleSharedMemory = info.queueWithoutGraphics != 0;
    }
    m_traits.driverDecodes = m_driver.regionLimit != 0;
    m_tier = info.tier;
    if (m_tier == SLUICE_VULKAN_TIER_AUTO) {
        if (info.requiredSubgroupSize != 0 && notBase != nullptr) {
            *reason = notBase; // the emulated tiers could not honour it
            return SLUICE_ERROR_UNSUPPORTED;
        }
        m_tier = notExt == nullptr    ? SLUICE_VULKAN_TIER_EXT
                 : notBase == nullptr ? SLUICE_VULKAN_TIER_BASE
                                      : SLUICE_VULKAN_TIER_EMU32;
    }
    if (tierName(m_tier) == nullptr) {
        *reason = "no such tier";
        return SLUICE_ERROR_ARGUMENT;
    }
    ShaderVariant& variant = m_traits.variant;
    if (emulatedSize(m_tier) != 0) {
        variant = ShaderVariant::emu;
        m_traits.subgroupSize = emulatedSize(m_tier);
    } else {
        const bool ext = m_tier == SLUICE_VULKAN_TIER_EXT;
        *reason = ext ? notExt : notBase;
        if (*reason != nullptr) {
            return SLUICE_ERROR_UNSUPPORTED;
        }
        m_traits.subgroupSize = chooseSubgroupSize(features, properties, info.requiredSubgroupSize);
        variant = m_traits.subgroupSize < 32
                      ? (ext ? ShaderVariant::extNarrow : ShaderVariant::baseNarrow)
                      : (ext ? ShaderVariant::ext : ShaderVariant::base);
        // Elsewhere than on NVIDIA 64-bit shifts may be several instructions.
        if (variant == ShaderVariant::ext && m_traits.plainStoresVisible && features.shaderInt64)
            variant = ShaderVariant::extInt64;
        m_requireSize = canChooseSize(features, properties);
        m_requireFullSubgroups = features.computeFullSubgroups;
    }
    m_tuning = tuningFor(m_traits);
    if (info.tuning != nullptr) {
        *reason = "tuning has an unknown name or a value out of range (src/vulkan/tuning.h)";
        if (const SluiceStatus status = readTuning(info.tuning, m_tuning)) return status;
        fitTuning(m_traits, m_tuning);
    }

    const bool asked = info.tier != SLUICE_VULKAN_TIER_AUTO;
    const auto report = [&](const char* tier, const char* why) {
        m_report +=
            std::string(tier) + ": " + (why != nullptr ? why : "another tier was asked for") + "\n";
    };
    if (m_tier != SLUICE_VULKAN_TIER_EXT && (notExt != nullptr || asked)) {
        report("ext", notExt);
    }
    if (m_traits.isEmulated() && (notBase != nullptr || asked)) {
        report("base", notBase);
    }
    return SLUICE_OK;
}

void VulkanBackend::contextInfo(SluiceContextInfo& info) const
{
    info.backend = SLUICE_BACKEND_VULKAN;
    info.tier = tierName(m_tier);
    info.subgroupSize = m_traits.subgroupSize;
    info.byteStores = m_tier == SLUICE_VULKAN_TIER_EXT ? 1 : 0;
    info.report = m_report.c_str();
    info.driverRegionLimit = m_driver.regionLimit;
    info.kernels = m_ready.load();
    info.refusedKernels = m_refused.load();
}

} // namespace sluice

SluiceStatus sluiceCreateVulkanContext(const SluiceVulkanContextInfo* info, SluiceContext* context,
                                       const char** report)
{
    const char* unused;
    const char*& reason = report != nullptr ? *report : unused;
    reason = "a required argument is NULL";
    if (context == nullptr) {
        return SLUICE_ERROR_ARGUMENT;
    }
    *context = nullptr;
    if (info == nullptr || info->getInstanceProcAddr == nullptr ||
        info->instance == VK_NULL_HANDLE || info->physicalDevice == VK_NULL_HANDLE ||
        info->device == VK_NULL_HANDLE ||
        (info->enabledExtensionCount != 0 && info->enabledExtensions == nullptr)) {
        return SLUICE_ERROR_ARGUMENT;
    }
    try {
        std::unique_ptr<sluice::VulkanBackend> backend;
        const SluiceStatus status = sluice::VulkanBackend::create(*info, backend, &reason);
        if (status != SLUICE_OK) {
            return status;
        }
        auto made = std::make_unique<SluiceContext_T>();
        made->backend = backend.release();
        *context = made.release();
        return SLUICE_OK;
    } catch (const std::bad_alloc&) {
        reason = "out of host memory";
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}
