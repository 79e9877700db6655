// SPDX-License-Identifier: MIT OR Apache-2.0
// The files of lib/kernels are one text that GLSL and CUDA compile. They keep to what both
// languages have (unsigned arithmetic, structures, functions, arrays, loops) and use the names of
// this file for what the languages spell differently. CUDA gets here the names that lanes.glsl and
// memory.glsl give GLSL; a lane group is a warp there, and a workgroup is a block.
#ifndef SLUICE_COMPAT_H
#define SLUICE_COMPAT_H

#ifdef __CUDACC__

#include "../../src/cuda/lib/launch.cuh"
#include "../../src/cuda/lib/warp.cuh"

#define SLUICE_KERNEL_BEGIN                                                                        \
    namespace sluice {                                                                             \
    namespace {
#define SLUICE_KERNEL_END                                                                          \
    }                                                                                              \
    }
#define SLUICE_DEVICE __device__ inline
#define SLUICE_CONSTANT constexpr
#define SLUICE_SHARED __shared__
#define SLUICE_SHARED_UNITS __shared__ alignas(16)
#define SLUICE_GENERIC(type) template <typename type>
#define SLUICE_IN(type) const type&
#define SLUICE_OUT(type, name) type& name
#define SLUICE_INOUT(type, name) type& name
#define SLUICE_AT(word) &(word)
#define SLUICE_PRAGMA(text) _Pragma(#text)
#define SLUICE_UNROLL SLUICE_PRAGMA(unroll)
#define SLUICE_UNROLL_BY(times) SLUICE_PRAGMA(unroll times)
#define SLUICE_DONT_UNROLL SLUICE_PRAGMA(unroll 1)
#define SLUICE_WHILE(limit, condition) while (condition)

namespace sluice {

typedef uint64_t u64;
typedef uint2 u32x2;
typedef uint4 u32x4;

__device__ inline u32x2 makeU32x2(u32 x, u32 y) { return make_uint2(x, y); }
__device__ inline u32x4 makeU32x4(u32 x, u32 y, u32 z, u32 w) { return make_uint4(x, y, z, w); }

// 64-bit arithmetic
__device__ inline u64 u64Of(U64Pair value) { return u64From(value); }
__device__ inline u64 wide(u32 value) { return value; }
__device__ inline u32 lowWord(u64 value) { return static_cast<u32>(value); }
__device__ inline u64 wordOf(u64 address) { return address & ~u64{3}; }
__device__ inline u64 add64(u64 a, u64 b) { return a + b; }
__device__ inline u64 sub64(u64 a, u64 b) { return a - b; }
__device__ inline u64 mul64(u32 a, u32 b) { return static_cast<u64>(a) * b; }
__device__ inline bool less64(u64 a, u64 b) { return a < b; }
__device__ inline bool inside64(u64 address, u64 size, u64 base, u64 baseSize) {
    return address >= base && address - base <= baseSize && size <= baseSize - (address - base);
}

// Memory; as in globalPointer, but of the very address, for the compiler does not conclude from one
// address to others.
template <typename T>
__device__ inline T* pointerTo(u64 base, u32 index = 0) {
    T* const pointer = reinterpret_cast<T*>(static_cast<uintptr_t>(base)) + index;
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}
__device__ inline u32 loadByte(u64 base, u32 index) {
    return *pointerTo<const uint8_t>(base, index);
}
__device__ inline u32 loadWord(u64 base, u32 index) { return *pointerTo<const u32>(base, index); }
__device__ inline u32 loadStoredWord(u64 base, u32 index) { return loadWord(base, index); }
__device__ inline void storeWord(u64 base, u32 index, u32 value) {
    *pointerTo<u32>(base, index) = value;
}
__device__ inline u32 countOf(u64 count, u32 most) {
    return count == 0 ? most : min(most, loadWord(count, 0));
}
__device__ inline u64 loadU64(u64 base, u32 index) { return *pointerTo<const u64>(base, index); }
__device__ inline void storeU64(u64 base, u32 index, u64 value) {
    *pointerTo<u64>(base, index) = value;
}
__device__ inline u32x4 loadUnit(u64 base, u32 index) {
    return __ldg(pointerTo<const u32x4>(base, index));
}
__device__ inline void atomicAddWord(u64 base, u32 index, u32 value) {
    atomicAdd(pointerTo<u32>(base, index), value);
}
__device__ inline void atomicMinWord(u64 base, u32 index, u32 value) {
    atomicMin(pointerTo<u32>(base, index), value);
}

// Bits
__device__ inline u32 bitCount(u32 value) { return static_cast<u32>(__popc(value)); }
__device__ inline int findLSB(u32 value) { return __ffs(static_cast<int>(value)) - 1; }
__device__ inline int findMSB(u32 value) { return 31 - __clz(static_cast<int>(value)); }
__device__ inline u32 funnelRight(u32 low, u32 high, u32 shift) {
    return __funnelshift_r(low, high, shift);
}
__device__ inline u32 funnelLeft(u32 high, u32 low, u32 shift) {
    return __funnelshift_l(low, high, shift);
}
__device__ inline u32 bigEndian(u32 word) { return __byte_perm(word, 0, 0x0123); }
__device__ inline u32x2 interleaveBytes(u32 even, u32 odd) {
    return makeU32x2(__byte_perm(even, odd, 0x5140), __byte_perm(even, odd, 0x7362));
}

// Lanes
__device__ inline u32 wgInvocation() { return threadIdx.x; }
__device__ inline void wgBarrierShared() { __syncthreads(); }
__device__ inline bool wgAny(bool condition) { return condition; }
__device__ inline u32 lgUniform(u32 value) { return uniform(value); }
__device__ inline u32 lgLane() { return laneIndex(); }
__device__ inline u32 lgFirst() { return threadIdx.x & ~31u; }
__device__ inline u32 lgLanesBelow() { return lanesBelow(); }
__device__ inline void lgBarrierShared() { __syncwarp(); }
__device__ inline void lgBarrierAll() { __syncwarp(); }
__device__ inline u32 lgBallot(bool condition) { return __ballot_sync(kAllLanes, condition); }
__device__ inline u32x2 lgBallot2(bool a, bool b) { return makeU32x2(lgBallot(a), lgBallot(b)); }
__device__ inline void lgScan(u32 value, u32& prefix, u32& total) {
    const u32 inclusive = warpInclusiveSum(value);
    prefix = inclusive - value;
    total = __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
}
__device__ inline u32 lgBallotScan(bool condition, u32 value, u32& prefix, u32& total) {
    lgScan(value, prefix, total);
    return lgBallot(condition);
}
__device__ inline u32x2 lgBallot2Sum(bool a, bool b, u32 value, u32& total) {
    total = warpSum(value);
    return lgBallot2(a, b);
}
__device__ inline void lgShare(u32) {}
// No driver of CUDA has been seen to leave loops early.
__device__ inline bool sgLoopsGoOn() { return true; }
__device__ inline bool lgLoopsGoOn() { return true; }
__device__ inline u32 lgShared(u32 value, u32 lane) {
    return __shfl_sync(kAllLanes, value, static_cast<int>(lane));
}

} // namespace sluice

