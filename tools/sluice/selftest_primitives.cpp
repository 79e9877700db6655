// SPDX-License-Identifier: MIT OR Apache-2.0
#include "selftest_primitives.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <list>

#include <sluice/sluice.h>
#include <sluice/sluice_df11.h>
#include <sluice/sluice_interval.h>
#include <sluice/sluice_scan.h>

#include "../../src/encode/df11_encoder.h"
#include "selftest_random.h"

namespace sluice {
namespace {

using Bytes = std::vector<uint8_t>;
using Words = std::vector<uint32_t>;

constexpr uint8_t poison = 0xA7; // what destinations hold before

// The buffers of a command, and how it is run.
class Run {
public:
    explicit Run(const ToolDevice& device) : device_(device) {}

    template <class T>
    SluiceBuffer input(const std::vector<T>& values)
    {
        return upload(values.data(), values.size() * sizeof(T));
    }
    SluiceBuffer output(uint64_t size)
    {
        const Bytes bytes(size_t(size), poison);
        return upload(bytes.data(), size);
    }
    SluiceBuffer scratch(const SluiceRequirements& requirements)
    {
        const Bytes zeros(size_t(requirements.scratchSize));
        return upload(zeros.data(), zeros.size());
    }
    void command(const std::function<SluiceStatus(SluiceContext, SluiceCommands)>& record)
    {
        SluiceCommands commands = nullptr;
        device_.check(sluiceBegin(device_.handle(), &commands), "commands");
        device_.check(record(device_.context(), commands), "command");
        device_.check(sluiceSubmit(device_.handle(), commands, nullptr), "submit");
    }
    Bytes bytes(SluiceBuffer buffer)
    {
        Bytes result(size_t(buffer.size));
        device_.check(sluiceDownload(device_.handle(), buffer, result.data(), result.size()),
                      "download");
        return result;
    }
    template <class T>
    bool holds(SluiceBuffer buffer, const std::vector<T>& expected)
    {
        const Bytes got = bytes(buffer);
        return got.size() == expected.size() * sizeof(T) &&
               std::memcmp(got.data(), expected.data(), got.size()) == 0;
    }
    const ToolDevice& device() const { return device_; }

private:
    SluiceBuffer upload(const void* bytes, uint64_t size)
    {
        if (size == 0) return {};
        const SluiceBuffer range = buffers_.emplace_back(device_).reserve(size);
        device_.check(sluiceUpload(device_.handle(), range, bytes, size), "upload");
        return range;
    }

