// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies of bytes at any alignment in units of 16 bytes, aligned at the destination: two aligned 16-byte loads, funnel
// shifted, and one store; units that are not wholly written go word by word, and words that are not go byte by byte
// or, without 8-bit stores, as atomics.
#ifndef SLUICE_UNITS_GLSL
#define SLUICE_UNITS_GLSL

#include "memory.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer UnitsIn {
    uvec4 v;
};
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer UnitsOut {
    uvec4 v;
};

// The 4 words at `address`, a multiple of 16; words that hold no byte of [begin, end) are not read and give 0.
uvec4 loadWordsWithin(uvec2 address, uvec2 begin, uvec2 end) {
    uvec4 words = uvec4(0u);
    uvec2 lowest = uvec2(begin.x & ~3u, begin.y);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        uvec2 word = add64(address, 4u * i);
        if (!less64(word, lowest) && less64(word, end))
            words[i] = WordsIn(word).w[0];
    }
    return words;
}

// The 16 bytes from byte `shift` (0 .. 15) of the aligned block at `address` on; only [from, to) of them count.
//   within   both blocks lie wholly in [begin, end); else every word is checked
uvec4 loadUnit(uvec2 address, uint shift, uint from, uint to, bool within, uvec2 begin, uvec2 end) {
    uvec4 low = uvec4(0u), high = uvec4(0u);
    uvec2 next = add64(address, 16u);
    if (within) {
        if (shift + from < 16u)
            low = UnitsIn(address).v;
        if (shift + to > 16u)
            high = UnitsIn(next).v;
    } else {
        low = loadWordsWithin(address, begin, end);
        high = loadWordsWithin(next, begin, end);
    }
    if ((shift & 8u) != 0u) {
        low = uvec4(low.zw, high.xy);
        high.xy = high.zw;
    }
    if ((shift & 4u) != 0u) {
        low = uvec4(low.yzw, high.x);
        high.x = high.y;
    }
    uint bits = (shift & 3u) * 8u;
    if (bits != 0u)
        low = low >> bits | uvec4(low.yzw, high.x) << 32u - bits;
    return low;
}

void storePartOfWord(uvec2 address, uint value, uint from, uint to) {
#ifdef SLUICE_EXT
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
        if (i >= from && i < to)
            BytesOut(address).b[i] = uint8_t(value >> 8u * i);
#else
    uint mask = (1u << 8u * (to - from)) - 1u << 8u * from;
    atomicAnd(WordsOut(address).w[0], ~mask);
    atomicOr(WordsOut(address).w[0], value & mask);
#endif
}

// Bytes [from, to) of the unit at `address`, a multiple of 16.
void storeUnit(uvec2 address, uvec4 value, uint from, uint to) {
    if (from == 0u && to == 16u) {
        UnitsOut(address).v = value;
    } else {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            uint low = max(from, 4u * i), high = min(to, 4u * i + 4u);
            if (low + 4u == high)
                WordsOut(add64(address, 4u * i)).w[0] = value[i];
            else if (low < high)
                storePartOfWord(add64(address, 4u * i), value[i], low - 4u * i, high - 4u * i);
        }
    }
}

#endif // SLUICE_UNITS_GLSL
