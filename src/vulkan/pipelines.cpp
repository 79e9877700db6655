// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/pipelines.h"

#include <chrono>
#include <iterator>
#include <new>
#include <vector>

#include "api/components.h"

namespace sluice {
namespace {

SluiceStatus statusOf(VkResult result)
{
    switch (result) {
    case VK_SUCCESS: return SLUICE_OK;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return SLUICE_ERROR_OUT_OF_MEMORY;
    default: return SLUICE_ERROR_DEVICE;
    }
}

// Returns whether `result` says that the driver's compiler has refused a pipeline. The compiler
// would refuse it again, but may take other pipelines. Drivers report refusals by various errors.
// Only a lost device and a lack of memory mean something else.
bool isRefusal(VkResult result)
{
    return result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST &&
           result != VK_ERROR_OUT_OF_HOST_MEMORY && result != VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

} // namespace

VulkanPipelines::~VulkanPipelines()
{
    // If there is no layout, nothing was created, and the functions may not have been loaded.
    if (m_layout == VK_NULL_HANDLE) return;
    for (const Made& made : m_made)
        destroyPipeline(made.handle.load());
    m_machine.vk.DestroyPipelineLayout(m_machine.device, m_layout, nullptr);
}

SluiceStatus VulkanPipelines::prepare(const char** reason)
{
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    if (const VkResult result =
            m_machine.vk.CreatePipelineLayout(m_machine.device, &layout, nullptr, &m_layout)) {
        *reason = "vkCreatePipelineLayout failed";
        return statusOf(result);
    }
    for (const Pipeline pipeline : AllPipelines()) {
        const PipelineRow& row = pipelineRow(pipeline);
        Made& made = m_made[size_t(pipeline)];
        // Pipelines that do not apply have a workgroup size too, because plans compute the size of
        // tiles from it.
        made.workgroup = row.workgroup(m_machine.traits, m_machine.tuning);
        if ((row.kernels & kBuiltKernels) == 0 || !row.applies(m_machine.traits, m_machine.tuning))
            continue;
        made.shader = findShader(row.shader, m_machine.traits.variant);
        if (made.shader.packed == nullptr) {
            *reason = "this build lacks a shader";
            return SLUICE_ERROR_UNSUPPORTED;
        }
        m_applying[m_applyingCount++] = pipeline;
    }
    // Necessary pipelines come first. Within both sets, large shaders come first: they take longest
    // to compile, and if they start first, all threads that make pipelines end at about the same
    // time.
    std::stable_sort(m_applying.begin(), m_applying.begin() + m_applyingCount,
                     [this](Pipeline a, Pipeline b) {
                         return pipelineRow(a).need != pipelineRow(b).need
                                    ? pipelineRow(a).need == Need::always
                                    : madeOf(a).shader.bytes() > madeOf(b).shader.bytes();
                     });
    *reason = nullptr;
    return SLUICE_OK;
}

SluiceStatus VulkanPipelines::create(const SluicePipelinesInfo& info, uint32_t& left)
{
    SluiceStatus status = SLUICE_OK;
    uint32_t tried = 0;
    bool isIncomplete = false;
    left = 0;
    for (uint32_t i = 0; i < m_applyingCount; ++i) {
        const Pipeline pipeline = m_applying[i];
        const PipelineRow& row = pipelineRow(pipeline);
        Made& one = m_made[size_t(pipeline)];
        if (!isWanted(row, info.kernels, info.flags)) continue;
        if (one.isRefused.load()) {
            isIncomplete = isIncomplete || row.need == Need::always;
            continue;
        }
        if (status != SLUICE_OK || (info.most != 0 && tried == info.most)) {
            left += one.isBegun.load() ? 0 : 1;
            continue;
        }
        if (one.isBegun.exchange(true)) continue;
        ++tried;
        const auto begin = std::chrono::steady_clock::now();
        VkPipeline handle = VK_NULL_HANDLE;
        const VkResult result = createPipeline(pipeline, shaderOf(pipeline), handle);
        if (isRefusal(result)) {
            one.isRefused.store(true);
            if (row.need == Need::always) {
                m_refused.fetch_or(row.kernels);
                isIncomplete = true;
            }
            continue;
        }
        status = statusOf(result);
        if (status != SLUICE_OK) {
            one.isBegun.store(false);
            ++left;
            continue;
        }
        one.milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                .count();
        one.handle.store(handle);
        noteReady();
    }
    // A caller that makes a set in several calls goes on until nothing is left. Only its last call
    // reports that a pipeline was refused.
    return status == SLUICE_OK && isIncomplete && left == 0 ? SLUICE_ERROR_UNSUPPORTED : status;
}

std::string VulkanPipelines::refusedPipelines() const
{
    std::string names;
    for (uint32_t i = 0; i < m_applyingCount; ++i)
        if (isRefused(m_applying[i]))
            names += (names.empty() ? "" : ", ") + std::string(pipelineRow(m_applying[i]).name);
    return names;
}

// Adds to m_ready the sets of kernels that have all of their necessary pipelines. If several
// threads make the last pipelines of a set at the same time, at least one of these threads sees all
// of them here, because these loads and stores are sequentially consistent.
void VulkanPipelines::noteReady()
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < m_applyingCount; ++i) {
        const PipelineRow& row = pipelineRow(m_applying[i]);
        if (row.need == Need::always && !has(m_applying[i])) missing |= row.kernels;
    }
    m_ready.fetch_or(kBuiltKernels & ~missing);
}

