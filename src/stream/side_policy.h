// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides whether the GPU or the CPU's threads decode the line (line.h): the units that have been
// read and that either side may decode. Each side asks when it could take a unit. The decision is
// arithmetic on predicted times, which come from cost_model.h and cpu_cost_model.h.
#pragma once

#include <sluice/sluice_stream.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sluice::stream {

// All times are milliseconds.
struct SideLoad {
    // The line: the units that either side may decode. The GPU times of the slowest of its tiles
    // and of all of its bytes, which batchTime() combines.
    double gpuSlowest = 0, gpuBytes = 0;
    double lineCpu = 0; // time of one thread for the whole line
    // The most urgent unit of the line.
    double headGpu = 0;       // time of a batch that has only this unit
    double headCpu = 0;       // time of one thread for this unit
    bool hasPipelines = true; // the context has all pipelines that the unit needs
    double sinceProgress = 0; // time since a thread took a unit, or since the line was empty
    // The GPU.
    double ahead = 0;        // predicted time of the batches that are under way
    double interval = 0;     // time between calls of Record
    double budget = 0;       // limit for the time of a batch; may be infinite
    double capacity = 0;     // time of the last batch if a limit cut it short, otherwise `budget`
    bool isRefused = false;  // the last call of Record found maxBatches batches under way
    bool isGpuStale = false; // the GPU was not used for so long that it must be tried
    // The CPU.
    uint32_t threads = 0;    // how many may decode at a time; 0: the CPU may not decode the line
    double cpuAhead = 0;     // time of one thread for units that must be decoded before the line
    bool isCpuStale = false; // the CPU was not used for so long that it must be tried
    bool isGpuFirst = false; // the CPU only decodes what the GPU has no pipelines for
};

// Says whether the GPU, the CPU's threads or both may take units from the line now, and why.
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
    constexpr double kPatience = 2; // threads are stuck after this many times (interval + headCpu)
    if (load.threads == 0) return {};
    if (!load.hasPipelines) return {true, false, SLUICE_STREAM_CPU_PIPELINES, SLUICE_STREAM_GPU};
    if (load.isGpuFirst) return {};
    // Only the CPU takes units. But if the GPU has not been used for long, it is tried: without
    // tries, a side that is predicted to be slow would get no new measurements.
    const auto cpuAlone = [&](SluiceStreamReason reason) {
        return SideChoice{true, load.isGpuStale, reason, SLUICE_STREAM_GPU_TRIED};
    };

    const double batch = batchTime(load.gpuSlowest, load.gpuBytes);
    const double idle = std::max(load.headCpu, load.lineCpu / load.threads);
    const double threads = std::max(load.headCpu, (load.cpuAhead + load.lineCpu) / load.threads);
    // If the threads take much longer than predicted, the GPU takes over.
    const bool isStuck = load.sinceProgress > kPatience * (load.interval + load.headCpu);
    if (!isStuck) {
        if (threads < batch) return cpuAlone(SLUICE_STREAM_CPU_SOONER);
        // If even a batch of one unit exceeds the budget, only the threads decode.
        if (load.headGpu > load.budget) return cpuAlone(SLUICE_STREAM_CPU_BUDGET);
    }
    // Threads help the GPU if the last unit of the line would wait longer for the GPU than a thread
    // takes to decode a unit. The GPU still has other units to decode then.
    SideChoice choice;
    choice.gpuReason = idle < batch ? SLUICE_STREAM_GPU_CPU_BUSY : SLUICE_STREAM_GPU;
    const bool isOver = load.capacity < batch;
    const bool isBehind = load.isRefused || load.ahead > load.interval;
    const double batches = isOver ? std::floor(batch / std::max(load.capacity, 1e-3)) : 0;
    const double forBudget = batches * load.interval;
    const double forOthers = isBehind ? load.ahead + batch : 0;
    // If the threads would decode less than a tenth of the line, they should read files instead. On
    // an H200, threads that decoded 2 % of a line made the line take a quarter longer.
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
