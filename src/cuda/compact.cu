// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction: each block counts what its chunk keeps, then moves it behind what all chunks before keep. A lane's
// rank inside its row of 32 is the population count of the ballot below it.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/tiles.cuh"

namespace sluice {
namespace {

__global__ void __launch_bounds__(kTileThreads) countKernel(CompactParams params)
{
    __shared__ uint32_t shared[kTileWarps];
    const uint32_t* flags = pointerFrom<const uint32_t>(params.flags);
    const TileRange tiles = blockTiles(params.count);

    uint32_t kept = 0;
    for (uint32_t tile = tiles.begin; tile < tiles.end; ++tile) {
        const uint64_t start = tileStart(tile);
#pragma unroll
        for (uint32_t row = 0; row < kTileRows; ++row) {
            const uint64_t index = start + row * kWarpSize;
            kept += index < params.count && flags[index] != 0 ? 1u : 0u;
        }
    }
    const uint32_t total = blockExclusiveSum(warpSum(kept), shared).total;
    if (threadIdx.x == 0) pointerFrom<uint32_t>(params.partials)[blockIdx.x] = total;
}

__global__ void __launch_bounds__(kTileThreads) moveKernel(CompactParams params)
{
    __shared__ uint32_t shared[kTileWarps];
    const uint32_t* input = pointerFrom<const uint32_t>(params.input_);
    const uint32_t* flags = pointerFrom<const uint32_t>(params.flags);
    uint32_t* output = pointerFrom<uint32_t>(params.output_);
    const TileRange tiles = blockTiles(params.count);

    uint32_t keptBefore = sumOfEarlierBlocks(pointerFrom<const uint32_t>(params.partials), shared);
    for (uint32_t tile = tiles.begin; tile < tiles.end; ++tile) {
        const uint64_t start = tileStart(tile);
        uint32_t value[kTileRows];
        uint32_t keep[kTileRows]; // ballot of each row
        uint32_t warpKept = 0;
#pragma unroll
        for (uint32_t row = 0; row < kTileRows; ++row) {
            const uint64_t index = start + row * kWarpSize;
            const bool inside = index < params.count;
            value[row] = inside ? input[index] : 0u;
            const uint32_t flag = inside ? flags[index] : 0u;
            keep[row] = __ballot_sync(kAllLanes, flag != 0);
        }
#pragma unroll
        for (uint32_t row = 0; row < kTileRows; ++row)
            warpKept += static_cast<uint32_t>(__popc(keep[row]));

        const WarpPrefix prefix = blockExclusiveSum(warpKept, shared);
        uint32_t rowBase = keptBefore + prefix.before;
#pragma unroll
        for (uint32_t row = 0; row < kTileRows; ++row) {
            const uint32_t target = rowBase + static_cast<uint32_t>(__popc(keep[row] & lanesBelow()));
            const bool kept = (keep[row] >> laneIndex() & 1u) != 0;
            if (kept && target < params.outputCount) output[target] = value[row];
            rowBase += static_cast<uint32_t>(__popc(keep[row]));
        }
        keptBefore += prefix.total;
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *pointerFrom<uint32_t>(params.total) = keptBefore;
}

} // namespace

uint32_t compactPartialCount(uint32_t count)
{
    return blockCount(count);
}

cudaError_t loadCompact()
{
    const cudaError_t error = load(countKernel);
    return error != cudaSuccess ? error : load(moveKernel);
}

cudaError_t launchCompact(cudaStream_t stream, const CompactParams& params)
{
    const uint32_t blocks = blockCount(params.count);
    const cudaError_t error = launch(stream, countKernel, blocks, kTileThreads, params);
    return error != cudaSuccess ? error : launch(stream, moveKernel, blocks, kTileThreads, params);
}

} // namespace sluice
