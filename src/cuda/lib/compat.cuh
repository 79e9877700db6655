// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions that shaders/lib/kernels/*.h call. They have the same names in lanes.glsl,
// memory.glsl and compat.glsl, where they are described. Here a lane group is a warp, and a
// workgroup is a block.
#pragma once

#include "compat.h"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/warp.cuh"

namespace sluice {

typedef uint64_t u64;
typedef uint2 u32x2;
typedef uint4 u32x4;

__device__ inline u32x2 makeU32x2(u32 x, u32 y) { return make_uint2(x, y); }
__device__ inline u32x4 makeU32x4(u32 x, u32 y, u32 z, u32 w) { return make_uint4(x, y, z, w); }

// 64-bit arithmetic
__device__ inline u64 u64Of(U64Pair value) { return u64From(value); }
__device__ inline u64 wide(u32 value) { return value; }
__device__ inline u64 joinU64(u32 low, u32 high) { return static_cast<u64>(high) << 32 | low; }
__device__ inline u32 lowWord(u64 value) { return static_cast<u32>(value); }
__device__ inline u32 highWord(u64 value) { return static_cast<u32>(value >> 32); }
__device__ inline u64 scale64(u64 value, u32 factor) { return value * factor; }
__device__ inline u64 wordOf(u64 address) { return address & ~u64{3}; }
__device__ inline u64 add64(u64 a, u64 b) { return a + b; }
__device__ inline u64 sub64(u64 a, u64 b) { return a - b; }
__device__ inline u64 mul64(u32 a, u32 b) { return static_cast<u64>(a) * b; }
__device__ inline bool less64(u64 a, u64 b) { return a < b; }
__device__ inline bool inside64(u64 address, u64 size, u64 base, u64 baseSize)
{
    return address >= base && address - base <= baseSize && size <= baseSize - (address - base);
}

// Memory. pointerTo returns a pointer to element `index` of an array in global memory. It tells the
// compiler that the element is in global memory; if it told this of the array's address, the
// compiler would conclude nothing for the element.
template <typename T>
__device__ inline T* pointerTo(u64 base, u32 index = 0)
{
    T* const pointer = reinterpret_cast<T*>(static_cast<uintptr_t>(base)) + index;
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}
__device__ inline u32 loadByte(u64 base, u32 index)
{
    return *pointerTo<const uint8_t>(base, index);
}
__device__ inline u32 loadWord(u64 base, u32 index) { return *pointerTo<const u32>(base, index); }
__device__ inline u32 loadStoredWord(u64 base, u32 index) { return loadWord(base, index); }
__device__ inline void storeWord(u64 base, u32 index, u32 value)
{
    *pointerTo<u32>(base, index) = value;
}
// Stores bytes [first, end) of `value` in the word at `target`.
__device__ inline void storeBytes(u64 target, u32 value, u32 first, u32 end)
{
    if (first == 0 && end == 4) {
        storeWord(target, 0, value);
        return;
    }
    for (u32 i = first; i < end; ++i)
        *pointerTo<uint8_t>(target, i) = static_cast<uint8_t>(value >> 8 * i);
}
__device__ inline u32 countOf(u64 count, u32 most)
{
    return count == 0 ? most : min(most, loadWord(count, 0));
}
__device__ inline u64 loadU64(u64 base, u32 index) { return *pointerTo<const u64>(base, index); }
__device__ inline void storeU64(u64 base, u32 index, u64 value)
{
    *pointerTo<u64>(base, index) = value;
}
__device__ inline u32x4 loadUnit(u64 base, u32 index)
{
    return __ldg(pointerTo<const u32x4>(base, index));
}
__device__ inline u32x4 loadStoredUnit(u64 base, u32 index)
{
    return *pointerTo<const u32x4>(base, index);
}
__device__ inline void atomicAddWord(u64 base, u32 index, u32 value)
{
    atomicAdd(pointerTo<u32>(base, index), value);
}
__device__ inline u32 takeWord(u64 base, u32 index, u32 value)
{
    return atomicAdd(pointerTo<u32>(base, index), value);
}
__device__ inline void atomicMinWord(u64 base, u32 index, u32 value)
{
    atomicMin(pointerTo<u32>(base, index), value);
}

// Bits
__device__ inline u32 bitCount(u32 value) { return static_cast<u32>(__popc(value)); }
__device__ inline int findLSB(u32 value) { return __ffs(static_cast<int>(value)) - 1; }
__device__ inline int findMSB(u32 value) { return 31 - __clz(static_cast<int>(value)); }
__device__ inline u32 funnelRight(u32 low, u32 high, u32 shift)
{
    return __funnelshift_r(low, high, shift);
}
__device__ inline u32 shiftRight64(u32 low, u32 high, u32 shift)
{
    return static_cast<u32>((static_cast<u64>(high) << 32 | low) >> shift);
}
// See compat.glsl. The compiler does not see through the base, which is an address in shared memory.
// Otherwise it would add a loop's constant parts to each index, by an instruction for each load.
__device__ inline u32 sharedBase(const u32* word)
{
    u32 base = static_cast<u32>(__cvta_generic_to_shared(word));
    asm("" : "+r"(base));
    return base;
}
__device__ inline u32 sharedWord(u32 base, u32 index)
{
    u32 word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(base + 4 * index) : "memory");
    return word;
}
#define SLUICE_SHARED_BASE(array, index) sharedBase(&(array)[index])
#define SLUICE_SHARED_WORD(array, base, index) sharedWord(base, index)

