// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the undoing of filters.
#include <algorithm>

#include <sluice/sluice_filter.h>

#include "api/plan_filter.h"
#include "vulkan/context.h"
#include "vulkan/registry.h"

namespace sluice {

constexpr uint32_t kSmallestSubgroup = 4; // lanes of the smallest supported subgroup

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
        // Clear the counter in scratch from which workgroups take tile numbers. The status kernel
        // can do that: given no tiles, it only writes a summary, which begins with the number of
        // failed tiles, 0.
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
    // Some drivers leave loops early, and then a workgroup ends as soon as the first of its
    // subgroups does (docs/portability.md). That subgroup sets the tiles that the workgroup has not
    // reached to INTERNAL, one tile per lane (refuseTiles in filter.comp). So one dispatch must not
    // give a workgroup more tiles than the smallest subgroup has lanes. These drivers have
    // subgroups of fewer than 32 lanes or emulated ones, and their workgroups do not take tile
    // numbers from the counter.
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
