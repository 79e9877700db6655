// SPDX-License-Identifier: MIT OR Apache-2.0
// Says what a device and its enabled features allow. This is the input of the tuning table
// (tuning.h) and of the registry of pipelines (registry.h), which decide everything else.
#pragma once

#include <cstdint>

#include "vulkan/shader_code.h"

namespace sluice {

// Bytes of shared memory that float_tile.glsl and filter.comp with filter_columns.glsl need: per
// workgroup, and in addition per invocation.
constexpr uint32_t kFloatSharedBytes = 17808, kFloatSharedBytesEach = 16;
constexpr uint32_t kFilterSharedBytes = 16104, kFilterSharedBytesEach = 36;

struct DeviceTraits {
    ShaderVariant variant = ShaderVariant::base;
    uint32_t vendor = 0;         // VkPhysicalDeviceProperties::vendorID
    uint32_t subgroupSize = 0;   // of the hardware, or emulated
    uint32_t maxInvocations = 0; // per workgroup: safeInvocations (tiers.h)
    uint32_t maxSubgroups = 0;   // of a workgroup
    uint32_t sharedBytes = 0;    // of a workgroup
    // The number of SMs, compute units or cores; 0 if the driver does not report it.
    uint32_t processors = 0;
    // Workgroups that have started are known to make progress, whatever others do (tiers.h).
    bool forwardProgress = false;
    // The lanes of a subgroup see each other's plain stores to memory, and after a barrier so do
    // the lanes of a workgroup. NVIDIA's hardware does this, and CUDA promises it. Vulkan does not
    // promise it, but with coherent accesses, which bypass the first-level cache, the GDeflate
    // decoder was 1.2 times slower (driver 580).
    bool plainStoresVisible = false;
    // The workgroups of a processor share about 100 KB of shared memory instead of 48 KB. NVIDIA's
    // queues without graphics allow this (docs/portability.md).
    bool ampleSharedMemory = false;
    // The driver has a GDeflate decoder (driver_decoder.h).
    bool driverDecodes = false;

    bool isEmulated() const { return variant == ShaderVariant::emu; }
    // Returns whether a lane group of 32 is one hardware subgroup.
    bool hasNativeLaneGroups() const { return !isEmulated() && subgroupSize == 32; }
    // Returns a size for kernels that gain from large workgroups: `most`, halved until the device
    // allows it. Subgroups of fewer than 32 lanes gain nothing from them.
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

    // Returns the number of tiles that a workgroup decodes if it consists of one subgroup, or of
    // one lane group.
    uint32_t tilesPerWorkgroup() const { return subgroupSize <= 32 ? 1 : subgroupSize / 32; }

    // The functions below return whether the device can run certain pipelines.

    // gdeflate.comp with two lane groups per tile.
    bool runsPairedTiles() const
    {
        return !isEmulated() && subgroupSize >= 32 && subgroupSize <= 64;
    }
    // Rings: in their look-back, one subgroup reads the sums of all subgroups of the workgroup.
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

    // Invocations per workgroup. With 256 an SM runs four workgroups, and scans reach 0.96 of the
    // speed of a copy. With 512 they reach 0.90.
    static constexpr uint32_t kRingWorkgroup = 256;
    // Invocations per workgroup of filter_few and gstd_expand_few (gstd.fewTiles and
    // filter.fewTiles of tuning.h).
    static constexpr uint32_t kFewWorkgroup = 512;
};

} // namespace sluice
