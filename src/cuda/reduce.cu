// SPDX-License-Identifier: MIT OR Apache-2.0
// Each block combines its share of the input; the last one to finish combines what all of them found, in order. Nobody
// waits for anybody. Also the first half of an f32 scan: one tile a block, and what comes before each tile stays in
// scratch.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/scan_tile.cuh"

namespace sluice {
namespace {

struct ReduceHead {
    uint32_t unused;
    uint32_t done;
};

// What the elements of every gridDim.x-th tile give. The order is the same in every run.
template <typename Op>
__device__ Run<Op, false> shareRun(const ScanParams& params, typename ScanTile<Op, false>::Shared& shared)
{
    using Tile = ScanTile<Op, false>;
    const uint32_t count = elementCount(params), tiles = Tile::count(count);
    Run<Op, false> own, warpTotal, total;
    for (uint32_t index = blockIdx.x; index < tiles; index += gridDim.x) {
        const Tile tile(params, index, count);
        typename Tile::Row rows[Tile::kRows];
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row)
            rows[row] = tile.load(row);
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row)
            own = join(own, Tile::runOf(rows[row], 0));
    }
    warpExclusiveRun(own, warpTotal);
    blockRunsBefore(warpTotal, shared, total);
    return total;
}

// Returns all partial results joined. They become what comes before each, or zero.
template <typename Op, bool Segmented>
__device__ Run<Op, Segmented> combinePartials(const ScanParams& params,
                                              typename ScanTile<Op, Segmented>::Shared& shared, bool keepPrefixes)
{
    using OneRun = Run<Op, Segmented>;
    OneRun carry;
    for (uint32_t start = 0; start < gridDim.x; start += kScanThreads) {
        const uint32_t index = start + threadIdx.x;
        const bool exists = index < gridDim.x;
        OneRun own, warpTotal, total;
        if (exists) own = loadPartial<Op, Segmented>(params, index);
        const OneRun before = warpExclusiveRun(own, warpTotal);
        const OneRun warpsBefore = blockRunsBefore(warpTotal, shared, total);
        if (exists) storePartial(params, index, keepPrefixes ? join(join(carry, warpsBefore), before) : OneRun());
        carry = join(carry, total);
    }
    return carry;
}

// Stores the block's partial result; true in the block that does so last.
template <typename Op, bool Segmented>
__device__ bool isLast(const ScanParams& params, const Run<Op, Segmented>& run)
{
    __shared__ uint32_t done;
    if (threadIdx.x == 0) {
        storePartial(params, blockIdx.x, run);
        __threadfence();
        done = atomicAdd(&pointerFrom<ReduceHead>(params.scratch)->done, 1u);
        __threadfence();
    }
    __syncthreads();
    return done + 1 == gridDim.x;
}

template <typename Op>
__global__ void __launch_bounds__(kScanThreads) reduceKernel(const __grid_constant__ ScanParams params)
{
    __shared__ typename ScanTile<Op, false>::Shared shared;
    if (!isLast(params, shareRun<Op>(params, shared))) return;
    const Run<Op, false> all = combinePartials<Op, false>(params, shared, false);
    if (threadIdx.x == 0) {
        storeResult<Op>(params, all.value);
        pointerFrom<ReduceHead>(params.scratch)->done = 0;
    }
}

template <bool Segmented>
__global__ void __launch_bounds__(kScanThreads) partialsKernel(const __grid_constant__ ScanParams params)
{
    using Op = Sum<float>;
    __shared__ typename ScanTile<Op, Segmented>::Shared shared;
    const ScanTile<Op, Segmented> tile(params, blockIdx.x, elementCount(params));
    if (!isLast(params, tile.run(shared))) return;
    combinePartials<Op, Segmented>(params, shared, true);
    if (threadIdx.x == 0) pointerFrom<ReduceHead>(params.scratch)->done = 0;
}

using ReduceKernel = void (*)(ScanParams);

ReduceKernel kernelFor(ScanOperation operation)
{
    switch (operation) {
    case ScanOperation::maxU32:
        return reduceKernel<Max<uint32_t>>;
    case ScanOperation::sumU64:
        return reduceKernel<Sum<uint64_t>>;
    case ScanOperation::maxU64:
        return reduceKernel<Max<uint64_t>>;
    case ScanOperation::sumF32:
        return reduceKernel<Sum<float>>;
    default:
        return reduceKernel<Sum<uint32_t>>;
    }
}

} // namespace

cudaError_t loadReduce()
{
    for (uint32_t i = 0; i < kScanOperations; ++i) {
        const cudaError_t error = load(kernelFor(static_cast<ScanOperation>(i)));
        if (error != cudaSuccess) return error;
    }
    const cudaError_t error = load(partialsKernel<false>);
    return error != cudaSuccess ? error : load(partialsKernel<true>);
}

cudaError_t launchReduce(cudaStream_t stream, ScanOperation operation, const ScanParams& params)
{
    return launch(stream, kernelFor(operation), params.workgroups, kScanThreads, params);
}

cudaError_t launchPartials(cudaStream_t stream, const ScanParams& params)
{
    const bool segmented = u64From(params.heads) != 0;
    return launch(stream, segmented ? partialsKernel<true> : partialsKernel<false>, params.workgroups, kScanThreads,
                  params);
}

} // namespace sluice
