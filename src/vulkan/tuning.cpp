// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/tuning.h"

#include <algorithm>

#include "layout/compact.h"

namespace sluice {

namespace {

// Returns how many blocks a team of zstd_sequences can decode at once, at most `most`. Each takes
// shared memory for its chain of FSE steps. lanes: invocations of a workgroup.
uint32_t zstdChains(const DeviceTraits& device, uint32_t lanes, uint32_t most)
{
    // Emulated subgroups take up to 32 bytes of shared memory per invocation.
    const uint32_t groups = lanes / 32, other = 32 * lanes + groups * SLUICE_ZS_TABLE_BYTES,
                   teams = device.zstdTeamsPerWorkgroup();
    while (most > 1 && most * teams * SLUICE_ZS_CHAIN_BYTES + other > device.sharedBytes)
        --most;
    return most;
}

} // namespace

VulkanTuning tuningFor(const DeviceTraits& device)
{
    VulkanTuning row = {};
    const bool native = device.hasNativeLaneGroups();
    const uint32_t large = device.largestWorkgroup(512);
    const uint32_t processors = device.processors;
    // The variants for few tiles, for many, and with rings were only measured on devices whose lane
    // groups are subgroups and that report their number of processors, so they are used only there.
    const bool few = native && large == 512 && device.runsFilterFew();
    const bool ring = native && device.runsRings() && device.forwardProgress && processors != 0;
    const bool many = native && device.ampleSharedMemory;

    row.workgroup.scan = large;
    row.workgroup.compact = large == 512 ? 320 / device.subgroupSize * device.subgroupSize : large;
    row.workgroup.floatDecode =
        device.runsLargeFloatDecode() ? device.largestWorkgroup(1024) : large;
    row.workgroup.gstdExpand = row.workgroup.filter = row.workgroup.zstdExpand =
        std::min(large, 256u);
    row.workgroup.intervalShares = device.isEmulated() || device.subgroupSize < 32
                                       ? std::max(1u, device.subgroupSize / 32)
                                       : SLUICE_INTERVAL_SHARES;

    row.lookback = {device.forwardProgress ? 4096u : 64u, 64};
    row.scan = {256, 128, 4096, ring ? 3 * processors : 0};
    row.compact = {512, 128, 2048, 1u << 22, 0, device.ampleSharedMemory ? 3u : 2u, 64};
    if (ring) row.compact.ringWorkgroups = (device.ampleSharedMemory ? 4 : 2) * processors;

    row.interval.tailBytes = 64 << 20;
    row.interval.windowBytes = 24 << 10;
    row.interval.shortRunBytes = native ? 160 : 0;
    row.intervalSpecialized = native ? 1 : 0;

    row.gdeflate.fewTiles = many ? 8 * processors : 0;
    row.gdeflate.manyTiles = many ? 128 * processors : 0;
    row.gdeflate.room = device.ampleSharedMemory ? 1 : 0;
    row.gdeflate.pitchApart = device.runsPairedTiles() ? 1 : 0;
    row.gstd.fewTiles = few ? 3 * processors : 0;
    row.filter.fewTiles = few ? 4 * processors : 0;
    row.filter.takeNextTiles = device.forwardProgress ? 24 * processors : 0;
    row.floatDecode = {4096, 8};
    row.fseTables.laneGroups = 4096;
    // df11 takes 64 registers per invocation, so a processor runs 1,024 invocations at a time.
    row.df11.workgroups = processors * 1024 / row.workgroup.scan;
    // Large GPUs need turns of many regions to be busy, and have the memory for their scratch.
    row.zstd = {1 << 20, processors >= 32 ? 1024u : 128u, std::max(9 * processors, 16u),
                kZstdSteps};
    row.workgroup.zstdSequences = native ? 128 : std::max(32u, device.subgroupSize);
    row.zstdChains = zstdChains(device, row.workgroup.zstdSequences, 3);
    return row;
}

void fitTuning(const DeviceTraits& device, VulkanTuning& row)
{
    // Workgroup sizes are rounded down to whole subgroups, but not below a lane group.
    const uint32_t lanes = std::max(32u, device.subgroupSize);
    // Returns the largest workgroup size up to `size` that the device takes and whose shared
    // memory, bytes + bytesEach * size, fits. Emulated subgroups need more arrays, so they get at
    // most 128 invocations.
    const auto fit = [&](uint32_t size, uint32_t bytes, uint32_t bytesEach) {
        size = device.isEmulated() ? std::min(size, 128u) : size;
        for (size -= size % lanes; size > lanes; size -= lanes) {
            if (device.takesWorkgroup(size) && bytes + bytesEach * size <= device.sharedBytes)
                break;
        }
        return std::max(size, lanes);
    };
    const auto powerOfTwo = [](uint32_t size) {
        while ((size & (size - 1)) != 0)
            size &= size - 1;
        return size;
    };
    VulkanTuning::Workgroup& sizes = row.workgroup;
    sizes.scan = fit(sizes.scan, 1024, 0);
    sizes.compact = fit(sizes.compact, 1024, SLUICE_COMPACT_BYTES_PER_INVOCATION);
    sizes.floatDecode = fit(sizes.floatDecode, kFloatSharedBytes, kFloatSharedBytesEach);
    sizes.gstdExpand = powerOfTwo(fit(sizes.gstdExpand, 64, 50));
    sizes.zstdExpand = fit(sizes.zstdExpand, 256, 78);
    sizes.filter = powerOfTwo(fit(sizes.filter, kFilterSharedBytes, kFilterSharedBytesEach));
    sizes.zstdSequences =
        device.hasNativeLaneGroups()
            ? fit(sizes.zstdSequences, SLUICE_ZS_CHAIN_BYTES, SLUICE_ZS_TABLE_BYTES / 32)
            : lanes;
    row.zstdChains = zstdChains(device, sizes.zstdSequences, row.zstdChains);
    // intervalShares is the number of lane groups in a workgroup. A lane group that consists of
    // several subgroups, or is emulated, has a workgroup to itself. The lane groups of one wide
    // subgroup (`together` of them) share a workgroup.
    const uint32_t together = std::max(1u, device.subgroupSize / 32);
    sizes.intervalShares = device.isEmulated() || device.subgroupSize < 32
                               ? together
                               : std::max(sizes.intervalShares / together * together, together);

    const uint32_t ringTileBytes = DeviceTraits::kRingWorkgroup * 4 * SLUICE_COMPACT_RING_ROWS * 4;
    while (row.compact.ringTiles > 2 &&
           row.compact.ringTiles * ringTileBytes + 1024 > device.sharedBytes)
        --row.compact.ringTiles;

    // Each poll is an iteration of a loop, and lavapipe of Mesa 22.3 allows a subgroup only 65,535
    // iterations in all. So drivers without a promise of progress get few polls.
    if (!device.forwardProgress && row.lookback.polls != SLUICE_LOOKBACK_NEVER)
        row.lookback.polls = std::min(row.lookback.polls, 256u);
}

} // namespace sluice
