// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters with blocks of kFilterThreads, for lists of many tiles (lib/filter_undo.cuh).
#define SLUICE_FILTER_THREADS kFilterThreads
#include "cuda/lib/filter_undo.cuh"

namespace sluice {

cudaError_t clearFilterTicket(cudaStream_t stream, const FilterParams& params)
{
    // Without tickets, blocks take their tiles in a fixed order and do not use the ticket counter.
    if (params.tickets == 0) return cudaSuccess;
    return cudaMemsetAsync(ticketOf(params), 0, sizeof(uint32_t), stream);
}

cudaError_t loadFilter(CudaTraits&) { return load(filterKernel); }

cudaError_t launchFilter(cudaStream_t stream, const FilterLaunchParams& params)
{
    return launchFilterKernel(stream, params);
}

} // namespace sluice
