// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the Gstd decoder: check the arguments, then hand over to the context's
// backend.
#include <sluice/sluice_gstd.h>

#include "api/region_checks.h"

#include "layout/gstd.h"

namespace {

using sluice::CallChecker;

static_assert(SLUICE_GSTD_SLOT_SIZE(SLUICE_GS_TILE_BYTES) ==
                  SLUICE_GS_SLOT_BYTES(SLUICE_GS_TILE_BYTES) &&
              SLUICE_GSTD_SLOTS == SLUICE_GS_SLOTS);

void checkList(CallChecker& check, const SluiceGstdInfo& info)
{
    sluice::checkDecode(check, SLUICE_NAMED(info.flags), SLUICE_DECODE_STORED_IF_EQUAL,
                        SLUICE_NAMED(info.maxRegionCount));
    check.atMost(SLUICE_NAMED(info.maxTileSize), SLUICE_GS_TILE_BYTES);
    check.require(SLUICE_NAMED(info.maxTileSize), info.maxTileSize % 8 == 0, "is a multiple of 8");
}

} // namespace

SluiceStatus sluiceGetGstdRequirements(SluiceContext context, const SluiceGstdInfo* info,
                                       SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkList(check, *info);
    if (check.isOk()) *requirements = context->backend->gstdRequirements(*info);
    return check.status();
}

void sluice::checkGstd(CallChecker& check, SluiceContext context, SluiceCommands commands,
                       const SluiceGstdInfo* info)
{
    check.command(commands, SLUICE_KERNELS_GSTD);
    checkList(check, *info);
    checkRegions(check, *info);
    check.buffer(SLUICE_NAMED(info->source), 0, 1);
    check.buffer(SLUICE_NAMED(info->destination), 0, 1);
    // The first pass of the decode checks the source bytes. The second pass reads them again,
    // unchecked, while it writes the destinations, so these must not overwrite the source.
    check.require(SLUICE_NAMED(info->destination), !overlap(info->source, info->destination),
                  "does not overlap source");
    check.optionalBuffer(SLUICE_NAMED(info->secondDestination), 1, 1);
    check.require(SLUICE_NAMED(info->secondDestination),
                  !overlap(info->source, info->secondDestination), "does not overlap source");
    check.require(SLUICE_NAMED(info->secondDestination),
                  info->secondDestination.size == 0 || info->expected.size == 0,
                  "is empty if there are checksums");
    check.optionalBuffer(SLUICE_NAMED(info->expected), uint64_t(info->maxRegionCount) * 4, 4);
    if (check.isOk())
        check.scratch(SLUICE_NAMED(info->scratch), context->backend->gstdRequirements(*info));
}

SluiceStatus sluiceCmdGstd(SluiceContext context, SluiceCommands commands,
                           const SluiceGstdInfo* info)
{
    CallChecker check(context, __func__);
    if (check.given(SLUICE_NAMED(info))) sluice::checkGstd(check, context, commands, info);
    if (!check.isOk()) return check.status();
    sluice::Backend& backend = *context->backend;
    return backend.cmdGstd(commands,
                           sluice::withUsedScratch(*info, backend.gstdRequirements(*info)));
}
