// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the undoing of filters.
#include <sluice/sluice_filter.h>

#include "api/plan_filter.h"
#include "vulkan/record.h"

namespace sluice {

SluiceRequirements VulkanBackend::filterRequirements(const SluiceFilterInfo& info) const
{
    return filterScratch(info);
}

SluiceStatus VulkanBackend::cmdFilter(SluiceCommands commands, const SluiceFilterInfo& info)
{
    if (info.maxTileCount == 0) return SLUICE_OK;
    FilterParams params = filterParams(info, addressOf());
    const VkCommandBuffer cmd = commandBuffer(commands);
    if (m_tuning.filter.takeNextTiles != 0 &&
        params.maxTileCount >= m_tuning.filter.takeNextTiles) {
        // The count of tiles taken is 0 at first, as that of failed ones behind a list of none is.
        params.tickets = 1;
        RegionParams ticket{};
        ticket.status =
            pair(fromPair(params.scratch) + uint64_t(params.workgroups) * params.scratchBytes);
        dispatch(cmd, Pipeline::status, ticket, 1, {access(info.scratch, true)});
        computeBarrier(cmd);
    }
    dispatch(cmd,
             has(Pipeline::filter_few) && info.maxTileCount <= m_tuning.filter.fewTiles
                 ? Pipeline::filter_few
                 : Pipeline::filter,
             params, params.workgroups,
             {access(info.tiles, false), access(info.tileCount, false),
              access(info.descriptions, false), access(info.source, false),
              access(info.destination, true), access(info.status, true),
              access(info.scratch, true)});
    return SLUICE_OK;
}

} // namespace sluice
