// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the bytes of Zstandard regions that are not large: shaders/lib/kernels/zstd_expand.h.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"
#include "cuda/tuning.h"

namespace sluice {
namespace {

constexpr uint32_t kInvocations = kZstdExpandThreads;

__device__ u32 expandLoad(u64 address) { return *pointerTo<const uint8_t>(address, 0); }
__device__ void expandBarrier() { __syncthreads(); }

} // namespace
} // namespace sluice

#include "kernels/zstd_expand.h"

namespace sluice {
namespace {

__global__ void __launch_bounds__(kInvocations, kZstdExpandBlocksPerProcessor)
    zstdExpandKernel(ZstdParams params)
{
    zstdExpand(params, blockIdx.x);
}

} // namespace

cudaError_t loadZstdExpand(CudaTraits&) { return load(zstdExpandKernel); }

cudaError_t launchZstdExpand(cudaStream_t stream, const ZstdParams& params)
{
    return launch(stream, zstdExpandKernel, params.slots, kInvocations, params);
}

} // namespace sluice
