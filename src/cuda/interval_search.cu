// SPDX-License-Identifier: MIT OR Apache-2.0
// The load-balancing search on its own: which interval each element belongs to, and its rank in
// there.
#include "kernels.h"
#include "lib/intervals.cuh"

namespace sluice {
namespace {

// Of one warp.
struct SearchShared {
    Marks marks;
    uint2 intervals[kWarpSize]; // index, and what to add to an element's number in the round for
                                // its rank
};

template <uint32_t Form>
__global__ void __launch_bounds__(kIntervalThreads) searchKernel(IntervalParams p)
{
    __shared__ SearchShared all[kIntervalWarps];
    SearchShared& shared = all[warpIndex()];
    uint32_t* sources = pointerFrom<uint32_t>(p.destination);
    uint32_t* ranks = pointerFrom<uint32_t>(p.gather);

    IntervalShare<Form> share(p);
    while (share.more()) {
        const Interval own = share.next(share.lengthOf(share.nextIndex()));
        const uint32_t to = static_cast<uint32_t>(
            min(static_cast<uint64_t>(own.to), subSaturated(p.capacity, own.before)));
        const uint32_t elements = to - min(own.from, to), inclusive = warpInclusiveSum(elements);
        const uint32_t any = __ballot_sync(kAllLanes, elements != 0);
        if (any == 0) continue;

        const uint32_t total = __shfl_sync(kAllLanes, inclusive, kWarpSize - 1),
                       start = inclusive - elements;
        // A round's elements are consecutive.
        const uint64_t first =
            __shfl_sync(kAllLanes, own.before + own.from, __ffs(static_cast<int>(any)) - 1);
        if (elements != 0)
            shared.intervals[__popc(any & lanesBelow())] = make_uint2(own.index, own.from - start);
        for (uint32_t window = 0; window < total; window += Marks::kPieces) {
            shared.marks.clear();
            if (elements != 0 && start - window < Marks::kPieces) shared.marks.set(start - window);
            shared.marks.count(static_cast<uint32_t>(
                __popc(__ballot_sync(kAllLanes, elements != 0 && start < window))));
            const uint32_t last = min(window + Marks::kPieces, total);
            for (uint32_t i = window + laneIndex(); i < last; i += kWarpSize) {
                const uint2 interval = shared.intervals[shared.marks.rank(i - window)];
                if (sources != nullptr) sources[first + i] = interval.x;
                if (ranks != nullptr) ranks[first + i] = interval.y + i;
            }
            __syncwarp();
        }
    }
}

} // namespace

cudaError_t loadIntervalSearch()
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
