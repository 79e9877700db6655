// SPDX-License-Identifier: MIT OR Apache-2.0
// Records dispatches and barriers in the caller's command buffer, and reports them to the caller's
// recorder (SluiceVulkanRecorder).
#pragma once

#include <initializer_list>

#include "vulkan/pipelines.h"

namespace sluice {

constexpr uint32_t kMaxParams = 128; // bytes that every device has for push constants
constexpr uint32_t kMaxAccesses = 8; // ranges that a dispatch reads or writes

// A range that a dispatch reads or writes: a buffer, or memory at an address.
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

// Collects the dispatches of several chains of commands, none of which depends on another chain,
// and records them interleaved: step 0 of every chain, a barrier, step 1 of every chain, and so on.
// If the chains were recorded one after the other, there would be a barrier after each step of each
// chain, and the GPU would have only one step to work on at a time.
struct SideBySide {
    struct Dispatch {
        Pipeline pipeline;
        uint32_t chain, step;
        uint64_t workgroups;
        uint32_t size, accessCount; // bytes of `params`, entries of `accesses`
        uint8_t params[kMaxParams];
        Access accesses[kMaxAccesses];
    };
    static constexpr uint32_t kMost = 32; // capacity; flush() empties a full collection

    VkCommandBuffer commands;
    uint32_t count = 0;
    uint32_t chain = 0; // the current chain; the first one has the number 1
    uint32_t step = 0;  // the current chain's step; each of its barriers begins the next one
    Dispatch dispatches[kMost];
};

// Says where dispatches go: into the caller's command buffer, or into a collection for it.
struct Recording {
    VkCommandBuffer commands;
    SideBySide* collected; // NULL: nothing is collected
};

// A SluiceCommands is a pointer to a VkCommandBuffer's object or to a SideBySide. Both are aligned
// to more than a byte, so the lowest bit is free to say which it is: 1 means SideBySide.
static_assert(alignof(SideBySide) > 1);
inline SluiceCommands collecting(SideBySide& collected)
{
    return reinterpret_cast<SluiceCommands>(reinterpret_cast<uintptr_t>(&collected) | 1u);
}
inline Recording recordingOf(SluiceCommands commands)
{
    const uintptr_t value = reinterpret_cast<uintptr_t>(commands);
    if ((value & 1u) == 0) return {reinterpret_cast<VkCommandBuffer>(commands), nullptr};
    SideBySide* const collected = reinterpret_cast<SideBySide*>(value - 1u);
    return {collected->commands, collected};
}

class CommandRecorder {
public:
    CommandRecorder(const VulkanMachine& machine, const VulkanPipelines& pipelines,
                    SluiceVulkanRecorder recorder, void* user)
        : m_machine(machine), m_pipelines(pipelines), m_recorder(recorder), m_user(user)
    {
    }

    // Binds the pipeline, pushes the parameters, and dispatches `workgroups` workgroups. The
    // dispatch has two dimensions, whose product may be more than `workgroups`, so kernels check
    // the number of each workgroup.
    template <typename Params>
    void dispatch(Recording commands, Pipeline pipeline, const Params& params, uint64_t workgroups,
                  std::initializer_list<Access> accesses) const
    {
        static_assert(sizeof(Params) <= kMaxParams);
        dispatch(commands, pipeline, &params, sizeof(Params), workgroups, accesses);
    }
    // Records a memory barrier from these stages and accesses to the same ones. With toHost, the
    // writes are also visible to the host once a fence has been signalled.
    void barrier(Recording commands, VkPipelineStageFlags stages, VkAccessFlags accesses,
                 bool toHost = false) const;
    // Records a barrier between two dispatches of one command. While dispatches are collected,
    // every barrier only ends a step of the current chain.
    void computeBarrier(Recording commands) const;
    // Reports a command with the name `what` and its accesses to the caller's recorder.
    void note(Recording commands, const char* what, std::initializer_list<Access> accesses) const
    {
        note(commands.commands, what, 0, accesses.begin(), uint32_t(accesses.size()));
    }
    // Records the collected dispatches and empties the collection. With moreFollows, also records a
    // barrier after them.
    void flush(SideBySide& collected, bool moreFollows) const;
    // Records the dispatch that sets the statuses of `count` tiles to PENDING, and the summary to
    // "none failed".
    void status(Recording commands, const SluiceBuffer& status, uint32_t count) const;

private:
    void dispatch(Recording commands, Pipeline pipeline, const void* params, size_t size,
                  uint64_t workgroups, std::initializer_list<Access> accesses) const;
    void record(VkCommandBuffer commands, const SideBySide::Dispatch& dispatch) const;
    void note(VkCommandBuffer commands, const char* what, uint32_t chain, const Access* accesses,
              uint32_t count) const;

    const VulkanMachine& m_machine;
    const VulkanPipelines& m_pipelines;
    SluiceVulkanRecorder m_recorder;
    void* m_user;
};

} // namespace sluice
