// SPDX-License-Identifier: MIT OR Apache-2.0
// The arithmetic of UASTC blocks (docs/uastc.md): values, and what BC7 and ASTC make of them.
#ifndef SLUICE_FORMULAS_UASTC_H
#define SLUICE_FORMULAS_UASTC_H

#include "../layout/uastc.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// Returns the 8 bits that a value of an endpoint stands for. `low`: how many low bits it has;
// radix: of the digit above them, 3 or 5, or 0 if there is none.
SLUICE_FORMULA u32 uastcWiden(u32 value, u32 low, u32 radix) {
    if (radix == 0u) return low == 8u ? value : low == 5u ? value << 3 | value >> 2 : value * 17u;
    u32 digit = value >> low, odd = value & 1u, high = (value & ((1u << low) - 1u)) >> 1;
    u32 factor = 5u, other = high << 4 | high >> 4; // of 192 levels
    if (low == 2u) {
        factor = 93u;
        other = high * 0x116u;
    } else if (low == 3u) {
        factor = 26u;
        other = high << 7 | high << 1 | high >> 1;
    } else if (low == 4u) {
        factor = 22u;
        other = high << 6 | high;
    } else if (low == 5u) {
        factor = 6u;
        other = high << 5 | high >> 3;
    }
    return odd << 7 | ((digit * factor + other) ^ odd * 511u) >> 2;
}

// Returns a weight of `bits` bits as a number from 0 to 64.
SLUICE_FORMULA u32 uastcWeight(u32 weight, u32 bits) {
    u32 wide = bits == 1u   ? weight * 63u
               : bits == 2u ? weight * 21u
               : bits == 3u ? weight * 9u
               : bits == 4u ? weight << 2 | weight >> 2
                            : weight << 1 | weight >> 4;
    return wide + (wide > 32u ? 1u : 0u);
}

// Return the bits by which ASTC stores five digits of base 3, or three of base 5. Where several
// numbers stand for the same digits, it is the least, but the greatest for three fours.
SLUICE_FORMULA u32 uastcTrits(u32 a, u32 b, u32 c, u32 d, u32 e) {
    u32 low = c != 2u ? c << 4 | b << 2 | a : b != 2u ? b << 4 | a << 2 | 3u : 12u | a;
    if (e != 2u) return e << 7 | d << 5 | low;
    return d != 2u ? d << 7 | 0x60u | low : (low >> 2) << 5 | 0x1cu | (low & 3u);
}
SLUICE_FORMULA u32 uastcQuints(u32 a, u32 b, u32 c) {
    if (a == 4u && b == 4u) return c == 4u ? 31u : c << 3 | 6u;
    u32 low = b == 4u ? a << 3 | 5u : b << 3 | a;
    return c != 4u ? c << 5 | low : (~low & 6u) << 4 | (low & 24u) | 6u | (low & 1u);
}

// Returns what BC7 stores for an 8-bit value where it has `bits` bits and a p-bit below them that
// is `p`.
SLUICE_FORMULA u32 uastcStored(u32 value, u32 bits, u32 p) {
    u32 most = (2u << bits) - 1u; // with the p-bit
    return SLUICE_MIN((value * most - 255u * p + 255u) / 510u, (most - 1u) >> 1);
}
// Returns the square of the error of this.
SLUICE_FORMULA u32 uastcStoredError(u32 value, u32 bits, u32 p) {
    u32 stored = uastcStored(value, bits, p) << 1 | p, all = bits + 1u;
    u32 difference = (stored << (8u - all) | stored >> (2u * all - 8u)) - value;
    return difference * difference;
}
// Returns an 8-bit value in `most` + 1 steps.
SLUICE_FORMULA u32 uastcScaled(u32 value, u32 most) { return (value * most + 127u) / 255u; }

// Return the endpoints, low | high << 8, of 7 bits whose interpolation by 21/64 is `value`: the
// pair with the least low and, for it, the least high. uastcSolid6 is for endpoints with the p-bit
// `p` below them; if there is no such pair, it takes the nearest value for which there is one.
// uastcSolid5 is for endpoints without, which are widened to 8 bits.
SLUICE_FORMULA u32 uastcCeil(u32 value, u32 divisor) { return (value + divisor - 1u) / divisor; }
SLUICE_FORMULA u32 uastcSolid6(u32 value, u32 p) {
    value = SLUICE_MAX(SLUICE_MIN(value, 254u + p), p);
    u32 least = 64u * value, sum = 32u + 64u * p; // 86 low + 42 high >= least - sum
    least = least > sum ? least - sum : 0u;
    u32 low = least > 5334u ? uastcCeil(least - 5334u, 86u) : 0u, left = 86u * low;
    return low | (least > left ? uastcCeil(least - left, 42u) : 0u) << 8;
}
SLUICE_FORMULA u32 uastcNarrow(u32 wide) {
    return wide <= 126u ? (wide + 1u) >> 1 : wide <= 129u ? 64u : wide >> 1;
}
SLUICE_FORMULA u32 uastcSolid5(u32 value) {
    u32 least = 64u * value; // 43 low + 21 high >= least - 32
    least = least > 32u ? least - 32u : 0u;
    u32 low = uastcNarrow(least > 5355u ? uastcCeil(least - 5355u, 43u) : 0u),
        left = 43u * (low << 1 | low >> 6);
    return low | uastcNarrow(least > left ? uastcCeil(least - left, 21u) : 0u) << 8;
}

SLUICE_LAYOUT_END
#endif
