// SPDX-License-Identifier: MIT OR Apache-2.0
// Subgroup operations, by hardware or emulated, and on top of them the *lane group* of 32 lanes.
// Formats with 32 interleaved streams are decoded by lane groups.
//
// The specialization constants are the workgroup size and S, the subgroup size, a power of two from
// 4 to 128. A shader is compiled in three variants. SLUICE_EMU emulates subgroups of S lanes in
// shared memory and uses no subgroup operation at all. SLUICE_NARROW is for hardware subgroups with
// S < 32. A shader without these macros is for hardware subgroups with S >= 32. (The variants are
// not branches on S, because SwiftShader took minutes to compile such a branch.)
//
// The forms of a lane group are:
// - native, S = 32: it is a subgroup. The workgroup is any multiple of 32, and its lane groups run
//   independently.
// - wide, S > 32: it is a part of a subgroup. The workgroup is any multiple of S. The S / 32 lane
//   groups of a subgroup run in *lockstep*: they take the same branches.
// - narrow, S < 32: it is 32 / S subgroups, joined through shared memory. The workgroup is 32
//   invocations, one lane group.
// - emulated: all operations go through shared memory. The workgroup has max(32, S) invocations,
//   and its lane groups run in lockstep. With S < 32 the operations of a lane group do not depend
//   on S.
//
// Names begin with wg for the workgroup, sg for the subgroup, lg for the lane group. Every call of
// an lg function must stand in control flow that is uniform for all lane groups in lockstep. If a
// condition differs between lane groups, wgAny() makes it uniform: it returns whether any of them
// fulfils it.
//
// Lanes are numbered as the hardware does (gl_SubgroupID, gl_SubgroupInvocationID), never by
// gl_LocalInvocationID, since Vulkan does not tie these to each other. Full subgroups are required,
// so a workgroup consists of whole subgroups.
#ifndef SLUICE_LANES_GLSL
#define SLUICE_LANES_GLSL

#extension GL_EXT_control_flow_attributes : require
#include "loops.glsl"
#include "layout/base.h"
#include "layout/constants.h"

#ifndef SLUICE_EMU
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

layout(local_size_x_id = SLUICE_CONSTANT_WORKGROUP_SIZE) in;
layout(constant_id = SLUICE_CONSTANT_SUBGROUP_SIZE) const uint kSubgroupSize = 32;

const uint kGroupsPerWorkgroup = gl_WorkGroupSize.x / 32u;
#if defined(SLUICE_EMU)
const bool kNative = false;
const bool kLockstep = gl_WorkGroupSize.x > 32u;
#elif defined(SLUICE_NARROW)
const bool kNative = false;
const bool kLockstep = false;
const uint kSubgroupsPerGroup = 32u / kSubgroupSize;
#else
const bool kNative = kSubgroupSize == 32u;
const bool kLockstep = kSubgroupSize > 32u;
#endif

// -----------------------------------------------------------------------------------------------
// Returns the number of this invocation in the workgroup. It follows the order of subgroups and
// their lanes.

#ifdef SLUICE_EMU
uint wgInvocation() { return gl_LocalInvocationIndex; }
#else
uint wgInvocation() { return gl_SubgroupID * kSubgroupSize + gl_SubgroupInvocationID; }
#endif
// Returns the workgroup's number. It may be past the last workgroup that a kernel needs, because a
// dispatch is a rectangle of whole rows of SLUICE_MAX_GRID workgroups.
uint wgIndex() { return gl_WorkGroupID.y * SLUICE_MAX_GRID + gl_WorkGroupID.x; }
uint sgLane() { return wgInvocation() & (kSubgroupSize - 1u); }
uint sgIndex() { return wgInvocation() / kSubgroupSize; }

