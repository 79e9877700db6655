// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the checksums of Zstandard frames: shaders/lib/kernels/zstd_hash.h.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"

#include "kernels/zstd_hash.h"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 32;

__global__ void __launch_bounds__(kThreads) zstdHashKernel(ZstdParams params)
{
    zstdHash(params, blockIdx.x * kThreads + threadIdx.x);
}

} // namespace

cudaError_t loadZstdHash(CudaTraits&) { return load(zstdHashKernel); }

cudaError_t launchZstdHash(cudaStream_t stream, const ZstdParams& params)
{
    const uint32_t threads = params.slots;
    return launch(stream, zstdHashKernel, (threads + kThreads - 1) / kThreads, kThreads, params);
}

} // namespace sluice
