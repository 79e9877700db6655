// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/context.h"

#include <iterator>
#include <memory>
#include <new>

#include "vulkan/tiers.h"

namespace sluice {
namespace {

const char* tierName(SluiceVulkanTier tier)
{
    for (const TierName& known : vulkanTiers) {
        if (known.tier == tier) {
            return known.name;
        }
    }
    return nullptr;
}

SluiceStatus statusOf(VkResult result)
{
    switch (result) {
    case VK_SUCCESS: return SLUICE_OK;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return SLUICE_ERROR_OUT_OF_MEMORY;
    default: return SLUICE_ERROR_DEVICE;
    }
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

struct KernelInfo {
    const char* shader;
    uint32_t users;        // SluiceKernels whose commands dispatch it
    uint32_t constants[2]; // specialization constants 2 and 3: for the scan family its operation
                           // and "segmented", for compact the bytes of an element and the kind of
                           // test (lib/compact_words.glsl), for interval_move what is in flight
};

constexpr KernelInfo kernelInfos[] = {
    {"compact", SLUICE_KERNELS_COMPACT, {1, 0}},
    {"compact", SLUICE_KERNELS_COMPACT, {2, 0}},
    {"compact", SLUICE_KERNELS_COMPACT, {4, 0}},
    {"compact", SLUICE_KERNELS_COMPACT, {8, 0}},
    {"compact", SLUICE_KERNELS_COMPACT, {16, 0}},
    {"status", SLUICE_KERNELS_ALL, {}},
    {"gdeflate", SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_TILE_STREAMS, {}},
    {"gdeflate", SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_TILE_STREAMS, {}}, // gdeflate_pitched
    {"gdeflate", SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_TILE_STREAMS, {}}, // gdeflate_alone
    {"gdeflate", SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_TILE_STREAMS, {}}, // gdeflate_few
    {"checksum", SLUICE_KERNELS_ALL, {}},
    {"interval_plan", SLUICE_KERNELS_INTERVAL, {}},
    {"interval_expand", SLUICE_KERNELS_INTERVAL, {}},
    {"interval_expand", SLUICE_KERNELS_INTERVAL, {}}, // interval_expand_words
    {"interval_move", SLUICE_KERNELS_INTERVAL, {3, 2}},
    {"interval_move", SLUICE_KERNELS_INTERVAL, {2, 3}}, // interval_move_short
    {"interval_search", SLUICE_KERNELS_INTERVAL, {}},
    {"driver_regions", SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_TILE_STREAMS, {}},
    {"tile_streams", SLUICE_KERNELS_TILE_STREAMS, {}},
    {"float_decode", SLUICE_KERNELS_FLOAT, {}},
    {"gstd_symbols", SLUICE_KERNELS_GSTD, {}},
    {"gstd_expand", SLUICE_KERNELS_GSTD, {}},
    {"gstd_expand", SLUICE_KERNELS_GSTD, {}}, // gstd_expand_few
    {"fse_tables", SLUICE_KERNELS_FSE, {}},
    {"df11", SLUICE_KERNELS_DF11, {}},
    {"filter", SLUICE_KERNELS_FILTER, {}},
    {"filter", SLUICE_KERNELS_FILTER, {}}, // filter_few
    {"compact_ring", SLUICE_KERNELS_COMPACT, {4, 0}},
    {"compact_ring", SLUICE_KERNELS_COMPACT, {4, 1}}, // compact_ring_selectors
    {"compact_ring", SLUICE_KERNELS_COMPACT, {4, 2}}, // compact_ring_words
    {"compact_ring", SLUICE_KERNELS_COMPACT, {4, 3}}, // compact_ring_bytes
    {"compact_call", SLUICE_KERNELS_COMPACT, {4, 0}},
    {"compact_call", SLUICE_KERNELS_COMPACT, {4, 1}}, // compact_call_selectors
    {"scan_ring", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM, 0}},
    {"scan", SLUICE_KERNELS_SCAN | SLUICE_KERNELS_TILE_STREAMS, {SLUICE_SCAN_OP_SUM, 0}},
    {"scan", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_MAX, 0}},
    {"scan", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM_F32, 0}},
    {"scan", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM, 1}},
    {"scan", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_MAX, 1}},
    {"scan", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM_F32, 1}},
    {"scan64", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM, 0}},
    {"scan64", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_MAX, 0}},
    {"scan64", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM, 1}},
    {"scan64", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_MAX, 1}},
    {"reduce", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM, 0}},
    {"reduce", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_MAX, 0}},
    {"reduce", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM_F32, 0}},
    {"reduce", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM_F32, 1}},
    {"reduce64", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_SUM, 0}},
    {"reduce64", SLUICE_KERNELS_SCAN, {SLUICE_SCAN_OP_MAX, 0}},
};
static_assert(std::size(kernelInfos) == kernelCount, "one entry for each kernel");

