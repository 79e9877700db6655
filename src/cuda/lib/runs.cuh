// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans of runs over a warp and a block: sums and maxima, cut into segments or not.
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

// The maximum of unsigned keys.
template <typename T>
struct Max {
    using Value = T;
    static constexpr bool kIsKey = true;
    static __device__ T identity() { return 0; }
    static __device__ T combine(T a, T b) { return a < b ? b : a; }
};

// A run of consecutive elements. `value` combines the elements from its last segment head to its
// end, or all elements if `head` is false because it has none.
template <typename Op, bool Segmented>
struct Run {
    typename Op::Value value = Op::identity();
    bool head = false;
};

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

// Joins the runs of the lanes below this one; `total` is the run of the whole warp.
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

// Joins the runs of all lanes of the warp.
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

// Two lists of runs, one run a warp. Using two of these structures alternately takes one barrier a
// list.
template <typename Op, bool Segmented, uint32_t Warps>
struct RunShared {
    typename Op::Value values[2][Warps];
    bool heads[2][Warps];
};

// Joins the runs of the warps below this one; `run` is the same in all lanes of a warp, and `total`
// is the run of the block. For a second list it only gives the total, in warp 0, so that one
// barrier serves both.
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

// Joins one list only; `shared` may be used again at once.
template <typename Op, bool Segmented, uint32_t Warps>
__device__ inline Run<Op, Segmented> blockRunsBefore(const Run<Op, Segmented>& run,
                                                     RunShared<Op, Segmented, Warps>& shared,
                                                     Run<Op, Segmented>& total)
{
    __syncthreads(); // the previous call's readers are done with `shared`
    Run<Op, Segmented> otherTotal;
    return blockRunsBefore(run, Run<Op, Segmented>(), shared, total, otherTotal);
}

} // namespace sluice
