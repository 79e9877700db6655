// SPDX-License-Identifier: MIT OR Apache-2.0
// Checksums of decoded tiles: shaders/lib/kernels/checksum.h, with one warp for each tile.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/pitch.cuh"
#include "cuda/lib/region.cuh"

namespace sluice {
namespace {

__device__ LinearTile linearTile(const RegionParams& params, uint64_t tile)
{
    return LinearTile(params, tile);
}
__device__ PitchedTile pitchedTile(const RegionParams& params, uint64_t tile)
{
    return PitchedTile(params, tile);
}
template <typename Tile>
__device__ uint32_t tileWord(const Tile& tile, uint32_t at)
{
    return *tile.template pointer<const uint32_t>(at);
}
template <typename Tile>
__device__ uint32_t tileByte(const Tile& tile, uint32_t at)
{
    return *tile.template pointer<const uint8_t>(at);
}

} // namespace
} // namespace sluice

#include "kernels/checksum.h"

namespace sluice {
namespace {

constexpr uint32_t kWarps = 4;

__global__ void __launch_bounds__(kWarps* kWarpSize) checksumKernel(RegionParams params)
{
    checksumTile(params, blockIdx.x * kWarps + warpIndex());
}

} // namespace

cudaError_t loadChecksum(CudaTraits&) { return load(checksumKernel); }

cudaError_t launchChecksum(cudaStream_t stream, const RegionParams& params)
{
    if (params.maxRegionCount == 0) return cudaSuccess;
    return launch(stream, checksumKernel, (params.maxRegionCount + kWarps - 1) / kWarps,
                  kWarps * kWarpSize, params);
}

} // namespace sluice
