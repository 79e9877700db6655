// SPDX-License-Identifier: MIT OR Apache-2.0
// Which side decodes what, on costs that are made up, and the model of what threads cost.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "stream/cpu_cost_model.h"
#include "stream/side_policy.h"

using namespace sluice::stream;

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// A line of units that are alike: the slowest tile of each takes the GPU 0.45 ms.
SideLoad lineOf(uint32_t units, double unitGpu, double unitCpu)
{
    SideLoad load;
    load.gpuSlowest = 0.45;
    load.gpuBytes = units * unitGpu;
    load.lineCpu = units * unitCpu;
    load.headGpu = batchTime(0.45, unitGpu);
    load.headCpu = unitCpu;
    load.interval = 16;
    load.budget = load.capacity = kNoLimit;
    load.threads = 4;
    return load;
}

SideLoad loneTile() { return lineOf(1, 0.003, 0.15); }
SideLoad bulk() { return lineOf(200, 0.05, 2); }

} // namespace

TEST_CASE("side policy: a lone tile goes to a thread, a line that is longer than that to the GPU")
{
    SideChoice choice = chooseSide(loneTile());
    CHECK(choice.cpu);
    CHECK(!choice.gpu);
    CHECK(choice.cpuReason == SLUICE_STREAM_CPU_SOONER);
    choice = chooseSide(bulk());
    CHECK(!choice.cpu);
    CHECK(choice.gpu);
    CHECK(choice.gpuReason == SLUICE_STREAM_GPU);
    // A device without such a floor is sooner for one tile, too.
    SideLoad load = loneTile();
    load.gpuSlowest = 0.05;
    CHECK(!chooseSide(load).cpu);
}

TEST_CASE("side policy: while pipelines are missing, only threads decode")
{
    for (SideLoad load : {loneTile(), bulk()}) {
        load.hasPipelines = false;
        load.sinceProgress = 1000;
        const SideChoice choice = chooseSide(load);
        CHECK(choice.cpu);
        CHECK(!choice.gpu);
        CHECK(choice.cpuReason == SLUICE_STREAM_CPU_PIPELINES);
    }
}

TEST_CASE("side policy: the GPU first leaves threads what has no pipelines, and nothing else")
{
    SideLoad load = loneTile();
    load.isGpuFirst = true;
    CHECK(!chooseSide(load).cpu);
    load = bulk();
    load.isGpuFirst = true;
    load.budget = load.capacity = 1;
    load.isRefused = true;
    CHECK(!chooseSide(load).cpu);
    load.hasPipelines = false;
    CHECK(chooseSide(load).cpu);
    CHECK(!chooseSide(load).gpu);
}

TEST_CASE("side policy: where the CPU may not decode, the GPU does everything")
{
    for (SideLoad load : {loneTile(), bulk()}) {
        load.threads = 0;
        load.isRefused = true;
        load.hasPipelines = false;
        CHECK(!chooseSide(load).cpu);
        CHECK(chooseSide(load).gpu);
    }
}

TEST_CASE("side policy: what a frame's budget leaves over goes to threads, too")
{
    SideLoad load = bulk(); // 10 ms of the GPU
    load.budget = load.capacity = 1;
    SideChoice choice = chooseSide(load);
    CHECK(choice.cpu);
    CHECK(choice.gpu);
    CHECK(choice.cpuReason == SLUICE_STREAM_CPU_BUDGET);
    // All fits into one batch.
    load.capacity = 20;
    CHECK(!chooseSide(load).cpu);
    // A unit takes a thread longer than its turn would take to come.
    load.capacity = 1;
    load.headCpu = 9 * load.interval + 1;
    load.lineCpu = 20 * load.headCpu;
    CHECK(chooseSide(load).cpu);
    // Threads would do so little of the line that they had better read.
    load.lineCpu = 200 * load.headCpu;
    CHECK(!chooseSide(load).cpu);
    load.lineCpu = 20 * load.headCpu;
    load.headCpu = 10 * load.interval + 1;
    CHECK(!chooseSide(load).cpu);
}

TEST_CASE("side policy: a batch that cannot keep the budget is left to threads")
{
    SideLoad load = lineOf(4, 0.003, 8);
    load.budget = load.capacity = 0.3;
    SideChoice choice = chooseSide(load);
    CHECK(choice.cpu);
    CHECK(!choice.gpu);
    CHECK(choice.cpuReason == SLUICE_STREAM_CPU_BUDGET);
    // A paused GPU takes nothing, whatever it is.
    load = bulk();
    load.budget = load.capacity = 0;
    CHECK(chooseSide(load).cpu);
}

