// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests buffers above 4 GiB and counts up to 2^32 - 1: no offset may be computed in 32 bits.
//
// These cases run only if SLUICE_TEST_LARGE is 1, since the largest case takes 16 GiB of device
// memory and a few GiB of the host's. They run without validation: NVIDIA's driver can allocate
// more than its maxMemoryAllocationSize says, which validation would report.
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include "tests/support/large.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

using namespace sluice::test;

TEST_SUITE_BEGIN("device");

TEST_CASE("large: scan and reduction of 2^32 - 1 elements" * doctest::skip(!wanted()))
{
    constexpr uint32_t n = ~0u;
    LargeBuffer values(4 * uint64_t(n));
    values.fill(hashOf);
    Buffer total(device(), 4), reduced(device(), 4);
    SluiceReduceInfo reduce = {};
    reduce.operation = SLUICE_OPERATION_SUM;
    reduce.type = SLUICE_VALUE_U32;
    reduce.maxCount = n;
    reduce.input = values.range();
    reduce.result = reduced.range();
    runWithScratch(device(), reduce, sluiceGetReduceRequirements, sluiceCmdReduce);
    SluiceScanInfo info = {};
    info.kind = SLUICE_SCAN_EXCLUSIVE;
    info.operation = SLUICE_OPERATION_SUM;
    info.type = SLUICE_VALUE_U32;
    info.maxCount = n;
    info.input = values.range();
    info.output = values.range();
    info.total = total.range();
    runWithScratch(device(), info, sluiceGetScanRequirements, sluiceCmdScan);
    uint32_t sum = 0;
    bool good = true;
    values.read(4 * uint64_t(n), [&](uint64_t first, const Words& words) {
        for (size_t i = 0; i < words.size(); ++i) {
            good = good && words[i] == sum;
            sum += hashOf(first + i);
        }
    });
    CHECK(good);
    CHECK(total.words()[0] == sum);
    CHECK(reduced.words()[0] == sum);
}

TEST_CASE("large: compaction of 2^32 - 1 bytes" * doctest::skip(!wanted()))
{
    constexpr uint32_t n = ~0u;
    LargeBuffer input(4 * kGib), output(4 * kGib);
    input.fill(hashOf);
    Buffer kept(device(), 4);
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_COMPARE;
    info.comparison = SLUICE_COMPARE_LESS;
    info.type = SLUICE_VALUE_U8;
    info.constant = 250;
    info.elementSize = 1;
    info.maxCount = n;
    info.input = input.part(0, n);
    info.output = output.part(0, n);
    info.resultCount = kept.range();
    runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    // While the output is read, the input is made once more and compacted here.
    uint64_t element = 0, count = 0;
    bool good = true;
    const auto next = [&] {
        uint32_t value;
        do
            value = hashOf(element / 4) >> 8 * (element % 4) & 255u;
        while (++element, value >= 250 && element < n);
        return value;
    };
    const uint32_t result = kept.words()[0];
    output.read((result + uint64_t(3)) / 4 * 4, [&](uint64_t, const Words& words) {
        for (size_t i = 0; i < 4 * words.size() && count < result; ++i, ++count)
            good = good && (words[i / 4] >> 8 * (i % 4) & 255u) == next();
    });
    CHECK(good);
    while (element < n)
        good = good && next() >= 250;
    CHECK(good);
    CHECK(result > 4 * kGib / 256 * 249);
}

TEST_CASE("large: compaction to elements and indices" * doctest::skip(!wanted()))
{
    constexpr uint32_t n = (1u << 30) + 12345;
    const auto valueOf = [](uint64_t i) { return hashOf(i) % 3 == 0 ? 0 : uint32_t(i) | 1; };
    LargeBuffer input(4 * uint64_t(n)), output(4 * uint64_t(n)), indices(4 * uint64_t(n));
    input.fill(valueOf);
    Buffer kept(device(), 4);
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_NON_ZERO;
    info.elementSize = 4;
    info.maxCount = n;
    info.input = input.range();
    info.output = output.range();
    info.indices = indices.range();
    info.resultCount = kept.range();
    runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    for (const bool ofIndices : {false, true}) {
        uint64_t next = 0;
        bool good = true;
        const auto skip = [&] {
            while (next < n && valueOf(next) == 0)
                ++next;
        };
        (ofIndices ? indices : output)
            .read(4 * uint64_t(kept.words()[0]), [&](uint64_t, const Words& words) {
                for (const uint32_t word : words) {
                    skip();
                    good = good && next < n && word == (ofIndices ? uint32_t(next) : valueOf(next));
                    ++next;
                }
            });
        skip();
        CHECK(good);
        CHECK(next == n);
    }
}

