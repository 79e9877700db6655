// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the scan family: check the arguments, then hand over to the context's
// backend.
#include <sluice/sluice_scan.h>

#include "api/checks.h"
#include "api/plan_scan.h"

static_assert(sizeof(sluice::ScanParams) <= 128, "push constants");

namespace {

using sluice::RangeChecker;
using sluice::valueBytes;

bool validValues(SluiceOperation operation, SluiceValueType type)
{
    return operation >= SLUICE_OPERATION_SUM && operation <= SLUICE_OPERATION_MAX &&
           type >= SLUICE_VALUE_U32 && type <= SLUICE_VALUE_F32;
}

} // namespace

SluiceStatus sluiceGetScanRequirements(SluiceContext context, const SluiceScanInfo* info,
                                       SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr ||
        !validValues(info->operation, info->type))
        return SLUICE_ERROR_ARGUMENT;
    *requirements = context->backend->scanRequirements(*info);
    return SLUICE_OK;
}

namespace {

uint32_t kernelsFor(SluiceOperation operation, SluiceValueType type)
{
    return type == SLUICE_VALUE_U64            ? SLUICE_KERNELS_SCAN_U64
           : sluice::isF32Sum(operation, type) ? SLUICE_KERNELS_SCAN_F32
                                               : SLUICE_KERNELS_SCAN_WORDS;
}

} // namespace

SluiceStatus sluiceCmdScan(SluiceContext context, SluiceCommands commands,
                           const SluiceScanInfo* info)
{
    if (context == nullptr || info == nullptr || !validValues(info->operation, info->type))
        return SLUICE_ERROR_ARGUMENT;
    const uint32_t width = valueBytes(info->type);
    const uint64_t count = info->maxCount;
    RangeChecker check =
        sluice::checkerFor(context, commands,
                           info->heads.size != 0 ? uint32_t(SLUICE_KERNELS_SCAN_SEGMENTS)
                                                 : kernelsFor(info->operation, info->type));
    check.require(info->kind == SLUICE_SCAN_EXCLUSIVE || info->kind == SLUICE_SCAN_INCLUSIVE,
                  SLUICE_ERROR_ARGUMENT);
    check.optionalBuffer(info->count, 4, 4);
    check.buffer(info->input, count * width, width);
    check.buffer(info->output, count * width, width);
    check.optionalBuffer(info->heads, (count + 31) / 32 * 4, 4);
    check.optionalBuffer(info->total, width, width);
    check.scratch(info->scratch, context->backend->scanRequirements(*info));
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdScan(commands, *info);
}

SluiceStatus sluiceGetReduceRequirements(SluiceContext context, const SluiceReduceInfo* info,
                                         SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr ||
        !validValues(info->operation, info->type))
        return SLUICE_ERROR_ARGUMENT;
    *requirements = context->backend->reduceRequirements(*info);
    return SLUICE_OK;
}

SluiceStatus sluiceCmdReduce(SluiceContext context, SluiceCommands commands,
                             const SluiceReduceInfo* info)
{
    if (context == nullptr || info == nullptr || !validValues(info->operation, info->type))
        return SLUICE_ERROR_ARGUMENT;
    const uint32_t width = valueBytes(info->type);
    RangeChecker check =
        sluice::checkerFor(context, commands, kernelsFor(info->operation, info->type));
    check.optionalBuffer(info->count, 4, 4);
    check.buffer(info->input, uint64_t(info->maxCount) * width, width);
    check.buffer(info->result, width, width);
    check.scratch(info->scratch, context->backend->reduceRequirements(*info));
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdReduce(commands, *info);
}
