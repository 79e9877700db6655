// SPDX-License-Identifier: MIT OR Apache-2.0
// The cases for scans, reductions and compaction.
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include "selftest/cases.h"

#include <algorithm>

namespace sluice::selftest {

namespace {

constexpr uint32_t kCount = 20011; // several tiles of any size, and a partial one
constexpr uint32_t kFewer = 9001;  // elements of calls whose count is below maxCount

uint32_t sizeOf(SluiceValueType type) { return type == SLUICE_VALUE_U64 ? 8 : 4; }

// Makes kCount elements of a type. If `sum` is set, floats are 1 or 2, so that their sums are
// exact. Otherwise they are any floats, including zeros, infinities and NaNs.
Words elements(SluiceValueType type, bool sum, uint32_t seed)
{
    Random random(seed);
    Words words = random.words(size_t(kCount) * sizeOf(type) / 4);
    for (size_t i = 0; i < words.size() && type == SLUICE_VALUE_F32; ++i) {
        constexpr uint32_t special[] = {0x80000000u, 0,           0x7f800000u,
                                        0xff800000u, 0x7fc00000u, 0xffffffffu};
        if (sum)
            words[i] = (words[i] & 1) != 0 ? 0x3f800000u : 0x40000000u;
        else if (words[i] % 8 == 0)
            words[i] = special[words[i] / 8 % std::size(special)];
    }
    return words;
}

// Takes the outputs of a scan as results.
void append(CaseBuffers& on, const SluiceScanInfo& info)
{
    on.take(info.output);
    on.take(info.total);
}

} // namespace

// Runs scans of every kind, operation and type, with and without segments. Then runs them again
// with a count below maxCount, some of them in place, some with buffers at unaligned addresses.
template <>
void SelfTestCases::test<SelfTestCase::scan>(CaseBuffers& on)
{
    Random random(1);
    Words heads((kCount + 31) / 32);
    for (uint32_t& word : heads)
        word = random.below(3) == 0 ? 1u << random.below(32) | 1u << random.below(32) : 0;
    for (uint32_t i = 0; i < 96; ++i) {
        SluiceScanInfo info = {};
        info.kind = SluiceScanKind(i % 2);
        info.operation = SluiceOperation(i / 2 % 3);
        info.type = SluiceValueType(i / 6 % 4);
        const bool segmented = i / 24 % 2 != 0, plain = i < 48;
        const Words values = elements(info.type, info.operation == SLUICE_OPERATION_SUM, i);
        const uint64_t size = values.size() * 4;
        const uint32_t misaligned = plain || i % 4 < 2 ? 0 : sizeOf(info.type);
        info.maxCount = kCount;
        info.input = on.guarded(bytesOf(values), misaligned);
        info.output = !plain && i % 3 == 0 ? info.input : on.output(size, misaligned);
        if (!plain) info.count = on.input(Words{kFewer + i});
        if (segmented) info.heads = on.input(heads);
        info.total = on.output(sizeOf(info.type));
        on.addScratch(info, sluiceGetScanRequirements);
        on.run(sluiceCmdScan, info);
        append(on, info);
    }
}

// Runs reductions of every operation and type, each six times. A minimum or maximum depends on a
// single element, whose index differs in the six runs.
template <>
void SelfTestCases::test<SelfTestCase::reduce>(CaseBuffers& on)
{
    constexpr uint32_t places = 6;
    for (uint32_t i = 0; i < 12 * places; ++i) {
        SluiceReduceInfo info = {};
        info.operation = SluiceOperation(i % 3);
        info.type = SluiceValueType(i / 3 % 4);
        const uint32_t place = i / 12, size = sizeOf(info.type);
        Words values = elements(info.type, info.operation == SLUICE_OPERATION_SUM, i);
        if (info.operation != SLUICE_OPERATION_SUM) {
            // Make small numbers, and one number that is below (MIN) or above (MAX) all others.
            const bool isFloat = info.type == SLUICE_VALUE_F32;
            for (size_t k = 0; k < values.size(); ++k)
                values[k] = k % (size / 4) != 0 ? 0
                            : isFloat           ? 0x3f800000u | (values[k] & 0xffff)
                                                : 1000 + (values[k] & 0xffff);
            const uint32_t at = place == 0 ? kCount - 1 : place * (kCount / places) + 17 * place;
            values[at * (size / 4)] = info.operation == SLUICE_OPERATION_MIN ? 7 + i
                                      : isFloat                              ? 0x40000000u + i
                                                                             : 100000 + i;
        }
        info.maxCount = kCount;
        info.input = on.guarded(bytesOf(values), place % 2 * size);
        if (place % 3 == 2) info.count = on.input(Words{kCount - 1});
        info.result = on.output(size);
        on.addScratch(info, sluiceGetReduceRequirements);
        on.run(sluiceCmdReduce, info);
        on.take(info.result);
    }
}

namespace {

// The arguments that differ between calls of compaction.
struct CompactCall {
    SluiceCompactTest test;
    uint32_t flags = 0;
    bool writesElements = true, writesIndices = false;
    SluiceComparison comparison = SLUICE_COMPARE_EQUAL;
    SluiceValueType type = SLUICE_VALUE_U32;
    uint64_t constant = 0;
    bool inPlace = false, counted = false; // counted: device memory has the number of elements
    // The outputs have room for kCount / capacityDivisor elements. Input and output begin
    // `misaligned` bytes behind a multiple of 64.
    uint32_t capacityDivisor = 1, misaligned = 0;
};

// Returns the calls for elements of `elementSize` bytes: all tests, and all comparisons of the
// types that have this size.
std::vector<CompactCall> compactCalls(uint32_t elementSize)
{
    std::vector<CompactCall> calls;
    const auto add = [&](CompactCall call) {
        // Write elements, indices and both, once for elements that the test selects and once for
        // all others (DROP). Then partition, compact in place, and make two calls whose count is in
        // device memory and whose outputs are too small.
        for (const uint32_t flags : {0u, uint32_t(SLUICE_COMPACT_DROP)}) {
            for (uint32_t outputs = 1; outputs < 4; ++outputs) {
                call.flags = flags;
                call.writesElements = (outputs & 1) != 0;
                call.writesIndices = (outputs & 2) != 0;
                calls.push_back(call);
            }
        }
        call.flags = SLUICE_COMPACT_PARTITION;
        calls.push_back(call);
        call.writesElements = false;
        calls.push_back(call);
        call.flags = 0;
        call.writesElements = true;
        call.writesIndices = false;
        call.inPlace = true;
        calls.push_back(call);
        call.inPlace = false;
        call.counted = true;
        call.capacityDivisor = 5;
        calls.push_back(call);
        call.misaligned = elementSize;
        calls.push_back(call);
    };
    for (const SluiceCompactTest test : {SLUICE_COMPACT_BYTES, SLUICE_COMPACT_MASK,
                                         SLUICE_COMPACT_NON_ZERO, SLUICE_COMPACT_UNIQUE})
        add({test});
    std::vector<CompactCall> compares;
    const auto compare = [&](SluiceValueType type, uint64_t constant) {
        for (uint32_t i = 0; i < 6; ++i) {
            CompactCall call = {SLUICE_COMPACT_COMPARE};
            call.comparison = SluiceComparison(i);
            call.type = type;
            call.constant = constant;
            compares.push_back(call);
        }
    };
    if (elementSize == 1) compare(SLUICE_VALUE_U8, 2);
    if (elementSize == 2) compare(SLUICE_VALUE_U16, 2);
    if (elementSize == 4) {
        compare(SLUICE_VALUE_U32, 3);
        compare(SLUICE_VALUE_I32, 0xfffffffdu);
        compare(SLUICE_VALUE_F32, 0x40400000u); // the number 3
    }
    if (elementSize == 8) compare(SLUICE_VALUE_U64, uint64_t(2) << 32 | 2);
    // LESS gets all variants of a call; the other comparisons write elements alone or indices
    // alone.
    for (size_t i = 0; i < compares.size(); ++i) {
        if (i % 6 == SLUICE_COMPARE_LESS) {
            add(compares[i]);
        } else {
            calls.push_back(compares[i]);
            compares[i].writesElements = false;
            compares[i].writesIndices = true;
            calls.push_back(compares[i]);
        }
    }
    return calls;
}

// Makes elements with few different values, so that every test selects some elements and drops
// others. Depending on the type the values are 0 to 5, -5 to 0, or floats of both signs and NaN.
Bytes compactInput(const CompactCall& call, uint32_t elementSize)
{
    Random random(elementSize);
    Bytes bytes(size_t(kCount) * elementSize);
    uint32_t word = 0;
    for (uint32_t i = 0; i < kCount; ++i) {
        if (random.below(3) != 0) word = random.below(6); // otherwise repeat the element before
        for (uint32_t at = 0; at < elementSize; at += 4) {
            constexpr uint32_t floats[] = {0,           0x80000000u, 0x40400000u,
                                           0x7fc00000u, 0xc0400000u, 0x40400001u};
            uint32_t value = word;
            if (call.type == SLUICE_VALUE_I32) value = word - 5;
            if (call.type == SLUICE_VALUE_F32) value = floats[word];
            // In an element of several words only one word may be non-zero, so that kernels that
            // look at one word alone give wrong results.
            if (elementSize > 4 && word / 2 != at / 4 % 3) value = 0;
            std::memcpy(&bytes[size_t(i) * elementSize + at], &value, std::min(elementSize, 4u));
        }
    }
    return bytes;
}

// Runs all calls for elements of a size.
void testCompact(CaseBuffers& on, uint32_t elementSize)
{
    Random random(2);
    Bytes selectors((kCount + 3) / 4 * 4);
    for (uint8_t& byte : selectors)
        byte = uint8_t(random.below(2) * (1 + random.below(255)));
    const Words mask = random.words((kCount + 31) / 32);
    for (const CompactCall& call : compactCalls(elementSize)) {
        SluiceCompactInfo info = {};
        info.test = call.test;
        info.comparison = call.comparison;
        info.type = call.type;
        info.constant = call.constant;
        info.elementSize = elementSize;
        info.flags = call.flags;
        info.maxCount = kCount;
        const Bytes input = compactInput(call, elementSize);
        info.input = on.guarded(input, call.misaligned);
        if (call.counted) info.count = on.input(Words{kCount - 100});
        if (call.test == SLUICE_COMPACT_BYTES) info.selectors = on.input(selectors);
        if (call.test == SLUICE_COMPACT_MASK) info.selectors = on.input(mask);
        const uint32_t capacity = kCount / call.capacityDivisor;
        if (call.writesElements)
            info.output = call.inPlace ? info.input
                                       : on.output(size_t(capacity) * elementSize, call.misaligned);
        if (call.writesIndices) info.indices = on.output(size_t(capacity) * 4);
        info.resultCount = on.output(4);
        info.argument = on.output(4);
        info.argumentDivisor = 64;
        info.argumentLimit = call.counted ? 100 : 0;
        on.addScratch(info, sluiceGetCompactRequirements);
        on.run(sluiceCmdCompact, info);
        on.take(info.output);
        on.take(info.indices);
        on.take(info.resultCount);
        on.take(info.argument);
    }
}

} // namespace

template <>
void SelfTestCases::test<SelfTestCase::compact_1>(CaseBuffers& on)
{
    testCompact(on, 1);
}
template <>
void SelfTestCases::test<SelfTestCase::compact_2>(CaseBuffers& on)
{
    testCompact(on, 2);
}
template <>
void SelfTestCases::test<SelfTestCase::compact_4>(CaseBuffers& on)
{
    testCompact(on, 4);
}
template <>
void SelfTestCases::test<SelfTestCase::compact_8>(CaseBuffers& on)
{
    testCompact(on, 8);
}
template <>
void SelfTestCases::test<SelfTestCase::compact_16>(CaseBuffers& on)
{
    testCompact(on, 16);
}
template <>
void SelfTestCases::test<SelfTestCase::compact_wide>(CaseBuffers& on)
{
    testCompact(on, 12);
    testCompact(on, 20);
}

} // namespace sluice::selftest
