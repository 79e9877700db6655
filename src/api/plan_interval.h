// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts the public structures of the interval commands to the parameters of their kernels, which
// are the same for Vulkan and CUDA.
//
// The work of a command is its elements, and for each interval a fixed cost, counted as additional
// elements. This work is divided into shares, one for each lane group or workgroup, which does its
// share in rounds. The window is the most bytes of one round.
#pragma once

#include <algorithm>

#include <sluice/sluice.h>
#include <sluice/sluice_interval.h>

#include "api/address.h"
#include "formulas/interval.h"

namespace sluice {

// The sizes of shares (the work of one lane group or workgroup) and windows (the work of one of its
// rounds), in bytes of elements. They become IntervalParams::tile, large, tail and window, which
// are in elements. A window has at most 24 KiB, because kernels mark in shared memory where the
// intervals of a window start.
struct IntervalTuning {
    uint32_t expandBytes = 24 << 10; // share and window of an expansion
    uint32_t shareBytes = 16 << 10;  // share and window of a search
    // The first shares of a move are large and the last ones small, so that all workgroups end at
    // about the same time.
    uint32_t smallBytes = 8 << 10;   // bytes of a small share
    uint32_t largeBytes = 64 << 10;  // bytes of a large share
    uint32_t tailBytes = 128 << 20;  // this much work at the end is divided into small shares
    uint32_t windowBytes = 16 << 10; // the window of a move
    // A move whose intervals (runs) have fewer bytes than this on average uses shortTailBytes and
    // shortWindowBytes instead of tailBytes and windowBytes.
    uint32_t shortRunBytes = 0;
    uint32_t shortTailBytes = 128 << 20;
    uint32_t shortWindowBytes = 16 << 10;
};

// Describes the members of IntervalTuning for tuning texts (api/tuning_text.h). Row: a structure
// with a member `interval` of this type.
#define SLUICE_INTERVAL_TUNING_FIELDS(Row)                                                         \
    SLUICE_TUNING_FIELD(Row, interval.expandBytes, 1 << 10, 64 << 10),                             \
        SLUICE_TUNING_FIELD(Row, interval.shareBytes, 1 << 10, 64 << 10),                          \
        SLUICE_TUNING_FIELD(Row, interval.smallBytes, 1 << 10, 16 << 10),                          \
        SLUICE_TUNING_FIELD(Row, interval.largeBytes, 16 << 10, 1 << 20),                          \
        SLUICE_TUNING_FIELD(Row, interval.tailBytes, 0, 1u << 30),                                 \
        SLUICE_TUNING_FIELD(Row, interval.windowBytes, 1 << 10, 24 << 10),                         \
        SLUICE_TUNING_FIELD(Row, interval.shortRunBytes, 0, UINT32_MAX),                           \
        SLUICE_TUNING_FIELD(Row, interval.shortTailBytes, 0, 1u << 30),                            \
        SLUICE_TUNING_FIELD(Row, interval.shortWindowBytes, 1 << 10, 24 << 10)

constexpr uint64_t intervalDivideUp(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

inline uint32_t intervalGroups(uint32_t maxCount)
{
    return uint32_t(intervalDivideUp(maxCount, intervalGroupSize(maxCount)));
}

inline uint64_t intervalScratchBytes(const SluiceIntervals& intervals)
{
    if (intervals.maxCount == 0 || intervals.counts.size == 0) return 0;
    return (SLUICE_INTERVAL_BATCHES_AT +
            intervalDivideUp(intervals.maxCount, SLUICE_INTERVAL_BATCH)) *
           4;
}

inline uint32_t intervalCapacity(uint64_t bytes, uint32_t elementSize)
{
    return uint32_t(std::min<uint64_t>(bytes / elementSize, UINT32_MAX));
}

inline bool isBulk(const IntervalParams& params) { return params.form >= SLUICE_INTERVAL_REMOVED; }

// Returns an upper bound of the number of elements that are written.
inline uint64_t intervalElements(const IntervalParams& params)
{
    return isBulk(params) ? std::min(params.itemCount, params.capacity) : params.capacity;
}

// Returns an upper bound of the number of shares into which kernels divide the work. Elements that
// do not fit into the destination are not written, so they do not count as work.
inline uint64_t intervalShares(const IntervalParams& params)
{
    const uint64_t cost = std::max(SLUICE_INTERVAL_COST_BYTES / params.elementSize, 1u);
    const uint64_t intervals = uint64_t(params.maxCount) + (isBulk(params) ? 1 : 0);
    const uint64_t work = intervalElements(params) + intervals * cost;
    if (intervals == 0) return 0;
    if (work <= params.tail) return intervalDivideUp(work, params.tile);
    // Kernels compute the number of large shares in floating point with 24 bits of mantissa, so
    // their result may be too small. Then more work is left for small shares than params.tail.
    // `small` bounds that work: it includes two more large shares and the rounding error of `work`.
    const uint64_t larges = (work - params.tail) / params.large;
    const uint64_t small = params.tail + 2 * uint64_t(params.large) + (work >> 22);
    return larges + 1 + intervalDivideUp(small, params.tile);
}

// Returns parameters with sizes and counts. setAddresses adds the addresses.
inline IntervalParams intervalParams(const SluiceIntervals& intervals, uint32_t elementSize,
                                     uint32_t capacity, uint32_t shareBytes)
{
    IntervalParams params = {};
    params.maxCount = intervals.maxCount;
    params.capacity = capacity;
    params.form = intervals.counts.size != 0 || intervals.maxCount == 0 ? SLUICE_INTERVAL_COUNTS
                                                                        : SLUICE_INTERVAL_OFFSETS;
    params.elementSize = elementSize;
    params.tile = params.large = params.window = shareBytes / elementSize;
    params.positionBytes = 4;
    return params;
}

inline IntervalParams expandParams(const SluiceIntervalExpandInfo& info,
                                   const IntervalTuning& tuning)
{
    IntervalParams params = intervalParams(
        info.intervals, info.elementSize, intervalCapacity(info.destination.size, info.elementSize),
        tuning.expandBytes);
    return params;
}

// Returns whether the runs of a move are short on average. The host does not know the lengths, so
// it divides the destination's size by the largest number of intervals that the list may have.
inline bool hasShortRuns(const IntervalParams& params, const IntervalTuning& tuning)
{
    return intervalElements(params) * params.elementSize <
           uint64_t(params.maxCount) * tuning.shortRunBytes;
}

inline void setMoveShares(IntervalParams& params, const IntervalTuning& tuning)
{
    const bool shortRuns = hasShortRuns(params, tuning);
    params.tile = tuning.smallBytes / params.elementSize;
    params.large = tuning.largeBytes / params.elementSize;
    params.tail = (shortRuns ? tuning.shortTailBytes : tuning.tailBytes) / params.elementSize;
    params.window = (shortRuns ? tuning.shortWindowBytes : tuning.windowBytes) / params.elementSize;
}

inline IntervalParams moveParams(const SluiceIntervalMoveInfo& info, const IntervalTuning& tuning)
{
    IntervalParams params = intervalParams(
        info.intervals, info.elementSize, intervalCapacity(info.destination.size, info.elementSize),
        tuning.windowBytes);
    params.kind = uint32_t(info.kind);
    params.positionBytes = info.positionSize;
    setMoveShares(params, tuning);
    return params;
}

inline uint64_t searchBytes(const SluiceIntervalSearchInfo& info)
{
    if (info.sources.size == 0) return info.ranks.size;
    return info.ranks.size == 0 ? info.sources.size : std::min(info.sources.size, info.ranks.size);
}

inline IntervalParams searchParams(const SluiceIntervalSearchInfo& info,
                                   const IntervalTuning& tuning)
{
    return intervalParams(info.intervals, 4, intervalCapacity(searchBytes(info), 4),
                          tuning.shareBytes);
}

inline IntervalParams bulkParams(const SluiceBulkInfo& info, bool insert,
                                 const IntervalTuning& tuning)
{
    SluiceIntervals intervals = {};
    intervals.maxCount = info.maxIndexCount;
    IntervalParams params = intervalParams(
        intervals, info.elementSize, intervalCapacity(info.destination.size, info.elementSize),
        tuning.windowBytes);
    params.form = insert ? SLUICE_INTERVAL_INSERTED : SLUICE_INTERVAL_REMOVED;
    params.kind = insert ? SLUICE_INTERVAL_KIND_INSERT : SLUICE_INTERVAL_KIND_REMOVE;
    params.itemCount = info.maxItemCount;
    setMoveShares(params, tuning);
    return params;
}

// Below, addressOf(buffer) returns a device address, 0 for an empty range.

template <typename Info, typename AddressOf>
void setListAddresses(IntervalParams& params, const Info& info, const AddressOf& addressOf)
{
    const SluiceIntervals& list = info.intervals;
    params.counts = pair(addressOf(list.counts.size != 0 ? list.counts : list.offsets));
    params.countBuffer = pair(addressOf(list.count));
    params.prefixes = pair(addressOf(info.scratch));
    params.result_ = pair(addressOf(info.result));
}

template <typename AddressOf>
void setEnds(IntervalParams& params, const SluiceBuffer& source, const SluiceBuffer& destination,
             const AddressOf& addressOf)
{
    params.source = pair(addressOf(source));
    params.sourceSize = pair(source.size);
    params.destination = pair(addressOf(destination));
    params.destinationSize = pair(destination.size);
}

template <typename AddressOf>
void setAddresses(IntervalParams& params, const SluiceIntervalExpandInfo& info,
                  const AddressOf& addressOf)
{
    setListAddresses(params, info, addressOf);
    setEnds(params, info.values, info.destination, addressOf);
}

template <typename AddressOf>
void setAddresses(IntervalParams& params, const SluiceIntervalMoveInfo& info,
                  const AddressOf& addressOf)
{
    setListAddresses(params, info, addressOf);
    setEnds(params, info.source, info.destination, addressOf);
    const auto positions = [&](SluiceIntervalMoveKind without, const SluiceBuffer& list) {
        return pair(info.kind != without ? addressOf(list) : 0);
    };
    params.gather = positions(SLUICE_INTERVAL_SCATTER, info.gather);
    params.scatter = positions(SLUICE_INTERVAL_GATHER, info.scatter);
}

template <typename AddressOf>
void setAddresses(IntervalParams& params, const SluiceIntervalSearchInfo& info,
                  const AddressOf& addressOf)
{
    setListAddresses(params, info, addressOf);
    params.destination = pair(addressOf(info.sources));
    params.gather = pair(addressOf(info.ranks));
}

template <typename AddressOf>
void setAddresses(IntervalParams& params, const SluiceBulkInfo& info, bool insert,
                  const AddressOf& addressOf)
{
    params.counts = pair(addressOf(info.indices));
    params.countBuffer = pair(addressOf(info.indexCount));
    params.result_ = pair(addressOf(info.result));
    params.gather = pair(insert ? addressOf(info.inserted) : 0);
    params.scatter = pair(addressOf(info.itemCount));
    setEnds(params, info.source, info.destination, addressOf);
}

} // namespace sluice
