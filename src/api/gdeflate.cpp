// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the decoders: check the arguments, then hand over to the context's backend.
#include "checks.h"
#include "plan_regions.h"

namespace {

using sluice::RangeChecker;

constexpr uint32_t maxRegionCount = 1u << 24;
constexpr uint32_t maxStreamCount = 1u << 16;
constexpr uint32_t maxRowBytes = 1u << 30;
constexpr uint64_t regionBytes = sizeof(SluiceRegion);

bool validRows(uint32_t rowBytes, uint32_t rowPitch)
{
    if (rowBytes == 0) return rowPitch == 0;
    return rowBytes % 4 == 0 && rowPitch % 4 == 0 && rowBytes <= maxRowBytes &&
           rowPitch >= rowBytes;
}

// A pitched destination is made of whole words.
template <typename Info>
void checkDestination(RangeChecker& check, const Info& info)
{
    check.require(validRows(info.rowBytes, info.rowPitch), SLUICE_ERROR_ARGUMENT);
    check.buffer(info.destination, 0, info.rowBytes != 0 ? 4 : 1);
}

// What the decode and the checksum have in common: SluiceGdeflateInfo and SluiceChecksumInfo.
template <typename Info>
void checkRegionList(RangeChecker& check, const Info& info)
{
    const uint64_t count = info.maxRegionCount;
    check.require(count <= maxRegionCount, SLUICE_ERROR_ARGUMENT);
    check.require(info.regionStride >= regionBytes && info.regionStride % 4 == 0,
                  SLUICE_ERROR_ARGUMENT);
    check.buffer(info.regions, count == 0 ? 0 : (count - 1) * info.regionStride + regionBytes, 8);
    check.optionalBuffer(info.regionCount, 4, 4);
    checkDestination(check, info);
    check.buffer(info.status, (count + 2) * 4, 4);
}

// What the requirements depend on.
SluiceStatus checkDecode(SluiceContext context, uint32_t flags, uint32_t allowedFlags,
                         uint32_t regionCount)
{
    if ((flags & ~allowedFlags) != 0 || regionCount > maxRegionCount) return SLUICE_ERROR_ARGUMENT;
    if ((flags & SLUICE_DECODE_BY_DRIVER) == 0) return SLUICE_OK;
    if ((flags & SLUICE_DECODE_STORED_IF_EQUAL) != 0) return SLUICE_ERROR_ARGUMENT;
    SluiceContextInfo info = {};
    context->backend->contextInfo(info);
    return info.driverRegionLimit != 0 && regionCount <= info.driverRegionLimit
               ? SLUICE_OK
               : SLUICE_ERROR_UNSUPPORTED;
}

SluiceStatus checkGdeflate(SluiceContext context, const SluiceGdeflateInfo& info)
{
    return checkDecode(context, info.flags, SLUICE_DECODE_STORED_IF_EQUAL | SLUICE_DECODE_BY_DRIVER,
                       info.maxRegionCount);
}

SluiceStatus checkTileStreams(SluiceContext context, const SluiceTileStreamsInfo& info)
{
    if (info.maxStreamCount > maxStreamCount) return SLUICE_ERROR_ARGUMENT;
    return checkDecode(context, info.flags, SLUICE_DECODE_BY_DRIVER, info.maxTileCount);
}

bool driverCannotPitch(uint32_t flags, uint32_t rowBytes)
{
    return (flags & SLUICE_DECODE_BY_DRIVER) != 0 && rowBytes != 0;
}

} // namespace

SluiceStatus sluiceGetGdeflateRequirements(SluiceContext context, const SluiceGdeflateInfo* info,
                                           SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    const SluiceStatus status = checkGdeflate(context, *info);
    if (status == SLUICE_OK) *requirements = context->backend->gdeflateRequirements(*info);
    return status;
}

SluiceStatus sluiceCmdGdeflate(SluiceContext context, SluiceCommands commands,
                               const SluiceGdeflateInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    RangeChecker check = sluice::checkerFor(context, commands, SLUICE_KERNELS_GDEFLATE);
    check.require(!driverCannotPitch(info->flags, info->rowBytes), SLUICE_ERROR_ARGUMENT);
    const SluiceStatus decode = checkGdeflate(context, *info);
    check.require(decode == SLUICE_OK, decode);
    checkRegionList(check, *info);
    check.buffer(info->source, 0, 1);
    check.optionalBuffer(info->expected, uint64_t(info->maxRegionCount) * 4, 4);
    if (check.status() == SLUICE_OK)
        check.scratch(info->scratch, context->backend->gdeflateRequirements(*info));
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdGdeflate(commands, *info);
}

SluiceStatus sluiceCmdChecksum(SluiceContext context, SluiceCommands commands,
                               const SluiceChecksumInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    RangeChecker check = sluice::checkerFor(context, commands, 0);
    checkRegionList(check, *info);
    check.buffer(info->expected, uint64_t(info->maxRegionCount) * 4, 4);
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdChecksum(commands, *info);
}

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
    RangeChecker check = sluice::checkerFor(context, commands, SLUICE_KERNELS_TILE_STREAMS);
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
