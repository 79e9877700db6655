// SPDX-License-Identifier: MIT OR Apache-2.0
// Asynchronous bulk copies from global to shared memory, which need compute capability 9.0. A
// barrier in shared memory (mbarrier) tells when a copy is complete. Copies use a barrier one after
// the other; each copy is one *phase* of it.
#pragma once

#include "cuda/lib/launch.cuh"

namespace sluice {

#if __CUDA_ARCH__ >= 900
__device__ inline void initBarrier(uint64_t* barrier)
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sharedAddress(barrier)) : "memory");
}

// Makes copies that this thread starts later see barriers that it has initialized. Also makes such
// copies overwrite shared memory only after the loads that this thread has made, or for which it
// has waited.
__device__ inline void fenceCopyEngine()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Starts a copy; one thread calls this. Both addresses and the size are multiples of 16.
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

// Waits until the phase of the barrier whose number modulo 2 is `parity` has ended. Phases are
// numbered from 0.
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
