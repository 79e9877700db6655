// SPDX-License-Identifier: MIT OR Apache-2.0
// Arguments of the interval and weight commands: each bad one gives the error that the headers
// name, and nothing is written.
#include "tests/support/arguments.h"

#include <sluice/sluice_float.h>
#include <sluice/sluice_interval.h>

using namespace sluice::test;

namespace {

// Each command must refuse a missing context, missing arguments and an invalid command buffer.
template <typename Info>
void checkHandles(const Cpu& cpu, const Info& info,
                  SluiceStatus (*command)(SluiceContext, SluiceCommands, const Info*))
{
    CHECK(command(nullptr, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(command(cpu.context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(command(cpu.context, someCommands(), &info) == SLUICE_ERROR_ARGUMENT);
}

// Tests lists of three intervals, given by counts and by offsets. `call` calls the command.
template <typename Call>
void checkIntervals(Cpu& cpu, SluiceIntervals& intervals, Call call)
{
    const SluiceIntervals good = intervals;
    intervals.count = cpu.range(0, 4);
    checkBuffer(intervals.count, 4, 4, true, call);
    intervals.count = {};
    checkBuffer(intervals.counts, 12, 4, true, call);
    intervals.counts = {}; // neither
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    intervals.offsets = cpu.range(16, 16);
    checkBuffer(intervals.offsets, 16, 4, true, call);
    intervals.counts = good.counts; // both
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    intervals.maxCount = 0;
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    intervals = good;
    intervals.maxCount = 0; // none, of a list that is there
    CHECK(call() == SLUICE_OK);
    intervals.maxCount = 4;
    CHECK(call() == SLUICE_ERROR_BUFFER_SIZE);
    intervals.maxCount = ~0u;
    CHECK(call() == SLUICE_ERROR_BUFFER_SIZE);
    intervals = good;
}

SluiceIntervals threeIntervals(Cpu& cpu)
{
    SluiceIntervals intervals = {};
    intervals.maxCount = 3;
    intervals.counts = cpu.range(16, 12);
    return intervals;
}

// Returns as much scratch as the intervals need, from byte 256 of the memory on.
SluiceBuffer scratchOf(Cpu& cpu, const SluiceIntervals& intervals)
{
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetIntervalRequirements(cpu.context, &intervals, &requirements) == SLUICE_OK);
    REQUIRE(requirements.scratchSize <= 512);
    return cpu.range(256, requirements.scratchSize);
}

void checkBulk(Cpu& cpu,
               SluiceStatus (*command)(SluiceContext, SluiceCommands, const SluiceBulkInfo*),
               bool inserts)
{
    SluiceBulkInfo info = {};
    info.elementSize = 3;
    info.maxItemCount = 5;
    info.maxIndexCount = 2;
    info.itemCount = cpu.range(0, 4);
    info.indexCount = cpu.range(8, 4);
    info.indices = cpu.range(16, 8);
    info.source = cpu.range(64, 15);
    info.inserted = cpu.range(128, 6);
    info.destination = cpu.range(192, 21);
    info.result = cpu.range(256, 8);
    const auto call = [&] { return command(cpu.context, nullptr, &info); };
    checkHandles(cpu, info, command);
    checkBuffer(info.itemCount, 4, 4, true, call);
    checkBuffer(info.indexCount, 4, 4, true, call);
    checkBuffer(info.indices, 8, 4, false, call);
    checkBuffer(info.source, 15, 1, false, call);
    checkBuffer(info.destination, 0, 1, true, call);
    checkBuffer(info.result, 8, 4, true, call);
    if (inserts) checkBuffer(info.inserted, 6, 1, false, call);
    const SluiceBulkInfo good = info;
    const auto with = [&](uint32_t SluiceBulkInfo::*member, uint32_t value) {
        info.*member = value;
        const SluiceStatus status = call();
        info = good;
        return status;
    };
    for (const uint32_t size : {0u, 21u, ~0u})
        CHECK(with(&SluiceBulkInfo::elementSize, size) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceBulkInfo::elementSize, 4) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceBulkInfo::maxItemCount, 6) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceBulkInfo::maxIndexCount, 3) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceBulkInfo::maxIndexCount, ~0u) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceBulkInfo::maxIndexCount, ~0u - 1) == SLUICE_ERROR_BUFFER_SIZE);
    // A bulk insert must end with at most 2^32 - 1 items, or is refused. The counts in memory are
    // 0, so nothing is read.
    info.source.size = info.inserted.size = uint64_t(1) << 40;
    info.indices.size = uint64_t(1) << 40;
    CHECK(with(&SluiceBulkInfo::maxItemCount, ~0u - 1) ==
          (inserts ? SLUICE_ERROR_ARGUMENT : SLUICE_OK));
    info.source.size = 15;
    CHECK(call() == SLUICE_OK);
}

} // namespace

