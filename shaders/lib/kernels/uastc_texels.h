// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the texels of a UASTC block (docs/uastc.md, 2). The host, GLSL and CUDA compile this
// text.
#ifndef SLUICE_KERNELS_UASTC_TEXELS_H
#define SLUICE_KERNELS_UASTC_TEXELS_H

#include "uastc_block.h"

SLUICE_KERNEL_BEGIN

struct UastcTexels {
    u32 t[16]; // R, G, B and A from the lowest byte on
};

struct UastcHalf { // a block of 8 bytes
    u32 x, y;
};
SLUICE_DEVICE UastcHalf uastcHalf(u32 x, u32 y) {
    UastcHalf block;
    block.x = x;
    block.y = y;
    return block;
}

// Interpolates two components at once, those in bytes 0 and 2 of `low` and `high`, by a weight from
// 0 to 64.
SLUICE_DEVICE u32 uastcBlendTwo(u32 low, u32 high, u32 weight) {
    // `sum` has two 16-bit sums. The result for each sum t is (257 t + 32) >> 14.
    u32 sum = low * (64u - weight) + high * weight;
    return ((sum + ((sum + 0x200020u) >> 8 & 0xff00ffu)) >> 6) & 0xff00ffu;
}
SLUICE_DEVICE u32 uastcBlend(u32 low, u32 high, u32 weight) {
    return uastcBlendTwo(low & 0xff00ffu, high & 0xff00ffu, weight) |
           uastcBlendTwo(low >> 8 & 0xff00ffu, high >> 8 & 0xff00ffu, weight) << 8;
}

SLUICE_DEVICE UastcTexels uastcTexels(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape,
                                      SLUICE_IN(UastcAllEnds) all) {
    UastcTexels texels;
    if (shape.mode == kUastcSolid) {
        SLUICE_UNROLL
        for (u32 i = 0u; i < 16u; ++i)
            texels.t[i] = uastcWord(block, 5u);
        return texels;
    }
    u32 pattern = shape.subsets > 1u ? kUastcPatterns[shape.pattern] : 0u;
    UastcBits weights = uastcWeights(block, shape);
    u32 bits = shape.weightBits, each = bits * shape.planes, mask = (1u << bits) - 1u,
        second = shape.planes == 2u ? 255u << 8u * shape.selector : 0u;
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        UastcEnds ends = uastcEndsOf(all, pattern >> 2u * i & 3u);
        u32 texel = uastcBlend(ends.low, ends.high, uastcWeight(weights.x & mask, bits));
        if (second != 0u)
            texel = (texel & ~second) |
                    (uastcBlend(ends.low, ends.high, uastcWeight(weights.x >> bits & mask, bits)) &
                     second);
        texels.t[i] = texel;
        weights.x = funnelRight(weights.x, weights.y, each);
        weights.y = funnelRight(weights.y, weights.z, each);
        weights.z >>= each;
    }
    return texels;
}

SLUICE_KERNEL_END
#endif
