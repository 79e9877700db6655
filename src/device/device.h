// SPDX-License-Identifier: MIT OR Apache-2.0
// An open device, which each backend implements; device.cpp chooses among them.
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
    virtual ~Device() = default; // waits, and frees everything

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

// Without a driver (or, for CUDA, in a build without it) a list does not change. Each open function
// takes the index of its list's SluiceDeviceProperties; on failure `error` says why.
void listVulkanDevices(DeviceList& list);
SluiceStatus openVulkanDevice(uint32_t index, const SluiceDeviceInfo& info,
                              std::unique_ptr<Device>& device, std::string& error);
void listCudaDevices(DeviceList& list);
SluiceStatus openCudaDevice(uint32_t index, const SluiceDeviceInfo& info,
                            std::unique_ptr<Device>& device, std::string& error);
void listCpuDevice(DeviceList& list);
SluiceStatus openCpuDevice(const char* tier, std::unique_ptr<Device>& device, std::string& error);

// Runs the self-test of the kernels that the context has ready. `failed` gets the names of those
// that come out wrong, with commas.
SluiceStatus testDevice(Device& device, std::string& failed);

// Copies `text`, cut if need be, into a fixed field of SluiceDeviceProperties.
template <size_t Size>
void setText(char (&field)[Size], const std::string& text)
{
    const size_t length = std::min(text.size(), Size - 1);
    std::fill(std::copy_n(text.begin(), length, field), field + Size, '\0');
}

// Kernels load and store whole words, so memory always reaches to the end of its last word.
constexpr uint64_t wordsEnd(uint64_t size) { return alignUp(size, 4); }

// For devices whose buffers are plain memory: the CPU and CUDA.
inline char* memoryOf(const SluiceBuffer& buffer)
{
    return reinterpret_cast<char*>(uintptr_t(buffer.handle + buffer.offset));
}

} // namespace sluice

struct SluiceDevice_T {
    std::unique_ptr<sluice::Device> device;
};
