// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes BC1 and BC4 blocks, of which BC3 and BC5 consist, from the texels of a UASTC block
// (docs/uastc.md, 5). The host, GLSL and CUDA compile this text. It uses 32-bit integers alone, so
// that all of them make the same blocks.
#ifndef SLUICE_KERNELS_UASTC_BC_H
#define SLUICE_KERNELS_UASTC_BC_H

#include "uastc_texels.h"

SLUICE_KERNEL_BEGIN

// Makes a BC4 block of the component that begins at bit `shift` of each texel.
SLUICE_DEVICE UastcHalf uastcBc4(SLUICE_IN(UastcTexels) texels, u32 shift) {
    u32 most = 0u, least = 255u;
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        u32 value = texels.t[i] >> shift & 255u;
        most = SLUICE_MAX(most, value);
        least = SLUICE_MIN(least, value);
    }
    UastcHalf bc4;
    bc4.x = most | least << 8;
    bc4.y = 0u;
    if (most == least) return bc4;
    u32 range = most - least;
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        // The value lies above `steps` of the seven borders between the eight values of the block.
        u32 value = 14u * ((texels.t[i] >> shift & 255u) - least) + 4u, steps = 0u;
        SLUICE_UNROLL
        for (u32 k = 1u; k <= 13u; k += 2u)
            steps += k * range <= value ? 1u : 0u;
        u32 index = steps == 7u ? 0u : steps == 0u ? 1u : 8u - steps, at = 16u + 3u * i;
        if (at < 32u) bc4.x |= index << at;
        if (at > 29u) bc4.y |= at < 32u ? index >> (32u - at) : index << (at - 32u);
    }
    return bc4;
}

// Returns a BC1 block of two 5:6:5 colours and indices. BC1 has four colours only if its first
// colour is above its second, so equal or exchanged colours are changed accordingly.
SLUICE_DEVICE UastcHalf uastcBc1Block(u32 first, u32 second, u32 indices) {
    UastcHalf bc1;
    if (first == second) {
        indices = 0u;
        if (second != 0u) {
            --second;
        } else {
            first = 1u;
            indices = 0x55555555u;
        }
    }
    bool exchange = first < second;
    bc1.x = exchange ? second | first << 16 : first | second << 16;
    bc1.y = exchange ? indices ^ 0x55555555u : indices;
    return bc1;
}
SLUICE_DEVICE u32 uastc565(u32 r, u32 g, u32 b) { return r << 11 | g << 5 | b; }
SLUICE_DEVICE u32 uastcTo565(u32 colour) {
    return uastc565(uastcScaled(colour & 255u, 31u), uastcScaled(colour >> 8 & 255u, 63u),
                    uastcScaled(colour >> 16 & 255u, 31u));
}

SLUICE_DEVICE UastcHalf uastcBc1Solid(u32 colour) {
    u32 r = kUastcSolidBc1[colour & 255u], g = kUastcSolidBc1[colour >> 8 & 255u],
        b = kUastcSolidBc1[colour >> 16 & 255u];
    return uastcBc1Block(uastc565(r & 31u, g >> 16 & 63u, b & 31u),
                         uastc565(r >> 5 & 31u, g >> 22, b >> 5 & 31u), 0xaaaaaaaau);
}

// Makes a BC1 block from the UASTC block's own endpoints and weights. A hint in the block says that
// these suit BC1.
SLUICE_DEVICE UastcHalf uastcBc1Hinted(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape,
                                       SLUICE_IN(UastcAllEnds) all) {
    UastcBits weights = uastcWeights(block, shape);
    u32 bits = shape.weightBits, each = bits * shape.planes, indices = 0u;
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        u32 weight = weights.x & ((1u << bits) - 1u);
        u32 third = bits == 1u   ? 3u * weight
                    : bits == 2u ? weight
                    : bits == 3u ? weight >> 1
                    : bits == 4u ? (weight < 3u    ? 0u
                                    : weight < 8u  ? 1u
                                    : weight < 13u ? 2u
                                                   : 3u)
                                 : (weight < 6u    ? 0u
                                    : weight < 16u ? 1u
                                    : weight < 26u ? 2u
                                                   : 3u);
        indices |= (0x78u >> 2u * third & 3u) << 2u * i; // thirds 0 1 2 3 are indices 0 2 3 1
        weights.x = funnelRight(weights.x, weights.y, each);
        weights.y = funnelRight(weights.y, weights.z, each);
        weights.z >>= each;
    }
    return uastcBc1Block(uastcTo565(all.first.low), uastcTo565(all.first.high), indices);
}

