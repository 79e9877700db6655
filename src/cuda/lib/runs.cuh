// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans over a warp and over a block: sums and maxima, over all elements or within segments. A
// *run* is neighbouring elements that were combined to one value. A *head* is an element with which
// a segment begins.
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

// The maximum of keys, which are unsigned numbers that stand for elements (scan_tile.cuh).
template <typename T>
struct Max {
    using Value = T;
    static constexpr bool kIsKey = true;
    static __device__ T identity() { return 0; }
    static __device__ T combine(T a, T b) { return a < b ? b : a; }
};

// The value of a run combines its elements from its last head on, or all of them if it has no head.
// `head` is true if it has one.
template <typename Op, bool Segmented>
struct Run {
    typename Op::Value value = Op::identity();
    bool head = false;
};

// Combines two neighbouring runs to one, `first` and the run `second` behind it.
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

// Returns the run of the lane `distance` lanes below this one.
template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> runBelow(const Run<Op, Segmented>& run, uint32_t distance)
{
    Run<Op, Segmented> below;
    below.value = __shfl_up_sync(kAllLanes, run.value, distance);
    if constexpr (Segmented)
        below.head = __shfl_up_sync(kAllLanes, static_cast<uint32_t>(run.head), distance) != 0;
    return below;
}

// Returns the run of lane `lane`.
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

// Returns the combination of the runs of all lanes below this one; `total` is that of all lanes.
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

// Returns the combination of the runs of all lanes, in every lane.
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

// Shared memory for two lists of runs, with one run for each warp. A caller that alternates between
// two of these structures needs one barrier per call.
template <typename Op, bool Segmented, uint32_t Warps>
struct RunShared {
    typename Op::Value values[2][Warps];
    bool heads[2][Warps];
};

// Returns the combination of the runs of all warps below this one. `run` is this warp's run;
// `total` receives the combination of all. `other` is this warp's run in a second list; with the
// same barrier, `otherTotal` receives the combination of all runs of that list. Only warp 0 gets a
// valid `otherTotal`.
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

// Returns the combination of the runs of all warps below this one; `total` receives that of all.
// This form is for a single list. All calls may use the same `shared`.
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
