// SPDX-License-Identifier: MIT OR Apache-2.0
// Asynchronous bulk copies from global to shared memory, which need compute capability 9.0. A
// barrier in shared memory (mbarrier) tells when a copy is complete. Each barrier serves one copy
// at a time; each of these copies is one *phase* of the barrier.
#pragma once

#include "cuda/lib/launch.cuh"

namespace sluice {

#if __CUDA_ARCH__ >= 900
__device__ inline void initBarrier(uint64_t* barrier)
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sharedAddress(barrier)) : "memory");
}

// Makes barriers that this thread has initialized visible to copies that it starts later. Also
// orders such copies behind earlier loads from shared memory, so that a copy does not overwrite
// what is still being read: the loads of this thread, and those of other threads that a barrier has
// ordered before this call.
__device__ inline void fenceCopyEngine()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Starts a copy, which ends a phase of the barrier when all bytes have arrived. One thread calls
// this. Both addresses and `bytes` must be multiples of 16.
__device__ inline void copyBulk(void* to, const void* from, uint32_t bytes, uint64_t* barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)),
                 "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(sharedAddress(to)),
        "l"(from), "r"(bytes), "r"(sharedAddress(barrier))
        : "memory");
}

// Waits until a phase of the barrier has ended. Phases are numbered from 0; `parity` is the number
// of the phase modulo 2.
__device__ inline void waitBarrier(uint64_t* barrier, uint32_t parity)
{
    uint32_t done = 0;
    while (done == 0) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 "
                     "%0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(sharedAddress(barrier)), "r"(parity)
                     : "memory");
    }
}
#endif

} // namespace sluice
