// SPDX-License-Identifier: MIT OR Apache-2.0
// Every number that the CUDA backend chooses by measurement. First those that are compiled into
// kernels; then one row of numbers that the host decides by, which
// tuningFor() fills from what the device reports. Commands only read it; a context takes another
// row as text (SluiceCudaContextInfo::tuning), and `sluice tune` prints one.
//
// The figures behind the values were taken on an H200 (docs/performance.md). A processor is a
// streaming multiprocessor.
#pragma once

#include <cstdint>

#include "layout/lookback.h"
#include "api/plan_df11.h"
#include "api/plan_interval.h"
#include "api/plan_scan.h"
#include "api/tuning_text.h"

namespace sluice {

// Blocks that a processor runs at the same time, which bound their registers.
constexpr uint32_t kScanBlocksPerProcessor = 2;
constexpr uint32_t kCompactBlocksPerProcessor = 4;
// 13 tiles fill the shared memory of a processor of compute capability 9.0; registers must not
// allow fewer.
constexpr uint32_t kGdeflateBlocksPerProcessor = 13;
// 20, 24, 28, 32 blocks: 3.4, 3.2, 3.1, 3.0 ms of textures and 2.9, 2.8, 2.6, 2.6 of maps.
constexpr uint32_t kGstdSymbolBlocksPerProcessor = 28;
// Of many tiles more are at work at a time; of few each takes less time.
constexpr uint32_t kGstdManyWarps = 8, kGstdManyBlocksPerProcessor = 5;
constexpr uint32_t kGstdFewWarps = 16, kGstdFewBlocksPerProcessor = 2;
// Blocks of filters: many tiles are fastest by small ones, few by large ones (filter.fewTiles).
constexpr uint32_t kFilterThreads = 256, kFilterFewThreads = 512;
constexpr uint32_t kFilterThreadsPerProcessor = 1024;
constexpr uint32_t kDf11BlocksPerProcessor = 3;
// There are few warps with much in flight each: with more of them the L2 cache turns over before a
// warp comes back to a sector.
constexpr uint32_t kMoveWarps = 1, kMoveBlocksPerProcessor = 24;
// Runs of so many bytes on average are copied as units of 16 bytes, shorter ones as words.
constexpr uint32_t kLongRunBytes = 256;
// The ring that loads to registers: with 3 blocks and 4 stages 0.86 to 0.90 of the copy, with 4
// blocks and 3 stages 0.83 to 0.86.
constexpr uint32_t kCompactWordBlocksPerProcessor = 3, kCompactWordStages = 4;
// Two tables for 42 warps of a processor are better than three for 48, for which there are too few
// registers.
constexpr uint32_t kFloatBlocksPerProcessor = 2;
// Tiles of the rings in shared memory, and how many tiles later one is written: it takes that long
// until what lies before it is known. Scans reach 0.95 of the copy so, with one tile ahead 0.85.
constexpr uint32_t kScanStages = 3, kScanAhead = 2;
constexpr uint32_t kCompactStages = 3, kCompactAhead = 2;
// Loads of 16 bytes that a thread of a reduction has under way: eight take 61 us of 2^26 words, four
// 63.5.
constexpr uint32_t kReduceThreads = 512, kReduceLoads = 8;
// Reductions of so many elements let the next launch begin early: 0.3 to 0.5 us of a short one.
constexpr uint32_t kShortReduceElements = 1u << 20;

// What the device reports, and how its kernels were loaded.
struct CudaTraits {
    uint32_t processors;
    uint32_t df11Blocks;  // that run at the same time, all processors together
    uint32_t floatBlocks; // blocks of float_decode likewise
    // The kernels are code for compute capability 9.0: they have programmatic dependent launch
    // (launch.cuh) and bulk copies (bulk_copy.cuh).
    bool sm90;
};

struct CudaTuning {
    LookbackTuning lookback;

