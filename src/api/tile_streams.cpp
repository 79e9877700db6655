// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points for whole tile streams: check the arguments, then hand over to the backend.
#include <sluice/sluice_tile_streams.h>

#include "api/plan_tile_streams.h"
#include "api/region_checks.h"

using namespace sluice;

namespace {

constexpr uint32_t kMaxStreamCount = 1u << 16;

void checkTileStreams(CallChecker& check, const SluiceTileStreamsInfo& info)
{
    check.atMost(SLUICE_NAMED(info.maxStreamCount), kMaxStreamCount);
    checkDecode(check, SLUICE_NAMED(info.flags),
                uint32_t(SLUICE_DECODE_BY_DRIVER) | SLUICE_TILE_STREAMS_PAIRS,
                SLUICE_NAMED(info.maxTileCount));
}

} // namespace

SluiceStatus sluiceGetTileStreamsRequirements(SluiceContext context,
                                              const SluiceTileStreamsInfo* info,
                                              SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkTileStreams(check, *info);
    if (check.isOk()) *requirements = context->backend->tileStreamsRequirements(*info);
    return check.status();
}

SluiceStatus sluiceCmdTileStreams(SluiceContext context, SluiceCommands commands,
                                  const SluiceTileStreamsInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.command(commands,
                  SLUICE_KERNELS_TILE_STREAMS |
                      (info->rowBytes == 0 ? 0u : uint32_t(SLUICE_KERNELS_GDEFLATE_ROWS)));
    checkDriverRows(check, info->flags, SLUICE_NAMED(info->rowBytes));
    checkTileStreams(check, *info);
    if (hasPairs(*info)) {
        check.buffer(SLUICE_NAMED(info->streams), 4 + info->maxStreamCount * kStreamPairBytes, 4);
        check.require(SLUICE_NAMED(info->streamCount), info->streamCount.size == 0,
                      "is empty with PAIRS");
    } else {
        check.buffer(SLUICE_NAMED(info->streams),
                     uint64_t(info->maxStreamCount) * sizeof(SluiceStreamRange), 8);
        check.optionalBuffer(SLUICE_NAMED(info->streamCount), 4, 4);
    }
    check.buffer(SLUICE_NAMED(info->source), 0, 4);
    check.buffer(SLUICE_NAMED(info->destination), 0, 4);
    checkDestination(check, *info);
    check.optionalBuffer(SLUICE_NAMED(info->expected), uint64_t(info->maxTileCount) * 4, 4);
    check.buffer(SLUICE_NAMED(info->results),
                 uint64_t(info->maxStreamCount) * sizeof(SluiceStreamResult) +
                     sizeof(SluiceStreamSummary),
                 4);
    check.buffer(SLUICE_NAMED(info->status), (uint64_t(info->maxTileCount) + 2) * 4, 4);
    if (!check.isOk()) return check.status();
    check.scratch(SLUICE_NAMED(info->scratch), context->backend->tileStreamsRequirements(*info));
    return check.isOk() ? context->backend->cmdTileStreams(commands, *info) : check.status();
}
