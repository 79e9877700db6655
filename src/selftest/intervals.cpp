// SPDX-License-Identifier: MIT OR Apache-2.0
// The cases for expansion, moves and search of intervals, and for bulk operations.
#include <sluice/sluice_interval.h>

#include "selftest/cases.h"

#include <numeric>

namespace sluice::selftest {

namespace {

// Makes lengths of intervals: about a third are 0, most others are below 12, and one in 64 is any
// length below `longest`.
Words mixedCounts(uint32_t count, uint32_t longest)
{
    Random random(count);
    Words counts(count);
    for (uint32_t& one : counts) {
        const uint32_t kind = random.below(64);
        one = kind < 20 ? 0 : kind == 63 ? random.below(longest) : random.below(12);
    }
    return counts;
}

// Makes a list of lengths, long enough that their prefix sums take more than 8 KiB of scratch: a
// kernel that does only the start of a list then gives wrong results. Most of the lengths are
// 0, which keeps the output small.
Words manyCounts()
{
    Random random(3);
    Words counts(300000);
    for (uint32_t& one : counts)
        one = random.below(16) == 0 ? random.below(4) : 0;
    return counts;
}

// Makes the lengths of one long interval among empty ones.
Words loneCount()
{
    Words counts(500, 0);
    counts[300] = 30000;
    return counts;
}

uint32_t sumOf(const Words& counts) { return std::accumulate(counts.begin(), counts.end(), 0u); }

// Uploads a list of intervals with these lengths, in the form of counts or of offsets.
SluiceIntervals intervals(CaseBuffers& on, const Words& counts, bool offsets)
{
    SluiceIntervals list = {};
    list.maxCount = uint32_t(counts.size());
    if (!offsets) {
        list.counts = on.input(counts);
        return list;
    }
    Words starts(1, 0);
    for (const uint32_t count : counts)
        starts.push_back(starts.back() + count);
    list.offsets = on.input(starts);
    return list;
}

// Gives a command on intervals its scratch.
template <typename Info>
void addScratch(CaseBuffers& on, Info& info)
{
    SluiceRequirements need = {};
    if (on.status == SLUICE_OK)
        on.status = sluiceGetIntervalRequirements(on.context(), &info.intervals, &need);
    if (on.status == SLUICE_OK) info.scratch = on.scratch(need);
}

// Expands values to intervals. dropped: the destination is this many elements too small. If it is
// not 0, the list's count also leaves out the last three intervals.
void expand(CaseBuffers& on, const Words& counts, uint32_t elementSize, bool offsets,
            uint32_t dropped)
{
    SluiceIntervalExpandInfo info = {};
    info.elementSize = elementSize;
    info.intervals = intervals(on, counts, offsets);
    if (dropped != 0) info.intervals.count = on.input(Words{info.intervals.maxCount - 3});
    info.values = on.guarded(Random(elementSize).bytes(counts.size() * elementSize));
    info.destination = on.output(uint64_t(sumOf(counts) - dropped) * elementSize);
    info.result = on.output(8);
    addScratch(on, info);
    on.run(sluiceCmdIntervalExpand, info);
    on.take(info.destination);
    on.take(info.result);
}

} // namespace

template <>
void SelfTestCases::test<SelfTestCase::interval_expand>(CaseBuffers& on)
{
    const Words mixed = mixedCounts(3001, 2000);
    for (const uint32_t elementSize : {1u, 2u, 3u, 4u, 8u, 12u, 16u, 20u}) {
        expand(on, mixed, elementSize, false, 0);
        expand(on, mixed, elementSize, true, elementSize == 4 ? 1000 : 0);
    }
    expand(on, mixed, 4, false, 1000);
    expand(on, loneCount(), 4, false, 0);
    expand(on, loneCount(), 3, true, 0);
    expand(on, manyCounts(), 4, false, 0);
    expand(on, manyCounts(), 1, false, 0);

    // The sum of the counts exceeds 32 bits.
    SluiceIntervalExpandInfo info = {};
    info.elementSize = 4;
    info.intervals = intervals(on, {5, 0xffffff00u, 1000, 7}, false);
    info.values = on.input(Words{1, 2, 3, 4});
    info.destination = on.output(40000);
    info.result = on.output(8);
    addScratch(on, info);
    on.run(sluiceCmdIntervalExpand, info);
    on.take(info.destination);
    on.take(info.result);
}

namespace {

// Moves intervals that lie in reverse order in the source, and in order in the destination, with
// gaps in both. Every 50th interval lies outside its buffer.
//   wide     positions have 64 bits
//   offsets  the list has offsets instead of counts
void move(CaseBuffers& on, const Words& counts, SluiceIntervalMoveKind kind, uint32_t elementSize,
          bool wide, bool offsets)
{
    const uint32_t total = sumOf(counts), all = total + 2 * uint32_t(counts.size());
    Words gather, scatter;
    uint32_t from = all, to = 0;
    for (uint32_t i = 0; i < counts.size(); ++i) {
        from -= counts[i] + 1;
        const bool outside = i % 50 == 49;
        gather.push_back(outside ? all - counts[i] + 1 : from);
        scatter.push_back(outside ? all + i : to + 1);
        if (wide) {
            gather.push_back(i % 100 == 99 ? 1 : 0);
            scatter.push_back(0);
        }
        to += counts[i] + 1;
    }
    SluiceIntervalMoveInfo info = {};
    info.kind = kind;
    info.elementSize = elementSize;
    info.positionSize = wide ? 8 : 4;
    info.intervals = intervals(on, counts, offsets);
    if (kind != SLUICE_INTERVAL_SCATTER) info.gather = on.input(gather);
    if (kind != SLUICE_INTERVAL_GATHER) info.scatter = on.input(scatter);
    // Source and destination are misaligned.
    info.source = on.guarded(Random(elementSize).bytes(size_t(all) * elementSize), 5);
    const uint32_t room = kind == SLUICE_INTERVAL_GATHER ? total - 11 : all;
    info.destination = on.output(uint64_t(room) * elementSize, elementSize == 4 ? 4 : 3);
    info.result = on.output(8);
    addScratch(on, info);
    on.run(sluiceCmdIntervalMove, info);
    on.take(info.destination);
    on.take(info.result);
}

// Inserts or removes items at many indices.
void bulk(CaseBuffers& on, bool inserts, uint32_t elementSize)
{
    constexpr uint32_t items = 20011;
    Random random(elementSize);
    Words indices; // ascending; for an insert, some occur 20 times
    for (uint32_t i = 0; i < items; ++i) {
        const bool dense = i / 2000 % 2 != 0;
        if (random.below(dense ? 3 : 100) == 0)
            indices.insert(indices.end(), inserts && i % 7 == 0 ? 20 : 1, i);
    }
    if (inserts) indices.push_back(items);
    const auto count = uint32_t(indices.size());
    SluiceBulkInfo info = {};
    info.elementSize = elementSize;
    info.maxItemCount = items;
    info.maxIndexCount = count;
    if (elementSize == 4) {
        info.itemCount = on.input(Words{items - 50});
        info.indexCount = on.input(Words{count - 60});
    }
    info.indices = on.input(indices);
    info.source = on.guarded(random.bytes(items * elementSize), 1);
    if (inserts) info.inserted = on.guarded(random.bytes(count * elementSize), 2);
    const uint32_t left = inserts ? items + count : items - count;
    info.destination = on.output(uint64_t(left - (elementSize == 3 ? 9 : 0)) * elementSize, 3);
    info.result = on.output(8);
    on.run(inserts ? sluiceCmdBulkInsert : sluiceCmdBulkRemove, info);
    on.take(info.destination);
    on.take(info.result);
}

// Searches the interval of each element. sources, ranks: whether the command writes the output of
// this name.
void search(CaseBuffers& on, const Words& counts, bool offsets, bool sources, bool ranks)
{
    SluiceIntervalSearchInfo info = {};
    info.intervals = intervals(on, counts, offsets);
    const uint64_t size = uint64_t(sumOf(counts)) * 4;
    if (sources) info.sources = on.output(size);
    if (ranks) info.ranks = on.output(sources ? size - 4000 : size);
    info.result = on.output(8);
    addScratch(on, info);
    on.run(sluiceCmdIntervalSearch, info);
    on.take(info.sources);
    on.take(info.ranks);
    on.take(info.result);
}

} // namespace

template <>
void SelfTestCases::test<SelfTestCase::interval_move>(CaseBuffers& on)
{
    Random random(5);
    const Words runs = mixedCounts(1201, 1500);
    Words longRuns(40);
    for (uint32_t& count : longRuns)
        count = random.below(4) == 0 ? random.below(20) : 1000 + random.below(4000);
    for (const uint32_t elementSize : {1u, 3u, 4u, 16u}) {
        const bool wide = elementSize % 2 == 0;
        for (const SluiceIntervalMoveKind kind :
             {SLUICE_INTERVAL_MOVE, SLUICE_INTERVAL_GATHER, SLUICE_INTERVAL_SCATTER}) {
            move(on, runs, kind, elementSize, wide, kind == SLUICE_INTERVAL_MOVE);
            move(on, longRuns, kind, elementSize, !wide, kind == SLUICE_INTERVAL_SCATTER);
        }
    }
    test<SelfTestCase::interval_bulk>(on);
}

template <>
void SelfTestCases::test<SelfTestCase::interval_bulk>(CaseBuffers& on)
{
    for (const uint32_t elementSize : {1u, 3u, 4u, 16u}) {
        bulk(on, false, elementSize);
        bulk(on, true, elementSize);
    }
}

template <>
void SelfTestCases::test<SelfTestCase::interval_search>(CaseBuffers& on)
{
    const Words mixed = mixedCounts(3001, 2000);
    search(on, mixed, false, true, true);
    search(on, mixed, true, true, false);
    search(on, mixed, false, false, true);
    search(on, loneCount(), false, true, true);
    search(on, manyCounts(), false, true, true);
}

} // namespace sluice::selftest
