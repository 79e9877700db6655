// SPDX-License-Identifier: MIT OR Apache-2.0
// Plays the part of an engine for a streamer: buffers, command buffers and a semaphore on the
// device that is measured.
#pragma once

#include "tools/bench/bench_device.h"
#include "tools/common/engine.h"

namespace sluice {

class StreamEngine : public VulkanEngine {
public:
    // The device must be a Vulkan device.
    explicit StreamEngine(const BenchDevice& device)
        : VulkanEngine(engineInfo(device.handle())), m_owner(device)
    {
        require(sluiceCreateStreamVulkan(&info(), &m_gpu), "streaming on Vulkan");
    }
    ~StreamEngine()
    {
        waitIdle();
        sluiceDestroyStreamVulkan(m_gpu);
    }

    const BenchDevice& device() const { return m_owner; }
    SluiceStreamGpu* gpu() const { return m_gpu; }

private:
    const BenchDevice& m_owner;
    SluiceStreamGpu* m_gpu = nullptr;
};

} // namespace sluice
