// SPDX-License-Identifier: MIT OR Apache-2.0
// The checks that every command starts with.
#pragma once

#include <sluice/sluice_gstd.h>

#include "api/backend.h"
#include "api/components.h"
#include "api/range.h"

namespace sluice {

inline SluiceContextInfo contextInfoOf(SluiceContext context)
{
    SluiceContextInfo info = {};
    context->backend->contextInfo(info);
    const uint32_t distrusted = context->distrusted.load();
    info.kernels &= ~distrusted;
    info.refusedKernels |= distrusted;
    return info;
}

inline SluiceBackend backendOf(SluiceContext context) { return contextInfoOf(context).backend; }

// A Vulkan command needs a command buffer; the CPU has none; NULL is CUDA's default stream.
inline bool validCommands(SluiceBackend backend, SluiceCommands commands)
{
    return backend == SLUICE_BACKEND_VULKAN ? commands != nullptr
                                            : backend != SLUICE_BACKEND_CPU || commands == nullptr;
}

// Returns a checker that has done the checks common to every command. `kernels` are those that the
// command needs.
inline RangeChecker checkerFor(SluiceContext context, SluiceCommands commands, uint32_t kernels)
{
    const SluiceContextInfo info = contextInfoOf(context);
    RangeChecker check(info.backend != SLUICE_BACKEND_VULKAN);
    check.require(validCommands(info.backend, commands), SLUICE_ERROR_ARGUMENT);
    check.require((kBuiltKernels & ~info.refusedKernels & kernels) == kernels,
                  SLUICE_ERROR_UNSUPPORTED);
    check.require((info.kernels & kernels) == kernels, SLUICE_ERROR_NOT_READY);
    return check;
}

// Does all checks of sluiceCmdGstd.
SluiceStatus checkGstd(SluiceContext context, SluiceCommands commands, const SluiceGstdInfo* info);

} // namespace sluice
