// SPDX-License-Identifier: MIT OR Apache-2.0
// The last step of the float codec (docs/format.md, 6.1): makes elements from symbols and *raw
// bits*, which are the bits of an element that are not coded. A lane makes eight elements of a row.
// The raw bits of a tile stand in up to three *planes*, with 2 bytes, a byte, and 2 to 4 bits per
// element.
#pragma once

#include <sluice/sluice_float.h>

#include "cuda/lib/float_stream.cuh"

namespace sluice::float_decode {

// The addresses of a lane's next 8 elements: in the planes of raw (not coded) bits, and in the
// output. `bits` is the address of the word in which their bits begin.
struct Places {
    const uint8_t *words, *bytes, *bits; // in the planes of raw bits
    uint8_t* output;
};
// The raw bits, those that are not coded, of a lane's next 8 elements.
struct Raw {
    uint4 words;
    uint2 bytes;
    // If the plane of bits has 3 bits per element, a lane's 24 bits may begin in x and end in y.
    uint2 bits;
};
// Returns a lane's 24 bits, for planes with 3 bits per element. The bits above have no meaning.
__device__ inline uint32_t bits24(const Raw& raw)
{
    return __funnelshift_r(raw.bits.x, raw.bits.y, 3 * laneIndex() % 4 * 8);
}

// Loads the raw bits of a lane's next elements. `more` means that another row follows, so the word
// behind the bits of this row may be read.
template <uint32_t Type>
__device__ inline Raw loadRaw(const Places& places, bool more)
{
    Raw raw = {};
    if (Type == SLUICE_FLOAT_F32) raw.words = __ldcs(reinterpret_cast<const uint4*>(places.words));
    if (Type <= SLUICE_FLOAT_F32)
        raw.bytes = loadOnce<Type>(reinterpret_cast<const uint2*>(places.bytes));
    if (Type == SLUICE_FLOAT_F16 || Type == SLUICE_FLOAT_F8_E5M2) {
        const uint32_t shift = 3 * laneIndex() % 4 * 8;
        const uint32_t* words = reinterpret_cast<const uint32_t*>(places.bits);
        raw.bits =
            make_uint2(loadOnce<Type>(words), loadOnce<Type>(words + (more || shift > 8 ? 1 : 0)));
    } else if (Type == SLUICE_FLOAT_F8_E4M3) {
        raw.bits.x = loadOnce<Type>(reinterpret_cast<const uint32_t*>(places.bits));
    } else if (Type == SLUICE_FLOAT_F8_E4M3_DENSE) {
        raw.bits.x = __ldcs(reinterpret_cast<const uint16_t*>(places.bits));
    }
    return raw;
}

// Returns the bits of `a` where the mask has ones, and those of `b` elsewhere.
__device__ inline uint32_t select(uint32_t mask, uint32_t a, uint32_t b)
{
    // This is one instruction; the compiler makes two or three of (a & mask) | (b & ~mask).
    uint32_t result;
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(result) : "r"(mask), "r"(a), "r"(b));
    return result;
}