// Returns the lane's number in the lane group, 0 .. 31.
uint lgLane() { return wgInvocation() & 31u; }
// Returns the lane group's number in the workgroup.
#ifdef SLUICE_EMU
uint lgIndex() { return wgInvocation() >> 5; }
#else
uint lgIndex() { return kNative ? gl_SubgroupID : wgInvocation() >> 5; }
#endif
// Returns the mask of the lanes of the lane group that are below this one.
uint lgLanesBelow() { return (1u << lgLane()) - 1u; }

// -----------------------------------------------------------------------------------------------
// Barriers

// Waits for the whole workgroup. Earlier stores to shared memory are visible afterwards.
void wgBarrierShared() {
    memoryBarrierShared();
    barrier();
}

// Does what wgBarrierShared does, and also makes stores to buffers visible to the workgroup.
// `plain` says that on this device an execution barrier makes plain stores visible
// (SLUICE_CONSTANT_PLAIN_STORES_VISIBLE). Then memoryBarrierBuffer is not needed, which waits until
// the stores have reached the last level of cache.
void wgBarrierAll(const bool plain) {
#if !defined(SLUICE_EMU) && !defined(SLUICE_NARROW)
    if (plain) {
        subgroupMemoryBarrierBuffer();
        wgBarrierShared();
        return;
    }
#endif
    memoryBarrierBuffer();
    wgBarrierShared();
}

// Waits for the lane group. Its earlier stores to shared memory are visible afterwards. In the
// narrow and emulated forms this waits for the whole workgroup.
void lgBarrierShared() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    wgBarrierShared();
#else
    // subgroupBarrier orders accesses to memory, too.
    subgroupBarrier();
#endif
}

// Does what lgBarrierShared does, and also makes stores to buffers visible to the lane group.
void lgBarrierAll() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    memoryBarrierBuffer();
    wgBarrierShared();
#else
    subgroupBarrier();
#endif
}

// -----------------------------------------------------------------------------------------------
// The emulated and narrow forms exchange values through these arrays, which are double-buffered:
// operations use the two halves in turn. So one barrier per operation is enough. Operation n writes
// the half that operation n - 2 has used, and every lane has finished reading that half when it
// reaches the barrier of operation n - 1.

#ifdef SLUICE_EMU
// A vector has the values of four neighbouring lanes. lavapipe compiles each load into a loop over
// lanes, and loops for single values took two thirds of the compilation time. Other devices load a
// vector as fast as a word.
shared uvec4 sLanesBits[2][gl_WorkGroupSize.x / 4u];
shared uvec4 sLanesValue[2][gl_WorkGroupSize.x / 4u];
#elif defined(SLUICE_NARROW)
shared uvec4 sJoin[2][kSubgroupsPerGroup];
#endif
uint gLanesTurn = 0u;

#ifdef SLUICE_EMU
// Stores this lane's three conditions, which other lanes read after a barrier.
void lanesGive(bool a, bool b, bool c) {
    sLanesBits[gLanesTurn][wgInvocation() / 4u][wgInvocation() & 3u] =
        (a ? 1u : 0u) | (b ? 2u : 0u) | (c ? 4u : 0u);
}

// Sets the bits of lane `lane` in three ballots. `bits` is what that lane has stored with
// lanesGive.
void lanesJoin(uint bits, uint lane, inout uvec3 ballots) {
    ballots |= (uvec3(bits, bits >> 1, bits >> 2) & 1u) << lane;
}
// Does what lanesJoin does, and adds lane `lane`'s `value` to the sums of lgBallot3Scan. The caller
// passes lanes in ascending order, because `total` stops growing at the first lane whose bit is set
// in ballots.x.
void lanesAdd(uint bits, uint value, uint lane, inout uvec3 ballots, inout uint prefix,
              inout uint total) {
    lanesJoin(bits, lane, ballots);
    prefix += lane < lgLane() ? value : 0u;
    total += ballots.x == 0u ? value : 0u;
}
#endif

// -----------------------------------------------------------------------------------------------
// The lane group's operations

