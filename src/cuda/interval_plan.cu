// SPDX-License-Identifier: MIT OR Apache-2.0
// Prefix sums of the counts of intervals, one word for every SLUICE_INTERVAL_BATCH of them: each
// block sums one group of counts, then one block scans the groups' sums and writes the result
// words. No block waits for another.
#include "kernels.h"
#include "lib/intervals.cuh"

namespace sluice {
namespace {

// consecutive counts of one thread
constexpr uint32_t kRun = SLUICE_INTERVAL_ROUND / kIntervalThreads;
constexpr uint32_t kRunsPerBatch = SLUICE_INTERVAL_BATCH / kRun;

__global__ void __launch_bounds__(kIntervalThreads) sumGroups(IntervalParams p)
{
    __shared__ uint64_t shared[2][kIntervalWarps]; // used in turn
    const IntervalList<SLUICE_INTERVAL_COUNTS> list(p);
    uint32_t* prefixes = pointerFrom<uint32_t>(p.prefixes);
    const uint32_t groupSize = intervalGroupSize(p.maxCount),
                   rounds = groupSize / SLUICE_INTERVAL_ROUND;
    const bool aligned = reinterpret_cast<uintptr_t>(list.counts) % 16 == 0;
    uint64_t before = 0;
    for (uint32_t round = 0; round < rounds; ++round) {
        const uint64_t first = static_cast<uint64_t>(blockIdx.x) * groupSize +
                               round * SLUICE_INTERVAL_ROUND + threadIdx.x * kRun;
        uint64_t sum = 0, total;
        if (aligned && first + kRun <= list.listed) {
#pragma unroll
            for (uint32_t i = 0; i < kRun / 4; ++i) {
                const uint4 four = __ldg(reinterpret_cast<const uint4*>(list.counts + first) + i);
                sum += static_cast<uint64_t>(four.x) + four.y + four.z + four.w;
            }
        } else {
#pragma unroll
            for (uint32_t i = 0; i < kRun; ++i)
                sum += first + i < list.listed ? list.counts[first + i] : 0u;
        }
        const uint64_t own = before + blockExclusive(sum, total, shared[round % 2]);
        if (threadIdx.x % kRunsPerBatch == 0 && first < list.listed)
            prefixes[SLUICE_INTERVAL_BATCHES_AT + first / SLUICE_INTERVAL_BATCH] = saturated(own);
        before += total;
    }
    if (threadIdx.x == 0) prefixes[SLUICE_INTERVAL_GROUPS_AT + blockIdx.x] = saturated(before);
}

template <uint32_t Form>
__device__ uint32_t elementsOf(const IntervalParams& p)
{
    const IntervalList<Form> list(p);
    return Form == SLUICE_INTERVAL_INSERTED
               ? saturated(static_cast<uint64_t>(list.items) + list.listed)
               : list.elements();
}

__global__ void __launch_bounds__(kIntervalThreads) scanGroups(IntervalParams p)
{
    __shared__ uint64_t shared[2][kIntervalWarps]; // used in turn
    const uint32_t form = p.form;
    uint32_t* prefixes = pointerFrom<uint32_t>(p.prefixes);
    const uint32_t groups = form != SLUICE_INTERVAL_COUNTS || p.maxCount == 0
                                ? 0
                                : (p.maxCount - 1) / intervalGroupSize(p.maxCount) + 1;
    uint64_t before = 0;
    for (uint32_t first = 0; first < groups; first += kIntervalThreads) {
        const uint32_t group = first + threadIdx.x;
        uint64_t total;
        const uint64_t own =
            before +
            blockExclusive(group < groups ? prefixes[SLUICE_INTERVAL_GROUPS_AT + group] : 0u, total,
                           shared[first / kIntervalThreads % 2]);
        if (group < groups) prefixes[SLUICE_INTERVAL_GROUPS_AT + group] = saturated(own);
        before += total;
    }
    if (threadIdx.x != 0) return;
    uint32_t all = saturated(before);
    if (groups != 0) prefixes[0] = all;
    if (form == SLUICE_INTERVAL_OFFSETS) all = elementsOf<SLUICE_INTERVAL_OFFSETS>(p);
    if (form == SLUICE_INTERVAL_REMOVED) all = elementsOf<SLUICE_INTERVAL_REMOVED>(p);
    if (form == SLUICE_INTERVAL_INSERTED) all = elementsOf<SLUICE_INTERVAL_INSERTED>(p);
    uint32_t* result = pointerFrom<uint32_t>(p.result_);
    if (result != nullptr) {
        result[0] = all;
        result[1] = (all == UINT32_MAX ? SLUICE_INTERVAL_FLAG_SATURATED : 0u) |
                    (all > p.capacity ? SLUICE_INTERVAL_FLAG_TRUNCATED : 0u);
    }
}

} // namespace

cudaError_t loadIntervalPlan()
{
    const cudaError_t error = load(sumGroups);
    return error != cudaSuccess ? error : load(scanGroups);
}

cudaError_t launchIntervalPlan(cudaStream_t stream, const IntervalParams& params)
{
    const bool sum = params.form == SLUICE_INTERVAL_COUNTS && params.maxCount != 0;
    cudaError_t error = cudaSuccess;
    if (sum)
        error = launch(stream, sumGroups,
                       (params.maxCount - 1) / intervalGroupSize(params.maxCount) + 1,
                       kIntervalThreads, params);
    if (error == cudaSuccess && (sum || u64From(params.result_) != 0))
        error = launch(stream, scanGroups, 1, kIntervalThreads, params);
    return error;
}

} // namespace sluice
