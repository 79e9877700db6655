// SPDX-License-Identifier: MIT OR Apache-2.0
// The last step of the float codec: merges symbols with the raw bits, which are not entropy-coded.
#ifndef SLUICE_FLOAT_ELEMENTS_GLSL
#define SLUICE_FLOAT_ELEMENTS_GLSL

#include "loops.glsl"
#include "float_tensor.glsl"
#include "units.glsl"

uvec2 floatRawBytes(uint eight) { return PairsIn(gFloatBytesAt).v[eight]; }

// The raw bits of 8 elements. Each plane of a tile ends at a multiple of 16 bytes.
struct FloatRaw {
    uvec4 low;  // the low halves of f32
    uvec2 high; // a byte an element
    uint bits;  // 2 to 4 bits an element
    uint next;  // the word after `bits`, for 3 bits per element
};
FloatRaw floatNoRaw() { return FloatRaw(uvec4(0u), uvec2(0u), 0u, 0u); }

// For 3 bits an element, `at` and `next` are the words with the first and with the last bit.
FloatRaw floatRawAt(uint type, uint eight, uint at, uint next) {
    FloatRaw raw = floatNoRaw();
    if (type <= kFloatF32) raw.high = floatRawBytes(eight);
    if (type == kFloatF32) {
        raw.low = UnitsIn(gFloatOtherAt).v[eight];
    } else if (type == kFloatE4m3) {
        raw.bits = WordsIn(gFloatOtherAt).w[eight];
    } else if (type == kFloatE4m3Dense) {
        raw.bits = WordsIn(gFloatOtherAt).w[eight >> 1] >> (eight & 1u) * 16u;
    } else if (type == kFloatF16 || type == kFloatE5m2) { // three bytes
        raw.bits = WordsIn(gFloatOtherAt).w[at];
        raw.next = WordsIn(gFloatOtherAt).w[next];
    }
    return raw;
}

FloatRaw floatRaw(uint type, uint eight) {
    return floatRawAt(type, eight, 3u * eight >> 2, (3u * eight + 2u) >> 2);
}

// Does the same for a row that is not the last, with less arithmetic. In such a row the word after
// the lane's own exists, so that it may be read even if the lane does not need it.
FloatRaw floatRawOfRow(uint type, uint row) {
    uint at = 24u * row + (3u * lgLane() >> 2);
    return floatRawAt(type, 32u * row + lgLane(), at, at + 1u);
}

// Returns the bits of the lane's elements, those of the first one lowest. The two words of a 3-bit
// plane are merged here and not where they are loaded, because there NVIDIA's compiler (580) would
// make the row's first step wait for them.
uint floatBits(uint type, FloatRaw raw) {
    if (type != kFloatF16 && type != kFloatE5m2) return raw.bits;
    uint shift = (3u * lgLane() & 3u) * 8u;
    return raw.bits >> shift | (raw.next << 1) << (31u - shift);
}

// Takes the symbols' bits where gFloatMask has ones, and the other bits elsewhere.
uint floatSelect(uint symbols, uint other) {
    return (symbols & gFloatMask) | (other & ~gFloatMask);
}

uvec4 floatBf16(uvec4 row, uvec2 raw) {
    uvec4 words;
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i) {
        uint two = raw[i >> 1] >> (i & 1u) * 16u;
        // The product contains each byte twice.
        words[i] = floatSelect(row[i], ((two & 0xffu) + (two & 0xff00u) * 256u) * 257u);
    }
    return words;
}

uvec4 floatF16(uvec4 row, FloatRaw raw) {
    uvec4 words;
    uint bits = floatBits(kFloatF16, raw);
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i) {
        uint two = raw.high[i >> 1] >> (i & 1u) * 16u, six = bits >> (i >> 1) * 12u,
             down = (i & 1u) * 6u;
        // The lower two of 3 bits go to bits 8 and 24, the sign to 15 and 31, without carries.
        uint high =
            (six & 27u << down) * (0x200100u >> down) + (six & 36u << down) * (0x4002000u >> down);
        words[i] =
            floatSelect(row[i], (high & 0x83008300u) | ((two & 0xffu) + (two & 0xff00u) * 256u));
    }
    return words;
}

// Merges four numbers of 8 bits. The low bits of `raw` belong to the first number. The raw bits of
// a number are placed twice in its byte: in the lowest bits, and shifted up so that the sign is in
// its position. The mask then takes all other bits of the byte from the symbol.
uint floatFour(uint type, uint first, uint second, uint raw) {
    uint symbols = first >> 16 | (second & 0xffff0000u), other = 0u;
    if (type == kFloatE4m3) {
        uint two = (raw & 0xffu) + (raw & 0xff00u) * 256u;
        other = ((two & 0xf000fu) + (two & 0xf000f0u) * 16u) * 17u;
    } else if (type == kFloatE5m2) {
        other =
            (((raw & 0707u) * 0x401u & 0x70007u) | ((raw & 07070u) * 0x8020u & 0x7000700u)) * 33u;
    } else if (type == kFloatE4m3Dense) {
        // The products set other bits too, which are masked out.
        uint four = (raw & 0x33u) * 0x1001u + (raw & 0xccu) * 0x40040u;
        other = four | four << 6;
    } else {
        return symbols;
    }
    return floatSelect(symbols, other);
}

uint[8] floatJoin(uint type, uvec4 row, FloatRaw raw) {
    uint words[8];
    SLUICE_UNROLL
    for (uint i = 0u; i < 8u; ++i)
        words[i] = 0u;
    if (type > kFloatF32) {
        uint bits = floatBits(type, raw);
        words[0] = floatFour(type, row.x, row.y, bits);
        words[1] = floatFour(type, row.z, row.w, bits >> 4u * floatWidth(type));
        return words;
    }
    uvec4 pairs = type == kFloatF16 ? floatF16(row, raw) : floatBf16(row, raw.high);
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i) {
        if (type == kFloatF32) {
            words[2u * i] = (raw.low[i] & 0xffffu) | pairs[i] << 16;
            words[2u * i + 1u] = raw.low[i] >> 16 | (pairs[i] & 0xffff0000u);
        } else {
            words[i] = pairs[i];
        }
    }
    return words;
}

#endif // SLUICE_FLOAT_ELEMENTS_GLSL
