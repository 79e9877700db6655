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

// Exclusive sum over the block; one barrier. `sums` is shared memory that nobody uses from the barrier before to the one
// after the call's own.
template <typename T>
__device__ inline T blockExclusive(T value, T& total, T (&sums)[kIntervalWarps])
{
    T inclusive;
    if constexpr (sizeof(T) == 8) {
        inclusive = warpInclusiveSum64(value);
    } else {
        inclusive = warpInclusiveSum(value);
    }
    if (laneIndex() == kWarpSize - 1) sums[warpIndex()] = inclusive;
    __syncthreads();
    T before = 0;
    total = 0;
#pragma unroll
    for (uint32_t i = 0; i < kIntervalWarps; ++i) {
        const T one = sums[i];
        before += i < warpIndex() ? one : 0;
        total += one;
    }
    return before + inclusive - value;
}

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

constexpr uint32_t kProbes = 4; // of the search, a thread and round

// A block's share of the work. It stands in shared memory: in registers it would cost those that copies need.
struct IntervalShared {
    uint64_t begin, end; // of the work
    uint64_t intervals;
    uint64_t base;    // first interval of the next batch
    uint32_t before;  // the elements before it
    uint32_t batches; // that may still follow; a list that is what it should be never needs more
    uint64_t sums64[2][kIntervalWarps];
    uint32_t sums[3][kIntervalWarps];
    uint32_t probed[kProbes * kIntervalThreads];
};

template <uint32_t Form>
struct IntervalShare {
    const IntervalParams& p;
    IntervalShared& shared;

    __device__ uint32_t cost() const { return max(SLUICE_INTERVAL_COST_BYTES / p.elementSize, 1u); }

    // All threads together, as every function here.
    __device__ IntervalShare(const IntervalParams& params, IntervalShared& memory) : p(params), shared(memory)
    {
        const IntervalList<Form> list(p);
        const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * p.tile;
        if (threadIdx.x == 0) {
            shared.begin = begin;
            shared.end = begin + p.tile;
            shared.intervals = list.intervals;
            shared.batches = 0;
        }
        if (list.intervals != 0) {
            const uint32_t elements = list.elements(); // needed last, but loaded while the search goes on
            uint32_t before, after;
            uint64_t base = static_cast<uint64_t>(findBatch(list, begin, before, after)) * SLUICE_INTERVAL_BATCH;
            const uint64_t next = base + SLUICE_INTERVAL_BATCH;
            if (next >= list.intervals) after = elements;
            if (isWhole(before, after) && before + base * cost() < begin) {
                base = next;
                before = after;
            }
            if (threadIdx.x == 0) {
                shared.base = base;
                shared.before = before;
                if (begin < min(elements, p.capacity) + list.intervals * cost())
                    shared.batches = p.tile / cost() / SLUICE_INTERVAL_BATCH + 2;
            }
        }
        __syncthreads();
    }

    // A batch of little work is not cut: it is done by the share in which it begins.
    __device__ bool isWhole(uint32_t first, uint32_t after) const
    {
        return after - first + static_cast<uint64_t>(SLUICE_INTERVAL_BATCH) * cost() <= p.tile / 2;
    }

    // The last batch whose work starts at or before `begin`, the elements before it and those before the next one, if
    // there is one. Each round probes at kProbes places a thread.
    __device__ uint32_t findBatch(const IntervalList<Form>& list, uint64_t begin, uint32_t& before, uint32_t& after)
    {
        const uint32_t all = static_cast<uint32_t>((list.intervals - 1) / SLUICE_INTERVAL_BATCH) + 1;
        uint32_t first = 0, count = all, step;
        do {
            step = (count - 1) / (kProbes * kIntervalThreads) + 1;
            uint32_t values[kProbes], below = 0;
#pragma unroll
            for (uint32_t i = 0; i < kProbes; ++i) {
                const uint32_t probe = (i * kIntervalThreads + threadIdx.x) * step;
                values[i] = list.beforeBatch(min(first + probe, all - 1));
            }
#pragma unroll
            for (uint32_t i = 0; i < kProbes; ++i) {
                const uint32_t place = i * kIntervalThreads + threadIdx.x, probe = place * step;
                shared.probed[place] = values[i];
                const uint64_t work = values[i] + static_cast<uint64_t>(first + probe) * SLUICE_INTERVAL_BATCH * cost();
                below += probe < count && work <= begin ? 1 : 0;
            }
            uint32_t passed;
            blockExclusive(below, passed, shared.sums[0]);
            const uint32_t last = max(passed, 1u) - 1;
            before = shared.probed[last];
            const bool nextProbed = step == 1 && last + 1 < kProbes * kIntervalThreads;
            after = nextProbed ? shared.probed[last + 1] : 0;
            first += last * step;
            count = min(step, count - last * step);
            if (count <= 1 && !nextProbed && first + 1 < all) after = list.beforeBatch(first + 1);
            __syncthreads();
        } while (count > 1);
        return first;
    }

    __device__ bool more() const
    {
        return shared.batches != 0 && shared.base < shared.intervals && shared.before + shared.base * cost() < shared.end;
    }

    // This thread's interval of the next batch, or one past the list.
    __device__ uint64_t nextIndex() const { return shared.base + threadIdx.x; }

    // Reads the next batch, one interval a thread. A barrier must follow before more() or next() is called again.
    __device__ Interval next()
    {
        Interval own;
        uint64_t total;
        const uint64_t base = shared.base;
        const uint32_t before = shared.before;
        own.index = base + threadIdx.x;
        const bool exists = own.index < shared.intervals;
        own.count = exists ? IntervalList<Form>(p).length(own.index) : 0;
        own.before = saturated(before + blockExclusive<uint64_t>(own.count, total, shared.sums64[0]));
        const uint32_t after = saturated(before + total);
        const uint64_t at = own.before + own.index * cost(), last = at + own.count;
        const uint32_t most = min(own.count, ~own.before);
        if (isWhole(before, after)) {
            own.from = 0;
            own.to = most;
            own.owned = exists;
        } else {
            own.to = static_cast<uint32_t>(min(subSaturated(shared.end, at), static_cast<uint64_t>(most)));
            own.from = static_cast<uint32_t>(min(subSaturated(shared.begin, at), static_cast<uint64_t>(own.to)));
            own.owned = exists && last >= shared.begin && last < shared.end;
        }
        if (threadIdx.x == 0) { // all have read them: the scan's barrier lies between
            shared.base = base + SLUICE_INTERVAL_BATCH;
            shared.before = after;
            --shared.batches;
        }
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
    __device__ void count(IntervalShared& shared)
    {
        __syncthreads();
        const uint32_t first = threadIdx.x * kRun;
        uint32_t sum = 0, total;
#pragma unroll
        for (uint32_t i = 0; i < kRun; ++i)
            sum += first + i < kWords ? static_cast<uint32_t>(__popc(bits[first + i])) : 0;
        uint32_t running = blockExclusive(sum, total, shared.sums[2]);
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
