// SPDX-License-Identifier: MIT OR Apache-2.0
// Lets tuning and the benchmark reach a context's VulkanBackend or CudaBackend, since the public
// API does not show the tuning row that the context uses.
#pragma once

#include "vulkan/context.h"
#ifdef SLUICE_HAVE_CUDA
#include "cuda/context.h"
#endif

namespace sluice {

// Calls the function with the context's VulkanBackend or CudaBackend. On the CPU it calls nothing.
template <typename Function>
void withBackend(SluiceContext context, SluiceBackend which, const Function& function)
{
    if (which == SLUICE_BACKEND_VULKAN) function(static_cast<VulkanBackend&>(*context->backend));
#ifdef SLUICE_HAVE_CUDA
    if (which == SLUICE_BACKEND_CUDA) function(static_cast<CudaBackend&>(*context->backend));
#endif
}

} // namespace sluice
