// SPDX-License-Identifier: MIT OR Apache-2.0
// The CPU as a device of the convenience layer. Its buffers are host memory, and its commands have
// completed when they return.
#include <chrono>
#include <cstring>
#include <new>
#include <unordered_set>

#include "device/device.h"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::align_val_t kAlignment{256};

SluiceDeviceProperties cpuProperties()
{
    SluiceDeviceProperties properties{};
    properties.backend = SLUICE_BACKEND_CPU;
    properties.isSoftware = 1;
    setText(properties.name, "CPU");
    setText(properties.tiers, "fast ref");
    return properties;
}

class CpuDevice final : public Device {
public:
    ~CpuDevice() override
    {
        sluiceDestroyContext(context);
        for (void* block : m_blocks)
            ::operator delete(block, kAlignment);
    }

    SluiceStatus allocate(uint64_t size, SluiceBuffer& buffer) override
    {
        // `new` may throw std::bad_alloc, which device.cpp catches.
        const uint64_t room = wordsEnd(size);
        // This can be true only if size_t has 32 bits.
        if (room > SIZE_MAX) return SLUICE_ERROR_OUT_OF_MEMORY;
        void* const block = ::operator new(size_t(room), kAlignment);
        m_blocks.insert(block);
        buffer = {reinterpret_cast<uintptr_t>(block), 0, size};
        return SLUICE_OK;
    }

    void release(const SluiceBuffer& buffer) override
    {
        void* const block = memoryOf({buffer.handle, 0, 0});
        if (m_blocks.erase(block) != 0) ::operator delete(block, kAlignment);
    }

    uint64_t address(const SluiceBuffer& buffer) const override
    {
        return buffer.handle + buffer.offset;
    }

    SluiceStatus upload(const SluiceBuffer& buffer, const void* bytes, uint64_t size) override
    {
        std::memcpy(memoryOf(buffer), bytes, size_t(size));
        return SLUICE_OK;
    }

    SluiceStatus download(const SluiceBuffer& buffer, void* bytes, uint64_t size) override
    {
        std::memcpy(bytes, memoryOf(buffer), size_t(size));
        return SLUICE_OK;
    }

    SluiceStatus begin(SluiceCommands&) override
    {
        m_start = Clock::now();
        return SLUICE_OK;
    }

    // Each command has run when its call returned, so the time since begin() is reported as the
    // GPU's time.
    SluiceStatus submit(SluiceCommands, double& gpuMilliseconds) override
    {
        gpuMilliseconds = std::chrono::duration<double, std::milli>(Clock::now() - m_start).count();
        return SLUICE_OK;
    }

private:
    std::unordered_set<void*> m_blocks; // the memory of all buffers
    Clock::time_point m_start{};
};

} // namespace

void listCpuDevice(DeviceList& list) { list.push_back(cpuProperties()); }

SluiceStatus openCpuDevice(const char* tier, std::unique_ptr<Device>& device, std::string& error)
{
    auto cpu = std::make_unique<CpuDevice>();
    cpu->properties = cpuProperties();
    const SluiceStatus status = sluiceCreateCpuContextOfTier(tier, &cpu->context);
    if (status != SLUICE_OK) return fail(status, sluiceGetStatusText(status), error);
    device = std::move(cpu);
    return SLUICE_OK;
}

} // namespace sluice
