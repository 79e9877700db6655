// SPDX-License-Identifier: MIT OR Apache-2.0
// The last step of the float codec (docs/format.md, 6.1): merges symbols, the bits that were coded,
// with *raw bits*, the bits of elements that are stored as they are. A tile has its raw bits in up
// to three *planes*: one with 2 bytes, one with a byte, and one with 2 to 4 bits for each element.
#ifndef SLUICE_FLOAT_ELEMENTS_GLSL
#define SLUICE_FLOAT_ELEMENTS_GLSL

#include "loops.glsl"
#include "float_tensor.glsl"
#include "units.glsl"

// Returns the raw (uncoded) bits of 8 elements that are stored in the plane of bytes. Everywhere in
// this file, `eight` is the number of the first of these elements in the tile, divided by 8.
uvec2 floatRawBytes(uint eight) { return PairsIn(gFloatBytesAt).v[eight]; }

// The raw bits of 8 elements, from all planes that their type has.
struct FloatRaw {
    uvec4 low;  // the low halves of fp32 elements, two in a word
    uvec2 high; // a byte of each element
    uint bits;  // 2 to 4 bits of each element
    uint next;  // with 3 bits per element: the word that has the last of these bits
};
FloatRaw floatNoRaw() { return FloatRaw(uvec4(0u), uvec2(0u), 0u, 0u); }

// Loads the raw bits of 8 elements. If 3 bits of each are in the plane of bits, these 24 bits may
// lie in two words; `at` and `next` are the indices of the first and the last word.
FloatRaw floatRawAt(uint type, uint eight, uint at, uint next) {
    FloatRaw raw = floatNoRaw();
    if (type <= kFloatF32) raw.high = floatRawBytes(eight);
    if (type == kFloatF32) {
        raw.low = UnitsIn(gFloatOtherAt).v[eight];
    } else if (type == kFloatE4m3) {
        raw.bits = WordsIn(gFloatOtherAt).w[eight];
    } else if (type == kFloatE4m3Dense) {
        raw.bits = WordsIn(gFloatOtherAt).w[eight >> 1] >> (eight & 1u) * 16u;
    } else if (type == kFloatF16 || type == kFloatE5m2) {
        // Here eight elements have three bytes, which may lie in two words.
        raw.bits = WordsIn(gFloatOtherAt).w[at];
        raw.next = WordsIn(gFloatOtherAt).w[next];
    }
    return raw;
}

// Loads the raw bits of 8 elements.
FloatRaw floatRaw(uint type, uint eight) {
    return floatRawAt(type, eight, 3u * eight >> 2, (3u * eight + 2u) >> 2);
}

// Loads the raw bits of this lane's elements in any row but the tile's last one. This takes less
// arithmetic than floatRaw, since the word after the lane's own exists and may be loaded.
FloatRaw floatRawOfRow(uint type, uint row) {
    uint at = 24u * row + (3u * lgLane() >> 2);
    return floatRawAt(type, 32u * row + lgLane(), at, at + 1u);
}

// Returns the raw bits of the lane's elements from the plane of 2 to 4 bits, those of the first
// element lowest. With 3 bits, this function joins the two words, and not floatRawAt: there
// NVIDIA's compiler (driver 580) would make the first step of the row wait for the loads.
uint floatBits(uint type, FloatRaw raw) {
    if (type != kFloatF16 && type != kFloatE5m2) return raw.bits;
    uint shift = (3u * lgLane() & 3u) * 8u;
    return raw.bits >> shift | (raw.next << 1) << (31u - shift);
}

// Returns the bits of `symbols` where gFloatMask has ones, and those of `other` elsewhere.
uint floatSelect(uint symbols, uint other) {
    return (symbols & gFloatMask) | (other & ~gFloatMask);
}

// Returns 8 elements of bf16, or the upper halves of 8 elements of fp32, two in a word. `row` has
// their symbols, as floatRow returns them; `raw` has a byte for each element.
uvec4 floatBf16(uvec4 row, uvec2 raw) {
    uvec4 words;
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i) {
        uint two = raw[i >> 1] >> (i & 1u) * 16u;
        // The product has each raw byte twice in its element's half of the word. In the upper copy
        // the highest bit is the sign, which is in its place above the exponent. In the lower copy
        // the other bits are in their place below it.
        words[i] = floatSelect(row[i], ((two & 0xffu) + (two & 0xff00u) * 256u) * 257u);
    }
    return words;
}

// Returns 8 elements of fp16, two in a word, from their symbols in `row` and their raw bits.
uvec4 floatF16(uvec4 row, FloatRaw raw) {
    uvec4 words;
    uint bits = floatBits(kFloatF16, raw);
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i) {
        uint two = raw.high[i >> 1] >> (i & 1u) * 16u, six = bits >> (i >> 1) * 12u,
             down = (i & 1u) * 6u;
        // `six` has the 3-bit fields of two elements. The products move the lower two bits of a
        // field to bits 8 and 9 (or 24 and 25), and its highest bit, the sign, to bit 15 (or 31).
        // Their terms do not overlap, so nothing is carried.
        uint high =
            (six & 27u << down) * (0x200100u >> down) + (six & 36u << down) * (0x4002000u >> down);
        words[i] =
            floatSelect(row[i], (high & 0x83008300u) | ((two & 0xffu) + (two & 0xff00u) * 256u));
    }
    return words;
}

// Returns four elements of one byte each. `first` and `second` are words of a row, with two symbols
// each. The lowest bits of `raw` belong to the first element. An element's raw bits are put into
// its byte twice: at the lowest bits, and shifted so that the sign is in its place. floatSelect
// then takes all other bits from the symbol.
uint floatFour(uint type, uint first, uint second, uint raw) {
    uint symbols = first >> 16 | (second & 0xffff0000u), other = 0u;
    if (type == kFloatE4m3) {
        uint two = (raw & 0xffu) + (raw & 0xff00u) * 256u;
        other = ((two & 0xf000fu) + (two & 0xf000f0u) * 16u) * 17u;
    } else if (type == kFloatE5m2) {
        other =
            (((raw & 0707u) * 0x401u & 0x70007u) | ((raw & 07070u) * 0x8020u & 0x7000700u)) * 33u;
    } else if (type == kFloatE4m3Dense) {
        // The products set other bits too, which the mask removes.
        uint four = (raw & 0x33u) * 0x1001u + (raw & 0xccu) * 0x40040u;
        other = four | four << 6;
    } else {
        return symbols;
    }
    return floatSelect(symbols, other);
}

// Joins 8 symbols with their raw bits to elements, which fill the first words of the result.
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