#else // GLSL

#include "lanes.glsl"
#include "loops.glsl"
#include "memory.glsl"
#include "units.glsl"

#define SLUICE_KERNEL_BEGIN
#define SLUICE_KERNEL_END
#define SLUICE_DEVICE
#define SLUICE_CONSTANT const
#define SLUICE_SHARED shared
#define SLUICE_SHARED_UNITS shared // which units of 16 bytes are loaded from
#define SLUICE_GENERIC(type)       // a type that the includer defines
#define SLUICE_IN(type) type
#define SLUICE_OUT(type, name) out type name
#define SLUICE_INOUT(type, name) inout type name
#define SLUICE_AT(word) word    // of an atomic
#define SLUICE_UNROLL_BY(times) // GLSL has no hint for a part of a loop
// A loop that ends by itself, after `limit` rounds at most; GLSL counts them all the same.
#define SLUICE_WHILE(limit, condition) for (u32 round = 0u; round < limit && (condition); ++round)

#define u64 uvec2 // an address or a size
#define u32x2 uvec2
#define u32x4 uvec4
#define makeU32x2 uvec2
#define makeU32x4 uvec4

// 64-bit arithmetic beyond that of memory.glsl
#define u64Of(value) value // of a member of a parameter structure
u64 wide(u32 value) { return u64(value, 0u); }
u32 lowWord(u64 value) { return value.x; }
u64 wordOf(u64 address) { return u64(address.x & ~3u, address.y); } // that a byte is in

// Memory. loadWord and the like are for what no other invocation writes while the kernel runs,
// loadStoredWord for what lanes of the workgroup have stored. Nothing here knows bounds: the callers
// check them.
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

// 32 bits of two words from bit `shift`, modulo 32, on.
u32 funnelRight(u32 low, u32 high, u32 shift) {
    return low >> (shift & 31u) | high << 1u << (31u - (shift & 31u));
}

// The same from the upper end, with `shift` below 32.
u32 funnelLeft(u32 high, u32 low, u32 shift) { return high << shift | (low >> 1) >> (31u - shift); }
u32 bigEndian(u32 word) {
    return word >> 24 | (word >> 8 & 0xff00u) | (word & 0xff00u) << 8 | word << 24;
}
// Bytes of two words in turn, from the lower and the upper halves.
u32x2 interleaveBytes(u32 even, u32 odd) {
    u32 low = (even & 0xffu) | (odd & 0xffu) << 8 | (even & 0xff00u) << 8 | (odd & 0xff00u) << 16;
    u32 high = even >> 16 & 0xffu | odd >> 8 & 0xff00u | even >> 8 & 0xff0000u | odd & 0xff000000u;
    return u32x2(low, high);
}

// Forms of lgBallot3 and lgBallot3Scan that leave to CUDA what it need not do.
u32x2 lgBallot2(bool a, bool b) { return lgBallot3(a, b, false).xy; }
u32x2 lgBallot2Sum(bool a, bool b, u32 value, out u32 total) {
    u32 prefix;
    return lgBallot3Scan(a, b, false, value, prefix, total).xy;
}
u32 lgBallotScan(bool condition, u32 value, out u32 prefix, out u32 total) {
    return lgBallot3Scan(false, condition, false, value, prefix, total).y;
}

// A value that is the same in the lane group; without it CUDA's compiler tests for lanes that are
// elsewhere before each vote and shuffle that depends on the value.
#define lgUniform(value) value

// Another lane's value, which all lanes have given to lgShare.
u32 lgShared(u32 value, u32 lane) { return lgShared(lane); }

#endif

SLUICE_KERNEL_BEGIN

SLUICE_CONSTANT u64 kNull = u64(0u);

SLUICE_KERNEL_END

#endif
