// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points for whole tile streams: check the arguments, then hand over to the backend.
#include <sluice/sluice_tile_streams.h>

#include "api/region_checks.h"

using namespace sluice;

namespace {

constexpr uint32_t kMaxStreamCount = 1u << 16;

SluiceStatus checkTileStreams(SluiceContext context, const SluiceTileStreamsInfo& info)
{
    if (info.maxStreamCount > kMaxStreamCount) return SLUICE_ERROR_ARGUMENT;
    return checkDecode(context, info.flags, SLUICE_DECODE_BY_DRIVER, info.maxTileCount);
}

} // namespace

SluiceStatus sluiceGetTileStreamsRequirements(SluiceContext context,
                                              const SluiceTileStreamsInfo* info,
                                              SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    const SluiceStatus status = checkTileStreams(context, *info);
    if (status == SLUICE_OK) *requirements = context->backend->tileStreamsRequirements(*info);
    return status;
}

SluiceStatus sluiceCmdTileStreams(SluiceContext context, SluiceCommands commands,
                                  const SluiceTileStreamsInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    RangeChecker check =
        checkerFor(context, commands,
                   SLUICE_KERNELS_TILE_STREAMS |
                       (info->rowBytes == 0 ? 0u : uint32_t(SLUICE_KERNELS_GDEFLATE_ROWS)));
    check.require(!driverCannotPitch(info->flags, info->rowBytes), SLUICE_ERROR_ARGUMENT);
    const SluiceStatus decode = checkTileStreams(context, *info);
    check.require(decode == SLUICE_OK, decode);
    check.buffer(info->streams, uint64_t(info->maxStreamCount) * sizeof(SluiceStreamRange), 8);
    check.optionalBuffer(info->streamCount, 4, 4);
    check.buffer(info->source, 0, 4);
    check.buffer(info->destination, 0, 4);
    checkDestination(check, *info);
    check.optionalBuffer(info->expected, uint64_t(info->maxTileCount) * 4, 4);
    check.buffer(info->results,
                 uint64_t(info->maxStreamCount) * sizeof(SluiceStreamResult) +
                     sizeof(SluiceStreamSummary),
                 4);
    check.buffer(info->status, (uint64_t(info->maxTileCount) + 2) * 4, 4);
    if (check.status() == SLUICE_OK)
        check.scratch(info->scratch, context->backend->tileStreamsRequirements(*info));
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdTileStreams(commands, *info);
}
