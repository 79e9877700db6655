// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the decode of whole tile streams, in five steps: check the streams, scan their numbers of
// tiles, write the regions, decode the regions, and set the streams' statuses.
#include <sluice/sluice_tile_streams.h>

#include "api/plan_tile_streams.h"
#include "vulkan/context.h"

namespace sluice {

SluiceRequirements VulkanBackend::tileStreamsRequirements(const SluiceTileStreamsInfo& info) const
{
    return tileStreamsPlan(*this, info).requirements;
}

SluiceStatus VulkanBackend::cmdTileStreams(SluiceCommands commands,
                                           const SluiceTileStreamsInfo& info)
{
    const Recording cmd = recordingOf(commands);
    const TileStreamsPlan plan = tileStreamsPlan(*this, info);
    const Access streams = reads(info.streams), streamCount = reads(plan.streamCount);
    const Access source = reads(info.source), tiles = reads(info.status);
    const Access results = writes(info.results), counts = writes(plan.counts);
    const Access regions = writes(plan.decode.regions);
    const Access zeroed = writes(plan.scan.scratch);
    TileStreamsParams params = tileStreamsParams(info, plan, addressOf());
    // If there are no streams, one workgroup writes the summary.
    const uint32_t workgroups = std::max(info.maxStreamCount, 1u);

    params.pass = SLUICE_STREAMS_CHECK;
    m_recorder.dispatch(cmd, Pipeline::tile_streams, params, workgroups,
                        {streams, streamCount, source, results, counts, zeroed});
    m_recorder.computeBarrier(cmd);
    cmdScan(commands, plan.scan);
    m_recorder.computeBarrier(cmd);
    params.pass = SLUICE_STREAMS_WRITE;
    m_recorder.dispatch(cmd, Pipeline::tile_streams, params, workgroups,
                        {streams, streamCount, source, results, counts, regions});
    m_recorder.computeBarrier(cmd);
    cmdGdeflate(commands, plan.decode);
    m_recorder.computeBarrier(cmd);
    params.pass = SLUICE_STREAMS_VERDICT;
    m_recorder.dispatch(cmd, Pipeline::tile_streams, params, workgroups,
                        {streamCount, results, tiles});
    return SLUICE_OK;
}

} // namespace sluice
