// SPDX-License-Identifier: MIT OR Apache-2.0
// The load-balancing search on its own: which interval each element belongs to, and its rank in there.
#include "kernels.h"
#include "lib/intervals.cuh"

namespace sluice {
namespace {

template <uint32_t Form>
__global__ void __launch_bounds__(kIntervalThreads) searchKernel(IntervalParams p)
{
    __shared__ IntervalShared shared;
    __shared__ Marks<SLUICE_INTERVAL_TILE> marks;
    __shared__ uint2 intervals[SLUICE_INTERVAL_BATCH]; // index, and what to add to an element's number for its rank
    __shared__ uint32_t firstElement;                  // number of the first element of a batch
    uint32_t* sources = pointerFrom<uint32_t>(p.destination);
    uint32_t* ranks = pointerFrom<uint32_t>(p.gather);

    IntervalShare<Form> share(p, shared);
    while (share.more()) {
        marks.clear();
        Interval own = share.next();
        own.to = static_cast<uint32_t>(min(static_cast<uint64_t>(own.to), subSaturated(p.capacity, own.before)));
        const uint32_t elements = own.to - min(own.from, own.to);
        uint32_t total;
        const uint32_t marked = blockExclusive(elements | (elements != 0 ? 1u << 16 : 0), total, shared.sums[1]);
        const uint32_t start = marked & 0xffff;
        if (elements != 0) {
            marks.set(start);
            intervals[marked >> 16] = make_uint2(static_cast<uint32_t>(own.index), own.from - start);
            if (start == 0) firstElement = own.before + own.from; // the batch's elements are consecutive
        }
        marks.count(shared);
        const uint64_t first = firstElement;
        for (uint32_t i = threadIdx.x; i < (total & 0xffff); i += kIntervalThreads) {
            const uint2 interval = intervals[marks.rank(i)];
            if (sources != nullptr) sources[first + i] = interval.x;
            if (ranks != nullptr) ranks[first + i] = interval.y + i;
        }
        __syncthreads();
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
    const bool offsets = (params.form & 0xff) == SLUICE_INTERVAL_OFFSETS;
    return launch(stream, offsets ? searchKernel<SLUICE_INTERVAL_OFFSETS> : searchKernel<SLUICE_INTERVAL_COUNTS>,
                  blocks, kIntervalThreads, params);
}

} // namespace sluice
