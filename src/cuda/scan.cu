// SPDX-License-Identifier: MIT OR Apache-2.0
// Prefix sums, minima and maxima in one pass with decoupled look-back (shaders/lib/lookback.glsl
// explains prefix, state and scanner).
//
// If there are many tiles, a block passes them through a ring in shared memory. In each round it
// publishes the value of a tile that has just arrived, and writes the tile that arrived kScanAhead
// rounds earlier. By then that tile's prefix is usually known, so no block waits for long. Tiles
// that are incomplete, or not 16-byte aligned, are done one at a time.
//
// The result of an f32 sum depends on the order of the additions. So for these sums, reduce.cu
// first adds up the tiles' sums, always in the same order.
//
// GLSL has two counterparts, shaders/lib/scan_main.glsl and scan_ring.comp. Vulkan has no
// asynchronous copies to shared memory (bulk_copy.cuh), so its ring also keeps tiles in registers,
// and only sums 32-bit integers.
#include "cuda/kernels.h"
#include "cuda/lib/bulk_copy.cuh"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/lookback.cuh"
#include "cuda/lib/scan_tile.cuh"
#include "cuda/tuning.h"

namespace sluice {
namespace {

// The results of a thread in the scan of a warp's elements. A Run (runs.cuh) is neighbouring
// elements that were combined to one value.
template <typename Op, bool Segmented>
struct Scanned {
    using Tile = ScanTile<Op, Segmented>;
    using OneRun = Run<Op, Segmented>;

    // For each row, the run of the warp's elements that come before this thread's in that row.
    OneRun starts[Tile::kRows];
    OneRun total; // all elements of the warp

    __device__ void scan(const typename Tile::Elements& elements)
    {
        total = OneRun();
#pragma unroll
        for (uint32_t row = 0; row < Tile::kRows; ++row) {
            OneRun rowTotal;
            starts[row] =
                join(total, warpExclusiveRun(Tile::runOf(elements.rows[row], elements.heads[row]),
                                             rowTotal));
            total = join(total, rowTotal);
        }
    }

    // Stores the results of this thread's elements. `before` is the run of all elements of the
    // input that come before the warp's.
    __device__ void store(const Tile& tile, const typename Tile::Elements& elements,
                          const OneRun& before, bool inclusive) const
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

// Stores the combined value of all elements, if the caller asked for it.
template <typename Op>
__device__ void storeTotal(const ScanParams& params, typename Op::Value all)
{
    if (threadIdx.x == 0 && u64From(params.total) != 0) storeResult<Op>(params, all);
}

constexpr uint32_t kScanRingBytes = kScanStages * kScanTileBytes;

// Scans the tiles of a block. inPlace says that output and input are the same memory.
template <typename Op, bool Segmented>
struct Scan {
    using Tile = ScanTile<Op, Segmented>;
    using OneRun = Run<Op, Segmented>;

    const ScanParams& params;
    Lookback<Op>& lookback;
    typename Tile::Shared& runs;
    uint32_t count;
    uint32_t tiles;
    bool inPlace;

    // Waits for the prefix of `tile` and stores the tile's results. The tile's value must have been
    // published, and its elements scanned. `before` is the run of the tile's elements before this
    // warp's, `total` that of the whole tile. `leaves` is true if the block has no other tile and
    // leaves the look-back.
    __device__ void finish(const Tile& tile, const typename Tile::Elements& elements,
                           const Scanned<Op, Segmented>& scanned, const OneRun& before,
                           const OneRun& total, bool leaves) const
    {
        const auto recompute = [&](uint32_t index, typename Op::Value& value) {
            const OneRun run = Tile(params, index, count).run(runs);
            value = run.value;
            return run.head;
        };
        const OneRun prefix = {lookback.wait(tile.index, total.value, total.head, params.polls,
                                             inPlace, params.scanner != 0, recompute),
                               false};
        if (leaves) lookback.leave();
        scanned.store(tile, elements, join(prefix, before), params.kind == SLUICE_KIND_INCLUSIVE);
        if (tile.index == tiles - 1) storeTotal<Op>(params, join(prefix, total).value);
    }

