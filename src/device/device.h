// SPDX-License-Identifier: MIT OR Apache-2.0
// The interface of an open device, which each backend implements. device.cpp chooses the backend
// and checks the arguments, so the functions here get valid ones.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <sluice/sluice_device.h>

#include "formats/errors.h"
#include "formats/integers.h"

namespace sluice {

class Device {
public:
    virtual ~Device() = default; // each backend's destructor waits for the device and frees all

    // These functions do what the C functions of the same names do (sluice_device.h):
    // sluiceAllocate and so on. gpuMilliseconds receives the time that the commands took.
    virtual SluiceStatus allocate(uint64_t size, SluiceBuffer& buffer) = 0;
    virtual void release(const SluiceBuffer& buffer) = 0;
    virtual uint64_t address(const SluiceBuffer& buffer) const = 0;
    virtual SluiceStatus upload(const SluiceBuffer& buffer, const void* bytes, uint64_t size) = 0;
    virtual SluiceStatus download(const SluiceBuffer& buffer, void* bytes, uint64_t size) = 0;
    virtual SluiceStatus begin(SluiceCommands& commands) = 0;
    virtual SluiceStatus submit(SluiceCommands commands, double& gpuMilliseconds) = 0;

    SluiceDeviceProperties properties{};
    SluiceContext context = nullptr; // made by the backend, whose destructor destroys it
    std::string failedTiers;         // what sluiceGetDeviceSelfTest returns
};

using DeviceList = std::vector<SluiceDeviceProperties>;

// listXDevices appends the devices of a backend to the list, or none if the driver is not installed
// or the build lacks the backend. openXDevice opens the device with this
// SluiceDeviceProperties::index. On failure `error` says why.
void listVulkanDevices(DeviceList& list);
SluiceStatus openVulkanDevice(uint32_t index, const SluiceDeviceInfo& info,
                              std::unique_ptr<Device>& device, std::string& error);
void listCudaDevices(DeviceList& list);
SluiceStatus openCudaDevice(uint32_t index, const SluiceDeviceInfo& info,
                            std::unique_ptr<Device>& device, std::string& error);
void listCpuDevice(DeviceList& list);
SluiceStatus openCpuDevice(const char* tier, std::unique_ptr<Device>& device, std::string& error);

// Runs the self-test of all kernels that are ready in the device's context. `failed` receives the
// names of the decoders whose results are wrong, separated by commas. Wrong results are no error:
// the function returns one only if the test could not run.
SluiceStatus testDevice(Device& device, std::string& failed);

// Copies `text` to a text field of SluiceDeviceProperties. Text that does not fit is cut off.
template <size_t Size>
void setText(char (&field)[Size], const std::string& text)
{
    const size_t length = std::min(text.size(), Size - 1);
    std::fill(std::copy_n(text.begin(), length, field), field + Size, '\0');
}

// Returns a size rounded up to whole words. Kernels load and store whole words, so an allocation
// must include all of its last word.
constexpr uint64_t wordsEnd(uint64_t size) { return alignUp(size, 4); }

// Returns the address of a buffer's first byte. Only for devices on which a buffer's handle is an
// address: the CPU and CUDA.
inline char* memoryOf(const SluiceBuffer& buffer)
{
    return reinterpret_cast<char*>(uintptr_t(buffer.handle + buffer.offset));
}

} // namespace sluice

// A SluiceDevice points to this.
struct SluiceDevice_T {
    std::unique_ptr<sluice::Device> device;
};
