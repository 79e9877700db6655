// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the GDeflate decoder: check the arguments, then hand over to the backend.
#include <sluice/sluice_gdeflate.h>

#include "api/region_checks.h"

using namespace sluice;

namespace {

SluiceStatus checkGdeflate(SluiceContext context, const SluiceGdeflateInfo& info)
{
    return checkDecode(context, info.flags, SLUICE_DECODE_STORED_IF_EQUAL | SLUICE_DECODE_BY_DRIVER,
                       info.maxRegionCount);
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
    RangeChecker check = checkerFor(context, commands,
                                    info->rowBytes == 0 ? SLUICE_KERNELS_GDEFLATE_LINEAR
                                                        : SLUICE_KERNELS_GDEFLATE_ROWS);
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