const KernelInfo& infoOf(Kernel kernel) { return kernelInfos[static_cast<size_t>(kernel)]; }

} // namespace

bool VulkanBackend::uses(Kernel kernel) const
{
    const bool ring = kernel >= Kernel::compact_ring && kernel <= Kernel::scan_sum_ring;
    const bool special =
        kernel == Kernel::interval_expand_words || kernel == Kernel::interval_move_short;
    return (infoOf(kernel).users & m_kernels) != 0 &&
           (kernel != Kernel::gdeflate_pitched || pairedTiles()) &&
           (kernel != Kernel::gdeflate_alone || manyTiles() != 0) &&
           (kernel != Kernel::gdeflate_few || fewTiles() != 0) &&
           (kernel != Kernel::filter_few || fewFiltered() != 0) &&
           (kernel != Kernel::gstd_expand_few || fewExpanded() != 0) &&
           (!special || specialIntervals()) && (!ring || ringWorkgroups(kernel) != 0);
}

const char* kernelName(Kernel kernel) { return infoOf(kernel).shader; }

SluiceStatus VulkanBackend::create(const SluiceVulkanContextInfo& info,
                                   std::unique_ptr<VulkanBackend>& backend, const char** reason)
{
    backend.reset(new VulkanBackend);
    backend->m_device = info.device;
    backend->m_pipelineCache = info.pipelineCache;
    backend->m_kernels = info.kernels != 0 ? info.kernels : uint32_t(SLUICE_KERNELS_ALL);
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
    return status != SLUICE_OK ? status : backend->createPipelines(reason);
}

VulkanBackend::~VulkanBackend()
{
    if (m_device == VK_NULL_HANDLE) {
        return;
    }
    for (const auto& pipeline : m_pipelines) {
        destroyPipeline(pipeline.load());
    }
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

    m_workgroupsGoOn = workgroupsGoOn(properties);
    polls = m_workgroupsGoOn ? SLUICE_LOOKBACK_POLLS : SLUICE_LOOKBACK_POLLS_UNSURE;
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
    if (emulatedSize(m_tier) != 0) {
        m_variant = ShaderVariant::emu;
        m_subgroupSize = emulatedSize(m_tier);
    } else {
        *reason = m_tier == SLUICE_VULKAN_TIER_EXT ? notExt : notBase;
        if (*reason != nullptr) {
            return SLUICE_ERROR_UNSUPPORTED;
        }
        const bool ext = m_tier == SLUICE_VULKAN_TIER_EXT;
        m_subgroupSize = chooseSubgroupSize(features, properties, info.requiredSubgroupSize);
        m_variant = m_subgroupSize < 32
                        ? (ext ? ShaderVariant::extNarrow : ShaderVariant::baseNarrow)
                        : (ext ? ShaderVariant::ext : ShaderVariant::base);
        m_requireSize = canChooseSize(features, properties);
        m_requireFullSubgroups = features.computeFullSubgroups;
        m_largeWorkgroup = largeWorkgroup(properties, m_subgroupSize);
        // float_tile.glsl says how much shared memory that takes.
        const bool fits = properties.sharedBytes >= 17808 + 32 * 512 && m_subgroupSize == 32;
        m_floatWorkgroup =
            fits ? largeWorkgroup(properties, m_subgroupSize, 1024) : m_largeWorkgroup;
        // filter.comp and filter_columns.glsl: 15,552 bytes and 36 for each invocation.
        // gstd_expand.comp takes less.
        m_fewFit = properties.sharedBytes >= 15552 + 36 * 512 && m_subgroupSize == 32 &&
                   m_largeWorkgroup == 512;
    }

    // The lanes of a subgroup, and behind a barrier those of a workgroup, see each other's plain
    // stores to memory: true of NVIDIA's hardware, whose CUDA promises it. Vulkan does not, and
    // with coherent accesses, which go past the first cache, the decoder was 1.2 times slower
    // (580).
    m_plainHistory = properties.driver == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
    // Elsewhere 64-bit shifts may be several instructions.
    if (m_variant == ShaderVariant::ext && m_plainHistory && features.shaderInt64)
        m_variant = ShaderVariant::extInt64;
    m_processors = m_plainHistory ? readProcessors(info, m_vk.GetPhysicalDeviceProperties2) : 0;
    m_ampleShared = m_plainHistory && info.queueWithoutGraphics != 0;

    const bool asked = info.tier != SLUICE_VULKAN_TIER_AUTO;
    const auto report = [&](const char* tier, const char* why) {
        m_report +=
            std::string(tier) + ": " + (why != nullptr ? why : "another tier was asked for") + "\n";
    };
    if (m_tier != SLUICE_VULKAN_TIER_EXT && (notExt != nullptr || asked)) {
        report("ext", notExt);
    }
    if (m_variant == ShaderVariant::emu && (notBase != nullptr || asked)) {
        report("base", notBase);
    }
    return SLUICE_OK;
}

