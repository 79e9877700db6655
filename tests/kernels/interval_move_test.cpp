// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_interval.h>

#include "tests/support/intervals.h"

#include <cstring>

using namespace sluice::test;

namespace {

struct MoveCase {
    SluiceIntervalMoveKind kind = SLUICE_INTERVAL_MOVE;
    uint32_t elementSize = 4, positionSize = 4;
    bool asOffsets = false, countOnDevice = false;
    uint32_t sourceShift = 0, targetShift = 0; // bytes after an aligned address
};

// Returns where intervals begin if they follow one another in a random order.
Words shuffledPlaces(const Words& counts, std::mt19937& random)
{
    std::vector<size_t> order(counts.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::shuffle(order.begin(), order.end(), random);
    Words places(counts.size());
    uint32_t at = 0;
    for (const size_t i : order) {
        places[i] = at;
        at += counts[i];
    }
    return places;
}

Bytes positionBytes(const Words& positions, uint32_t positionSize)
{
    Bytes bytes(positions.size() * positionSize + 40, 0);
    for (size_t i = 0; i < positions.size(); ++i)
        std::memcpy(bytes.data() + i * positionSize, &positions[i], 4);
    return bytes;
}

void checkMove(const Words& counts, const MoveCase& how, std::mt19937& random)
{
    CAPTURE(counts.size());
    CAPTURE(how.kind);
    CAPTURE(how.elementSize);
    CAPTURE(how.sourceShift);
    CAPTURE(how.targetShift);
    const uint32_t size = how.elementSize, total = sumOf(counts);
    const Words offsets = offsetsOf(counts);
    const Words gather =
        how.kind == SLUICE_INTERVAL_SCATTER ? offsets : shuffledPlaces(counts, random);
    const Words scatter =
        how.kind == SLUICE_INTERVAL_GATHER ? offsets : shuffledPlaces(counts, random);
    const Bytes content = randomBytes(size_t(how.sourceShift) + size_t(total) * size, random);

    IntervalList list(counts, how.asOffsets, how.countOnDevice);
    Buffer source(device(), content),
        target(device(), how.targetShift + uint64_t(total) * size + 20);
    Buffer gatherBuffer(device(), positionBytes(gather, how.positionSize));
    Buffer scatterBuffer(device(), positionBytes(scatter, how.positionSize));
    Buffer result(device(), 8), scratch = list.scratch();
    SluiceIntervalMoveInfo info = {};
    info.kind = how.kind;
    info.elementSize = size;
    info.positionSize = how.positionSize;
    info.intervals = list.intervals;
    if (how.kind != SLUICE_INTERVAL_SCATTER) info.gather = gatherBuffer.range();
    if (how.kind != SLUICE_INTERVAL_GATHER) info.scatter = scatterBuffer.range();
    info.source = from(source, how.sourceShift, uint64_t(total) * size);
    info.destination = from(target, how.targetShift, uint64_t(total) * size);
    info.result = result.range();
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &info) == SLUICE_OK);
    });

    Bytes expected(size_t(target.size()), Buffer::kPoison);
    for (size_t i = 0; i < counts.size(); ++i)
        std::copy_n(content.begin() + long(how.sourceShift + uint64_t(gather[i]) * size),
                    uint64_t(counts[i]) * size,
                    expected.begin() + long(how.targetShift + uint64_t(scatter[i]) * size));
    CHECK((target.bytes() == expected));
    CHECK((result.words() == Words{total, 0}));
    CHECK((source.bytes() == content));
    scratch.bytes(); // checks the bytes around it
}

