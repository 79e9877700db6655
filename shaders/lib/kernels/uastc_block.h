// SPDX-License-Identifier: MIT OR Apache-2.0
// A block of UASTC: its fields, its endpoints, and its weights as one string of bits. The host,
// GLSL and CUDA compile this text. Fields are read by shifts of the block's four words. No word is
// indexed by data, so the words can stay in registers.
//
// The includer provides funnelRight.
#ifndef SLUICE_KERNELS_UASTC_BLOCK_H
#define SLUICE_KERNELS_UASTC_BLOCK_H

#include "../formulas/uastc.h"
#include "uastc_tables.h"

SLUICE_KERNEL_BEGIN

struct UastcBits { // 128 bits, the lowest in x
    u32 x, y, z, w;
};

SLUICE_DEVICE UastcBits uastcNoBits() {
    UastcBits bits;
    bits.x = bits.y = bits.z = bits.w = 0u;
    return bits;
}

// Returns 32 bits from bit `at` on; those past bit 127 are 0.
SLUICE_DEVICE u32 uastcWord(SLUICE_IN(UastcBits) bits, u32 at) {
    u32 word = at >> 5, low = word == 0u   ? bits.x
                              : word == 1u ? bits.y
                              : word == 2u ? bits.z
                              : word == 3u ? bits.w
                                           : 0u;
    u32 high = word == 0u ? bits.y : word == 1u ? bits.z : word == 2u ? bits.w : 0u;
    return funnelRight(low, high, at & 31u);
}
// Returns `count` bits, 0 to 31, from bit `at` on.
SLUICE_DEVICE u32 uastcField(SLUICE_IN(UastcBits) bits, u32 at, u32 count) {
    return uastcWord(bits, at) & ((1u << count) - 1u);
}
// Sets the bits from bit `at` on, which must be 0, to `value`, which must not reach beyond bit 127.
SLUICE_DEVICE void uastcPut(SLUICE_INOUT(UastcBits, bits), u32 at, u32 value) {
    u32 word = at >> 5, shift = at & 31u, low = value << shift,
        high = (value >> 1) >> (31u - shift);
    bits.x |= word == 0u ? low : 0u;
    bits.y |= word == 1u ? low : word == 0u ? high : 0u;
    bits.z |= word == 2u ? low : word == 1u ? high : 0u;
    bits.w |= word == 3u ? low : word == 2u ? high : 0u;
}

struct UastcShape {
    u32 mode, pattern; // pattern: index in kUastcPatterns; 0 if there is one subset
    u32 components, subsets, planes, lowBits, radix, weightBits;
    u32 digitsAt, lowAt, weightsAt;
    u32 selector; // the component that has the second plane; 4 if there is one plane
    u32 valid;    // 0: the block is invalid, and all other members are those of some valid block
};

SLUICE_DEVICE UastcShape uastcShapeOfMode(SLUICE_IN(UastcBits) block, u32 mode) {
    UastcShape shape;
    shape.valid = mode < kUastcModes ? 1u : 0u;
    shape.mode = mode < kUastcModes ? mode : 0u;
    u32 kind = kUastcKinds[shape.mode], place = kUastcPlaces[shape.mode];
    shape.components = kind & 15u;
    shape.subsets = kind >> 4 & 3u;
    shape.planes = kind >> 6 & 3u;
    shape.lowBits = kind >> 8 & 15u;
    shape.radix = kind >> 12 & 7u;
    shape.weightBits = kind >> 16 & 7u;
    shape.digitsAt = place >> 8 & 255u;
    shape.lowAt = place >> 16 & 255u;
    shape.weightsAt = place >> 24;
    shape.pattern = uastcField(block, place & 255u, kind >> 24);
    shape.selector = shape.planes < 2u   ? 4u
                     : shape.mode == 17u ? 3u // always alpha, so it is not stored
                                         : uastcField(block, place & 255u, 2u);
    u32 first = shape.subsets == 3u ? kUastcThree : shape.mode == 7u ? kUastcSplit : 0u;
    u32 count = shape.subsets == 3u ? kUastcSplit - kUastcThree
                : shape.mode == 7u  ? kUastcPatternEnd - kUastcSplit
                                    : kUastcThree;
    if (shape.pattern >= count) {
        shape.pattern = 0u;
        shape.valid = 0u;
    }
    shape.pattern += first;
    return shape;
}
SLUICE_DEVICE u32 uastcMode(SLUICE_IN(UastcBits) block) {
    return kUastcCodes[block.x >> 2 & 31u] >> (block.x & 3u) * 8u & 31u;
}
SLUICE_DEVICE UastcShape uastcShape(SLUICE_IN(UastcBits) block) {
    return uastcShapeOfMode(block, uastcMode(block));
}

