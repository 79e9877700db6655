// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the float codec's decoder.
#include <sluice/sluice_float.h>

#include "api/checks.h"

namespace {

using sluice::CallChecker;

void checkCounts(CallChecker& check, const SluiceFloatDecodeInfo& info)
{
    check.atMost(SLUICE_NAMED(info.tensorCount), 1u << 20);
    check.atMost(SLUICE_NAMED(info.tileCount), 0x7fffffffu);
}

} // namespace

SluiceStatus sluiceGetFloatDecodeRequirements(SluiceContext context,
                                              const SluiceFloatDecodeInfo* info,
                                              SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkCounts(check, *info);
    if (check.isOk()) *requirements = sluice::kNoScratch;
    return check.status();
}

SluiceStatus sluiceCmdFloatDecode(SluiceContext context, SluiceCommands commands,
                                  const SluiceFloatDecodeInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.command(commands, SLUICE_KERNELS_FLOAT);
    checkCounts(check, *info);
    check.buffer(SLUICE_NAMED(info->tensors),
                 uint64_t(info->tensorCount) * sizeof(SluiceFloatTensor), 16);
    check.optionalBuffer(SLUICE_NAMED(info->source), 1, 16);
    check.optionalBuffer(SLUICE_NAMED(info->destination), 1, 1);
    check.buffer(SLUICE_NAMED(info->status), (uint64_t(info->tileCount) + 2) * 4, 4);
    return check.isOk() ? context->backend->cmdFloatDecode(commands, *info) : check.status();
}
