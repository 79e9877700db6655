// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides which side decodes the line: the units that have been read, and that the GPU and the
// CPU's threads may both decode. Each side asks when it could take a unit. This is arithmetic on
// predictions, which are made elsewhere (cost_model.h, cpu_cost_model.h).
#pragma once

#include <sluice/sluice_stream.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sluice::stream {

// All times are milliseconds.
struct SideLoad {
    // The line. For the GPU, its slowest tile and its bytes (see cost_model.h).
    double gpuSlowest = 0, gpuBytes = 0;
    double lineCpu = 0; // of one thread, for all of the line
    // The most urgent unit of the line.
    double headGpu = 0;       // of a batch of this unit alone
    double headCpu = 0;       // of one thread
    bool hasPipelines = true; // the context has all that the unit needs
    double sinceProgress = 0; // since a thread took a unit, or since the line was empty
    // The GPU.
    double ahead = 0;        // of the batches that are under way
    double interval = 0;     // between calls of Record
    double budget = 0;       // of a batch; it may be infinite
    double capacity = 0;     // what the last batch's limits let into it; it may be infinite
    bool isRefused = false;  // the last call of Record found maxBatches batches under way
    bool isGpuStale = false; // the GPU was not measured for so long that it is to be tried
    // The CPU.
    uint32_t threads = 0; // that may decode at a time; 0: the CPU may not decode the line
    double cpuAhead = 0;  // of one thread, for all units that threads decode or will decode first
    bool isCpuStale = false; // likewise, of the CPU
    bool isGpuFirst = false; // the CPU only decodes what the GPU has no pipelines for
};

// The sides that may take from the line now, and why. Both may.
struct SideChoice {
    bool cpu = false, gpu = true;
    SluiceStreamReason cpuReason = SLUICE_STREAM_CPU_SOONER; // if `cpu`
    SluiceStreamReason gpuReason = SLUICE_STREAM_GPU;        // if `gpu`
};

inline double batchTime(double slowest, double bytes)
{
    return std::sqrt(slowest * slowest + bytes * bytes);
}

inline SideChoice chooseSide(const SideLoad& load)
{
    constexpr double kPatience = 2; // times the interval of Record and a unit's time
    if (load.threads == 0) return {};
    if (!load.hasPipelines) return {true, false, SLUICE_STREAM_CPU_PIPELINES, SLUICE_STREAM_GPU};
    if (load.isGpuFirst) return {};
    // A side that is predicted to be slow would never be measured again, if it were not tried.
    const auto cpuAlone = [&](SluiceStreamReason reason) {
        return SideChoice{true, load.isGpuStale, reason, SLUICE_STREAM_GPU_TRIED};
    };

    const double batch = batchTime(load.gpuSlowest, load.gpuBytes);
    const double idle = std::max(load.headCpu, load.lineCpu / load.threads);
    const double threads = std::max(load.headCpu, (load.cpuAhead + load.lineCpu) / load.threads);
    // If the threads do not do what was predicted, the GPU takes over.
    const bool isStuck = load.sinceProgress > kPatience * (load.interval + load.headCpu);
    if (!isStuck) {
        if (threads < batch) return cpuAlone(SLUICE_STREAM_CPU_SOONER);
        // Even a batch of one unit of the line exceeds the budget.
        if (load.headGpu > load.budget) return cpuAlone(SLUICE_STREAM_CPU_BUDGET);
    }
    // Both take from the line if the line's end waits longer for the GPU than a thread takes for a
    // unit. Without the unit that a thread then takes, the GPU still has others to decode.
    SideChoice choice;
    choice.gpuReason = idle < batch ? SLUICE_STREAM_GPU_CPU_BUSY : SLUICE_STREAM_GPU;
    const bool isOver = load.capacity < batch;
    const bool isBehind = load.isRefused || load.ahead > load.interval;
    const double batches = isOver ? std::floor(batch / std::max(load.capacity, 1e-3)) : 0;
    const double forBudget = batches * load.interval;
    const double forOthers = isBehind ? load.ahead + batch : 0;
    // Threads that would decode less than a tenth of the line beside the GPU had better read
    // instead. On an H200 such threads decoded 2 % of the line, and the line took a quarter longer.
    constexpr double kWorthwhile = 9;
    const bool helps = idle <= kWorthwhile * std::max({batch, forBudget, forOthers});
    choice.cpu = helps && load.headCpu < std::max(forBudget, forOthers);
    choice.cpuReason = forBudget >= forOthers ? SLUICE_STREAM_CPU_BUDGET : SLUICE_STREAM_CPU_BEHIND;
    if (!choice.cpu && load.isCpuStale && load.lineCpu > load.headCpu) {
        choice.cpu = true;
        choice.cpuReason = SLUICE_STREAM_CPU_TRIED;
    }
    return choice;
}

} // namespace sluice::stream
