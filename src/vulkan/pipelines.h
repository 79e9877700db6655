// SPDX-License-Identifier: MIT OR Apache-2.0
// The pipelines of a context. Decides which of them apply to the device. Any thread may call
// create(), which makes them one by one.
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
    virtual ~VulkanPipelines();
    VulkanPipelines(const VulkanPipelines&) = delete;
    VulkanPipelines& operator=(const VulkanPipelines&) = delete;

    // Must be called once, when the machine is open. If this fails, *reason receives a static text
    // that says why.
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
    // Returns whether the device can have the pipeline, made or not yet. Scratch sizes depend on
    // this instead of has(), so that they do not change when pipelines are made later.
    bool applies(Pipeline pipeline) const { return madeOf(pipeline).shader.packed != nullptr; }
    VkPipeline handle(Pipeline pipeline) const { return madeOf(pipeline).handle.load(); }
    // Returns how long the driver took to make the pipeline.
    double millisecondsOf(Pipeline pipeline) const { return madeOf(pipeline).milliseconds; }
    size_t codeBytesOf(Pipeline pipeline) const { return shaderOf(pipeline).bytes(); }
    // Returns whether the driver has failed to make the pipeline. The driver is not asked again.
    bool isRefused(Pipeline pipeline) const { return madeOf(pipeline).isRefused.load(); }
    // Returns the names of all pipelines that were refused, separated by commas. It is virtual so
    // that sluice_device can call it: the shared library exports only sluice* symbols, and a
    // virtual call needs none.
    virtual std::string refusedPipelines() const;

    // Makes another version of `pipeline`, from other SPIR-V with the same interface (hot reload).
    VkResult createPipeline(Pipeline pipeline, const ShaderCode& code, VkPipeline& made) const;
    void destroyPipeline(VkPipeline pipeline) const;
    // Commands that are recorded from now on use `made`, and the context owns it. Returns the
    // pipeline that was used before, which the caller now owns. May be called while other threads
    // record.
    VkPipeline exchangePipeline(Pipeline pipeline, VkPipeline made);

private:
    struct Made {
        std::atomic<VkPipeline> handle{VK_NULL_HANDLE};
        std::atomic<bool> isBegun{false}; // a thread is making it or has made it
        std::atomic<bool> isRefused{false};
        // The general shader, which leaves the constants to specialization. If the pipeline does
        // not apply, `packed` is NULL.
        PackedShader shader{};
        uint32_t workgroup = 0; // invocations
        double milliseconds = 0;
    };

    const Made& madeOf(Pipeline pipeline) const { return m_made[size_t(pipeline)]; }
    PipelineConstants constantsOf(Pipeline pipeline) const;
    // Returns the shader that the pipeline is made from: the one with the pipeline's constants
    // folded in (findShader), if the build has it, otherwise the general one.
    PackedShader shaderOf(Pipeline pipeline) const;
    VkResult createPipeline(Pipeline pipeline, const PackedShader& shader, VkPipeline& made) const;
    void noteReady();

    const VulkanMachine& m_machine;
    VkPipelineCache m_cache;
    VkPipelineCreateFlags m_flags;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    std::array<Made, kPipelineCount> m_made;
    std::array<Pipeline, kPipelineCount> m_applying{}; // in the order in which they are made
    uint32_t m_applyingCount = 0;
    std::atomic<uint32_t> m_ready{0};   // SluiceKernels whose necessary pipelines all exist
    std::atomic<uint32_t> m_refused{0}; // SluiceKernels that will never have a necessary pipeline
};

} // namespace sluice
