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

    // Must be called once, when the machine is open. If this fails, *reason is a static text.
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
    // Returns whether the pipeline may exist at some time. The requirements of commands depend on
    // this and not on has(), so that they never change.
    bool applies(Pipeline pipeline) const { return madeOf(pipeline).shader.packed != nullptr; }
    VkPipeline handle(Pipeline pipeline) const { return madeOf(pipeline).handle.load(); }
    // Returns how long the driver took to make the pipeline.
    double millisecondsOf(Pipeline pipeline) const { return madeOf(pipeline).milliseconds; }
    size_t codeBytesOf(Pipeline pipeline) const { return shaderOf(pipeline).bytes(); }
    // Returns whether the driver has failed to make the pipeline. The driver is not asked again.
    bool isRefused(Pipeline pipeline) const { return madeOf(pipeline).isRefused.load(); }
    // Returns the names of all pipelines that were refused, separated by commas. It is virtual
    // since sluice_device calls it, and a shared library hides everything but sluice*.
    virtual std::string refusedPipelines() const;

    // Makes a pipeline of `code`, SPIR-V that replaces the pipeline's own and has its interface.
    VkResult createPipeline(Pipeline pipeline, const ShaderCode& code, VkPipeline& made) const;
    void destroyPipeline(VkPipeline pipeline) const;
    // Commands that are recorded from now on use `made`, and the context owns it. Returns the
    // pipeline that was used before, which the caller now owns. May be called while other threads
    // record.
    VkPipeline exchangePipeline(Pipeline pipeline, VkPipeline made);

private:
    struct Made {
        std::atomic<VkPipeline> handle{VK_NULL_HANDLE};
        std::atomic<bool> isBegun{false}; // a thread has begun to make it
        std::atomic<bool> isRefused{false};
        // The shader whose constants are not fixed yet. If the row does not apply, `packed` is
        // NULL.
        PackedShader shader{};
        uint32_t workgroup = 0; // invocations
        double milliseconds = 0;
    };

    const Made& madeOf(Pipeline pipeline) const { return m_made[size_t(pipeline)]; }
    PipelineConstants constantsOf(Pipeline pipeline) const;
    // Returns the shader of which the pipeline is made: one in which the pipeline's constants are
    // fixed already (findShader), if there is one.
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
