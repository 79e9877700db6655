// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies bytes at any alignment. The destination is written in aligned words of 4 bytes and aligned
// units of 16 bytes. Each word or unit takes two aligned loads from the source, a funnel shift and
// one store.
#ifndef SLUICE_UNITS_GLSL
#define SLUICE_UNITS_GLSL

#include "loops.glsl"
#include "memory.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer UnitsIn {
    uvec4 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer UnitsOut {
    uvec4 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer PairsIn { uvec2 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer PairsOut {
    uvec2 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer WordOut { uint w; };

// -----------------------------------------------------------------------------------------------
// Words. These functions copy bytes [from, to) of a word, where `from` and `to` are 0 to 4. An
// unaligned word of the source lies in two aligned words: beginWord loads the lower one, endWord
// loads the upper one and joins both. Neither loads an aligned word that has none of the bytes
// [from, to), since such a word may lie outside the source buffer.

uint beginWord(uvec2 source, uint from) {
    return (source.x & 3u) + from < 4u ? WordsIn(uvec2(source.x & ~3u, source.y)).w[0] : 0u;
}

// Returns the word at `source`, whose bytes from `to` on are meaningless. `low` is what beginWord
// has returned.
uint endWord(uvec2 source, uint to, uint low) {
    uint shift = source.x & 3u;
    uint value = low >> 8u * shift;
    if (shift + to > 4u)
        value |= WordsIn(uvec2(source.x & ~3u, source.y)).w[1] << (32u - 8u * shift);
    return value;
}

// Stores bytes [from, to) of `value` in the word at `target`.
void storeWord(uvec2 target, uint value, uint from, uint to) {
    if (from == 0u && to == 4u) {
        WordOut(target).w = value;
    } else if (from < to) {
#ifdef SLUICE_EXT
        SLUICE_UNROLL
        for (uint i = 0u; i < 4u; ++i)
            if (i >= from && i < to) BytesPlain(target).b[i] = int8_t(int(value >> 8u * i));
#else
        uint mask = ((1u << 8u * (to - from)) - 1u) << 8u * from;
        atomicAnd(WordsOut(target).w[0], ~mask);
        atomicOr(WordsOut(target).w[0], value & mask);
#endif
    }
}

// -----------------------------------------------------------------------------------------------
// Units of 16 bytes.

// Returns 16 of the 32 bytes of `low` and then `high`: those from byte `shift` (0 .. 15) on.
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
    if (bits != 0u) low = low >> bits | uvec4(low.yzw, high.x) << (32u - bits);
    return low;
}

// Returns the first `bytes` bytes at `source`, at most 16. Loads only words of the source that have
// some of these bytes.
uvec4 loadBytes(uvec2 source, uint bytes) {
    uvec4 words = uvec4(0u);
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i)
        if (4u * i < bytes) {
            uvec2 word = add64(source, 4u * i);
            words[i] = endWord(word, min(bytes - 4u * i, 4u), beginWord(word, 0u));
        }
    return words;
}

// Stores bytes [from, to) of `value` in unit `index` of the array of units at the address `base`.
// The loop over the words of an incomplete unit is not unrolled, because such units are rare and
// the code for a word is long.
void storeUnit(uvec2 base, uint index, uvec4 value, uint from, uint to) {
    if (from == 0u && to == 16u) {
        UnitsOut(base).v[index] = value;
    } else {
        SLUICE_DONT_UNROLL
        for (uint i = 0u; i < 4u; ++i) {
            uint low = max(from, 4u * i), high = min(to, 4u * i + 4u);
            if (low < high)
                storeWord(add64(base, 16u * index + 4u * i), value.x, low - 4u * i, high - 4u * i);
            value = value.yzwx;
        }
    }
}

// Does what storeUnit does, for `from` and `to` that are multiples of 4.
void storeWords(uvec2 base, uint index, uvec4 value, uint from, uint to) {
    if (from == 0u && to == 16u) {
        UnitsOut(base).v[index] = value;
    } else {
        SLUICE_UNROLL
        for (uint i = 0u; i < 4u; ++i)
            if (4u * i >= from && 4u * i < to) WordsPlain(base).w[4u * index + i] = value[i];
    }
}

#endif // SLUICE_UNITS_GLSL
