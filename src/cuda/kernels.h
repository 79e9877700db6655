// SPDX-License-Identifier: MIT OR Apache-2.0
// The interface of the CUDA kernels: for each kernel a function that loads it and one that launches
// it. A launch function enqueues on `stream`, allocates nothing, waits for nothing, and may be
// captured into a graph. Addresses are passed as U64Pair, as in Vulkan's push constants.
// `programmatic` asks for programmatic dependent launch (launch.cuh).
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
#include "layout/uastc.h"
#include "layout/zstd.h"
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

// A load function loads the kernels of its file into the current device, so that no later launch
// has to. (Loading may synchronize, which is forbidden during a stream capture.) It fails if this
// build has no code for the device. Some load functions set a number of blocks in the traits, or
// clear traits.sm90 if their kernels were compiled for an older architecture. If the parameters of
// a launch have a member `workgroups`, it is the number of blocks.

// The first launch of every decode: sets every status word to PENDING, and the summary to "none
// failed".
cudaError_t loadStatus(CudaTraits& traits);
cudaError_t launchStatus(cudaStream_t stream, const RegionParams& params);

cudaError_t loadChecksum(CudaTraits& traits);
cudaError_t launchChecksum(cudaStream_t stream, const RegionParams& params);

// With `programmatic`, a launch may begin before the previous one ends. This has an effect only on
// scans in which each block has one tile, and on reductions of up to kShortReduceElements. Before a
// scan that sums f32 over several tiles, the caller enqueues launchPartials, which leaves in
// scratch the sum of all elements before each tile.
cudaError_t loadScan(CudaTraits& traits);
cudaError_t launchScan(cudaStream_t stream, const ScanParams& params, ScanOperation operation,
                       bool programmatic);
cudaError_t loadReduce(CudaTraits& traits);
cudaError_t launchReduce(cudaStream_t stream, const ScanParams& params, ScanOperation operation,
                         bool programmatic);
cudaError_t launchPartials(cudaStream_t stream, const ScanParams& params);
uint32_t scanTileElements(uint32_t valueBytes);
// Returns how many rounds a reduction of this many bytes has (reduce.cu). A block takes whole
// rounds, so blocks beyond this number would have nothing to do.
uint64_t reduceRounds(uint64_t bytes);

// With `programmatic`, the launch may begin before the previous one ends. This has an effect only
// if each block has one tile (SLUICE_COMPACT_MODE_DIRECT).
cudaError_t loadCompact(CudaTraits& traits);
cudaError_t launchCompact(cudaStream_t stream, const CompactParams& params, uint32_t elementSize,
                          bool programmatic);
uint32_t compactTileElements(uint32_t elementSize);
// For many elements of 4 bytes, launchCompactWords is faster than launchCompact. It needs 16-byte
// aligned input, and a block that serves as a scanner: it adds up the counts of all tiles
// (lookback.cuh). It cannot write indices, compact in place, or partition. compactsWords() returns
// true if the command writes elements, and uses a test that launchCompactWords supports.
bool compactsWords(const CompactParams& params);
cudaError_t launchCompactWords(cudaStream_t stream, const CompactParams& params);

// launchIntervalPlan is the first launch of every command on intervals. It computes the prefix sums
// of the counts and writes the result words. One of the three launches below follows it.
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

// The parameters of one turn of a Gstd decode. A turn is the tiles whose scratch is in use at the
// same time. In a turn that runs *by part*, the bytes of a part are made as soon as its symbols are
// known, while symbols of other parts and of neighbouring turns are still being decoded. The
// kernels tell each other of finished parts through words in the tiles' slots of scratch. Each word
// contains the epoch of its turn, so that a word of an older turn is not mistaken for one of this
// turn. Before the first turn, the caller sets the first words of the slots to 0.
struct GstdTurnParams : GstdParams {
    uint32_t epoch; // a multiple of kGstdFirstEpoch; 0: the turn does not run by part
    // The epoch of the turn that used the same slots before and may still run; 0: there was none.
    uint32_t previousEpoch;
};
// A published word has a status in its low 8 bits, and an epoch in the bits above.
constexpr uint32_t kGstdStatusMask = 255, kGstdFirstEpoch = kGstdStatusMask + 1;
// launchGstdSymbols decodes the symbols of turn.tileCount tiles. launchGstdExpand, enqueued
// directly behind it, makes their bytes. If the turn runs by part, launchGstdExpand is a
// programmatic launch, so it may begin while symbols are still being decoded. With `programmatic`,
// launchGstdSymbols may begin while the turn before is still running. `fewTiles` chooses larger
// blocks, for lists whose tiles all run at the same time.
cudaError_t loadGstdSymbols(CudaTraits& traits);
cudaError_t launchGstdSymbols(cudaStream_t stream, const GstdTurnParams& turn, bool programmatic);
cudaError_t loadGstdExpand(CudaTraits& traits);
cudaError_t launchGstdExpand(cudaStream_t stream, const GstdTurnParams& turn, bool fewTiles);