// See compat.glsl. The instruction that makes the mask takes the lowest five bits of its operand.
__device__ inline u32 lowBits(u32 value, u32 bits)
{
    u32 mask;
    asm("bmsk.wrap.b32 %0, 0, %1;" : "=r"(mask) : "r"(bits));
    return value & mask;
}
__device__ inline u32 funnelLeft(u32 high, u32 low, u32 shift)
{
    return __funnelshift_l(low, high, shift);
}
__device__ inline u32 bigEndian(u32 word) { return __byte_perm(word, 0, 0x0123); }
__device__ inline u32x2 interleaveBytes(u32 even, u32 odd)
{
    return makeU32x2(__byte_perm(even, odd, 0x5140), __byte_perm(even, odd, 0x7362));
}

// Lanes
__device__ inline u32 wgInvocation() { return threadIdx.x; }
__device__ inline void wgBarrierShared() { __syncthreads(); }
__device__ inline bool wgAny(bool condition) { return condition; }
// lgUniform and lgIndex exchange values between lanes, so all lanes of a warp must call them
// together: a call in a branch that some lanes skip never returns.
__device__ inline u32 lgUniform(u32 value) { return uniform(value); }
__device__ inline u32 lgLane() { return laneIndex(); }
__device__ inline u32 lgIndex() { return uniform(warpIndex()); }
__device__ inline u32 lgFirst() { return threadIdx.x & ~31u; }
__device__ inline u32 lgLanesBelow() { return lanesBelow(); }
__device__ inline void lgBarrierShared() { __syncwarp(); }
__device__ inline void lgBarrierAll() { __syncwarp(); }
__device__ inline u32 lgBallot(bool condition) { return __ballot_sync(kAllLanes, condition); }
__device__ inline u32x2 lgBallot2(bool a, bool b) { return makeU32x2(lgBallot(a), lgBallot(b)); }
__device__ inline void lgScan(u32 value, u32& prefix, u32& total)
{
    const u32 inclusive = warpInclusiveSum(value);
    prefix = inclusive - value;
    total = __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
}
__device__ inline u32 lgBallotScan(bool condition, u32 value, u32& prefix, u32& total)
{
    lgScan(value, prefix, total);
    return lgBallot(condition);
}
__device__ inline u32x2 lgBallot2Sum(bool a, bool b, u32 value, u32& total)
{
    total = warpSum(value);
    return lgBallot2(a, b);
}
__device__ inline void lgShare(u32) {}
// In GLSL these return false if a driver has left a loop early (docs/portability.md). No CUDA
// driver is known to do that.
__device__ inline bool sgLoopsGoOn() { return true; }
__device__ inline bool lgLoopsGoOn() { return true; }
__device__ inline bool wgLoopsGoOn() { return true; }
__device__ inline u32 lgShared(u32 value, u32 lane)
{
    return __shfl_sync(kAllLanes, value, static_cast<int>(lane));
}

constexpr u64 kNull = 0;

} // namespace sluice
