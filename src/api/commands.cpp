// SPDX-License-Identifier: MIT OR Apache-2.0
// The backend-neutral entry points: check the arguments, then hand over to the context's backend.
#include "checks.h"

namespace {

using sluice::RangeChecker;
using sluice::backendOf;
using sluice::checkerFor;
using sluice::validCommands;

} // namespace

void sluiceDestroyContext(SluiceContext context)
{
    if (context == nullptr) return;
    delete context->backend;
    delete context;
}

SluiceStatus sluiceGetContextInfo(SluiceContext context, SluiceContextInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    *info = {};
    context->backend->contextInfo(*info);
    return SLUICE_OK;
}

SluiceStatus sluiceCmdBarrier(SluiceContext context, SluiceCommands commands)
{
    if (context == nullptr || !validCommands(backendOf(context), commands)) return SLUICE_ERROR_ARGUMENT;
    return context->backend->cmdBarrier(commands);
}

SluiceStatus sluiceGetCompactRequirements(SluiceContext context, const SluiceCompactInfo* info,
                                          SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr) return SLUICE_ERROR_ARGUMENT;
    *requirements = context->backend->compactRequirements(*info);
    return SLUICE_OK;
}

SluiceStatus sluiceCmdCompact(SluiceContext context, SluiceCommands commands, const SluiceCompactInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    const uint64_t bytes = uint64_t(info->count) * 4;
    RangeChecker check = checkerFor(context, commands);
    check.buffer(info->input, bytes, 4);
    check.optionalBuffer(info->flags, bytes, 4);
    check.buffer(info->output, 0, 4);
    check.buffer(info->resultCount, 4, 4);
    check.scratch(info->scratch, context->backend->compactRequirements(*info));
    return check.status() != SLUICE_OK ? check.status() : context->backend->cmdCompact(commands, *info);
}
