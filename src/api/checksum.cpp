// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry point of the checksum: checks the arguments, then hands over to the backend.
#include "api/region_checks.h"

using namespace sluice;

SluiceStatus sluiceCmdChecksum(SluiceContext context, SluiceCommands commands,
                               const SluiceChecksumInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.command(commands, SLUICE_KERNELS_CHECKSUM);
    checkRegions(check, *info);
    checkDestination(check, *info);
    check.buffer(SLUICE_NAMED(info->expected), uint64_t(info->maxRegionCount) * 4, 4);
    return check.isOk() ? context->backend->cmdChecksum(commands, *info) : check.status();
}