// Returns whether `condition` holds in this lane group or in one that is in lockstep with it. The
// condition must be uniform in each lane group.
//
// Where lane groups are subgroups, the ballot does not change the value. But it tells the compiler
// that a branch on the value is uniform. In control flow that might diverge, NVIDIA's compiler
// (driver 580) puts MATCH.ANY, REDUX and a convergence branch before every subgroup operation,
// which made the GDeflate decoder two to three times slower (docs/portability.md).
bool wgAny(bool condition) {
#if defined(SLUICE_EMU)
    if (!kLockstep) return condition;
    lanesGive(condition, false, false);
    barrier();
    uint bits = 0u;
    SLUICE_UNROLL
    for (uint g = 0u; g < 4u; ++g)
        if (g < kGroupsPerWorkgroup) bits |= sLanesBits[gLanesTurn][g * 8u].x;
    gLanesTurn ^= 1u;
    return bits != 0u;
#elif defined(SLUICE_NARROW)
    return condition;
#else
    return subgroupBallot(condition) != uvec4(0u);
#endif
}

#ifdef SLUICE_EMU

// Returns the ballots of `a`, `b` and `c` over the lane group in x, y and z. Bit i of a ballot is
// the condition of lane i.
uvec3 lgBallot3(bool a, bool b, bool c) {
    lanesGive(a, b, c);
    barrier();
    uvec3 result = uvec3(0u);
    SLUICE_UNROLL
    for (uint i = 0u; i < 8u; ++i) {
        uvec4 bits = sLanesBits[gLanesTurn][lgIndex() * 8u + i];
        lanesJoin(bits.x, i * 4u, result);
        lanesJoin(bits.y, i * 4u + 1u, result);
        lanesJoin(bits.z, i * 4u + 2u, result);
        lanesJoin(bits.w, i * 4u + 3u, result);
    }
    gLanesTurn ^= 1u;
    return result;
}

// Returns the ballots of `a`, `b` and `c`, and sums over the lane group. `prefix` is the sum of
// `value` over the lanes below this one. `total` is the sum over the lanes below the lowest lane
// that has `a` set, or over all lanes if none has.
uvec3 lgBallot3Scan(bool a, bool b, bool c, uint value, out uint prefix, out uint total) {
    lanesGive(a, b, c);
    sLanesValue[gLanesTurn][wgInvocation() / 4u][wgInvocation() & 3u] = value;
    barrier();
    uvec3 result = uvec3(0u);
    prefix = 0u;
    total = 0u;
    SLUICE_UNROLL
    for (uint i = 0u; i < 8u; ++i) {
        uvec4 bits = sLanesBits[gLanesTurn][lgIndex() * 8u + i];
        uvec4 values = sLanesValue[gLanesTurn][lgIndex() * 8u + i];
        lanesAdd(bits.x, values.x, i * 4u, result, prefix, total);
        lanesAdd(bits.y, values.y, i * 4u + 1u, result, prefix, total);
        lanesAdd(bits.z, values.z, i * 4u + 2u, result, prefix, total);
        lanesAdd(bits.w, values.w, i * 4u + 3u, result, prefix, total);
    }
    gLanesTurn ^= 1u;
    return result;
}

// The following functions are for narrow hardware subgroups. They join the subgroups' results
// through shared memory.
#elif defined(SLUICE_NARROW)

uvec3 lgBallot3(bool a, bool b, bool c) {
    uvec3 own = uvec3(subgroupBallot(a).x, subgroupBallot(b).x, subgroupBallot(c).x);
    if (gl_SubgroupInvocationID == 0u) sJoin[gLanesTurn][gl_SubgroupID] = uvec4(own, 0u);
    wgBarrierShared();
    uvec3 result = uvec3(0u);
    SLUICE_UNROLL
    for (uint i = 0u; i < 8u; ++i)
        if (i < kSubgroupsPerGroup) result |= sJoin[gLanesTurn][i].xyz << (i * kSubgroupSize);
    gLanesTurn ^= 1u;
    return result;
}

