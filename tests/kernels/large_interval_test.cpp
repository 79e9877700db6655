// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests intervals and bulk operations on buffers above 4 GiB. large_test.cpp says when these cases
// run.
#include <sluice/sluice_interval.h>

#include "tests/support/intervals.h"
#include "tests/support/large.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace sluice::test;

TEST_SUITE_BEGIN("device");

namespace {

// Holds intervals of some 2 MB each.
struct LongIntervals {
    const uint64_t elements = sized((uint64_t(1) << 30) + (100 << 20));
    Words counts, begins;

    LongIntervals()
    {
        uint64_t sum = 0;
        while (sum < elements) {
            begins.push_back(uint32_t(sum));
            counts.push_back(uint32_t(
                std::min<uint64_t>(elements - sum, 400000 + hashOf(counts.size()) % 200000)));
            sum += counts.back();
        }
    }
};

} // namespace

TEST_CASE("large: intervals moved" * doctest::skip(!wanted()))
{
    // The intervals are in order in the source, and in another order in the destination.
    const LongIntervals list;
    const uint64_t elements = list.elements;
    const Words &counts = list.counts, &gather = list.begins;
    Words scatter;
    std::vector<uint32_t> order(counts.size());
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937 random = makeRandom(91);
    std::shuffle(order.begin(), order.end(), random);
    scatter.resize(counts.size());
    std::vector<uint32_t> starts; // in the destination's order
    uint32_t at = 0;
    for (const uint32_t i : order) {
        starts.push_back(at);
        scatter[i] = at;
        at += counts[i];
    }
    const auto intervalAt = [&](uint64_t i) {
        return size_t(std::upper_bound(starts.begin(), starts.end(), uint32_t(i)) -
                      starts.begin()) -
               1;
    };
    LargeBuffer source(4 * elements), destination(4 * elements);
    source.fill(hashOf);
    Buffer countList(device(), counts), gatherList(device(), gather),
        scatterList(device(), scatter), result(device(), 8);
    SluiceIntervals intervals = {};
    intervals.maxCount = uint32_t(counts.size());
    intervals.counts = countList.range();
    Buffer scratch = intervalScratch(intervals);
    SluiceIntervalMoveInfo move = {};
    move.kind = SLUICE_INTERVAL_MOVE;
    move.elementSize = 4;
    move.positionSize = 4;
    move.intervals = intervals;
    move.gather = gatherList.range();
    move.scatter = scatterList.range();
    move.source = source.range();
    move.destination = destination.range();
    move.result = result.range();
    move.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &move) == SLUICE_OK);
    });
    CHECK((result.words() == Words{uint32_t(elements), 0}));
    CHECK(destination.holds(4 * elements, [&](uint64_t i) {
        const size_t k = intervalAt(i);
        return hashOf(gather[order[k]] + (i - starts[k]));
    }));

    // GATHER moves the intervals back to where they were; SCATTER then moves them once more.
    const auto cleared = [](uint64_t) { return 0u; };
    source.fill(cleared);
    move.kind = SLUICE_INTERVAL_GATHER;
    move.gather = scatterList.range();
    std::swap(move.source, move.destination);
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &move) == SLUICE_OK);
    });
    CHECK((result.words() == Words{uint32_t(elements), 0}));
    CHECK(source.holds(4 * elements, hashOf));
    destination.fill(cleared);
    move.kind = SLUICE_INTERVAL_SCATTER;
    move.gather = {};
    std::swap(move.source, move.destination);
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &move) == SLUICE_OK);
    });
    CHECK((result.words() == Words{uint32_t(elements), 0}));
    CHECK(destination.holds(4 * elements, [&](uint64_t i) {
        const size_t k = intervalAt(i);
        return hashOf(gather[order[k]] + (i - starts[k]));
    }));
}