    struct Scan {
        // Blocks that run at the same time. Up to so many tiles take a block each, more go through
        // the ring: 0.95 of the copy, where one tile a block reached 0.6 to 0.85.
        uint32_t blocks;
        uint32_t ring;               // 1: tiles wait in shared memory for what lies before them
        uint32_t programmaticLaunch; // 1: short scans begin while the launch before still runs
    } scan;

    struct Reduce {
        uint32_t blocks;      // at most: twice as many took 63.5 instead of 61 us of 2^26 words
        uint32_t singleBytes; // up to so many bytes one block is faster than several
        uint32_t programmaticLaunch;
    } reduce;

    struct Compact {
        // Blocks that run at the same time. Tiles up to so many take a block each, without tickets.
        uint32_t blocks;
        uint32_t ring;       // 1: as for scans
        uint32_t wordBlocks; // of the ring that loads to registers; 0: it is not used
        uint32_t programmaticLaunch;
        // Looks at a missing tile where it cannot be computed, because it may be overwritten.
        uint32_t pollsInPlace;
    } compact;

    // Large shares first and small ones in the end, so that all blocks end at the same time. More
    // bytes a round than 16 KiB turn the L2 cache over before a warp comes back to a sector.
    IntervalTuning interval;

    struct Gstd {
        // Up to so many tiles their bytes are made by blocks of 16 warps, 8,192 at a time: each
        // tile takes less time. More tiles are faster with 8 warps each, more of them at a time.
        uint32_t fewTiles;
        uint32_t programmaticLaunch; // 1: bytes of a part are made while others are still decoded
        uint32_t symbolsOnly; // 1: no bytes are made; the benchmark times symbols by themselves
    } gstd;

    struct Filter {
        // Up to so many tiles blocks have 512 threads, two to a processor: with 4 tiles a processor
        // that still takes less time than blocks of 256.
        uint32_t fewTiles;
    } filter;

    struct FloatDecode {
        uint32_t blocks;       // that run at the same time: tiles are shared out among them
        uint32_t tilesPerWarp; // at most; 2^28 elements are 5.9 in one wave of blocks
        // Few tiles: a block with 8 of them and a processor for itself makes its table sooner than
        // two with 4 each (21.2 instead of 23.9 us of 1,024 tiles).
        uint32_t fewBlocks;
        uint32_t fewTiles;
        uint32_t programmaticLaunch;
    } floatDecode;

    Df11Tuning df11;

