// SPDX-License-Identifier: MIT OR Apache-2.0
// The memory of the tables of shaders/lib/kernels/slots.h. Here that is shared memory: a byte for
// each of the 2^log slots, and a word for each symbol.
#pragma once

#include "cuda/lib/compat.cuh"

namespace sluice {
namespace {

struct SlotMemory {
    uint8_t* slots;
    uint32_t* symbols;
};

__device__ inline void setSlot(const SlotMemory& memory, uint32_t at, uint32_t symbol)
{
    memory.slots[at] = static_cast<uint8_t>(symbol);
}
__device__ inline uint32_t slotAt(const SlotMemory& memory, uint32_t at)
{
    return memory.slots[at];
}
__device__ inline void setSlotWord(const SlotMemory& memory, uint32_t at, uint32_t word)
{
    reinterpret_cast<uint32_t*>(memory.slots)[at] = word;
}
__device__ inline uint32_t slotWord(const SlotMemory& memory, uint32_t at)
{
    return reinterpret_cast<const uint32_t*>(memory.slots)[at];
}
__device__ inline void setSymbol(const SlotMemory& memory, uint32_t symbol, uint32_t value)
{
    memory.symbols[symbol] = value;
}
__device__ inline uint32_t symbolAt(const SlotMemory& memory, uint32_t symbol)
{
    return memory.symbols[symbol];
}

} // namespace
} // namespace sluice

#include "kernels/slots.h"
