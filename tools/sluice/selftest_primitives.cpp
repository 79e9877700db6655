// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_compact.h>
#include <sluice/sluice_df11.h>
#include <sluice/sluice_interval.h>
#include <sluice/sluice_scan.h>

#include <algorithm>

#include "df11_units.h"
#include "selftest.h"

namespace sluice {
namespace {

constexpr uint32_t kElements = 100003; // fills some workgroups, and a part of one

// Lengths of all kinds: many empty, most small, some of thousands.
Words madeUpCounts(uint32_t count)
{
    Random random;
    Words counts(count);
    for (uint32_t& one : counts) {
        const uint32_t kind = random.next() % 64;
        one = kind < 20 ? 0 : kind == 63 ? random.next() % 3000 : random.next() % 12;
    }
    return counts;
}

size_t wholeWords(size_t size) { return (size + 3) / 4 * 4; }

bool testScanOf(const ToolDevice& device, SluiceScanKind kind)
{
    const Words input = madeUp<uint32_t>(kElements);
    Words expected;
    uint32_t sum = 0;
    for (const uint32_t value : input) {
        expected.push_back(kind == SLUICE_SCAN_EXCLUSIVE ? sum : sum + value);
        sum += value;
    }
    Run run(device);
    SluiceScanInfo info = {};
    info.kind = kind;
    info.maxCount = kElements;
    info.input = run.input(input);
    info.output = run.output(kElements * 4);
    info.total = run.output(4);
    info.scratch = run.scratch(sluiceGetScanRequirements, info);
    run.command(sluiceCmdScan, info);
    return run.holds(info.output, expected) && run.holds(info.total, Words{sum});
}

bool testExpandAndSearch(const ToolDevice& device, const Words& counts, bool offsets)
{
    Words sources, ranks, starts(1, 0), expanded;
    const Words values = madeUp<uint32_t>(counts.size());
    for (uint32_t i = 0; i < counts.size(); ++i) {
        for (uint32_t rank = 0; rank < counts[i]; ++rank) {
            sources.push_back(i);
            ranks.push_back(rank);
            expanded.push_back(values[i]);
        }
        starts.push_back(uint32_t(sources.size()));
    }
    const Words result = {uint32_t(sources.size()), 0};

    Run run(device);
    SluiceIntervals intervals = {};
    intervals.maxCount = uint32_t(counts.size());
    (offsets ? intervals.offsets : intervals.counts) = run.input(offsets ? starts : counts);
    SluiceIntervalExpandInfo expand = {};
    expand.elementSize = 4;
    expand.intervals = intervals;
    expand.values = run.input(values);
    expand.destination = run.output(expanded.size() * 4);
    expand.result = run.output(8);
    expand.scratch = run.scratch(sluiceGetIntervalRequirements, intervals);
    run.command(sluiceCmdIntervalExpand, expand);
    SluiceIntervalSearchInfo search = {};
    search.intervals = intervals;
    search.sources = run.output(sources.size() * 4);
    search.ranks = run.output(sources.size() * 4);
    search.result = run.output(8);
    search.scratch = run.scratch(sluiceGetIntervalRequirements, intervals);
    run.command(sluiceCmdIntervalSearch, search);
    return run.holds(expand.destination, expanded) && run.holds(expand.result, result) &&
           run.holds(search.sources, sources) && run.holds(search.ranks, ranks) &&
           run.holds(search.result, result);
}

bool testMove(const ToolDevice& device, const Words& counts, SluiceIntervalMoveKind kind,
              uint32_t elementSize)
{
    // The source's intervals are in reverse order, the destination's in order, each with a gap
    // before it.
    size_t total = 0;
    for (const uint32_t count : counts)
        total += count;
    Words gather, scatter;
    uint32_t in = uint32_t(total + counts.size()), out = 0;
    for (const uint32_t count : counts) {
        in -= count + 1;
        gather.push_back(in + 1);
        scatter.push_back(out + 1);
        out += count + 1;
    }
    const size_t size = wholeWords((total + counts.size()) * elementSize);
    const Bytes source = madeUp<uint8_t>(size);
    Bytes expected(size, kPoison);
    uint32_t place = 0;
    for (uint32_t i = 0; i < counts.size(); place += counts[i++]) {
        const uint32_t from = kind == SLUICE_INTERVAL_SCATTER ? place : gather[i];
        const uint32_t to = kind == SLUICE_INTERVAL_GATHER ? place : scatter[i];
        std::copy_n(source.begin() + std::ptrdiff_t(from) * elementSize,
                    size_t(counts[i]) * elementSize,
                    expected.begin() + std::ptrdiff_t(to) * elementSize);
    }
    Run run(device);
    SluiceIntervalMoveInfo move = {};
    move.kind = kind;
    move.elementSize = elementSize;
    move.positionSize = 4;
    move.intervals.maxCount = uint32_t(counts.size());
    move.intervals.counts = run.input(counts);
    if (kind != SLUICE_INTERVAL_SCATTER) move.gather = run.input(gather);
    if (kind != SLUICE_INTERVAL_GATHER) move.scatter = run.input(scatter);
    move.source = run.input(source);
    move.destination = run.output(size);
    move.result = run.output(8);
    move.scratch = run.scratch(sluiceGetIntervalRequirements, move.intervals);
    run.command(sluiceCmdIntervalMove, move);
    return run.holds(move.destination, expected) &&
           run.holds(move.result, Words{uint32_t(total), 0});
}

// Elements of a unit whose exponents are few.
Bytes madeUpElements(SluiceDf11Kind kind, uint32_t count)
{
    Random random;
    Bytes elements;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bits = random.next(), near = std::min(random.next() % 8, random.next() % 16);
        const uint32_t value = kind == SLUICE_DF11_BF16
                                   ? (bits & 1) << 15 | (120 - near) << 7 | (bits >> 1 & 127)
                                   : (bits & 1) << 7 | (9 - near) << 3 | (bits >> 1 & 7);
        for (uint32_t byte = 0; byte < elementBytes(kind); ++byte)
            elements.push_back(uint8_t(value >> 8 * byte));
    }
    return elements;
}

// damaged: one gap of the second block, which contradicts the window before it.
bool testDf11Kind(const ToolDevice& device, SluiceDf11Kind kind, bool damaged)
{
    constexpr uint32_t count = 40002;
    const Bytes elements = madeUpElements(kind, count);
    Bytes source;
    SluiceDf11Unit unit = {};
    if (packDf11Unit(kind, elements.data(), count, 1, source, unit) == 0) return false;
    const uint32_t blocks = blocksOf(unit);
    if (blocks < 3) return false;
    const uint32_t blockGaps = kind == SLUICE_DF11_BF16 ? 320 : 256; // bytes
    if (damaged) source[unit.gapsOffset + blockGaps + 100] ^= 0x10;

    Run run(device);
    SluiceDf11Info info = {};
    info.maxUnitCount = 1;
    info.maxBlockCount = blocks;
    info.units = run.input(std::vector<SluiceDf11Unit>{unit});
    info.source = run.input(source);
    info.destination = run.output(wholeWords(elements.size()));
    info.status = run.output((uint64_t(blocks) + 2) * 4);
    info.scratch = run.scratch(sluiceGetDf11Requirements, info);
    run.command(sluiceCmdDf11, info);
    const Words statuses = run.values(info.status);
    const Bytes decoded = run.values<uint8_t>(info.destination);
    if (damaged)
        return statuses[blocks] == 1 && statuses[blocks + 1] == 1 &&
               statuses[1] == SLUICE_TILE_BAD_INDEX;
    return statuses[blocks] == 0 && std::equal(elements.begin(), elements.end(), decoded.begin());
}

} // namespace

