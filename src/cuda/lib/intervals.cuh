// SPDX-License-Identifier: MIT OR Apache-2.0
// Load-balancing search: which intervals a block works on, and which of them made its i-th piece of output. The method
// is told in shaders/lib/intervals.glsl.
#pragma once

#include "launch.cuh"
#include "warp.cuh"

namespace sluice {

constexpr uint32_t kIntervalThreads = SLUICE_INTERVAL_BATCH;
constexpr uint32_t kIntervalWarps = kIntervalThreads / kWarpSize;

__device__ inline uint32_t saturated(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(value);
}
__device__ inline uint64_t subSaturated(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

__device__ inline uint64_t warpInclusiveSum64(uint64_t value)
{
#pragma unroll
    for (uint32_t distance = 1; distance < kWarpSize; distance *= 2) {
        const uint64_t below = __shfl_up_sync(kAllLanes, value, distance);
        if (laneIndex() >= distance) value += below;
    }
    return value;
}

// Exclusive sums over the block, with one barrier a call: the two halves of the shared array are used in turn.
template <typename T>
struct BlockScan {
    T (&sums)[2][kIntervalWarps]; // shared memory
    uint32_t turn;

    __device__ T exclusive(T value, T& total)
    {
        T inclusive;
        if constexpr (sizeof(T) == 8) {
            inclusive = warpInclusiveSum64(value);
        } else {
            inclusive = warpInclusiveSum(value);
        }
        if (laneIndex() == kWarpSize - 1) sums[turn][warpIndex()] = inclusive;
        __syncthreads();
        T before = 0;
        total = 0;
#pragma unroll
        for (uint32_t i = 0; i < kIntervalWarps; ++i) {
            const T one = sums[turn][i];
            before += i < warpIndex() ? one : 0;
            total += one;
        }
        turn ^= 1;
        return before + inclusive - value;
    }
};

// The list of intervals. A bulk operation's intervals are the runs of items between its indices, one more than those.
template <uint32_t Form>
struct IntervalList {
    const IntervalParams& p;
    const uint32_t* counts;
    uint32_t listed, items;
    uint64_t intervals;

    __device__ explicit IntervalList(const IntervalParams& params)
        : p(params), counts(pointerFrom<const uint32_t>(params.counts)), listed(params.maxCount), items(params.itemCount)
    {
        const uint32_t* count = pointerFrom<const uint32_t>(p.countBuffer);
        if (count != nullptr) listed = min(listed, *count);
        if constexpr (isBulk) {
            const uint32_t* itemCount = pointerFrom<const uint32_t>(p.scatter);
            if (itemCount != nullptr) items = min(items, *itemCount);
        }
        intervals = static_cast<uint64_t>(listed) + (isBulk ? 1 : 0);
    }

    static constexpr bool isBulk = Form >= SLUICE_INTERVAL_REMOVED;

    // The first item of run i of a bulk operation.
    __device__ uint32_t runBegin(uint64_t i) const
    {
        if (i == 0) return 0;
        const uint64_t begin = static_cast<uint64_t>(counts[i - 1]) + (Form == SLUICE_INTERVAL_REMOVED ? 1 : 0);
        return static_cast<uint32_t>(min(begin, static_cast<uint64_t>(items)));
    }

    __device__ uint32_t length(uint64_t i) const
    {
        if constexpr (Form == SLUICE_INTERVAL_COUNTS) return __ldg(counts + i);
        if constexpr (Form == SLUICE_INTERVAL_OFFSETS)
            return static_cast<uint32_t>(subSaturated(counts[i + 1], counts[i]));
        const uint32_t end = i + 1 == intervals ? items : min(counts[i], items);
        return static_cast<uint32_t>(subSaturated(end, runBegin(i)));
    }

    // The sum of all lengths.
    __device__ uint32_t elements() const
    {
        if constexpr (Form == SLUICE_INTERVAL_COUNTS) return pointerFrom<const uint32_t>(p.prefixes)[0];
        if constexpr (Form == SLUICE_INTERVAL_OFFSETS) return counts[intervals];
        return Form == SLUICE_INTERVAL_REMOVED ? static_cast<uint32_t>(subSaturated(items, listed)) : items;
    }

    // The elements before interval `batch` * SLUICE_INTERVAL_BATCH.
    __device__ uint32_t beforeBatch(uint32_t batch) const
    {
        const uint64_t i = static_cast<uint64_t>(batch) * SLUICE_INTERVAL_BATCH;
        if constexpr (Form == SLUICE_INTERVAL_COUNTS) {
            const uint32_t* prefixes = pointerFrom<const uint32_t>(p.prefixes);
            return saturated(static_cast<uint64_t>(prefixes[SLUICE_INTERVAL_GROUPS_AT + i / p.groupSize]) +
                             prefixes[SLUICE_INTERVAL_BATCHES_AT + static_cast<uint64_t>(batch)]);
        }
        if constexpr (Form == SLUICE_INTERVAL_OFFSETS) return counts[i];
        const uint32_t begin = runBegin(i);
        return Form == SLUICE_INTERVAL_REMOVED ? static_cast<uint32_t>(subSaturated(begin, i)) : begin;
    }
};

// A thread's interval of a batch.
struct Interval {
    uint64_t index;
    uint32_t count; // elements
    uint32_t before;
    uint32_t from, to; // the elements of it that are this block's; none: from == to
    bool owned;        // its end is this block's
};

struct IntervalShared {
    uint64_t sums[2][kIntervalWarps];
    uint32_t smallSums[2][kIntervalWarps];
};

// A block's share of the work.
template <uint32_t Form>
struct IntervalShare {
    IntervalList<Form> list;
    BlockScan<uint64_t> scan64;
    BlockScan<uint32_t> scan;
    uint32_t cost;
    uint64_t begin, end; // of the work
    uint64_t base = 0;   // first interval of the next batch
    uint32_t before = 0; // the elements before it
    uint32_t batches = 0; // that may still follow; a list that is what it should be never needs more

    __device__ IntervalShare(const IntervalParams& p, IntervalShared& shared)
        : list(p), scan64{shared.sums, 0}, scan{shared.smallSums, 0},
          cost(max(SLUICE_INTERVAL_COST_BYTES / p.elementSize, 1u)),
          begin(static_cast<uint64_t>(blockIdx.x) * p.tile), end(begin + p.tile)
    {
        if (list.intervals == 0 || begin >= min(list.elements(), p.capacity) + list.intervals * cost) return;
        const uint32_t batch = findBatch();
        base = static_cast<uint64_t>(batch) * SLUICE_INTERVAL_BATCH;
        before = list.beforeBatch(batch);
        batches = p.tile / cost / SLUICE_INTERVAL_BATCH + 2;
    }

    // The last batch whose work starts at or before this share's: each round probes at one place a thread.
    __device__ uint32_t findBatch() const
    {
        uint32_t first = 0;
        uint32_t count = static_cast<uint32_t>((list.intervals - 1) / SLUICE_INTERVAL_BATCH) + 1;
        while (count > 1) {
            const uint32_t step = (count - 1) / kIntervalThreads + 1, probe = threadIdx.x * step;
            bool below = probe < count;
            if (below) {
                const uint32_t batch = first + probe;
                below = list.beforeBatch(batch) + static_cast<uint64_t>(batch) * SLUICE_INTERVAL_BATCH * cost <= begin;
            }
            const uint32_t passed = static_cast<uint32_t>(__syncthreads_count(below));
            const uint32_t skipped = (max(passed, 1u) - 1) * step;
            first += skipped;
            count = min(step, count - skipped);
        }
        return first;
    }

    __device__ bool more() const
    {
        return batches != 0 && base < list.intervals && before + base * cost < end;
    }

    // Reads the next batch, one interval a thread. All threads together.
    __device__ Interval next()
    {
        Interval own;
        uint64_t total;
        own.index = base + threadIdx.x;
        const bool exists = own.index < list.intervals;
        own.count = exists ? list.length(own.index) : 0;
        own.before = saturated(before + scan64.exclusive(own.count, total));
        const uint64_t at = own.before + own.index * cost;
        own.to = static_cast<uint32_t>(min(subSaturated(end, at), static_cast<uint64_t>(min(own.count, ~own.before))));
        own.from = static_cast<uint32_t>(min(subSaturated(begin, at), static_cast<uint64_t>(own.to)));
        const uint64_t last = at + own.count;
        own.owned = exists && last >= begin && last < end;
        base += SLUICE_INTERVAL_BATCH;
        before = saturated(before + total);
        --batches;
        return own;
    }
};

// Marks: a bit for each piece of output at which an interval begins. A piece's interval is the number of marks up to it.
template <uint32_t MaxMarks>
struct Marks {
    static constexpr uint32_t kWords = (MaxMarks + 31) / 32;
    static constexpr uint32_t kRun = (kWords + kIntervalThreads - 1) / kIntervalThreads; // words a thread counts
    uint32_t bits[kWords];
    uint32_t before[kWords];

    // Before a batch is read: the scan in there is the barrier between this and set.
    __device__ void clear()
    {
        for (uint32_t i = threadIdx.x; i < kWords; i += kIntervalThreads)
            bits[i] = 0;
    }

    __device__ void set(uint32_t piece) { atomicOr(&bits[piece / 32], 1u << piece % 32); }

    // Makes rank work, and shared memory visible. All threads together.
    __device__ void count(BlockScan<uint32_t>& scan)
    {
        __syncthreads();
        const uint32_t first = threadIdx.x * kRun;
        uint32_t sum = 0, total;
#pragma unroll
        for (uint32_t i = 0; i < kRun; ++i)
            sum += first + i < kWords ? static_cast<uint32_t>(__popc(bits[first + i])) : 0;
        uint32_t running = scan.exclusive(sum, total);
#pragma unroll
        for (uint32_t i = 0; i < kRun; ++i) {
            if (first + i < kWords) {
                before[first + i] = running;
                running += static_cast<uint32_t>(__popc(bits[first + i]));
            }
        }
        __syncthreads();
    }

    // Among the marked intervals, the one that piece belongs to; 0 also for pieces before the first mark.
    __device__ uint32_t rank(uint32_t piece) const
    {
        const uint32_t upTo = bits[piece / 32] & (2u << piece % 32) - 1u;
        return max(before[piece / 32] + static_cast<uint32_t>(__popc(upTo)), 1u) - 1;
    }
};

} // namespace sluice
