// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the sequences of Zstandard blocks: shaders/lib/kernels/zstd_sequences.h.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"
#include "cuda/tuning.h"

namespace sluice {
namespace {

constexpr uint32_t kGroupsPerWorkgroup = kZstdTeamWarps, kZstdChains = kZstdChainsAtOnce,
                   kZstdTeam = kGroupsPerWorkgroup, kZstdTeams = 1,
                   kThreads = kGroupsPerWorkgroup * kWarpSize;

__device__ void zstdTeamBarrier() { wgBarrierShared(); }

} // namespace
} // namespace sluice

#include "kernels/zstd_codes.h"
#include "cuda/lib/slots.cuh"

namespace sluice {
namespace {

// Returns the memory in which a lane group builds its tables. Later it has the rings of bits.
__device__ SlotMemory slotMemory(uint32_t group)
{
    uint32_t* const words = sZstdWork + zstdTableMemory(group);
    return {reinterpret_cast<uint8_t*>(words), words + 128};
}

// Stores a step of a chain, one sequence's three table entries and bit position, in one store.
__device__ void zstdStoreStep(u32 at, u32 l, u32 o, u32 m, u32 position)
{
    *reinterpret_cast<u32x4*>(&sZstdWork[at]) = makeU32x4(l, o, m, position);
}

} // namespace
} // namespace sluice

#define SLUICE_FSE_MEMORY
#include "cuda/lib/fse.cuh"
#include "kernels/fse.h"
#include "kernels/zstd_sequences.h"

namespace sluice {
namespace {

__global__ void __launch_bounds__(kThreads) zstdSequencesKernel(ZstdParams params)
{
    letNextLaunchBegin(); // it decodes literals, which need no sequences
    zstdSequences(params, blockIdx.x);
}

} // namespace

cudaError_t loadZstdSequences(CudaTraits&) { return load(zstdSequencesKernel); }

cudaError_t launchZstdSequences(cudaStream_t stream, const ZstdParams& params)
{
    const uint32_t groups = params.slots * params.groups;
    return launch(stream, zstdSequencesKernel, SLUICE_ZS_TEAMS(groups, kZstdChains), kThreads,
                  params);
}

} // namespace sluice