bool testScan(const ToolDevice& device)
{
    const bool exclusive = testScanOf(device, SLUICE_SCAN_EXCLUSIVE);
    return testScanOf(device, SLUICE_SCAN_INCLUSIVE) && exclusive;
}

bool testCompact(const ToolDevice& device)
{
    Words input = madeUp<uint32_t>(kElements), expected;
    for (uint32_t& word : input) {
        word = word >> 30 == 0 ? 0 : word; // about a quarter are dropped
        if (word != 0) expected.push_back(word);
    }
    Run run(device);
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_NON_ZERO;
    info.elementSize = 4;
    info.maxCount = kElements;
    info.input = run.input(input);
    info.output = run.output(kElements * 4);
    info.resultCount = run.output(4);
    info.scratch = run.scratch(sluiceGetCompactRequirements, info);
    run.command(sluiceCmdCompact, info);
    Words output = run.values(info.output);
    output.resize(expected.size());
    return output == expected && run.holds(info.resultCount, Words{uint32_t(expected.size())});
}

bool testReduce(const ToolDevice& device)
{
    const Words values = madeUp<uint32_t>(kElements);
    Run run(device);
    SluiceReduceInfo info = {};
    info.maxCount = kElements;
    info.input = run.input(values);
    bool right = true;
    for (const SluiceOperation operation :
         {SLUICE_OPERATION_SUM, SLUICE_OPERATION_MIN, SLUICE_OPERATION_MAX}) {
        uint32_t expected = values[0];
        for (uint32_t i = 1; i < kElements; ++i)
            expected = operation == SLUICE_OPERATION_SUM   ? expected + values[i]
                       : operation == SLUICE_OPERATION_MIN ? std::min(expected, values[i])
                                                           : std::max(expected, values[i]);
        info.operation = operation;
        info.type = SLUICE_VALUE_U32;
        info.result = run.output(4);
        info.scratch = run.scratch(sluiceGetReduceRequirements, info);
        run.command(sluiceCmdReduce, info);
        right = right && run.holds(info.result, Words{expected});
    }
    return right;
}

