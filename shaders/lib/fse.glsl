// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables in a shader: kernels/fse.h with the functions that it needs. The tables of each lane
// group take 1.5 KB of shared memory.
//
// A shader that includes this file must enable GL_GOOGLE_include_directive. The file includes
// layout/fse.h, memory.glsl and lanes.glsl; lanes.glsl describes the forms of a lane group, the
// variants of a shader and the specialization constants.
#ifndef SLUICE_FSE_GLSL
#define SLUICE_FSE_GLSL

#include "loops.glsl"
#include "compat.glsl"
#include "layout/fse.h"

#ifndef SLUICE_FSE_MEMORY // defined if the includer provides the shared memory
const uint kSlotWords = (1u << SLUICE_FSE_LOG_MAX) / 4u;
shared uint sSlots[kGroupsPerWorkgroup * kSlotWords];
shared uint sSymbols[kGroupsPerWorkgroup * SLUICE_FSE_SYMBOLS];

struct SlotMemory {
    uint slots, symbols; // where the lane group's words begin in sSlots and sSymbols
};

SlotMemory slotMemory(uint group) {
    return SlotMemory(group * kSlotWords, group * SLUICE_FSE_SYMBOLS);
}
#endif

// kernels/slots.h reads and writes its tables through these functions. sSlots has a byte for each
// slot, sSymbols a word for each symbol.
void setSlot(SlotMemory memory, uint at, uint symbol) {
    atomicOr(sSlots[memory.slots + (at >> 2)], symbol << (at & 3u) * 8u);
}
uint slotAt(SlotMemory memory, uint at) {
    return sSlots[memory.slots + (at >> 2)] >> (at & 3u) * 8u & 255u;
}
void setSlotWord(SlotMemory memory, uint at, uint word) { sSlots[memory.slots + at] = word; }
uint slotWord(SlotMemory memory, uint at) { return sSlots[memory.slots + at]; }
void setSymbol(SlotMemory memory, uint symbol, uint value) {
    sSymbols[memory.symbols + symbol] = value;
}
uint symbolAt(SlotMemory memory, uint symbol) { return sSymbols[memory.symbols + symbol]; }

// Returns the mask of the lanes that have the same symbol as this one. Symbols are below 2^bits,
// and `bits` is the same in all lanes. Ballots compare three bits of the symbols at a time.
uint fseSame(uint symbol, uint bits) {
    uint same = 0xffffffffu;
    SLUICE_DONT_UNROLL
    for (uint b = 0u; b < bits; b += 3u) {
        uvec3 one = uvec3(symbol) >> uvec3(b, b + 1u, b + 2u) & 1u;
        // Each component is the mask of the lanes that agree with this one in one bit.
        uvec3 votes = lgBallot3(one.x != 0u, one.y != 0u, one.z != 0u) ^ (one - 1u);
        same &= votes.x & votes.y & votes.z;
    }
    return same;
}

#include "kernels/fse.h"

#endif // SLUICE_FSE_GLSL
