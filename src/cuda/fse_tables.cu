// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables from descriptions or counts: shaders/lib/kernels/fse_tables.h.
#include "cuda/kernels.h"
#include "cuda/lib/region.cuh"
#include "cuda/lib/slots.cuh"

namespace sluice {
namespace {

constexpr uint32_t kGroupsPerWorkgroup = 4, kThreads = kGroupsPerWorkgroup * kWarpSize;

__shared__ struct {
    alignas(4) uint8_t slots[1u << SLUICE_FSE_LOG_MAX];
    uint32_t symbols[SLUICE_FSE_SYMBOLS];
} sSlots[kGroupsPerWorkgroup];

__device__ SlotMemory slotMemory(uint32_t group)
{
    return {sSlots[group].slots, sSlots[group].symbols};
}

__device__ inline uint32_t fseSame(uint32_t symbol, uint32_t bits)
{
    uint32_t same = kAllLanes;
#pragma unroll
    for (uint32_t b = 0; b < bits; ++b) {
        const uint32_t bit = symbol & 1u << b;
        // the lanes that agree with this one
        same &= ballotIf(bit) ^ selectIf(bit, 0, kAllLanes);
    }
    return same;
}

__device__ int countAt(uint64_t source, uint32_t symbol)
{
    return reinterpret_cast<const int16_t*>(static_cast<uintptr_t>(source))[symbol];
}

} // namespace
} // namespace sluice

#include "kernels/fse.h"

namespace sluice {
namespace {

__device__ void writeStates(const FseTable& table, bool on, uint32_t symbolBits, uint64_t states)
{
    if (symbolBits <= 6)
        fseStates(table, on, 6, states); // as most codes of Zstandard's
    else
        fseStates(table, on, 8, states);
}

} // namespace
} // namespace sluice

#include "kernels/fse_tables.h"

namespace sluice {
namespace {

template <bool Counts>
__global__ void __launch_bounds__(kThreads) fseTablesKernel(FseTablesParams params)
{
    const uint32_t warp = uniform(warpIndex());
    fseTables(params, blockIdx.x * kGroupsPerWorkgroup + warp, warp, Counts);
}

} // namespace

cudaError_t loadFseTables(CudaTraits&)
{
    const cudaError_t error = load(fseTablesKernel<false>);
    return error != cudaSuccess ? error : load(fseTablesKernel<true>);
}

cudaError_t launchFseTables(cudaStream_t stream, const FseTablesParams& params, uint32_t groups)
{
    const bool counts = (params.flags & SLUICE_FSE_FLAG_COUNTS) != 0;
    return launch(stream, counts ? fseTablesKernel<true> : fseTablesKernel<false>,
                  (groups + kGroupsPerWorkgroup - 1) / kGroupsPerWorkgroup, kThreads, params);
}

} // namespace sluice