bool testIntervals(const ToolDevice& device)
{
    const Words counts = madeUpCounts(3001);
    bool right = testExpandAndSearch(device, counts, false);
    right = testExpandAndSearch(device, counts, true) && right;
    for (const SluiceIntervalMoveKind kind :
         {SLUICE_INTERVAL_MOVE, SLUICE_INTERVAL_GATHER, SLUICE_INTERVAL_SCATTER}) {
        for (const uint32_t elementSize : {1u, 3u, 4u, 16u})
            right = testMove(device, counts, kind, elementSize) && right;
    }
    return right;
}

bool testBulk(const ToolDevice& device)
{
    constexpr uint32_t count = 20011, elementSize = 3;
    Random random;
    const Bytes items = madeUp<uint8_t>(wholeWords(count * elementSize));
    const Bytes inserted(items.rbegin(), items.rend());
    Words indices; // ascending; for the insert some occur twice
    for (uint32_t i = 0; i < count; ++i) {
        if (random.next() % 5 == 0) indices.push_back(i);
    }
    const auto append = [&](Bytes& to, const Bytes& from, uint32_t item) {
        to.insert(to.end(), from.begin() + item * elementSize,
                  from.begin() + (item + 1) * elementSize);
    };
    bool right = true;
    for (const bool inserts : {false, true}) {
        if (inserts) indices.insert(indices.begin() + 100, 50, indices[100]);
        Bytes expected;
        uint32_t next = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t first = next;
            for (; next < indices.size() && indices[next] == i; ++next) {
                if (inserts) append(expected, inserted, next);
            }
            if (inserts || next == first) append(expected, items, i);
        }
        const uint32_t left = uint32_t(expected.size()) / elementSize;
        expected.resize(wholeWords(expected.size()) + 8, kPoison);

        Run run(device);
        SluiceBulkInfo info = {};
        info.elementSize = elementSize;
        info.maxItemCount = count;
        info.maxIndexCount = uint32_t(indices.size());
        info.indices = run.input(indices);
        info.source = run.input(items);
        if (inserts) info.inserted = run.input(inserted);
        info.destination = run.output(expected.size());
        info.result = run.output(8);
        run.command(inserts ? sluiceCmdBulkInsert : sluiceCmdBulkRemove, info);
        right = right && run.holds(info.destination, expected) &&
                run.holds(info.result, Words{left, 0});
    }
    return right;
}

bool testDf11(const ToolDevice& device)
{
    bool right = true;
    for (const SluiceDf11Kind kind : {SLUICE_DF11_BF16, SLUICE_DF11_FP8_E4M3}) {
        right = testDf11Kind(device, kind, false) && right;
        right = testDf11Kind(device, kind, true) && right;
    }
    return right;
}

} // namespace sluice
