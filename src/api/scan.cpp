// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the scan family: check the arguments, then hand over to the context's
// backend.
#include <sluice/sluice_scan.h>

#include "api/checks.h"
#include "api/plan_scan.h"

static_assert(sizeof(sluice::ScanParams) <= 128, "push constants");

namespace {

using sluice::CallChecker;
using sluice::valueBytes;

template <typename Info>
void checkValues(CallChecker& check, const Info& info)
{
    check.atMost(SLUICE_NAMED(info.operation), SLUICE_OPERATION_MAX);
    check.atMost(SLUICE_NAMED(info.type), SLUICE_VALUE_F32);
}

uint32_t kernelsFor(SluiceOperation operation, SluiceValueType type)
{
    return type == SLUICE_VALUE_U64            ? SLUICE_KERNELS_SCAN_U64
           : sluice::isF32Sum(operation, type) ? SLUICE_KERNELS_SCAN_F32
                                               : SLUICE_KERNELS_SCAN_WORDS;
}

} // namespace

SluiceStatus sluiceGetScanRequirements(SluiceContext context, const SluiceScanInfo* info,
                                       SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkValues(check, *info);
    if (check.isOk()) *requirements = context->backend->scanRequirements(*info);
    return check.status();
}

SluiceStatus sluiceCmdScan(SluiceContext context, SluiceCommands commands,
                           const SluiceScanInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    checkValues(check, *info);
    if (!check.isOk()) return check.status();
    const uint32_t width = valueBytes(info->type);
    const uint64_t count = info->maxCount;
    check.command(commands, info->heads.size != 0 ? uint32_t(SLUICE_KERNELS_SCAN_SEGMENTS)
                                                  : kernelsFor(info->operation, info->type));
    check.atMost(SLUICE_NAMED(info->kind), SLUICE_SCAN_INCLUSIVE);
    check.optionalBuffer(SLUICE_NAMED(info->count), 4, 4);
    check.buffer(SLUICE_NAMED(info->input), count * width, width);
    check.buffer(SLUICE_NAMED(info->output), count * width, width);
    check.optionalBuffer(SLUICE_NAMED(info->heads), (count + 31) / 32 * 4, 4);
    check.optionalBuffer(SLUICE_NAMED(info->total), width, width);
    check.scratch(SLUICE_NAMED(info->scratch), context->backend->scanRequirements(*info));
    return check.isOk() ? context->backend->cmdScan(commands, *info) : check.status();
}

SluiceStatus sluiceGetReduceRequirements(SluiceContext context, const SluiceReduceInfo* info,
                                         SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkValues(check, *info);
    if (check.isOk()) *requirements = context->backend->reduceRequirements(*info);
    return check.status();
}

SluiceStatus sluiceCmdReduce(SluiceContext context, SluiceCommands commands,
                             const SluiceReduceInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    checkValues(check, *info);
    if (!check.isOk()) return check.status();
    const uint32_t width = valueBytes(info->type);
    check.command(commands, kernelsFor(info->operation, info->type));
    check.optionalBuffer(SLUICE_NAMED(info->count), 4, 4);
    check.buffer(SLUICE_NAMED(info->input), uint64_t(info->maxCount) * width, width);
    check.buffer(SLUICE_NAMED(info->result), width, width);
    check.scratch(SLUICE_NAMED(info->scratch), context->backend->reduceRequirements(*info));
    return check.isOk() ? context->backend->cmdReduce(commands, *info) : check.status();
}
