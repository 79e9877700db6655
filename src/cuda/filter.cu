// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters undone by blocks of 256 threads, for many tiles (lib/filter_undo.cuh).
#include "lib/filter_undo.cuh"

namespace sluice {

constexpr uint32_t kFilterThreads = 256;

cudaError_t clearFilterTicket(cudaStream_t stream, const FilterParams& params)
{
    // Otherwise no block takes a second tile.
    if (params.tickets == 0) return cudaSuccess;
    return cudaMemsetAsync(ticketOf(params), 0, sizeof(uint32_t), stream);
}

cudaError_t loadFilter() { return load(filterKernel<kFilterThreads>); }

cudaError_t launchFilter(cudaStream_t stream, const FilterLaunchParams& params)
{
    return launchFilterKernel<kFilterThreads>(stream, params);
}

} // namespace sluice
