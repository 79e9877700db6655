// SPDX-License-Identifier: MIT OR Apache-2.0
// Every number that was chosen for the Vulkan backend by measurement, with one row per device.
// tuningFor() fills a row from what the device reports. Plans, recorders and the registry only read
// it. `sluice tune` measures the candidates on the machine's device and prints its row. A context
// accepts a row as text (SluiceVulkanContextInfo::tuning).
//
// Unless stated otherwise, the figures beside a value were measured on an H200 with driver 580
// (docs/performance.md). "With 2 tiles per SM" means that the device has 2 tiles per multiprocessor
// to decode.
#pragma once

#include <cstdint>

#include "layout/lookback.h"
#include "api/plan_df11.h"
#include "api/plan_interval.h"
#include "api/plan_scan.h"
#include "api/tuning_text.h"
#include "vulkan/traits.h"

namespace sluice {

struct VulkanTuning {
    // Invocations per workgroup, for the kernels where this is a choice.
    struct Workgroup {
        uint32_t scan;           // 512 for scans, reductions and df11, which gain from it
        uint32_t compact;        // 320 leaves 64 registers per invocation; 512 was slower
        uint32_t floatDecode;    // 1,024: with 512 only one fits per SM, and fewer lanes are busy
        uint32_t gstdExpand;     // 256: an SM runs four of them
        uint32_t filter;         // 256: an SM runs two of them
        uint32_t intervalShares; // lane groups per workgroup of the interval kernels
    } workgroup;

    LookbackTuning lookback;

    struct Scan {
        // At most this many, with one tile each; more tiles are divided among them. At least 2: a
        // single workgroup would be taken for that of the only tile.
        uint32_t workgroups;
        uint32_t tilesPerWorkgroup; // at most
        uint32_t reduceWorkgroups;  // at most; 4,096 take 78 us for 2^26 words
        uint32_t ringWorkgroups;    // that run at the same time, with the scanner; 0: no ring
    } scan;

    struct Compact {
        uint32_t workgroups;        // at most
        uint32_t tilesPerWorkgroup; // at most, where a workgroup may be stopped for its length
        uint32_t serialTiles;       // tiles per dispatch of one workgroup, in place
        uint32_t pollsInPlace;      // polls of a missing tile that nobody else can compute
        uint32_t ringWorkgroups;    // as for scans; 0: neither compact_ring nor compact_call
        uint32_t ringTiles;         // tiles that wait in shared memory, 8 KB each: 2 or 3
        uint32_t callTiles;         // up to this many tiles compact_call is faster
    } compact;

    // Long runs need larger rounds and fewer small shares than short ones.
    IntervalTuning interval;
    // 1: moves of short runs and expansions of words have pipelines of their own. These need lane
    // groups that are subgroups.
    uint32_t intervalSpecialized;

    struct Gdeflate {
        // Up to this many tiles, the first stage may get further ahead of the second. An SM has
        // room for that if it holds at most ten tiles. 0: never.
        uint32_t fewTiles;
        // With this many tiles or more, each tile has one subgroup instead of two, and an SM
        // decodes 32 tiles at a time. The last tiles take longer that way, so it pays only if there
        // are at least about four times as many tiles as run at a time. 0: never.
        uint32_t manyTiles;
        uint32_t room; // SLUICE_CONSTANT_GDEFLATE_ROOM of the pipelines that are not `few`
        // 1: tiles in rows with padding have a pipeline of their own. Checking for padding in a
        // shared pipeline costs the other tiles a tenth of their speed.
        uint32_t pitchApart;
    } gdeflate;

    struct Gstd {
        // Up to this many tiles, workgroups of 512 expand the bytes, 4,096 at a time. With 2 tiles
        // per SM that takes up to a quarter less time, with 9 a third more.
        uint32_t fewTiles;
        uint32_t symbolsOnly; // 1: only symbols are decoded, so that the benchmark can time them
    } gstd;

    struct Filter {
        // Up to this many tiles, workgroups of 512 undo the filters. With 2 or 3 tiles per SM that
        // takes up to a third less time, with 9 a little more.
        uint32_t fewTiles;
        // With this many tiles or more, a workgroup that has finished a tile takes the next one.
        // With 30 or more per SM that takes a seventh less time. All workgroups must run at the
        // same time; otherwise the first ones would take all tiles. 0: never.
        uint32_t takeNextTiles;
    } filter;

    struct FloatDecode {
        uint32_t laneGroups;        // the number that a large GPU runs at once
        uint32_t tilesPerLaneGroup; // at most
    } floatDecode;

    struct FseTables {
        uint32_t laneGroups; // the number that fills a large GPU; more tables share them
    } fseTables;

    Df11Tuning df11;
};

VulkanTuning tuningFor(const DeviceTraits& device);

// Changes members that the device cannot run to the nearest values that it can: workgroup sizes,
// the use of shared memory, and waiting where workgroups are not known to make progress.
void fitTuning(const DeviceTraits& device, VulkanTuning& row);

// A text with a value outside these ranges is refused. A text within them may be slow but never
// makes a result wrong, whatever device it was measured on.
inline constexpr uint32_t kMostTuningWorkgroups = 1u << 16;
// Rings are dispatched in one dimension, and one of their workgroups does nothing but scan.
inline constexpr uint32_t kMostRingWorkgroups = SLUICE_MAX_GRID;
inline constexpr TuningField kVulkanTuningFields[] = {
    SLUICE_TUNING_FIELD_ALSO(VulkanTuning, lookback.polls, 0, 1u << 22, SLUICE_LOOKBACK_NEVER),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.scan, 128, 1024),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.compact, 128, 1024),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.floatDecode, 32, 1024),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.gstdExpand, 128, 256),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.filter, 128, 256),
    SLUICE_TUNING_FIELD(VulkanTuning, workgroup.intervalShares, 1, 4),
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
    SLUICE_TUNING_FIELD(VulkanTuning, interval.expandBytes, 1 << 10, 64 << 10),
    SLUICE_TUNING_FIELD(VulkanTuning, interval.shareBytes, 1 << 10, 64 << 10),
    SLUICE_TUNING_FIELD(VulkanTuning, interval.smallBytes, 1 << 10, 16 << 10),
    SLUICE_TUNING_FIELD(VulkanTuning, interval.largeBytes, 16 << 10, 1 << 20),
    SLUICE_TUNING_FIELD(VulkanTuning, interval.tailBytes, 0, 1u << 30),
    SLUICE_TUNING_FIELD(VulkanTuning, interval.windowBytes, 1 << 10, 24 << 10),
    SLUICE_TUNING_FIELD(VulkanTuning, interval.shortRunBytes, 0, UINT32_MAX),
    SLUICE_TUNING_FIELD(VulkanTuning, interval.shortTailBytes, 0, 1u << 30),
    SLUICE_TUNING_FIELD(VulkanTuning, interval.shortWindowBytes, 1 << 10, 24 << 10),
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
};
static_assert(sizeof(kVulkanTuningFields) / sizeof(TuningField) * sizeof(uint32_t) ==
                  sizeof(VulkanTuning),
              "a field for each member");

inline constexpr const auto& tuningFields(const VulkanTuning&) { return kVulkanTuningFields; }

} // namespace sluice
