// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the sequences of Zstandard blocks: shaders/lib/kernels/zstd_sequences.h.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"
#include "cuda/tuning.h"

namespace sluice {
namespace {

constexpr uint32_t kGroupsPerWorkgroup = 1, kZstdChains = kZstdChainsAtOnce,
                   kThreads = kGroupsPerWorkgroup * kWarpSize;

} // namespace
} // namespace sluice

#include "cuda/lib/fse.cuh"
#include "kernels/zstd_codes.h"
#include "kernels/fse.h"
#include "kernels/zstd_sequences.h"

namespace sluice {
namespace {

__global__ void __launch_bounds__(kThreads) zstdSequencesKernel(ZstdParams params)
{
    letNextLaunchBegin(); // literals, which need nothing that this leaves
    const uint32_t warp = uniform(warpIndex());
    zstdSequences(params, blockIdx.x * kGroupsPerWorkgroup + warp, warp);
}

} // namespace

cudaError_t loadZstdSequences(CudaTraits&) { return load(zstdSequencesKernel); }

cudaError_t launchZstdSequences(cudaStream_t stream, const ZstdParams& params)
{
    const uint32_t groups = params.slots * params.groups;
    return launch(stream, zstdSequencesKernel,
                  (groups + kGroupsPerWorkgroup - 1) / kGroupsPerWorkgroup, kThreads, params);
}

} // namespace sluice
