// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/tuning.h"

#include <algorithm>

namespace sluice {

VulkanTuning tuningFor(const DeviceTraits& device)
{
    VulkanTuning row = {};
    const bool native = device.hasNativeLaneGroups();
    const uint32_t large = device.largestWorkgroup(512);
    const uint32_t processors = device.processors;
    // Measured on devices whose lane groups are subgroups and which tell their processors alone.
    const bool few = native && large == 512 && device.runsFilterFew();
    const bool ring = native && device.runsRings() && device.forwardProgress && processors != 0;
    const bool many = native && device.ampleSharedMemory;

    row.workgroup.scan = large;
    row.workgroup.compact = large == 512 ? 320 / device.subgroupSize * device.subgroupSize : large;
    row.workgroup.ring = DeviceTraits::kRingWorkgroup;
    row.workgroup.floatDecode =
        device.runsLargeFloatDecode() ? device.largestWorkgroup(1024) : large;
    row.workgroup.gstdExpand = row.workgroup.filter = std::min(large, 256u);
    row.workgroup.gstdExpandFew = row.workgroup.filterFew = 512;
    row.workgroup.intervalShares = device.isEmulated() || device.subgroupSize < 32
                                       ? std::max(1u, device.subgroupSize / 32)
                                       : SLUICE_INTERVAL_SHARES;

    row.lookback = {device.forwardProgress ? 4096u : 64u, 64};
    row.scan = {256, 128, 4096, ring ? 3 * processors : 0, 1, 1};
    row.compact = {512, 128, 2048, 1u << 22, 0, device.ampleSharedMemory ? 3u : 2u, 64};
    if (ring) row.compact.ringWorkgroups = (device.ampleSharedMemory ? 4 : 2) * processors;

    row.interval.tailBytes = 64 << 20;
    row.interval.windowBytes = 24 << 10;
    row.interval.shortRunBytes = native ? 160 : 0;
    row.intervalSpecialized = native ? 1 : 0;

    row.gdeflate.fewTiles = many ? 8 * processors : 0;
    row.gdeflate.manyTiles = many ? 128 * processors : 0;
    row.gdeflate.room = device.ampleSharedMemory ? 1 : 0;
    row.gstd.fewTiles = few ? 3 * processors : 0;
    row.filter.fewTiles = few ? 4 * processors : 0;
    row.filter.takeNextTiles = device.forwardProgress ? 24 * processors : 0;
    row.floatDecode = {4096, 8};
    row.fseTables.laneGroups = 4096;
    // The kernel takes 64 registers, so that a processor runs 1,024 invocations.
    row.df11.workgroups = processors * 1024 / row.workgroup.scan;
    return row;
}

} // namespace sluice
