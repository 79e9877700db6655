// SPDX-License-Identifier: MIT OR Apache-2.0
// Computes prefix sums of the lengths of intervals (shaders/lib/kernels/interval_plan.h). Sums have
// 64 bits here and are limited to 32 bits only when they are stored.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/intervals.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = kIntervalThreads;

using Sum = uint64_t;
__device__ Sum addSums(Sum a, Sum b) { return a + b; }
__device__ uint32_t sumWord(Sum sum) { return saturated(sum); }

__shared__ Sum sSums[2][kIntervalWarps];

__device__ Sum wgExclusiveSum(uint32_t turn, Sum value, Sum& total)
{
    return blockExclusive(value, total, sSums[turn]);
}

__device__ uint32_t listCount(const IntervalParams& p)
{
    return IntervalList<SLUICE_INTERVAL_COUNTS>(p).listed;
}

__device__ uint32_t listElements(const IntervalParams& p)
{
    switch (p.form) {
    case SLUICE_INTERVAL_OFFSETS: return IntervalList<SLUICE_INTERVAL_OFFSETS>(p).elements();
    case SLUICE_INTERVAL_REMOVED: return IntervalList<SLUICE_INTERVAL_REMOVED>(p).elements();
    default: {
        const IntervalList<SLUICE_INTERVAL_INSERTED> list(p);
        return addSaturated(list.items, list.listed);
    }
    }
}

} // namespace
} // namespace sluice

#include "kernels/interval_plan.h"

namespace sluice {
namespace {

__host__ __device__ bool isCounts(const IntervalParams& p)
{
    return p.form == SLUICE_INTERVAL_COUNTS;
}

__global__ void __launch_bounds__(kThreads) sumGroupsKernel(IntervalParams p)
{
    sumGroup(p, blockIdx.x);
}

__global__ void __launch_bounds__(kThreads) scanGroupsKernel(IntervalParams p)
{
    scanGroups(p, isCounts(p));
}

} // namespace

cudaError_t loadIntervalPlan(CudaTraits&)
{
    const cudaError_t error = load(sumGroupsKernel);
    return error != cudaSuccess ? error : load(scanGroupsKernel);
}

cudaError_t launchIntervalPlan(cudaStream_t stream, const IntervalParams& params)
{
    const bool sum = isCounts(params) && params.maxCount != 0;
    cudaError_t error = cudaSuccess;
    if (sum)
        error = launch(stream, sumGroupsKernel,
                       (params.maxCount - 1) / intervalGroupSize(params.maxCount) + 1, kThreads,
                       params);
    if (error == cudaSuccess && (sum || u64From(params.result_) != 0))
        error = launch(stream, scanGroupsKernel, 1, kThreads, params);
    return error;
}

} // namespace sluice
