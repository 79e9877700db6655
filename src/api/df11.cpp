// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the DF11 decoder: check the arguments, then hand over to the context's
// backend.
#include <sluice/sluice_df11.h>

#include "api/checks.h"

namespace {

bool validCounts(const SluiceDf11Info& info)
{
    return info.maxUnitCount <= 1u << 20 && info.maxBlockCount <= 1u << 24;
}

} // namespace

SluiceStatus sluiceGetDf11Requirements(SluiceContext context, const SluiceDf11Info* info,
                                       SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr || !validCounts(*info))
        return SLUICE_ERROR_ARGUMENT;
    *requirements = sluice::kNoScratch;
    return SLUICE_OK;
}

SluiceStatus sluiceCmdDf11(SluiceContext context, SluiceCommands commands,
                           const SluiceDf11Info* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    sluice::RangeChecker check = sluice::checkerFor(context, commands, SLUICE_KERNELS_DF11);
    check.require(validCounts(*info), SLUICE_ERROR_ARGUMENT);
    check.buffer(info->units, uint64_t(info->maxUnitCount) * sizeof(SluiceDf11Unit), 8);
    check.optionalBuffer(info->unitCount, 4, 4);
    check.buffer(info->source, 0, 16);
    check.buffer(info->destination, 0, 4);
    check.buffer(info->status, (uint64_t(info->maxBlockCount) + 2) * 4, 4);
    if (check.status() == SLUICE_OK) check.scratch(info->scratch, sluice::kNoScratch);
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdDf11(commands, *info);
}
