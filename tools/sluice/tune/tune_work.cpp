// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/tune/tune_work.h"

#include <algorithm>
#include <numeric>

#include <sluice/sluice_compact.h>
#include <sluice/sluice_interval.h>
#include <sluice/sluice_scan.h>

namespace sluice {
namespace {

constexpr uint64_t kAround = 256; // guard bytes before and after each buffer
constexpr uint8_t kAroundByte = 0xC5, kUnwritten = 0xA7;

SluiceBuffer inside(SluiceBuffer whole, uint64_t size)
{
    return {whole.handle, whole.offset + kAround, size};
}

} // namespace

// --- Memory

Work::~Work()
{
    for (const Memory& one : m_memory)
        sluiceRelease(device, one.whole);
    sluiceRelease(device, m_scratch);
}

SluiceBuffer Work::allocate(Memory memory)
{
    check(sluiceAllocate(device, (memory.size + 15) / 16 * 16 + 2 * kAround, &memory.whole),
          "memory");
    m_memory.push_back(std::move(memory));
    return inside(m_memory.back().whole, m_memory.back().size);
}

SluiceBuffer Work::input(const void* bytes, uint64_t size)
{
    const auto* from = static_cast<const uint8_t*>(bytes);
    const SluiceBuffer range = allocate({{}, {from, from + size}, size, false});
    if (size != 0) check(sluiceUpload(device, range, bytes, size), "upload");
    return range;
}

SluiceBuffer Work::inPlace(const std::vector<uint32_t>& words)
{
    const SluiceBuffer range = input(words);
    m_memory.back().isWritten = true;
    return range;
}

SluiceBuffer Work::output(uint64_t size) { return allocate({{}, {}, size, true}); }

SluiceBuffer Work::tileStatus() { return status = output((uint64_t{most} + 2) * 4); }

SluiceBuffer Work::scratch(const SluiceRequirements& wanted)
{
    if (wanted.scratchSize <= m_scratch.size) return first(m_scratch, wanted.scratchSize);
    sluiceRelease(device, m_scratch);
    m_scratch = {};
    check(sluiceAllocate(device, wanted.scratchSize, &m_scratch), "scratch");
    if (wanted.zeroedScratch != 0) {
        const std::vector<uint8_t> zeros(wanted.scratchSize);
        check(sluiceUpload(device, m_scratch, zeros.data(), zeros.size()), "scratch");
    }
    return m_scratch;
}

void Work::reset()
{
    for (const Memory& one : m_memory) {
        std::vector<uint8_t> bytes(one.whole.size, kAroundByte);
        std::fill_n(bytes.begin() + kAround, one.size, kUnwritten);
        std::copy(one.content.begin(), one.content.end(), bytes.begin() + kAround);
        check(sluiceUpload(device, one.whole, bytes.data(), bytes.size()), "upload");
    }
}

std::vector<uint8_t> Work::written() const
{
    std::vector<uint8_t> all;
    for (const Memory& one : m_memory) {
        std::vector<uint8_t> bytes(one.whole.size);
        check(sluiceDownload(device, one.whole, bytes.data(), bytes.size()), "download");
        const auto isAround = [](uint8_t byte) { return byte == kAroundByte; };
        const auto begin = bytes.begin() + kAround, end = begin + std::ptrdiff_t(one.size);
        if (!std::all_of(bytes.begin(), begin, isAround) ||
            !std::all_of(end, bytes.end(), isAround))
            throw WorkFailure(SLUICE_ERROR_DEVICE, "bytes around a buffer were written");
        if (!one.isWritten && !std::equal(begin, end, one.content.begin()))
            throw WorkFailure(SLUICE_ERROR_DEVICE, "an input was written");
        if (one.isWritten) all.insert(all.end(), begin, end);
    }
    return all;
}

void Work::checkStatus(uint32_t length) const
{
    if (status.size == 0) return;
    std::vector<uint32_t> words(length);
    check(sluiceDownload(device, first(status, words.size() * 4), words.data(), words.size() * 4),
          "download");
    if (std::any_of(words.begin(), words.end(),
                    [](uint32_t word) { return word != SLUICE_TILE_OK; }))
        throw WorkFailure(SLUICE_ERROR_DEVICE, "tiles were not decoded");
}

// --- Scans and reductions

namespace {

std::vector<uint32_t> randomWords(uint64_t count, uint32_t seed)
{
    Random random(seed);
    std::vector<uint32_t> words(count);
    for (uint32_t& word : words)
        word = random();
    return words;
}

// Returns how many elements fit into memory, but not more than a GPU processes in well under a
// millisecond.
uint32_t lengthOf(const WorkLimits& limits, uint64_t bytesEach)
{
    return uint32_t(std::clamp<uint64_t>(limits.bytes / bytesEach, 64, 1u << 25));
}

struct ScanKind {
    SluiceScanKind kind;
    SluiceOperation operation;
    SluiceValueType type;
    bool isInPlace, isSegmented;
};

std::unique_ptr<Work> scan(SluiceDevice device, const WorkLimits& limits, const ScanKind& how)
{
    auto work = std::make_unique<Work>(device);
    const uint64_t bytes = how.type == SLUICE_VALUE_U64 ? 8 : 4;
    work->most = lengthOf(limits, 2 * bytes);
    SluiceScanInfo info = {};
    info.kind = how.kind;
    info.operation = how.operation;
    info.type = how.type;
    const std::vector<uint32_t> values = randomWords(work->most * bytes / 4, 1);
    info.input = how.isInPlace ? work->inPlace(values) : work->input(values);
    info.output = how.isInPlace ? info.input : work->output(work->most * bytes);
    info.total = work->output(8);
    if (how.isSegmented) {
        std::vector<uint32_t> heads = randomWords(work->most / 32 + 1, 2);
        for (uint32_t& word : heads)
            word = word % 3 == 0 ? 1u << word / 3 % 32 : 0;
        info.heads = work->input(heads);
    }
    work->record = [info, bytes, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceScanInfo command = info;
        command.maxCount = length;
        command.input.size = command.output.size = length * bytes;
        return own->withScratch(commands, command, sluiceGetScanRequirements, sluiceCmdScan);
    };
    return work;
}

std::unique_ptr<Work> reduce(SluiceDevice device, const WorkLimits& limits, SluiceValueType type)
{
    auto work = std::make_unique<Work>(device);
    const uint64_t bytes = type == SLUICE_VALUE_U64 ? 8 : 4;
    work->most = lengthOf(limits, bytes);
    SluiceReduceInfo info = {};
    info.type = type;
    info.input = work->input(randomWords(work->most * bytes / 4, 3));
    info.result = work->output(8);
    work->record = [info, bytes, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceReduceInfo command = info;
        command.maxCount = length;
        command.input.size = length * bytes;
        return own->withScratch(commands, command, sluiceGetReduceRequirements, sluiceCmdReduce);
    };
    return work;
}

// --- Compactions

enum CompactOutputs : uint32_t {
    kElements = 1,
    kIndices = 2,
    kInPlace = 4
};

struct CompactKind {
    SluiceCompactTest test;
    SluiceValueType type;
    uint32_t elementSize;
    uint32_t flags;
    bool hasElements, hasIndices, isInPlace;
};

std::unique_ptr<Work> compaction(SluiceDevice device, const WorkLimits& limits,
                                 const CompactKind& how)
{
    auto work = std::make_unique<Work>(device);
    const uint64_t bytes = how.elementSize;
    work->most = lengthOf(limits, 2 * bytes + (how.hasIndices ? 4 : 0));
    SluiceCompactInfo info = {};
    info.test = how.test;
    info.type = how.type;
    info.elementSize = how.elementSize;
    info.flags = how.flags;
    if (how.test == SLUICE_COMPACT_COMPARE) {
        info.comparison = SLUICE_COMPARE_LESS;
        info.constant = how.type == SLUICE_VALUE_F32 ? 0 : 1u << 31;
    }
    const std::vector<uint32_t> values = randomWords((work->most * bytes + 3) / 4, 4);
    info.input = how.isInPlace ? work->inPlace(values) : work->input(values);
    if (how.test == SLUICE_COMPACT_BYTES || how.test == SLUICE_COMPACT_MASK) {
        std::vector<uint32_t> selectors = randomWords(work->most / 4 + 1, 5);
        for (uint32_t& word : selectors)
            if (how.test == SLUICE_COMPACT_BYTES) word &= 0x01010101u;
        info.selectors = work->input(selectors);
    }
    if (how.hasElements)
        info.output = how.isInPlace ? info.input : work->output(work->most * bytes);
    if (how.hasIndices) info.indices = work->output(work->most * uint64_t{4});
    info.resultCount = work->output(4);
    work->record = [info, bytes, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceCompactInfo command = info;
        command.maxCount = length;
        command.input.size = length * bytes;
        if (command.output.size != 0) command.output.size = length * bytes;
        return own->withScratch(commands, command, sluiceGetCompactRequirements, sluiceCmdCompact);
    };
    return work;
}

// --- Intervals

// Runs of random lengths for interval commands: the number of elements of each, and where each
// begins if they are stored one after the other. The last entry of `begins` says where the last run
// ends.
struct Runs {
    std::vector<uint32_t> counts, begins;

