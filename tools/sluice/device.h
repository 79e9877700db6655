// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens the device that the user asked for, or says why not.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sluice/sluice_device.h>

#include "tool.h"

namespace sluice {

std::vector<SluiceDeviceProperties> listDevices();
std::string deviceSelector(const SluiceDeviceProperties& properties); // "vulkan:0", "cuda:1", "cpu"
// The devices that a selector could mean, the one to take first; never none. Throws Failure:
// exitUsage if it is no selector, exitDevice if there is no such device, exitUnsupported if this
// build cannot have one.
std::vector<SluiceDeviceProperties> matchDevices(const std::string& selector,
                                                 const std::string& tier);

class ToolDevice {
public:
    // kernels: SluiceKernels, those that will be used.
    ToolDevice(const DeviceOptions& options, const CommonOptions& common,
               uint32_t kernels = SLUICE_KERNELS_ALL);

    SluiceDevice handle() const { return device_.get(); }
    SluiceContext context() const { return sluiceGetDeviceContext(device_.get()); }
    const SluiceDeviceProperties& properties() const { return properties_; }
    const SluiceContextInfo& contextInfo() const { return info_; }
    // Throws Failure if status is not OK.
    void check(SluiceStatus status, const char* what) const;

private:
    std::unique_ptr<SluiceDevice_T, decltype(&sluiceCloseDevice)> device_{nullptr,
                                                                          sluiceCloseDevice};
    SluiceDeviceProperties properties_ = {};
    SluiceContextInfo info_ = {};
};

// Device memory that grows and is released with its owner.
class DeviceBuffer {
public:
    explicit DeviceBuffer(const ToolDevice& device) : device_(device) {}
    ~DeviceBuffer() { sluiceRelease(device_.handle(), buffer_); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    // At least `size` bytes; what it held is lost. Returns the range of exactly that size.
    SluiceBuffer reserve(uint64_t size);

private:
    const ToolDevice& device_;
    SluiceBuffer buffer_ = {};
};

} // namespace sluice
