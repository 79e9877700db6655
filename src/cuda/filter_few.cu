// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters with blocks of twice as many threads, for lists of few tiles. Each tile then takes
// less time, because more warps work on its columns, and fewer blocks compete for the processor.
#define SLUICE_FILTER_THREADS kFilterFewThreads
#include "cuda/lib/filter_undo.cuh"

namespace sluice {

cudaError_t loadFilterFew(CudaTraits&) { return load(filterKernel); }

cudaError_t launchFilterFew(cudaStream_t stream, const FilterLaunchParams& params)
{
    return launchFilterKernel(stream, params);
}

} // namespace sluice
