// SPDX-License-Identifier: MIT OR Apache-2.0
// The pipelines of a context. Decides which ones apply, and makes them one by one. Any thread may
// do that.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <initializer_list>
#include <string>

#include "vulkan/machine.h"
#include "vulkan/registry.h"
#include "vulkan/shader_code.h"

namespace sluice {

class VulkanPipelines {
public:
    VulkanPipelines(const VulkanMachine& machine, VkPipelineCache cache,
                    VkPipelineCreateFlags flags)
        : m_machine(machine), m_cache(cache), m_flags(flags)
    {
    }
    ~VulkanPipelines();
    VulkanPipelines(const VulkanPipelines&) = delete;
    VulkanPipelines& operator=(const VulkanPipelines&) = delete;

    // To be called once the machine is open. On failure *reason is set to a static text.
    SluiceStatus prepare(const char** reason);
    SluiceStatus create(const SluicePipelinesInfo& info, uint32_t& left); // sluiceCreatePipelines

    uint32_t readyKernels() const { return m_ready.load(); }
    uint32_t refusedKernels() const { return m_refused.load(); }
    VkPipelineLayout layout() const { return m_layout; }
    uint32_t workgroup(Pipeline pipeline) const { return madeOf(pipeline).workgroup; }
    // Returns whether the pipeline exists: its row applies, and it has been made. A pipeline that
    // exists is never removed.
    bool has(Pipeline pipeline) const { return madeOf(pipeline).handle.load() != VK_NULL_HANDLE; }
    bool hasAll(std::initializer_list<Pipeline> pipelines) const
    {
        return std::all_of(pipelines.begin(), pipelines.end(),
                           [this](Pipeline one) { return has(one); });
    }
    // Returns whether the pipeline may exist at some time. Requirements depend on nothing else
    // about pipelines, so they never change.
    bool applies(Pipeline pipeline) const { return madeOf(pipeline).shader.packed != nullptr; }
    VkPipeline handle(Pipeline pipeline) const { return madeOf(pipeline).handle.load(); }
    // Returns how long the driver took to make the pipeline.
    double millisecondsOf(Pipeline pipeline) const { return madeOf(pipeline).milliseconds; }
    size_t codeBytesOf(Pipeline pipeline) const { return shaderOf(pipeline).bytes(); }
    // Returns whether the driver failed to make the pipeline. The driver is not asked again.
    bool isRefused(Pipeline pipeline) const { return madeOf(pipeline).isRefused.load(); }
    // Returns the names of all such pipelines, separated by commas; empty if there are none.
    std::string refusedPipelines() const;

    // Makes a pipeline from other SPIR-V with the same interface.
    VkResult createPipeline(Pipeline pipeline, const ShaderCode& code, VkPipeline& made) const;
    void destroyPipeline(VkPipeline pipeline) const;
    // Commands recorded from now on use `made`, which the context then owns. Returns the pipeline
    // used before, which the caller then owns. May be called while other threads record.
    VkPipeline exchangePipeline(Pipeline pipeline, VkPipeline made);

private:
    struct Made {
        std::atomic<VkPipeline> handle{VK_NULL_HANDLE};
        std::atomic<bool> isBegun{false}; // a thread has begun to make it
        std::atomic<bool> isRefused{false};
        PackedShader shader{};  // with open constants; none if its row does not apply
        uint32_t workgroup = 0; // invocations
        double milliseconds = 0;
    };

    const Made& madeOf(Pipeline pipeline) const { return m_made[size_t(pipeline)]; }
    PipelineConstants constantsOf(Pipeline pipeline) const;
    // Returns the shader that the pipeline is made of: one whose constants are already fixed, if
    // there is one.
    PackedShader shaderOf(Pipeline pipeline) const;
    VkResult createPipeline(Pipeline pipeline, const PackedShader& shader, VkPipeline& made) const;
    void noteReady();

    const VulkanMachine& m_machine;
    VkPipelineCache m_cache;
    VkPipelineCreateFlags m_flags;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    std::array<Made, kPipelineCount> m_made;
    std::array<Pipeline, kPipelineCount> m_applying{}; // in the order of creation
    uint32_t m_applyingCount = 0;
    std::atomic<uint32_t> m_ready{0};   // SluiceKernels whose necessary pipelines all exist
    std::atomic<uint32_t> m_refused{0}; // SluiceKernels that lack a necessary pipeline for good
};

} // namespace sluice
