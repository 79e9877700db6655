// SPDX-License-Identifier: MIT OR Apache-2.0
// A device for self-tests, apart from the program's, so that a kernel that loses it does no harm.
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

    // The device's context, which has every pipeline of these kernels (SluiceKernels) that the
    // device can run, whatever the program's tuning asks for. They are made when first needed,
    // because making all at once would delay the first test. Returns null and a text on failure.
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
