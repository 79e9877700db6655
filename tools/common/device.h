// SPDX-License-Identifier: MIT OR Apache-2.0
// The device that the user asked for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sluice/sluice_device.h>

#include "tools/common/tool.h"

namespace sluice {

constexpr const char* kTierNames =
    "base ext emu4 emu8 emu16 emu32 emu64 emu128 native fast ref"; // of all backends

std::vector<SluiceDeviceProperties> listDevices();
// "Vulkan 1.3.224", "CUDA 12.4", "" on the CPU.
std::string apiText(const SluiceDeviceProperties& properties);
const char* backendName(SluiceBackend backend);                       // "vulkan", "cuda", "cpu"
std::string deviceSelector(const SluiceDeviceProperties& properties); // "vulkan:0", "cuda:1", "cpu"
// Throws Failure{exitUsage} if there is no such tier. An empty name means the best tier.
void checkTierName(const std::string& tier);
bool runsTier(const SluiceDeviceProperties& device, const std::string& tier); // empty: any tier
// Returns the devices that match a selector, the preferred one first. There is at least one. Throws
// Failure: exitUsage if the text is no selector, exitDevice if there is no such device,
// exitUnsupported if this build does not support such devices.
std::vector<SluiceDeviceProperties> matchDevices(const std::string& selector,
                                                 const std::string& tier);

// Returns how many threads create pipelines. There are about fifty pipelines, and drivers compile
// them in parallel.
uint32_t pipelineThreads();

// Returns SluicePipelineFlags for a caller that decodes this many bytes once. For few bytes,
// compiling the variants that only serve speed takes longer than they save.
uint32_t pipelineFlagsFor(uint64_t decodedSize);

class ToolDevice {
public:
    using Record = std::function<void(SluiceCommands commands)>;

    ToolDevice(const DeviceOptions& options, const CommonOptions& common,
               uint32_t kernels = SLUICE_KERNELS_ALL, uint32_t pipelineFlags = 0);
    // Error messages begin with `place`. `absent` is the exit code if there is no such device.
    explicit ToolDevice(const SluiceDeviceInfo& info, const std::string& place = "",
                        int absent = exitDevice)
    {
        open(info, place, absent);
    }

    SluiceDevice handle() const { return m_device.get(); }
    SluiceContext context() const { return sluiceGetDeviceContext(m_device.get()); }
    const SluiceDeviceProperties& properties() const { return m_properties; }
    const char* tier() const { return m_info.tier; }
    // Returns a name that says whether run() measures by the GPU's own clock or by the host's.
    const char* millisecondsName() const
    {
        return m_properties.isSoftware != 0 ? "host ms" : "GPU ms";
    }
    // Returns how many threads to spread commands over; 1 if the device is not the CPU.
    uint32_t threads() const { return m_threads; }
    // Throws Failure if status is not OK.
    void check(SluiceStatus status, const std::string& what) const;

    void upload(SluiceBuffer to, const void* bytes, uint64_t size) const
    {
        check(sluiceUpload(handle(), to, bytes, size), "upload");
    }
    void download(SluiceBuffer from, void* bytes, uint64_t size) const
    {
        check(sluiceDownload(handle(), from, bytes, size), "download");
    }
    uint64_t address(SluiceBuffer buffer) const { return sluiceGetAddress(handle(), buffer); }
    // Returns the bytes of scratch memory that a command with this `info` needs. `get` is the
    // command's sluiceGet...Requirements.
    template <class Info>
    uint64_t scratchSize(SluiceStatus (*get)(SluiceContext, const Info*, SluiceRequirements*),
                         const Info& info) const
    {
        SluiceRequirements requirements = {};
        check(get(context(), &info, &requirements), "requirements");
        return requirements.scratchSize;
    }
    // Records and submits a command and waits for it. Returns its milliseconds on the device.
    double run(const Record& record) const;

private:
    void open(const SluiceDeviceInfo& info, const std::string& place, int absent);

    std::unique_ptr<SluiceDevice_T, decltype(&sluiceCloseDevice)> m_device{nullptr,
                                                                           sluiceCloseDevice};
    SluiceDeviceProperties m_properties = {};
    SluiceContextInfo m_info = {};
    uint32_t m_threads = 1;
};

// Device memory that can grow. It is released together with its owner.
class DeviceBuffer {
public:
    explicit DeviceBuffer(const ToolDevice& device, uint64_t size = 0) : m_device(&device)
    {
        reserve(size);
    }
    DeviceBuffer() = default;
    DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept
    {
        std::swap(m_device, other.m_device);
        std::swap(m_buffer, other.m_buffer);
        return *this;
    }
    ~DeviceBuffer();

    // Makes room for `size` bytes and discards the old content. Returns a range of exactly that
    // size.
    SluiceBuffer reserve(uint64_t size);
    // Makes room and uploads. Returns a null range if there are no bytes.
    SluiceBuffer fill(const void* bytes, uint64_t size)
    {
        if (size == 0) return {};
        const SluiceBuffer range = reserve(size);
        m_device->upload(range, bytes, size);
        return range;
    }
    template <class T>
    SluiceBuffer fill(const std::vector<T>& values)
    {
        return fill(values.data(), values.size() * sizeof(T));
    }

    SluiceBuffer whole() const { return m_buffer; }
    SluiceBuffer part(uint64_t offset, uint64_t size) const
    {
        return {m_buffer.handle, m_buffer.offset + offset, size};
    }
    uint64_t address() const { return m_device->address(m_buffer); }
    uint64_t size() const { return m_buffer.size; }

private:
    const ToolDevice* m_device = nullptr;
    SluiceBuffer m_buffer = {};
};

} // namespace sluice
