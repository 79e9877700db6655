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
#include "api/components.h"

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

// A load function loads its file's kernels into the current device, so that no later launch has to
// (loading may synchronize, which a stream capture forbids). It fails if this build holds no code
// for the device. Some set a number of blocks in the traits, or clear traits.sm90 if their kernels
// were compiled for an older architecture. A launch has `params.workgroups` blocks if there is such
// a member.

// Sets every status word to PENDING and the summary to "none failed". Every decode begins with it.
cudaError_t loadStatus(CudaTraits& traits);
cudaError_t launchStatus(cudaStream_t stream, const RegionParams& params);

cudaError_t loadChecksum(CudaTraits& traits);
cudaError_t launchChecksum(cudaStream_t stream, const RegionParams& params);

// `programmatic`: for short commands only. A scan of f32 sums with several tiles comes after
// launchPartials.
cudaError_t loadScan(CudaTraits& traits);
cudaError_t launchScan(cudaStream_t stream, const ScanParams& params, ScanOperation operation,
                       bool programmatic);
cudaError_t loadReduce(CudaTraits& traits);
cudaError_t launchReduce(cudaStream_t stream, const ScanParams& params, ScanOperation operation,
                         bool programmatic);
cudaError_t launchPartials(cudaStream_t stream, const ScanParams& params);
uint32_t scanTileElements(uint32_t valueBytes);
uint64_t reduceRounds(uint64_t bytes); // blocks beyond these have nothing to do

// `programmatic`: for short commands only.
cudaError_t loadCompact(CudaTraits& traits);
cudaError_t launchCompact(cudaStream_t stream, const CompactParams& params, uint32_t elementSize,
                          bool programmatic);
uint32_t compactTileElements(uint32_t elementSize);
// Compacts many 4-byte elements, 16-byte aligned, with a scanner, not in place and without a
// partition, if compactsWords() accepts the test.
bool compactsWords(const CompactParams& params);
cudaError_t launchCompactWords(cudaStream_t stream, const CompactParams& params);

// Makes the prefix sums of the counts and the result words. One of the others comes after it.
cudaError_t loadIntervalPlan(CudaTraits& traits);
cudaError_t launchIntervalPlan(cudaStream_t stream, const IntervalParams& params);
cudaError_t loadIntervalExpand(CudaTraits& traits);
cudaError_t launchIntervalExpand(cudaStream_t stream, const IntervalParams& params,
                                 uint32_t blocks);
cudaError_t loadIntervalMove(CudaTraits& traits);
cudaError_t launchIntervalMove(cudaStream_t stream, const IntervalParams& params, uint32_t blocks);
cudaError_t loadIntervalSearch(CudaTraits& traits);
cudaError_t launchIntervalSearch(cudaStream_t stream, const IntervalParams& params,
                                 uint32_t blocks);

cudaError_t loadGdeflate(CudaTraits& traits);
cudaError_t launchGdeflate(cudaStream_t stream, const RegionParams& params);

// A turn of a Gstd decode. "By part" means that a part's bytes are made as soon as its symbols are
// known, and that turns overlap: words that a turn publishes in its slots carry the turn's epoch.
// The caller zeroes the slots' first words before the first turn.
struct GstdTurnParams : GstdParams {
    uint32_t epoch;         // a multiple of kGstdFirstEpoch; 0: not by part
    uint32_t previousEpoch; // the last turn in the same slots, which may still run; 0: none
};
// A published word has a status in its low bits and an epoch above.
constexpr uint32_t kGstdStatusMask = 255, kGstdFirstEpoch = kGstdStatusMask + 1;
// Both take turn.tileCount tiles, the symbols first, which may be programmatic. By part the bytes
// are that too, and come right behind the symbols. They have larger blocks if `fewTiles` are all at
// work at once.
cudaError_t loadGstdSymbols(CudaTraits& traits);
cudaError_t launchGstdSymbols(cudaStream_t stream, const GstdTurnParams& turn, bool programmatic);
cudaError_t loadGstdExpand(CudaTraits& traits);
cudaError_t launchGstdExpand(cudaStream_t stream, const GstdTurnParams& turn, bool fewTiles);

// Undoes filters of tiles that may still be being decoded: a tile's turn comes as soon as its
// status is known. With decodeMaxCount the launch is programmatic and follows launchGstdExpand by
// part directly.
struct FilterLaunchParams : FilterParams {
    U64Pair decodeCount;     // address of the number of regions that are decoded; 0: it is
                             // decodeMaxCount
    uint32_t decodeMaxCount; // 0: nothing is being decoded
};
// Must run before the filters, and before the decode beside which they run.
cudaError_t clearFilterTicket(cudaStream_t stream, const FilterParams& params);

cudaError_t loadFilter(CudaTraits& traits);
cudaError_t launchFilter(cudaStream_t stream, const FilterLaunchParams& params);
// The same by blocks of twice as many threads, half as many at a time, for tiles that are all at
// work at once.
cudaError_t loadFilterFew(CudaTraits& traits);
cudaError_t launchFilterFew(cudaStream_t stream, const FilterLaunchParams& params);

cudaError_t loadFseTables(CudaTraits& traits);
cudaError_t launchFseTables(cudaStream_t stream, const FseTablesParams& params,
                            uint32_t laneGroups);

// One of the passes of tile_streams.comp.
cudaError_t loadTileStreams(CudaTraits& traits);
cudaError_t launchTileStreams(cudaStream_t stream, const TileStreamsParams& params);

// `programmatic`: right behind launchStatus alone.
cudaError_t loadFloatDecode(CudaTraits& traits);
cudaError_t launchFloatDecode(cudaStream_t stream, const FloatDecodeParams& params,
                              bool programmatic);
uint32_t floatDecodeWarps(); // of a block

cudaError_t loadDf11(CudaTraits& traits);
cudaError_t launchDf11(cudaStream_t stream, const Df11Params& params, uint32_t blocks);

// A context loads all of these: the kernels of the components that the library is built with.
inline constexpr cudaError_t (*kKernelLoaders[])(CudaTraits&) = {
    loadStatus,      loadChecksum,
#if SLUICE_HAVE_SUMS
    loadScan,        loadReduce,
#endif
#if SLUICE_HAVE_PRIMITIVES
    loadCompact,     loadIntervalPlan, loadIntervalExpand, loadIntervalMove, loadIntervalSearch,
#endif
#if SLUICE_HAVE_CODECS
    loadGdeflate,    loadGstdSymbols,  loadGstdExpand,     loadFilter,       loadFilterFew,
    loadFseTables,   loadTileStreams,
#endif
#if SLUICE_HAVE_WEIGHTS
    loadFloatDecode, loadDf11,
#endif
};

} // namespace sluice
