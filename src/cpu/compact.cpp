// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of compaction, which copies the elements that pass a test, or their indices, and
// keeps their order.
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include <cstring>

#include "cpu/context.h"
#include "cpu/values.h"
#include "layout/compact.h"

namespace sluice::cpu {
namespace {

constexpr size_t kMostBytes = 4 * SLUICE_COMPACT_MAX_WORDS; // bytes of the largest element

template <typename T>
bool compare(T element, SluiceComparison comparison, T constant)
{
    switch (comparison) {
    case SLUICE_COMPARE_NOT_EQUAL: return element != constant;
    case SLUICE_COMPARE_LESS: return element < constant;
    case SLUICE_COMPARE_LESS_EQUAL: return element <= constant;
    case SLUICE_COMPARE_GREATER: return element > constant;
    case SLUICE_COMPARE_GREATER_EQUAL: return element >= constant;
    default: return element == constant;
    }
}

template <typename T>
bool compareBits(const uint8_t* element, const SluiceCompactInfo& info)
{
    T value, constant;
    std::memcpy(&value, element, sizeof value);
    std::memcpy(&constant, &info.constant, sizeof constant);
    return compare(value, info.comparison, constant);
}

bool compares(const uint8_t* element, const SluiceCompactInfo& info)
{
    switch (info.type) {
    case SLUICE_VALUE_I32: return compareBits<int32_t>(element, info);
    case SLUICE_VALUE_U64: return compareBits<uint64_t>(element, info);
    case SLUICE_VALUE_F32: return compareBits<float>(element, info);
    case SLUICE_VALUE_U8: return compareBits<uint8_t>(element, info);
    case SLUICE_VALUE_U16: return compareBits<uint16_t>(element, info);
    default: return compareBits<uint32_t>(element, info);
    }
}

// Returns whether the test selects an element. `previous` is the element before it, or nullptr for
// the first one.
bool selects(const SluiceCompactInfo& info, uint32_t index, const uint8_t* element,
             const uint8_t* previous)
{
    static constexpr uint8_t zero[kMostBytes] = {};
    switch (info.test) {
    case SLUICE_COMPACT_BYTES: return pointer<const uint8_t>(info.selectors)[index] != 0;
    case SLUICE_COMPACT_MASK:
        return (pointer<const uint32_t>(info.selectors)[index / 32] >> index % 32 & 1) != 0;
    case SLUICE_COMPACT_COMPARE: return compares(element, info);
    case SLUICE_COMPACT_NON_ZERO: return std::memcmp(element, zero, info.elementSize) != 0;
    default: return previous == nullptr || std::memcmp(element, previous, info.elementSize) != 0;
    }
}

// Appends elements and their indices to the command's outputs, and drops what does not fit there.
struct Sink {
    const SluiceCompactInfo& info;
    uint64_t written = 0;

    void write(uint32_t index, const uint8_t* element)
    {
        const size_t size = info.elementSize;
        if (info.output.size != 0 && written < info.output.size / size)
            std::memcpy(pointer<uint8_t>(info.output) + written * size, element, size);
        if (written < info.indices.size / 4) pointer<uint32_t>(info.indices)[written] = index;
        ++written;
    }
};

// Writes the elements that the command keeps if `kept` is true, otherwise those that it drops.
void writeElements(const SluiceCompactInfo& info, bool kept, Sink& sink)
{
    const uint32_t count = countOf(info.count, info.maxCount);
    const size_t size = info.elementSize;
    const uint8_t* input = pointer<const uint8_t>(info.input);
    uint8_t element[kMostBytes] = {},
            previous[kMostBytes] = {}; // copies, since the output may overwrite the input
    for (uint32_t i = 0; i < count; ++i) {
        if (info.input.size != 0) std::memcpy(element, input + i * size, size);
        const bool selected = selects(info, i, element, i == 0 ? nullptr : previous);
        const bool keep = selected != ((info.flags & SLUICE_COMPACT_DROP) != 0);
        if (keep == kept) sink.write(i, element);
        std::memcpy(previous, element, sizeof previous);
    }
}

} // namespace

SluiceStatus ReferenceBackend::cmdCompact(SluiceCommands, const SluiceCompactInfo& info)
{
    Sink sink = {info};
    writeElements(info, true, sink);
    const uint32_t kept = uint32_t(sink.written);
    if ((info.flags & SLUICE_COMPACT_PARTITION) != 0) writeElements(info, false, sink);
    if (info.resultCount.size != 0) *pointer<uint32_t>(info.resultCount) = kept;
    if (info.argument.size != 0) {
        const uint32_t divisor = std::max(info.argumentDivisor, 1u);
        const uint32_t limit = info.argumentLimit == 0 ? UINT32_MAX : info.argumentLimit;
        *pointer<uint32_t>(info.argument) = std::min(limit, divideUp(kept, divisor));
    }
    return SLUICE_OK;
}

} // namespace sluice::cpu
