// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench_device.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench_peers.h"

namespace sluice {

void require(SluiceStatus status, const std::string& what)
{
    if (status == SLUICE_OK) return;
    throw Failure{exitCodeOf(status), "bench: " + what + ": " + sluiceGetStatusText(status)};
}

BenchBuffer::BenchBuffer(SluiceDevice device, uint64_t size) : device_(device)
{
    require(sluiceAllocate(device, size, &range_), "allocate " + std::to_string(size) + " bytes");
}

BenchBuffer::BenchBuffer(BenchBuffer&& other) noexcept { *this = std::move(other); }

BenchBuffer& BenchBuffer::operator=(BenchBuffer&& other) noexcept
{
    std::swap(device_, other.device_);
    std::swap(range_, other.range_);
    return *this;
}

BenchBuffer::~BenchBuffer()
{
    if (range_.size != 0) sluiceRelease(device_, range_);
}

SluiceBuffer BenchBuffer::part(uint64_t offset, uint64_t size) const
{
    return SluiceBuffer{range_.handle, range_.offset + offset, size};
}

BenchDevice::BenchDevice(const std::string& selector, uint32_t kernels, bool graphicsQueue,
                         const std::string& tuning)
{
    SluiceDeviceInfo info = {};
    info.selector = selector.empty() ? "auto" : selector.c_str();
    info.kernels = kernels;
    info.graphicsQueue = graphicsQueue ? 1 : 0;
    info.tuning = tuning.empty() ? nullptr : tuning.c_str();
    const char* error = nullptr;
    // No such device, or one that does not work: exit 4 either way.
    if (sluiceOpenDevice(&info, &device_, &error) != SLUICE_OK) {
        throw Failure{exitDevice,
                      error != nullptr ? error : "device " + selector + " cannot be opened"};
    }
    try {
        require(sluiceGetDeviceProperties(device_, &properties_), "device properties");
        require(sluiceGetContextInfo(context(), &info_), "context");
    } catch (...) {
        sluiceCloseDevice(device_);
        throw;
    }
}

BenchDevice::~BenchDevice() { sluiceCloseDevice(device_); }

void BenchDevice::upload(SluiceBuffer to, const void* bytes, uint64_t size) const
{
    require(sluiceUpload(device_, to, bytes, size), "upload");
}

void BenchDevice::download(SluiceBuffer from, void* bytes, uint64_t size) const
{
    require(sluiceDownload(device_, from, bytes, size), "download");
}

void BenchDevice::fill(SluiceBuffer to, uint8_t value) const
{
    const std::vector<uint8_t> block(std::min<uint64_t>(to.size, 64u << 20), value);
    for (uint64_t at = 0; at < to.size; at += block.size()) {
        const uint64_t size = std::min<uint64_t>(block.size(), to.size - at);
        upload(SluiceBuffer{to.handle, to.offset + at, size}, block.data(), size);
    }
}

double BenchDevice::runOnce(const Record& record, uint32_t run) const
{
    SluiceCommands commands = nullptr;
    require(sluiceBegin(device_, &commands), "begin");
    record(commands, run);
    double milliseconds = 0;
    require(sluiceSubmit(device_, commands, &milliseconds), "submit");
    lastUse_ = Clock::now();
    return milliseconds;
}

BenchDevice::Record BenchDevice::capture(const Record& record) const
{
    return properties_.backend == SLUICE_BACKEND_CUDA ? captureCudaGraph(record) : record;
}

// A GPU that was idle takes a while to raise its clocks, an H200 up to a second: runs until they
// get no faster, and looks at shorter times where the clocks cannot have fallen since the last run.
// Returns how many runs there were.
uint32_t BenchDevice::warmUp(const Record& record) const
{
    constexpr auto moment = std::chrono::milliseconds(50);
    const bool isCuda = properties_.backend == SLUICE_BACKEND_CUDA; // a CUDA context keeps them up
    const bool isWarm = wasWarm_ && (isCuda || Clock::now() - lastUse_ < moment);
    const auto window = std::chrono::milliseconds(isWarm ? 30 : 100);
    constexpr uint32_t windows = 3, mostWindows = 30;
    wasWarm_ = true;
    constexpr double same = 0.99;
    uint32_t run = 0;
    if (!isGpu()) runOnce(record, run++);
    double before = 0;
    for (uint32_t i = 0; isGpu() && i < mostWindows; ++i) {
        double fastest = 0;
        const Clock::time_point end = Clock::now() + window;
        do {
            const double milliseconds = runOnce(record, run++);
            fastest = fastest == 0 ? milliseconds : std::min(fastest, milliseconds);
        } while (Clock::now() < end);
        if (i + 1 >= windows && fastest >= before * same) break;
        before = fastest;
    }
    return run;
}

Timing BenchDevice::time(uint32_t passes, const Record& record) const
{
    const uint32_t runs = isGpu() ? 15 : 3;
    uint32_t run = warmUp(record);
    std::vector<double> samples;
    for (uint32_t last = run + runs; run < last; ++run) {
        samples.push_back(runOnce(record, run) / passes);
    }
    std::sort(samples.begin(), samples.end());
    return Timing{samples[runs / 2], samples.front(), samples.back(), runs};
}

} // namespace sluice
