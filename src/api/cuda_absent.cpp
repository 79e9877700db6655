// SPDX-License-Identifier: MIT OR Apache-2.0
// Implements sluice_cuda.h in a build without CUDA.
#ifndef SLUICE_HAVE_CUDA

#include <sluice/sluice_cuda.h>

SluiceStatus sluiceCreateCudaContext(int device, SluiceContext* context)
{
    (void)device;
    return sluiceCreateCudaContextWithInfo(nullptr, context);
}

SluiceStatus sluiceCreateCudaContextWithInfo(const SluiceCudaContextInfo* info,
                                             SluiceContext* context)
{
    (void)info;
    if (context == nullptr) return SLUICE_ERROR_ARGUMENT;
    *context = nullptr;
    return SLUICE_ERROR_UNSUPPORTED;
}

#endif
