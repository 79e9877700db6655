// SPDX-License-Identifier: MIT OR Apache-2.0
// Loading and launching of kernels, and conversions of addresses.
#pragma once

#include <cuda_runtime.h>

#include "layout/base.h"

namespace sluice {

template <typename T>
__host__ __device__ inline T* pointerFrom(U64Pair address)
{
    return reinterpret_cast<T*>(
        static_cast<uintptr_t>(static_cast<uint64_t>(address.hi) << 32 | address.lo));
}

__host__ __device__ inline uint64_t u64From(U64Pair value)
{
    return static_cast<uint64_t>(value.hi) << 32 | value.lo;
}

// Returns a pointer to global memory. Without the assumption, the compiler would make generic loads
// and stores, which find out at run time what memory they access and are slower.
template <typename T>
__device__ T* globalPointer(uint64_t address)
{
    T* const pointer = reinterpret_cast<T*>(static_cast<uintptr_t>(address));
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

// Tells the compiler that `pointer` points to global memory, where it has lost track of this.
template <typename T>
__device__ T* global(T* pointer)
{
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

// Returns an address in shared memory in the form that PTX takes.
__device__ inline uint32_t sharedAddress(const void* pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Programmatic dependent launch: a launch that is programmatic may begin before the previous launch
// of the stream has ended. It begins once each block of the previous launch has called
// letNextLaunchBegin or ended. This needs compute capability 9.0; below that, these functions do
// nothing, and no launch may be programmatic.
__device__ inline void letNextLaunchBegin()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Waits until the previous launch has ended and its stores are visible. A programmatic launch calls
// this before it accesses memory that the previous launch stores to, or stores to memory that the
// previous launch reads.
__device__ inline void waitForPreviousLaunch()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Launches a kernel and returns the error of this launch. Unlike <<<>>> with cudaGetLastError, this
// leaves the application's last error alone. `programmatic` is explained at letNextLaunchBegin.
template <typename Params>
cudaError_t launch(cudaStream_t stream, void (*kernel)(Params), uint32_t blocks, uint32_t threads,
                   const Params& params, uint32_t sharedBytes = 0, bool programmatic = false)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = sharedBytes;
    config.stream = stream;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = programmatic ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, params);
}

// Returns true if the loaded kernel was compiled with a __CUDA_ARCH__ of at least 900.
inline bool isSm90(const cudaFuncAttributes& attributes) { return attributes.ptxVersion >= 90; }

// Loads a kernel now, so that its first launch does not have to.
template <typename Params>
cudaError_t load(void (*kernel)(Params))
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel));
}

} // namespace sluice
