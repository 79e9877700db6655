// SPDX-License-Identifier: MIT OR Apache-2.0
// The backend-neutral entry points: check the arguments, then hand over to the context's backend.
#include "api/checks.h"

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
    *info = sluice::contextInfoOf(context);
    return SLUICE_OK;
}

SluiceStatus sluiceCreatePipelines(SluiceContext context, const SluicePipelinesInfo* info,
                                   uint32_t* left)
{
    constexpr uint32_t known = SLUICE_KERNELS_ALL, flags = SLUICE_PIPELINES_NECESSARY;
    if (context == nullptr || info == nullptr || (info->kernels & ~known) != 0 ||
        (info->flags & ~flags) != 0)
        return SLUICE_ERROR_ARGUMENT;
    if ((info->kernels & ~sluice::kBuiltKernels) != 0) return SLUICE_ERROR_UNSUPPORTED;
    uint32_t unused = 0;
    return context->backend->createPipelines(*info, left != nullptr ? *left : unused);
}

SluiceStatus sluiceCmdBarrier(SluiceContext context, SluiceCommands commands)
{
    if (context == nullptr || !validCommands(backendOf(context), commands))
        return SLUICE_ERROR_ARGUMENT;
    return context->backend->cmdBarrier(commands);
}
