// SPDX-License-Identifier: MIT OR Apache-2.0
// All numbers of the CUDA backend that were chosen by measurement. The first ones are compiled into
// kernels. The others make a row, CudaTuning, which tuningFor() fills from the device's properties;
// commands only read it. A context takes another row as text (SluiceCudaContextInfo::tuning), and
// `sluice tune` prints one.
//
// The figures beside the values were measured on an H200 (docs/performance.md). A "processor" is a
// streaming multiprocessor.
#pragma once

#include <cstdint>

#include "layout/lookback.h"
#include "api/plan_df11.h"
#include "api/plan_interval.h"
#include "api/plan_scan.h"
#include "api/plan_zstd.h"
#include "api/tuning_text.h"

namespace sluice {

// The number of blocks of each kernel that a processor shall be able to run at the same time. From
// it the compiler derives how many registers a thread may use (__launch_bounds__).
constexpr uint32_t kScanBlocksPerProcessor = 2;
constexpr uint32_t kCompactBlocksPerProcessor = 4;
// The shared memory of a processor of compute capability 9.0 has room for thirteen blocks, one tile
// each, so registers must allow as many.
constexpr uint32_t kGdeflateBlocksPerProcessor = 13;
// More than 28 blocks gain little. With 20, 24, 28 and 32 blocks, a batch of textures took 3.4,
// 3.2, 3.1 and 3.0 ms, a batch of maps 2.9, 2.8, 2.6 and 2.6 ms.
constexpr uint32_t kGstdSymbolBlocksPerProcessor = 28;
// Blocks of gstd_expand. With many tiles, smaller blocks are faster, because more tiles are decoded
// at a time; with few tiles, larger blocks are, because each tile takes less time.
constexpr uint32_t kGstdManyWarps = 8, kGstdManyBlocksPerProcessor = 5;
constexpr uint32_t kGstdFewWarps = 16, kGstdFewBlocksPerProcessor = 2;
// For filters, small blocks are fastest with many tiles, large ones with few (filter.fewTiles).
constexpr uint32_t kFilterThreads = 256, kFilterFewThreads = 512;
constexpr uint32_t kFilterThreadsPerProcessor = 1024;
constexpr uint32_t kDf11BlocksPerProcessor = 3;
// A processor has shared memory for eight teams of four chains of sequences: a warp makes their
// steps, two expand what it leaves.
constexpr uint32_t kZstdChainsAtOnce = 4, kZstdTeamWarps = 3;
// Not measured: 13 KB of shared memory a block would allow more, but not more registers.
constexpr uint32_t kZstdExpandThreads = 256, kZstdExpandBlocksPerProcessor = 5;
// An interval move runs few warps, each with many loads in flight. With more warps, the L2 cache
// evicts sectors of which a warp has used only a part, before the warp uses the rest.
constexpr uint32_t kMoveWarps = 1, kMoveBlocksPerProcessor = 24;
// Interval moves whose runs have at least this many bytes on average copy in units of 16 bytes,
// others in words.
constexpr uint32_t kLongRunBytes = 256;
// The compaction of words, whose ring loads to registers (compact_words.cuh), reaches 0.86 to 0.90
// of the speed of a copy with 3 blocks and 4 stages, and 0.83 to 0.86 with 4 blocks and 3 stages.
constexpr uint32_t kCompactWordBlocksPerProcessor = 3, kCompactWordStages = 4;
// For float_decode. Two blocks of 21 warps, which build two tables, are faster than three blocks of
// 16 warps, which build three tables and have too few registers.
constexpr uint32_t kFloatBlocksPerProcessor = 2;
// A block's ring in shared memory has kScanStages stages, one tile each. A tile is written
// kScanAhead rounds after it has arrived, by which time its prefix is usually known. With 2 rounds,
// scans reach 0.95 of the speed of a copy, with 1 round 0.85.
constexpr uint32_t kScanStages = 3, kScanAhead = 2;
constexpr uint32_t kCompactStages = 3, kCompactAhead = 2;
// Each thread of a reduction has kReduceLoads loads of 16 bytes in flight. With eight, a reduction
// of 2^26 words takes 61 us, with four 63.5.
constexpr uint32_t kReduceThreads = 512, kReduceLoads = 8;
// A reduction of at most this many elements lets the next launch begin early, which makes short
// reductions 0.3 to 0.5 us faster.
constexpr uint32_t kShortReduceElements = 1u << 20;

// The properties of a device, and those of its kernels as they were loaded.
struct CudaTraits {
    uint32_t processors;
    uint32_t df11Blocks;  // how many blocks of df11 run at the same time on all processors
    uint32_t floatBlocks; // the same for float_decode
    // All kernels were compiled for compute capability 9.0 or more, so programmatic dependent
    // launch (launch.cuh) and bulk copies (bulk_copy.cuh) may be used.
    bool sm90;
};

struct CudaTuning {
    LookbackTuning lookback;

