// SPDX-License-Identifier: MIT OR Apache-2.0
// Load balancing for intervals: finds the intervals that a warp works on, and the interval to which
// a piece of its output belongs. shaders/lib/intervals.glsl explains the method.
//
// The *work* of an interval is its elements and a fixed cost, counted as additional elements. The
// work of all intervals, in their order, is divided into *shares*, one per warp. A warp takes its
// share in *rounds* of 32 intervals, one per lane. "Before" an interval always means the sum of the
// lengths of all intervals with a lower index. Sums are limited to 2^32 - 1.
#pragma once

#include "formulas/interval.h"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/warp.cuh"

namespace sluice {

constexpr uint32_t kIntervalWarps = SLUICE_INTERVAL_SHARES;
constexpr uint32_t kIntervalThreads = kIntervalWarps * kWarpSize;

// These functions limit their results to the range of the type.
__device__ inline uint32_t saturated(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(value);
}
__device__ inline uint32_t addSaturated(uint32_t a, uint32_t b)
{
    return a + b < a ? UINT32_MAX : a + b;
}
__device__ inline uint64_t subSaturated(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

__device__ inline uint64_t warpInclusiveSum64(uint64_t value)
{
#pragma unroll
    for (uint32_t distance = 1; distance < kWarpSize; distance *= 2) {
        const uint64_t below = __shfl_up_sync(kAllLanes, value, distance);
        if (laneIndex() >= distance) value += below;
    }
    return value;
}

// Returns the sum of the values of all threads before this one in the block, and in `total` the sum
// of all. Contains one barrier. No other code may use `sums` between the caller's last barrier
// before the call and its first barrier after it.
__device__ inline uint64_t blockExclusive(uint64_t value, uint64_t& total,
                                          uint64_t (&sums)[kIntervalWarps])
{
    const uint64_t inclusive = warpInclusiveSum64(value);
    if (laneIndex() == kWarpSize - 1) sums[warpIndex()] = inclusive;
    __syncthreads();
    uint64_t before = 0;
    total = 0;
#pragma unroll
    for (uint32_t i = 0; i < kIntervalWarps; ++i) {
        const uint64_t one = sums[i];
        before += i < warpIndex() ? one : 0;
        total += one;
    }
    return before + inclusive - value;
}

// Returns the sum of the values of all lanes before this one, and in `total` the sum of all. Both
// are limited to 2^32 - 1.
__device__ inline uint32_t warpExclusiveSaturated(uint32_t value, uint32_t& total)
{
    if (__any_sync(kAllLanes, value >= 1u << 27)) {
        const uint64_t inclusive = warpInclusiveSum64(value);
        total = saturated(__shfl_sync(kAllLanes, inclusive, kWarpSize - 1));
        return saturated(inclusive - value);
    }
    const uint32_t inclusive = warpInclusiveSum(value);
    total = __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
    return inclusive - value;
}

// A list of intervals in one of the forms that the host gives it: lengths (*counts*), offsets, or
// the indices of a bulk operation. The intervals of a bulk operation are the *runs* of items
// between its indices, so there is one run more than there are indices.
template <uint32_t Form>
struct IntervalList {
    const IntervalParams& p;
    const uint32_t* counts;
    // The numbers of entries of the list, of items (in bulk operations), and of intervals.
    uint32_t listed, items;
    uint32_t intervals;

    __device__ explicit IntervalList(const IntervalParams& params)
        : p(params), counts(pointerFrom<const uint32_t>(params.counts)), listed(params.maxCount),
          items(params.itemCount)
    {
        const uint32_t* count = pointerFrom<const uint32_t>(p.countBuffer);
        if (count != nullptr) listed = min(listed, *count);
        if constexpr (kIsBulk) {
            const uint32_t* itemCount = pointerFrom<const uint32_t>(p.scatter);
            if (itemCount != nullptr) items = min(items, *itemCount);
        }
        intervals = listed + (kIsBulk ? 1 : 0);
    }

    static constexpr bool kIsBulk = Form >= SLUICE_INTERVAL_REMOVED;

    // Returns the first item of run i, which is the items between two indices of a bulk operation.
    __device__ uint32_t runBegin(uint32_t i) const
    {
        if (i == 0) return 0;
        const uint64_t begin =
            static_cast<uint64_t>(counts[i - 1]) + (Form == SLUICE_INTERVAL_REMOVED ? 1 : 0);
        return static_cast<uint32_t>(min(begin, static_cast<uint64_t>(items)));
    }

    // Returns the length of interval i.
    __device__ uint32_t length(uint32_t i) const
    {
        if constexpr (Form == SLUICE_INTERVAL_COUNTS) return __ldg(counts + i);
        if constexpr (Form == SLUICE_INTERVAL_OFFSETS)
            return static_cast<uint32_t>(subSaturated(counts[i + 1], counts[i]));
        const uint32_t end = i + 1 == intervals ? items : min(counts[i], items);
        return static_cast<uint32_t>(subSaturated(end, runBegin(i)));
    }

    // Returns the sum of the lengths of all intervals.
    __device__ uint32_t elements() const
    {
        if constexpr (Form == SLUICE_INTERVAL_COUNTS)
            return pointerFrom<const uint32_t>(p.prefixes)[0];
        if constexpr (Form == SLUICE_INTERVAL_OFFSETS) return counts[intervals];
        return Form == SLUICE_INTERVAL_REMOVED ? static_cast<uint32_t>(subSaturated(items, listed))
                                               : items;
    }

    // Returns the sum of the lengths of all intervals before a batch. A batch is
    // SLUICE_INTERVAL_BATCH intervals.
    __device__ uint32_t beforeBatch(uint32_t batch) const
    {
        const uint32_t i = batch * SLUICE_INTERVAL_BATCH;
        if constexpr (Form == SLUICE_INTERVAL_COUNTS) {
            const uint32_t* prefixes = pointerFrom<const uint32_t>(p.prefixes);
            return saturated(
                static_cast<uint64_t>(
                    prefixes[SLUICE_INTERVAL_GROUPS_AT + i / intervalGroupSize(p.maxCount)]) +
                prefixes[SLUICE_INTERVAL_BATCHES_AT + batch]);
        }
        if constexpr (Form == SLUICE_INTERVAL_OFFSETS) return counts[i];
        const uint32_t begin = runBegin(i);
        return Form == SLUICE_INTERVAL_REMOVED ? static_cast<uint32_t>(subSaturated(begin, i))
                                               : begin;
    }
};

// A lane's interval, and which of its elements the warp takes in a round.
struct Interval {
    uint32_t index;
    uint32_t count;    // its length
    uint32_t before;   // the sum of the lengths of all intervals before it
    uint32_t from, to; // this warp does elements from .. to - 1 of the interval in this round
    bool owned;        // this warp copies the item that is inserted behind the interval
};

// A warp's share of the work. All lanes call each function together.
template <uint32_t Form>
struct IntervalShare {
    const IntervalParams& p;
    IntervalList<Form> list;
    const uint32_t warp; // number of the warp in the block
    uint32_t larges = 0; // number of large shares, which come before the small ones
    uint32_t done = 0;   // how much work of this share is done
    uint32_t base = 0;   // first interval of the next round
    uint32_t before = 0; // the sum of the lengths of the intervals before `base`
    uint32_t rounds = 0; // how many rounds may still follow; a valid list never reaches this limit

    __device__ uint32_t cost() const { return max(SLUICE_INTERVAL_COST_BYTES / p.elementSize, 1u); }
    // The bounds of the share. Work is counted in elements, to which each interval adds cost(). The
    // bounds are computed anew at each use, because registers are scarce.
    __device__ uint32_t number() const { return blockIdx.x * (blockDim.x / kWarpSize) + warp; }
    __device__ uint32_t size() const { return number() < larges ? p.large : p.tile; }
    __device__ uint64_t begin() const
    {
        return uint64_t{number()} * p.tile + uint64_t{min(number(), larges)} * (p.large - p.tile);
    }
    __device__ uint64_t end() const { return begin() + size(); }
    // Returns how much work comes before interval i: `first`, the sum of the lengths of all
    // intervals before it, and cost() for each of them.
    __device__ uint64_t workBefore(uint32_t first, uint32_t i) const
    {
        return first + static_cast<uint64_t>(i) * cost();
    }

    __device__ explicit IntervalShare(const IntervalParams& params)
        : p(params), list(params), warp(uniform(warpIndex()))
    {
        list.intervals = uniform(list.intervals);
        if (list.intervals == 0) return;
        const uint64_t work = workBefore(min(list.elements(), p.capacity), 0) +
                              static_cast<uint64_t>(list.intervals) * cost();
        // Large shares cover all work except about the last p.tail elements. Small shares cover
        // these, so that all warps end at about the same time.
        larges = uniform(static_cast<uint32_t>(static_cast<float>(subSaturated(work, p.tail)) /
                                               static_cast<float>(p.large)));
        if (begin() >= work) return;
        base = findBatch() * SLUICE_INTERVAL_BATCH;
        skipRounds();
        rounds = size() / cost() / kWarpSize + size() / p.window + 4;
    }

    // Returns the last batch whose work starts at or before begin(). In each step of the search
    // every lane tests one batch, which leaves 1/32 of the batches.
    __device__ uint32_t findBatch()
    {
        uint32_t first = 0, count = (list.intervals - 1) / SLUICE_INTERVAL_BATCH + 1;
        do {
            const uint32_t step = (count - 1) / kWarpSize + 1, probe = laneIndex() * step;
            const uint32_t value = list.beforeBatch(first + min(probe, count - 1));
            const bool passed =
                probe < count &&
                workBefore(value, (first + probe) * SLUICE_INTERVAL_BATCH) <= begin();
            const uint32_t last = max(__popc(__ballot_sync(kAllLanes, passed)), 1) - 1;
            before = uniform(__shfl_sync(kAllLanes, value, static_cast<int>(last)));
            first += last * step;
            count = min(step, count - last * step);
        } while (count > 1);
        return first;
    }

    // Advances `base` from the first interval of a batch to that of the round in which the share
    // begins.
    __device__ void skipRounds()
    {
        constexpr uint32_t kRounds = SLUICE_INTERVAL_BATCH / kWarpSize;
        uint32_t lengths[kRounds - 1];
#pragma unroll
        for (uint32_t i = 0; i + 1 < kRounds; ++i) {
            const uint32_t own = base + i * kWarpSize + laneIndex();
            lengths[i] = base <= own && own < list.intervals ? list.length(own) : 0;
        }
#pragma unroll
        for (uint32_t i = 0; i + 1 < kRounds; ++i) {
            uint32_t sum;
            warpExclusiveSaturated(lengths[i], sum);
            const uint32_t after = addSaturated(before, sum);
            if (list.intervals - base <= kWarpSize || workBefore(after, base + kWarpSize) > begin())
                break;
            base += kWarpSize;
            before = after;
        }
    }

    // Returns true if a round is *whole*: it has so little work that it is not split between
    // shares. The share in which it begins does all of it. `first` and `after` are the sums of the
    // lengths of all intervals before this round and before the next round.
    __device__ bool isWhole(uint32_t first, uint32_t after) const
    {
        return after - first + static_cast<uint64_t>(kWarpSize) * cost() <= p.window / 4 * 3;
    }

    // Returns whether this warp has another round.
    __device__ bool more() const
    {
        return rounds != 0 && base < list.intervals && done < size() &&
               workBefore(before, base) < end();
    }

    // Returns the index of the interval that this lane takes in the next round. It is past the end
    // of the list if there is no such interval.
    __device__ uint32_t nextIndex() const { return addSaturated(base, laneIndex()); }

    // Takes the next round, with one interval per lane. `count` is the length of the lane's
    // interval, or 0 past the end of the list. If a round has much work, this takes only a window
    // of it, and the next round has the same intervals.
    __device__ Interval next(uint32_t count)
    {
        Interval own;
        uint32_t total;
        own.index = base + laneIndex();
        own.count = count;
        own.before = addSaturated(before, warpExclusiveSaturated(count, total));
        const bool exists = laneIndex() < list.intervals - base;
        const uint32_t after = addSaturated(before, total), most = min(count, ~own.before);
        const uint64_t first = workBefore(before, base), at = workBefore(own.before, own.index),
                       last = at + count;
        const uint64_t next = workBefore(after, base + kWarpSize);
        bool finished = true;
        if (isWhole(before, after)) {
            const bool mine = first >= begin();
            own.from = 0;
            own.to = mine ? most : 0;
            own.owned = exists && mine;
        } else {
            // [from, to) is the window of the round's work that is taken.
            const uint64_t from = max(first, begin() + done),
                           to = min(min(from + p.window, end()), next);
            own.to = static_cast<uint32_t>(min(subSaturated(to, at), static_cast<uint64_t>(most)));
            own.from =
                static_cast<uint32_t>(min(subSaturated(from, at), static_cast<uint64_t>(own.to)));
            own.owned = exists && last >= from && last < to;
            finished = to == next;
            done = static_cast<uint32_t>(to - begin());
        }
        if (finished) {
            base = addSaturated(base, kWarpSize);
            before = after;
        }
        --rounds;
        return own;
    }

    // Returns the length of an interval, 0 past the end of the list.
    __device__ uint32_t lengthOf(uint32_t index) const
    {
        return index < list.intervals ? list.length(index) : 0;
    }
};

// Marks. A piece of output is an element or a sector (32 bytes). A mark is a bit for the piece at
// which an interval begins, so the number of marks up to a piece tells to which interval the piece
// belongs.
struct Marks {
    static constexpr uint32_t kPieces = 32 * kWarpSize; // a word of marks for each lane
    uint32_t bits[kWarpSize];
    uint32_t before[kWarpSize]; // how many marks there are before each word

    __device__ void clear()
    {
        bits[laneIndex()] = 0;
        __syncwarp();
    }

    __device__ void set(uint32_t piece) { atomicOr(&bits[piece / 32], 1u << piece % 32); }

    // Counts the marks, so that rank() may be called. `first` is how many marks came before these.
    // Also makes the warp's earlier stores to shared memory visible. Returns the number of marks.
    __device__ uint32_t count(uint32_t first)
    {
        __syncwarp();
        const uint32_t own = static_cast<uint32_t>(__popc(bits[laneIndex()])),
                       inclusive = warpInclusiveSum(own);
        before[laneIndex()] = first + inclusive - own;
        __syncwarp();
        return __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
    }

    // Returns the number of the marked interval to which a piece belongs. There must be a mark at
    // or before the piece.
    __device__ uint32_t rank(uint32_t piece) const
    {
        const uint32_t upTo = bits[piece / 32] & ((2u << piece % 32) - 1u);
        return before[piece / 32] + static_cast<uint32_t>(__popc(upTo)) - 1;
    }
};

} // namespace sluice
