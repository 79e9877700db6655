// SPDX-License-Identifier: MIT OR Apache-2.0
// The backend-neutral entry points: check the arguments, then hand over to the context's backend.
#include "api/checks.h"

using sluice::CallChecker;

void sluiceDestroyContext(SluiceContext context)
{
    if (context == nullptr) return;
    delete context->backend;
    delete context;
}

SluiceStatus sluiceSetReport(SluiceContext context, SluiceReportFunction report, void* user)
{
    if (context == nullptr) return SLUICE_ERROR_ARGUMENT;
    context->reporter = {report, user};
    return SLUICE_OK;
}

SluiceStatus sluiceGetContextInfo(SluiceContext context, SluiceContextInfo* info)
{
    CallChecker check(context, __func__);
    if (check.given(SLUICE_NAMED(info))) *info = check.contextInfo();
    return check.status();
}

SluiceStatus sluiceCreatePipelines(SluiceContext context, const SluicePipelinesInfo* info,
                                   uint32_t* left)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.flags(SLUICE_NAMED(info->kernels), sluice::kAllKernels);
    check.flags(SLUICE_NAMED(info->flags), SLUICE_PIPELINES_NECESSARY);
    check.require(SLUICE_NAMED(info->kernels), (info->kernels & ~sluice::kBuiltKernels) == 0,
                  "has no kernels that this build leaves out", SLUICE_ERROR_UNSUPPORTED);
    if (!check.isOk()) return check.status();
    uint32_t unused = 0;
    return context->backend->createPipelines(*info, left != nullptr ? *left : unused);
}

SluiceStatus sluiceCmdBarrier(SluiceContext context, SluiceCommands commands)
{
    CallChecker check(context, __func__);
    check.checkCommands(commands);
    return check.isOk() ? context->backend->cmdBarrier(commands) : check.status();
}
