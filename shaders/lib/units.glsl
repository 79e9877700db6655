// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies of bytes at any alignment, in words of 4 and units of 16 bytes that are aligned at the destination. Loads come in
// two steps: first all the aligned pieces in which the wanted bytes begin, so that they overlap; then the pieces behind,
// most of which a neighbouring lane has brought into the cache, and a funnel shift.
#ifndef SLUICE_UNITS_GLSL
#define SLUICE_UNITS_GLSL

#include "memory.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer UnitsIn {
    uvec4 v;
};
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer UnitsOut {
    uvec4 v;
};
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer WordOut {
    uint w;
};
#ifdef SLUICE_EXT
layout(buffer_reference, std430, buffer_reference_align = 1) writeonly buffer ByteOut {
    uint8_t b;
};
#endif

// ---------------------------------------------------------------------------------------------------------------
// Words: 4 bytes, of which [from, to) count. No word without any of those is read.

uint beginWord(uvec2 source, uint from) {
    return (source.x & 3u) + from < 4u ? WordsIn(uvec2(source.x & ~3u, source.y)).w[0] : 0u;
}

// low: what beginWord gave.
uint endWord(uvec2 source, uint to, uint low) {
    uint shift = source.x & 3u;
    uint value = low >> 8u * shift;
    if (shift + to > 4u)
        value |= WordsIn(uvec2(source.x & ~3u, source.y)).w[1] << 32u - 8u * shift;
    return value;
}

void storeWord(uvec2 target, uint value, uint from, uint to) {
    if (from == 0u && to == 4u) {
        WordOut(target).w = value;
    } else if (from < to) {
#ifdef SLUICE_EXT
        [[unroll]] for (uint i = 0u; i < 4u; ++i)
            if (i >= from && i < to)
                ByteOut(add64(target, i)).b = uint8_t(value >> 8u * i);
#else
        uint mask = (1u << 8u * (to - from)) - 1u << 8u * from;
        atomicAnd(WordsOut(target).w[0], ~mask);
        atomicOr(WordsOut(target).w[0], value & mask);
#endif
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Units: 16 bytes, all of which count.

uvec4 funnelShift(uvec4 low, uvec4 high, uint shift) {
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

// The aligned 16 bytes in which the byte at `source` stands.
uvec4 beginUnit(uvec2 source) { return UnitsIn(uvec2(source.x & ~15u, source.y)).v; }

// The 16 bytes at `source`; low: what beginUnit gave.
uvec4 endUnit(uvec2 source, uvec4 low) {
    uint shift = source.x & 15u;
    if (shift != 0u)
        low = funnelShift(low, UnitsIn(add64(uvec2(source.x & ~15u, source.y), 16u)).v, shift);
    return low;
}

// The first `bytes` bytes at `source`, at most 16, where nothing but their own words may be read.
uvec4 loadBytes(uvec2 source, uint bytes) {
    uvec4 words = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
        if (4u * i < bytes) {
            uvec2 word = add64(source, 4u * i);
            words[i] = endWord(word, min(bytes - 4u * i, 4u), beginWord(word, 0u));
        }
    return words;
}

// Bytes [from, to) of the unit at `target`, a multiple of 16.
void storeUnit(uvec2 target, uvec4 value, uint from, uint to) {
    if (from == 0u && to == 16u) {
        UnitsOut(target).v = value;
    } else {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            uint low = max(from, 4u * i), high = min(to, 4u * i + 4u);
            if (low < high)
                storeWord(add64(target, 4u * i), value[i], low - 4u * i, high - 4u * i);
        }
    }
}

#endif // SLUICE_UNITS_GLSL
