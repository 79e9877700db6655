// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the Zstandard decoder: check the arguments, then hand over to the context's
// backend.
#include <sluice/sluice_zstd.h>

#include "api/region_checks.h"

#include "layout/zstd.h"

namespace {

using sluice::CallChecker;

static_assert(SLUICE_ZSTD_CHECKSUMS == SLUICE_ZS_FLAG_CHECKSUMS &&
              SLUICE_ZSTD_MAX_REGION_SIZE == SLUICE_ZS_MAX_HISTORY &&
              sizeof(sluice::ZstdParams) <= 128);

void checkList(CallChecker& check, const SluiceZstdInfo& info)
{
    check.flags(SLUICE_NAMED(info.flags), SLUICE_ZSTD_CHECKSUMS);
    check.atMost(SLUICE_NAMED(info.maxRegionCount), sluice::kMaxRegionCount);
    check.atLeast(SLUICE_NAMED(info.maxRegionSize), 1);
    check.atMost(SLUICE_NAMED(info.maxRegionSize), SLUICE_ZSTD_MAX_REGION_SIZE);
    check.atMost(SLUICE_NAMED(info.maxBlocks), SLUICE_ZSTD_MAX_BLOCKS);
}

} // namespace

SluiceStatus sluiceGetZstdRequirements(SluiceContext context, const SluiceZstdInfo* info,
                                       SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkList(check, *info);
    if (check.isOk()) *requirements = context->backend->zstdRequirements(*info);
    return check.status();
}

SluiceStatus sluiceCmdZstd(SluiceContext context, SluiceCommands commands,
                           const SluiceZstdInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.command(commands, SLUICE_KERNELS_ZSTD);
    checkList(check, *info);
    sluice::checkRegions(check, *info);
    check.buffer(SLUICE_NAMED(info->source), 0, 4);
    check.buffer(SLUICE_NAMED(info->destination), 0, 4);
    check.optionalBuffer(SLUICE_NAMED(info->dictionary), 0, 4);
    check.require(SLUICE_NAMED(info->destination),
                  !sluice::overlap(info->source, info->destination), "does not overlap source");
    check.require(SLUICE_NAMED(info->dictionary), info->dictionary.size <= SLUICE_ZS_MAX_HISTORY,
                  "is at most 2^30 - 2^18 bytes", SLUICE_ERROR_BUFFER_SIZE);
    check.require(SLUICE_NAMED(info->dictionary),
                  !sluice::overlap(info->dictionary, info->destination),
                  "does not overlap destination");
    if (!check.isOk()) return check.status();
    const SluiceRequirements required = context->backend->zstdRequirements(*info);
    check.scratch(SLUICE_NAMED(info->scratch), required);
    if (!check.isOk()) return check.status();
    return context->backend->cmdZstd(commands, sluice::withUsedScratch(*info, required));
}