TEST_CASE("interval expand arguments")
{
    Cpu cpu;
    SluiceIntervalExpandInfo info = {};
    info.elementSize = 4;
    info.intervals = threeIntervals(cpu);
    info.values = cpu.range(64, 12);
    info.destination = cpu.range(128, 16);
    info.result = cpu.range(192, 8);
    info.scratch = scratchOf(cpu, info.intervals);
    const auto call = [&] { return sluiceCmdIntervalExpand(cpu.context, nullptr, &info); };
    checkHandles(cpu, info, sluiceCmdIntervalExpand);
    checkIntervals(cpu, info.intervals, call);
    checkBuffer(info.values, 12, 4, false, call);
    checkBuffer(info.destination, 0, 4, true, call);
    checkBuffer(info.result, 8, 4, true, call);
    for (const uint32_t size : {0u, 21u, ~0u}) {
        info.elementSize = size;
        CHECK(call() == SLUICE_ERROR_ARGUMENT);
    }
    info.elementSize = 5; // needs no alignment, but 15 bytes
    CHECK(call() == SLUICE_ERROR_BUFFER_SIZE);
    info.values = cpu.range(65, 15);
    info.destination = cpu.range(129, 16);
    CHECK(call() == SLUICE_OK);
    info.elementSize = 8; // so values and destination must be aligned to 8
    info.values = cpu.range(64, 24);
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.destination = cpu.range(132, 16);
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.destination = cpu.range(136, 16);
    CHECK(call() == SLUICE_OK);
    CHECK(cpu.untouched());
}

TEST_CASE("interval search arguments")
{
    Cpu cpu;
    SluiceIntervalSearchInfo info = {};
    info.intervals = threeIntervals(cpu);
    info.sources = cpu.range(64, 12);
    info.ranks = cpu.range(128, 16);
    info.result = cpu.range(192, 8);
    info.scratch = scratchOf(cpu, info.intervals);
    const auto call = [&] { return sluiceCmdIntervalSearch(cpu.context, nullptr, &info); };
    checkHandles(cpu, info, sluiceCmdIntervalSearch);
    checkIntervals(cpu, info.intervals, call);
    checkBuffer(info.sources, 0, 4, true, call);
    checkBuffer(info.ranks, 0, 4, true, call);
    checkBuffer(info.result, 8, 4, true, call);
    info.sources = {};
    CHECK(call() == SLUICE_OK);
    info.ranks = {};
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.sources = cpu.range(64, 12);
    CHECK(call() == SLUICE_OK);
    CHECK(cpu.untouched());
}

TEST_CASE("interval requirements: arguments")
{
    Cpu cpu;
    SluiceIntervals intervals = threeIntervals(cpu);
    SluiceRequirements requirements = {};
    const auto get = [&] {
        return sluiceGetIntervalRequirements(cpu.context, &intervals, &requirements);
    };
    CHECK(sluiceGetIntervalRequirements(nullptr, &intervals, &requirements) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetIntervalRequirements(cpu.context, nullptr, &requirements) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetIntervalRequirements(cpu.context, &intervals, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(get() == SLUICE_OK);
    intervals.offsets = cpu.range(32, 16);
    CHECK(get() == SLUICE_ERROR_ARGUMENT);
    intervals.counts = {};
    CHECK(get() == SLUICE_OK);
    CHECK(requirements.scratchSize == 0);
    intervals.offsets = {};
    CHECK(get() == SLUICE_ERROR_ARGUMENT);
    intervals.maxCount = 0;
    CHECK(get() == SLUICE_OK);
    intervals.counts = cpu.range(0, 4); // without intervals one list may have a size, but not both
    CHECK(get() == SLUICE_OK);
    intervals.offsets = cpu.range(32, 4);
    CHECK(get() == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("bulk remove and insert arguments")
{
    Cpu cpu;
    checkBulk(cpu, sluiceCmdBulkRemove, false);
    Cpu other;
    checkBulk(other, sluiceCmdBulkInsert, true);
}

TEST_CASE("float decode arguments")
{
    Cpu cpu;
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = 2;
    info.tileCount = 3;
    info.tensors = cpu.range(0, 128); // of no element
    info.source = cpu.range(128, 64);
    info.destination = cpu.range(256, 64);
    info.status = cpu.range(384, 20);
    const auto call = [&] { return sluiceCmdFloatDecode(cpu.context, nullptr, &info); };
    checkHandles(cpu, info, sluiceCmdFloatDecode);
    checkBuffer(info.tensors, 128, 16, false, call);
    checkBuffer(info.source, 0, 16, true, call);
    checkBuffer(info.destination, 0, 1, true, call);
    checkBuffer(info.status, 20, 4, false, call); // two more than tiles
    const SluiceFloatDecodeInfo good = info;
    const auto with = [&](uint32_t SluiceFloatDecodeInfo::*member, uint32_t value) {
        info.*member = value;
        SluiceRequirements requirements = {};
        const SluiceStatus required =
            sluiceGetFloatDecodeRequirements(cpu.context, &info, &requirements);
        const SluiceStatus status = call();
        CHECK((required == SLUICE_ERROR_ARGUMENT) == (status == SLUICE_ERROR_ARGUMENT));
        info = good;
        return status;
    };
    CHECK(with(&SluiceFloatDecodeInfo::tensorCount, 3) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceFloatDecodeInfo::tensorCount, 1u << 20) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceFloatDecodeInfo::tensorCount, (1u << 20) + 1) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceFloatDecodeInfo::tileCount, 4) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceFloatDecodeInfo::tileCount, 0x7fffffff) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceFloatDecodeInfo::tileCount, 0x80000000u) == SLUICE_ERROR_ARGUMENT);
    SluiceRequirements requirements = {};
    CHECK(sluiceGetFloatDecodeRequirements(nullptr, &info, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetFloatDecodeRequirements(cpu.context, nullptr, &requirements) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetFloatDecodeRequirements(cpu.context, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(cpu.untouched());
    CHECK(call() == SLUICE_OK);
}