// Returns whether a compaction keeps element i.
bool keeps(uint64_t i) { return hashOf(i) % 3 != 0; }

// Checks that the output has the kept elements in order and, if partitioned, then the others.
// Element i is word i.
bool isCompacted(const LargeBuffer& output, uint32_t n, uint32_t kept, bool partitioned)
{
    uint64_t next = 0, count = 0;
    bool good = true, wantsKept = true;
    const auto skip = [&] {
        while (next < n && keeps(next) != wantsKept)
            ++next;
    };
    output.read(4 * uint64_t(partitioned ? n : kept), [&](uint64_t, const Words& words) {
        for (const uint32_t word : words) {
            if (count++ == kept) {
                skip();
                good = good && next == n;
                next = 0;
                wantsKept = false;
            }
            skip();
            good = good && word == uint32_t(next++);
        }
    });
    skip();
    return good && next == n;
}

TEST_CASE("large: partition by bytes, compaction in place by a mask, unique" *
          doctest::skip(!wanted()))
{
    const uint32_t n = sized((1u << 30) + 12345);
    const auto valueOf = [](uint64_t i) { return uint32_t(i); };
    LargeBuffer input(4 * uint64_t(n));
    input.fill(valueOf);
    Buffer kept(device(), 4);
    SluiceCompactInfo info = {};
    info.elementSize = 4;
    info.maxCount = n;
    info.input = input.range();
    info.resultCount = kept.range();
    {
        LargeBuffer output(4 * uint64_t(n)), flags((uint64_t(n) + 3) / 4 * 4);
        flags.fill([](uint64_t word) {
            uint32_t bytes = 0;
            for (uint32_t i = 0; i < 4; ++i)
                bytes |= (keeps(4 * word + i) ? 1u + i : 0u) << 8 * i;
            return bytes;
        });
        info.test = SLUICE_COMPACT_BYTES;
        info.flags = SLUICE_COMPACT_PARTITION;
        info.selectors = flags.range();
        info.output = output.range();
        runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
        CHECK(isCompacted(output, n, kept.words()[0], true));
    }
    {
        LargeBuffer mask((uint64_t(n) + 31) / 32 * 4);
        mask.fill([](uint64_t word) {
            uint32_t bits = 0;
            for (uint32_t i = 0; i < 32; ++i)
                bits |= uint32_t(keeps(32 * word + i)) << i;
            return bits;
        });
        info.test = SLUICE_COMPACT_MASK;
        info.flags = 0;
        info.selectors = mask.range();
        info.output = input.range();
        runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
        CHECK(isCompacted(input, n, kept.words()[0], false));
    }
    LargeBuffer output(4 * uint64_t(n));
    input.fill([](uint64_t i) { return uint32_t(i / 3); });
    info.test = SLUICE_COMPACT_UNIQUE;
    info.selectors = {};
    info.output = output.range();
    runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    CHECK((kept.words() == Words{(n + 2) / 3}));
    CHECK(output.holds(4 * uint64_t((n + 2) / 3), valueOf));
}

