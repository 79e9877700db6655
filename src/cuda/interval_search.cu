// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the interval of each element (shaders/lib/kernels/interval_search.h).
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/intervals.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = kIntervalThreads, kMarks = Marks::kPieces;

// Bits for consecutive elements of the output, set where intervals begin. With these marks,
// kernels/interval_search.h finds the interval of each element. Each warp has its own.
__shared__ Marks sMarks[kIntervalWarps];

__device__ void clearMarks() { sMarks[warpIndex()].clear(); }
__device__ void setMark(uint32_t piece) { sMarks[warpIndex()].set(piece); }
__device__ void countMarks(uint32_t first) { sMarks[warpIndex()].count(first); }
__device__ uint32_t rankOfPiece(uint32_t piece) { return sMarks[warpIndex()].rank(piece); }

} // namespace
} // namespace sluice

#include "kernels/interval_search.h"

namespace sluice {
namespace {

template <uint32_t Form>
__global__ void __launch_bounds__(kThreads) searchKernel(IntervalParams p)
{
    IntervalShare<Form> share(p);
    while (share.more())
        searchRound(p, share.next(share.lengthOf(share.nextIndex())));
}

} // namespace

cudaError_t loadIntervalSearch(CudaTraits&)
{
    const cudaError_t error = load(searchKernel<SLUICE_INTERVAL_COUNTS>);
    return error != cudaSuccess ? error : load(searchKernel<SLUICE_INTERVAL_OFFSETS>);
}

cudaError_t launchIntervalSearch(cudaStream_t stream, const IntervalParams& params, uint32_t blocks)
{
    const bool offsets = params.form == SLUICE_INTERVAL_OFFSETS;
    return launch(stream,
                  offsets ? searchKernel<SLUICE_INTERVAL_OFFSETS>
                          : searchKernel<SLUICE_INTERVAL_COUNTS>,
                  blocks, kIntervalThreads, params);
}

} // namespace sluice
