// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes commands of primitives with lists of any contents, on the CPU, in memory whose ends are
// watched. Commands must end, and touch nothing but their buffers. The input selects the command,
// the sizes of its buffers and their contents. Scratch that should be zero may have any contents
// too.
#include <fuzzer/FuzzedDataProvider.h>
#include <sluice/sluice_all.h>

#include <cstring>
#include <memory>
#include <vector>

#include "tests/fuzz/fuzzing.h"

using namespace sluice::fuzz;

namespace {

// The buffers of one command. Each is an allocation of exactly its size.
class Memory {
public:
    explicit Memory(FuzzedDataProvider& input) : m_input(input) {}

    // Returns a buffer with bytes of the input, followed by repetitions of the last one.
    SluiceBuffer buffer(uint64_t size)
    {
        std::vector<uint8_t> bytes = m_input.ConsumeBytes<uint8_t>(
            size_t(m_input.ConsumeIntegralInRange<uint64_t>(0, size)));
        const uint8_t fill = bytes.empty() ? 0 : bytes.back();
        // The buffer ends where the allocation ends, as exactly as its alignment allows.
        const uint64_t before = (8 - size % 8) % 8 / 4 * 4;
        uint8_t* const start = new uint8_t[size_t(before + size)];
        m_bytes.emplace_back(start);
        std::fill_n(start, before + size, fill);
        std::copy(bytes.begin(), bytes.end(), start + before);
        return {uint64_t(reinterpret_cast<uintptr_t>(start)), before, size};
    }
    SluiceBuffer words(uint64_t count) { return buffer(4 * count); }
    // Returns a buffer, or an empty range, for an optional argument.
    SluiceBuffer optional(uint64_t size)
    {
        return m_input.ConsumeBool() ? buffer(size) : SluiceBuffer{};
    }

private:
    FuzzedDataProvider& m_input;
    std::vector<std::unique_ptr<uint8_t[]>> m_bytes;
};

SluiceContext context()
{
    static const SluiceContext made = [] {
        SluiceContext result = nullptr;
        require(sluiceCreateCpuContext(&result) == SLUICE_OK);
        return result;
    }();
    return made;
}

void ended(SluiceStatus status)
{
    require(status == SLUICE_OK || status == SLUICE_ERROR_ARGUMENT ||
            status == SLUICE_ERROR_BUFFER_SIZE);
}

SluiceIntervals intervals(FuzzedDataProvider& input, Memory& memory)
{
    SluiceIntervals list = {};
    list.maxCount = input.ConsumeIntegralInRange<uint32_t>(0, 600);
    list.count = memory.optional(4);
    if (input.ConsumeBool())
        list.counts = memory.words(list.maxCount);
    else
        list.offsets = memory.words(list.maxCount + 1);
    return list;
}

SluiceBuffer scratchFor(const SluiceIntervals& list, Memory& memory)
{
    SluiceRequirements needs = {};
    if (sluiceGetIntervalRequirements(context(), &list, &needs) != SLUICE_OK) return {};
    return memory.buffer(needs.scratchSize);
}

void expand(FuzzedDataProvider& input, Memory& memory)
{
    SluiceIntervalExpandInfo info = {};
    info.elementSize = input.ConsumeIntegralInRange<uint32_t>(0, 17);
    info.intervals = intervals(input, memory);
    info.values = memory.buffer(uint64_t(info.intervals.maxCount) * info.elementSize);
    info.destination = memory.buffer(input.ConsumeIntegralInRange<uint32_t>(0, 20000));
    info.result = memory.optional(8);
    info.scratch = scratchFor(info.intervals, memory);
    ended(sluiceCmdIntervalExpand(context(), nullptr, &info));
}

void move(FuzzedDataProvider& input, Memory& memory)
{
    SluiceIntervalMoveInfo info = {};
    info.kind = SluiceIntervalMoveKind(input.ConsumeIntegralInRange<uint32_t>(0, 3));
    info.elementSize = input.ConsumeIntegralInRange<uint32_t>(0, 17);
    info.positionSize = input.ConsumeBool() ? 4 : 8;
    info.intervals = intervals(input, memory);
    info.gather = memory.buffer(uint64_t(info.intervals.maxCount) * info.positionSize);
    info.scatter = memory.buffer(uint64_t(info.intervals.maxCount) * info.positionSize);
    info.source = memory.buffer(input.ConsumeIntegralInRange<uint32_t>(0, 20000));
    info.destination = memory.buffer(input.ConsumeIntegralInRange<uint32_t>(0, 20000));
    info.result = memory.optional(8);
    info.scratch = scratchFor(info.intervals, memory);
    ended(sluiceCmdIntervalMove(context(), nullptr, &info));
}

void search(FuzzedDataProvider& input, Memory& memory)
{
    SluiceIntervalSearchInfo info = {};
    info.intervals = intervals(input, memory);
    info.sources = memory.optional(4 * input.ConsumeIntegralInRange<uint64_t>(0, 5000));
    info.ranks = memory.optional(4 * input.ConsumeIntegralInRange<uint64_t>(0, 5000));
    info.result = memory.optional(8);
    info.scratch = scratchFor(info.intervals, memory);
    ended(sluiceCmdIntervalSearch(context(), nullptr, &info));
}

void bulk(FuzzedDataProvider& input, Memory& memory)
{
    SluiceBulkInfo info = {};
    info.elementSize = input.ConsumeIntegralInRange<uint32_t>(0, 17);
    info.maxItemCount = input.ConsumeIntegralInRange<uint32_t>(0, 1500);
    info.maxIndexCount = input.ConsumeIntegralInRange<uint32_t>(0, 600);
    info.itemCount = memory.optional(4);
    info.indexCount = memory.optional(4);
    info.indices = memory.words(info.maxIndexCount);
    info.source = memory.buffer(uint64_t(info.maxItemCount) * info.elementSize);
    info.inserted = memory.buffer(uint64_t(info.maxIndexCount) * info.elementSize);
    info.destination = memory.buffer(input.ConsumeIntegralInRange<uint32_t>(0, 30000));
    info.result = memory.optional(8);
    ended(input.ConsumeBool() ? sluiceCmdBulkRemove(context(), nullptr, &info)
                              : sluiceCmdBulkInsert(context(), nullptr, &info));
}

void compact(FuzzedDataProvider& input, Memory& memory)
{
    SluiceCompactInfo info = {};
    info.test = SluiceCompactTest(input.ConsumeIntegralInRange<uint32_t>(0, 4));
    info.comparison = SluiceComparison(input.ConsumeIntegralInRange<uint32_t>(0, 7));
    info.type = SluiceValueType(input.ConsumeIntegralInRange<uint32_t>(0, 6));
    info.constant = input.ConsumeIntegral<uint64_t>();
    info.elementSize = input.PickValueInArray({1u, 2u, 4u, 8u, 16u, 3u});
    info.flags = input.ConsumeIntegralInRange<uint32_t>(0, 15);
    info.maxCount = input.ConsumeIntegralInRange<uint32_t>(0, 5000);
    info.count = memory.optional(4);
    info.input = memory.buffer((uint64_t(info.maxCount) * info.elementSize + 3) / 4 * 4);
    info.selectors = memory.buffer((uint64_t(info.maxCount) + 31) / 4 * 4);
    if (input.ConsumeBool())
        info.output = memory.buffer(4 * input.ConsumeIntegralInRange<uint64_t>(0, 20000));
    info.indices = memory.optional(4 * input.ConsumeIntegralInRange<uint64_t>(0, 5000));
    info.resultCount = memory.optional(4);
    info.argument = memory.optional(4);
    info.argumentDivisor = input.ConsumeIntegral<uint8_t>();
    info.argumentLimit = input.ConsumeIntegral<uint16_t>();
    SluiceRequirements needs = {};
    if (sluiceGetCompactRequirements(context(), &info, &needs) == SLUICE_OK)
        info.scratch = memory.buffer(needs.scratchSize);
    ended(sluiceCmdCompact(context(), nullptr, &info));
}

void checksum(FuzzedDataProvider& input, Memory& memory)
{
    SluiceChecksumInfo info = {};
    info.destination = memory.buffer(input.ConsumeIntegralInRange<uint32_t>(0, 20000));
    info.maxRegionCount = input.ConsumeIntegralInRange<uint32_t>(0, 40);
    info.regionStride = 4 * input.ConsumeIntegralInRange<uint32_t>(7, 12);
    info.rowBytes = input.ConsumeBool() ? 0 : input.ConsumeIntegral<uint16_t>();
    info.rowPitch = input.ConsumeBool() ? 0 : input.ConsumeIntegral<uint16_t>();
    info.regions = memory.buffer(uint64_t(info.maxRegionCount) * info.regionStride / 8 * 8 + 32);
    // Random addresses would nearly all lie outside the buffers.
    uint8_t* const regions =
        reinterpret_cast<uint8_t*>(uintptr_t(info.regions.handle + info.regions.offset));
    for (uint32_t i = 0; i < info.maxRegionCount && info.regionStride >= sizeof(SluiceRegion);
         ++i) {
        SluiceRegion region = {};
        region.dstAddress = info.destination.handle + info.destination.offset +
                            uint64_t(input.ConsumeIntegral<int16_t>());
        region.decompressedSize = input.ConsumeBool() ? input.ConsumeIntegral<uint16_t>()
                                                      : input.ConsumeIntegral<uint64_t>();
        std::memcpy(regions + size_t(i) * info.regionStride, &region, sizeof region);
    }
    info.regionCount = memory.optional(4);
    info.expected = memory.words(info.maxRegionCount);
    info.status = memory.words(info.maxRegionCount + 2);
    ended(sluiceCmdChecksum(context(), nullptr, &info));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    FuzzedDataProvider input(data, size);
    Memory memory(input);
    using Command = void (*)(FuzzedDataProvider&, Memory&);
    constexpr Command commands[] = {expand, move, search, bulk, compact, checksum};
    const Command command = input.PickValueInArray(commands);
    const CostLimit cost(1 << 20);
    command(input, memory);
    return 0;
}
