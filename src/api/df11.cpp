// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the DF11 decoder: check the arguments, then hand over to the context's
// backend.
#include <sluice/sluice_df11.h>

#include "api/checks.h"

namespace {

using sluice::CallChecker;

void checkCounts(CallChecker& check, const SluiceDf11Info& info)
{
    check.atMost(SLUICE_NAMED(info.maxUnitCount), 1u << 20);
    check.atMost(SLUICE_NAMED(info.maxBlockCount), 1u << 24);
}

} // namespace

SluiceStatus sluiceGetDf11Requirements(SluiceContext context, const SluiceDf11Info* info,
                                       SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkCounts(check, *info);
    if (check.isOk()) *requirements = sluice::kNoScratch;
    return check.status();
}

SluiceStatus sluiceCmdDf11(SluiceContext context, SluiceCommands commands,
                           const SluiceDf11Info* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.command(commands, SLUICE_KERNELS_DF11);
    checkCounts(check, *info);
    check.buffer(SLUICE_NAMED(info->units), uint64_t(info->maxUnitCount) * sizeof(SluiceDf11Unit),
                 8);
    check.optionalBuffer(SLUICE_NAMED(info->unitCount), 4, 4);
    check.buffer(SLUICE_NAMED(info->source), 0, 16);
    check.buffer(SLUICE_NAMED(info->destination), 0, 4);
    check.buffer(SLUICE_NAMED(info->status), (uint64_t(info->maxBlockCount) + 2) * 4, 4);
    return check.isOk() ? context->backend->cmdDf11(commands, *info) : check.status();
}
