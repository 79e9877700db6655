// SPDX-License-Identifier: MIT OR Apache-2.0
// Stands for what an engine has anyway: a Vulkan device, memory that the host can see, compute
// pipelines and a command buffer. There is only as much of each as the samples need.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <sluice/sluice_device.h>

#include "tools/common/compute_pipelines.h"

// Thrown if there is no Vulkan device to run on.
struct NoDevice : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Buffer = sluice::EngineBuffer;

// Runs a sample. Returns its exit code: 77 if there is no device to run on.
int runSample(const char* name, const std::function<void()>& run);

class Gpu {
public:
    // Opens a device. `kernels` are the SluiceKernels that will be used. `device` is a number or a
    // part of a device's name; empty: the best one. `tier` names the variant of its shaders that
    // sluice runs.
    explicit Gpu(uint32_t kernels, const std::string& device = "",
                 const std::string& tier = "auto");

    const char* name() const { return m_properties.properties.deviceName; }
    SluiceContext sluice() const { return sluiceGetDeviceContext(m_device.get()); }
    // Says which tier (variant of its shaders) and which subgroup size sluice chose.
    const SluiceContextInfo& chosen() const { return m_chosen; }

    Buffer allocate(uint64_t size); // the content is zeros
    VkCommandBuffer begin() { return m_commands = m_engine->begin(); }
    double submit(); // waits for the commands; returns how many milliseconds the GPU took

    VkPipeline createPipeline(const uint32_t* code, size_t bytes)
    {
        return m_pipelines->make(code, bytes, {});
    }
    // Makes a pipeline from a shader that includes sluice's lanes.glsl. A workgroup has `workgroup`
    // invocations, in full subgroups of the size that sluice chose.
    VkPipeline createLanePipeline(const uint32_t* code, size_t bytes, uint32_t workgroup);
    // Returns a workgroup size for a shader that is faster in large workgroups.
    uint32_t laneWorkgroup() const;
    void dispatch(VkPipeline pipeline, const void* push, uint32_t pushBytes, uint32_t workgroups)
    {
        m_pipelines->dispatch(m_commands, pipeline, push, pushBytes, workgroups);
    }

private:
    bool isEmulated() const; // the tier uses no subgroup operations

    std::unique_ptr<SluiceDevice_T, decltype(&sluiceCloseDevice)> m_device{nullptr,
                                                                           sluiceCloseDevice};
    SluiceContextInfo m_chosen = {};
    std::unique_ptr<sluice::VulkanEngine> m_engine;
    std::unique_ptr<sluice::ComputePipelines> m_pipelines;
    VkPhysicalDeviceProperties2 m_properties = {};
    VkPhysicalDeviceVulkan13Properties m_properties13 = {};
    std::string m_features; // names of the enabled features
    VkCommandBuffer m_commands = VK_NULL_HANDLE;
};
