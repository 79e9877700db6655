// SPDX-License-Identifier: MIT OR Apache-2.0
// Every number that the Vulkan backend chooses by measurement, one row a device. tuningFor() fills
// it from what the device reports; plans, recorders and the registry only read it. `sluice tune`
// measures the candidates on a device at hand and prints its row, and a context takes a row as text
// (SluiceVulkanContextInfo::tuning).
//
// Where not said otherwise the figures behind a value were taken on an H200 with driver 580
// (docs/performance.md). "Tiles a processor" are per SM.
#pragma once

#include <cstdint>

#include "layout.h"
#include "vulkan/traits.h"

namespace sluice {

struct VulkanTuning {
    // Invocations of a workgroup, for kernels whose size is a choice.
    struct Workgroup {
        uint32_t scan;        // scans, reductions and df11: they gain by 512
        uint32_t compact;     // 320 leaves 64 registers an invocation; 512 was slower
        uint32_t ring;        // scan_ring and compact_ring: 256
        uint32_t floatDecode; // 1,024 keep more lanes busy than one of 512, of which only one fits
        uint32_t gstdExpand;  // 256: an SM runs four of them
        uint32_t gstdExpandFew;  // 512
        uint32_t filter;         // 256: an SM runs two of them
        uint32_t filterFew;      // 512
        uint32_t intervalShares; // lane groups of a workgroup of the interval kernels
    } workgroup;

    struct Lookback {
        // How often a workgroup looks at a tile that has published nothing before it computes that
        // tile itself: rarely where workgroups are not known to go on. 0 never waits, and
        // SLUICE_LOOKBACK_NEVER reads no state at all (tests).
        uint32_t polls;
        uint32_t scannerTiles; // from so many tiles on a workgroup of its own adds up the states
    } lookback;

    struct Scan {
        uint32_t workgroups;         // so many take one tile each before tiles are shared out
        uint32_t tilesPerWorkgroup;  // at most
        uint32_t reduceWorkgroups;   // at most
        uint32_t ringWorkgroups;     // that run at the same time, scanner included; 0: no ring
        uint32_t ringSharedRounds;   // rounds that a tile waits in shared memory
        uint32_t ringRegisterRounds; // rounds that a tile waits in registers
    } scan;

    struct Compact {
        uint32_t workgroups;        // at most
        uint32_t tilesPerWorkgroup; // at most, where a workgroup may be stopped for its length
        uint32_t serialTiles;       // of a dispatch where one workgroup does everything in place
        uint32_t pollsInPlace;      // looks at a missing tile that nobody else can compute
        uint32_t ringWorkgroups;    // as for scans; 0: neither compact_ring nor compact_call
        uint32_t ringTiles;         // tiles that wait in shared memory, 8 KB each
        uint32_t callTiles;         // up to so many tiles compact_call is faster
    } compact;

    struct Interval {
        // 1: pipelines for moves of short runs and for expansions of words. They need lane groups
        // that are subgroups.
        uint32_t specialized;
        uint32_t shortRunBytes;   // average length below which runs are short
        uint32_t expandBytes;     // of a share of an expansion
        uint32_t shareBytes;      // of a search's share
        uint32_t largeBytes;      // moves: the first shares are large ...
        uint32_t smallBytes;      // ... and the last ones small, so that all end at the same time
        uint32_t tailBytes;       // moves of short runs: in small shares
        uint32_t longTailBytes;   // the same for long runs, which want fewer small shares than CUDA
        uint32_t longWindowBytes; // of a round of long runs
    } interval;

    struct Gdeflate {
        // Up to how many tiles the first stage may get further ahead of the second: an SM has room
        // for that if it holds no more than ten tiles. 0: never.
        uint32_t fewTiles;
        // From how many tiles on more of them are at work with one subgroup each, 32 an SM. It
        // takes some four times that many, for the last ones take longer. 0: never.
        uint32_t manyTiles;
        uint32_t room; // SLUICE_CONSTANT_GDEFLATE_ROOM of the pipelines that are not `few`
    } gdeflate;

    struct Gstd {
        // Up to how many tiles their bytes are made 4,096 at a time by workgroups of 512. With 2
        // tiles an SM that takes up to a quarter less time, with 9 a third more.
        uint32_t fewTiles;
        uint32_t symbolsOnly; // 1: no bytes are made; the benchmark times the symbols by themselves
    } gstd;

    struct Filter {
        // Up to how many tiles they are undone by workgroups of 512. With 2 or 3 tiles an SM that
        // takes up to a third less time, with 9 a little more.
        uint32_t fewTiles;
        // From how many tiles on a workgroup that is done with a tile takes the next one. With 30
        // and more an SM that takes a seventh less time. It needs workgroups that run at the same
        // time: else the first would take them all. 0: never.
        uint32_t takeNextTiles;
    } filter;

    struct FloatDecode {
        uint32_t laneGroups;        // that a large GPU runs at once
        uint32_t tilesPerLaneGroup; // at most
    } floatDecode;

    struct FseTables {
        uint32_t laneGroups; // that fill a large GPU: then a lane group builds several tables
    } fseTables;

    struct Df11 {
        // Workgroups that run at once: the kernel takes 64 registers, so 1,024 invocations an SM.
        // 0 where that is not known.
        uint32_t workgroups;
    } df11;
};

VulkanTuning tuningFor(const DeviceTraits& device);

} // namespace sluice
