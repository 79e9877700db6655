// SPDX-License-Identifier: MIT OR Apache-2.0
// The arithmetic of UASTC blocks (docs/uastc.md): decodes values of endpoints and weights, and
// encodes them for BC7 and ASTC.
#ifndef SLUICE_FORMULAS_UASTC_H
#define SLUICE_FORMULAS_UASTC_H

#include "../layout/uastc.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// Decodes a value of an endpoint to 8 bits. The lowest `low` bits of the value are plain bits.
// Above them is a digit of base `radix` (3 or 5), or nothing if `radix` is 0.
SLUICE_FORMULA u32 uastcWiden(u32 value, u32 low, u32 radix) {
    if (radix == 0u) return low == 8u ? value : low == 5u ? value << 3 | value >> 2 : value * 17u;
    u32 digit = value >> low, odd = value & 1u, high = (value & ((1u << low) - 1u)) >> 1;
    u32 factor = 5u, other = high << 4 | high >> 4; // for low == 6: 192 levels
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

// Decodes a weight of `bits` bits (1 to 5) to a number from 0 to 64.
SLUICE_FORMULA u32 uastcWeight(u32 weight, u32 bits) {
    u32 wide = bits == 1u   ? weight * 63u
               : bits == 2u ? weight * 21u
               : bits == 3u ? weight * 9u
               : bits == 4u ? weight << 2 | weight >> 2
                            : weight << 1 | weight >> 4;
    return wide + (wide > 32u ? 1u : 0u);
}

// Encodes five digits of base 3 (0 .. 2) in 8 bits, as ASTC does. If several codes stand for the
// same digits, returns the lowest one.
SLUICE_FORMULA u32 uastcTrits(u32 a, u32 b, u32 c, u32 d, u32 e) {
    u32 low = c != 2u ? c << 4 | b << 2 | a : b != 2u ? b << 4 | a << 2 | 3u : 12u | a;
    if (e != 2u) return e << 7 | d << 5 | low;
    return d != 2u ? d << 7 | 0x60u | low : (low >> 2) << 5 | 0x1cu | (low & 3u);
}
// Encodes three digits of base 5 (0 .. 4) in 7 bits, as ASTC does. If several codes stand for the
// same digits, returns the lowest one, except for the digits 4, 4, 4, where it is the highest.
SLUICE_FORMULA u32 uastcQuints(u32 a, u32 b, u32 c) {
    if (a == 4u && b == 4u) return c == 4u ? 31u : c << 3 | 6u;
    u32 low = b == 4u ? a << 3 | 5u : b << 3 | a;
    return c != 4u ? c << 5 | low : (~low & 6u) << 4 | (low & 24u) | 6u | (low & 1u);
}

// Quantizes an 8-bit value for BC7: returns the `bits` bits that are stored above the p-bit `p`,
// which is the lowest bit of the quantized value.
SLUICE_FORMULA u32 uastcStored(u32 value, u32 bits, u32 p) {
    u32 most = (2u << bits) - 1u; // the highest number, p-bit included
    return SLUICE_MIN((value * most - 255u * p + 255u) / 510u, (most - 1u) >> 1);
}
// Returns the squared error of uastcStored: a decoder makes a number of the stored bits, and this
// is the square of its difference from `value`.
SLUICE_FORMULA u32 uastcStoredError(u32 value, u32 bits, u32 p) {
    u32 stored = uastcStored(value, bits, p) << 1 | p, all = bits + 1u;
    u32 difference = (stored << (8u - all) | stored >> (2u * all - 8u)) - value;
    return difference * difference;
}
// Scales an 8-bit value to the range 0 .. most, rounded.
SLUICE_FORMULA u32 uastcScaled(u32 value, u32 most) { return (value * most + 127u) / 255u; }

SLUICE_FORMULA u32 uastcCeil(u32 value, u32 divisor) { return (value + divisor - 1u) / divisor; }
// Returns a pair of BC7 endpoints, low | high << 8, with 7 bits each and the p-bit `p` below.
// Between them, the weight 21/64 gives `value`, or the nearest value that is possible. Of all such
// pairs, it is the one with the least low, and then the least high.
SLUICE_FORMULA u32 uastcSolid6(u32 value, u32 p) {
    value = SLUICE_MAX(SLUICE_MIN(value, 254u + p), p);
    u32 least = 64u * value, sum = 32u + 64u * p; // needed: 86 low + 42 high >= least - sum
    least = least > sum ? least - sum : 0u;
    u32 low = least > 5334u ? uastcCeil(least - 5334u, 86u) : 0u, left = 86u * low;
    return low | (least > left ? uastcCeil(least - left, 42u) : 0u) << 8;
}
SLUICE_FORMULA u32 uastcNarrow(u32 wide) {
    return wide <= 126u ? (wide + 1u) >> 1 : wide <= 129u ? 64u : wide >> 1;
}
// Does what uastcSolid6 does, for endpoints of 7 bits without a p-bit. They are widened to 8 bits
// by repeating the highest bit.
SLUICE_FORMULA u32 uastcSolid5(u32 value) {
    u32 least = 64u * value; // needed: 43 low + 21 high >= least - 32
    least = least > 32u ? least - 32u : 0u;
    u32 low = uastcNarrow(least > 5355u ? uastcCeil(least - 5355u, 43u) : 0u),
        left = 43u * (low << 1 | low >> 6);
    return low | uastcNarrow(least > left ? uastcCeil(least - left, 21u) : 0u) << 8;
}

SLUICE_LAYOUT_END
#endif