    const ToolDevice& device_;
    std::list<DeviceBuffer> buffers_;
};

// Lengths of all kinds: many empty, most small, some of thousands.
Words madeUpCounts(uint32_t count)
{
    Random random(777);
    Words counts(count);
    for (uint32_t& one : counts) {
        const uint32_t kind = random.next() % 64;
        one = kind < 20 ? 0 : kind == 63 ? random.next() % 3000 : random.next() % 12;
    }
    return counts;
}

Bytes madeUpBytes(size_t size)
{
    Random random(777);
    Bytes bytes(size);
    for (uint8_t& byte : bytes)
        byte = uint8_t(random.next());
    return bytes;
}

size_t wholeWords(size_t size) { return (size + 3) / 4 * 4; }

bool testExpandAndSearch(const ToolDevice& device, const Words& counts, bool csr)
{
    Words sources, ranks, starts(1, 0);
    for (uint32_t i = 0; i < counts.size(); ++i) {
        for (uint32_t rank = 0; rank < counts[i]; ++rank) {
            sources.push_back(i);
            ranks.push_back(rank);
        }
        starts.push_back(uint32_t(sources.size()));
    }
    const Words values = [&] {
        Random random(777);
        Words made(counts.size());
        for (uint32_t& value : made)
            value = random.next();
        return made;
    }();
    Words expanded;
    for (const uint32_t source : sources)
        expanded.push_back(values[source]);
    const Words result = {uint32_t(sources.size()), 0};

    Run run(device);
    SluiceIntervals intervals = {};
    intervals.maxCount = uint32_t(counts.size());
    (csr ? intervals.offsets : intervals.counts) = run.input(csr ? starts : counts);
    SluiceRequirements requirements = {};
    device.check(sluiceGetIntervalRequirements(device.context(), &intervals, &requirements),
                 "intervals");

    SluiceIntervalExpandInfo expand = {};
    expand.elementSize = 4;
    expand.intervals = intervals;
    expand.values = run.input(values);
    expand.destination = run.output(expanded.size() * 4);
    expand.result = run.output(8);
    expand.scratch = run.scratch(requirements);
    SluiceIntervalSearchInfo search = {};
    search.intervals = intervals;
    search.sources = run.output(sources.size() * 4);
    search.ranks = run.output(sources.size() * 4);
    search.result = run.output(8);
    search.scratch = run.scratch(requirements);
    run.command([&](SluiceContext context, SluiceCommands commands) {
        const SluiceStatus status = sluiceCmdIntervalExpand(context, commands, &expand);
        return status != SLUICE_OK ? status : sluiceCmdIntervalSearch(context, commands, &search);
    });
    return run.holds(expand.destination, expanded) && run.holds(expand.result, result) &&
           run.holds(search.sources, sources) && run.holds(search.ranks, ranks) &&
           run.holds(search.result, result);
}

bool testMove(const ToolDevice& device, const Words& counts, SluiceIntervalMoveKind kind,
              uint32_t elementSize)
{
    // The source's intervals in reverse order, with a gap before each; so are the destination's, in
    // order.
    size_t total = 0;
    for (const uint32_t count : counts)
        total += count;
    Words gather, scatter;
    uint32_t in = uint32_t(total + counts.size()), out = 0;
    for (uint32_t i = 0; i < counts.size(); ++i) {
        in -= counts[i] + 1;
        gather.push_back(in + 1);
        scatter.push_back(out + 1);
        out += counts[i] + 1;
    }
    const size_t size = wholeWords((total + counts.size()) * elementSize);
    const Bytes source = madeUpBytes(size);
    Bytes expected(size, poison);
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
    SluiceRequirements requirements = {};
    device.check(sluiceGetIntervalRequirements(device.context(), &move.intervals, &requirements),
                 "intervals");
    move.scratch = run.scratch(requirements);
    run.command([&](SluiceContext context, SluiceCommands commands) {
        return sluiceCmdIntervalMove(context, commands, &move);
    });
    return run.holds(move.destination, expected) &&
           run.holds(move.result, Words{uint32_t(total), 0});
}

// Elements of a unit whose exponents are few.
Bytes madeUpElements(SluiceDf11Kind kind, uint32_t count)
{
    Random random(777);
    const uint32_t bytes = kind == SLUICE_DF11_BF16 ? 2 : 1;
    Bytes elements(size_t(count) * bytes);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bits = random.next(), near = std::min(random.next() % 8, random.next() % 16);
        const uint32_t value = kind == SLUICE_DF11_BF16
                                   ? (bits & 1) << 15 | (120 - near) << 7 | (bits >> 1 & 127)
                                   : (bits & 1) << 7 | (9 - near) << 3 | (bits >> 1 & 7);
        for (uint32_t b = 0; b < bytes; ++b)
            elements[size_t(i) * bytes + b] = uint8_t(value >> 8 * b);
    }
    return elements;
}

// damaged: a gap of the second block, where the window before does not end then.
bool testDf11Kind(const ToolDevice& device, SluiceDf11Kind kind, bool damaged)
{
    constexpr uint32_t count = 40002;
    const Bytes elements = madeUpElements(kind, count);
    uint64_t histogram[256] = {};
    countDf11Symbols(kind, elements.data(), count, histogram);
    Df11Code code;
    if (!makeDf11Code(kind, histogram, 1, code)) return false;
    Df11Encoder encoder(kind, code);
    encoder.add(elements.data(), count);
    encoder.finish();
    const uint32_t blocks =
        uint32_t((encoder.encoded.size() + SLUICE_DF11_BLOCK_BYTES - 1) / SLUICE_DF11_BLOCK_BYTES);
    if (blocks < 3) return false;
    if (damaged) encoder.gaps[encoder.gaps.size() / blocks + 100] ^= 0x10;

    SluiceDf11Tables tables = {};
    tables.luts = code.luts.data();
    tables.lutsSize = code.luts.size();
    tables.outputPositions = encoder.positions.data();
    tables.outputPositionsSize = encoder.positions.size();
    tables.gapsSize = encoder.gaps.size();
    tables.encodedSize = encoder.encoded.size();
    tables.signMantissaSize = encoder.signMantissa.size();
    SluiceDf11Unit unit = {};
    device.check(sluiceCheckDf11Unit(&tables, &unit, nullptr), "DFloat11");
    Bytes source;
    const auto place = [&](const Bytes& bytes) {
        const size_t offset = source.size();
        source.insert(source.end(), bytes.begin(), bytes.end());
        source.resize((source.size() + 15) / 16 * 16);
        return uint64_t(offset);
    };
    unit.lutsOffset = place(code.luts);
    unit.encodedOffset = place(encoder.encoded);
    unit.signMantissaOffset = place(encoder.signMantissa);
    unit.outputPositionsOffset = place(encoder.positions);
    unit.gapsOffset = place(encoder.gaps);

    Run run(device);
    SluiceDf11Info info = {};
    info.maxUnitCount = 1;
    info.maxBlockCount = blocks;
    info.units = run.input(std::vector<SluiceDf11Unit>{unit});
    info.source = run.input(source);
    info.destination = run.output(wholeWords(elements.size()));
    info.status = run.output((uint64_t(blocks) + 2) * 4);
    SluiceRequirements requirements = {};
    device.check(sluiceGetDf11Requirements(device.context(), &info, &requirements), "DFloat11");
    info.scratch = run.scratch(requirements);
    run.command([&](SluiceContext context, SluiceCommands commands) {
        return sluiceCmdDf11(context, commands, &info);
    });
    Words statuses(blocks + 2);
    const Bytes words = run.bytes(info.status), decoded = run.bytes(info.destination);
    std::memcpy(statuses.data(), words.data(), words.size());
    if (damaged)
        return statuses[blocks] == 1 && statuses[blocks + 1] == 1 &&
               statuses[1] == SLUICE_TILE_BAD_INDEX;
    return statuses[blocks] == 0 && std::equal(elements.begin(), elements.end(), decoded.begin());
}

} // namespace

