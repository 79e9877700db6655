// SPDX-License-Identifier: MIT OR Apache-2.0
// Prefix sums, minima and maxima in one pass with decoupled look-back; shaders/lib/scan_main.glsl says how.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/lookback.cuh"
#include "lib/scan_tile.cuh"

namespace sluice {
namespace {

// What an element's place in its tile adds.
template <typename Op, bool Segmented>
struct Scanned {
    using Tile = ScanTile<Op, Segmented>;
    using OneRun = Run<Op, Segmented>;

    OneRun starts[Tile::kRows]; // all of the warp's elements before this thread's
    OneRun total;               // of the warp

    __device__ void scan(const typename Tile::Elements& elements)
    {
        total = OneRun();
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row) {
            OneRun rowTotal;
            starts[row] = join(total, warpExclusiveRun(Tile::runOf(elements.rows[row], elements.heads[row]), rowTotal));
            total = join(total, rowTotal);
        }
    }

    // Writes the tile; `before` is everything before the warp's elements.
    __device__ void store(const Tile& tile, const typename Tile::Elements& elements, const OneRun& before, bool inclusive) const
    {
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row) {
            OneRun running = join(before, starts[row]);
            typename Tile::Row out;
#pragma unroll
            for (uint32_t i = 0; i < Tile::kPerRow; ++i) {
                const bool head = Segmented && (elements.heads[row] >> i & 1) != 0;
                const OneRun next = join(running, OneRun{elements.rows[row].x[i], head});
                out.x[i] = inclusive ? next.value : head ? Op::identity() : running.value;
                running = next;
            }
            tile.store(row, out);
        }
    }
};

template <typename Op>
__device__ void storeTotal(const ScanParams& params, typename Op::Value all)
{
    if (threadIdx.x == 0 && u64From(params.total) != 0) storeResult<Op>(params, all);
}

template <typename Op, bool Segmented>
__device__ void scanTiles(const ScanParams& params, Lookback<Op>& lookback, uint32_t count, uint32_t tiles)
{
    using Tile = ScanTile<Op, Segmented>;
    using OneRun = Run<Op, Segmented>;
    __shared__ typename Tile::Shared runs;
    __shared__ uint32_t tickets[2];
    const bool inPlace = params.input_.lo == params.output_.lo && params.input_.hi == params.output_.hi;
    const auto recompute = [&](uint32_t index, typename Op::Value& value) {
        const OneRun run = Tile(params, index, count).run(runs);
        value = run.value;
        return run.head;
    };

    uint32_t ticket = lookback.ticket(), nextTicket = ticket;
    Tile tile(params, ticket, count);
    typename Tile::Elements elements;
    OneRun total;
    // The first round only loads. A ticket is taken a round before it is needed.
    for (uint32_t round = 0; ticket < tiles; ++round) {
        const Tile nextTile(params, nextTicket, count);
        typename Tile::Elements nextElements;
        if (nextTicket < tiles) nextTile.load(nextElements);
        const uint32_t taken = round + 1 < params.share ? lookback.take() : tiles;

        Scanned<Op, Segmented> scanned;
        if (round != 0) scanned.scan(elements);
        OneRun nextRun, nextTotal, unused;
        if (nextTicket < tiles) nextRun = nextElements.warp();
        if (threadIdx.x == 0) tickets[round % 2] = taken;
        const OneRun before = blockRunsBefore(scanned.total, nextRun, runs, unused, nextTotal);
        if (nextTicket < tiles) lookback.publish(nextTicket, nextTotal.value, nextTotal.head, inPlace);

        if (round != 0) {
            const OneRun prefix = {lookback.wait(ticket, total.value, total.head, params.polls, inPlace,
                                                 params.scanner != 0, recompute),
                                   false};
            scanned.store(tile, elements, join(prefix, before), params.kind == SLUICE_KIND_INCLUSIVE);
            if (ticket == tiles - 1) storeTotal<Op>(params, join(prefix, total).value);
        }
        __syncthreads(); // before `runs` is written again
        ticket = nextTicket;
        tile = nextTile;
        elements = nextElements;
        total = nextTotal;
        nextTicket = tickets[round % 2];
    }
}

template <typename Op, bool Segmented>
__global__ void __launch_bounds__(kScanThreads, 2) scanKernel(const __grid_constant__ ScanParams params)
{
    __shared__ typename Lookback<Op>::Shared looked;
    Lookback<Op> lookback(looked, params.scratch);
    const uint32_t count = elementCount(params);
    const uint32_t tiles = max(scanTileCount(count), 1u); // an empty input has one empty tile, which writes the total
    if (params.scanner != 0 && blockIdx.x == 0) {
        if (threadIdx.x < kWarpSize) lookback.scan(tiles);
    } else {
        scanTiles<Op, Segmented>(params, lookback, count, tiles);
    }
    lookback.clean(lookback.leave(), tiles);
}

// A tile a block. reduce.cu has left in scratch what comes before each tile; a single tile has nothing before it.
template <bool Segmented>
__global__ void __launch_bounds__(kScanThreads) scanF32Kernel(const __grid_constant__ ScanParams params)
{
    using Op = Sum<float>;
    using Tile = ScanTile<Op, Segmented>;
    using OneRun = Run<Op, Segmented>;
    __shared__ typename Tile::Shared runs;
    const uint32_t count = elementCount(params);
    const uint32_t tiles = max(scanTileCount(count), 1u);
    const bool hasPartials = gridDim.x > 1;
    OneRun prefix;
    if (hasPartials) prefix.value = loadPartial<Op, Segmented>(params, blockIdx.x).value;

    const Tile tile(params, blockIdx.x, count);
    typename Tile::Elements elements;
    tile.load(elements);
    Scanned<Op, Segmented> scanned;
    scanned.scan(elements);
    OneRun total;
    const OneRun before = blockRunsBefore(scanned.total, runs, total);
    scanned.store(tile, elements, join(prefix, before), params.kind == SLUICE_KIND_INCLUSIVE);
    if (blockIdx.x == tiles - 1) storeTotal<Op>(params, join(prefix, total).value);
    // The scratch is left as it was found: zero. All have read it: there was a barrier.
    if (hasPartials && threadIdx.x == 0) storePartial(params, blockIdx.x, OneRun());
}

using ScanKernel = void (*)(ScanParams);

ScanKernel kernelFor(ScanOperation operation, bool segmented)
{
    switch (operation) {
    case ScanOperation::maxU32: return segmented ? scanKernel<Max<uint32_t>, true> : scanKernel<Max<uint32_t>, false>;
    case ScanOperation::sumU64: return segmented ? scanKernel<Sum<uint64_t>, true> : scanKernel<Sum<uint64_t>, false>;
    case ScanOperation::maxU64: return segmented ? scanKernel<Max<uint64_t>, true> : scanKernel<Max<uint64_t>, false>;
    case ScanOperation::sumF32: return segmented ? scanF32Kernel<true> : scanF32Kernel<false>;
    default: return segmented ? scanKernel<Sum<uint32_t>, true> : scanKernel<Sum<uint32_t>, false>;
    }
}

} // namespace

uint32_t scanTileElements()
{
    return kScanTile;
}

cudaError_t loadScan()
{
    for (uint32_t i = 0; i < kScanOperations * 2; ++i) {
        const cudaError_t error = load(kernelFor(static_cast<ScanOperation>(i / 2), i % 2 != 0));
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaError_t launchScan(cudaStream_t stream, ScanOperation operation, const ScanParams& params)
{
    return launch(stream, kernelFor(operation, u64From(params.heads) != 0), params.workgroups, kScanThreads, params);
}

} // namespace sluice
