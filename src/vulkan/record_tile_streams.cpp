// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the decode of whole tile streams: check, scan, write the regions, decode them, verdict.
#include <sluice/sluice_tile_streams.h>

#include "api/plan_tile_streams.h"
#include "vulkan/record.h"

namespace sluice {

SluiceRequirements VulkanBackend::tileStreamsRequirements(const SluiceTileStreamsInfo& info) const
{
    return tileStreamsPlan(*this, info).requirements;
}

SluiceStatus VulkanBackend::cmdTileStreams(SluiceCommands commands,
                                           const SluiceTileStreamsInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    const TileStreamsPlan plan = tileStreamsPlan(*this, info);
    const Access streams = access(info.streams, false),
                 streamCount = access(info.streamCount, false);
    const Access source = access(info.source, false), tiles = access(info.status, false);
    const Access results = access(info.results, true), counts = access(plan.counts, true);
    const Access regions = access(plan.decode.regions, true);
    const Access zeroed = access(plan.scan.scratch, true);
    TileStreamsParams params = tileStreamsParams(info, plan, addressOf());
    // one for the summary of no streams
    const uint32_t workgroups = std::max(info.maxStreamCount, 1u);

    params.pass = SLUICE_STREAMS_CHECK;
    dispatch(cmd, Pipeline::tile_streams, params, workgroups,
             {streams, streamCount, source, results, counts, zeroed});
    computeBarrier(cmd);
    cmdScan(commands, plan.scan);
    computeBarrier(cmd);
    params.pass = SLUICE_STREAMS_WRITE;
    dispatch(cmd, Pipeline::tile_streams, params, workgroups,
             {streams, streamCount, source, results, counts, regions});
    computeBarrier(cmd);
    cmdGdeflate(commands, plan.decode);
    computeBarrier(cmd);
    params.pass = SLUICE_STREAMS_VERDICT;
    dispatch(cmd, Pipeline::tile_streams, params, workgroups, {streamCount, results, tiles});
    return SLUICE_OK;
}

} // namespace sluice
