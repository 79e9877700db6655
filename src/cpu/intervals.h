// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks a list of intervals.
#pragma once

#include <sluice/sluice_interval.h>

#include <algorithm>

#include "kernels.h"

namespace sluice::cpu {

// A value in GPU memory, or the host's.
inline uint32_t countOf(const SluiceBuffer& buffer, uint32_t most)
{
    return buffer.size == 0 ? most : std::min(most, *pointer<const uint32_t>(buffer));
}

inline void writeResult(const SluiceBuffer& result, uint64_t elements, uint64_t capacity,
                        bool skipped)
{
    if (result.size == 0) return;
    const uint32_t all = static_cast<uint32_t>(std::min<uint64_t>(elements, UINT32_MAX));
    uint32_t flags = 0;
    if (all == UINT32_MAX) flags |= SLUICE_INTERVAL_SATURATED;
    if (all > capacity) flags |= SLUICE_INTERVAL_TRUNCATED;
    if (skipped) flags |= SLUICE_INTERVAL_SKIPPED;
    pointer<uint32_t>(result)[0] = all;
    pointer<uint32_t>(result)[1] = flags;
}

struct Interval {
    uint32_t index;
    uint64_t before; // elements of the intervals below
    uint32_t count;
    uint32_t kept; // those of them below the capacity
};

// Calls visit for every interval that has elements below `capacity`; writes the result. visit
// returns false if it skipped the interval.
template <typename Visit>
void forEachInterval(const SluiceIntervals& intervals, uint64_t capacity,
                     const SluiceBuffer& result, Visit visit)
{
    capacity = std::min<uint64_t>(capacity, UINT32_MAX);
    const uint32_t count = countOf(intervals.count, intervals.maxCount);
    const bool given = intervals.counts.size == 0 && intervals.maxCount != 0;
    const uint32_t* list = pointer<const uint32_t>(given ? intervals.offsets : intervals.counts);
    uint64_t before = given ? list[0] : 0;
    bool skipped = false;
    for (uint32_t i = 0; i < count; ++i) {
        if (given) before = list[i];
        const uint32_t length =
            !given ? list[i] : list[uint64_t(i) + 1] - std::min(list[i], list[uint64_t(i) + 1]);
        const uint64_t kept = std::min<uint64_t>(length, capacity - std::min(capacity, before));
        if (kept != 0)
            skipped = !visit(Interval{i, before, length, static_cast<uint32_t>(kept)}) || skipped;
        before += length;
    }
    writeResult(result, given ? list[count] : before, capacity, skipped);
}

// The byte offset of `elements` elements at `position`. False: they are not inside `size` bytes.
inline bool offsetWithin(uint64_t position, uint64_t elements, uint32_t elementSize, uint64_t size,
                         uint64_t& offset)
{
    offset = position * elementSize;
    return position <= size && elements <= size && offset <= size &&
           elements * elementSize <= size - offset;
}

} // namespace sluice::cpu
