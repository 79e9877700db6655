// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes ETC1 blocks and the alpha of ETC2 blocks from the texels and hints of a UASTC block
// (docs/uastc.md, 5). The host, GLSL and CUDA compile this text.
#ifndef SLUICE_KERNELS_UASTC_ETC_H
#define SLUICE_KERNELS_UASTC_ETC_H

#include "uastc_texels.h"

SLUICE_KERNEL_BEGIN

// Returns the hints for ETC encoders that a block of more than one colour has. They are fields,
// each with its lowest bit in brackets. For ETC1: flip (0), diff (1), the two tables (2, 5), bias
// (8). For EAC: table and multiplier (16).
SLUICE_DEVICE u32 uastcHints(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape) {
    u32 at = kUastcKinds[shape.mode] >> 20 & 7u;
    bool few = shape.mode >= 10u && shape.mode <= 12u; // without bias and second hint for BC1
    u32 hints = uastcField(block, at + (few ? 1u : 2u), 8u);
    if (!few) hints |= uastcField(block, at + 10u, 5u) << 8;
    return hints | uastcField(block, at + (few ? 9u : 15u), 8u) << 16;
}

// Returns by how much the hint `bias` moves component `c` of the base colour of half `part` of the
// block.
SLUICE_DEVICE int uastcBias(u32 bias, u32 part, u32 c) {
    if (bias == 10u) return -2;
    // These hints move all components of one half or of both halves.
    if (bias == 27u) return part == 0u ? -1 : 0;
    if (bias == 28u) return part == 0u ? 1 : -1;
    if (bias == 29u) return part == 0u ? 0 : 1;
    if (bias == 30u) return part == 0u ? 0 : -1;
    if (bias == 31u) return part == 0u ? 1 : 0;
    // These hints move one component of one half. `one` is 1 + the component, plus 4 if the
    // component moves up, plus 8 if it moves in the second half.
    u32 one = bias == 2u    ? 1u
              : bias == 5u  ? 2u
              : bias == 6u  ? 3u
              : bias == 7u  ? 1u | 4u
              : bias == 11u ? 2u | 4u
              : bias == 15u ? 3u | 4u
              : bias == 18u ? 1u | 8u
              : bias == 19u ? 2u | 8u
              : bias == 20u ? 3u | 8u
              : bias == 21u ? 1u | 4u | 8u
              : bias == 24u ? 2u | 4u | 8u
              : bias == 8u  ? 3u | 4u | 8u
                            : 0u;
    if (one != 0u) {
        if (one >> 3 != part || (one & 3u) != c + 1u) return 0;
        return (one & 4u) != 0u ? 1 : -1;
    }
    u32 power = c == 0u ? 1u : c == 1u ? 3u : 9u;
    return int(bias / power % 3u) - 1;
}
SLUICE_DEVICE int uastcBiased(int value, int delta, int limit) {
    if (value == 0) return delta == -2 ? 3 : delta + 1;
    if (value == limit) return value + delta - 1;
    int moved = value + delta;
    return moved < 0 || moved > limit ? value - delta : moved;
}

// Reverses the bytes of a word, because ETC stores the highest byte first.
SLUICE_DEVICE u32 uastcSwapBytes(u32 word) {
    return word >> 24 | (word >> 8 & 0xff00u) | (word & 0xff00u) << 8 | word << 24;
}

SLUICE_DEVICE int uastcClamp255(int value) { return SLUICE_MIN(SLUICE_MAX(value, 0), 255); }

SLUICE_DEVICE UastcHalf uastcEtc1Solid(SLUICE_IN(UastcBits) block) {
    u32 hints = uastcWord(block, 37u), diff = hints & 1u, table = hints >> 1 & 7u,
        selector = hints >> 4 & 3u;
    u32 colour = (hints >> 6 & 31u) | (hints >> 11 & 31u) << 8 | (hints >> 16 & 31u) << 16;
    colour = diff != 0u ? colour << 3 : (colour << 4 & 0xf0f0f0u) | colour;
    u32 bits = selector == 0u ? ~0u : selector == 1u ? 0xffffu : selector == 2u ? 0u : 0xffff0000u;
    return uastcHalf(colour | (table << 5 | table << 2 | diff << 1) << 24, bits);
}