uint32_t VulkanBackend::workgroupSize(Kernel kernel) const
{
    const bool decodes = kernel >= Kernel::gdeflate && kernel <= Kernel::gdeflate_few;
    if (kernel == Kernel::float_decode && pairedTiles()) return m_floatWorkgroup;
    const bool laneGroups = decodes || kernel == Kernel::checksum ||
                            kernel == Kernel::float_decode || kernel == Kernel::gstd_symbols ||
                            kernel == Kernel::fse_tables;
    if (kernel >= Kernel::compact_ring && kernel <= Kernel::scan_sum_ring) return 256;
    const bool large = kernel >= Kernel::scan_sum || kernel == Kernel::df11;
    const bool intervals = kernel >= Kernel::interval_expand && kernel <= Kernel::interval_search;
    if (intervals) return 32u * sharesPerWorkgroup();
    if (kernel == Kernel::gstd_expand_few || kernel == Kernel::filter_few) return 512;
    if (kernel == Kernel::gstd_expand || kernel == Kernel::filter)
        return std::min(m_largeWorkgroup, 256u);
    if (kernel <= Kernel::compact_16) {
        return m_largeWorkgroup == 512 ? 320 / m_subgroupSize * m_subgroupSize : m_largeWorkgroup;
    }
    const uint32_t size = laneGroups ? std::max(32u, m_subgroupSize)
                          : large    ? m_largeWorkgroup
                                     : 128u;
    return decodes && pairedTiles() && kernel != Kernel::gdeflate_alone ? 2 * size : size;
}

SluiceStatus VulkanBackend::createPipelines(const char** reason)
{
    *reason = "a driver call failed while the pipelines were made";
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    if (const VkResult result = m_vk.CreatePipelineLayout(m_device, &layout, nullptr, &m_layout)) {
        return statusOf(result);
    }
    for (size_t i = 0; i < kernelCount; ++i) {
        const Kernel kernel = static_cast<Kernel>(i);
        if (!uses(kernel)) continue;
        const ShaderCode code = shaderCode(kernelName(kernel), m_variant);
        if (code.words == nullptr) {
            *reason = "this build lacks a shader";
            return SLUICE_ERROR_UNSUPPORTED;
        }
        VkPipeline pipeline = VK_NULL_HANDLE;
        if (const VkResult result = createPipeline(kernel, code, pipeline)) {
            return statusOf(result);
        }
        m_pipelines[i].store(pipeline);
    }
    *reason = nullptr;
    return SLUICE_OK;
}