// Replaces an invalid block by one of opaque magenta.
SLUICE_DEVICE void uastcReplaceInvalid(SLUICE_INOUT(UastcBits, block),
                                       SLUICE_INOUT(UastcShape, shape)) {
    if (shape.valid != 0u) return;
    block.x = SLUICE_UA_MAGENTA_X;
    block.y = SLUICE_UA_MAGENTA_Y;
    block.z = block.w = 0u;
    shape = uastcShapeOfMode(block, kUastcSolid);
    shape.valid = 0u;
}

// Returns value `i` of the endpoints before it is decoded to 8 bits: its lowest lowBits bits are
// plain bits, and above them is a digit of base `radix`, if that is not 0.
SLUICE_DEVICE u32 uastcValue(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape, u32 i) {
    u32 low = uastcField(block, shape.lowAt + i * shape.lowBits, shape.lowBits);
    if (shape.radix == 0u) return low;
    bool trits = shape.radix == 3u;
    u32 each = trits ? 5u : 3u, bits = trits ? 8u : 7u, group = i / each, place = i - group * each,
        at = shape.digitsAt + group * bits;
    // The last group may have fewer digits, and so fewer bits.
    u32 digits = uastcField(block, at, SLUICE_MIN(bits, shape.lowAt - at));
    u32 below = trits ? (place == 0u   ? 1u
                         : place == 1u ? 3u
                         : place == 2u ? 9u
                         : place == 3u ? 27u
                                       : 81u)
                      : (place == 0u   ? 1u
                         : place == 1u ? 5u
                                       : 25u);
    return (digits / below % shape.radix) << shape.lowBits | low;
}
SLUICE_DEVICE u32 uastcWideValue(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape, u32 i) {
    return uastcWiden(uastcValue(block, shape, i), shape.lowBits, shape.radix);
}

// The endpoints of a subset: R, G, B and A from the lowest byte on.
struct UastcEnds {
    u32 low, high;
};
SLUICE_DEVICE UastcEnds uastcEnds(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape,
                                  u32 subset) {
    UastcEnds ends;
    ends.low = ends.high = 0u;
    // The loop is not unrolled, because its body is long and is inlined into every kernel.
    SLUICE_DONT_UNROLL
    for (u32 c = 0u; c < 4u; ++c) {
        if (c >= shape.components) break;
        u32 at = 2u * (subset * shape.components + c), pair = 0u;
        SLUICE_DONT_UNROLL
        for (u32 k = 0u; k < 2u; ++k)
            pair |= uastcWideValue(block, shape, at + k) << 16u * k;
        ends.low |= (pair & 255u) << 8u * c;
        ends.high |= (pair >> 16) << 8u * c;
    }
    if (shape.components == 3u) {
        ends.low |= 0xff000000u;
        ends.high |= 0xff000000u;
    } else if (shape.components == 2u) {
        ends.low = (ends.low & 255u) * 0x10101u | ends.low >> 8 << 24;
        ends.high = (ends.high & 255u) * 0x10101u | ends.high >> 8 << 24;
    }
    return ends;
}

// The endpoints of all subsets.
struct UastcAllEnds {
    UastcEnds first, second, third;
};
SLUICE_DEVICE UastcAllEnds uastcAllEnds(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape) {
    UastcAllEnds all;
    all.first.low = all.first.high = 0u;
    all.second = all.third = all.first;
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < 3u; ++k) {
        if (k >= shape.subsets) break;
        UastcEnds ends = uastcEnds(block, shape, k);
        if (k == 0u)
            all.first = ends;
        else if (k == 1u)
            all.second = ends;
        else
            all.third = ends;
    }
    return all;
}
SLUICE_DEVICE UastcEnds uastcEndsOf(SLUICE_IN(UastcAllEnds) all, u32 subset) {
    UastcEnds ends = all.first;
    if (subset == 1u) ends = all.second;
    if (subset == 2u) ends = all.third;
    return ends;
}