    struct Scan {
        // The number of blocks that run at the same time. Up to this many tiles take a block each.
        // More tiles go through the ring, which reaches 0.95 of the speed of a copy; without a
        // ring, scans reached 0.6 to 0.85.
        uint32_t blocks;
        uint32_t ring; // 1: many tiles go through the ring in shared memory (scan.cu)
        // 1: a short scan may begin while the launch before it still runs.
        uint32_t programmaticLaunch;
    } scan;

    struct Reduce {
        uint32_t blocks;      // the most; with twice as many, 2^26 words took 63.5 us instead of 61
        uint32_t singleBytes; // up to this many bytes one block is faster than several
        uint32_t programmaticLaunch;
    } reduce;

    struct Compact {
        // The number of blocks that run at the same time. Up to this many tiles have a block each.
        // If there are more, a block takes one after the other, by tickets (compact_ring.cuh).
        uint32_t blocks;
        uint32_t ring;       // 1: as in Scan
        uint32_t wordBlocks; // blocks of the ring that loads to registers; 0: it is not used
        uint32_t programmaticLaunch;
        // In place, a block polls the count of an earlier tile this many times. It cannot compute
        // the count itself, because the input of that tile may have been overwritten.
        uint32_t pollsInPlace;
    } compact;

    // The sizes of shares and windows of the commands on intervals (api/plan_interval.h). With
    // windows of more than 16 KiB, the L2 cache evicts sectors of which a warp has used only a
    // part.
    IntervalTuning interval;

    struct Gstd {
        // Up to this many tiles are expanded by blocks of 16 warps, 8,192 bytes at a time, so that
        // each tile takes less time. More tiles are faster with 8 warps each, because more of them
        // run at a time.
        uint32_t fewTiles;
        // 1: the bytes of a part are made while other parts are still being decoded.
        uint32_t programmaticLaunch;
        // 1: no bytes are made, so that the benchmark can time the symbols alone.
        uint32_t symbolsOnly;
    } gstd;

    struct Filter {
        // Lists of up to this many tiles have blocks of 512 threads, of which a processor runs two.
        // With 4 tiles per processor that still takes less time than four blocks of 256 threads.
        uint32_t fewTiles;
    } filter;

    struct FloatDecode {
        // The number of blocks that run at the same time; tiles are shared out among them.
        uint32_t blocks;
        // The most tiles of a warp. 2^28 elements are 248 tiles per processor, which its 42 warps
        // decode in 5.9 rounds; with a limit of 6, all blocks run at the same time.
        uint32_t tilesPerWarp;
        // Few tiles are spread over fewBlocks blocks, one per processor, with up to fewTiles tiles
        // in each. A block that has a processor to itself builds its table sooner than two blocks
        // that share it: 1,024 tiles took 21.2 us with 8 tiles per block, and 23.9 with 4.
        uint32_t fewBlocks;
        uint32_t fewTiles;
        uint32_t programmaticLaunch;
    } floatDecode;

    Df11Tuning df11;

    struct FseTables {
        uint32_t warps; // the most, which fill a large GPU; with more tables, a warp builds several
    } fseTables;

    ZstdTuning zstd; // chosen by calculation, not by measurement (docs/notes/zstd.md)
    // 1: literals of Zstandard frames are decoded while sequences are.
    uint32_t zstdLiteralsBeside;
};

// Returns the row for a device.
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
    row.zstd = {1 << 20, 1024, device.processors * 8, kZstdSteps};
    row.zstdLiteralsBeside = sm90;
    return row;
}

// The numbers of blocks of scans and compactions are at least 2, because a kernel of one block
// assumes that there is one tile (scan.cu, compact.cu). A scanner adds up the values of at least 2
// tiles.
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
    SLUICE_INTERVAL_TUNING_FIELDS(CudaTuning),
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
    SLUICE_ZSTD_TUNING_FIELDS(CudaTuning),
    SLUICE_TUNING_FIELD(CudaTuning, zstdLiteralsBeside, 0, 1),
};
static_assert(sizeof(kCudaTuningFields) / sizeof(TuningField) * sizeof(uint32_t) ==
                  sizeof(CudaTuning),
              "a field for each member");

inline constexpr const auto& tuningFields(const CudaTuning&) { return kCudaTuningFields; }

// Returns whether the kernels, as they were loaded, have what the row asks for.
inline bool canUse(const CudaTraits& device, const CudaTuning& row)
{
    return device.sm90 ||
           (row.scan.ring | row.scan.programmaticLaunch | row.reduce.programmaticLaunch |
            row.compact.ring | row.compact.programmaticLaunch | row.gstd.programmaticLaunch |
            row.floatDecode.programmaticLaunch | row.zstdLiteralsBeside) == 0;
}

} // namespace sluice