struct UastcColour {
    int r, g, b;
};
SLUICE_DEVICE UastcColour uastcColour(u32 texel) {
    UastcColour colour;
    colour.r = int(texel & 255u);
    colour.g = int(texel >> 8 & 255u);
    colour.b = int(texel >> 16 & 255u);
    return colour;
}
SLUICE_DEVICE UastcColour uastcFrom565(u32 value) {
    u32 r = value >> 11, g = value >> 5 & 63u, b = value & 31u;
    UastcColour colour;
    colour.r = int(r << 3 | r >> 2);
    colour.g = int(g << 2 | g >> 4);
    colour.b = int(b << 3 | b >> 2);
    return colour;
}
SLUICE_DEVICE int uastcDot(SLUICE_IN(UastcColour) a, SLUICE_IN(UastcColour) b) {
    return a.r * b.r + a.g * b.g + a.b * b.b;
}
SLUICE_DEVICE int uastcAbs(int value) { return value < 0 ? -value : value; }

// A line between two 5:6:5 colours, on which each texel is moved to one of four points. `thirds`
// has two bits for each texel: how many thirds of the way from `second` to `first` its point lies.
// `error` is nine times the sum of squared errors.
struct UastcLine {
    u32 first, second, thirds, error;
};
SLUICE_DEVICE UastcLine uastcLine(SLUICE_IN(UastcTexels) texels, u32 first, u32 second) {
    UastcLine line;
    line.first = first;
    line.second = second;
    line.thirds = 0u;
    line.error = 0u;
    UastcColour a = uastcFrom565(first), b = uastcFrom565(second), way;
    way.r = a.r - b.r;
    way.g = a.g - b.g;
    way.b = a.b - b.b;
    int whole = uastcDot(way, way);
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        UastcColour texel = uastcColour(texels.t[i]);
        texel.r -= b.r;
        texel.g -= b.g;
        texel.b -= b.b;
        int at = 6 * uastcDot(texel, way);
        int third = (at > whole ? 1 : 0) + (at > 3 * whole ? 1 : 0) + (at > 5 * whole ? 1 : 0);
        line.thirds |= u32(third) << 2u * i;
        texel.r = 3 * texel.r - third * way.r;
        texel.g = 3 * texel.g - third * way.g;
        texel.b = 3 * texel.b - third * way.b;
        line.error += u32(uastcDot(texel, texel));
    }
    return line;
}

// Returns the axis along which the texels differ most, by power iterations on their covariance
// matrix.
SLUICE_DEVICE UastcColour uastcAxis(SLUICE_IN(UastcTexels) texels) {
    UastcColour sum;
    sum.r = sum.g = sum.b = 0;
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        UastcColour texel = uastcColour(texels.t[i]);
        sum.r += texel.r;
        sum.g += texel.g;
        sum.b += texel.b;
    }
    int rr = 0, rg = 0, rb = 0, gg = 0, gb = 0, bb = 0; // the covariances, times 256: below 2^29
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        UastcColour texel = uastcColour(texels.t[i]);
        int r = 16 * texel.r - sum.r, g = 16 * texel.g - sum.g, b = 16 * texel.b - sum.b;
        rr += r * r;
        rg += r * g;
        rb += r * b;
        gg += g * g;
        gb += g * b;
        bb += b * b;
    }
    // Covariances are scaled to below 2^13 and the axis always to below 2^12, so that no product
    // overflows.
    int most = SLUICE_MAX(SLUICE_MAX(rr, gg), SLUICE_MAX(bb, 1)), divisor = (most >> 13) + 1;
    rr /= divisor;
    rg /= divisor;
    rb /= divisor;
    gg /= divisor;
    gb /= divisor;
    bb /= divisor;
    UastcColour axis;
    axis.r = rr;
    axis.g = rg;
    axis.b = rb;
    if (gg > rr) {
        axis.r = rg;
        axis.g = gg;
        axis.b = gb;
    }
    if (bb > SLUICE_MAX(rr, gg)) {
        axis.r = rb;
        axis.g = gb;
        axis.b = bb;
    }
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < 4u; ++k) {
        int longest = SLUICE_MAX(uastcAbs(axis.r), SLUICE_MAX(uastcAbs(axis.g), uastcAbs(axis.b)));
        divisor = (longest >> 12) + 1;
        int r = axis.r / divisor, g = axis.g / divisor, b = axis.b / divisor;
        axis.r = rr * r + rg * g + rb * b;
        axis.g = rg * r + gg * g + gb * b;
        axis.b = rb * r + gb * g + bb * b;
    }
    int longest = SLUICE_MAX(uastcAbs(axis.r), SLUICE_MAX(uastcAbs(axis.g), uastcAbs(axis.b)));
    divisor = (longest >> 12) + 1;
    axis.r /= divisor;
    axis.g /= divisor;
    axis.b /= divisor;
    return axis;
}