    // The whole block scans tile `index`.
    __device__ void scanTile(uint32_t index) const
    {
        const Tile tile(params, index, count);
        typename Tile::Elements elements;
        tile.load(elements);
        Scanned<Op, Segmented> scanned;
        scanned.scan(elements);
        OneRun total;
        const OneRun before = blockRunsBefore(scanned.total, runs, total);
        // A launch of one block has only one tile, so there is no prefix to wait for.
        if (gridDim.x == 1) {
            scanned.store(tile, elements, before, params.kind == SLUICE_KIND_INCLUSIVE);
            storeTotal<Op>(params, total.value);
            return;
        }
        lookback.publish(index, total.value, total.head, inPlace);
        finish(tile, elements, scanned, before, total, params.schedule == SLUICE_SCAN_BY_NUMBER);
    }

#if __CUDA_ARCH__ >= 900
    // Takes and scans whole tiles until there are no more. Returns true if the block has also taken
    // the ticket of the incomplete last tile, which the caller must then scan.
    __device__ bool scanByRing(uint32_t wholeTiles) const
    {
        extern __shared__ __align__(128) uint8_t stages[];
        __shared__ uint64_t arrived[kScanStages];
        __shared__ uint32_t tickets[kScanStages];
        __shared__ typename Op::Value totals[kScanStages]; // thread 0 stores and loads these
        __shared__ bool totalHeads[kScanStages];
        __shared__ uint32_t beyond; // the first ticket that is not that of a whole tile
        uint32_t next = 0;          // thread 0's last ticket
        const auto load = [&](uint32_t stage) {
            if (next < wholeTiles) next = lookback.take();
            tickets[stage] = next;
            if (next >= wholeTiles) {
                beyond = min(beyond, next);
                return;
            }
            copyBulk(stages + stage * kScanTileBytes,
                     pointerFrom<const uint8_t>(params.input_) +
                         static_cast<uint64_t>(next) * kScanTileBytes,
                     kScanTileBytes, &arrived[stage]);
        };
        if (threadIdx.x == 0) {
            beyond = ~0u;
            for (uint32_t stage = 0; stage < kScanStages; ++stage)
                initBarrier(&arrived[stage]);
            fenceCopyEngine();
            // Tickets are taken one at a time, so that blocks that start together get interleaved
            // tiles.
            for (uint32_t stage = 0; stage < kScanStages; ++stage)
                load(stage);
        }
        __syncthreads();

        // `newest` and `oldest` are the stages of the newest and of the oldest tile, `parity` is
        // the parity for which to wait at the barrier of the newest tile's copy.
        uint32_t newest = 0, oldest = 0, parity = 0;
        for (uint32_t round = 0; round < kScanAhead || tickets[oldest] < wholeTiles; ++round) {
            typename Tile::Elements elements;
            OneRun newestRun;
            const uint32_t arriving = tickets[newest];
            if (arriving < wholeTiles) {
                waitBarrier(&arrived[newest], parity);
                const Tile tile(params, arriving, count);
                tile.load(elements, stages + newest * kScanTileBytes);
                newestRun = elements.warp();
            }
            const bool finishing = round >= kScanAhead;
            const Tile tile(params, tickets[oldest], count);
            Scanned<Op, Segmented> scanned;
            if (finishing) {
                tile.load(elements, stages + oldest * kScanTileBytes);
                scanned.scan(elements);
            }
            OneRun oldestTotal, newestTotal;
            const OneRun before =
                blockRunsBefore(scanned.total, newestRun, runs, oldestTotal, newestTotal);
            if (arriving < wholeTiles) {
                lookback.publish(arriving, newestTotal.value, newestTotal.head, inPlace);
                if (threadIdx.x == 0) {
                    totals[newest] = newestTotal.value;
                    totalHeads[newest] = newestTotal.head;
                }
            }
            if (finishing) {
                // `total` is valid in thread 0 only, which is the only one that needs it.
                const OneRun total = {totals[oldest], Segmented && totalHeads[oldest]};
                if (threadIdx.x == 0) {
                    fenceCopyEngine();
                    // The block takes a ticket as late as possible: once it has a ticket, the
                    // blocks of later tiles depend on it until it publishes the tile's value.
                    load(oldest);
                }
                finish(tile, elements, scanned, before, total, false);
                oldest = (oldest + 1) % kScanStages;
            }
            newest = (newest + 1) % kScanStages;
            parity ^= newest == 0 ? 1 : 0;
            // After this barrier the new tickets may be read, and `runs` may be written again.
            __syncthreads();
        }
        return beyond < tiles;
    }
#endif