VkResult VulkanBackend::createPipeline(Kernel kernel, const ShaderCode& code,
                                       VkPipeline& pipeline) const
{
    VkShaderModuleCreateInfo moduleInfo{};
    moduleInfo.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    moduleInfo.codeSize = code.bytes;
    moduleInfo.pCode = code.words;
    VkShaderModule module = VK_NULL_HANDLE;
    if (const VkResult result = m_vk.CreateShaderModule(m_device, &moduleInfo, nullptr, &module)) {
        return result;
    }

    const KernelInfo& own = infoOf(kernel);
    struct Constant {
        uint32_t id, value;
    };
    Constant constants[8] = {{SLUICE_CONSTANT_WORKGROUP_SIZE, workgroupSize(kernel)},
                             {SLUICE_CONSTANT_SUBGROUP_SIZE, m_subgroupSize}};
    uint32_t count = 2;
    const auto set = [&](uint32_t id, uint32_t value) { constants[count++] = {id, value}; };
    if (kernel == Kernel::filter || kernel == Kernel::filter_few || kernel == Kernel::gstd_expand ||
        kernel == Kernel::gstd_expand_few)
        set(SLUICE_CONSTANT_PLAIN_STORES_VISIBLE, m_plainHistory ? 1 : 0);
    if (kernel >= Kernel::gdeflate && kernel <= Kernel::gdeflate_few) {
        const uint32_t paired = pairedTiles() && kernel != Kernel::gdeflate_alone ? 1 : 0;
        set(SLUICE_CONSTANT_GDEFLATE_PAIRED, paired);
        set(SLUICE_CONSTANT_PLAIN_STORES_VISIBLE, m_plainHistory ? 1 : 0);
        set(SLUICE_CONSTANT_GDEFLATE_PITCH, kernel == Kernel::gdeflate_pitched ? 2
                                            : pairedTiles()                    ? 1
                                                                               : 0);
        set(SLUICE_CONSTANT_GDEFLATE_ROOM, paired == 0 || !m_ampleShared    ? 0
                                           : kernel == Kernel::gdeflate_few ? 2
                                                                            : 1);
    }
    if (kernel >= Kernel::scan_sum_ring) {
        set(SLUICE_CONSTANT_SCAN_OPERATION, own.constants[0]);
        set(SLUICE_CONSTANT_SCAN_SEGMENTED, own.constants[1]);
    }
    if (kernel == Kernel::scan_sum_ring) {
        set(SLUICE_CONSTANT_SCAN_RING_SHARED, 1);
        set(SLUICE_CONSTANT_SCAN_RING_REGISTERS, 1);
    }
    if (kernel <= Kernel::compact_16 ||
        (kernel >= Kernel::compact_ring && kernel < Kernel::scan_sum_ring)) {
        set(SLUICE_CONSTANT_ELEMENT_BYTES, own.constants[0]);
        set(SLUICE_CONSTANT_COMPACT_KIND, own.constants[1]);
    }
    if (kernel >= Kernel::compact_ring && kernel <= Kernel::compact_ring_bytes)
        set(SLUICE_CONSTANT_COMPACT_RING_TILES, m_ampleShared ? 3 : 2); // 8 KB each
    if (kernel == Kernel::interval_expand_words) set(SLUICE_CONSTANT_ELEMENT_BYTES, 4);
    if (kernel == Kernel::interval_move || kernel == Kernel::interval_move_short) {
        set(SLUICE_CONSTANT_INTERVAL_UNITS_AT_ONCE, own.constants[0]);
        set(SLUICE_CONSTANT_INTERVAL_WORDS_AT_ONCE, own.constants[1]);
        set(SLUICE_CONSTANT_INTERVAL_BYTES_APART, kernel == Kernel::interval_move_short ? 1 : 0);
    }
    VkSpecializationMapEntry entries[8];
    for (uint32_t i = 0; i < count; ++i)
        entries[i] = {constants[i].id, static_cast<uint32_t>(i * sizeof(Constant) + 4), 4};
    const VkSpecializationInfo specialization = {count, entries, sizeof(constants), constants};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size{};
    size.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
    size.requiredSubgroupSize = m_subgroupSize;

    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.pNext = m_requireSize ? &size : nullptr;
    info.stage.flags =
        m_requireFullSubgroups ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &specialization;
    info.layout = m_layout;
    const VkResult result =
        m_vk.CreateComputePipelines(m_device, m_pipelineCache, 1, &info, nullptr, &pipeline);
    m_vk.DestroyShaderModule(m_device, module, nullptr);
    return result;
}

void VulkanBackend::destroyPipeline(VkPipeline pipeline) const
{
    m_vk.DestroyPipeline(m_device, pipeline, nullptr);
}

VkPipeline VulkanBackend::exchangePipeline(Kernel kernel, VkPipeline pipeline)
{
    return m_pipelines[static_cast<size_t>(kernel)].exchange(pipeline);
}

void VulkanBackend::contextInfo(SluiceContextInfo& info) const
{
    info.backend = SLUICE_BACKEND_VULKAN;
    info.tier = tierName(m_tier);
    info.subgroupSize = m_subgroupSize;
    info.byteStores = m_tier == SLUICE_VULKAN_TIER_EXT ? 1 : 0;
    info.report = m_report.c_str();
    info.driverRegionLimit = m_driver.regionLimit;
    info.kernels = m_kernels;
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
    reason = "kernels has bits that are no SluiceKernels";
    if ((info->kernels & ~uint32_t(SLUICE_KERNELS_ALL)) != 0) return SLUICE_ERROR_ARGUMENT;
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
