// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns UASTC into BC7 (docs/uastc.md, 4). Endpoints and weights are converted as they are stored;
// texels are not decoded. The host, GLSL and CUDA compile this text.
#ifndef SLUICE_KERNELS_UASTC_BC7_H
#define SLUICE_KERNELS_UASTC_BC7_H

#include "uastc_block.h"

SLUICE_KERNEL_BEGIN

// An endpoint's p-bit is the lowest bit that all of its components share. Returns it for components
// of 8 bits, p-bit included: the lowest bit that most of the components have.
SLUICE_DEVICE u32 uastcP8(u32 end, u32 components) {
    u32 odd = end & (components == 3u ? 0x10101u : 0x1010101u);
    return odd * 0x1010101u >> 24 > components >> 1 ? 1u : 0u;
}
// Returns the p-bit with the smaller error, for an endpoint of four components of 6 bits, p-bit
// included.
SLUICE_DEVICE u32 uastcP6(u32 end) {
    u32 without = 0u, with = 0u;
    SLUICE_DONT_UNROLL
    for (u32 c = 0u; c < 4u; ++c) {
        without += uastcStoredError(end >> 8u * c & 255u, 5u, 0u);
        with += uastcStoredError(end >> 8u * c & 255u, 5u, 1u);
    }
    return with < without ? 1u : 0u;
}
// Returns the p-bit with the smaller error, for two endpoints that share one. They have three
// components of 7 bits, p-bit included.
SLUICE_DEVICE u32 uastcP7(u32 low, u32 high) {
    u32 without = 0u, with = 0u;
    SLUICE_DONT_UNROLL
    for (u32 c = 0u; c < 3u; ++c) {
        u32 a = low >> 8u * c & 255u, b = high >> 8u * c & 255u;
        without += uastcStoredError(a, 6u, 0u) + uastcStoredError(b, 6u, 0u);
        with += uastcStoredError(a, 6u, 1u) + uastcStoredError(b, 6u, 1u);
    }
    return with < without ? 1u : 0u;
}
// Returns uastcStored(value, 7, p), with less arithmetic.
SLUICE_DEVICE u32 uastcStored7(u32 value, u32 p) {
    return p != 0u ? value >> 1 : SLUICE_MIN(value + (value & 1u), 254u) >> 1;
}

// Returns component `c` of an endpoint.
SLUICE_DEVICE u32 uastcPart(u32 end, u32 c) { return end >> 8u * c & 255u; }

// Makes a block of BC7's mode 6, which has one subset. `low` and `high` have 7 bits of each
// component, pLow and pHigh are the p-bits below these.
SLUICE_DEVICE UastcBits uastcPutBc7Mode6(u32 low, u32 high, u32 pLow, u32 pHigh, u32 indices0,
                                         u32 indices1) {
    UastcBits bc7 = uastcNoBits(), indices = uastcNoBits();
    uastcPut(bc7, 6u, 1u);
    SLUICE_UNROLL
    for (u32 c = 0u; c < 4u; ++c) {
        uastcPut(bc7, 7u + 14u * c, uastcPart(low, c));
        uastcPut(bc7, 14u + 14u * c, uastcPart(high, c));
    }
    uastcPut(bc7, 63u, pLow);
    uastcPut(bc7, 64u, pHigh);
    indices.x = indices0;
    indices.y = indices1;
    uastcRemove(indices, 3u);
    uastcPut(bc7, 65u, indices.x);
    uastcPut(bc7, 97u, indices.y);
    return bc7;
}

// Makes a block of BC7's mode 5, which has separate indices for A. `low` and `high` have 7 bits of
// R, G and B, and 8 of A.
SLUICE_DEVICE UastcBits uastcPutBc7Mode5(u32 rotation, u32 low, u32 high, u32 colours, u32 alphas) {
    UastcBits bc7 = uastcNoBits();
    uastcPut(bc7, 5u, 1u | rotation << 1);
    SLUICE_UNROLL
    for (u32 c = 0u; c < 3u; ++c) {
        uastcPut(bc7, 8u + 14u * c, uastcPart(low, c));
        uastcPut(bc7, 15u + 14u * c, uastcPart(high, c));
    }
    uastcPut(bc7, 50u, low >> 24);
    uastcPut(bc7, 58u, high >> 24);
    uastcPut(bc7, 66u, (colours & 1u) | (colours >> 2) << 1);
    uastcPut(bc7, 97u, (alphas & 1u) | (alphas >> 2) << 1);
    return bc7;
}

