// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables in CUDA: what shaders/lib/kernels/fse.h needs. By default each lane group has a table
// in shared memory, and the file that includes this one must define kGroupsPerWorkgroup first. A
// file that defines SLUICE_FSE_MEMORY must provide slotMemory() instead. Both kinds of files then
// include kernels/fse.h.
#pragma once

#include "layout/fse.h"
#include "cuda/lib/slots.cuh"

namespace sluice {
namespace {

#ifndef SLUICE_FSE_MEMORY
__shared__ struct {
    alignas(4) uint8_t slots[1u << SLUICE_FSE_LOG_MAX];
    uint32_t symbols[SLUICE_FSE_SYMBOLS];
} sSlots[kGroupsPerWorkgroup];

__device__ SlotMemory slotMemory(uint32_t group)
{
    return {sSlots[group].slots, sSlots[group].symbols};
}
#endif

// Returns a mask of the lanes that have the same symbol as this one. Symbols are below 2^bits.
__device__ inline uint32_t fseSame(uint32_t symbol, uint32_t bits)
{
    uint32_t same = kAllLanes;
#pragma unroll
    for (uint32_t b = 0; b < bits; ++b) {
        const uint32_t bit = symbol & 1u << b;
        // The mask of the lanes that agree with this one in bit b.
        same &= ballotIf(bit) ^ selectIf(bit, 0, kAllLanes);
    }
    return same;
}

} // namespace
} // namespace sluice
