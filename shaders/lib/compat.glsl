// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions that kernels/*.h call, in GLSL; many of them come from lanes.glsl and memory.glsl.
#ifndef SLUICE_COMPAT_GLSL
#define SLUICE_COMPAT_GLSL

#include "compat.h"
#include "lanes.glsl"
#include "memory.glsl"
#include "units.glsl"

#define u64 uvec2 // an address or a size
#define u32x2 uvec2
#define u32x4 uvec4
#define makeU32x2 uvec2
#define makeU32x4 uvec4

// 64-bit arithmetic beyond that of memory.glsl
#define u64Of(value) value // of a member of a parameter structure
u64 wide(u32 value) { return u64(value, 0u); }
u32 lowWord(u64 value) { return value.x; }
u32 highWord(u64 value) { return value.y; }
u64 scale64(u64 value, u32 factor) { // modulo 2^64
    u64 low = mul64(value.x, factor);
    return u64(low.x, low.y + value.y * factor);
}
u64 wordOf(u64 address) { return u64(address.x & ~3u, address.y); } // the word that a byte is in

// Memory. loadStoredWord reads words that lanes of the workgroup have stored; the other loads read
// memory that no invocation writes while the kernel runs. Bounds are checked by the callers, not
// here.
u32 loadWord(u64 base, u32 index) { return WordsIn(base).w[index]; }
u32 loadByte(u64 base, u32 index) { // base: a multiple of 4
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
u32x4 loadUnit(u64 base, u32 index) { return UnitsIn(base).v[index]; } // 16 bytes
void atomicAddWord(u64 base, u32 index, u32 value) { atomicAdd(WordsOut(base).w[index], value); }
void atomicMinWord(u64 base, u32 index, u32 value) { atomicMin(WordsOut(base).w[index], value); }

// Returns the 32 bits of two words that start at bit `shift` modulo 32.
u32 funnelRight(u32 low, u32 high, u32 shift) {
    return low >> (shift & 31u) | high << 1u << (31u - (shift & 31u));
}

// Does the same, counting from the highest bit; `shift` is below 32.
u32 funnelLeft(u32 high, u32 low, u32 shift) { return high << shift | (low >> 1) >> (31u - shift); }
u32 bigEndian(u32 word) {
    return word >> 24 | (word >> 8 & 0xff00u) | (word & 0xff00u) << 8 | word << 24;
}
// Interleaves the bytes of two words. The first result comes from the lower halves, the second one
// from the upper halves.
u32x2 interleaveBytes(u32 even, u32 odd) {
    u32 low = (even & 0xffu) | (odd & 0xffu) << 8 | (even & 0xff00u) << 8 | (odd & 0xff00u) << 16;
    u32 high = even >> 16 & 0xffu | odd >> 8 & 0xff00u | even >> 8 & 0xff0000u | odd & 0xff000000u;
    return u32x2(low, high);
}

// Variants of lgBallot3 and lgBallot3Scan with fewer results, so that CUDA can skip the work for
// the others.
u32x2 lgBallot2(bool a, bool b) { return lgBallot3(a, b, false).xy; }
u32x2 lgBallot2Sum(bool a, bool b, u32 value, out u32 total) {
    u32 prefix;
    return lgBallot3Scan(a, b, false, value, prefix, total).xy;
}
u32 lgBallotScan(bool condition, u32 value, out u32 prefix, out u32 total) {
    return lgBallot3Scan(false, condition, false, value, prefix, total).y;
}

// Marks a value as uniform in the lane group. Without this, CUDA's compiler tests for absent lanes
// before each vote and shuffle that depends on the value.
#define lgUniform(value) value

// Returns another lane's value. All lanes must have passed their values to lgShare before.
u32 lgShared(u32 value, u32 lane) { return lgShared(lane); }

const u64 kNull = u64(0u);

#endif // SLUICE_COMPAT_GLSL
