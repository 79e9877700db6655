// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the bytes of Zstandard frames: shaders/lib/kernels/zstd_bytes.h.
#include "api/plan_zstd.h"
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"

#include "kernels/zstd_bytes.h"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 128;

__global__ void __launch_bounds__(kThreads) zstdBytesKernel(ZstdParams params)
{
    zstdBytes(params, blockIdx.x * kThreads + threadIdx.x);
}

} // namespace

cudaError_t loadZstdBytes(CudaTraits&) { return load(zstdBytesKernel); }

cudaError_t launchZstdBytes(cudaStream_t stream, const ZstdParams& params)
{
    const uint32_t threads = zstdThreads(params);
    return launch(stream, zstdBytesKernel, (threads + kThreads - 1) / kThreads, kThreads, params);
}

} // namespace sluice
