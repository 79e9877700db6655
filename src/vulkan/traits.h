// SPDX-License-Identifier: MIT OR Apache-2.0
// The properties of a device and of its enabled features on which the backend depends. From these
// the tuning table (tuning.h) and the registry of pipelines (registry.h) decide everything else.
#pragma once

#include <cstdint>

#include "vulkan/shader_code.h"

namespace sluice {

// Shared memory, in bytes, of float_tile.glsl, and of filter.comp with filter_columns.glsl: a fixed
// amount for a workgroup, and an additional amount (...Each) for each of its invocations.
constexpr uint32_t kFloatSharedBytes = 17808, kFloatSharedBytesEach = 16;
constexpr uint32_t kFilterSharedBytes = 16104, kFilterSharedBytesEach = 36;

struct DeviceTraits {
    ShaderVariant variant = ShaderVariant::base;
    uint32_t vendor = 0;         // VkPhysicalDeviceProperties::vendorID
    uint32_t subgroupSize = 0;   // of hardware subgroups or emulated ones
    uint32_t maxInvocations = 0; // in a workgroup: safeInvocations (tiers.h)
    uint32_t maxSubgroups = 0;   // in a workgroup; 0: not known
    uint32_t sharedBytes = 0;    // shared memory of a workgroup
    // The number of SMs, compute units or cores; 0 if the driver does not report it.
    uint32_t processors = 0;
    // A workgroup that has started is known to go on making progress, whatever others do (tiers.h).
    bool forwardProgress = false;
    // The lanes of a subgroup see each other's plain stores to memory, and after a barrier all
    // lanes of a workgroup do. So accesses need not be coherent: coherent ones bypass the
    // first-level cache, and with them the GDeflate decoder took 1.2 times as long (driver 580).
    // NVIDIA's hardware does this, and CUDA promises it, but Vulkan does not.
    bool plainStoresVisible = false;
    // The workgroups of a processor share about 100 KB of shared memory instead of 48 KB. They do
    // on NVIDIA's queues without graphics (docs/portability.md).
    bool ampleSharedMemory = false;
    // The driver has a GDeflate decoder (driver_decoder.h).
    bool driverDecodes = false;

    bool isEmulated() const { return variant == ShaderVariant::emu; }
    // Returns whether a lane group of 32 lanes is one hardware subgroup.
    bool hasNativeLaneGroups() const { return !isEmulated() && subgroupSize == 32; }
    // Returns whether workgroups of uastc.comp sort their blocks by mode, so that the lanes of a
    // subgroup run the same code (SLUICE_UASTC_SORTS there).
    bool sortsUastc() const { return !isEmulated() && subgroupSize >= 32; }
    // Returns a size for kernels that gain from large workgroups: `most`, halved until the device
    // allows it. Returns 128 for emulated subgroups and those of fewer than 32 lanes, with which
    // larger workgroups gain nothing.
    uint32_t largestWorkgroup(uint32_t most) const
    {
        const uint32_t subgroups = maxSubgroups != 0 ? maxSubgroups : 128 / subgroupSize;
        uint32_t size = isEmulated() || subgroupSize < 32 ? 128 : most;
        while (size > 128 && (size > maxInvocations || size / subgroupSize > subgroups))
            size /= 2;
        return size;
    }
    bool takesWorkgroup(uint32_t size) const
    {
        return size <= maxInvocations &&
               (isEmulated() || maxSubgroups == 0 || size / subgroupSize <= maxSubgroups);
    }

    // Returns how many tiles a workgroup decodes. If a tile has two lane groups (runsPairedTiles),
    // a workgroup is two subgroups, and every two of its lane groups decode a tile together.
    // Otherwise a workgroup is one subgroup, or one lane group where subgroups are narrower, and
    // each of its lane groups decodes a tile.
    uint32_t tilesPerWorkgroup() const { return subgroupSize <= 32 ? 1 : subgroupSize / 32; }

    // Returns how many teams a workgroup of zstd_sequences has; the lane groups of a team decode
    // blocks together. The whole workgroup is one team, but with subgroups of more than 32 lanes
    // each lane group is a team.
    uint32_t zstdTeamsPerWorkgroup() const { return isEmulated() ? 1 : tilesPerWorkgroup(); }

    // Returns whether the device can run gdeflate.comp with two lane groups per tile.
    bool runsPairedTiles() const
    {
        return !isEmulated() && subgroupSize >= 32 && subgroupSize <= 64;
    }
    // Returns whether the device can run the ring kernels. In their look-back one subgroup reads
    // the sums of all subgroups of its workgroup, one per lane, so there must not be more subgroups
    // than lanes.
    bool runsRings() const
    {
        return !isEmulated() && subgroupSize <= 32 && takesWorkgroup(kRingWorkgroup) &&
               kRingWorkgroup / subgroupSize <= subgroupSize;
    }
    bool runsLargeFloatDecode() const
    {
        return hasNativeLaneGroups() &&
               sharedBytes >= kFloatSharedBytes + 1024 * kFloatSharedBytesEach;
    }
    bool runsFilterFew() const
    {
        return !isEmulated() && takesWorkgroup(kFewWorkgroup) &&
               sharedBytes >= kFilterSharedBytes + kFewWorkgroup * kFilterSharedBytesEach;
    }
    bool runsGstdExpandFew() const { return !isEmulated() && takesWorkgroup(kFewWorkgroup); }

    // Invocations of a workgroup of the ring kernels. With 256, an SM runs four workgroups, and
    // scans reach 0.96 of the speed of a copy; with 512 they reach 0.90.
    static constexpr uint32_t kRingWorkgroup = 256;
    // Invocations of a workgroup of filter_few and gstd_expand_few (filter.fewTiles and
    // gstd.fewTiles in tuning.h).
    static constexpr uint32_t kFewWorkgroup = 512;
};

} // namespace sluice
