// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds FSE tables from descriptions or from counts: shaders/lib/kernels/fse_tables.h.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/region.cuh"

namespace sluice {
namespace {

constexpr uint32_t kGroupsPerWorkgroup = 4, kThreads = kGroupsPerWorkgroup * kWarpSize;

} // namespace
} // namespace sluice

#include "cuda/lib/fse.cuh"

namespace sluice {
namespace {

// Returns the count of symbol `symbol`, a signed 16-bit number of the array at `source`.
__device__ int countAt(uint64_t source, uint32_t symbol)
{
    return reinterpret_cast<const int16_t*>(static_cast<uintptr_t>(source))[symbol];
}

} // namespace
} // namespace sluice

#include "kernels/fse.h"

namespace sluice {
namespace {

// kernels/fse_tables.h calls this to fill a table's states. There are two copies of fseStates: for
// symbols of up to 6 and of up to 8 bits.
__device__ void writeStates(const FseTable& table, bool on, uint32_t symbolBits, uint64_t states)
{
    if (symbolBits <= 6)
        // Most codes of Zstandard have at most 64 symbols, and six bits are faster than eight.
        fseStates(table, on, 6, states);
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
