// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies from global to shared memory that a thread need not wait for: cp.async, below compute capability 8.0 plain ones.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

// 4 or 16 bytes, aligned to their number.
template <uint32_t Bytes>
__device__ inline void copyAsync(void* shared, const void* global)
{
    static_assert(Bytes == 4 || Bytes == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(Bytes) : "memory");
#else
    if (Bytes == 16) {
        *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
    } else {
        *static_cast<uint32_t*>(shared) = *static_cast<const uint32_t*>(global);
    }
#endif
}

// Those since the last call are a group.
__device__ inline void commitCopies()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until the thread sees its copies, but for the latest groups of them.
template <uint32_t Groups>
__device__ inline void waitForCopies()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}

} // namespace sluice
