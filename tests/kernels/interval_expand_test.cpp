// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_interval.h>

#include "tests/support/intervals.h"

using namespace sluice::test;

namespace {

struct ExpandCase {
    uint32_t elementSize = 4;
    bool asOffsets = false, countOnDevice = false;
    // Values and destination begin this many elements after an aligned address.
    uint32_t shift = 0;
    uint32_t missing = 0;   // elements for which the destination has no room
    uint32_t byteShift = 0; // the same in bytes, for sizes that are no power of two
};

void checkExpand(const Words& counts, const ExpandCase& how, std::mt19937& random)
{
    CAPTURE(counts.size());
    CAPTURE(how.elementSize);
    CAPTURE(how.shift);
    CAPTURE(how.missing);
    const uint32_t size = how.elementSize, total = sumOf(counts),
                   capacity = total - std::min(total, how.missing);
    const Bytes values = randomBytes((counts.size() + 5) * size, random);
    const uint64_t begin = uint64_t(how.shift) * size + how.byteShift;
    Bytes placed(size_t(begin), 0x11);
    placed.insert(placed.end(), values.begin(), values.end());

    IntervalList list(counts, how.asOffsets, how.countOnDevice);
    Buffer source(device(), placed), target(device(), begin + uint64_t(total) * size + 20),
        result(device(), 8);
    Buffer scratch = list.scratch();
    SluiceIntervalExpandInfo info = {};
    info.elementSize = size;
    info.intervals = list.intervals;
    info.values = from(source, begin, values.size());
    info.destination = from(target, begin, uint64_t(capacity) * size);
    info.result = result.range();
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalExpand(device().context(), commands, &info) == SLUICE_OK);
    });

    Bytes expected(size_t(target.size()), Buffer::kPoison);
    uint64_t element = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
        for (uint32_t k = 0; k < counts[i]; ++k, ++element) {
            if (element < capacity)
                std::copy_n(values.begin() + long(i * size), size,
                            expected.begin() + long(begin + element * size));
        }
    }
    CHECK((target.bytes() == expected));
    CHECK((result.words() ==
           Words{total, capacity < total ? uint32_t(SLUICE_INTERVAL_TRUNCATED) : 0u}));
    scratch.bytes(); // checks the bytes around it
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("interval_expand: the demonstration")
{
    const Words expected = {
        1,    1,    1,    1,    1,    1,    1,    2,    2,    2,   2,   2,   2,   2,    3,
        3,    3,    3,    3,    3,    3,    3,    3,    3,    3,   3,   3,   3,   3,    3,
        8,    34,   34,   34,   34,   34,   34,   34,   34,   34,  34,  34,  34,  34,   34,
        55,   55,   55,   55,   55,   55,   55,   55,   55,   55,  89,  89,  89,  144,  144,
        144,  144,  144,  144,  144,  144,  144,  144,  144,  144, 144, 144, 233, 233,  377,
        610,  610,  610,  610,  610,  610,  610,  610,  610,  610, 610, 987, 987, 1597, 4181,
        4181, 4181, 4181, 4181, 6765, 6765, 6765, 6765, 6765, 6765};
    IntervalList list(demo::kExpandCounts, false, false);
    Buffer values(device(), demo::kExpandValues), target(device(), 400), scratch = list.scratch();
    SluiceIntervalExpandInfo info = {};
    info.elementSize = 4;
    info.intervals = list.intervals;
    info.values = values.range();
    info.destination = target.range();
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalExpand(device().context(), commands, &info) == SLUICE_OK);
    });
    CHECK((target.words() == expected));
}

TEST_CASE("interval_expand: every distribution, counts and offsets, a count in GPU memory")
{
    std::mt19937 random = makeRandom(51);
    for (const Words& counts : distributions(20000, random)) {
        for (const bool asOffsets : {false, true}) {
            ExpandCase how;
            how.asOffsets = asOffsets;
            how.countOnDevice = asOffsets;
            checkExpand(counts, how, random);
            how.countOnDevice = !asOffsets;
            how.shift = 1 + uint32_t(random() % 7);
            how.missing = 1 + sumOf(counts) / 3;
            checkExpand(counts, how, random);
        }
    }
}

TEST_CASE("interval_expand: every element size")
{
    std::mt19937 random = makeRandom(52);
    for (uint32_t size = 1; size <= 20; ++size) {
        ExpandCase how;
        how.elementSize = size;
        for (const uint32_t shift : {0u, 1u, 3u}) {
            how.shift = shift;
            how.byteShift = (size & (size - 1)) == 0 ? 0 : uint32_t(random() % 16);
            checkExpand(randomCounts(700, 9, random), how, random);
            checkExpand(randomCounts(20, 900, random), how, random);
        }
    }
}

TEST_CASE("interval_expand: every size around the batch")
{
    std::mt19937 random = makeRandom(53);
    for (const size_t count :
         std::initializer_list<size_t>{0, 1, 2, 127, 128, 129, 255, 256, 257, 2047, 2048, 2049})
        checkExpand(randomCounts(count, 5, random), ExpandCase(), random);
}

TEST_CASE("interval_expand: counts that add up to 2^32 and more")
{
    for (const uint32_t last : {0xffffffffu, 0x80000000u, 0xfffffff0u}) {
        Words counts = {3, 0, last, 5, last, 0xffffffffu, 7};
        counts.resize(400, 0xfedcba98u);
        IntervalList list(counts, false, false);
        Words values(counts.size());
        std::iota(values.begin(), values.end(), 1u);
        Buffer source(device(), values), target(device(), 40), result(device(), 8),
            scratch = list.scratch();
        SluiceIntervalExpandInfo info = {};
        info.elementSize = 4;
        info.intervals = list.intervals;
        info.values = source.range();
        info.destination = target.range();
        info.result = result.range();
        info.scratch = scratch.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdIntervalExpand(device().context(), commands, &info) == SLUICE_OK);
        });
        CHECK((target.words() == Words{1, 1, 1, 3, 3, 3, 3, 3, 3, 3}));
        CHECK((result.words() ==
               Words{0xffffffffu, SLUICE_INTERVAL_SATURATED | SLUICE_INTERVAL_TRUNCATED}));
    }
}

TEST_SUITE_END();