TEST_CASE("side policy: threads help a GPU that is behind, and it goes on meanwhile")
{
    SideLoad load = bulk();
    load.ahead = 40; // more than an interval
    SideChoice choice = chooseSide(load);
    CHECK(choice.cpu);
    CHECK(choice.gpu);
    CHECK(choice.cpuReason == SLUICE_STREAM_CPU_BEHIND);
    // The batches of some frames in flight are no backlog.
    load.ahead = 3;
    CHECK(!chooseSide(load).cpu);
    load.isRefused = true;
    CHECK(chooseSide(load).cpu);
    // The GPU is through before a thread is.
    load.headCpu = 20;
    CHECK(!chooseSide(load).cpu);
}

TEST_CASE("side policy: when the CPU is busy, the GPU decodes")
{
    SideLoad load = loneTile();
    load.cpuAhead = 100;
    SideChoice choice = chooseSide(load);
    CHECK(!choice.cpu);
    CHECK(choice.gpu);
    CHECK(choice.gpuReason == SLUICE_STREAM_GPU_CPU_BUSY);
    load.cpuAhead = 0.2;
    CHECK(chooseSide(load).cpu);
    // Threads that do not come are busy, whatever was predicted: for at most three frames.
    load.cpuAhead = 0;
    load.sinceProgress = 1.9 * load.interval;
    CHECK(!chooseSide(load).gpu);
    load.sinceProgress = 3 * load.interval;
    choice = chooseSide(load);
    CHECK(choice.gpu);
    CHECK(choice.gpuReason == SLUICE_STREAM_GPU_CPU_BUSY);
    load = bulk();
    load.budget = 0.3;
    CHECK(!chooseSide(load).gpu);
    load.sinceProgress = 3 * load.interval;
    CHECK(chooseSide(load).gpu);
}

TEST_CASE("side policy: a side that has not been measured for long is tried")
{
    SideLoad load = loneTile();
    load.isGpuStale = true;
    SideChoice choice = chooseSide(load);
    CHECK(choice.cpu);
    CHECK(choice.gpu);
    CHECK(choice.gpuReason == SLUICE_STREAM_GPU_TRIED);
    load = bulk();
    load.isCpuStale = true;
    choice = chooseSide(load);
    CHECK(choice.cpu);
    CHECK(choice.gpu);
    CHECK(choice.cpuReason == SLUICE_STREAM_CPU_TRIED);
    // Nothing is tried with the only unit that waits, nor without pipelines.
    load = lineOf(1, 0.05, 2);
    load.isCpuStale = load.isGpuStale = true;
    CHECK(!chooseSide(load).cpu);
    load.hasPipelines = false;
    CHECK(!chooseSide(load).gpu);
}

namespace {

// Both sides work on units that come all the time, as the policy says, in steps of 0.1 ms. Threads
// are as fast as `bulk` says.
class MadeUpMachine {
public:
    double gpuSpeed = 1; // 0: another process has it
    double cpuSpeed = 1;
    double budget = 1; // of a frame

    // Runs so many frames. Returns the units of each side.
    void run(uint32_t frames)
    {
        gpuUnits = cpuUnits = 0;
        for (uint32_t i = 0; i < frames; ++i)
            frame();
    }
    uint32_t gpuUnits = 0, cpuUnits = 0;

private:
    static constexpr double kInterval = 16, kStep = 0.1, kUnitGpu = 0.05, kUnitCpu = 2;
    static constexpr uint32_t kLine = 200, kThreads = 4;

    // The line is filled up all the time. Costs are known, as models that have learnt know them.
    SideLoad load() const
    {
        SideLoad load = lineOf(kLine, kUnitGpu / gpuSpeed, kUnitCpu / cpuSpeed);
        load.gpuSlowest = 0.45 / gpuSpeed;
        load.headGpu = batchTime(load.gpuSlowest, kUnitGpu / gpuSpeed);
        load.budget = budget;
        load.capacity = budget;
        load.interval = kInterval;
        for (const double left : m_threads)
            load.cpuAhead += left;
        return load;
    }
    void frame()
    {
        if (chooseSide(load()).gpu) {
            const double slowest = 0.45 / gpuSpeed, unit = kUnitGpu / gpuSpeed;
            uint32_t units = 1;
            while (units < kLine && batchTime(slowest, (units + 1) * unit) <= budget)
                ++units;
            gpuUnits += units;
        }
        for (double time = 0; time < kInterval; time += kStep) {
            for (double& left : m_threads) {
                left = std::max(left - kStep, 0.0);
                if (left > 0 || !chooseSide(load()).cpu) continue;
                left = kUnitCpu / cpuSpeed;
                ++cpuUnits;
            }
        }
    }