uvec3 lgBallot3Scan(bool a, bool b, bool c, uint value, out uint prefix, out uint total) {
    uvec3 own = uvec3(subgroupBallot(a).x, subgroupBallot(b).x, subgroupBallot(c).x);
    uint inclusive = subgroupInclusiveAdd(value);
    // Each subgroup gives two sums to the others. `inclusive` of its last lane is the sum over all
    // its lanes. `cut` is the sum over the lanes below its first lane with `a` set, or over all its
    // lanes if none has.
    uint cut = subgroupAdd((own.x & ((2u << gl_SubgroupInvocationID) - 1u)) == 0u ? value : 0u);
    if (gl_SubgroupInvocationID == kSubgroupSize - 1u)
        sJoin[gLanesTurn][gl_SubgroupID] = uvec4(own.x | (own.y << 16), own.z, inclusive, cut);
    wgBarrierShared();
    uvec3 result = uvec3(0u);
    prefix = inclusive - value;
    total = 0u;
    SLUICE_UNROLL
    for (uint i = 0u; i < 8u; ++i)
        if (i < kSubgroupsPerGroup) {
            uvec4 join = sJoin[gLanesTurn][i];
            total += result.x == 0u ? join.w : 0u;
            prefix += i < gl_SubgroupID ? join.z : 0u;
            result |= uvec3(join.x & 0xffffu, join.x >> 16, join.y) << (i * kSubgroupSize);
        }
    gLanesTurn ^= 1u;
    return result;
}

// The following functions are for hardware subgroups of 32 lanes or more, which hold whole lane
// groups.
#else

// Returns the 32 bits of a ballot that belong to this lane's lane group.
uint lgPart(uvec4 ballot) { return kLockstep ? ballot[gl_SubgroupInvocationID >> 5] : ballot.x; }

uvec3 lgBallot3(bool a, bool b, bool c) {
    return uvec3(lgPart(subgroupBallot(a)), lgPart(subgroupBallot(b)), lgPart(subgroupBallot(c)));
}

// Adds the value of the lane `reach` lanes below this one, if there is such a lane.
uint sgAddBelow(uint value, uint reach) {
    uint below = subgroupShuffle(value, (gl_SubgroupInvocationID - reach) & 31u);
    return value + mix(0u, below, gl_SubgroupInvocationID >= reach);
}
// Does what subgroupInclusiveAdd does. NVIDIA's compiler (driver 580) turns that built-in function
// into a call, which walks the list of active lanes and takes twice as many instructions as the
// shuffles here. The shuffles are not in a loop, because that compiler does not unroll loops with
// shuffles. A kernel in which the built-in function was measured to be faster defines
// SLUICE_SCANS_CALLED.
uint sgInclusiveAddShuffled(uint value) {
#ifdef SLUICE_SCANS_CALLED
    return subgroupInclusiveAdd(value);
#endif
    if (!kNative) return subgroupInclusiveAdd(value);
    return sgAddBelow(sgAddBelow(sgAddBelow(sgAddBelow(sgAddBelow(value, 1u), 2u), 4u), 8u), 16u);
}

// Computes `prefix` and `total` of lgBallot3Scan; `stops` is the ballot of `a`.
void lgScanUntil(uint stops, uint value, out uint prefix, out uint total) {
    uint inclusive = sgInclusiveAddShuffled(value);
    uint first = kLockstep ? gl_SubgroupInvocationID & ~31u : 0u;
    uint stop = stops == 0u ? 31u : uint(findLSB(stops));
    prefix = inclusive - value;
    // If `stops` is 0, the total is the inclusive sum of the last lane. Otherwise it is the
    // exclusive sum of the first lane that stops.
    total = subgroupShuffle(stops == 0u ? inclusive : prefix, first + stop);
    if (kLockstep) {
        uint below = subgroupShuffle(prefix, first);
        prefix -= below;
        total -= below;
    }
}

uvec3 lgBallot3Scan(bool a, bool b, bool c, uint value, out uint prefix, out uint total) {
    uvec3 result = lgBallot3(a, b, c);
    lgScanUntil(result.x, value, prefix, total);
    return result;
}