// The parameters of a launch that undoes filters. If decodeMaxCount is not 0, the tiles may still
// be in the middle of their decode. In this case the launch is programmatic, and undoes the filter
// of a tile as soon as the tile's status is known. The caller enqueues it directly behind a
// launchGstdExpand that runs by part.
struct FilterLaunchParams : FilterParams {
    // The address of the number of regions that are being decoded; 0: that number is
    // decodeMaxCount.
    U64Pair decodeCount;
    uint32_t decodeMaxCount; // 0: nothing is being decoded
};
// Sets to 0 the counter from which blocks take tiles. Must be enqueued before the launch that
// undoes filters. If this launch may overlap the decode, nothing may be enqueued between the two,
// so the counter is cleared before the decode.
cudaError_t clearFilterTicket(cudaStream_t stream, const FilterParams& params);

cudaError_t loadFilter(CudaTraits& traits);
cudaError_t launchFilter(cudaStream_t stream, const FilterLaunchParams& params);
// Does the same as launchFilter. Its blocks have twice as many threads, and half as many of them
// run at a time. This is faster for lists so short that all their tiles run at the same time.
cudaError_t loadFilterFew(CudaTraits& traits);
cudaError_t launchFilterFew(cudaStream_t stream, const FilterLaunchParams& params);

cudaError_t loadFseTables(CudaTraits& traits);
cudaError_t launchFseTables(cudaStream_t stream, const FseTablesParams& params,
                            uint32_t laneGroups);

// Runs one pass of the tile stream decode. shaders/lib/kernels/tile_streams.h lists the passes;
// `params.pass` is the number of the pass.
cudaError_t loadTileStreams(CudaTraits& traits);
cudaError_t launchTileStreams(cudaStream_t stream, const TileStreamsParams& params);

// With `programmatic`, the launch may overlap with the previous launch, which must be launchStatus.
cudaError_t loadFloatDecode(CudaTraits& traits);
cudaError_t launchFloatDecode(cudaStream_t stream, const FloatDecodeParams& params,
                              bool programmatic);
uint32_t floatDecodeWarps(); // warps per block

cudaError_t loadDf11(CudaTraits& traits);
cudaError_t launchDf11(cudaStream_t stream, const Df11Params& params, uint32_t blocks);

// The kernels of a turn of a Zstandard decode. plan_zstd.h says in which order they run.
cudaError_t loadZstdWalk(CudaTraits& traits);
cudaError_t launchZstdWalk(cudaStream_t stream, const ZstdParams& params);
cudaError_t loadZstdLiterals(CudaTraits& traits);
// With `programmatic`, the launch may overlap with the previous one, launchZstdSequences.
cudaError_t launchZstdLiterals(cudaStream_t stream, const ZstdParams& params, bool programmatic);
cudaError_t loadZstdSequences(CudaTraits& traits);
cudaError_t launchZstdSequences(cudaStream_t stream, const ZstdParams& params);
cudaError_t loadZstdPlace(CudaTraits& traits);
cudaError_t launchZstdPlace(cudaStream_t stream, const ZstdParams& params);
cudaError_t loadZstdBytes(CudaTraits& traits);
cudaError_t launchZstdBytes(cudaStream_t stream, const ZstdParams& params);
cudaError_t loadZstdExpand(CudaTraits& traits);
cudaError_t launchZstdExpand(cudaStream_t stream, const ZstdParams& params);
cudaError_t loadZstdHash(CudaTraits& traits);
cudaError_t launchZstdHash(cudaStream_t stream, const ZstdParams& params);

// The transcoder of UASTC, with a kernel for each group of target formats (SLUICE_UA_GROUP_*).
cudaError_t loadUastc(CudaTraits& traits);
cudaError_t launchUastc(cudaStream_t stream, const UastcParams& params, uint32_t group);
constexpr uint32_t kUastcThreads = 128; // threads of a block of uastc

// The load functions of those components with which the library is built. A context calls them all.
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
#if SLUICE_HAVE_ZSTD
    loadZstdWalk,    loadZstdLiterals, loadZstdSequences,  loadZstdPlace,    loadZstdBytes,
    loadZstdExpand,  loadZstdHash,
#endif
#if SLUICE_HAVE_UASTC
    loadUastc,
#endif
};

} // namespace sluice
