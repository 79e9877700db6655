// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks lists of intervals, and writes the results of interval commands. A list says how many
// elements each interval has. The elements of all intervals are numbered consecutively, in the
// order of the intervals.
#pragma once

#include <sluice/sluice_interval.h>

#include "cpu/memory.h"

namespace sluice::cpu {

// Writes the result of a command (the number of elements, and flags), if the command has a buffer
// for it.
//   elements  the number of elements of all intervals
//   capacity  the number of elements for which the output has room
//   skipped   whether an interval was left out
inline void writeResult(const SluiceBuffer& result, uint64_t elements, uint64_t capacity,
                        bool skipped)
{
    if (result.size == 0) return;
    const uint32_t all = uint32_t(std::min<uint64_t>(elements, UINT32_MAX));
    uint32_t flags = 0;
    if (all == UINT32_MAX) flags |= SLUICE_INTERVAL_SATURATED;
    if (all > capacity) flags |= SLUICE_INTERVAL_TRUNCATED;
    if (skipped) flags |= SLUICE_INTERVAL_SKIPPED;
    pointer<uint32_t>(result)[0] = all;
    pointer<uint32_t>(result)[1] = flags;
}

// An interval of a list.
struct Interval {
    uint32_t index;
    uint64_t begin; // the number of its first element
    uint32_t count;
    uint32_t kept; // elements of this interval for which there is room
};

// The elements of all intervals are numbered, one interval after the other. Calls visit(interval)
// for each interval that has an element whose number is below `capacity`, and writes the command's
// result. visit returns false if it skips the interval.
template <typename Visit>
void forEachInterval(const SluiceIntervals& intervals, uint64_t capacity,
                     const SluiceBuffer& result, Visit visit)
{
    capacity = std::min<uint64_t>(capacity, UINT32_MAX);
    const uint32_t count = countOf(intervals.count, intervals.maxCount);
    const bool given = intervals.counts.size == 0 && intervals.maxCount != 0;
    const uint32_t* list = pointer<const uint32_t>(given ? intervals.offsets : intervals.counts);
    uint64_t begin = given ? list[0] : 0;
    bool skipped = false;
    for (uint32_t i = 0; i < count; ++i) {
        if (given) begin = list[i];
        const uint32_t length =
            !given ? list[i] : list[uint64_t(i) + 1] - std::min(list[i], list[uint64_t(i) + 1]);
        const uint64_t kept = std::min<uint64_t>(length, capacity - std::min(capacity, begin));
        if (kept != 0) skipped = !visit(Interval{i, begin, length, uint32_t(kept)}) || skipped;
        begin += length;
    }
    writeResult(result, given ? list[count] : begin, capacity, skipped);
}

// Computes the byte offset of element `position` in a buffer of `size` bytes. Returns false if the
// buffer does not contain `elements` elements from there on.
inline bool offsetWithin(uint64_t position, uint64_t elements, uint32_t elementSize, uint64_t size,
                         uint64_t& offset)
{
    offset = position * elementSize;
    return position <= size && elements <= size && offset <= size &&
           elements * elementSize <= size - offset;
}

} // namespace sluice::cpu
