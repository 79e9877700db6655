// SPDX-License-Identifier: MIT OR Apache-2.0
// Words that blocks wait for, of launches that are at work at the same time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice {

// Release, at device scope: with the word all that the thread has written or seen before.
__device__ inline void publish(uint32_t* word, uint32_t status)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(status) : "memory");
}
// All blocks that publish have begun, so the end of these loops is for mistakes: seconds are better
// than a lost device.
constexpr uint32_t kMostPolls = 1u << 25;
__device__ inline uint32_t published(const uint32_t* word)
{
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

} // namespace sluice
