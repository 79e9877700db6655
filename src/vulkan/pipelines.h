// SPDX-License-Identifier: MIT OR Apache-2.0
// The pipelines of a context: decides which ones there can be, and makes them one by one in any
// threads.
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
    // Returns whether the pipeline is there: its row applies, and it has been made. Once there it
    // stays.
    bool has(Pipeline pipeline) const { return madeOf(pipeline).handle.load() != VK_NULL_HANDLE; }
    bool hasAll(std::initializer_list<Pipeline> pipelines) const
    {
        return std::all_of(pipelines.begin(), pipelines.end(),
                           [this](Pipeline one) { return has(one); });
    }
    // Returns whether it may be there one day. Requirements depend on this alone, so that they
    // never change.
    bool applies(Pipeline pipeline) const { return madeOf(pipeline).shader.packed != nullptr; }
    VkPipeline handle(Pipeline pipeline) const { return madeOf(pipeline).handle.load(); }
    // Returns how long the driver took to make it.
    double millisecondsOf(Pipeline pipeline) const { return madeOf(pipeline).milliseconds; }
    size_t codeBytesOf(Pipeline pipeline) const { return shaderOf(pipeline).bytes(); }
    // Returns whether the driver failed to make it. The driver is not asked again.
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
        std::atomic<bool> isBegun{false}; // a thread makes it, has made it, or could not
        std::atomic<bool> isRefused{false};
        PackedShader shader{};  // for any constants; none if its row does not apply
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
    std::array<Pipeline, kPipelineCount> m_applying{}; // in the order in which they are made
    uint32_t m_applyingCount = 0;
    std::atomic<uint32_t> m_ready{0};   // SluiceKernels whose necessary pipelines are there
    std::atomic<uint32_t> m_refused{0}; // SluiceKernels of which a necessary one can never be made
};

} // namespace sluice
