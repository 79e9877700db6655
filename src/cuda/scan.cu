// SPDX-License-Identifier: MIT OR Apache-2.0
// Prefix sums by reduce-then-scan: each block sums its chunk, then scans it with the sum of all chunks before as
// carry-in. No block waits for another.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/tiles.cuh"

namespace sluice {
namespace {

__global__ void __launch_bounds__(kTileThreads) reduceKernel(ScanParams params)
{
    __shared__ uint32_t shared[kTileWarps];
    const uint32_t* input = pointerFrom<const uint32_t>(params.input_);
    const TileRange tiles = blockTiles(params.count);

    uint32_t sum = 0;
    for (uint32_t tile = tiles.begin; tile < tiles.end; ++tile) {
        const uint64_t start = tileStart(tile);
#pragma unroll
        for (uint32_t row = 0; row < kTileRows; ++row) {
            const uint64_t index = start + row * kWarpSize;
            sum += index < params.count ? input[index] : 0u;
        }
    }
    const uint32_t total = blockExclusiveSum(warpSum(sum), shared).total;
    if (threadIdx.x == 0) pointerFrom<uint32_t>(params.partials)[blockIdx.x] = total;
}

// Input and output may be the same memory: a tile is in registers before any of it is written, and no other block reads
// it.
__global__ void __launch_bounds__(kTileThreads) scanKernel(ScanParams params)
{
    __shared__ uint32_t shared[kTileWarps];
    const uint32_t* input = pointerFrom<const uint32_t>(params.input_);
    uint32_t* output = pointerFrom<uint32_t>(params.output_);
    const bool inclusive = params.kind == 1;
    const TileRange tiles = blockTiles(params.count);

    uint32_t carry = sumOfEarlierBlocks(pointerFrom<const uint32_t>(params.partials), shared);
    for (uint32_t tile = tiles.begin; tile < tiles.end; ++tile) {
        const uint64_t start = tileStart(tile);
        uint32_t value[kTileRows];
#pragma unroll
        for (uint32_t row = 0; row < kTileRows; ++row) {
            const uint64_t index = start + row * kWarpSize;
            value[row] = index < params.count ? input[index] : 0u;
        }

        // Row by row inside the warp, each row carrying into the next.
        uint32_t warpTotal = 0;
#pragma unroll
        for (uint32_t row = 0; row < kTileRows; ++row) {
            const uint32_t sums = warpInclusiveSum(value[row]);
            value[row] = warpTotal + sums - (inclusive ? 0u : value[row]);
            warpTotal += __shfl_sync(kAllLanes, sums, kWarpSize - 1);
        }

        const WarpPrefix prefix = blockExclusiveSum(warpTotal, shared);
#pragma unroll
        for (uint32_t row = 0; row < kTileRows; ++row) {
            const uint64_t index = start + row * kWarpSize;
            if (index < params.count) output[index] = carry + prefix.before + value[row];
        }
        carry += prefix.total;
    }
    uint32_t* total = pointerFrom<uint32_t>(params.total);
    if (total != nullptr && blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *total = carry;
}

} // namespace

uint32_t scanPartialCount(uint32_t count)
{
    return blockCount(count);
}

cudaError_t loadScan()
{
    const cudaError_t error = load(reduceKernel);
    return error != cudaSuccess ? error : load(scanKernel);
}

cudaError_t launchScan(cudaStream_t stream, const ScanParams& params)
{
    const uint32_t blocks = blockCount(params.count);
    const cudaError_t error = launch(stream, reduceKernel, blocks, kTileThreads, params);
    return error != cudaSuccess ? error : launch(stream, scanKernel, blocks, kTileThreads, params);
}

} // namespace sluice
