// SPDX-License-Identifier: MIT OR Apache-2.0
// The interface of an open device, which each backend implements. device.cpp chooses a backend.
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
    virtual ~Device() = default; // waits for the device, and frees everything

    virtual SluiceStatus allocate(uint64_t size, SluiceBuffer& buffer) = 0;
    virtual void release(const SluiceBuffer& buffer) = 0;
    virtual uint64_t address(const SluiceBuffer& buffer) const = 0;
    virtual SluiceStatus upload(const SluiceBuffer& buffer, const void* bytes, uint64_t size) = 0;
    virtual SluiceStatus download(const SluiceBuffer& buffer, void* bytes, uint64_t size) = 0;
    virtual SluiceStatus begin(SluiceCommands& commands) = 0;
    virtual SluiceStatus submit(SluiceCommands commands, double& gpuMilliseconds) = 0;

    SluiceDeviceProperties properties{};
    SluiceContext context = nullptr; // the backend's destructor destroys it
    std::string failedTiers;         // the text of sluiceGetDeviceSelfTest
};

using DeviceList = std::vector<SluiceDeviceProperties>;

// The functions that list devices add nothing if there is no driver, or no CUDA in this build. Each
// open function takes the index in its list's SluiceDeviceProperties. On failure `error` says why.
void listVulkanDevices(DeviceList& list);
SluiceStatus openVulkanDevice(uint32_t index, const SluiceDeviceInfo& info,
                              std::unique_ptr<Device>& device, std::string& error);
void listCudaDevices(DeviceList& list);
SluiceStatus openCudaDevice(uint32_t index, const SluiceDeviceInfo& info,
                            std::unique_ptr<Device>& device, std::string& error);
void listCpuDevice(DeviceList& list);
SluiceStatus openCpuDevice(const char* tier, std::unique_ptr<Device>& device, std::string& error);

// Runs the self-test of the kernels that are ready in the context. `failed` receives the names of
// those whose results are wrong, separated by commas.
SluiceStatus testDevice(Device& device, std::string& failed);

// Copies `text` into a fixed-size field of SluiceDeviceProperties, and truncates it if it is too
// long.
template <size_t Size>
void setText(char (&field)[Size], const std::string& text)
{
    const size_t length = std::min(text.size(), Size - 1);
    std::fill(std::copy_n(text.begin(), length, field), field + Size, '\0');
}

// Returns the size rounded up to whole words. Kernels load and store whole words, so every
// allocation includes all of its last word.
constexpr uint64_t wordsEnd(uint64_t size) { return alignUp(size, 4); }

// Returns the address of a buffer's first byte, for devices whose buffers are plain memory: the CPU
// and CUDA.
inline char* memoryOf(const SluiceBuffer& buffer)
{
    return reinterpret_cast<char*>(uintptr_t(buffer.handle + buffer.offset));
}

} // namespace sluice

struct SluiceDevice_T {
    std::unique_ptr<sluice::Device> device;
};
