// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans over a warp and over a block: sums and maxima, cut into segments or not. A *run* is
// neighbouring elements that were combined to one value; a *head* is an element with which a
// segment begins.
#pragma once

#include "cuda/lib/warp.cuh"

namespace sluice {

template <typename T>
struct Sum {
    using Value = T;
    static constexpr bool kIsKey = false;
    static __device__ T identity() { return 0; }
    static __device__ T combine(T a, T b) { return a + b; }
};

// The maximum of unsigned keys (scan_tile.cuh).
template <typename T>
struct Max {
    using Value = T;
    static constexpr bool kIsKey = true;
    static __device__ T identity() { return 0; }
    static __device__ T combine(T a, T b) { return a < b ? b : a; }
};

// The value of a run combines its elements from its last head on, or all of them if none is a head.
// `head` says whether one is.
template <typename Op, bool Segmented>
struct Run {
    typename Op::Value value = Op::identity();
    bool head = false;
};

// Returns the run of `first` and, behind it, `second`.
template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> join(const Run<Op, Segmented>& first,
                                          const Run<Op, Segmented>& second)
{
    if constexpr (Segmented) {
        return {second.head ? second.value : Op::combine(first.value, second.value),
                first.head || second.head};
    } else {
        return {Op::combine(first.value, second.value), false};
    }
}

// runBelow returns the run of the lane `distance` lanes below this one; runOfWarpLane returns that
// of lane `lane`.
template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> runBelow(const Run<Op, Segmented>& run, uint32_t distance)
{
    Run<Op, Segmented> below;
    below.value = __shfl_up_sync(kAllLanes, run.value, distance);
    if constexpr (Segmented)
        below.head = __shfl_up_sync(kAllLanes, static_cast<uint32_t>(run.head), distance) != 0;
    return below;
}

template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> runOfWarpLane(const Run<Op, Segmented>& run, uint32_t lane)
{
    Run<Op, Segmented> other;
    other.value = __shfl_sync(kAllLanes, run.value, static_cast<int>(lane));
    if constexpr (Segmented)
        other.head =
            __shfl_sync(kAllLanes, static_cast<uint32_t>(run.head), static_cast<int>(lane)) != 0;
    return other;
}

// Returns the run of the lanes below this one; `total` is the run of the whole warp.
template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> warpExclusiveRun(Run<Op, Segmented> run,
                                                      Run<Op, Segmented>& total)
{
#pragma unroll
    for (uint32_t distance = 1; distance < kWarpSize; distance *= 2) {
        const Run<Op, Segmented> below = runBelow(run, distance);
        if (laneIndex() >= distance) run = join(below, run);
    }
    total = runOfWarpLane(run, kWarpSize - 1);
    const Run<Op, Segmented> before = runBelow(run, 1);
    return laneIndex() == 0 ? Run<Op, Segmented>() : before;
}

// Returns the run of the whole warp, in all lanes.
template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> warpRun(Run<Op, Segmented> run)
{
    if constexpr (Segmented) {
        Run<Op, Segmented> total;
        warpExclusiveRun(run, total);
        return total;
    } else {
#pragma unroll
        for (uint32_t distance = kWarpSize / 2; distance > 0; distance /= 2)
            run.value = Op::combine(
                run.value, __shfl_xor_sync(kAllLanes, run.value, static_cast<int>(distance)));
        return run;
    }
}

// Shared memory for two lists of runs, one run for each warp. If two of these structures are used
// in turn, one barrier per call is enough.
template <typename Op, bool Segmented, uint32_t Warps>
struct RunShared {
    typename Op::Value values[2][Warps];
    bool heads[2][Warps];
};

// Returns the run of the warps below this one. `run` is the run of this warp, and `total` receives
// that of the block. With the same barrier, `otherTotal` receives the run of the block for a second
// list, `other`; it is valid in warp 0 only.
template <typename Op, bool Segmented, uint32_t Warps>
__device__ inline Run<Op, Segmented>
blockRunsBefore(const Run<Op, Segmented>& run, const Run<Op, Segmented>& other,
                RunShared<Op, Segmented, Warps>& shared, Run<Op, Segmented>& total,
                Run<Op, Segmented>& otherTotal)
{
    static_assert(Warps <= kWarpSize, "one warp must hold all values");
    if (laneIndex() == 0) {
        shared.values[0][warpIndex()] = run.value;
        shared.values[1][warpIndex()] = other.value;
        if constexpr (Segmented) {
            shared.heads[0][warpIndex()] = run.head;
            shared.heads[1][warpIndex()] = other.head;
        }
    }
    __syncthreads();
    const auto runOfLane = [&](uint32_t list) {
        const uint32_t warp = laneIndex() < Warps ? laneIndex() : 0;
        const Run<Op, Segmented> one = {shared.values[list][warp],
                                        Segmented && shared.heads[list][warp]};
        return laneIndex() < Warps ? one : Run<Op, Segmented>();
    };
    const Run<Op, Segmented> before = warpExclusiveRun(runOfLane(0), total);
    if (warpIndex() == 0) otherTotal = warpRun(runOfLane(1));
    return runOfWarpLane(before, warpIndex());
}

// Does the same for one list. The next call may use the same `shared`.
template <typename Op, bool Segmented, uint32_t Warps>
__device__ inline Run<Op, Segmented> blockRunsBefore(const Run<Op, Segmented>& run,
                                                     RunShared<Op, Segmented, Warps>& shared,
                                                     Run<Op, Segmented>& total)
{
    // After this barrier all threads have read what the previous call left in `shared`.
    __syncthreads();
    Run<Op, Segmented> otherTotal;
    return blockRunsBefore(run, Run<Op, Segmented>(), shared, total, otherTotal);
}

} // namespace sluice
