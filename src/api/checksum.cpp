// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry point of the checksum: checks the arguments, then hands over to the backend.
#include "api/region_checks.h"

using namespace sluice;

SluiceStatus sluiceCmdChecksum(SluiceContext context, SluiceCommands commands,
                               const SluiceChecksumInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    RangeChecker check = checkerFor(context, commands, SLUICE_KERNELS_CHECKSUM);
    checkRegionList(check, *info);
    check.buffer(info->expected, uint64_t(info->maxRegionCount) * 4, 4);
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdChecksum(commands, *info);
}
