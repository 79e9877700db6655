// SPDX-License-Identifier: MIT OR Apache-2.0
// What every row of the benchmark needs: a device, memory on it, and a clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sluice/sluice_device.h>

#include "tool.h"

namespace sluice {

// Throws a Failure unless status is OK. what: "scan", "allocate" ...
void require(SluiceStatus status, const std::string& what);

// Milliseconds of one pass.
struct Timing {
    double median = 0, fastest = 0, slowest = 0;
    uint32_t runs = 0;
};

// Device memory that frees itself.
class BenchBuffer {
public:
    BenchBuffer() = default;
    BenchBuffer(SluiceDevice device, uint64_t size);
    BenchBuffer(BenchBuffer&& other) noexcept;
    BenchBuffer& operator=(BenchBuffer&& other) noexcept;
    ~BenchBuffer();

    SluiceBuffer whole() const { return range_; }
    SluiceBuffer part(uint64_t offset, uint64_t size) const;
    uint64_t address() const { return sluiceGetAddress(device_, range_); }
    uint64_t size() const { return range_.size; }

private:
    SluiceDevice device_ = nullptr;
    SluiceBuffer range_ = {};
};

class BenchDevice {
public:
    // kernels: SluiceKernels, those that will be used.
    explicit BenchDevice(const std::string& selector, uint32_t kernels = SLUICE_KERNELS_ALL,
                         bool graphicsQueue = false, const std::string& tuning = {});
    ~BenchDevice();
    BenchDevice(const BenchDevice&) = delete;
    BenchDevice& operator=(const BenchDevice&) = delete;

    SluiceDevice handle() const { return device_; }
    SluiceContext context() const { return sluiceGetDeviceContext(device_); }
    const SluiceDeviceProperties& properties() const { return properties_; }
    const char* tier() const { return info_.tier; }
    bool isGpu() const { return properties_.isSoftware == 0; }

    BenchBuffer allocate(uint64_t size) const { return BenchBuffer(device_, size); }
    void upload(SluiceBuffer to, const void* bytes, uint64_t size) const;
    void download(SluiceBuffer from, void* bytes, uint64_t size) const;
    void fill(SluiceBuffer to, uint8_t value) const;

    using Record = std::function<void(SluiceCommands commands, uint32_t run)>;

    // Records once, submits, waits.
    double runOnce(const Record& record, uint32_t run = 0) const;
    // On CUDA: captured into a graph, as an engine would that calls it often.
    Record capture(const Record& record) const;
    // Warms up, then times `runs` submissions, each of which does the work `passes` times.
    Timing time(uint32_t passes, const Record& record) const;

private:
    using Clock = std::chrono::steady_clock;
    uint32_t warmUp(const Record& record) const;
    SluiceDevice device_ = nullptr;
    SluiceDeviceProperties properties_ = {};
    SluiceContextInfo info_ = {};
    mutable bool wasWarm_ = false;
    mutable Clock::time_point lastUse_;
};

} // namespace sluice
