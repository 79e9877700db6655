// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the GDeflate decoder: check the arguments, then hand over to the backend.
#include <sluice/sluice_gdeflate.h>

#include "api/region_checks.h"

using namespace sluice;

namespace {

void checkGdeflate(CallChecker& check, const SluiceGdeflateInfo& info)
{
    checkDecode(check, SLUICE_NAMED(info.flags),
                SLUICE_DECODE_STORED_IF_EQUAL | SLUICE_DECODE_BY_DRIVER,
                SLUICE_NAMED(info.maxRegionCount));
}

} // namespace

SluiceStatus sluiceGetGdeflateRequirements(SluiceContext context, const SluiceGdeflateInfo* info,
                                           SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkGdeflate(check, *info);
    if (check.isOk()) *requirements = context->backend->gdeflateRequirements(*info);
    return check.status();
}

SluiceStatus sluiceCmdGdeflate(SluiceContext context, SluiceCommands commands,
                               const SluiceGdeflateInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.command(commands, info->rowBytes == 0 ? SLUICE_KERNELS_GDEFLATE_LINEAR
                                                : SLUICE_KERNELS_GDEFLATE_ROWS);
    checkDriverRows(check, info->flags, SLUICE_NAMED(info->rowBytes));
    checkGdeflate(check, *info);
    checkRegions(check, *info);
    checkDestination(check, *info);
    check.buffer(SLUICE_NAMED(info->source), 0, 1);
    check.optionalBuffer(SLUICE_NAMED(info->expected), uint64_t(info->maxRegionCount) * 4, 4);
    if (!check.isOk()) return check.status();
    check.scratch(SLUICE_NAMED(info->scratch), context->backend->gdeflateRequirements(*info));
    return check.isOk() ? context->backend->cmdGdeflate(commands, *info) : check.status();
}
