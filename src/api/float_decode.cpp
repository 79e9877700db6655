// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the float codec's decoder.
#include <sluice/sluice_float.h>

#include "api/checks.h"

namespace {

using sluice::RangeChecker;

void checkFloatDecode(RangeChecker& check, const SluiceFloatDecodeInfo& info)
{
    check.require(info.tensorCount <= 1u << 20 && info.tileCount <= 0x7fffffffu,
                  SLUICE_ERROR_ARGUMENT);
}

} // namespace

SluiceStatus sluiceGetFloatDecodeRequirements(SluiceContext context,
                                              const SluiceFloatDecodeInfo* info,
                                              SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    RangeChecker check(false);
    checkFloatDecode(check, *info);
    if (check.status() == SLUICE_OK) *requirements = sluice::kNoScratch;
    return check.status();
}

SluiceStatus sluiceCmdFloatDecode(SluiceContext context, SluiceCommands commands,
                                  const SluiceFloatDecodeInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    RangeChecker check = sluice::checkerFor(context, commands, SLUICE_KERNELS_FLOAT);
    checkFloatDecode(check, *info);
    check.buffer(info->tensors, uint64_t(info->tensorCount) * sizeof(SluiceFloatTensor), 16);
    check.optionalBuffer(info->source, 1, 16);
    check.optionalBuffer(info->destination, 1, 1);
    check.buffer(info->status, (uint64_t(info->tileCount) + 2) * 4, 4);
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdFloatDecode(commands, *info);
}
