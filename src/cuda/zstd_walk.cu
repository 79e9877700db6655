// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks over the headers of Zstandard frames: shaders/lib/kernels/zstd_walk.h.
#include "api/plan_zstd.h"
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"

#include "kernels/zstd_walk.h"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 32;

__global__ void __launch_bounds__(kThreads) zstdWalkKernel(ZstdParams params)
{
    zstdWalk(params, blockIdx.x * kThreads + threadIdx.x);
}

} // namespace

cudaError_t loadZstdWalk(CudaTraits&) { return load(zstdWalkKernel); }

cudaError_t launchZstdWalk(cudaStream_t stream, const ZstdParams& params)
{
    const uint32_t threads = zstdWalkThreads(params);
    return launch(stream, zstdWalkKernel, (threads + kThreads - 1) / kThreads, kThreads, params);
}

} // namespace sluice
