// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks lists of intervals.
#pragma once

#include <sluice/sluice_interval.h>

#include "cpu/memory.h"

namespace sluice::cpu {

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

struct Interval {
    uint32_t index;
    uint64_t begin; // sum of the elements of all intervals before this one
    uint32_t count;
    uint32_t kept; // elements of this interval below the capacity
};

// Calls visit for every interval that has elements below `capacity`, and writes the result. visit
// must return false if it skips the interval.
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

// Computes the byte offset of `elements` elements at `position`. Returns false if they are not
// inside `size` bytes.
inline bool offsetWithin(uint64_t position, uint64_t elements, uint32_t elementSize, uint64_t size,
                         uint64_t& offset)
{
    offset = position * elementSize;
    return position <= size && elements <= size && offset <= size &&
           elements * elementSize <= size - offset;
}

} // namespace sluice::cpu