VkResult VulkanPipelines::createPipeline(Pipeline pipeline, const PackedShader& shader,
                                         VkPipeline& made) const
{
    try {
        std::vector<uint32_t> words(shader.wordCount);
        // This fails only if the packed bytes are damaged.
        if (!unpackShader(shader, words.data())) return VK_ERROR_UNKNOWN;
        return createPipeline(pipeline, ShaderCode{words.data(), shader.bytes()}, made);
    } catch (const std::bad_alloc&) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
}

PipelineConstants VulkanPipelines::constantsOf(Pipeline pipeline) const
{
    return sluice::constantsOf(pipelineRow(pipeline), m_machine.traits, m_machine.tuning,
                               workgroup(pipeline));
}

PackedShader VulkanPipelines::shaderOf(Pipeline pipeline) const
{
    const PackedShader fixed =
        findShader(pipelineRow(pipeline).shader, m_machine.traits.variant, constantsOf(pipeline));
    return applies(pipeline) && fixed.packed != nullptr ? fixed : madeOf(pipeline).shader;
}

VkResult VulkanPipelines::createPipeline(Pipeline pipeline, const ShaderCode& code,
                                         VkPipeline& made) const
{
    VkShaderModuleCreateInfo moduleInfo{};
    moduleInfo.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    moduleInfo.codeSize = code.bytes;
    moduleInfo.pCode = code.words;
    VkShaderModule module = VK_NULL_HANDLE;
    if (const VkResult result =
            m_machine.vk.CreateShaderModule(m_machine.device, &moduleInfo, nullptr, &module)) {
        return result;
    }

    const PipelineConstants constants = constantsOf(pipeline);
    VkSpecializationMapEntry entries[std::size(constants.values)];
    for (uint32_t i = 0; i < constants.count; ++i) {
        using One = PipelineConstants::One;
        entries[i] = {constants.values[i].id, uint32_t(i * sizeof(One) + offsetof(One, value)), 4};
    }
    const VkSpecializationInfo specialization = {constants.count, entries, sizeof(constants.values),
                                                 constants.values};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size{};
    size.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
    size.requiredSubgroupSize = m_machine.traits.subgroupSize;

    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.flags = m_flags;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.pNext = m_machine.requiresSize ? &size : nullptr;
    info.stage.flags = m_machine.requiresFullSubgroups
                           ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT
                           : 0;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &specialization;
    info.layout = m_layout;
    const VkResult result =
        m_machine.vk.CreateComputePipelines(m_machine.device, m_cache, 1, &info, nullptr, &made);
    m_machine.vk.DestroyShaderModule(m_machine.device, module, nullptr);
    return result;
}

void VulkanPipelines::destroyPipeline(VkPipeline pipeline) const
{
    m_machine.vk.DestroyPipeline(m_machine.device, pipeline, nullptr);
}

VkPipeline VulkanPipelines::exchangePipeline(Pipeline pipeline, VkPipeline made)
{
    return m_made[size_t(pipeline)].handle.exchange(made);
}

} // namespace sluice
