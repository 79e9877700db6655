// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the Gstd decode: for every so many tiles their symbols, then their bytes.
#include "api/gstd_params.h"
#include "api/region_params.h"
#include "vulkan/record.h"

namespace sluice {

SluiceRequirements VulkanBackend::gstdRequirements(const SluiceGstdInfo& info) const
{
    return gstdScratch(info);
}

SluiceStatus VulkanBackend::cmdGstd(SluiceCommands commands, const SluiceGstdInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    const SluiceChecksumInfo checksum = checksumOf(info);
    const Access status = access(info.status, true), destination = access(info.destination, true);
    const Access scratch = {address(info.scratch), gstdScratch(info).scratchSize, true};
    const auto addressOf = [this](const SluiceBuffer& buffer) { return address(buffer); };
    const uint32_t statusGroup = workgroupSize(Kernel::status);
    dispatch(cmd, Kernel::status, paramsOf(checksum), (info.maxRegionCount + 3 + statusGroup - 1) / statusGroup, {status});
    const GstdParams params = gstdParams(info, addressOf);
    forEachGstdWave(params, gstdSlots(info), [&](const GstdParams& wave) {
        computeBarrier(cmd);
        const uint32_t lanes = workgroupSize(Kernel::gstd_symbols);
        dispatch(cmd, Kernel::gstd_symbols, wave, (uint64_t(wave.tileCount) * SLUICE_GS_LANES * SLUICE_GS_LANE_GROUPS + lanes - 1) / lanes,
                 {access(info.regions, false), access(info.regionCount, false), access(info.source, false), destination,
                  scratch});
        if ((info.flags & kGstdSymbolsOnly) != 0) return;
        computeBarrier(cmd);
        dispatch(cmd, Kernel::gstd_expand, wave, wave.tileCount,
                 {access(info.regions, false), access(info.regionCount, false), access(info.source, false), destination,
                  status, scratch});
    });
    if (info.expected.size == 0 || info.maxRegionCount == 0) {
        return SLUICE_OK;
    }
    computeBarrier(cmd);
    return cmdChecksum(commands, checksum);
}

} // namespace sluice