// Runs a move of 4-byte elements and returns the result words.
Words moveWords(const Words& counts, const Words& gather, const Words& scatter, Buffer& source,
                Buffer& target)
{
    IntervalList list(counts, false, false);
    Buffer gatherBuffer(device(), gather), scatterBuffer(device(), scatter), result(device(), 8);
    Buffer scratch = list.scratch();
    SluiceIntervalMoveInfo info = {};
    info.elementSize = 4;
    info.positionSize = 4;
    info.intervals = list.intervals;
    info.gather = gatherBuffer.range();
    info.scatter = scatterBuffer.range();
    info.source = source.range();
    info.destination = target.range();
    info.result = result.range();
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &info) == SLUICE_OK);
    });
    return result.words();
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("interval_move: the demonstration")
{
    const Words expected = {11, 12, 78, 79, 80, 81, 82, 83, 84, 85, 75, 76, 77, 35, 36, 37, 38,
                            39, 40, 41, 42, 43, 44, 45, 46, 60, 61, 2,  3,  4,  5,  6,  7,  8,
                            9,  10, 95, 96, 97, 98, 99, 67, 68, 69, 70, 71, 72, 73, 74, 18, 19,
                            20, 21, 22, 23, 29, 30, 31, 32, 33, 34, 62, 63, 64, 65, 66, 47, 48,
                            49, 50, 51, 24, 25, 26, 27, 28, 13, 14, 15, 16, 86, 87, 88, 89, 90,
                            91, 92, 93, 94, 52, 53, 54, 55, 56, 57, 58, 59, 0,  1,  17};
    Words numbers(100);
    std::iota(numbers.begin(), numbers.end(), 0u);
    Buffer source(device(), numbers), target(device(), 400);
    CHECK((moveWords(demo::kMoveCounts, demo::kMoveGather, demo::kMoveScatter, source, target) ==
           Words{100, 0}));
    CHECK((target.words() == expected));
}

TEST_CASE("interval_move: every kind and distribution, counts and offsets, a count in GPU memory")
{
    std::mt19937 random = makeRandom(71);
    for (const SluiceIntervalMoveKind kind :
         {SLUICE_INTERVAL_MOVE, SLUICE_INTERVAL_GATHER, SLUICE_INTERVAL_SCATTER}) {
        for (const Words& counts : distributions(20000, random)) {
            MoveCase how;
            how.kind = kind;
            how.asOffsets = random() % 2 != 0;
            how.countOnDevice = random() % 2 != 0;
            checkMove(counts, how, random);
            how.asOffsets = !how.asOffsets;
            how.positionSize = 8;
            how.elementSize = 1;
            how.sourceShift = uint32_t(random() % 16);
            how.targetShift = uint32_t(random() % 16);
            checkMove(counts, how, random);
        }
    }
}

TEST_CASE("interval_move: bytes, every alignment of source and destination")
{
    std::mt19937 random = makeRandom(72);
    for (uint32_t shift = 0; shift < 16; ++shift) {
        MoveCase how;
        how.elementSize = 1;
        how.sourceShift = shift;
        how.targetShift = uint32_t(random() % 16);
        checkMove({1000}, how, random); // one long run for each difference of the two shifts
        checkMove(randomCounts(300, 40, random), how, random);
        how.sourceShift = how.targetShift;
        how.targetShift = shift;
        checkMove({7, 1000, 0, 1, 333}, how, random);
    }
}

TEST_CASE("interval_move: every element size")
{
    std::mt19937 random = makeRandom(73);
    for (uint32_t size = 1; size <= 20; ++size) {
        MoveCase how;
        how.elementSize = size;
        how.kind = SluiceIntervalMoveKind(size % 3);
        checkMove(randomCounts(500, 12, random), how, random);
        how.targetShift = size;
        checkMove({5000, 1, 0, 3000}, how, random); // more elements than a workgroup takes
    }
}

TEST_CASE("interval_move: every size around the batch; more than one round of the plan")
{
    std::mt19937 random = makeRandom(74);
    for (const size_t count :
         std::initializer_list<size_t>{0, 1, 127, 128, 129, 255, 256, 257, 2047, 2048, 2049, 9000})
        checkMove(randomCounts(count, 3, random), MoveCase(), random);
}

TEST_CASE(
    "interval_move: intervals outside source or destination are skipped, whatever the numbers")
{
    Words numbers(100);
    std::iota(numbers.begin(), numbers.end(), 0u);
    Buffer source(device(), numbers), target(device(), 400);
    const Words counts = {10, 10, 10, 10, 0, 10, 5};
    const Words gather = {0, 95, 10, 0xffffffffu, 0xffffffffu, 0xfffffff8u, 20};
    const Words scatter = {0, 10, 91, 20, 0xffffffffu, 30, 0x40000000u};
    CHECK(
        (moveWords(counts, gather, scatter, source, target) == Words{55, SLUICE_INTERVAL_SKIPPED}));
    Words expected(100, kPoisonWord);
    std::iota(expected.begin(), expected.begin() + 10, 0u);
    CHECK((target.words() == expected));
}

