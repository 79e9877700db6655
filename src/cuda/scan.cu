// SPDX-License-Identifier: MIT OR Apache-2.0
// Prefix sums, minima and maxima in one pass with decoupled look-back, a tile a block. Sums of f32 depend on the order of
// their additions: there the tiles' sums are added up beforehand, in a fixed order, by reduce.cu.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/lookback.cuh"
#include "lib/scan_tile.cuh"

namespace sluice {
namespace {

// The tile in registers, scanned as far as that goes without the tiles before it.
template <typename Op, bool Segmented>
struct ScannedTile {
    using Tile = ScanTile<Op, Segmented>;
    using OneRun = Run<Op, Segmented>;

    typename Tile::Row rows[Tile::kRows];
    uint32_t heads[Tile::kRows];
    OneRun starts[Tile::kRows]; // all of the warp's elements before this thread's
    OneRun before;              // all of the block's elements before this warp's
    OneRun total;

    __device__ ScannedTile(const Tile& tile, typename Tile::Shared& shared)
    {
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row)
            rows[row] = tile.load(row);
        OneRun own;
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row) {
            OneRun rowTotal;
            heads[row] = tile.heads(row);
            starts[row] = join(own, warpExclusiveRun(Tile::runOf(rows[row], heads[row]), rowTotal));
            own = join(own, rowTotal);
        }
        before = blockRunsBefore(own, shared, total);
    }

    __device__ void store(const Tile& tile, typename Op::Value prefix, bool inclusive)
    {
        const OneRun all = join(OneRun{prefix, false}, before);
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row) {
            OneRun running = join(all, starts[row]);
            typename Tile::Row out;
#pragma unroll
            for (uint32_t i = 0; i < Tile::kPerRow; ++i) {
                const bool head = Segmented && (heads[row] >> i & 1) != 0;
                const OneRun next = join(running, OneRun{rows[row].x[i], head});
                out.x[i] = inclusive ? next.value : head ? Op::identity() : running.value;
                running = next;
            }
            tile.store(row, out);
        }
    }
};

template <typename Op, bool Segmented>
__global__ void __launch_bounds__(kScanThreads) scanKernel(const __grid_constant__ ScanParams params)
{
    using Tile = ScanTile<Op, Segmented>;
    __shared__ typename Tile::Shared runs;
    __shared__ typename Lookback<Op>::Shared looked;
    Lookback<Op> lookback(looked, params.scratch);

    const uint32_t count = elementCount(params);
    const uint32_t tiles = max(scanTileCount(count), 1u); // an empty input has one empty tile, which writes the total
    const uint32_t index = lookback.ticket();
    uint32_t left = 0;
    if (index < tiles) {
        const Tile tile(params, index, count);
        ScannedTile<Op, Segmented> scanned(tile, runs);
        const auto recompute = [&](uint32_t other, typename Op::Value& value) {
            const Run<Op, Segmented> run = Tile(params, other, count).run(runs);
            value = run.value;
            return run.head;
        };
        const bool inPlace = params.input_.lo == params.output_.lo && params.input_.hi == params.output_.hi;
        const typename Op::Value prefix =
            lookback.prefix(index, scanned.total.value, scanned.total.head, params.polls, inPlace, recompute);
        left = lookback.leave();
        scanned.store(tile, prefix, params.kind == SLUICE_KIND_INCLUSIVE);
        if (index == tiles - 1 && threadIdx.x == 0 && u64From(params.total) != 0)
            storeResult<Op>(params, join(Run<Op, Segmented>{prefix, false}, scanned.total).value);
    } else {
        left = lookback.leave();
    }
    lookback.clean(left, tiles);
}

// reduce.cu has left in scratch what comes before each tile; a single tile has none before it.
template <bool Segmented>
__global__ void __launch_bounds__(kScanThreads) scanF32Kernel(const __grid_constant__ ScanParams params)
{
    using Op = Sum<float>;
    using Tile = ScanTile<Op, Segmented>;
    __shared__ typename Tile::Shared runs;
    const uint32_t count = elementCount(params);
    const uint32_t tiles = max(scanTileCount(count), 1u), index = blockIdx.x;
    const float prefix = gridDim.x > 1 ? loadPartial<Op, Segmented>(params, index).value : 0;
    if (index < tiles) {
        const Tile tile(params, index, count);
        ScannedTile<Op, Segmented> scanned(tile, runs);
        scanned.store(tile, prefix, params.kind == SLUICE_KIND_INCLUSIVE);
        if (index == tiles - 1 && threadIdx.x == 0 && u64From(params.total) != 0)
            storeResult<Op>(params, join(Run<Op, Segmented>{prefix, false}, scanned.total).value);
    }
    // The scratch is left as it was found: zero.
    __syncthreads();
    if (gridDim.x > 1 && threadIdx.x == 0) storePartial(params, index, Run<Op, Segmented>());
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
