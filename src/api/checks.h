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

// Checks the arguments of a public function that takes a context.
class CallChecker : public RangeChecker {
public:
    // context: the argument of the public function. NULL is an error that is not reported, because
    // the report function belongs to a context.
    CallChecker(SluiceContext context, const char* function)
        : CallChecker(context, function,
                      context != nullptr ? contextInfoOf(context) : SluiceContextInfo{})
    {
    }

    // Does the checks common to every command. kernels: the SluiceKernels that the command needs.
    void command(SluiceCommands commands, uint32_t kernels)
    {
        checkCommands(commands);
        require(named("context", kernels),
                (kBuiltKernels & ~m_info.refusedKernels & kernels) == kernels,
                "has the kernels (value), which this build or the driver lacks",
                SLUICE_ERROR_UNSUPPORTED);
        require(named("context", kernels), (m_info.kernels & kernels) == kernels,
                "has the pipelines of the kernels (value), by sluiceCreatePipelines",
                SLUICE_ERROR_NOT_READY);
    }
    // Checks a command's `commands`. Vulkan needs a command buffer, and the CPU takes NULL alone.
    // CUDA takes any stream; NULL is its default stream.
    void checkCommands(SluiceCommands commands)
    {
        if (m_info.backend == SLUICE_BACKEND_VULKAN) given(SLUICE_NAMED(commands));
        if (m_info.backend == SLUICE_BACKEND_CPU)
            require(SLUICE_NAMED(commands), commands == nullptr, "is NULL on the CPU");
    }
    const SluiceContextInfo& contextInfo() const { return m_info; }

private:
    CallChecker(SluiceContext context, const char* function, const SluiceContextInfo& info)
        : RangeChecker(context != nullptr ? context->reporter : Reporter{}, function,
                       info.backend != SLUICE_BACKEND_VULKAN),
          m_info(info)
    {
        given(SLUICE_NAMED(context));
    }

    SluiceContextInfo m_info;
};

// Returns a copy of `given` for the backend. If the command requires no scratch, the caller's
// `scratch` may hold anything, so the copy has an empty range.
template <typename Info>
Info withUsedScratch(const Info& given, const SluiceRequirements& required)
{
    Info used = given;
    if (required.scratchSize == 0) used.scratch = {};
    return used;
}

// Does all checks of sluiceCmdGstd.
void checkGstd(CallChecker& check, SluiceContext context, SluiceCommands commands,
               const SluiceGstdInfo* info);

} // namespace sluice
