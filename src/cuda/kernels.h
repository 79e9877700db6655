// SPDX-License-Identifier: MIT OR Apache-2.0
// The CUDA kernels as the context sees them. Every launch function enqueues on `stream`, allocates
// nothing, waits for nothing and may be captured into a graph. Addresses travel as u64pair, as in
// the Vulkan push constants.
#pragma once

#include <cuda_runtime_api.h>

#include "../../shaders/lib/layout.h"

namespace sluice {

// Sets every status word to PENDING and the summary to "none failed". Runs before each decode.
cudaError_t launchStatus(cudaStream_t stream, const RegionParams& params);
cudaError_t launchGdeflate(cudaStream_t stream, const RegionParams& params);
cudaError_t launchChecksum(cudaStream_t stream, const RegionParams& params);

// What a launch must know of the device.
struct FloatDevice {
    uint32_t warps, blocks; // of a block; that run at the same time
    uint32_t processors;
    bool early; // may be
};
// early: right behind launchStatus, may begin when all its blocks have, and ends after it.
cudaError_t launchFloatDecode(cudaStream_t stream, const FloatDecodeParams& params, bool early);

// A turn of a decode by part: bytes are made of a part as soon as its symbols are known, and turns
// are at work beside each other. What a turn publishes in its slots has its mark; the slots' first
// words were zero before the first one.
struct GstdTurnParams : GstdParams {
    uint32_t mark;   // above kGstdStatus; 0: not by part
    uint32_t before; // of the turn before in the same slots, which may not have ended; 0: none
};
// the part that is the status; the lowest mark
constexpr uint32_t kGstdStatus = 255, kGstdMark = kGstdStatus + 1;
// turn.tileCount tiles each, the second one after the first. early: may begin when all blocks of
// the launch before have begun, and ends after it; on devices that can do that.
cudaError_t launchGstdSymbols(cudaStream_t stream, const GstdTurnParams& turn, bool early);
// By part: right behind the symbols, may begin when all their blocks have.
cudaError_t launchGstdExpand(cudaStream_t stream, const GstdTurnParams& turn);
// A warp for each of `groups`.
cudaError_t launchFseTables(cudaStream_t stream, const FseTablesParams& params, uint32_t groups);
cudaError_t launchDf11(cudaStream_t stream, const Df11Params& params, uint32_t blocks);
// Filters of tiles that are being decoded: right behind launchGstdExpand by part. Each is undone
// when its status is known.
struct FilterLaunchParams : FilterParams {
    u64pair decodeCount;     // address of how many regions are decoded; 0: as many as may be
    uint32_t decodeMaxCount; // that may be; 0: nothing is being decoded
};
// Before each of the two below, and before the decode beside which they run.
cudaError_t clearFilterTicket(cudaStream_t stream, const FilterParams& params);
// params.workgroups blocks. Few: of twice as many threads, half as many at a time; for tiles that
// are all at work at once.
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
// What a scan must know of the device.
struct ScanDevice {
    uint32_t processors; // SMs
    uint32_t blocks;     // that run at the same time
    bool ring;           // large scans may go through a ring in shared memory: share > 1
    bool early;          // scans and reductions may be launched early, see launch.cuh
};
// params.workgroups blocks each. A scan of f32 sums with several tiles comes after launchPartials.
// early: as the device says.
cudaError_t launchScan(cudaStream_t stream, ScanOperation operation, const ScanParams& params,
                       bool early);
// Blocks for a reduction of so many bytes at most.
uint32_t reduceBlocks(uint64_t bytes, uint32_t processors);
cudaError_t launchReduce(cudaStream_t stream, ScanOperation operation, const ScanParams& params,
                         bool early);
cudaError_t launchPartials(cudaStream_t stream, const ScanParams& params);

struct CompactDevice {
    uint32_t blocks;     // that run at the same time
    uint32_t wordBlocks; // the same of launchCompactWords
    bool ring;           // AHEAD and launchCompactWords are possible
    bool early;          // launches may be early, see launch.cuh
};
uint32_t compactTileElements(uint32_t elementSize);
// params.workgroups blocks.
// early: as the device says.
cudaError_t launchCompact(cudaStream_t stream, uint32_t elementSize, const CompactParams& params,
                          bool early);
// Many elements of 4 bytes, 16-byte aligned, with a scanner, not in place and no partition; for the
// tests that compactsWords() says.
bool compactsWords(const CompactParams& params);
cudaError_t launchCompactWords(cudaStream_t stream, const CompactParams& params);

// The prefix sums of the counts and the result words; then one of the others.
cudaError_t launchIntervalPlan(cudaStream_t stream, const IntervalParams& params);
cudaError_t launchIntervalExpand(cudaStream_t stream, const IntervalParams& params,
                                 uint32_t blocks);
cudaError_t launchIntervalMove(cudaStream_t stream, const IntervalParams& params, uint32_t blocks);
cudaError_t launchIntervalSearch(cudaStream_t stream, const IntervalParams& params,
                                 uint32_t blocks);

// Load each file's kernels into the current device, so that no later launch has to (loading may
// synchronize, which a stream capture forbids). They fail where this build holds no code for the
// device.
cudaError_t loadStatus();
cudaError_t loadGdeflate();
cudaError_t loadChecksum();
cudaError_t loadFloatDecode(FloatDevice& floatDevice);
cudaError_t loadGstdSymbols(bool& canBeEarly);
cudaError_t loadGstdExpand();
cudaError_t loadFseTables();
cudaError_t loadDf11(uint32_t& atOnce); // so many of its blocks run at once
cudaError_t loadFilter();
cudaError_t loadFilterFew();
cudaError_t loadTileStreams();
cudaError_t loadScan(ScanDevice& scanDevice);
cudaError_t loadReduce();
cudaError_t loadCompact(CompactDevice& compactDevice);
cudaError_t loadIntervalPlan();
cudaError_t loadIntervalExpand();
cudaError_t loadIntervalMove();
cudaError_t loadIntervalSearch();

} // namespace sluice