    struct FseTables {
        uint32_t warps; // that fill a large GPU: more tables than that share warps
    } fseTables;
};

inline CudaTuning tuningFor(const CudaTraits& device)
{
    const uint32_t sm90 = device.sm90 ? 1 : 0;
    CudaTuning row = {};
    row.lookback = {4096, 64};
    row.scan = {device.processors * kScanBlocksPerProcessor, sm90, sm90};
    row.reduce = {device.processors * 2, 128 << 10, sm90};
    row.compact = {device.processors * kCompactBlocksPerProcessor, sm90,
                   device.processors * kCompactWordBlocksPerProcessor, sm90, 1u << 22};
    row.gstd = {512, sm90, 0};
    row.filter = {device.processors * 4};
    row.floatDecode = {device.floatBlocks, 6, device.processors, 8, sm90};
    row.df11.workgroups = device.df11Blocks;
    row.fseTables = {4096};
    return row;
}

// Two blocks at least where one would be taken for the only tile's (scan.cu, compact.cu), and two
// tiles for a scanner.
constexpr uint32_t kMostTuningBlocks = 1u << 16;
inline constexpr TuningField kCudaTuningFields[] = {
    SLUICE_TUNING_FIELD_ALSO(CudaTuning, lookback.polls, 0, 1u << 22, SLUICE_LOOKBACK_NEVER),
    SLUICE_TUNING_FIELD(CudaTuning, lookback.scannerTiles, 2, UINT32_MAX),
    SLUICE_TUNING_FIELD(CudaTuning, scan.blocks, 2, kMostTuningBlocks),
    SLUICE_TUNING_FIELD(CudaTuning, scan.ring, 0, 1),
    SLUICE_TUNING_FIELD(CudaTuning, scan.programmaticLaunch, 0, 1),
    SLUICE_TUNING_FIELD(CudaTuning, reduce.blocks, 1, kMostTuningBlocks),
    SLUICE_TUNING_FIELD(CudaTuning, reduce.singleBytes, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(CudaTuning, reduce.programmaticLaunch, 0, 1),
    SLUICE_TUNING_FIELD(CudaTuning, compact.blocks, 2, kMostTuningBlocks),
    SLUICE_TUNING_FIELD(CudaTuning, compact.ring, 0, 1),
    SLUICE_TUNING_FIELD(CudaTuning, compact.wordBlocks, 0, kMostTuningBlocks),
    SLUICE_TUNING_FIELD(CudaTuning, compact.programmaticLaunch, 0, 1),
    SLUICE_TUNING_FIELD(CudaTuning, compact.pollsInPlace, 1, 1u << 24),
    SLUICE_TUNING_FIELD(CudaTuning, interval.expandBytes, 1 << 10, 64 << 10),
    SLUICE_TUNING_FIELD(CudaTuning, interval.shareBytes, 1 << 10, 64 << 10),
    SLUICE_TUNING_FIELD(CudaTuning, interval.smallBytes, 1 << 10, 16 << 10),
    SLUICE_TUNING_FIELD(CudaTuning, interval.largeBytes, 16 << 10, 1 << 20),
    SLUICE_TUNING_FIELD(CudaTuning, interval.tailBytes, 0, 1u << 30),
    SLUICE_TUNING_FIELD(CudaTuning, interval.windowBytes, 1 << 10, 24 << 10),
    SLUICE_TUNING_FIELD(CudaTuning, interval.shortRunBytes, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(CudaTuning, interval.shortTailBytes, 0, 1u << 30),
    SLUICE_TUNING_FIELD(CudaTuning, interval.shortWindowBytes, 1 << 10, 24 << 10),
    SLUICE_TUNING_FIELD(CudaTuning, gstd.fewTiles, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(CudaTuning, gstd.programmaticLaunch, 0, 1),
    SLUICE_TUNING_FIELD(CudaTuning, gstd.symbolsOnly, 0, 1),
    SLUICE_TUNING_FIELD(CudaTuning, filter.fewTiles, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(CudaTuning, floatDecode.blocks, 1, kMostTuningBlocks),
    SLUICE_TUNING_FIELD(CudaTuning, floatDecode.tilesPerWarp, 1, 1u << 16),
    SLUICE_TUNING_FIELD(CudaTuning, floatDecode.fewBlocks, 1, kMostTuningBlocks),
    SLUICE_TUNING_FIELD(CudaTuning, floatDecode.fewTiles, 1, 1u << 16),
    SLUICE_TUNING_FIELD(CudaTuning, floatDecode.programmaticLaunch, 0, 1),
    SLUICE_TUNING_FIELD(CudaTuning, df11.workgroups, 1, kMostTuningBlocks),
    SLUICE_TUNING_FIELD(CudaTuning, df11.countedWorkgroups, 1, kMostTuningBlocks),
    SLUICE_TUNING_FIELD(CudaTuning, df11.countedBlocks, 1, 1u << 16),
    SLUICE_TUNING_FIELD(CudaTuning, fseTables.warps, 1, kMostTuningBlocks),
};
static_assert(sizeof(kCudaTuningFields) / sizeof(TuningField) * sizeof(uint32_t) ==
                  sizeof(CudaTuning),
              "a field for each member");

inline constexpr const auto& tuningFields(const CudaTuning&) { return kCudaTuningFields; }

// Whether the device's kernels have what the row asks for.
inline bool canUse(const CudaTraits& device, const CudaTuning& row)
{
    return device.sm90 ||
           (row.scan.ring | row.scan.programmaticLaunch | row.reduce.programmaticLaunch |
            row.compact.ring | row.compact.programmaticLaunch | row.gstd.programmaticLaunch |
            row.floatDecode.programmaticLaunch) == 0;
}

} // namespace sluice