// Makes 8 elements from the symbols of a row (decodeRow) and the raw bits. Depending on the type,
// the elements take 2, 4 or 8 words.
template <uint32_t Type>
__device__ inline void join(const uint32_t (&pairs)[4], const Raw& raw, uint32_t (&words)[8])
{
    if constexpr (Type == SLUICE_FLOAT_BF16 || Type == SLUICE_FLOAT_F32) {
        const uint32_t low[4] = {raw.words.x, raw.words.y, raw.words.z, raw.words.w};
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t twice =
                __byte_perm(i < 2 ? raw.bytes.x : raw.bytes.y, 0, i % 2 == 0 ? 0x1100 : 0x3322);
            const uint32_t upper = select(0x7f807f80, pairs[i], twice);
            if (Type == SLUICE_FLOAT_BF16) {
                words[i] = upper;
            } else {
                words[2 * i] = __byte_perm(low[i], upper, 0x5410);
                words[2 * i + 1] = __byte_perm(low[i], upper, 0x7632);
            }
        }
    } else if constexpr (Type == SLUICE_FLOAT_F16) {
        const uint32_t all = bits24(raw);
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
            // `six` has 3 bits for each of two elements: two bits of the mantissa, then the sign.
            // Products move the mantissa bits to bits 8 and 24, the signs to bits 15 and 31. No
            // carries occur.
            const uint32_t six = i < 2 ? all : all >> 12, down = i % 2 * 6;
            const uint32_t mantissas = (six & 27u << down) * ((1u << 8 | 1u << 21) >> down);
            const uint32_t high = (six & 36u << down) * ((1u << 13 | 1u << 26) >> down) + mantissas;
            const uint32_t both =
                __byte_perm(i < 2 ? raw.bytes.x : raw.bytes.y, high, i % 2 == 0 ? 0x7150 : 0x7352);
            words[i] = select(0x7c007c00, pairs[i], both);
        }
    } else {
        const uint32_t all = Type == SLUICE_FLOAT_F8_E5M2 ? bits24(raw) : raw.bits.x;
#pragma unroll
        for (uint32_t i = 0; i < 2; ++i) {
            words[i] = __byte_perm(pairs[2 * i], pairs[2 * i + 1], 0x6521);
            if (Type == SLUICE_FLOAT_F8_E4M3) {
                const uint32_t four = __byte_perm(all, all >> 4, i == 0 ? 0x5140 : 0x7362);
                words[i] = select(0x78787878, words[i], select(0x80808080, four << 4, four));
            } else if (Type == SLUICE_FLOAT_F8_E5M2) {
                // `twelve` has 3 bits for each of four elements. They are spread over two halves
                // and then over four bytes, and the sign goes to the top of each byte. The mask
                // below removes other bits.
                const uint32_t twelve = i == 0 ? all : all >> 12;
                const uint32_t halves = select(0xffff, twelve, twelve << 10);
                const uint32_t four = select(0xff00ff, halves, halves << 5);
                words[i] = select(0x7c7c7c7c, words[i], select(0x80808080, four << 5, four));
            } else if (Type == SLUICE_FLOAT_F8_E4M3_DENSE) {
                const uint32_t eight = i == 0 ? all : all >> 8;
                // `eight` has 2 bits for each of four elements. The products move them to four
                // bytes. Other bits that they set are removed by the mask below.
                const uint32_t four = (eight & 0x33) * 0x1001 + (eight & 0xcc) * 0x40040;
                words[i] = select(0x7e7e7e7e, words[i], four | four << 6);
            }
        }
    }
}

// The size of an element in bytes.
template <uint32_t Type>
constexpr uint32_t kSize = sizeOf(Type);

// True for types whose raw bits are loaded a row ahead. For the others, the registers that this
// takes would cost more time than waiting for the bits.
template <uint32_t Type>
constexpr bool kAhead =
    Type != SLUICE_FLOAT_F32&& Type != SLUICE_FLOAT_F16&& Type != SLUICE_FLOAT_BYTES;

// storeWhole stores a lane's 8 elements, storeSome only their first `bytes` bytes.
template <uint32_t Type>
__device__ inline void storeWhole(const uint32_t (&words)[8], uint8_t* to)
{
    if (kSize<Type> == 1) {
        __stcs(reinterpret_cast<uint2*>(to), make_uint2(words[0], words[1]));
    } else {
        __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
        if (kSize<Type> == 4)
            __stcs(reinterpret_cast<uint4*>(to) + 1,
                   make_uint4(words[4], words[5], words[6], words[7]));
    }
}

template <uint32_t Type>
__device__ inline void storeSome(const uint32_t (&words)[8], uint32_t bytes, uint8_t* to)
{
#pragma unroll
    for (uint32_t i = 0; i < 8 * kSize<Type>; ++i)
        if (i < bytes) __stcs(to + i, static_cast<uint8_t>(words[i / 4] >> i % 4 * 8));
}

} // namespace sluice::float_decode
