// SPDX-License-Identifier: MIT OR Apache-2.0
// The properties of a device and of its enabled features on which the backend depends. From these
// the tuning table (tuning.h) and the registry of pipelines (registry.h) decide everything else.
#pragma once

#include <cstdint>

#include "vulkan/shader_code.h"

namespace sluice {

// Bytes of shared memory that float_tile.glsl, and filter.comp with filter_columns.glsl, need: for
// a workgroup, and in addition for each of its invocations.
constexpr uint32_t kFloatSharedBytes = 17808, kFloatSharedBytesEach = 16;
constexpr uint32_t kFilterSharedBytes = 16104, kFilterSharedBytesEach = 36;

struct DeviceTraits {
    ShaderVariant variant = ShaderVariant::base;
    uint32_t vendor = 0;         // VkPhysicalDeviceProperties::vendorID
    uint32_t subgroupSize = 0;   // of hardware subgroups or emulated ones
    uint32_t maxInvocations = 0; // in a workgroup: safeInvocations (tiers.h)
    uint32_t maxSubgroups = 0;   // of a workgroup
    uint32_t sharedBytes = 0;    // of a workgroup
    // The number of SMs, compute units or cores; 0 if the driver does not report it.
    uint32_t processors = 0;
    // A workgroup that has started is known to go on making progress, whatever others do (tiers.h).
    bool forwardProgress = false;
    // The lanes of a subgroup see each other's plain stores to memory, and behind a barrier so do
    // the lanes of a workgroup. NVIDIA's hardware does this, and CUDA promises it. Vulkan does not
    // promise it; but with coherent accesses, which bypass the first-level cache, the GDeflate
    // decoder took 1.2 times as long (driver 580).
    bool plainStoresVisible = false;
    // The workgroups of a processor share about 100 KB of shared memory instead of 48 KB. They do
    // on NVIDIA's queues without graphics (docs/portability.md).
    bool ampleSharedMemory = false;
    // The driver has a GDeflate decoder (driver_decoder.h).
    bool driverDecodes = false;

    bool isEmulated() const { return variant == ShaderVariant::emu; }
    // Returns whether a lane group of 32 lanes is one hardware subgroup.
    bool hasNativeLaneGroups() const { return !isEmulated() && subgroupSize == 32; }
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

    // Returns how many tiles a workgroup decodes if it is one subgroup or one lane group, or a pair
    // of either.
    uint32_t tilesPerWorkgroup() const { return subgroupSize <= 32 ? 1 : subgroupSize / 32; }

    // Returns how many teams a workgroup of zstd_sequences has: one, but the lane groups of a wide
    // subgroup are a team each.
    uint32_t zstdTeamsPerWorkgroup() const { return isEmulated() ? 1 : tilesPerWorkgroup(); }

    // Each of the functions below returns whether the device can run certain pipelines.

    // The pipelines of gdeflate.comp with two lane groups per tile.
    bool runsPairedTiles() const
    {
        return !isEmulated() && subgroupSize >= 32 && subgroupSize <= 64;
    }
    // The pipelines of rings, in whose look-back one subgroup reads the sums of all subgroups of
    // the workgroup, one in each lane.
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

    // Invocations of a workgroup of rings. With 256, an SM runs four workgroups, and scans reach
    // 0.96 of the speed of a copy; with 512 they reach 0.90.
    static constexpr uint32_t kRingWorkgroup = 256;
    // Invocations of a workgroup of filter_few and gstd_expand_few (filter.fewTiles and
    // gstd.fewTiles in tuning.h).
    static constexpr uint32_t kFewWorkgroup = 512;
};

} // namespace sluice
