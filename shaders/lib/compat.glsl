// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions that lib/kernels/*.h call, in GLSL, together with those of lanes.glsl and
// memory.glsl. src/cuda/lib/compat.cuh has all of them for CUDA.
#ifndef SLUICE_COMPAT_GLSL
#define SLUICE_COMPAT_GLSL

#ifdef SLUICE_INT64
#extension GL_ARB_gpu_shader_int64 : require
#endif
#include "compat.h"
#include "lanes.glsl"
#include "memory.glsl"
#include "units.glsl"

#define u64 uvec2 // a 64-bit number: an address or a size
#define u32x2 uvec2
#define u32x4 uvec4
#define makeU32x2 uvec2
#define makeU32x4 uvec4

// 64-bit arithmetic that memory.glsl lacks. u64Of converts a 64-bit member of a parameter structure
// to u64. Here both have the same type, but in CUDA they have not.
#define u64Of(value) value
u64 wide(u32 value) { return u64(value, 0u); }
u64 joinU64(u32 low, u32 high) { return u64(low, high); }
u32 lowWord(u64 value) { return value.x; }
u32 highWord(u64 value) { return value.y; }
// Returns the product modulo 2^64.
u64 scale64(u64 value, u32 factor) {
    u64 low = mul64(value.x, factor);
    return u64(low.x, low.y + value.y * factor);
}
// Returns the address of the word that has the byte at `address`.
u64 wordOf(u64 address) { return u64(address.x & ~3u, address.y); }

// Access to memory, without checks of bounds. loadStoredWord and loadStoredUnit are for memory that
// the kernel also writes, the other loads for memory that nobody writes meanwhile.
u32 loadWord(u64 base, u32 index) { return WordsIn(base).w[index]; }
// Returns byte `index`; `base` is a multiple of 4.
u32 loadByte(u64 base, u32 index) {
    return WordsIn(base).w[index >> 2] >> (index & 3u) * 8u & 255u;
}
u32 loadStoredWord(u64 base, u32 index) { return WordsOut(base).w[index]; }
void storeWord(u64 base, u32 index, u32 value) { WordsOut(base).w[index] = value; }
u64 loadU64(u64 base, u32 index) {
    return u64(WordsIn(base).w[2u * index], WordsIn(base).w[2u * index + 1u]);
}
void storeU64(u64 base, u32 index, u64 value) {
    WordsOut(base).w[2u * index] = value.x;
    WordsOut(base).w[2u * index + 1u] = value.y;
}
// Returns unit `index`, 16 bytes, of the memory at `base`.
u32x4 loadUnit(u64 base, u32 index) { return UnitsIn(base).v[index]; }
u32x4 loadStoredUnit(u64 base, u32 index) { return UnitsIn(base).v[index]; }
void atomicAddWord(u64 base, u32 index, u32 value) { atomicAdd(WordsOut(base).w[index], value); }
// Adds to a word and returns what it was before.
u32 takeWord(u64 base, u32 index, u32 value) { return atomicAdd(WordsOut(base).w[index], value); }
void atomicMinWord(u64 base, u32 index, u32 value) { atomicMin(WordsOut(base).w[index], value); }

// Returns the low word of the 64-bit number (high, low), shifted right by `shift` modulo 32.
u32 funnelRight(u32 low, u32 high, u32 shift) {
#ifdef SLUICE_INT64
    return unpackUint2x32(packUint2x32(uvec2(low, high)) >> (shift & 31u)).x;
#else
    return low >> (shift & 31u) | high << 1u << (31u - (shift & 31u));
#endif
}

// Returns the low word of the 64-bit number (high, low), shifted right by `shift` < 64.
u32 shiftRight64(u32 low, u32 high, u32 shift) {
#ifdef SLUICE_INT64
    // On NVIDIA's GPUs this shift of 64 bits is one instruction.
    return unpackUint2x32(packUint2x32(uvec2(low, high)) >> shift).x;
#else
    return funnelRight(shift < 32u ? low : high, shift < 32u ? high : 0u, shift);
#endif
}

// Word `index` after word b of an array in shared memory, where base = SLUICE_SHARED_BASE(array, b).
#define SLUICE_SHARED_BASE(array, b) (b)
#define SLUICE_SHARED_WORD(array, base, index) array[(base) + (index)]

// Returns the lowest `bits` modulo 32 bits of a value.
u32 lowBits(u32 value, u32 bits) { return value & ((1u << (bits & 31u)) - 1u); }

// Returns the high word of the 64-bit number (high, low), shifted left by `shift` < 32.
u32 funnelLeft(u32 high, u32 low, u32 shift) { return high << shift | (low >> 1) >> (31u - shift); }
u32 bigEndian(u32 word) {
    return word >> 24 | (word >> 8 & 0xff00u) | (word & 0xff00u) << 8 | word << 24;
}
// Interleaves the bytes of two words, those of `even` first. The first result is made of their
// lower halves, the second of their upper halves.
u32x2 interleaveBytes(u32 even, u32 odd) {
    u32 low = (even & 0xffu) | (odd & 0xffu) << 8 | (even & 0xff00u) << 8 | (odd & 0xff00u) << 16;
    u32 high = even >> 16 & 0xffu | odd >> 8 & 0xff00u | even >> 8 & 0xff0000u | odd & 0xff000000u;
    return u32x2(low, high);
}

// These functions are lgBallot3 and lgBallot3Scan with fewer results. In CUDA each result costs a
// vote or a sum, so a kernel asks only for the results that it needs.
u32x2 lgBallot2(bool a, bool b) { return lgBallot3(a, b, false).xy; }
u32x2 lgBallot2Sum(bool a, bool b, u32 value, out u32 total) {
    u32 prefix;
    return lgBallot3Scan(a, b, false, value, prefix, total).xy;
}
u32 lgBallotScan(bool condition, u32 value, out u32 prefix, out u32 total) {
    return lgBallot3Scan(false, condition, false, value, prefix, total).y;
}

// Marks a value as uniform in the lane group. Without the mark, CUDA's compiler would test for
// absent lanes before each vote and shuffle in control flow that depends on the value.
#define lgUniform(value) value

// Returns the `value` of lane `lane`. All lanes must have passed their `value` to lgShare before;
// here lgShare passes it on. In CUDA, lgShare does nothing and this function shuffles.
u32 lgShared(u32 value, u32 lane) { return lgShared(lane); }

const u64 kNull = u64(0u);

#endif // SLUICE_COMPAT_GLSL