SLUICE_DEVICE UastcBits uastcBc7OneSubset(SLUICE_IN(UastcAllEnds) all, SLUICE_IN(UastcShape) shape,
                                          SLUICE_IN(UastcBits) weights) {
    UastcEnds ends = all.first;
    u32 low = ends.low, high = ends.high;
    u32 counted = shape.components == 3u ? 3u : 4u, pLow = uastcP8(low, counted),
        pHigh = uastcP8(high, counted), lows = 0u, highs = 0u;
    SLUICE_UNROLL
    for (u32 c = 0u; c < 4u; ++c) {
        lows |= uastcStored7(uastcPart(low, c), pLow) << 8u * c;
        highs |= uastcStored7(uastcPart(high, c), pHigh) << 8u * c;
    }
    u32 x = weights.x, y = weights.y, z = weights.z;
    if (shape.weightBits != 4u) {
        u32 bits = shape.weightBits, first = 0u, second = 0u;
        SLUICE_UNROLL
        for (u32 i = 0u; i < 16u; ++i) {
            u32 weight = x & ((1u << bits) - 1u);
            x = funnelRight(x, y, bits);
            y = funnelRight(y, z, bits);
            z >>= bits;
            u32 index = bits == 2u ? weight * 5u
                        : bits == 3u
                            ? 2u * weight + (weight >> 2)
                            : (weight >> 1) - (weight == 14u ? 1u : 0u) + (weight == 17u ? 1u : 0u);
            if (i < 8u)
                first |= index << 4u * i;
            else
                second |= index << (4u * i - 32u);
        }
        x = first;
        y = second;
    }
    return uastcPutBc7Mode6(lows, highs, pLow, pHigh, x, y);
}

SLUICE_DEVICE UastcBits uastcBc7TwoPlanes(SLUICE_IN(UastcAllEnds) all, SLUICE_IN(UastcShape) shape,
                                          SLUICE_IN(UastcBits) weights) {
    u32 shift = 8u * shape.selector, lows = 0u, highs = 0u;
    UastcEnds ends = all.first;
    u32 low = ends.low, high = ends.high;
    // The component of the second plane changes places with alpha, for which mode 5 has separate
    // indices.
    u32 lowSwap = (low >> shift ^ low >> 24) & 255u, highSwap = (high >> shift ^ high >> 24) & 255u;
    if (shape.selector != 3u) {
        low ^= lowSwap << shift | lowSwap << 24;
        high ^= highSwap << shift | highSwap << 24;
    }
    SLUICE_UNROLL
    for (u32 c = 0u; c < 3u; ++c) {
        lows |= uastcScaled(uastcPart(low, c), 127u) << 8u * c;
        highs |= uastcScaled(uastcPart(high, c), 127u) << 8u * c;
    }
    u32 colours, alphas;
    if (shape.weightBits == 1u) {
        colours = (weights.x & 0x55555555u) * 3u;
        alphas = (weights.x >> 1 & 0x55555555u) * 3u;
    } else {
        colours = uastcEvenPairs(weights.x, weights.y);
        alphas = uastcEvenPairs(weights.x >> 2, weights.y >> 2);
    }
    return uastcPutBc7Mode5((shape.selector + 1u) & 3u, lows | (low & 0xff000000u),
                            highs | (high & 0xff000000u), colours, alphas);
}

// One of BC7's subsets: its texels (bit 2 i for texel i), the number of the UASTC subset that has
// its endpoints, and its anchor: the texel whose index is stored without its highest bit.
struct UastcSubset {
    u32 texels, ours, anchor;
};
SLUICE_DEVICE UastcSubset uastcSubset(SLUICE_IN(UastcShape) shape, u32 k) {
    UastcSubset subset;
    u32 split = kUastcPartitions[shape.pattern];
    subset.ours = split >> (6u + 2u * k) & 3u;
    subset.anchor = k == 0u ? 0u : split >> (8u + 4u * k) & 15u;
    if (shape.pattern >= kUastcSplit)
        subset.texels = uastcTexelsOf(kUastcSplits[shape.pattern - kUastcSplit], k);
    else
        subset.texels = uastcTexelsOf(kUastcPatterns[shape.pattern], subset.ours);
    if (shape.mode == 1u) { // one subset becomes two equal ones, by BC7's pattern 0
        subset.texels = k == 0u ? 0x05050505u : 0x50505050u;
        subset.ours = 0u;
        subset.anchor = 15u * k;
    }
    return subset;
}

