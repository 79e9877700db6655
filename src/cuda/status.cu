// SPDX-License-Identifier: MIT OR Apache-2.0
// The first step of every decode: shaders/lib/kernels/status.h.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "kernels/status.h"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 256;

__global__ void __launch_bounds__(kThreads) statusKernel(RegionParams params)
{
    letNextLaunchBegin();
    // maxRegionCount is at most 2^24, so the number of threads fits in 32 bits.
    beginStatus(u64Of(params.status), params.maxRegionCount, blockIdx.x * kThreads + threadIdx.x);
}

} // namespace

cudaError_t loadStatus(CudaTraits&) { return load(statusKernel); }

cudaError_t launchStatus(cudaStream_t stream, const RegionParams& params)
{
    return launch(stream, statusKernel, (params.maxRegionCount + 2 + kThreads - 1) / kThreads,
                  kThreads, params);
}

} // namespace sluice
