// SPDX-License-Identifier: MIT OR Apache-2.0
// The first step of every decode: all tiles PENDING, none failed.
#include "kernels.h"
#include "lib/launch.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 256;

__global__ void __launch_bounds__(kThreads) statusKernel(RegionParams params)
{
    letNextLaunchBegin();
    uint32_t* status = pointerFrom<uint32_t>(params.status);
    const uint32_t index = blockIdx.x * kThreads + threadIdx.x; // maxRegionCount is at most 2^24
    if (index < params.maxRegionCount) {
        status[index] = SLUICE_ST_PENDING;
    } else if (index == params.maxRegionCount) {
        status[index] = 0; // failed tiles
    } else if (index == params.maxRegionCount + 1) {
        status[index] = 0xffffffffu; // the first of them
    }
}

} // namespace

cudaError_t loadStatus() { return load(statusKernel); }

cudaError_t launchStatus(cudaStream_t stream, const RegionParams& params)
{
    return launch(stream, statusKernel, (params.maxRegionCount + 2 + kThreads - 1) / kThreads,
                  kThreads, params);
}

} // namespace sluice
