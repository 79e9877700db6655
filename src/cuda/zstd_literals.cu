// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the literals of Zstandard blocks: shaders/lib/kernels/zstd_literals.h.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"

namespace sluice {
namespace {

constexpr uint32_t kGroupsPerWorkgroup = 2, kThreads = kGroupsPerWorkgroup * kWarpSize;

} // namespace
} // namespace sluice

#include "cuda/lib/fse.cuh"
#include "kernels/zstd_tree.h"

namespace sluice {
namespace {

__device__ inline u32 zstdEntry(u32 groupHere, u32 value)
{
    return reinterpret_cast<const uint16_t*>(sZstdTable + groupHere * kZstdTable)[value];
}

} // namespace
} // namespace sluice

#include "kernels/fse.h"
#include "kernels/zstd_literals.h"

namespace sluice {
namespace {

__global__ void __launch_bounds__(kThreads) zstdLiteralsKernel(ZstdParams params)
{
    const uint32_t warp = uniform(warpIndex());
    zstdLiterals(params, blockIdx.x * kGroupsPerWorkgroup + warp, warp);
    // Literals do not need the sequences, but the next launch needs both and waits only for this
    // launch. So this launch must end after the one that decodes the sequences.
    waitForPreviousLaunch();
}

} // namespace

cudaError_t loadZstdLiterals(CudaTraits&) { return load(zstdLiteralsKernel); }

cudaError_t launchZstdLiterals(cudaStream_t stream, const ZstdParams& params, bool programmatic)
{
    const uint32_t groups = params.slots * params.groups;
    return launch(stream, zstdLiteralsKernel,
                  (groups + kGroupsPerWorkgroup - 1) / kGroupsPerWorkgroup, kThreads, params, 0,
                  programmatic);
}

} // namespace sluice
