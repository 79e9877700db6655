// SPDX-License-Identifier: MIT OR Apache-2.0
// From the public structures of the interval family to the kernels' parameters, the same for Vulkan
// and CUDA.
#pragma once

#include <algorithm>

#include <sluice/sluice.h>

#include "formulas/interval.h"

namespace sluice {

constexpr uint64_t intervalDivideUp(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

inline u32 intervalGroups(u32 maxCount)
{
    return static_cast<u32>(intervalDivideUp(maxCount, intervalGroupSize(maxCount)));
}

inline uint64_t intervalScratchBytes(const SluiceIntervals& intervals)
{
    if (intervals.maxCount == 0 || intervals.counts.size == 0) return 0;
    return (SLUICE_INTERVAL_BATCHES_AT +
            intervalDivideUp(intervals.maxCount, SLUICE_INTERVAL_BATCH)) *
           4;
}

inline u32 intervalCapacity(uint64_t bytes, u32 elementSize)
{
    return static_cast<u32>(std::min<uint64_t>(bytes / elementSize, UINT32_MAX));
}

// Shares that the work can need at most: what is past the capacity is dropped.
inline uint64_t intervalShares(const IntervalParams& params)
{
    const uint64_t cost = std::max(SLUICE_INTERVAL_COST_BYTES / params.elementSize, 1u);
    const bool bulk = params.form >= SLUICE_INTERVAL_REMOVED;
    const uint64_t intervals = uint64_t(params.maxCount) + (bulk ? 1 : 0);
    const uint64_t elements = bulk ? std::min(params.itemCount, params.capacity) : params.capacity;
    const uint64_t work = elements + intervals * cost;
    if (intervals == 0) return 0;
    if (work <= params.tail) return intervalDivideUp(work, params.tile);
    // How many are large the kernels compute as floats of 24 bits.
    const uint64_t larges = (work - params.tail) / params.large;
    const uint64_t small = params.tail + 2 * uint64_t(params.large) + (work >> 22);
    return larges + 1 + intervalDivideUp(small, params.tile);
}

// Sizes and numbers; the addresses are the backend's business.
inline IntervalParams intervalParams(const SluiceIntervals& intervals, u32 elementSize,
                                     u32 capacity)
{
    IntervalParams params = {};
    params.maxCount = intervals.maxCount;
    params.capacity = capacity;
    params.form = intervals.counts.size != 0 || intervals.maxCount == 0 ? SLUICE_INTERVAL_COUNTS
                                                                        : SLUICE_INTERVAL_OFFSETS;
    params.elementSize = elementSize;
    params.tile = params.large = params.window = SLUICE_INTERVAL_TILE_BYTES / elementSize;
    params.positionBytes = 4;
    return params;
}

inline IntervalParams expandParams(const SluiceIntervalExpandInfo& info)
{
    IntervalParams params =
        intervalParams(info.intervals, info.elementSize,
                       intervalCapacity(info.destination.size, info.elementSize));
    params.tile = params.large = params.window = SLUICE_INTERVAL_EXPAND_BYTES / info.elementSize;
    return params;
}

inline void setMoveShares(IntervalParams& params)
{
    params.tile = SLUICE_INTERVAL_SMALL_BYTES / params.elementSize;
    params.large = SLUICE_INTERVAL_LARGE_BYTES / params.elementSize;
    params.tail = SLUICE_INTERVAL_TAIL_BYTES / params.elementSize;
}

inline IntervalParams moveParams(const SluiceIntervalMoveInfo& info)
{
    IntervalParams params =
        intervalParams(info.intervals, info.elementSize,
                       intervalCapacity(info.destination.size, info.elementSize));
    params.kind = static_cast<u32>(info.kind);
    params.positionBytes = info.positionSize;
    setMoveShares(params);
    return params;
}

inline uint64_t searchBytes(const SluiceIntervalSearchInfo& info)
{
    if (info.sources.size == 0) return info.ranks.size;
    return info.ranks.size == 0 ? info.sources.size : std::min(info.sources.size, info.ranks.size);
}

inline IntervalParams searchParams(const SluiceIntervalSearchInfo& info)
{
    return intervalParams(info.intervals, 4, intervalCapacity(searchBytes(info), 4));
}

inline IntervalParams bulkParams(const SluiceBulkInfo& info, bool insert)
{
    SluiceIntervals intervals = {};
    intervals.maxCount = info.maxIndexCount;
    IntervalParams params = intervalParams(
        intervals, info.elementSize, intervalCapacity(info.destination.size, info.elementSize));
    params.form = insert ? SLUICE_INTERVAL_INSERTED : SLUICE_INTERVAL_REMOVED;
    params.kind = insert ? SLUICE_INTERVAL_KIND_INSERT : SLUICE_INTERVAL_KIND_REMOVE;
    params.itemCount = info.maxItemCount;
    setMoveShares(params);
    return params;
}

} // namespace sluice