SLUICE_DEVICE UastcHalf uastcEtc1(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape,
                                  SLUICE_IN(UastcTexels) texels) {
    if (shape.mode == kUastcSolid) return uastcEtc1Solid(block);
    u32 hints = uastcHints(block, shape), flip = hints & 1u, diff = hints >> 1 & 1u;
    bool biased = shape.mode < 10u || shape.mode > 12u;
    int limit = diff != 0u ? 31 : 15;
    int base0[3], base1[3];
    SLUICE_UNROLL
    for (u32 c = 0u; c < 3u; ++c) {
        u32 sum0 = 0u, sum1 = 0u;
        SLUICE_UNROLL
        for (u32 i = 0u; i < 16u; ++i) {
            u32 value = texels.t[i] >> 8u * c & 255u;
            if ((flip != 0u ? i >> 3 : i >> 1 & 1u) == 0u)
                sum0 += value;
            else
                sum1 += value;
        }
        base0[c] = int((sum0 * u32(limit) + 1020u) / 2040u);
        base1[c] = int((sum1 * u32(limit) + 1020u) / 2040u);
        if (biased) {
            base0[c] = uastcBiased(base0[c], uastcBias(hints >> 8 & 31u, 0u, c), limit);
            base1[c] = uastcBiased(base1[c], uastcBias(hints >> 8 & 31u, 1u, c), limit);
        }
    }
    u32 head = 0u, wide0 = 0u, wide1 = 0u;
    SLUICE_UNROLL
    for (u32 c = 0u; c < 3u; ++c) {
        if (diff != 0u) {
            int difference = SLUICE_MIN(SLUICE_MAX(base1[c] - base0[c], -4), 3);
            u32 first = u32(base0[c]), second = u32(base0[c] + difference) & 31u;
            head |= (first << 3 | (u32(difference) & 7u)) << 8u * c;
            wide0 |= (first << 3 | first >> 2) << 8u * c;
            wide1 |= (second << 3 | second >> 2) << 8u * c;
        } else {
            u32 first = u32(base0[c]), second = u32(base1[c]);
            head |= (first << 4 | second) << 8u * c;
            wide0 |= first * 17u << 8u * c;
            wide1 |= second * 17u << 8u * c;
        }
    }
    // A half of the block has four colours. These are the sums of the lumas of neighbouring
    // colours, that is, twice the borders between them.
    int borders0[3], borders1[3];
    SLUICE_UNROLL
    for (u32 part = 0u; part < 2u; ++part) {
        u32 numbers = kUastcIntensities[hints >> (2u + 3u * part) & 7u],
            wide = part == 0u ? wide0 : wide1;
        int before = 0;
        SLUICE_UNROLL
        for (u32 k = 0u; k < 4u; ++k) {
            int small = int(numbers & 255u), large = int(numbers >> 8);
            int step = k == 0u ? -large : k == 1u ? -small : k == 2u ? small : large;
            int luma = 54 * uastcClamp255(int(wide & 255u) + step) +
                       183 * uastcClamp255(int(wide >> 8 & 255u) + step) +
                       19 * uastcClamp255(int(wide >> 16) + step);
            if (k != 0u && part == 0u) borders0[k - 1u] = before + luma;
            if (k != 0u && part == 1u) borders1[k - 1u] = before + luma;
            before = luma;
        }
    }
    u32 bits = 0u; // bit 1 of each texel's index is in the upper half, bit 0 in the lower
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        bool first = (flip != 0u ? i >> 3 : i >> 1 & 1u) == 0u;
        u32 texel = texels.t[i];
        int luma =
            int(108u * (texel & 255u) + 366u * (texel >> 8 & 255u) + 38u * (texel >> 16 & 255u));
        u32 below = 0u;
        SLUICE_UNROLL
        for (u32 k = 0u; k < 3u; ++k)
            below += luma < (first ? borders0[k] : borders1[k]) ? 1u : 0u;
        u32 code = below == 0u ? 1u : below == 1u ? 0u : below, at = (i & 3u) * 4u + (i >> 2);
        bits |= (code & 1u) << at | (code >> 1) << (16u + at);
    }
    head |= (flip | diff << 1 | (hints >> 2 & 7u) << 5 | (hints >> 5 & 7u) << 2) << 24;
    return uastcHalf(head, uastcSwapBytes(bits));
}

// Makes the alpha (EAC) of an ETC2 block.
SLUICE_DEVICE UastcHalf uastcEac(SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape,
                                 SLUICE_IN(UastcTexels) texels) {
    u32 most = 0u, least = 255u;
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        most = SLUICE_MAX(most, texels.t[i] >> 24);
        least = SLUICE_MIN(least, texels.t[i] >> 24);
    }
    if (most == least) return uastcHalf(most | 0x1du << 8 | 0x4992u << 16, 0x24499224u);
    u32 hints = uastcHints(block, shape) >> 16, numbers = kUastcEac[hints & 15u];
    int multiplier = int(hints >> 4), lowest = int(numbers >> 24) + 1, all = 2 * lowest - 1,
        base = int(least) + (int(most - least) * 2 * lowest + all) / (2 * all);
    u32 high = 0u, low = 0u; // the 48 bits of all indices, 32 of them in `low`
    SLUICE_UNROLL
    for (u32 i = 0u; i < 16u; ++i) {
        int alpha = int(texels.t[i] >> 24), error = 256;
        u32 index = 0u;
        SLUICE_UNROLL
        for (u32 k = 0u; k < 8u; ++k) {
            int number = int(numbers >> 8u * (k & 3u) & 255u);
            number = k < 4u ? -(number + 1) : number;
            int difference = uastcClamp255(base + multiplier * number) - alpha;
            difference = difference < 0 ? -difference : difference;
            if (difference < error) {
                error = difference;
                index = k;
            }
        }
        u32 at = 45u - 3u * ((i & 3u) * 4u + (i >> 2));
        if (at < 32u) low |= index << at;
        if (at > 29u) high |= at < 32u ? index >> (32u - at) : index << (at - 32u);
    }
    u32 first = uastcSwapBytes(high) & 0xffff0000u;
    return uastcHalf(u32(base) | hints << 8 | first, uastcSwapBytes(low));
}

SLUICE_KERNEL_END
#endif
