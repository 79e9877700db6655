// SPDX-License-Identifier: MIT OR Apache-2.0
// All numbers of the CUDA backend that were chosen by measurement. The constants come first; they
// are compiled into the kernels. The other numbers make a row, CudaTuning. tuningFor() fills it
// from the device's properties, and commands only read it. A context accepts another row as text
// (SluiceCudaContextInfo::tuning), and `sluice tune` prints one.
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

// How many blocks of each kernel a processor must be able to run at the same time. From this number
// the compiler derives how many registers a thread may use (__launch_bounds__).
constexpr uint32_t kScanBlocksPerProcessor = 2;
constexpr uint32_t kCompactBlocksPerProcessor = 4;
// On compute capability 9.0, a processor's shared memory has room for thirteen blocks of one tile
// each. The limit on registers must allow thirteen blocks too.
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
// A processor's shared memory has room for five teams. A team is kZstdTeamWarps warps that decode
// the sequences of kZstdChainsAtOnce blocks at once: one warp makes the steps that depend on each
// other, the other three expand its results. With four blocks and three warps, 403 MB took 1.79 ms
// instead of 1.66, because a step takes as many instructions for four blocks as for six.
constexpr uint32_t kZstdChainsAtOnce = 6, kZstdTeamWarps = 4;
// This choice was not measured. Shared memory (20 KB per block) would allow more blocks; registers
// would not.
constexpr uint32_t kZstdExpandThreads = 256, kZstdExpandBlocksPerProcessor = 5;
// An interval move runs few warps, each with many loads in flight. With more warps, the L2 cache
// would evict sectors of which a warp has read only a part, before the warp reads the rest.
constexpr uint32_t kMoveWarps = 1, kMoveBlocksPerProcessor = 24;
// An interval move copies in units of 16 bytes if its runs have at least this many bytes on
// average, otherwise in words.
constexpr uint32_t kLongRunBytes = 256;
// The compaction of words loads tiles into registers (compact_words.cuh). With 3 blocks and 4
// stages it reaches 0.86 to 0.90 of the speed of a copy, with 4 blocks and 3 stages 0.83 to 0.86.
constexpr uint32_t kCompactWordBlocksPerProcessor = 3, kCompactWordStages = 4;
// For float_decode. Each block builds a table of its own. Two blocks of 21 warps are faster than
// three of 16 warps, whose threads have too few registers.
constexpr uint32_t kFloatBlocksPerProcessor = 2;
// A block's ring in shared memory has kScanStages stages, one tile each. A tile is written
// kScanAhead rounds after it has arrived, because by then its prefix is usually known. With 2
// rounds, scans reach 0.95 of the speed of a copy, with 1 round 0.85.
constexpr uint32_t kScanStages = 3, kScanAhead = 2;
constexpr uint32_t kCompactStages = 3, kCompactAhead = 2;
// Each thread of a reduction has kReduceLoads loads of 16 bytes in flight. With eight, a reduction
// of 2^26 words takes 61 us, with four 63.5.
constexpr uint32_t kReduceThreads = 512, kReduceLoads = 8;
// A reduction of at most this many elements lets the next launch begin early, which makes short
// reductions 0.3 to 0.5 us faster.
constexpr uint32_t kShortReduceElements = 1u << 20;

// The properties of a device, and of its kernels as they were loaded.
struct CudaTraits {
    uint32_t processors;
    uint32_t df11Blocks;  // how many blocks of df11 run at the same time on all processors
    uint32_t floatBlocks; // the same for blocks of float_decode
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
        uint32_t blocks;      // upper limit; with twice as many, 2^26 words took 63.5 us, not 61
        uint32_t singleBytes; // up to this many bytes one block is faster than several
        uint32_t programmaticLaunch;
    } reduce;

    struct Compact {
        // The number of blocks that run at the same time. Up to this many tiles have a block each.
        // If there are more, a block takes one after the other, by tickets (compact_ring.cuh).
        uint32_t blocks;
        uint32_t ring;       // 1: many tiles go through the ring in shared memory
        uint32_t wordBlocks; // blocks of the ring in compact_words.cuh; 0: that ring is not used
        uint32_t programmaticLaunch;
        // When it compacts in place, a block polls the count of an earlier tile this many times. It
        // cannot compute that count itself, because the tile's input may have been overwritten.
        uint32_t pollsInPlace;
    } compact;

    // The sizes of a warp's share of the work on intervals, and of the windows in which it does
    // this work (api/plan_interval.h). With windows of more than 16 KiB, the L2 cache evicts
    // sectors of which a warp has used only a part.
    IntervalTuning interval;

    struct Gstd {
        // Up to this many tiles are expanded by blocks of 16 warps, 8,192 bytes at a time, so that
        // each tile takes less time. More tiles are faster with blocks of 8 warps, because more of
        // these blocks run at a time.
        uint32_t fewTiles;
        // 1: the bytes of a part are made while other parts are still being decoded
        // (GstdTurnParams).
        uint32_t programmaticLaunch;
        // 1: no bytes are made, so that the benchmark can time the symbols alone.
        uint32_t symbolsOnly;
    } gstd;

    struct Filter {
        // Up to this many tiles are undone by blocks of 512 threads, of which a processor runs two.
        // Even with 4 tiles per processor, that takes less time than four blocks of 256 threads.
        uint32_t fewTiles;
    } filter;

    struct FloatDecode {
        // The number of blocks that run at the same time; the tiles are divided among them.
        uint32_t blocks;
        // The most tiles that a warp decodes. 2^28 elements are 248 tiles per processor, or 5.9 for
        // each of its 42 warps. So with a limit of 6, all blocks of that launch run at the same
        // time.
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
        uint32_t warps; // most warps, enough for a large GPU; each may build several tables
    } fseTables;

    ZstdTuning zstd; // chosen by calculation, not by measurement (docs/notes/zstd.md)
    // 1: literals and sequences of Zstandard frames are decoded at the same time.
    uint32_t zstdLiteralsBeside;
};

// Returns the tuning values for a device.
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

// Each entry has a member of CudaTuning, and the lowest and the highest value that it may have.
// Scans and compactions need at least 2 blocks, because a launch of one block assumes that there is
// one tile (scan.cu, compact.cu). A scanner makes sense for at least 2 tiles.
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

// Returns true if the kernels that were loaded support everything that the tuning `row` turns on.
inline bool canUse(const CudaTraits& device, const CudaTuning& row)
{
    return device.sm90 ||
           (row.scan.ring | row.scan.programmaticLaunch | row.reduce.programmaticLaunch |
            row.compact.ring | row.compact.programmaticLaunch | row.gstd.programmaticLaunch |
            row.floatDecode.programmaticLaunch | row.zstdLiteralsBeside) == 0;
}

} // namespace sluice