TEST_CASE("large: intervals expanded" * doctest::skip(!wanted()))
{
    // Elements of 5 bytes, in all 5.4 GB. Their bytes come from a hash of the number of their
    // interval.
    const LongIntervals list;
    const uint64_t elements = list.elements;
    const Words &counts = list.counts, &begins = list.begins;
    Buffer countList(device(), counts), result(device(), 8);
    SluiceIntervals intervals = {};
    intervals.maxCount = uint32_t(counts.size());
    intervals.counts = countList.range();
    Buffer scratch = intervalScratch(intervals);
    constexpr uint64_t size = 5;
    LargeBuffer expanded(size * elements / 4 * 4);
    Bytes values(size * counts.size());
    for (size_t k = 0; k < counts.size(); ++k) {
        for (uint32_t byte = 0; byte < size; ++byte)
            values[size * k + byte] = uint8_t(hashOf(k) >> 5 * byte);
    }
    Buffer valueList(device(), values);
    SluiceIntervalExpandInfo expand = {};
    expand.elementSize = uint32_t(size);
    expand.intervals = intervals;
    expand.values = valueList.range();
    expand.destination = expanded.range();
    expand.result = result.range();
    expand.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalExpand(device().context(), commands, &expand) == SLUICE_OK);
    });
    CHECK(result.words()[0] == uint32_t(elements));
    CHECK(expanded.holds((size * elements - size) / 4 * 4, [&](uint64_t i) {
        uint32_t word = 0;
        for (uint64_t byte = 4 * i; byte < 4 * i + 4; ++byte) {
            const size_t k =
                size_t(std::upper_bound(begins.begin(), begins.end(), uint32_t(byte / size)) -
                       begins.begin()) -
                1;
            word |= uint32_t(values[size * k + byte % size]) << 8 * (byte % 4);
        }
        return word;
    }));
}

TEST_CASE("large: very many intervals" * doctest::skip(!wanted()))
{
    {
        // The expanded values are the numbers of their intervals.
        const uint32_t n = sized(300000000);
        const auto countOf = [](uint64_t i) { return hashOf(i) % 8; };
        uint64_t elements = 0;
        for (uint32_t i = 0; i < n; ++i)
            elements += countOf(i);
        LargeBuffer counts(4 * uint64_t(n)), values(4 * uint64_t(n)), destination(4 * elements),
            sources(4 * elements);
        counts.fill(countOf);
        values.fill([](uint64_t i) { return uint32_t(i) ^ 0x5a5a5a5au; });
        Buffer result(device(), 8);
        SluiceIntervals intervals = {};
        intervals.maxCount = n;
        intervals.counts = counts.range();
        Buffer scratch = intervalScratch(intervals);
        SluiceIntervalExpandInfo expand = {};
        expand.elementSize = 4;
        expand.intervals = intervals;
        expand.values = values.range();
        expand.destination = destination.range();
        expand.result = result.range();
        expand.scratch = scratch.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdIntervalExpand(device().context(), commands, &expand) == SLUICE_OK);
        });
        CHECK((result.words() == Words{uint32_t(elements), 0}));
        SluiceIntervalSearchInfo search = {};
        search.intervals = intervals;
        search.sources = sources.range();
        search.result = result.range();
        search.scratch = scratch.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdIntervalSearch(device().context(), commands, &search) == SLUICE_OK);
        });
        CHECK((result.words() == Words{uint32_t(elements), 0}));
        for (const bool ofSources : {false, true}) {
            uint32_t interval = 0, left = countOf(0);
            bool good = true;
            (ofSources ? sources : destination)
                .read(4 * elements, [&](uint64_t, const Words& words) {
                    for (const uint32_t word : words) {
                        while (left == 0)
                            left = countOf(++interval);
                        --left;
                        good = good && word == (ofSources ? interval : interval ^ 0x5a5a5a5au);
                    }
                });
            CHECK(good);
        }
    }
    // There are as many intervals as possible, all of them empty except for three: the first one,
    // the last one, and one whose count is above 4 GiB in the list.
    const uint32_t n = sized(~0u), third = uint32_t(uint64_t(n) * 5 / 6);
    LargeBuffer counts(4 * uint64_t(n));
    counts.fill([&](uint64_t i) { return i == 0 ? 3u : i == third ? 2u : i + 1 == n ? 5u : 0u; });
    Buffer sources(device(), 40), ranks(device(), 40), result(device(), 8);
    SluiceIntervalSearchInfo search = {};
    search.intervals.maxCount = n;
    search.intervals.counts = counts.range();
    search.sources = sources.range();
    search.ranks = ranks.range();
    search.result = result.range();
    Buffer scratch = intervalScratch(search.intervals);
    search.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalSearch(device().context(), commands, &search) == SLUICE_OK);
    });
    CHECK((result.words() == Words{10, 0}));
    CHECK((sources.words() == Words{0, 0, 0, third, third, n - 1, n - 1, n - 1, n - 1, n - 1}));
    CHECK((ranks.words() == Words{0, 1, 2, 0, 1, 0, 1, 2, 3, 4}));
}

