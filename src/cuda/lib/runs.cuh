// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans of runs over a warp and a block: sums and maxima, cut into segments or not.
#pragma once

#include "warp.cuh"

namespace sluice {

template <typename T>
struct Sum {
    using Value = T;
    static constexpr bool kIsKey = false;
    static __device__ T identity() { return 0; }
    static __device__ T combine(T a, T b) { return a + b; }
};

// Of unsigned keys.
template <typename T>
struct Max {
    using Value = T;
    static constexpr bool kIsKey = true;
    static __device__ T identity() { return 0; }
    static __device__ T combine(T a, T b) { return a < b ? b : a; }
};

// A run of consecutive elements: the combined value of those after its last segment head, or of all if it has none.
template <typename Op, bool Segmented>
struct Run {
    typename Op::Value value = Op::identity();
    bool head = false;
};

template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> join(const Run<Op, Segmented>& first, const Run<Op, Segmented>& second)
{
    if constexpr (Segmented) {
        return {second.head ? second.value : Op::combine(first.value, second.value), first.head || second.head};
    } else {
        return {Op::combine(first.value, second.value), false};
    }
}

template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> runBelow(const Run<Op, Segmented>& run, uint32_t distance)
{
    Run<Op, Segmented> below;
    below.value = __shfl_up_sync(kAllLanes, run.value, distance);
    if constexpr (Segmented) below.head = __shfl_up_sync(kAllLanes, static_cast<uint32_t>(run.head), distance) != 0;
    return below;
}

// The runs of the lanes below this one, joined; `total` is that of the whole warp.
template <typename Op, bool Segmented>
__device__ inline Run<Op, Segmented> warpExclusiveRun(Run<Op, Segmented> run, Run<Op, Segmented>& total)
{
#pragma unroll
    for (uint32_t distance = 1; distance < kWarpSize; distance *= 2) {
        const Run<Op, Segmented> below = runBelow(run, distance);
        if (laneIndex() >= distance) run = join(below, run);
    }
    total.value = __shfl_sync(kAllLanes, run.value, kWarpSize - 1);
    total.head = Segmented && __shfl_sync(kAllLanes, static_cast<uint32_t>(run.head), kWarpSize - 1) != 0;
    const Run<Op, Segmented> before = runBelow(run, 1);
    return laneIndex() == 0 ? Run<Op, Segmented>() : before;
}

template <typename Op, bool Segmented, uint32_t Warps>
struct RunShared {
    typename Op::Value values[Warps];
    bool heads[Warps];
};

// The runs of the warps below this one, joined; `run` is the same in all lanes of a warp, `total` is the block's.
template <typename Op, bool Segmented, uint32_t Warps>
__device__ inline Run<Op, Segmented> blockRunsBefore(const Run<Op, Segmented>& run, RunShared<Op, Segmented, Warps>& shared,
                                                     Run<Op, Segmented>& total)
{
    static_assert(Warps <= kWarpSize, "one warp must hold all values");
    __syncthreads(); // the previous call's readers are done with `shared`
    if (laneIndex() == 0) {
        shared.values[warpIndex()] = run.value;
        if constexpr (Segmented) shared.heads[warpIndex()] = run.head;
    }
    __syncthreads();
    Run<Op, Segmented> before;
    total = Run<Op, Segmented>();
#pragma unroll
    for (uint32_t warp = 0; warp < Warps; ++warp) {
        if (warp == warpIndex()) before = total;
        total = join(total, Run<Op, Segmented>{shared.values[warp], Segmented && shared.heads[warp]});
    }
    return before;
}

} // namespace sluice
