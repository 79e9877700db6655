// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes whole tile streams: the passes of shaders/lib/kernels/tile_streams.h.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 128;

} // namespace
} // namespace sluice

#include "kernels/tile_streams.h"

namespace sluice {
namespace {

__global__ void __launch_bounds__(kThreads) tileStreamsKernel(TileStreamsParams params)
{
    tileStreams(params, blockIdx.x);
}

} // namespace

cudaError_t loadTileStreams(CudaTraits&) { return load(tileStreamsKernel); }

cudaError_t launchTileStreams(cudaStream_t stream, const TileStreamsParams& params)
{
    return launch(stream, tileStreamsKernel, max(params.maxStreamCount, 1u), kThreads, params);
}

} // namespace sluice
