// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what tests of the interval family share: lists of intervals of every kind, and how these
// reach the device.
#pragma once

#include <sluice/sluice_interval.h>

#include "tests/support/devices.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sluice::test {

constexpr uint32_t kPoisonWord = Buffer::kPoison * 0x01010101u;

// The intervals of the demonstrations of moderngpu (Baxter: IntervalExpand and IntervalMove).
namespace demo {
const Words kExpandCounts = {2, 5, 7, 16, 0, 1, 0, 0, 14, 10, 3, 14, 2, 1, 11, 2, 1, 0, 5, 6};
const Words kExpandValues = {1,  1,   2,   3,   5,   8,   13,   21,   34,   55,
                             89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765};
const Words kMoveCounts = {3, 9, 1, 9, 8, 5, 10, 2, 5, 2, 8, 6, 5, 2, 4, 0, 8, 2, 5, 6};
const Words kMoveGather = {75, 86, 17, 2, 67, 24, 37, 11, 95, 35,
                           52, 18, 47, 0, 13, 75, 78, 60, 62, 29};
const Words kMoveScatter = {10, 80, 99, 27, 41, 71, 15, 0,  36, 13,
                            89, 49, 66, 97, 76, 76, 2,  25, 61, 55};
} // namespace demo

// Returns maxCount + 1 offsets.
inline Words offsetsOf(const Words& counts)
{
    Words offsets(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
    return offsets;
}

inline uint32_t sumOf(const Words& counts)
{
    return std::accumulate(counts.begin(), counts.end(), 0u);
}

inline Words randomCounts(size_t count, uint32_t most, std::mt19937& random)
{
    Words counts(count);
    for (uint32_t& one : counts)
        one = uint32_t(random() % (most + 1));
    return counts;
}

// Returns lists of about `elements` elements, one for each distribution that could be slow or
// wrong.
inline std::vector<Words> distributions(uint32_t elements, std::mt19937& random)
{
    std::vector<Words> lists;
    lists.push_back(Words(elements / 16, 16));               // all the same
    lists.push_back(randomCounts(elements / 8, 16, random)); // uniform
    lists.push_back(randomCounts(elements, 2, random));      // very small, many of them empty
    lists.push_back(Words(elements / 4 + 1, 0));             // all of them empty
    lists.push_back({elements});                             // one interval
    Words power(elements / 16);                              // few large ones, many small ones
    for (uint32_t& one : power)
        one = 1u << random() % 4 << (random() % 8 == 0 ? 5 : 0);
    lists.push_back(power);
    // A very large one among very small ones, and a long stretch of empty ones.
    Words huge = randomCounts(elements / 4, 1, random);
    huge[huge.size() / 3] = elements;
    std::fill(huge.begin() + long(huge.size() / 2), huge.begin() + long(huge.size() * 3 / 4), 0u);
    lists.push_back(huge);
    return lists;
}

inline Buffer intervalScratch(const SluiceIntervals& intervals)
{
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetIntervalRequirements(device().context(), &intervals, &requirements) ==
            SLUICE_OK);
    CHECK(requirements.scratchSize <= (intervals.maxCount / 128 + 1100ull) * 4);
    return makeScratch(device(), requirements);
}

// Holds a list of intervals on the device.
struct IntervalList {
    Buffer list, count;
    SluiceIntervals intervals = {};

    // countOnDevice: the count is in GPU memory, and maxCount is larger. The rest of the list is
    // then poison.
    IntervalList(const Words& counts, bool asOffsets, bool countOnDevice)
        : list(device(), padded(asOffsets ? offsetsOf(counts) : counts, countOnDevice)),
          count(device(), Words{uint32_t(counts.size())})
    {
        intervals.maxCount = uint32_t(counts.size()) + (countOnDevice ? 5 : 0);
        if (countOnDevice) intervals.count = count.range();
        (asOffsets ? intervals.offsets : intervals.counts) = list.range();
    }

    static Words padded(Words words, bool countOnDevice)
    {
        if (countOnDevice) words.resize(words.size() + 5, kPoisonWord);
        return words;
    }

    Buffer scratch() const { return intervalScratch(intervals); }
};

inline Bytes randomBytes(size_t size, std::mt19937& random)
{
    Bytes bytes(size);
    for (uint8_t& byte : bytes)
        byte = uint8_t(random());
    return bytes;
}

// Returns a part of a buffer that may begin at any byte.
inline SluiceBuffer from(const Buffer& buffer, uint64_t offset, uint64_t size)
{
    SluiceBuffer range = buffer.range();
    range.offset += offset;
    range.size = size;
    return range;
}

} // namespace sluice::test