TEST_CASE("large: compaction of elements of 8 and 16 bytes" * doctest::skip(!wanted()))
{
    for (const uint32_t wordsEach : {2u, 4u}) {
        const uint32_t n = sized((1u << 30) / wordsEach + 12345);
        LargeBuffer input(4 * uint64_t(n) * wordsEach), output(4 * uint64_t(n) * wordsEach);
        const auto wordOf = [&](uint64_t i, uint32_t word) {
            return keeps(i) && word == i % wordsEach ? uint32_t(i) | 1u : 0u;
        };
        input.fill([&](uint64_t i) { return wordOf(i / wordsEach, uint32_t(i % wordsEach)); });
        Buffer kept(device(), 4);
        SluiceCompactInfo info = {};
        info.test = SLUICE_COMPACT_NON_ZERO;
        info.elementSize = 4 * wordsEach;
        info.maxCount = n;
        info.input = input.range();
        info.output = output.range();
        info.resultCount = kept.range();
        runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
        uint64_t next = 0;
        bool good = true;
        const auto skip = [&] {
            while (next < n && !keeps(next))
                ++next;
        };
        output.read(4 * uint64_t(kept.words()[0]) * wordsEach,
                    [&](uint64_t first, const Words& words) {
                        for (size_t i = 0; i < words.size(); ++i) {
                            const uint32_t word = uint32_t((first + i) % wordsEach);
                            if (word == 0) skip();
                            good = good && words[i] == wordOf(next, word);
                            if (word + 1 == wordsEach) ++next;
                        }
                    });
        skip();
        CHECK(good);
        CHECK(next == n);
    }
}

TEST_CASE("large: scans in segments, of u64 and of f32" * doctest::skip(!wanted()))
{
    const auto isHead = [](uint64_t i) { return hashOf(i) % 1000 == 0; };
    {
        const uint32_t n = sized((1u << 30) + 12345);
        LargeBuffer values(4 * uint64_t(n)), heads((uint64_t(n) + 31) / 32 * 4);
        const auto valueOf = [](uint64_t i) { return hashOf(i + 77); };
        values.fill(valueOf);
        heads.fill([&](uint64_t word) {
            uint32_t bits = 0;
            for (uint32_t i = 0; i < 32; ++i)
                bits |= uint32_t(isHead(32 * word + i)) << i;
            return bits;
        });
        SluiceScanInfo info = {};
        info.maxCount = n;
        info.input = info.output = values.range();
        info.heads = heads.range();
        runWithScratch(device(), info, sluiceGetScanRequirements, sluiceCmdScan);
        uint32_t sum = 0;
        bool good = true;
        values.read(4 * uint64_t(n), [&](uint64_t first, const Words& words) {
            for (size_t i = 0; i < words.size(); ++i) {
                sum = isHead(first + i) ? 0 : sum;
                good = good && words[i] == sum;
                sum += valueOf(first + i);
            }
        });
        CHECK(good);
    }
    for (const bool ofFloats : {false, true}) {
        // The inputs are any words for u64; for f32 they are a 1 now and then, so that all sums are
        // exact.
        const uint32_t n = sized(ofFloats ? (1u << 30) + 12345 : (1u << 29) + 12345),
                       wordsEach = ofFloats ? 1 : 2;
        const auto wordOf = [&](uint64_t i) {
            return ofFloats ? (i % 128 == 5 ? 0x3f800000u : 0u) : hashOf(i);
        };
        LargeBuffer values(4 * uint64_t(n) * wordsEach), output(4 * uint64_t(n) * wordsEach);
        values.fill(wordOf);
        Buffer total(device(), 4ull * wordsEach);
        SluiceScanInfo info = {};
        info.kind = SLUICE_SCAN_INCLUSIVE;
        info.type = ofFloats ? SLUICE_VALUE_F32 : SLUICE_VALUE_U64;
        info.maxCount = n;
        info.input = values.range();
        info.output = output.range();
        info.total = total.range();
        runWithScratch(device(), info, sluiceGetScanRequirements, sluiceCmdScan);
        uint64_t sum = 0;
        bool good = true;
        const auto sumWord = [&](uint64_t word) {
            if (!ofFloats) return uint32_t(sum >> 32 * word);
            const float exact = float(sum);
            uint32_t bits;
            std::memcpy(&bits, &exact, 4);
            return bits;
        };
        output.read(4 * uint64_t(n) * wordsEach, [&](uint64_t first, const Words& words) {
            for (size_t i = 0; i < words.size(); ++i) {
                const uint64_t at = first + i;
                if (ofFloats)
                    sum += wordOf(at) != 0 ? 1 : 0;
                else if (at % 2 == 0)
                    sum += uint64_t(wordOf(at + 1)) << 32 | wordOf(at);
                good = good && words[i] == sumWord(at % wordsEach);
            }
        });
        CHECK(good);
        const Words totals = total.words();
        for (uint32_t word = 0; word < wordsEach; ++word)
            CHECK(totals[word] == sumWord(word));
    }
}

TEST_SUITE_END();
