// SPDX-License-Identifier: MIT OR Apache-2.0
// All numbers of the Vulkan backend that were chosen by measurement: a row, VulkanTuning, for each
// device. tuningFor() fills it from what the device reports; plans, recorders and the registry only
// read it. A context takes another row as text (SluiceVulkanContextInfo::tuning), and `sluice tune`
// measures the candidates on a device and prints its row.
//
// Unless something else is said, the figures beside the values were measured on an H200 with driver
// 580 (docs/performance.md). "With 2 tiles per SM" means that there are twice as many tiles to
// decode as the device has multiprocessors.
#pragma once

#include <cstdint>

#include "layout/lookback.h"
#include "api/plan_df11.h"
#include "api/plan_interval.h"
#include "api/plan_scan.h"
#include "api/plan_zstd.h"
#include "api/tuning_text.h"
#include "vulkan/traits.h"

namespace sluice {

struct VulkanTuning {
    // The invocations of a workgroup, for kernels where there is a choice. A number at the start of
    // a comment is the value on an H200.
    struct Workgroup {
        uint32_t scan;    // 512: scans, reductions and df11 gain from large workgroups
        uint32_t compact; // 320 leaves an invocation 64 registers; 512 was slower
        // 1,024: an SM has shared memory for one workgroup only, and one of 512 keeps fewer lanes
        // busy.
        uint32_t floatDecode;
        uint32_t gstdExpand;     // 256: an SM runs four workgroups at a time
        uint32_t filter;         // 256: an SM runs two workgroups at a time
        uint32_t intervalShares; // lane groups of a workgroup, in the interval kernels
        uint32_t zstdExpand;     // 256, the same as gstdExpand; not measured
        // 128: of its four subgroups, one makes the FSE steps of the blocks, and three turn these
        // steps into sequences. Where a lane group is not a subgroup, a workgroup is one subgroup
        // or one lane group.
        uint32_t zstdSequences;
    } workgroup;

    LookbackTuning lookback;

    struct Scan {
        // The most workgroups that get one tile each; more tiles are divided among this many. It is
        // at least 2, because a single workgroup assumes that there is no other tile.
        uint32_t workgroups;
        uint32_t tilesPerWorkgroup; // the most tiles of a workgroup
        uint32_t reduceWorkgroups;  // the most workgroups; 4,096 take 78 us for 2^26 words
        // The workgroups of the ring kernel, the scanner included, which must all run at the same
        // time; 0: the ring kernel is not used.
        uint32_t ringWorkgroups;
    } scan;

    struct Compact {
        uint32_t workgroups; // the most workgroups that compact.comp gets
        // The most tiles of a workgroup, on devices that may stop a workgroup that runs long.
        uint32_t tilesPerWorkgroup;
        // For compactions in place, if workgroups are not known to make progress: the tiles that
        // each dispatch compacts, with one workgroup.
        uint32_t serialTiles;
        // In place, a workgroup polls the count of an earlier tile this many times. It cannot
        // compute the count itself, because the input of that tile may have been overwritten.
        uint32_t pollsInPlace;
        uint32_t ringWorkgroups; // see Scan::ringWorkgroups; 0: no compact_ring or compact_call
        uint32_t ringTiles;      // tiles that wait in shared memory, 8 KB each: 2 or 3
        uint32_t callTiles;      // up to this many tiles, compact_call is faster
    } compact;

    // The sizes of shares (the work of a lane group) and windows (the work of one of its rounds) in
    // the commands on intervals (api/plan_interval.h). Moves of long runs need larger windows than
    // moves of short runs, and a smaller part of their work in small shares.
    IntervalTuning interval;
    // 1: moves of short runs and expansions of words have pipelines of their own, which need
    // hardware subgroups of 32 lanes.
    uint32_t intervalSpecialized;

    struct Gdeflate {
        // Up to this many tiles, a tile gets more shared memory, so that its decode stage (bits to
        // tokens) can run further ahead of its expand stage (tokens to bytes). An SM has enough for
        // ten such tiles. 0: never.
        uint32_t fewTiles;
        // With this many tiles or more, each tile has one subgroup instead of two, so that an SM
        // decodes 32 tiles at a time. The last tiles then take longer, so this pays only with at
        // least about four times as many tiles as run at a time. 0: never.
        uint32_t manyTiles;
        // Shared memory per tile, except in gdeflate_few. 0: 3 KB; 1: 5 KB.
        uint32_t room;
        // 1: tiles in rows with padding have a pipeline of their own. One pipeline for both, which
        // tests for padding, costs tiles without it a tenth of their speed.
        uint32_t pitchApart;
    } gdeflate;

    struct Gstd {
        // Up to this many tiles, the workgroups that make a tile's bytes have 512 invocations
        // instead of 256, and make 4,096 bytes at a time. With 2 tiles per SM that takes up to a
        // quarter less time, with 9 a third more.
        uint32_t fewTiles;
        uint32_t symbolsOnly; // 1: no bytes are made, so that a benchmark can time the symbols
    } gstd;

    struct Filter {
        // Up to this many tiles, workgroups of 512 invocations instead of 256 undo the filters.
        // With 2 or 3 tiles per SM that takes up to a third less time, with 9 a little more.
        uint32_t fewTiles;
        // With this many tiles or more, a workgroup that has finished a tile takes the next free
        // one. With 30 tiles or more per SM that takes a seventh less time. All workgroups must run
        // at the same time for this; otherwise the first ones would take all tiles. 0: never.
        uint32_t takeNextTiles;
    } filter;

