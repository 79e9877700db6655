// SPDX-License-Identifier: MIT OR Apache-2.0
// Gives tuning and the benchmark a GPU backend's tuning row, which the public contract does not
// have.
#pragma once

#include "vulkan/context.h"
#ifdef SLUICE_HAVE_CUDA
#include "cuda/context.h"
#endif

namespace sluice {

// Calls function(VulkanBackend&) or function(CudaBackend&); neither for the CPU.
template <typename Function>
void withBackend(SluiceContext context, SluiceBackend which, const Function& function)
{
    if (which == SLUICE_BACKEND_VULKAN) function(static_cast<VulkanBackend&>(*context->backend));
#ifdef SLUICE_HAVE_CUDA
    if (which == SLUICE_BACKEND_CUDA) function(static_cast<CudaBackend&>(*context->backend));
#endif
}

} // namespace sluice