// Makes a block of BC7's mode 1, 2, 3 or 7, which have two or three subsets.
SLUICE_DEVICE UastcBits uastcBc7Subsets(SLUICE_IN(UastcAllEnds) all, SLUICE_IN(UastcShape) shape,
                                        SLUICE_IN(UastcBits) weights) {
    UastcBits bc7 = uastcNoBits(), indices = weights;
    u32 mode = shape.mode == 2u                        ? 1u
               : shape.mode == 3u || shape.mode == 7u  ? 2u
               : shape.mode == 9u || shape.mode == 16u ? 7u
                                                       : 3u;
    u32 subsets = mode == 2u ? 3u : 2u, bits = mode == 1u ? 6u : mode == 3u ? 7u : 5u;
    u32 number = shape.mode == 1u ? 0u : kUastcPartitions[shape.pattern] & 63u, at = mode + 7u;
    uastcPut(bc7, mode, 1u | number << 1);
    u32 each = mode == 1u ? 3u : 2u, components = mode == 7u ? 4u : 3u,
        pAt = at + 2u * subsets * components * bits,
        pBits = mode == 1u   ? 2u
                : mode == 2u ? 0u
                             : 4u;
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < 3u; ++k) {
        if (k >= subsets) break;
        UastcSubset subset = uastcSubset(shape, k);
        u32 top = each * subset.anchor + each - 1u,
            inverted = (top < 32u ? indices.x >> top : indices.y >> (top - 32u)) & 1u;
        if (inverted != 0u) {
            if (each == 2u) {
                indices.x ^= subset.texels * 3u;
            } else {
                u32 texels = uastcEven(subset.texels), low = uastcTriple(texels & 255u),
                    high = uastcTriple(texels >> 8);
                indices.x ^= low | high << 24;
                indices.y ^= high >> 8;
            }
        }
        UastcEnds ends = uastcEndsOf(all, subset.ours);
        u32 low = inverted != 0u ? ends.high : ends.low,
            high = inverted != 0u ? ends.low : ends.high, pLow = 0u, pHigh = 0u;
        if (mode == 1u) {
            pLow = pHigh = uastcP7(low, high);
            uastcPut(bc7, pAt + k, pLow);
        } else if (mode != 2u) {
            pLow = mode == 7u ? uastcP6(low) : uastcP8(low, 3u);
            pHigh = mode == 7u ? uastcP6(high) : uastcP8(high, 3u);
            uastcPut(bc7, pAt + 2u * k, pLow | pHigh << 1);
        }
        SLUICE_DONT_UNROLL
        for (u32 c = 0u; c < 4u; ++c) {
            if (c >= components) break;
            u32 a = uastcPart(low, c), b = uastcPart(high, c);
            if (mode == 2u) {
                a = uastcScaled(a, 31u);
                b = uastcScaled(b, 31u);
            } else {
                a = uastcStored(a, bits, pLow);
                b = uastcStored(b, bits, pHigh);
            }
            uastcPut(bc7, at + (c * subsets + k) * 2u * bits, a | b << bits);
        }
    }
    // The highest bit of each anchor's index is 0 now, and is not stored. The bit of the last
    // anchor is removed first, so that the bits of the other anchors keep their positions.
    u32 split = shape.mode == 1u ? 15u << 12 : kUastcPartitions[shape.pattern],
        second = split >> 12 & 15u, third = subsets == 3u ? split >> 16 & 15u : 0u;
    if (subsets == 3u) uastcRemove(indices, each * SLUICE_MAX(second, third) + each - 1u);
    uastcRemove(indices, each * (subsets == 3u ? SLUICE_MIN(second, third) : second) + each - 1u);
    uastcRemove(indices, each - 1u);
    uastcPut(bc7, pAt + pBits, indices.x);
    if (mode == 1u) uastcPut(bc7, pAt + pBits + 32u, indices.y);
    return bc7;
}

SLUICE_DEVICE UastcBits uastcBc7Solid(u32 colour) {
    u32 low = 0u, high = 0u;
    bool has0 = false, has255 = false;
    SLUICE_UNROLL
    for (u32 c = 0u; c < 4u; ++c) {
        has0 = has0 || uastcPart(colour, c) == 0u;
        has255 = has255 || uastcPart(colour, c) == 255u;
    }
    bool mode6 = !has255 || !has0;
    u32 p = has255 ? 1u : 0u;
    SLUICE_UNROLL
    for (u32 c = 0u; c < 4u; ++c) {
        u32 value = uastcPart(colour, c);
        u32 pair = mode6 ? uastcSolid6(value, p) : c < 3u ? uastcSolid5(value) : value * 257u;
        low |= (pair & 255u) << 8u * c;
        high |= pair >> 8 << 8u * c;
    }
    if (mode6) return uastcPutBc7Mode6(low, high, p, p, 0x55555555u, 0x55555555u);
    return uastcPutBc7Mode5(0u, low, high, 0x55555555u, 0u);
}

SLUICE_DEVICE UastcBits uastcBc7(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape,
                                 SLUICE_IN(UastcAllEnds) all) {
    if (shape.mode == kUastcSolid) return uastcBc7Solid(uastcWord(block, 5u));
    UastcBits weights = uastcWeights(block, shape);
    if (shape.planes == 2u) return uastcBc7TwoPlanes(all, shape, weights);
    if (shape.subsets == 1u && shape.mode != 1u) return uastcBc7OneSubset(all, shape, weights);
    return uastcBc7Subsets(all, shape, weights);
}

SLUICE_KERNEL_END
#endif
