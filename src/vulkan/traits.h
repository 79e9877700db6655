// SPDX-License-Identifier: MIT OR Apache-2.0
// Says what a device and its enabled features allow. This is the input of the tuning table
// (tuning.h) and of the registry of pipelines (registry.h), which decide everything else.
#pragma once

#include <cstdint>

#include "vulkan/shader_code.h"

namespace sluice {

// Shared memory that a workgroup takes, and in addition each of its invocations, in float_tile.glsl
// and in filter.comp with filter_columns.glsl.
constexpr uint32_t kFloatSharedBytes = 17808, kFloatSharedBytesEach = 16;
constexpr uint32_t kFilterSharedBytes = 16104, kFilterSharedBytesEach = 36;

struct DeviceTraits {
    ShaderVariant variant = ShaderVariant::base;
    uint32_t vendor = 0;         // VkPhysicalDeviceProperties::vendorID
    uint32_t subgroupSize = 0;   // the hardware's, or the emulated size
    uint32_t maxInvocations = 0; // the limit of a workgroup: safeInvocations (tiers.h)
    uint32_t maxSubgroups = 0;   // of a workgroup
    uint32_t sharedBytes = 0;    // of a workgroup
    // SMs, compute units or cores; 0 where the driver does not say.
    uint32_t processors = 0;
    // A workgroup that has started is known to go on, whatever others do (tiers.h).
    bool forwardProgress = false;
    // The lanes of a subgroup, and behind a barrier those of a workgroup, see each other's plain
    // stores to memory. NVIDIA's hardware does this and CUDA promises it. Vulkan does not promise
    // it, but with coherent accesses, which bypass the first cache, the GDeflate decoder was 1.2
    // times slower (driver 580).
    bool plainStoresVisible = false;
    // The workgroups of a processor share some 100 KB of shared memory and not 48, as on NVIDIA's
    // queues without graphics (docs/portability.md).
    bool ampleSharedMemory = false;
    // The driver decodes GDeflate too (driver_decoder.h).
    bool driverDecodes = false;

    bool isEmulated() const { return variant == ShaderVariant::emu; }
    // Returns whether a lane group of 32 is one hardware subgroup.
    bool hasNativeLaneGroups() const { return !isEmulated() && subgroupSize == 32; }
    // Returns `most`, halved until the device allows it, for kernels that gain by large workgroups.
    // Subgroups of fewer than 32 lanes gain nothing by them.
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

    // Tiles that a workgroup of one subgroup, or of one lane group, decodes.
    uint32_t tilesPerWorkgroup() const { return subgroupSize <= 32 ? 1 : subgroupSize / 32; }

    // Requirements of pipelines that not every device can run.

    // For gdeflate.comp with two lane groups a tile.
    bool runsPairedTiles() const
    {
        return !isEmulated() && subgroupSize >= 32 && subgroupSize <= 64;
    }
    // The rings' look-back reads the sums of all subgroups of a workgroup with one subgroup.
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

    // Invocations: four workgroups an SM, by which scans reach 0.96 of the copy, by 512 0.90.
    static constexpr uint32_t kRingWorkgroup = 256;
    // Those of filter_few and gstd_expand_few (gstd.fewTiles and filter.fewTiles of tuning.h).
    static constexpr uint32_t kFewWorkgroup = 512;
};

} // namespace sluice
