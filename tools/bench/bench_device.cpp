// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/bench_device.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "tools/bench/peers.h"

namespace sluice {
namespace {

SluiceDeviceInfo deviceInfo(const std::string& selector, uint32_t kernels, bool graphicsQueue,
                            const std::string& tuning)
{
    SluiceDeviceInfo info = {};
    info.selector = selector.empty() ? "auto" : selector.c_str();
    info.kernels = kernels;
    info.pipelineThreads = pipelineThreads();
    info.pipelineCache = "";
    info.graphicsQueue = graphicsQueue ? 1 : 0;
    info.tuning = tuning.empty() ? nullptr : tuning.c_str();
    return info;
}

} // namespace

void require(SluiceStatus status, const std::string& what)
{
    if (status == SLUICE_OK) return;
    throw Failure{exitCodeOf(status), "bench: " + what + ": " + sluiceGetStatusText(status)};
}

BenchDevice::BenchDevice(const std::string& selector, uint32_t kernels, bool graphicsQueue,
                         const std::string& tuning)
    : ToolDevice(deviceInfo(selector, kernels, graphicsQueue, tuning))
{
}

void BenchDevice::makePipelines(uint32_t kernels) const
{
    std::atomic<SluiceStatus> result{SLUICE_OK};
    const auto work = [&] {
        const SluicePipelinesInfo wanted = {kernels, 0, 0};
        const SluiceStatus status = sluiceCreatePipelines(context(), &wanted, nullptr);
        if (status != SLUICE_OK) result = status;
    };
    std::vector<std::thread> threads;
    for (uint32_t i = 1; i < pipelineThreads(); ++i)
        threads.emplace_back(work);
    work();
    for (std::thread& thread : threads)
        thread.join();
    check(result, "pipelines");
}

void BenchDevice::fill(SluiceBuffer to, uint8_t value) const
{
    const Bytes block(std::min<uint64_t>(to.size, 64u << 20), value);
    for (uint64_t at = 0; at < to.size; at += block.size()) {
        const uint64_t size = std::min<uint64_t>(block.size(), to.size - at);
        upload({to.handle, to.offset + at, size}, block.data(), size);
    }
}

double BenchDevice::runOnce(const RecordRun& record, uint32_t run) const
{
    const double milliseconds =
        ToolDevice::run([&](SluiceCommands commands) { record(commands, run); });
    m_lastUse = Clock::now();
    return milliseconds;
}

BenchDevice::RecordRun BenchDevice::capture(const RecordRun& record) const
{
    return backend() == SLUICE_BACKEND_CUDA ? captureCudaGraph(record) : record;
}

// Runs the work until it gets no faster, since an idle GPU takes a while to raise its clocks (an
// H200 up to a second). Ends sooner if the clocks cannot have fallen since the last run. Returns
// the number of runs.
uint32_t BenchDevice::warmUp(const RecordRun& record) const
{
    constexpr auto moment = std::chrono::milliseconds(50);
    const bool isCuda = backend() == SLUICE_BACKEND_CUDA; // a CUDA context keeps the clocks up
    const bool isWarm = m_wasWarm && (isCuda || Clock::now() - m_lastUse < moment);
    const auto window = std::chrono::milliseconds(isWarm ? 30 : 100);
    constexpr uint32_t windows = 3, mostWindows = 30;
    m_wasWarm = true;
    constexpr double same = 0.99;
    uint32_t run = 0;
    if (!isGpu()) runOnce(record, run++);
    double lastFastest = 0;
    for (uint32_t i = 0; isGpu() && i < mostWindows; ++i) {
        double fastest = 0;
        const Clock::time_point end = Clock::now() + window;
        do {
            const double milliseconds = runOnce(record, run++);
            fastest = fastest == 0 ? milliseconds : std::min(fastest, milliseconds);
        } while (Clock::now() < end);
        if (i + 1 >= windows && fastest >= lastFastest * same) break;
        lastFastest = fastest;
    }
    return run;
}

Timing BenchDevice::time(uint32_t passes, const RecordRun& record) const
{
    const uint32_t runs = isGpu() ? 15 : 3;
    uint32_t run = warmUp(record);
    std::vector<double> samples;
    for (uint32_t last = run + runs; run < last; ++run)
        samples.push_back(runOnce(record, run) / passes);
    std::sort(samples.begin(), samples.end());
    return {samples[runs / 2], samples.front(), samples.back(), runs};
}

} // namespace sluice