#endif

// Sets `prefix` to the sum of `value` over the lanes of the group below this one, and `total` to
// the sum over all its lanes.
void lgScan(uint value, out uint prefix, out uint total) {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    lgBallot3Scan(false, false, false, value, prefix, total);
#else
    lgScanUntil(0u, value, prefix, total);
#endif
}

uint lgBallot(bool a) { return lgBallot3(a, false, false).x; }

// lgShare publishes this lane's `value` to the lanes of the group, which read it with lgShared
// until the next call of lgShare. In the narrow and emulated forms only lgShare waits at a barrier,
// however many lanes are read afterwards.
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
shared uint sLanesShared[2][gl_WorkGroupSize.x];
uint gLanesSharedTurn = 0u;
#else
uint gLanesShared;
#endif

void lgShare(uint value) {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    gLanesSharedTurn ^= 1u;
    sLanesShared[gLanesSharedTurn][wgInvocation()] = value;
    wgBarrierShared();
#else
    gLanesShared = value;
#endif
}

// Returns the `value` that lane `lane` has passed to lgShare.
uint lgShared(uint lane) {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    return sLanesShared[gLanesSharedTurn][lgIndex() * 32u + lane];
#else
    return subgroupShuffle(gLanesShared,
                           kLockstep ? (gl_SubgroupInvocationID & ~31u) + lane : lane);
#endif
}

// Returns `condition`, which must be uniform in the subgroup. The ballot tells the compiler that it
// is uniform (see wgAny).
bool sgUniform(bool condition) {
#ifdef SLUICE_EMU
    return condition;
#else
    return subgroupBallot(condition) != uvec4(0u);
#endif
}

// Returns false if the driver has left a loop of this subgroup early. lavapipe counts the
// iterations of all loops of a subgroup together. Beyond a limit, it leaves every loop after its
// first iteration (docs/portability.md). A loop of two iterations shows whether that limit has been
// passed. `two` must be 2, but not a constant, because the compiler would remove a loop of constant
// length.
bool sgLoopsGoOn(uint two) {
    uint turns = 0u;
    SLUICE_DONT_UNROLL
    for (uint k = 0u; k < two; k++)
        turns++;
    return turns == two;
}

// Does what sgLoopsGoOn(two) does, with a 2 that the compiler does not know. Only drivers with
// narrow subgroups have been seen to leave loops early, so the wide and native forms have no test.
bool sgLoopsGoOn() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    // The z index of a workgroup is always 0.
    return sgLoopsGoOn(2u + gl_WorkGroupID.z);
#else
    return true;
#endif
}

// Returns whether `condition` holds in any lane of this lane group, or of a lane group in lockstep
// with it.
bool wgAnyLane(bool condition) {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    return wgAny(lgBallot(condition) != 0u);
#else
    return subgroupBallot(condition) != uvec4(0u);
#endif
}

// Returns false if the driver has left a loop early in this lane group, or in one in lockstep with
// it.
bool lgLoopsGoOn() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    return !wgAnyLane(!sgLoopsGoOn());
#else
    return true;
#endif
}

// These functions are for kernels in which a whole workgroup works on one thing. The workgroup
// calls wgLoopsBegin first. wgLoopsGoOn then returns false if the driver has left a loop early in
// one of its subgroups. No barrier follows the read of sLoopsLeft, so a faster subgroup may already
// store the result of its next call before a slower one reads. This race is harmless: it can only
// make wgLoopsGoOn return false one call earlier.
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
shared uint sLoopsLeft;
#endif
void wgLoopsBegin() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    if (wgInvocation() == 0u) sLoopsLeft = 0u;
    wgBarrierShared();
#endif
}
bool wgLoopsGoOn() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    if (!sgLoopsGoOn()) sLoopsLeft = 1u;
    wgBarrierShared();
    return sLoopsLeft == 0u;
#else
    return true;
#endif
}

#endif // SLUICE_LANES_GLSL
