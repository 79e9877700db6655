// SPDX-License-Identifier: MIT OR Apache-2.0
// A separate device for self-tests. If a kernel makes it lost, the program's device is unharmed.
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

    // Opens the device that `selector` names for tests of pipelines like those of `program`.
    SluiceStatus open(const char* selector, const VulkanBackend& program, const char*& error);
    void close();
    bool isOpen() const { return m_device != nullptr; }
    SluiceDevice handle() const { return m_device; }

    // Returns the device's context, which has every pipeline of these kernels (SluiceKernels) that
    // the device can run, also those that the program's tuning does not choose. Pipelines are
    // created when first needed, because creating all at once would delay the first test. On
    // failure, returns null and sets `error`.
    VulkanBackend* use(uint32_t kernels, const char*& error);

    // Returns the names of the pipelines that commands dispatched since clearDispatched().
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

// Returns the tuning changed so that every pipeline that a device can run applies.
VulkanTuning tuningForEveryPipeline(const DeviceTraits& device, VulkanTuning tuning);

// Returns the backend of a Vulkan context, or null.
VulkanBackend* vulkanBackend(SluiceContext context);

} // namespace sluice::dev
