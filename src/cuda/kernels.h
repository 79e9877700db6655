// SPDX-License-Identifier: MIT OR Apache-2.0
// The CUDA kernels as the context sees them. Every launch function enqueues on `stream`, allocates
// nothing, waits for nothing and may be captured into a graph. Addresses travel as U64Pair, as in
// the Vulkan push constants. `programmatic` asks for programmatic dependent launch (launch.cuh).
#pragma once

#include <cuda_runtime_api.h>

#include "layout/base.h"
#include "layout/compact.h"
#include "layout/df11.h"
#include "layout/filter.h"
#include "layout/float.h"
#include "layout/fse.h"
#include "layout/gstd.h"
#include "layout/interval.h"
#include "layout/regions.h"
#include "layout/scan.h"
#include "layout/tile_streams.h"
#include "api/kernel_table.h"

namespace sluice {

struct CudaTraits;

enum class ScanOperation {
    sumU32,
    maxU32,
    sumU64,
    maxU64,
    sumF32
};
constexpr uint32_t kScanOperations = 5;

// Of each kernel of the table. A load function loads what its file has into the current device, so
// that no later launch has to (loading may synchronize, which a stream capture forbids). It fails
// where this build holds no code for the device, and tells the traits what it finds: some set a
// number of blocks, or clear traits.sm90 where their kernels are not code for that.
#define SLUICE_KERNEL(Name, ...)                                                                   \
    cudaError_t load##Name(CudaTraits& traits);                                                    \
    cudaError_t launch##Name(cudaStream_t stream, __VA_ARGS__);
SLUICE_ALL(KERNELS, SLUICE_KERNEL)
#undef SLUICE_KERNEL
// What they do, and what they take besides the parameters; each launch has `params.workgroups`
// blocks where these have such a member:
//   Status       sets every status word to PENDING and the summary to "none failed". Every decode
//                begins with it
//   Scan, Reduce `programmatic`, for short commands only. A scan of f32 sums with several tiles
//                comes after launchPartials
//   Compact      the size of an element; `programmatic`, likewise
//   IntervalPlan makes the prefix sums of the counts and the result words. One of the others comes
//                after it, with so many blocks
//   GstdSymbols, GstdExpand
//                take turn.tileCount tiles, the symbols first, which may be `programmatic`. By part
//                GstdExpand is that too, and comes right behind the symbols. It has larger blocks if
//                `fewTiles` are all at work at once
//   Filter, FilterFew
//                few has blocks of twice as many threads, half as many at a time, for tiles that are
//                all at work at once
//   FseTables, Df11
//                so many lane groups, and blocks
//   FloatDecode  `programmatic`, right behind launchStatus alone
//   TileStreams  one of the passes of tile_streams.comp

cudaError_t launchPartials(cudaStream_t stream, const ScanParams& params);
uint32_t scanTileElements(uint32_t valueBytes);
uint64_t reduceRounds(uint64_t bytes); // more blocks than these have nothing to do
uint32_t floatDecodeWarps();           // of a block

uint32_t compactTileElements(uint32_t elementSize);
// Many elements of 4 bytes, 16-byte aligned, with a scanner, not in place and no partition, where
// compactsWords() accepts the test.
bool compactsWords(const CompactParams& params);
cudaError_t launchCompactWords(cudaStream_t stream, const CompactParams& params);

// A turn of a Gstd decode. By part, bytes are made of a part as soon as its symbols are known, and
// turns overlap: what a turn publishes in its slots carries the turn's epoch. The caller zeroes the
// slots' first words before the first turn.
struct GstdTurnParams : GstdParams {
    uint32_t epoch;         // a multiple of kGstdFirstEpoch; 0: not by part
    uint32_t previousEpoch; // the last turn in the same slots, which may still run; 0: none
};
// A published word is a status below an epoch.
constexpr uint32_t kGstdStatusMask = 255, kGstdFirstEpoch = kGstdStatusMask + 1;

// Filters of tiles that may still be decoded: a tile is undone as soon as its status is known. With
// decodeMaxCount the launch is programmatic, right behind launchGstdExpand by part.
struct FilterLaunchParams : FilterParams {
    U64Pair decodeCount;     // address of the number of regions that are decoded; 0: decodeMaxCount
    uint32_t decodeMaxCount; // 0: nothing is being decoded
};
// Comes before filters, and before the decode beside which they run.
cudaError_t clearFilterTicket(cudaStream_t stream, const FilterParams& params);

} // namespace sluice
