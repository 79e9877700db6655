// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds and opens the device that the user asked for by --device and --tier.
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
    "base ext emu4 emu8 emu16 emu32 emu64 emu128 native fast ref"; // the tiers of all backends

std::vector<SluiceDeviceProperties> listDevices();
// Returns for example "Vulkan 1.3.224" or "CUDA 12.4"; on the CPU "".
std::string apiText(const SluiceDeviceProperties& properties);
const char* backendName(SluiceBackend backend);                       // "vulkan", "cuda", "cpu"
std::string deviceSelector(const SluiceDeviceProperties& properties); // "vulkan:0", "cuda:1", "cpu"
// Throws Failure{exitUsage} if no backend has a tier (a variant of all kernels for a class of
// devices) of this name. An empty name means the best tier that the device can run.
void checkTierName(const std::string& tier);
bool runsTier(const SluiceDeviceProperties& device,
              const std::string& tier); // an empty tier means any tier
// Returns the devices that match a selector, at least one, the preferred one first. Throws a
// Failure: exitUsage if the text is no selector, exitDevice if there is no such device,
// exitUnsupported if this build cannot use such devices.
std::vector<SluiceDeviceProperties> matchDevices(const std::string& selector,
                                                 const std::string& tier);

// Returns how many threads should create pipelines. A context has about fifty pipelines, and
// drivers compile several of them at a time.
uint32_t pipelineThreads();

// Returns SluicePipelineFlags for a program that decodes this many bytes and then ends. Some
// pipelines only make decoding faster. For less than 4 GiB, compiling them takes longer than they
// save, so they are left out.
uint32_t pipelineFlagsFor(uint64_t decodedSize);

class ToolDevice {
public:
    using Record = std::function<void(SluiceCommands commands)>;

    ToolDevice(const DeviceOptions& options, const CommonOptions& common,
               uint32_t kernels = SLUICE_KERNELS_ALL, uint32_t pipelineFlags = 0);
    // Opens the device that `info` describes. Error messages begin with `place`. If there is no
    // such device, or if it cannot run the tier, throws a Failure with the exit code `absent`.
    explicit ToolDevice(const SluiceDeviceInfo& info, const std::string& place = "",
                        int absent = exitDevice)
    {
        open(info, place, absent);
    }

    SluiceDevice handle() const { return m_device.get(); }
    SluiceContext context() const { return sluiceGetDeviceContext(m_device.get()); }
    const SluiceDeviceProperties& properties() const { return m_properties; }
    const char* tier() const { return m_info.tier; }
    // Returns the unit of run()'s result. Software devices are timed by the host's clock, all
    // others by the GPU's own.
    const char* millisecondsName() const
    {
        return m_properties.isSoftware != 0 ? "host ms" : "GPU ms";
    }
    // Returns over how many threads a caller should spread its commands. A GPU needs only one; on
    // the CPU a command runs in the caller's thread.
    uint32_t threads() const { return m_threads; }
    // Throws a Failure if status is not OK.
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
    // command's function sluiceGet...Requirements.
    template <class Info>
    uint64_t scratchSize(SluiceStatus (*get)(SluiceContext, const Info*, SluiceRequirements*),
                         const Info& info) const
    {
        SluiceRequirements requirements = {};
        check(get(context(), &info, &requirements), "requirements");
        return requirements.scratchSize;
    }
    // Lets `record` record commands, submits them and waits for their end. Returns how many
    // milliseconds they took; millisecondsName() says by which clock.
    double run(const Record& record) const;

private:
    void open(const SluiceDeviceInfo& info, const std::string& place, int absent);

    std::unique_ptr<SluiceDevice_T, decltype(&sluiceCloseDevice)> m_device{nullptr,
                                                                           sluiceCloseDevice};
    SluiceDeviceProperties m_properties = {};
    SluiceContextInfo m_info = {};
    uint32_t m_threads = 1;
};

// Device memory that can be enlarged, and is released with this object.
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

    // Makes room for `size` bytes; earlier content is lost. Returns a range of exactly `size`
    // bytes.
    SluiceBuffer reserve(uint64_t size);
    // Makes room for the bytes and uploads them. Returns a null range if `size` is 0.
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