bool testReduce(const ToolDevice& device)
{
    constexpr uint32_t count = 100003;
    Random random(777);
    Words values(count);
    for (uint32_t& value : values)
        value = random.next() << 8 ^ random.next();
    Run run(device);
    SluiceReduceInfo info = {};
    info.maxCount = count;
    info.input = run.input(values);
    bool right = true;
    for (const SluiceOperation operation :
         {SLUICE_OPERATION_SUM, SLUICE_OPERATION_MIN, SLUICE_OPERATION_MAX}) {
        uint32_t expected = values[0];
        for (uint32_t i = 1; i < count; ++i)
            expected = operation == SLUICE_OPERATION_SUM   ? expected + values[i]
                       : operation == SLUICE_OPERATION_MIN ? std::min(expected, values[i])
                                                           : std::max(expected, values[i]);
        info.operation = operation;
        info.type = SLUICE_VALUE_U32;
        info.result = run.output(4);
        SluiceRequirements requirements = {};
        device.check(sluiceGetReduceRequirements(device.context(), &info, &requirements), "reduce");
        info.scratch = run.scratch(requirements);
        run.command([&](SluiceContext context, SluiceCommands commands) {
            return sluiceCmdReduce(context, commands, &info);
        });
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
    Random random(777);
    const Bytes items = madeUpBytes(wholeWords(count * elementSize)),
                inserted = madeUpBytes(wholeWords(count * elementSize));
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
            const uint32_t before = next;
            for (; next < indices.size() && indices[next] == i; ++next) {
                if (inserts) append(expected, inserted, next);
            }
            if (inserts || next == before) append(expected, items, i);
        }
        const uint32_t left = uint32_t(expected.size()) / elementSize;
        expected.resize(wholeWords(expected.size()) + 8, poison);

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
        run.command([&](SluiceContext context, SluiceCommands commands) {
            return inserts ? sluiceCmdBulkInsert(context, commands, &info)
                           : sluiceCmdBulkRemove(context, commands, &info);
        });
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
