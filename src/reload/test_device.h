// SPDX-License-Identifier: MIT OR Apache-2.0
// A device on which self-tests run. It is not the program's own device, so that the program goes on
// if a faulty kernel makes the test device lost.
#pragma once

#include <set>
#include <string>

#include <sluice/sluice_device.h>

#include "vulkan/context.h"

namespace sluice::dev {

class TestDevice {
public:
    TestDevice() = default;
    ~TestDevice() { close(); }
    TestDevice(const TestDevice&) = delete;
    TestDevice& operator=(const TestDevice&) = delete;

    // Opens the device that `selector` names, with the tier and the subgroup size of `program`, so
    // that its pipelines are like the program's. On failure sets `error`.
    SluiceStatus open(const char* selector, const VulkanBackend& program, const char*& error);
    void close();
    bool isOpen() const { return m_device != nullptr; }
    SluiceDevice handle() const { return m_device; }

    // Creates every pipeline of the kernels in `kernels` (flags of SluiceKernels) that the device
    // can run, even those that the program's tuning does not choose. Returns the backend of the
    // device's context. open() creates no pipelines, because creating all would delay the first
    // test. On failure returns null and sets `error`.
    VulkanBackend* use(uint32_t kernels, const char*& error);

    // Returns the names of the pipelines that were dispatched since clearDispatched().
    const std::set<std::string>& dispatched() const { return m_dispatched; }
    void clearDispatched() { m_dispatched.clear(); }

private:
    static void record(void* user, VkCommandBuffer commands, const char* pipeline,
                       const SluiceVulkanAccess* ranges, uint32_t count);

    SluiceDevice m_device = nullptr;
    SluiceVulkanContextInfo m_info = {};
    std::string m_tuning;
    std::set<std::string> m_dispatched;
};

// Returns a copy of `tuning`, changed so that a context creates every pipeline that the device can
// run, even those that `tuning` leaves unused.
VulkanTuning tuningForEveryPipeline(const DeviceTraits& device, VulkanTuning tuning);

// Returns the backend of a Vulkan context, or null if the context is not a Vulkan one.
VulkanBackend* vulkanBackend(SluiceContext context);

} // namespace sluice::dev
