// SPDX-License-Identifier: MIT OR Apache-2.0
// Words through which launches that run at the same time wait for each other.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

// A release at device scope: a thread that sees the word also sees everything that this thread has
// written or seen.
__device__ inline void publish(uint32_t* word, uint32_t status)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(status) : "memory");
}
// A waiting loop ends after this many polls. All blocks that publish have started, so only a bug
// can exhaust it; losing seconds is better than losing the device.
constexpr uint32_t kMostPolls = 1u << 25;
__device__ inline uint32_t published(const uint32_t* word)
{
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

} // namespace sluice