    // Makes `count` runs, each of up to twice `average` elements.
    Runs(uint32_t count, uint32_t average, uint32_t seed) : counts(count), begins(count + 1)
    {
        Random random(seed);
        for (uint32_t& one : counts)
            one = random() % (2 * average + 1);
        std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
    }
    // Returns where the first `length` runs begin if they are stored in a random order.
    std::vector<uint32_t> shuffled(uint32_t length) const
    {
        std::vector<uint32_t> order(length), places(length);
        std::iota(order.begin(), order.end(), 0u);
        Random random(6);
        for (uint32_t i = length; i > 1; --i)
            std::swap(order[i - 1], order[random() % i]);
        uint32_t at = 0;
        for (const uint32_t i : order) {
            places[i] = at;
            at += counts[i];
        }
        return places;
    }
};

std::unique_ptr<Work> expand(SluiceDevice device, const WorkLimits& limits, uint32_t elementSize)
{
    constexpr uint32_t average = 16;
    auto work = std::make_unique<Work>(device);
    work->unit = "intervals";
    work->most = lengthOf(limits, average * elementSize);
    const auto runs = std::make_shared<Runs>(work->most, average, 7);
    SluiceIntervalExpandInfo info = {};
    info.elementSize = elementSize;
    info.intervals.counts = work->input(runs->counts);
    info.values = work->input(randomWords((uint64_t{work->most} * elementSize + 3) / 4, 8));
    info.destination = work->output(uint64_t{runs->begins.back()} * elementSize);
    info.result = work->output(8);
    work->record = [info, runs, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceIntervalExpandInfo command = info;
        command.intervals.maxCount = length;
        command.destination.size = uint64_t{runs->begins[length]} * info.elementSize;
        return own->withScratch(commands, command, command.intervals, sluiceGetIntervalRequirements,
                                sluiceCmdIntervalExpand);
    };
    return work;
}

SluiceIntervalMoveInfo gatherOf(Work& work, const Runs& runs, uint64_t bytes, uint32_t length)
{
    SluiceIntervalMoveInfo info = {};
    info.kind = SLUICE_INTERVAL_GATHER;
    info.elementSize = 1;
    info.positionSize = 4;
    info.intervals.maxCount = length;
    info.intervals.counts = work.input(runs.counts);
    info.gather = work.input(runs.shuffled(length));
    info.source = work.input(randomWords((bytes + 3) / 4, 9));
    return info;
}

SluiceStatus recordMove(Work& work, SluiceCommands commands, const SluiceIntervalMoveInfo& info)
{
    return work.withScratch(commands, info, info.intervals, sluiceGetIntervalRequirements,
                            sluiceCmdIntervalMove);
}

std::unique_ptr<Work> move(SluiceDevice device, const WorkLimits& limits, uint32_t average)
{
    auto work = std::make_unique<Work>(device);
    work->unit = "intervals";
    work->most = lengthOf(limits, 2 * average + 8);
    const auto runs = std::make_shared<Runs>(work->most, average, average);
    SluiceIntervalMoveInfo info = gatherOf(*work, *runs, runs->begins.back(), work->most);
    info.destination = work->output(runs->begins.back());
    info.result = work->output(8);
    work->record = [info, runs, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceIntervalMoveInfo command = info;
        command.intervals.maxCount = length;
        command.destination.size = runs->begins[length];
        return recordMove(*own, commands, command);
    };
    return work;
}

std::unique_ptr<Work> bulk(SluiceDevice device, const WorkLimits& limits, bool insert)
{
    constexpr uint32_t every = 8, elementSize = 12; // an index per 8 items; bytes of an item
    auto work = std::make_unique<Work>(device);
    work->unit = "items";
    work->most = lengthOf(limits, 2 * elementSize);
    Random random(10);
    std::vector<uint32_t> indices(work->most / every);
    for (uint32_t i = 0; i < indices.size(); ++i)
        indices[i] = i * every + random() % every;
    SluiceBulkInfo info = {};
    info.elementSize = elementSize;
    info.indices = work->input(indices);
    info.source = work->input(randomWords(uint64_t{work->most} * elementSize / 4, 11));
    if (insert) info.inserted = work->input(randomWords(indices.size() * elementSize / 4, 12));
    info.destination = work->output(uint64_t{work->most + work->most / every} * elementSize);
    info.result = work->output(8);
    work->record = [info, insert, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceBulkInfo command = info;
        command.maxItemCount = length;
        command.maxIndexCount = length / every;
        return (insert ? sluiceCmdBulkInsert : sluiceCmdBulkRemove)(own->context(), commands,
                                                                    &command);
    };
    return work;
}

std::unique_ptr<Work> moveByRunLength(SluiceDevice device, const WorkLimits& limits)
{
    auto work = std::make_unique<Work>(device);
    work->unit = "bytes a run";
    work->lengths = {16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 384, 512};
    work->most = work->lengths.back();
    // All lists have the same number of bytes, and write to the same output.
    const uint64_t bytes = std::min<uint64_t>(limits.bytes / 3, 64u << 20) / work->lengths.size();
    auto lists = std::make_shared<std::vector<SluiceIntervalMoveInfo>>();
    uint64_t longest = 0;
    for (const uint32_t average : work->lengths) {
        const uint32_t count = std::max<uint32_t>(uint32_t(bytes / average), 32);
        const Runs runs(count, average, average);
        SluiceIntervalMoveInfo info = gatherOf(*work, runs, runs.begins.back(), count);
        info.destination.size = runs.begins.back();
        longest = std::max(longest, info.destination.size);
        lists->push_back(info);
    }
    const SluiceBuffer destination = work->output(longest);
    work->record = [lists, destination, own = work.get()](SluiceCommands commands,
                                                          uint32_t length) {
        const auto found = std::lower_bound(own->lengths.begin(), own->lengths.end(), length);
        SluiceIntervalMoveInfo command = (*lists)[size_t(found - own->lengths.begin())];
        command.destination = first(destination, command.destination.size);
        return recordMove(*own, commands, command);
    };
    return work;
}

std::unique_ptr<Work> searchIntervals(SluiceDevice device, const WorkLimits& limits)
{
    constexpr uint32_t average = 16;
    auto work = std::make_unique<Work>(device);
    work->unit = "intervals";
    work->most = lengthOf(limits, 2 * average * 4);
    const auto runs = std::make_shared<Runs>(work->most, average, 13);
    SluiceIntervalSearchInfo info = {};
    info.intervals.offsets = work->input(runs->begins);
    info.sources = work->output(uint64_t{runs->begins.back()} * 4);
    info.ranks = work->output(info.sources.size);
    info.result = work->output(8);
    work->record = [info, runs, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceIntervalSearchInfo command = info;
        command.intervals.maxCount = length;
        command.sources.size = command.ranks.size = uint64_t{runs->begins[length]} * 4;
        return sluiceCmdIntervalSearch(own->context(), commands, &command);
    };
    return work;
}

using On = SluiceDevice;
using Limits = const WorkLimits&;

template <SluiceScanKind Kind, SluiceOperation Operation, SluiceValueType Type,
          bool InPlace = false, bool Segmented = false>
std::unique_ptr<Work> scanOf(On device, Limits limits)
{
    return scan(device, limits, {Kind, Operation, Type, InPlace, Segmented});
}

template <SluiceCompactTest Test, uint32_t Bytes, uint32_t Outputs,
          SluiceValueType Type = SLUICE_VALUE_U32, uint32_t Flags = 0>
std::unique_ptr<Work> compactOf(On device, Limits limits)
{
    return compaction(device, limits,
                      {Test, Type, Bytes, Flags, (Outputs & kElements) != 0,
                       (Outputs & kIndices) != 0, (Outputs & kInPlace) != 0});
}

template <auto Make, auto How>
std::unique_ptr<Work> made(On device, Limits limits)
{
    return Make(device, limits, How);
}

} // namespace

std::vector<WorkKind> primitiveWorks()
{
    constexpr uint32_t scans = SLUICE_KERNELS_SCAN, compacts = SLUICE_KERNELS_COMPACT,
                       intervals = SLUICE_KERNELS_INTERVAL;
    constexpr auto exclusive = SLUICE_SCAN_EXCLUSIVE, inclusive = SLUICE_SCAN_INCLUSIVE;
    constexpr auto sum = SLUICE_OPERATION_SUM, maximum = SLUICE_OPERATION_MAX;
    constexpr auto u32 = SLUICE_VALUE_U32, f32 = SLUICE_VALUE_F32, u64 = SLUICE_VALUE_U64;
    constexpr auto compare = SLUICE_COMPACT_COMPARE;
    return {
        {"scan", scans, scanOf<exclusive, sum, u32>},
        {"scan maximum", scans, scanOf<inclusive, maximum, u32>},
        {"scan u64", scans, scanOf<exclusive, sum, u64>},
        {"scan segments", scans, scanOf<inclusive, sum, u32, false, true>},
        {"scan in place", scans, scanOf<inclusive, sum, u32, true>},
        {"reduce", scans, made<reduce, u32>},
        {"reduce u64", scans, made<reduce, u64>},
        {"compact", compacts, compactOf<compare, 4, kElements>},
        {"compact f32 indices", compacts,
         compactOf<compare, 4, kIndices, f32, SLUICE_COMPACT_DROP>},
        {"compact by bytes", compacts, compactOf<SLUICE_COMPACT_BYTES, 4, kElements>},
        {"compact indices by mask", compacts, compactOf<SLUICE_COMPACT_MASK, 4, kIndices>},
        {"compact count", compacts, compactOf<compare, 4, 0>},
        {"compact u64", compacts, compactOf<SLUICE_COMPACT_BYTES, 8, kElements>},
        {"compact unique bytes", compacts,
         compactOf<SLUICE_COMPACT_UNIQUE, 1, kElements | kIndices>},
        {"partition", compacts, compactOf<compare, 4, kElements, u32, SLUICE_COMPACT_PARTITION>},
        {"compact in place", compacts, compactOf<compare, 4, kElements | kInPlace>},
        {"expand", intervals, made<expand, 4u>},
        {"expand 3 bytes", intervals, made<expand, 3u>},
        {"move long runs", intervals, made<move, 1000u>},
        {"move short runs", intervals, made<move, 32u>},
        {"move by run length", intervals, moveByRunLength},
        {"interval search", intervals, searchIntervals},
        {"bulk remove", intervals, made<bulk, false>},
        {"bulk insert", intervals, made<bulk, true>},
    };
}

const std::vector<WorkKind>& works()
{
    static const std::vector<WorkKind> all = [] {
        std::vector<WorkKind> list = primitiveWorks();
        for (const WorkKind& one : codecWorks())
            list.push_back(one);
        return list;
    }();
    return all;
}

} // namespace sluice