    double m_threads[kThreads] = {};
};

} // namespace

TEST_CASE("side policy: units change sides within four frames when the load changes")
{
    MadeUpMachine machine;
    machine.budget = kNoLimit;
    machine.run(10);
    CHECK(machine.gpuUnits == 2000);
    CHECK(machine.cpuUnits == 0);
    // The GPU has a millisecond of each frame left.
    machine.budget = 1;
    machine.run(4);
    CHECK(machine.gpuUnits > 40);
    CHECK(machine.cpuUnits > 4 * 4 * 6);
    // Another process takes the GPU, so that no batch would keep to the budget.
    machine.gpuSpeed = 0.02;
    machine.run(4);
    CHECK(machine.gpuUnits == 0);
    CHECK(machine.cpuUnits > 4 * 4 * 6);
    machine.gpuSpeed = 1;
    machine.run(4);
    CHECK(machine.gpuUnits > 40);
    // Other threads take the CPU.
    machine.cpuSpeed = 0.001;
    machine.run(4);
    CHECK(machine.gpuUnits > 40);
    CHECK(machine.cpuUnits <= 4);
}

namespace {

CpuInputs tilesOf(CpuCodec codec, bool isFiltered, uint32_t count)
{
    CpuInputs inputs;
    for (uint32_t i = 0; i < count; ++i)
        inputs.addTile(codec, 65536, isFiltered);
    return inputs;
}

// Learns from a unit of this codec that takes so many milliseconds a tile. Returns the error of the
// prediction in relation to the truth, made before it was learnt.
double learnOne(CpuCostModel& model, CpuCodec codec, double tile, double disturbance = 1)
{
    const CpuInputs inputs = tilesOf(codec, false, 4);
    CpuSums times;
    times.of[codec][0] = 4 * tile * disturbance;
    const double error = std::abs(model.predict(inputs) - 4 * tile) / (4 * tile);
    model.learn(inputs, times);
    return error;
}

} // namespace

TEST_CASE("cpu cost model: whatever came before, few units that agree are enough")
{
    for (const double tile : {0.01, 0.15, 30.0}) {
        CAPTURE(tile);
        CpuCostModel model;
        learnOne(model, kCpuGstd, tile);
        CHECK(learnOne(model, kCpuGstd, tile) < 1e-6); // the first unit is believed
        for (uint32_t i = 0; i < 1000; ++i)
            CHECK(learnOne(model, kCpuGstd, tile, i % 100 == 50 ? 100 : 1) < 1e-6);
        // A clock that falls to a sixth, and returns; a debugger.
        for (const double disturbance : {6.0, 1e6, 1.0}) {
            for (uint32_t i = 0; i < 40; ++i)
                learnOne(model, kCpuGstd, tile, disturbance);
            for (uint32_t i = 0; i < 8; ++i)
                learnOne(model, kCpuGstd, tile);
            CHECK(learnOne(model, kCpuGstd, tile) < 1e-6);
        }
    }
}

TEST_CASE("cpu cost model: codecs and filters are learnt apart, and nonsense is not learnt")
{
    CpuCostModel model;
    const double before = model.predict(tilesOf(kCpuGdeflate, true, 1));
    learnOne(model, kCpuGstd, 100);
    CHECK(model.predict(tilesOf(kCpuGdeflate, true, 1)) == before);
    CHECK(model.predict(tilesOf(kCpuGstd, true, 1)) < 1);
    CHECK(model.predict(tilesOf(kCpuGstd, false, 1)) == doctest::Approx(100));
    CHECK(model.predict(CpuInputs()) == 0);
    for (const double time : {0.0, -1.0, double(NAN), double(INFINITY)})
        for (uint32_t i = 0; i < 20; ++i)
            learnOne(model, kCpuGstd, 100, time);
    CHECK(model.predict(tilesOf(kCpuGstd, false, 1)) == doctest::Approx(100));
}