// For the word with bits first .. first + 31 of a string of bits: returns the mask of its bits that
// are among the string's lowest `count` bits.
SLUICE_DEVICE u32 uastcMask(u32 first, u32 count) {
    return count <= first ? 0u : count - first >= 32u ? ~0u : (1u << (count - first)) - 1u;
}
// Inserts a 0 before bit `at` of a string of bits.
SLUICE_DEVICE void uastcInsert(SLUICE_INOUT(UastcBits, bits), u32 at) {
    u32 x = uastcMask(0u, at), y = uastcMask(32u, at), z = uastcMask(64u, at);
    u32 bx = bits.x & ~x, by = bits.y & ~y, bz = bits.z & ~z;
    bits.x = (bits.x & x) | bx << 1;
    bits.y = (bits.y & y) | by << 1 | bx >> 31;
    bits.z = (bits.z & z) | bz << 1 | by >> 31;
}
// Removes bit `at` of a string of bits.
SLUICE_DEVICE void uastcRemove(SLUICE_INOUT(UastcBits, bits), u32 at) {
    u32 x = uastcMask(0u, at), y = uastcMask(32u, at);
    u32 bx = bits.x >> 1 | bits.y << 31, by = bits.y >> 1 | bits.z << 31;
    bits.x = (bits.x & x) | (bx & ~x);
    bits.y = (bits.y & y) | (by & ~y);
}

// Returns the weights as a string of at most 80 bits: weightBits for each texel and plane. A
// texel's weight of the first plane comes before that of the second.
SLUICE_DEVICE UastcBits uastcWeights(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape) {
    u32 each = shape.weightBits * shape.planes;
    UastcBits weights;
    weights.x = uastcWord(block, shape.weightsAt);
    weights.y = uastcWord(block, shape.weightsAt + 32u);
    weights.z = uastcWord(block, shape.weightsAt + 64u);
    weights.w = 0u;
    // In the first texel of each subset, the highest bit of a weight is 0 and is not stored. It is
    // put back here.
    uastcInsert(weights, shape.weightBits - 1u);
    if (shape.planes == 2u) uastcInsert(weights, each - 1u);
    if (shape.subsets > 1u) {
        u32 split = kUastcPartitions[shape.pattern];
        uastcInsert(weights, (split >> 20 & 15u) * each + each - 1u);
        if (shape.subsets > 2u) uastcInsert(weights, (split >> 24) * each + each - 1u);
    }
    weights.x &= uastcMask(0u, 16u * each);
    weights.y &= uastcMask(32u, 16u * each);
    weights.z &= uastcMask(64u, 16u * each);
    return weights;
}

// Returns the 16 even bits of a word, side by side.
SLUICE_DEVICE u32 uastcEven(u32 bits) {
    bits &= 0x55555555u;
    bits = (bits | bits >> 1) & 0x33333333u;
    bits = (bits | bits >> 2) & 0x0f0f0f0fu;
    bits = (bits | bits >> 4) & 0x00ff00ffu;
    return (bits | bits >> 8) & 0xffffu;
}
// Returns the lower two of every four bits of the two words, side by side.
SLUICE_DEVICE u32 uastcEvenPairs(u32 low, u32 high) {
    low &= 0x33333333u;
    low = (low | low >> 2) & 0x0f0f0f0fu;
    low = (low | low >> 4) & 0x00ff00ffu;
    high &= 0x33333333u;
    high = (high | high >> 2) & 0x0f0f0f0fu;
    high = (high | high >> 4) & 0x00ff00ffu;
    return ((low | low >> 8) & 0xffffu) | (high | high >> 8) << 16;
}
// `pattern` has the subset of texel i in bits 2 i and 2 i + 1. Returns a word in which bit 2 i is
// set if texel i belongs to `subset`.
SLUICE_DEVICE u32 uastcTexelsOf(u32 pattern, u32 subset) {
    u32 other = pattern ^ subset * 0x55555555u;
    return ~(other | other >> 1) & 0x55555555u;
}
// Returns 24 bits, in which each of the lowest 8 bits is repeated three times.
SLUICE_DEVICE u32 uastcTriple(u32 bits) {
    bits = (bits | bits << 8) & 0xf00fu;
    bits = (bits | bits << 4) & 0xc30c3u;
    return ((bits | bits << 2) & 0x249249u) * 7u;
}

SLUICE_KERNEL_END
#endif
