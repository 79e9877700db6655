// SPDX-License-Identifier: MIT OR Apache-2.0
// Access to device memory through 64-bit addresses, which are held as uvec2 since devices need not
// have 64-bit integers.
//
// Memory is accessed in words of 4 bytes, relative to a base address that is a multiple of 4.
// Callers check bounds. Only loadWord does so itself: it knows how many words there are.
#ifndef SLUICE_MEMORY_GLSL
#define SLUICE_MEMORY_GLSL

#include "layout/base.h"

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#ifdef SLUICE_EXT
#extension GL_EXT_shader_8bit_storage : require
#endif

// Memory that the kernel only reads.
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer WordsIn { uint w[]; };
// Memory that lanes of a workgroup write and read again. `coherent` stands at the member, because
// glslang 12 ignores it at the block.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer WordsOut { coherent uint w[]; };
// Such memory without `coherent`, for devices on which lanes see each other's plain stores, and for
// stores that no lane reads.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer WordsPlain { uint w[]; };
#ifdef SLUICE_EXT
layout(buffer_reference, std430, buffer_reference_align = 1) buffer BytesOut {
    coherent uint8_t b[];
};
layout(buffer_reference, std430, buffer_reference_align = 1) buffer BytesPlain {
    // The bytes are signed, because NVIDIA's compiler (driver 580) adds an instruction before a
    // store of an unsigned byte, which clears the upper bits of its register.
    int8_t b[];
};
#endif

// 64-bit arithmetic on pairs of words, the low one in x.
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
// Returns whether a < b.
bool less64(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
// Returns the 64-bit product of two words.
uvec2 mul64(uint a, uint b) {
    uvec2 r;
    umulExtended(a, b, r.y, r.x);
    return r;
}

// Returns whether [address, address + size) lies wholly inside [base, base + baseSize). The
// arithmetic does not overflow, whatever the arguments are.
bool inside64(uvec2 address, uvec2 size, uvec2 base, uvec2 baseSize) {
    uvec2 start = sub64(address, base);
    return !less64(address, base) && !less64(baseSize, start) &&
           !less64(sub64(baseSize, start), size);
}

// Returns word `index` of an array of `words` words, or 0 if `index` is past its end.
uint loadWord(uvec2 base, uint index, uint words) {
    return index < words ? WordsIn(base).w[index] : 0u;
}

// Returns the number in device memory at the address `count`, but at most `most`. If the address is
// 0, returns `most`.
uint countOf(uvec2 count, uint most) {
    return count == uvec2(0u) ? most : min(most, WordsIn(count).w[0]);
}

// Writes the final status of item `index` of a list of `count` items. If the item has failed, also
// updates the summary after the list: the number of failures, and the first item that failed. Only
// one invocation may call this for an item.
void writeStatus(uvec2 statuses, uint count, uint index, uint status) {
    WordsOut list = WordsOut(statuses);
    list.w[index] = status;
    if (status != SLUICE_ST_OK) {
        atomicAdd(list.w[count], 1u);
        atomicMin(list.w[count + 1u], index);
    }
}

#endif // SLUICE_MEMORY_GLSL
