// SPDX-License-Identifier: MIT OR Apache-2.0
// Bounded access to device memory through 64-bit addresses held as uvec2, without 64-bit integers.
//
// Loads and stores come in words of 4 bytes, relative to a base address that is a multiple of 4. A
// bounded function takes the number of words that it may access. Beyond that number a store does
// nothing and a load returns 0.
#ifndef SLUICE_MEMORY_GLSL
#define SLUICE_MEMORY_GLSL

#include "layout/base.h"

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#ifdef SLUICE_EXT
#extension GL_EXT_shader_8bit_storage : require
#endif

// For memory that the kernel only reads, without coherence.
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer WordsIn { uint w[]; };
// For memory that lanes of one workgroup write and read again. The qualifier is on the member
// because glslang 12 ignores it on the block.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer WordsOut { coherent uint w[]; };
// For the same memory, where lanes see each other's writes without `coherent` or do not read them.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer WordsPlain { uint w[]; };
#ifdef SLUICE_EXT
layout(buffer_reference, std430, buffer_reference_align = 1) buffer BytesOut {
    coherent uint8_t b[];
};
layout(buffer_reference, std430, buffer_reference_align = 1) buffer BytesPlain {
    int8_t b[]; // signed, because NVIDIA's compiler (580) clears the upper bits of unsigned ones
};
#endif

// 64-bit arithmetic on (low, high) pairs.
uvec2 add64(uvec2 a, uint b) {
    uint carry;
    uint low = uaddCarry(a.x, b, carry);
    return uvec2(low, a.y + carry);
}
uvec2 add64(uvec2 a, uvec2 b) {
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}
uvec2 sub64(uvec2 a, uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}
// a < b
bool less64(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
// a * b, 32 x 32 -> 64 bits
uvec2 mul64(uint a, uint b) {
    uvec2 r;
    umulExtended(a, b, r.y, r.x);
    return r;
}

// Returns whether [address, address + size) lies wholly inside [base, base + baseSize). The
// arithmetic does not overflow for any arguments.
bool inside64(uvec2 address, uvec2 size, uvec2 base, uvec2 baseSize) {
    uvec2 start = sub64(address, base);
    return !less64(address, base) && !less64(baseSize, start) &&
           !less64(sub64(baseSize, start), size);
}

uint loadWord(uvec2 base, uint index, uint words) {
    return index < words ? WordsIn(base).w[index] : 0u;
}

// Returns the count that lies in device memory at address `count`, limited to `most`. A null
// address means `most`.
uint countOf(uvec2 count, uint most) {
    return count == uvec2(0u) ? most : min(most, WordsIn(count).w[0]);
}

// Writes the final status of one of `count` items. A failure is also added to the summary that
// follows the list. One invocation calls this.
void writeStatus(uvec2 statuses, uint count, uint index, uint status) {
    WordsOut list = WordsOut(statuses);
    list.w[index] = status;
    if (status != SLUICE_ST_OK) {
        atomicAdd(list.w[count], 1u);
        atomicMin(list.w[count + 1u], index);
    }
}

#endif // SLUICE_MEMORY_GLSL
