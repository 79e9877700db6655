// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters undone by blocks of twice as many threads, for few tiles: each takes less time, as a warp
// has nothing to wait for but the waves of its own tile.
#define SLUICE_FILTER_THREADS kFilterFewThreads
#include "cuda/lib/filter_undo.cuh"

namespace sluice {

cudaError_t loadFilterFew(CudaTraits&) { return load(filterKernel); }

cudaError_t launchFilterFew(cudaStream_t stream, const FilterLaunchParams& params)
{
    return launchFilterKernel(stream, params);
}

} // namespace sluice
