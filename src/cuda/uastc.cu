// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcodes UASTC blocks: shaders/lib/kernels/uastc.h.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = kUastcThreads;

__device__ u32 reverseBits(u32 word) { return __brev(word); }
__device__ void storeUnit16(u64 target, u32 x, u32 y, u32 z, u32 w)
{
    *pointerTo<uint4>(target) = make_uint4(x, y, z, w);
}
__device__ u32 atomicAddGet(u64 base, u32 index, u32 value)
{
    return atomicAdd(pointerTo<u32>(base, index), value);
}
__device__ void atomicOrWord(u64 base, u32 index, u32 value)
{
    atomicOr(pointerTo<u32>(base, index), value);
}
__device__ void atomicMaxWord(u64 base, u32 index, u32 value)
{
    atomicMax(pointerTo<u32>(base, index), value);
}
__device__ u32 atomicTake(u64 base, u32 index)
{
    return atomicExch(pointerTo<u32>(base, index), 0u);
}
__device__ void deviceMemoryBarrier() { __threadfence(); }

} // namespace
} // namespace sluice

#define SLUICE_UASTC_SORTS
#include "kernels/uastc.h"

namespace sluice {
namespace {

template <uint32_t Group>
__global__ void __launch_bounds__(kThreads) uastcKernel(UastcParams params)
{
    uastcPiece(params, blockIdx.x, Group);
}

constexpr void (*kKernels[])(UastcParams) = {
    uastcKernel<SLUICE_UA_GROUP_BC7>, uastcKernel<SLUICE_UA_GROUP_ASTC>,
    uastcKernel<SLUICE_UA_GROUP_RGBA8>, uastcKernel<SLUICE_UA_GROUP_BC>,
    uastcKernel<SLUICE_UA_GROUP_ETC>};

} // namespace

cudaError_t loadUastc(CudaTraits&)
{
    cudaError_t error = cudaSuccess;
    for (const auto kernel : kKernels)
        if (error == cudaSuccess) error = load(kernel);
    return error;
}

cudaError_t launchUastc(cudaStream_t stream, const UastcParams& params, uint32_t group)
{
    return launch(stream, kKernels[group], params.maxRegionCount * params.pieces, kThreads, params);
}

} // namespace sluice
