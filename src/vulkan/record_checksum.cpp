// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the comparison of the checksums of a list of regions.
#include "api/plan_regions.h"
#include "vulkan/context.h"

namespace sluice {

SluiceStatus VulkanBackend::cmdChecksum(SluiceCommands commands, const SluiceChecksumInfo& info)
{
    if (info.maxRegionCount == 0) {
        return SLUICE_OK;
    }
    const uint32_t tiles = m_machine.traits.tilesPerWorkgroup();
    m_recorder.dispatch(recordingOf(commands), Pipeline::checksum, regionParams(info, addressOf()),
                        (info.maxRegionCount + tiles - 1) / tiles,
                        {reads(info.regions), reads(info.regionCount), reads(info.destination),
                         reads(info.expected), writes(info.status)});
    return SLUICE_OK;
}

} // namespace sluice
