// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses turns, sorts blocks and places their output: shaders/lib/kernels/zstd_place.h.
#include "api/plan_zstd.h"
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"

#include "kernels/zstd_place.h"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 32;

__global__ void __launch_bounds__(kThreads) zstdPlaceKernel(ZstdParams params)
{
    const uint32_t thread = blockIdx.x * kThreads + threadIdx.x;
    if ((params.pass & SLUICE_ZS_BEGIN) != 0)
        zstdBeginTurn(params, thread);
    else if (params.pass >= SLUICE_ZS_COUNT)
        zstdOrder(params, thread);
    else
        zstdPlace(params, thread);
}

} // namespace

cudaError_t loadZstdPlace(CudaTraits&) { return load(zstdPlaceKernel); }

cudaError_t launchZstdPlace(cudaStream_t stream, const ZstdParams& params)
{
    const uint32_t threads = zstdPlaceThreads(params);
    return launch(stream, zstdPlaceKernel, (threads + kThreads - 1) / kThreads, kThreads, params);
}

} // namespace sluice
