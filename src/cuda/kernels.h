// SPDX-License-Identifier: MIT OR Apache-2.0
// The CUDA kernels as the context sees them. Every launch function enqueues on `stream`, allocates
// nothing, waits for nothing and may be captured into a graph. Addresses travel as U64Pair, as in
// the Vulkan push constants. `programmatic` asks for programmatic dependent launch (launch.cuh).
#pragma once

#include <cuda_runtime_api.h>

#include "../../shaders/lib/layout/base.h"
#include "../../shaders/lib/layout/compact.h"
#include "../../shaders/lib/layout/df11.h"
#include "../../shaders/lib/layout/filter.h"
#include "../../shaders/lib/layout/float.h"
#include "../../shaders/lib/layout/fse.h"
#include "../../shaders/lib/layout/gstd.h"
#include "../../shaders/lib/layout/interval.h"
#include "../../shaders/lib/layout/regions.h"
#include "../../shaders/lib/layout/scan.h"
#include "../../shaders/lib/layout/tile_streams.h"

namespace sluice {

struct CudaTraits;

// Sets every status word to PENDING and the summary to "none failed". Every decode begins with it.
cudaError_t launchStatus(cudaStream_t stream, const RegionParams& params);
cudaError_t launchGdeflate(cudaStream_t stream, const RegionParams& params);
cudaError_t launchChecksum(cudaStream_t stream, const RegionParams& params);

uint32_t floatDecodeWarps(); // of a block
// programmatic is for a launch right behind launchStatus alone.
cudaError_t launchFloatDecode(cudaStream_t stream, const FloatDecodeParams& params,
                              bool programmatic);

// A turn of a Gstd decode. By part, bytes are made of a part as soon as its symbols are known, and
// turns overlap: what a turn publishes in its slots carries the turn's epoch. The caller zeroes the
// slots' first words before the first turn.
struct GstdTurnParams : GstdParams {
    uint32_t epoch;         // a multiple of kGstdFirstEpoch; 0: not by part
    uint32_t previousEpoch; // the last turn in the same slots, which may still run; 0: none
};
// A published word is a status below an epoch.
constexpr uint32_t kGstdStatusMask = 255, kGstdFirstEpoch = kGstdStatusMask + 1;
// Both take turn.tileCount tiles, the symbols first. By part launchGstdExpand is programmatic, too,
// and comes right behind the symbols. fewTiles chooses larger blocks, for tiles that are all at
// work at once.
cudaError_t launchGstdSymbols(cudaStream_t stream, const GstdTurnParams& turn, bool programmatic);
cudaError_t launchGstdExpand(cudaStream_t stream, const GstdTurnParams& turn, bool fewTiles);

cudaError_t launchFseTables(cudaStream_t stream, const FseTablesParams& params, uint32_t warps);
cudaError_t launchDf11(cudaStream_t stream, const Df11Params& params, uint32_t blocks);

// Filters of tiles that may still be decoded: a tile is undone as soon as its status is known. With
// decodeMaxCount the launch is programmatic, right behind launchGstdExpand by part.
struct FilterLaunchParams : FilterParams {
    U64Pair decodeCount;     // address of the number of regions that are decoded; 0: decodeMaxCount
    uint32_t decodeMaxCount; // 0: nothing is being decoded
};
// Comes before the other two, and before the decode beside which they run.
cudaError_t clearFilterTicket(cudaStream_t stream, const FilterParams& params);
// params.workgroups blocks. Few has blocks of twice as many threads, half as many at a time, for
// tiles that are all at work at once.
cudaError_t launchFilter(cudaStream_t stream, const FilterLaunchParams& params);
cudaError_t launchFilterFew(cudaStream_t stream, const FilterLaunchParams& params);

// One of the passes of tile_streams.comp.
cudaError_t launchTileStreams(cudaStream_t stream, const TileStreamsParams& params);

enum class ScanOperation {
    sumU32,
    maxU32,
    sumU64,
    maxU64,
    sumF32
};
constexpr uint32_t kScanOperations = 5;
uint32_t scanTileElements(uint32_t valueBytes);
// params.workgroups blocks each. A scan of f32 sums with several tiles comes after launchPartials.
// Only short commands are programmatic.
cudaError_t launchScan(cudaStream_t stream, ScanOperation operation, const ScanParams& params,
                       bool programmatic);
cudaError_t launchPartials(cudaStream_t stream, const ScanParams& params);
uint64_t reduceRounds(uint64_t bytes); // more blocks than these have nothing to do
cudaError_t launchReduce(cudaStream_t stream, ScanOperation operation, const ScanParams& params,
                         bool programmatic);

uint32_t compactTileElements(uint32_t elementSize);
// params.workgroups blocks. Only short commands are programmatic.
cudaError_t launchCompact(cudaStream_t stream, uint32_t elementSize, const CompactParams& params,
                          bool programmatic);
// Many elements of 4 bytes, 16-byte aligned, with a scanner, not in place and no partition, where
// compactsWords() accepts the test.
bool compactsWords(const CompactParams& params);
cudaError_t launchCompactWords(cudaStream_t stream, const CompactParams& params);

// The plan makes the prefix sums of the counts and the result words; one of the others comes after
// it.
cudaError_t launchIntervalPlan(cudaStream_t stream, const IntervalParams& params);
cudaError_t launchIntervalExpand(cudaStream_t stream, const IntervalParams& params,
                                 uint32_t blocks);
cudaError_t launchIntervalMove(cudaStream_t stream, const IntervalParams& params, uint32_t blocks);
cudaError_t launchIntervalSearch(cudaStream_t stream, const IntervalParams& params,
                                 uint32_t blocks);

// Load each file's kernels into the current device, so that no later launch has to (loading may
// synchronize, which a stream capture forbids). They fail where this build holds no code for the
// device. Those of the lists only load; the others also tell the traits what they found, and clear
// traits.sm90 where their kernels are not code for it.
#define SLUICE_CORE_LOADS(X) X(Status) X(Checksum)
#define SLUICE_SUM_LOADS(X) X(Reduce)
#define SLUICE_PRIMITIVE_LOADS(X)                                                                  \
    X(IntervalPlan) X(IntervalExpand) X(IntervalMove) X(IntervalSearch)
#define SLUICE_CODEC_LOADS(X)                                                                      \
    X(Gdeflate) X(GstdExpand) X(FseTables) X(Filter) X(FilterFew) X(TileStreams)
#define SLUICE_DECLARE_LOAD(Name) cudaError_t load##Name();
SLUICE_CORE_LOADS(SLUICE_DECLARE_LOAD)
SLUICE_SUM_LOADS(SLUICE_DECLARE_LOAD)
SLUICE_PRIMITIVE_LOADS(SLUICE_DECLARE_LOAD)
SLUICE_CODEC_LOADS(SLUICE_DECLARE_LOAD)
#undef SLUICE_DECLARE_LOAD
cudaError_t loadFloatDecode(CudaTraits& traits); // sets floatBlocks
cudaError_t loadGstdSymbols(CudaTraits& traits);
cudaError_t loadDf11(uint32_t& blocks); // that run at the same time
cudaError_t loadScan(CudaTraits& traits);
cudaError_t loadCompact(CudaTraits& traits);

} // namespace sluice
