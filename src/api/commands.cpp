// SPDX-License-Identifier: MIT OR Apache-2.0
// The backend-neutral entry points: check the arguments, then hand over to the context's backend.
#include "checks.h"

namespace {

using sluice::backendOf;
using sluice::checkerFor;
using sluice::RangeChecker;
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
    if (context == nullptr || !validCommands(backendOf(context), commands))
        return SLUICE_ERROR_ARGUMENT;
    return context->backend->cmdBarrier(commands);
}
