// SPDX-License-Identifier: MIT OR Apache-2.0
// Records dispatches and barriers into the caller's command buffer, and reports them to the
// caller's recorder.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "layout/base.h"
#include "vulkan/pipelines.h"

namespace sluice {

inline VkCommandBuffer commandBuffer(SluiceCommands commands)
{
    return reinterpret_cast<VkCommandBuffer>(commands);
}

// A range that a dispatch reads or writes. It is given as a buffer, or as memory at an address.
struct Access {
    SluiceBuffer buffer;
    VkDeviceAddress address;
    uint64_t size;
    bool write;
};
inline Access reads(const SluiceBuffer& buffer) { return {buffer, 0, buffer.size, false}; }
inline Access writes(const SluiceBuffer& buffer) { return {buffer, 0, buffer.size, true}; }
inline Access readsAt(VkDeviceAddress address, uint64_t size) { return {{}, address, size, false}; }
inline Access writesAt(VkDeviceAddress address, uint64_t size) { return {{}, address, size, true}; }

class CommandRecorder {
public:
    CommandRecorder(const VulkanMachine& machine, const VulkanPipelines& pipelines,
                    SluiceVulkanRecorder recorder, void* user)
        : m_machine(machine), m_pipelines(pipelines), m_recorder(recorder), m_user(user)
    {
    }

    // Binds the pipeline, pushes the parameters and dispatches `workgroups` workgroups. The
    // dispatch has two dimensions, whose product may exceed that number, so kernels check their
    // index.
    template <typename Params>
    void dispatch(VkCommandBuffer commands, Pipeline pipeline, const Params& params,
                  uint64_t workgroups, std::initializer_list<Access> accesses) const
    {
        static_assert(sizeof(Params) <= 128,
                      "every device has 128 bytes of push constants, and no more is promised");
        dispatch(commands, pipeline, &params, sizeof(Params), workgroups, accesses);
    }
    // If toHost is set, the writes are also visible to the host after a fence was signalled.
    void barrier(VkCommandBuffer commands, VkPipelineStageFlags stages, VkAccessFlags accesses,
                 bool toHost = false) const;
    void computeBarrier(VkCommandBuffer commands) const; // between the dispatches of one command
    // Reports to the caller's recorder, if there is one.
    void note(VkCommandBuffer commands, const char* what,
              std::initializer_list<Access> accesses) const;
    // Sets the statuses of `count` tiles to PENDING, and the summary to "none failed".
    void status(VkCommandBuffer commands, const SluiceBuffer& status, uint32_t count) const;

private:
    void dispatch(VkCommandBuffer commands, Pipeline pipeline, const void* params, size_t size,
                  uint64_t workgroups, std::initializer_list<Access> accesses) const;

    const VulkanMachine& m_machine;
    const VulkanPipelines& m_pipelines;
    SluiceVulkanRecorder m_recorder;
    void* m_user;
};

} // namespace sluice
