// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the decode of whole tile streams in five steps: check the streams, scan their numbers of
// tiles, write the regions, decode the regions, and set the streams' statuses.
#include <sluice/sluice_tile_streams.h>

#include "api/plan_tile_streams.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceRequirements CudaBackend::tileStreamsRequirements(const SluiceTileStreamsInfo& info) const
{
    return tileStreamsPlan(*this, info).requirements;
}

SluiceStatus CudaBackend::cmdTileStreams(SluiceCommands commands, const SluiceTileStreamsInfo& info)
{
    const TileStreamsPlan plan = tileStreamsPlan(*this, info);
    TileStreamsParams params = tileStreamsParams(info, plan, addressOf);
    const auto pass = [&](uint32_t which) {
        params.pass = which;
        return statusFrom(launchTileStreams(streamFrom(commands), params));
    };
    SluiceStatus status = pass(SLUICE_STREAMS_CHECK);
    if (status == SLUICE_OK) status = cmdScan(commands, plan.scan);
    if (status == SLUICE_OK) status = pass(SLUICE_STREAMS_WRITE);
    if (status == SLUICE_OK) status = cmdGdeflate(commands, plan.decode);
    return status == SLUICE_OK ? pass(SLUICE_STREAMS_VERDICT) : status;
}

} // namespace sluice
