// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks lists of intervals.
#pragma once

#include <sluice/sluice_interval.h>

#include "cpu/memory.h"

namespace sluice::cpu {

inline void writeResult(const SluiceBuffer& result, u64 elements, u64 capacity, bool skipped)
{
    if (result.size == 0) return;
    const u32 all = u32(std::min<u64>(elements, UINT32_MAX));
    u32 flags = 0;
    if (all == UINT32_MAX) flags |= SLUICE_INTERVAL_SATURATED;
    if (all > capacity) flags |= SLUICE_INTERVAL_TRUNCATED;
    if (skipped) flags |= SLUICE_INTERVAL_SKIPPED;
    pointer<u32>(result)[0] = all;
    pointer<u32>(result)[1] = flags;
}

struct Interval {
    u32 index;
    u64 begin; // elements of all intervals before it
    u32 count;
    u32 kept; // elements below the capacity
};

// Calls visit for every interval that has elements below `capacity`, and writes the result. visit
// returns false if it skipped the interval.
template <typename Visit>
void forEachInterval(const SluiceIntervals& intervals, u64 capacity, const SluiceBuffer& result,
                     Visit visit)
{
    capacity = std::min<u64>(capacity, UINT32_MAX);
    const u32 count = countOf(intervals.count, intervals.maxCount);
    const bool given = intervals.counts.size == 0 && intervals.maxCount != 0;
    const u32* list = pointer<const u32>(given ? intervals.offsets : intervals.counts);
    u64 begin = given ? list[0] : 0;
    bool skipped = false;
    for (u32 i = 0; i < count; ++i) {
        if (given) begin = list[i];
        const u32 length =
            !given ? list[i] : list[u64(i) + 1] - std::min(list[i], list[u64(i) + 1]);
        const u64 kept = std::min<u64>(length, capacity - std::min(capacity, begin));
        if (kept != 0) skipped = !visit(Interval{i, begin, length, u32(kept)}) || skipped;
        begin += length;
    }
    writeResult(result, given ? list[count] : begin, capacity, skipped);
}

// Computes the byte offset of `elements` elements at `position`. Returns false if they are not
// inside `size` bytes.
inline bool offsetWithin(u64 position, u64 elements, u32 elementSize, u64 size, u64& offset)
{
    offset = position * elementSize;
    return position <= size && elements <= size && offset <= size &&
           elements * elementSize <= size - offset;
}

} // namespace sluice::cpu