TEST_CASE("large: 2^32 - 1 items after an insert" * doctest::skip(!wanted()))
{
    const uint32_t n = sized(~0u) / 4 * 4 + 3;
    Words indices;
    for (uint64_t at = 3; at < n - n / 1000; at += 1000000 + hashOf(at) % 1000000)
        indices.push_back(uint32_t(at));
    const uint32_t items = n - uint32_t(indices.size());
    LargeBuffer source((uint64_t(items) + 3) / 4 * 4), destination(uint64_t(n) + 1);
    source.fill(hashOf);
    Bytes inserted((indices.size() + 3) / 4 * 4);
    for (size_t j = 0; j < inserted.size(); ++j)
        inserted[j] = uint8_t(hashOf(j) >> 24);
    Buffer list(device(), indices), insertedList(device(), inserted), result(device(), 8);
    SluiceBulkInfo info = {};
    info.elementSize = 1;
    info.maxItemCount = items;
    info.maxIndexCount = uint32_t(indices.size());
    info.indices = list.range();
    info.source = source.part(0, items);
    info.inserted = insertedList.range();
    info.destination = destination.part(0, n);
    info.result = result.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdBulkInsert(device().context(), commands, &info) == SLUICE_OK);
    });
    CHECK((result.words() == Words{n, n == ~0u ? uint32_t(SLUICE_INTERVAL_SATURATED) : 0u}));
    CHECK(destination.holds(n / 4 * 4, [&](uint64_t i) {
        uint32_t word = 0;
        for (uint64_t at = 4 * i; at < 4 * i + 4; ++at) {
            // Inserted item j is at indices[j] + j. `low` becomes how many of them are before `at`.
            size_t low = 0, high = indices.size();
            while (low < high) {
                const size_t middle = (low + high) / 2;
                if (uint64_t(indices[middle]) + middle < at)
                    low = middle + 1;
                else
                    high = middle;
            }
            const bool isInserted = low < indices.size() && uint64_t(indices[low]) + low == at;
            const uint64_t from = at - low;
            word |= (isInserted ? inserted[low] : hashOf(from / 4) >> 8 * (from % 4) & 255u)
                    << 8 * (at % 4);
        }
        return word;
    }));
}

TEST_CASE("large: 2^32 - 1 items with some removed" * doctest::skip(!wanted()))
{
    constexpr uint32_t n = ~0u;
    LargeBuffer source(4 * kGib), destination(4 * kGib);
    source.fill(hashOf);
    Words indices;
    for (uint64_t at = 3; at < n; at += 1000000 + hashOf(at) % 1000000)
        indices.push_back(uint32_t(at));
    Buffer list(device(), indices), result(device(), 8);
    SluiceBulkInfo info = {};
    info.elementSize = 1;
    info.maxItemCount = n;
    info.maxIndexCount = uint32_t(indices.size());
    info.indices = list.range();
    info.source = source.part(0, n);
    info.destination = destination.part(0, n);
    info.result = result.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdBulkRemove(device().context(), commands, &info) == SLUICE_OK);
    });
    const uint32_t left = n - uint32_t(indices.size());
    CHECK((result.words() == Words{left, 0}));
    CHECK(destination.holds(left / 4 * 4, [&](uint64_t i) {
        uint32_t word = 0;
        for (uint64_t at = 4 * i; at < 4 * i + 4; ++at) {
            // The item that comes to `at` stood at `at` plus the number of items removed before it.
            // These are the list's entries k with indices[k] - k <= at.
            size_t low = 0, high = indices.size();
            while (low < high) {
                const size_t middle = (low + high) / 2;
                if (uint64_t(indices[middle]) - middle <= at)
                    low = middle + 1;
                else
                    high = middle;
            }
            const uint64_t from = at + low;
            word |= (hashOf(from / 4) >> 8 * (from % 4) & 255u) << 8 * (at % 4);
        }
        return word;
    }));
}

TEST_SUITE_END();
