// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the undoing of filters.
#include <algorithm>

#include <sluice/sluice_filter.h>

#include "api/plan_filter.h"
#include "vulkan/context.h"
#include "vulkan/registry.h"

namespace sluice {

constexpr uint32_t kSmallestSubgroup = 4; // lanes of the smallest subgroup that the library takes

SluiceRequirements VulkanBackend::filterRequirements(const SluiceFilterInfo& info) const
{
    return filterScratch(info);
}

SluiceStatus VulkanBackend::cmdFilter(SluiceCommands commands, const SluiceFilterInfo& info)
{
    if (info.maxTileCount == 0) return SLUICE_OK;
    FilterParams params = filterParams(info, addressOf());
    const Recording cmd = recordingOf(commands);
    if (m_machine.tuning.filter.takeNextTiles != 0 &&
        params.maxTileCount >= m_machine.tuning.filter.takeNextTiles) {
        // The counter of taken tiles must be 0. The status kernel sets it: for a list without tiles
        // it writes only the summary, which begins with the number of failed tiles, 0.
        params.tickets = 1;
        RegionParams ticket{};
        ticket.status =
            pair(fromPair(params.scratch) + uint64_t(params.workgroups) * params.scratchBytes);
        m_recorder.dispatch(cmd, Pipeline::status, ticket, 1, {writes(info.scratch)});
        m_recorder.computeBarrier(cmd);
    }
    const Pipeline pipeline = m_pipelines.has(Pipeline::filter_few) &&
                                      info.maxTileCount <= m_machine.tuning.filter.fewTiles
                                  ? Pipeline::filter_few
                                  : Pipeline::filter;
    // With a driver that leaves loops early (docs/portability.md), a workgroup ends with the first
    // of its subgroups that ends. That subgroup refuses the tiles that the workgroup has not
    // reached, one per lane (refuseTiles in filter.comp). So in one dispatch a workgroup takes no
    // more tiles than the smallest subgroup has lanes; it takes one tile in each turn. Such drivers
    // have subgroups of fewer than 32 lanes or emulated ones, and do not use tickets.
    const bool leavesLoops = m_machine.traits.isEmulated() || m_machine.traits.subgroupSize < 32;
    const uint32_t turns = leavesLoops
                               ? kSmallestSubgroup
                               : pipelineRow(pipeline).workgroup(m_machine.traits, tuning());
    const uint32_t step = params.tickets != 0 ? info.maxTileCount : params.workgroups * turns;
    for (uint32_t first = 0; first < info.maxTileCount; first += step) {
        // A barrier stands between the dispatches, because they use the same scratch.
        if (first != 0) m_recorder.computeBarrier(cmd);
        params.firstTile = first;
        params.maxTileCount = first + std::min(step, info.maxTileCount - first);
        m_recorder.dispatch(cmd, pipeline, params, params.workgroups,
                            {reads(info.tiles), reads(info.tileCount), reads(info.descriptions),
                             reads(info.source), writes(info.destination), writes(info.status),
                             writes(info.scratch)});
    }
    return SLUICE_OK;
}

} // namespace sluice