    struct FloatDecode {
        uint32_t laneGroups;        // the most lane groups that a large GPU runs at once
        uint32_t tilesPerLaneGroup; // the most tiles of a lane group
    } floatDecode;

    struct FseTables {
        uint32_t laneGroups; // enough to fill a large GPU; with more tables, each builds several
    } fseTables;

    Df11Tuning df11;
    ZstdTuning zstd; // chosen by calculation, not by measurement (docs/notes/zstd.md)
    // The most blocks whose sequences a team of lane groups decodes at once; 3 where shared memory
    // allows. A step takes as many instructions for several blocks as for one, but each block takes
    // shared memory.
    uint32_t zstdChains;
};

VulkanTuning tuningFor(const DeviceTraits& device);

// Changes members that the device cannot run to the nearest values that it can: workgroup sizes,
// the use of shared memory, and polls where workgroups are not known to make progress.
void fitTuning(const DeviceTraits& device, VulkanTuning& row);

// kVulkanTuningFields has the range of each member. A text with any other value is refused. Values
// in range may make commands slow, but their results stay right, on any device. Only
// gstd.symbolsOnly and zstd.steps, which are for benchmarks, leave data undecoded.
inline constexpr uint32_t kMostTuningWorkgroups = 1u << 16;
// A ring kernel is dispatched in one dimension, so it has at most SLUICE_MAX_GRID workgroups. It
// has at least two, because one of them is the scanner.
inline constexpr uint32_t kMostRingWorkgroups = SLUICE_MAX_GRID;
inline constexpr TuningField kVulkanTuningFields[] = {
    SLUICE_TUNING_FIELD_ALSO(VulkanTuning, lookback.polls, 0, 1u << 22, SLUICE_LOOKBACK_NEVER),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.scan, 128, 1024),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.compact, 128, 1024),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.floatDecode, 32, 1024),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.gstdExpand, 128, 256),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.filter, 128, 256),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.intervalShares, 1, 4),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.zstdExpand, 64, 512),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.zstdSequences, 32, 256),
    SLUICE_TUNING_FIELD(VulkanTuning, lookback.scannerTiles, 2, UINT32_MAX),
    SLUICE_TUNING_FIELD(VulkanTuning, scan.workgroups, 2, kMostTuningWorkgroups),
    SLUICE_TUNING_FIELD(VulkanTuning, scan.tilesPerWorkgroup, 1, 128),
    SLUICE_TUNING_FIELD(VulkanTuning, scan.reduceWorkgroups, 1, 4096),
    SLUICE_TUNING_FIELD_ALSO(VulkanTuning, scan.ringWorkgroups, 2, kMostRingWorkgroups, 0),
    SLUICE_TUNING_FIELD(VulkanTuning, compact.workgroups, 2, kMostTuningWorkgroups),
    SLUICE_TUNING_FIELD(VulkanTuning, compact.tilesPerWorkgroup, 1, 128),
    SLUICE_TUNING_FIELD(VulkanTuning, compact.serialTiles, 1, 2048),
    SLUICE_TUNING_FIELD(VulkanTuning, compact.pollsInPlace, 1, 1u << 24),
    SLUICE_TUNING_FIELD_ALSO(VulkanTuning, compact.ringWorkgroups, 2, kMostRingWorkgroups, 0),
    SLUICE_TUNING_FIELD(VulkanTuning, compact.ringTiles, 2, 3),
    SLUICE_TUNING_FIELD(VulkanTuning, compact.callTiles, 0, 64),
    SLUICE_INTERVAL_TUNING_FIELDS(VulkanTuning),
    SLUICE_TUNING_FIELD(VulkanTuning, intervalSpecialized, 0, 1),
    SLUICE_TUNING_FIELD(VulkanTuning, gdeflate.fewTiles, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(VulkanTuning, gdeflate.manyTiles, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(VulkanTuning, gdeflate.room, 0, 1),
    SLUICE_TUNING_FIELD(VulkanTuning, gdeflate.pitchApart, 0, 1),
    SLUICE_TUNING_FIELD(VulkanTuning, gstd.fewTiles, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(VulkanTuning, gstd.symbolsOnly, 0, 1),
    SLUICE_TUNING_FIELD(VulkanTuning, filter.fewTiles, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(VulkanTuning, filter.takeNextTiles, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(VulkanTuning, floatDecode.laneGroups, 1, kMostTuningWorkgroups),
    SLUICE_TUNING_FIELD(VulkanTuning, floatDecode.tilesPerLaneGroup, 1, 1u << 16),
    SLUICE_TUNING_FIELD(VulkanTuning, fseTables.laneGroups, 1, kMostTuningWorkgroups),
    SLUICE_TUNING_FIELD(VulkanTuning, df11.workgroups, 0, kMostTuningWorkgroups),
    SLUICE_TUNING_FIELD(VulkanTuning, df11.countedWorkgroups, 1, kMostTuningWorkgroups),
    SLUICE_TUNING_FIELD(VulkanTuning, df11.countedBlocks, 1, 1u << 16),
    SLUICE_ZSTD_TUNING_FIELDS(VulkanTuning),
    SLUICE_TUNING_FIELD(VulkanTuning, zstdChains, 1, 7),
};
static_assert(sizeof(kVulkanTuningFields) / sizeof(TuningField) * sizeof(uint32_t) ==
                  sizeof(VulkanTuning),
              "a field for each member");

inline constexpr const auto& tuningFields(const VulkanTuning&) { return kVulkanTuningFields; }

} // namespace sluice
