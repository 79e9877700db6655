// SPDX-License-Identifier: MIT OR Apache-2.0
// The backend-neutral entry points: check the arguments, then hand over to the context's backend.
#include "checks.h"

namespace {

using sluice::RangeChecker;
using sluice::backendOf;
using sluice::checkerFor;
using sluice::validCommands;

constexpr uint32_t maxRegionCount = 1u << 24;
constexpr uint64_t regionBytes = sizeof(SluiceRegion);

// What the decode and the checksum have in common: SluiceGdeflateInfo and SluiceChecksumInfo.
template <typename Info>
void checkRegionList(RangeChecker& check, const Info& info)
{
    const uint64_t count = info.maxRegionCount;
    check.require(count <= maxRegionCount, SLUICE_ERROR_ARGUMENT);
    check.require(info.regionStride >= regionBytes && info.regionStride % 4 == 0, SLUICE_ERROR_ARGUMENT);
    check.buffer(info.regions, count == 0 ? 0 : (count - 1) * info.regionStride + regionBytes, 8);
    check.optionalBuffer(info.regionCount, 4, 4);
    check.buffer(info.destination, 0, 1);
    check.buffer(info.status, (count + 2) * 4, 4);
}

} // namespace

void sluiceDestroyContext(SluiceContext context)
{
    if (context == nullptr) return;
    delete context->backend;
    delete context;
}

SluiceStatus sluiceGetContextInfo(SluiceContext context, SluiceContextInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    *info = {};
    context->backend->contextInfo(*info);
    return SLUICE_OK;
}

SluiceStatus sluiceCmdBarrier(SluiceContext context, SluiceCommands commands)
{
    if (context == nullptr || !validCommands(backendOf(context), commands)) return SLUICE_ERROR_ARGUMENT;
    return context->backend->cmdBarrier(commands);
}

SluiceStatus sluiceGetCompactRequirements(SluiceContext context, const SluiceCompactInfo* info,
                                          SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr) return SLUICE_ERROR_ARGUMENT;
    *requirements = context->backend->compactRequirements(*info);
    return SLUICE_OK;
}

SluiceStatus sluiceCmdCompact(SluiceContext context, SluiceCommands commands, const SluiceCompactInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    const uint64_t bytes = uint64_t(info->count) * 4;
    RangeChecker check = checkerFor(context, commands);
    check.buffer(info->input, bytes, 4);
    check.optionalBuffer(info->flags, bytes, 4);
    check.buffer(info->output, 0, 4);
    check.buffer(info->resultCount, 4, 4);
    check.scratch(info->scratch, context->backend->compactRequirements(*info));
    return check.status() != SLUICE_OK ? check.status() : context->backend->cmdCompact(commands, *info);
}

SluiceStatus sluiceGetGdeflateRequirements(SluiceContext context, const SluiceGdeflateInfo* info,
                                           SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr || info->maxRegionCount > maxRegionCount)
        return SLUICE_ERROR_ARGUMENT;
    *requirements = context->backend->gdeflateRequirements(*info);
    return SLUICE_OK;
}

SluiceStatus sluiceCmdGdeflate(SluiceContext context, SluiceCommands commands, const SluiceGdeflateInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    RangeChecker check = checkerFor(context, commands);
    check.require((info->flags & ~uint32_t(SLUICE_DECODE_STORED_IF_EQUAL)) == 0, SLUICE_ERROR_ARGUMENT);
    checkRegionList(check, *info);
    check.buffer(info->source, 0, 1);
    if (check.status() == SLUICE_OK) check.scratch(info->scratch, context->backend->gdeflateRequirements(*info));
    return check.status() != SLUICE_OK ? check.status() : context->backend->cmdGdeflate(commands, *info);
}

SluiceStatus sluiceCmdChecksum(SluiceContext context, SluiceCommands commands, const SluiceChecksumInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    RangeChecker check = checkerFor(context, commands);
    checkRegionList(check, *info);
    check.buffer(info->expected, uint64_t(info->maxRegionCount) * 4, 4);
    return check.status() != SLUICE_OK ? check.status() : context->backend->cmdChecksum(commands, *info);
}
