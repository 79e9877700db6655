// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns UASTC into ASTC 4x4 (docs/uastc.md, 3): the same values in another order of bits. The host,
// GLSL and CUDA compile this text.
//
// The includer provides reverseBits and what uastc_block.h needs.
#ifndef SLUICE_KERNELS_UASTC_ASTC_H
#define SLUICE_KERNELS_UASTC_ASTC_H

#include "uastc_block.h"

SLUICE_KERNEL_BEGIN

// Returns whether a subset's endpoints must change places. If the low endpoint is brighter, an ASTC
// decoder would take both for endpoints with contracted blue.
SLUICE_DEVICE bool uastcSwaps(SLUICE_IN(UastcEnds) ends) {
    return (ends.high & 255u) + (ends.high >> 8 & 255u) + (ends.high >> 16 & 255u) <
           (ends.low & 255u) + (ends.low >> 8 & 255u) + (ends.low >> 16 & 255u);
}

// Returns the weights, with those of the texels of `subset` inverted, because the endpoints of that
// subset change places.
SLUICE_DEVICE UastcBits uastcInverted(SLUICE_IN(UastcBits) weights, SLUICE_IN(UastcShape) shape,
                                      u32 subset) {
    UastcBits inverted = weights;
    u32 each = shape.weightBits * shape.planes;
    if (shape.subsets == 1u) {
        inverted.x = ~weights.x & uastcMask(0u, 16u * each);
        inverted.y = ~weights.y & uastcMask(32u, 16u * each);
        inverted.z = ~weights.z & uastcMask(64u, 16u * each);
        return inverted;
    }
    u32 texels = uastcTexelsOf(kUastcPatterns[shape.pattern], subset);
    if (each == 2u) {
        inverted.x ^= texels * 3u;
        return inverted;
    }
    // Only mode 2 is left, whose weights have three bits.
    texels = uastcEven(texels);
    u32 low = uastcTriple(texels & 255u), high = uastcTriple(texels >> 8);
    inverted.x ^= low | high << 24;
    inverted.y ^= high >> 8;
    return inverted;
}

SLUICE_DEVICE UastcBits uastcAstc(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape,
                                  SLUICE_IN(UastcAllEnds) all) {
    UastcBits astc = uastcNoBits();
    if (shape.mode == kUastcSolid) {
        u32 colour = uastcWord(block, 5u);
        astc.x = 0xfffffdfcu;
        astc.y = 0xffffffffu;
        astc.z = (colour & 255u) * 257u | (colour >> 8 & 255u) * 257u << 16;
        astc.w = (colour >> 16 & 255u) * 257u | (colour >> 24) * 257u << 16;
        return astc;
    }
    UastcBits weights = uastcWeights(block, shape);
    u32 swaps = 0u; // bit k is set if the endpoints of subset k change places
    if (shape.components != 2u) {
        SLUICE_DONT_UNROLL
        for (u32 k = 0u; k < 3u; ++k) {
            if (k >= shape.subsets) break;
            if (!uastcSwaps(uastcEndsOf(all, k))) continue;
            swaps |= 1u << k;
            weights = uastcInverted(weights, shape, k);
        }
    }
    u32 format = shape.components == 2u ? 4u : shape.components == 3u ? 8u : 12u, at = 17u;
    uastcPut(astc, 0u, kUastcBlockModes[shape.mode] | (shape.subsets - 1u) << 11);
    if (shape.subsets == 1u) {
        uastcPut(astc, 13u, format);
    } else {
        uastcPut(astc, 13u, kUastcSeeds[shape.pattern] | format << 12);
        at = 29u;
    }
    // Stores the endpoints, `group` values at a time. The high digits (trits or quints) of a group
    // have one common code. ASTC stores a few bits of this code after the low bits of each value.
    u32 each = 2u * shape.components, count = each * shape.subsets,
        group = shape.radix == 3u   ? 5u
                : shape.radix == 5u ? 3u
                                    : 1u;
    SLUICE_DONT_UNROLL
    for (u32 first = 0u; first < 18u; first += group) {
        if (first >= count) break;
        // `digits` has 4 bits for each value of the group. `lows` has 6 bits for each value if the
        // group has several.
        u32 digits = 0u, lows = 0u, code = 0u;
        SLUICE_DONT_UNROLL
        for (u32 k = 0u; k < 5u; ++k) {
            u32 i = first + k;
            if (k >= group || i >= count) break;
            u32 value = uastcValue(block, shape, i ^ (swaps >> (i / each) & 1u));
            digits |= value >> shape.lowBits << 4u * k;
            lows |= (value & ((1u << shape.lowBits) - 1u)) << 6u * k;
        }
        if (shape.radix == 3u)
            code = uastcTrits(digits & 15u, digits >> 4 & 15u, digits >> 8 & 15u,
                              digits >> 12 & 15u, digits >> 16);
        if (shape.radix == 5u) code = uastcQuints(digits & 15u, digits >> 4 & 15u, digits >> 8);
        // For each value, in 4 bits: how many bits of `code` come after its low bits.
        u32 parts = shape.radix == 3u ? 0x12122u : shape.radix == 5u ? 0x223u : 0u;
        SLUICE_DONT_UNROLL
        for (u32 k = 0u; k < 5u; ++k) {
            if (k >= group || first + k >= count) break;
            u32 bits = parts >> 4u * k & 15u, low = group == 1u ? lows : lows >> 6u * k & 63u;
            uastcPut(astc, at, low | (code & ((1u << bits) - 1u)) << shape.lowBits);
            code >>= bits;
            at += shape.lowBits + bits;
        }
    }
    u32 weightBits = 16u * shape.weightBits * shape.planes;
    if (shape.planes == 2u) uastcPut(astc, 126u - weightBits, shape.selector);
    astc.w |= reverseBits(weights.x);
    astc.z |= reverseBits(weights.y);
    astc.y |= reverseBits(weights.z);
    return astc;
}

SLUICE_KERNEL_END
#endif
