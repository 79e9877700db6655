// SPDX-License-Identifier: MIT OR Apache-2.0
// All numbers of the CUDA backend that were chosen by measurement. The first ones are compiled into
// kernels. The others form a row of values for the host, which tuningFor() derives from the
// device's properties; commands only read it. A context accepts another row as text
// (SluiceCudaContextInfo::tuning), and `sluice tune` prints one.
//
// The figures beside the values were measured on an H200 (docs/performance.md). A processor is a
// streaming multiprocessor.
#pragma once

#include <cstdint>

#include "layout/lookback.h"
#include "api/plan_df11.h"
#include "api/plan_interval.h"
#include "api/plan_scan.h"
#include "api/tuning_text.h"

namespace sluice {

// How many blocks a processor runs at the same time. This bounds their registers.
constexpr uint32_t kScanBlocksPerProcessor = 2;
constexpr uint32_t kCompactBlocksPerProcessor = 4;
// 13 tiles fill the shared memory of a processor of compute capability 9.0, so registers must not
// allow fewer.
constexpr uint32_t kGdeflateBlocksPerProcessor = 13;
// With 20, 24, 28 and 32 blocks, textures took 3.4, 3.2, 3.1 and 3.0 ms, and maps took 2.9, 2.8,
// 2.6 and 2.6 ms.
constexpr uint32_t kGstdSymbolBlocksPerProcessor = 28;
// For many tiles, smaller blocks decode more tiles at a time; for few tiles, larger blocks make
// each tile faster.
constexpr uint32_t kGstdManyWarps = 8, kGstdManyBlocksPerProcessor = 5;
constexpr uint32_t kGstdFewWarps = 16, kGstdFewBlocksPerProcessor = 2;
// Filters: small blocks are fastest for many tiles, large ones for few (filter.fewTiles).
constexpr uint32_t kFilterThreads = 256, kFilterFewThreads = 512;
constexpr uint32_t kFilterThreadsPerProcessor = 1024;
constexpr uint32_t kDf11BlocksPerProcessor = 3;
// There are few warps with many loads in flight each. With more warps, the L2 cache evicts a sector
// before its warp returns to it.
constexpr uint32_t kMoveWarps = 1, kMoveBlocksPerProcessor = 24;
// Runs of this many bytes on average are copied in units of 16 bytes, shorter ones in words.
constexpr uint32_t kLongRunBytes = 256;
// The ring that loads to registers reaches 0.86 to 0.90 of the copy with 3 blocks and 4 stages,
// 0.83 to 0.86 with 4 blocks and 3 stages.
constexpr uint32_t kCompactWordBlocksPerProcessor = 3, kCompactWordStages = 4;
// Two blocks, which build two tables for the 42 warps of a processor, are faster than three blocks
// with 48 warps, which have too few registers.
constexpr uint32_t kFloatBlocksPerProcessor = 2;
// The number of tiles of a ring in shared memory, and how many tiles later a tile is written, which
// hides the time until its prefix is known. Scans reach 0.95 of the speed of a copy; with one tile
// ahead they reach 0.85.
constexpr uint32_t kScanStages = 3, kScanAhead = 2;
constexpr uint32_t kCompactStages = 3, kCompactAhead = 2;
// Loads of 16 bytes that a thread of a reduction has in flight: with eight, 2^26 words take 61 us,
// with four 63.5.
constexpr uint32_t kReduceThreads = 512, kReduceLoads = 8;
// Reductions of at most this many elements let the next launch begin early, which saves a short one
// 0.3 to 0.5 us.
constexpr uint32_t kShortReduceElements = 1u << 20;

// Holds what the device reports, and how its kernels were loaded.
struct CudaTraits {
    uint32_t processors;
    uint32_t df11Blocks;  // as many as run at the same time on all processors
    uint32_t floatBlocks; // the same for float_decode
    // The kernels are code for compute capability 9.0: they have programmatic dependent launch
    // (launch.cuh) and bulk copies (bulk_copy.cuh).
    bool sm90;
};

struct CudaTuning {
    LookbackTuning lookback;

    struct Scan {
        // As many blocks as run at the same time. Up to this many tiles take a block each. More
        // tiles go through the ring, which reaches 0.95 of the copy, where one tile a block reached
        // 0.6 to 0.85.
        uint32_t blocks;
        uint32_t ring;               // 1: tiles wait in shared memory for their prefix
        uint32_t programmaticLaunch; // 1: short scans begin while the launch before them still runs
    } scan;

    struct Reduce {
        uint32_t blocks;      // at most; twice as many took 63.5 instead of 61 us for 2^26 words
        uint32_t singleBytes; // up to this many bytes one block is faster than several
        uint32_t programmaticLaunch;
    } reduce;

    struct Compact {
        // As many blocks as run at the same time. Up to this many tiles take a block each, without
        // tickets.
        uint32_t blocks;
        uint32_t ring;       // 1: as for scans
        uint32_t wordBlocks; // blocks of the ring that loads to registers; 0: it is not used
        uint32_t programmaticLaunch;
        // Looks at a missing tile where it cannot be computed, because it may be overwritten.
        uint32_t pollsInPlace;
    } compact;

    // Large shares come first and small ones last, so that all blocks end at the same time. With
    // more than 16 KiB per round, the L2 cache evicts a sector before its warp returns to it.
    IntervalTuning interval;

    struct Gstd {
        // Up to this many tiles are expanded by blocks of 16 warps, 8,192 bytes at a time, so that
        // each tile takes less time. More tiles are faster with 8 warps each, since more of them
        // run at a time.
        uint32_t fewTiles;
        uint32_t programmaticLaunch; // 1: a part is expanded while others are still decoded
        uint32_t symbolsOnly; // 1: nothing is expanded; the benchmark times the symbols alone
    } gstd;

    struct Filter {
        // Up to this many tiles, blocks have 512 threads, two to a processor. With 4 tiles a
        // processor that still takes less time than blocks of 256.
        uint32_t fewTiles;
    } filter;

    struct FloatDecode {
        uint32_t blocks;       // as many as run at the same time; tiles are shared out among them
        uint32_t tilesPerWarp; // at most; 2^28 elements come to 5.9 in one wave of blocks
        // Few tiles are spread over fewBlocks blocks, up to fewTiles in each: a block with 8 tiles
        // and a processor to itself builds its table sooner than two blocks with 4 each (1,024
        // tiles took 21.2 instead of 23.9 us).
        uint32_t fewBlocks;
        uint32_t fewTiles;
        uint32_t programmaticLaunch;
    } floatDecode;

    Df11Tuning df11;

    struct FseTables {
        uint32_t warps; // as many as fill a large GPU; more tables than this share warps
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

// There must be at least two blocks, because a single block is assumed to have the only tile
// (scan.cu, compact.cu), and at least two tiles for a scanner.
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

// Returns whether the device's kernels have what the row asks for.
inline bool canUse(const CudaTraits& device, const CudaTuning& row)
{
    return device.sm90 ||
           (row.scan.ring | row.scan.programmaticLaunch | row.reduce.programmaticLaunch |
            row.compact.ring | row.compact.programmaticLaunch | row.gstd.programmaticLaunch |
            row.floatDecode.programmaticLaunch) == 0;
}

} // namespace sluice