// Returns one component of the endpoint that fits best. As an 8-bit value it is 3 * numerator /
// denominator; the result is scaled to 0 .. most.
SLUICE_DEVICE u32 uastcFitted(int numerator, int denominator, int most) {
    int positive = SLUICE_MAX(numerator, 0);
    return u32(SLUICE_MIN((6 * most * positive + 255 * denominator) / (510 * denominator), most));
}

// Moves the ends to where the sum of squared errors is least while the thirds stay the same.
// Returns the line as it was if that does not reduce its error.
SLUICE_DEVICE UastcLine uastcRefined(SLUICE_IN(UastcTexels) texels, SLUICE_IN(UastcLine) line) {
    int aa = 0, ab = 0, bb = 0; // sums of products of the ends' weights, in thirds
    UastcColour a, b;           // sums of texels, times these weights
    a.r = a.g = a.b = b.r = b.g = b.b = 0;
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        UastcColour texel = uastcColour(texels.t[i]);
        int part = int(line.thirds >> 2u * i & 3u), other = 3 - part;
        aa += part * part;
        ab += part * other;
        bb += other * other;
        a.r += part * texel.r;
        a.g += part * texel.g;
        a.b += part * texel.b;
        b.r += other * texel.r;
        b.g += other * texel.g;
        b.b += other * texel.b;
    }
    int determinant = aa * bb - ab * ab;
    if (determinant == 0) return line;
    u32 first = uastc565(uastcFitted(a.r * bb - b.r * ab, determinant, 31),
                         uastcFitted(a.g * bb - b.g * ab, determinant, 63),
                         uastcFitted(a.b * bb - b.b * ab, determinant, 31));
    u32 second = uastc565(uastcFitted(b.r * aa - a.r * ab, determinant, 31),
                          uastcFitted(b.g * aa - a.g * ab, determinant, 63),
                          uastcFitted(b.b * aa - a.b * ab, determinant, 31));
    UastcLine moved = uastcLine(texels, first, second);
    if (moved.error < line.error) return moved;
    return line;
}

// Makes a BC1 block without a hint: takes the line between the two outermost texels along the axis,
// and refines it twice.
SLUICE_DEVICE UastcHalf uastcBc1Fitted(SLUICE_IN(UastcTexels) texels) {
    UastcColour axis = uastcAxis(texels);
    int most = -0x7fffffff, least = 0x7fffffff;
    u32 high = texels.t[0], low = texels.t[0], same = 0u;
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        int at = uastcDot(uastcColour(texels.t[i]), axis);
        if (at > most) {
            most = at;
            high = texels.t[i];
        }
        if (at < least) {
            least = at;
            low = texels.t[i];
        }
        same |= (texels.t[i] ^ texels.t[0]) & 0xffffffu;
    }
    if (same == 0u) return uastcBc1Solid(texels.t[0]);
    UastcLine line = uastcLine(texels, uastcTo565(high), uastcTo565(low));
    line = uastcRefined(texels, line);
    line = uastcRefined(texels, line);
    // Turns thirds 0 1 2 3 into indices 1 3 2 0.
    u32 even = line.thirds & 0x55555555u, odd = line.thirds >> 1 & 0x55555555u;
    return uastcBc1Block(line.first, line.second, (odd ^ 0x55555555u) | (even ^ odd) << 1);
}

SLUICE_DEVICE UastcHalf uastcBc1(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape,
                                 SLUICE_IN(UastcAllEnds) all, SLUICE_IN(UastcTexels) texels) {
    if (shape.mode == kUastcSolid) return uastcBc1Solid(texels.t[0]);
    // The hint is the first bit behind the mode's code.
    bool hinted = uastcField(block, kUastcKinds[shape.mode] >> 20 & 7u, 1u) != 0u;
    if (hinted) return uastcBc1Hinted(block, shape, all);
    return uastcBc1Fitted(texels);
}

SLUICE_KERNEL_END
#endif