TEST_CASE("interval_move: 64-bit positions that wrap around are skipped")
{
    std::mt19937 random = makeRandom(75);
    Buffer source(device(), randomBytes(1000, random)), target(device(), 1000), result(device(), 8);
    IntervalList list({16, 16, 16, 16}, false, false);
    const Words far = {0, 0x10000000u, 4, 0xffffffffu, 0, 0x80000000u, 8, 0};
    Buffer gather(device(), far), scatter(device(), Words(8, 0)), scratch = list.scratch();
    SluiceIntervalMoveInfo info = {};
    info.elementSize = 16;
    info.positionSize = 8;
    info.intervals = list.intervals;
    info.gather = gather.range();
    info.scatter = scatter.range();
    info.source = source.range();
    info.destination = target.range();
    info.result = result.range();
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &info) == SLUICE_OK);
    });
    // The destination has only 62 elements: the first intervals fit, the last one is moved in part.
    CHECK((result.words() == Words{64, SLUICE_INTERVAL_SKIPPED | SLUICE_INTERVAL_TRUNCATED}));
    const Bytes content = source.bytes();
    Bytes expected(1000, Buffer::kPoison);
    std::copy_n(content.begin() + 128, 14 * 16, expected.begin());
    CHECK((target.bytes() == expected));
}

TEST_CASE("interval_move: hostile lists write nothing outside and end")
{
    std::mt19937 random = makeRandom(76);
    for (uint32_t round = 0; round < 6; ++round) {
        Words counts(3000), gather(3000), scatter(3000);
        for (size_t i = 0; i < counts.size(); ++i) {
            counts[i] = round % 2 != 0 ? uint32_t(random()) : uint32_t(random() % 40);
            gather[i] = uint32_t(random() % 1100);
            scatter[i] = uint32_t(random() % 1100);
        }
        Buffer source(device(), 4000), target(device(), 4000);
        moveWords(counts, gather, scatter, source, target);
        target.bytes(); // checks the bytes around it

        // The scatter positions serve as offsets, which are in no order.
        IntervalList list(counts, false, false);
        SluiceIntervals intervals = list.intervals;
        std::swap(intervals.counts, intervals.offsets);
        --intervals.maxCount;
        Buffer places(device(), scatter), result(device(), 8);
        SluiceIntervalMoveInfo info = {};
        info.kind = SLUICE_INTERVAL_GATHER;
        info.elementSize = 4;
        info.positionSize = 4;
        info.intervals = intervals;
        info.gather = places.range();
        info.source = source.range();
        info.destination = target.range();
        info.result = result.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &info) == SLUICE_OK);
        });
        target.bytes();
        source.bytes();
    }
}

TEST_CASE("interval_move: bad arguments are refused")
{
    IntervalList list({1, 2, 3}, false, false);
    Buffer words(device(), 64), scratch = list.scratch();
    SluiceIntervalMoveInfo good = {};
    good.elementSize = 4;
    good.positionSize = 4;
    good.intervals = list.intervals;
    good.gather = good.scatter = good.source = words.range();
    good.destination = words.range();
    good.scratch = scratch.range();
    const auto status = [&](const SluiceIntervalMoveInfo& info) {
        SluiceStatus result = SLUICE_OK;
        device().run([&](SluiceCommands commands) {
            result = sluiceCmdIntervalMove(device().context(), commands, &info);
        });
        return result;
    };
    SluiceIntervalMoveInfo bad = good;
    bad.elementSize = 21;
    CHECK(status(bad) == SLUICE_ERROR_ARGUMENT);
    bad = good;
    bad.elementSize = 0;
    CHECK(status(bad) == SLUICE_ERROR_ARGUMENT);
    bad = good;
    bad.positionSize = 2;
    CHECK(status(bad) == SLUICE_ERROR_ARGUMENT);
    bad = good;
    bad.intervals.offsets = bad.intervals.counts;
    CHECK(status(bad) == SLUICE_ERROR_ARGUMENT);
    bad = good;
    bad.intervals.counts = {};
    CHECK(status(bad) == SLUICE_ERROR_ARGUMENT);
    bad = good;
    bad.gather.size = 8;
    CHECK(status(bad) == SLUICE_ERROR_BUFFER_SIZE);
    bad = good;
    bad.gather.offset += 2;
    CHECK(status(bad) == SLUICE_ERROR_ARGUMENT);
}

TEST_SUITE_END();
