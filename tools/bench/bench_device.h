// SPDX-License-Identifier: MIT OR Apache-2.0
// The device on which a row is measured, and its clock.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tools/common/device.h"

namespace sluice {

// Throws a Failure unless the status is OK. `what` names the work: "scan", "pack".
void require(SluiceStatus status, const std::string& what);

struct Timing {
    double median = 0, fastest = 0, slowest = 0;
    uint32_t runs = 0;
};

class BenchDevice : public ToolDevice {
public:
    BenchDevice(const std::string& selector, uint32_t kernels = SLUICE_KERNELS_ALL,
                bool graphicsQueue = false, const std::string& tuning = {});

    // Creates the pipelines of these SluiceKernels that do not exist yet.
    void makePipelines(uint32_t kernels) const;
    SluiceBackend backend() const { return properties().backend; }
    bool isGpu() const { return properties().isSoftware == 0; }
    // Makes work smaller for a short budget, in which the host has no time to make and check
    // gigabytes. Arrays and batches for GPUs then have at most some hundred megabytes, which is
    // still more than caches hold.
    void setBrief() { m_isBrief = true; }
    bool isBrief() const { return m_isBrief; }

    DeviceBuffer allocate(uint64_t size) const { return DeviceBuffer(*this, size); }
    template <class T>
    DeviceBuffer allocate(const std::vector<T>& values) const
    {
        DeviceBuffer buffer(*this);
        buffer.fill(values);
        return buffer;
    }
    // Returns zeroed scratch for a command. `info` describes the command, and `get` is its function
    // sluiceGet...Requirements, which says how much scratch the command needs.
    template <class Get, class Info>
    DeviceBuffer allocateScratch(Get get, const Info& info) const
    {
        DeviceBuffer scratch = allocate(scratchSize(get, info));
        fill(scratch.whole(), 0);
        return scratch;
    }
    void fill(SluiceBuffer to, uint8_t value) const;

    using RecordRun = std::function<void(SluiceCommands commands, uint32_t run)>;

    double runOnce(const RecordRun& record, uint32_t run = 0) const;
    // On CUDA, captures the commands into a graph, as an engine does with commands that it runs
    // often. Elsewhere, returns `record`.
    RecordRun capture(const RecordRun& record) const;
    // Warms up, then times several submissions. One call of `record` records a submission, which
    // must do the work `passes` times; the returned times are those of one pass.
    Timing time(uint32_t passes, const RecordRun& record) const;

private:
    using Clock = std::chrono::steady_clock;
    uint32_t warmUp(const RecordRun& record) const;
    bool m_isBrief = false;
    mutable bool m_wasWarm = false;
    mutable Clock::time_point m_lastUse;
};

} // namespace sluice