    // Scans all tiles of the block. Returns true if it has already called lookback.leave().
    __device__ bool scanAll() const
    {
        // With this schedule, each block has one tile. If a block does not run yet, the blocks that
        // need the value of its tile compute that value themselves.
        if (params.schedule == SLUICE_SCAN_BY_NUMBER) {
            const uint32_t own = blockIdx.x - params.scanner;
            if (own < tiles) scanTile(own);
            return own < tiles;
        }
#if __CUDA_ARCH__ >= 900
        // The host chooses the ring only if input and output are 16-byte aligned.
        if (params.schedule == SLUICE_SCAN_BY_RING) {
            if (scanByRing(count / Tile::kElements)) scanTile(tiles - 1);
            return false;
        }
#endif
        uint32_t index = lookback.ticket();
        while (index < tiles) {
            scanTile(index);
            __syncthreads();
            index = lookback.ticket();
        }
        return false;
    }
};

template <typename Op, bool Segmented>
__global__ void __launch_bounds__(kScanThreads, kScanBlocksPerProcessor)
    scanKernel(const __grid_constant__ ScanParams params)
{
    __shared__ typename Lookback<Op>::Shared looked;
    __shared__ typename ScanTile<Op, Segmented>::Shared runs;
    Lookback<Op> lookback(looked, params.scratch);
    waitForPreviousLaunch();
    if (params.schedule == SLUICE_SCAN_BY_NUMBER) letNextLaunchBegin();
    const uint32_t count = elementCount(params);
    // An empty input has one empty tile, whose block writes the total.
    const uint32_t tiles = max(ScanTile<Op, Segmented>::count(count), 1u);
    bool left = false;
    if (params.scanner != 0 && blockIdx.x == 0) {
        lookback.scan(tiles, params.polls);
    } else {
        const bool inPlace =
            params.input_.lo == params.output_.lo && params.input_.hi == params.output_.hi;
        left = Scan<Op, Segmented>{params, lookback, runs, count, tiles, inPlace}.scanAll();
    }
    if (gridDim.x == 1) return;
    if (!left) lookback.leave();
    lookback.clean(tiles);
}

// Scans sums of f32, one tile per block. If there are several tiles, reduce.cu has left the prefix
// of each in scratch.
template <bool Segmented>
__global__ void __launch_bounds__(kScanThreads)
    scanF32Kernel(const __grid_constant__ ScanParams params)
{
    using Op = Sum<float>;
    using Tile = ScanTile<Op, Segmented>;
    using OneRun = Run<Op, Segmented>;
    __shared__ typename Tile::Shared runs;
    const uint32_t count = elementCount(params);
    const uint32_t tiles = max(Tile::count(count), 1u);
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
    // Scratch must be left zero for the next command. The entry may be cleared here, because all
    // threads have read it before the barrier in blockRunsBefore.
    if (hasPartials && threadIdx.x == 0) storePartial(params, blockIdx.x, OneRun());
}

using ScanKernel = void (*)(ScanParams);

ScanKernel kernelFor(ScanOperation operation, bool segmented)
{
    switch (operation) {
    case ScanOperation::maxU32:
        return segmented ? scanKernel<Max<uint32_t>, true> : scanKernel<Max<uint32_t>, false>;
    case ScanOperation::sumU64:
        return segmented ? scanKernel<Sum<uint64_t>, true> : scanKernel<Sum<uint64_t>, false>;
    case ScanOperation::maxU64:
        return segmented ? scanKernel<Max<uint64_t>, true> : scanKernel<Max<uint64_t>, false>;
    case ScanOperation::sumF32: return segmented ? scanF32Kernel<true> : scanF32Kernel<false>;
    default: return segmented ? scanKernel<Sum<uint32_t>, true> : scanKernel<Sum<uint32_t>, false>;
    }
}

} // namespace

uint32_t scanTileElements(uint32_t valueBytes) { return kScanTileBytes / valueBytes; }

cudaError_t loadScan(CudaTraits& traits)
{
    cudaError_t error = cudaSuccess;
    for (uint32_t i = 0; i < kScanOperations * 2 && error == cudaSuccess; ++i) {
        const void* kernel =
            reinterpret_cast<const void*>(kernelFor(static_cast<ScanOperation>(i / 2), i % 2 != 0));
        cudaFuncAttributes attributes;
        error = cudaFuncGetAttributes(&attributes, kernel);
        traits.sm90 = traits.sm90 && error == cudaSuccess && isSm90(attributes);
        if (error == cudaSuccess && traits.sm90)
            error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         kScanRingBytes);
    }
    return error;
}

cudaError_t launchScan(cudaStream_t stream, const ScanParams& params, ScanOperation operation,
                       bool programmatic)
{
    return launch(stream, kernelFor(operation, u64From(params.heads) != 0), params.workgroups,
                  kScanThreads, params, params.schedule == SLUICE_SCAN_BY_RING ? kScanRingBytes : 0,
                  programmatic && operation != ScanOperation::sumF32 &&
                      params.schedule == SLUICE_SCAN_BY_NUMBER);
}

} // namespace sluice
