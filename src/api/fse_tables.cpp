// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry point of the FSE table builder: checks the arguments, then hands over to the context's
// backend.
#include <sluice/sluice_fse.h>

#include "api/region_checks.h"

#include "layout/fse.h"

namespace {

static_assert(SLUICE_FSE_COUNTS == SLUICE_FSE_FLAG_COUNTS &&
              SLUICE_FSE_MIN_LOG == SLUICE_FSE_LOG_MIN &&
              SLUICE_FSE_MAX_LOG == SLUICE_FSE_LOG_MAX &&
              SLUICE_FSE_MAX_SYMBOLS == SLUICE_FSE_SYMBOLS && sizeof(SluiceFseTableHeader) == 4 &&
              sizeof(SluiceFseState) == 4);

} // namespace

SluiceStatus sluiceCmdFseTables(SluiceContext context, SluiceCommands commands,
                                const SluiceFseTablesInfo* info)
{
    sluice::CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.command(commands, SLUICE_KERNELS_FSE);
    check.flags(SLUICE_NAMED(info->flags), SLUICE_FSE_COUNTS);
    check.atLeast(SLUICE_NAMED(info->maxSymbols), 1);
    check.atMost(SLUICE_NAMED(info->maxSymbols), SLUICE_FSE_MAX_SYMBOLS);
    check.atLeast(SLUICE_NAMED(info->maxLog), SLUICE_FSE_MIN_LOG);
    check.atMost(SLUICE_NAMED(info->maxLog), SLUICE_FSE_MAX_LOG);
    sluice::checkRegions(check, *info);
    check.buffer(SLUICE_NAMED(info->source), 0, 4);
    check.buffer(SLUICE_NAMED(info->destination), 0, 4);
    return check.isOk() ? context->backend->cmdFseTables(commands, *info) : check.status();
}
