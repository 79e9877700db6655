// SPDX-License-Identifier: MIT OR Apache-2.0
// Lanes: subgroup operations (hardware or emulated), and on top of them the lane group of 32, the
// abstraction for formats with 32 interleaved streams.
//
// The specialization constants are the workgroup size and S, the subgroup size (4 .. 128, a power
// of two). SLUICE_EMU makes a variant that emulates subgroups of S lanes in shared memory and uses
// no subgroup operation at all. The other variants use hardware subgroups; SLUICE_NARROW is for S <
// 32. (A branch on S instead would cost SwiftShader minutes of compilation.)
//
// A lane group is
//   native    S == 32: the subgroup. The workgroup is any multiple of 32; lane groups run on
//             their own.
//   wide      S > 32: a 32-lane part of the subgroup. The workgroup is any multiple of S; the
//             S / 32 lane groups of a subgroup run in lockstep.
//   narrow    S < 32: 32 / S subgroups, joined through shared memory. The workgroup is 32, one
//             lane group.
//   emulated  All operations are in shared memory. The workgroup is max(32, S), its lane groups
//             run in lockstep; for S < 32 the lane group's operations do not depend on S.
// Every lg...() call must stand in control flow that is uniform for all lane groups in lockstep.
// wgAny() makes such conditions out of per-group ones.
//
// Lanes are numbered by the hardware (gl_SubgroupID, gl_SubgroupInvocationID), never by
// gl_LocalInvocationID, which Vulkan does not tie to them. Full subgroups are required, so every
// workgroup has whole subgroups only.
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
// The place of this invocation: its index in the workgroup, counted along the subgroups.

#ifdef SLUICE_EMU
uint wgInvocation() { return gl_LocalInvocationIndex; }
#else
uint wgInvocation() { return gl_SubgroupID * kSubgroupSize + gl_SubgroupInvocationID; }
#endif
// The workgroup's index in the dispatch. It may lie past the number of workgroups that the host
// asked for, since the list is folded into a rectangle.
uint wgIndex() { return gl_WorkGroupID.y * SLUICE_MAX_GRID + gl_WorkGroupID.x; }
uint sgLane() { return wgInvocation() & (kSubgroupSize - 1u); }
uint sgIndex() { return wgInvocation() / kSubgroupSize; }

// Lane 0 .. 31 in the lane group, and the lane group's index in the workgroup.
uint lgLane() { return wgInvocation() & 31u; }
#ifdef SLUICE_EMU
uint lgIndex() { return wgInvocation() >> 5; }
#else
uint lgIndex() { return kNative ? gl_SubgroupID : wgInvocation() >> 5; }
#endif
uint lgLanesBelow() { return (1u << lgLane()) - 1u; }

// -----------------------------------------------------------------------------------------------
// Barriers

// Waits for the whole workgroup; what was written to shared memory before is visible after.
void wgBarrierShared() {
    memoryBarrierShared();
    barrier();
}

// Does the same for buffer memory too. `plain` is set if an execution barrier makes plain stores
// visible to the workgroup. Then the stronger barrier, which waits for the last cache level, is
// avoided.
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

// Does what wgBarrierShared does, for the lanes of one lane group. In the narrow and emulated forms
// it waits for the whole workgroup.
void lgBarrierShared() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    wgBarrierShared();
#else
    subgroupBarrier(); // orders memory too
#endif
}

// Does the same for shared memory and buffer memory.
void lgBarrierAll() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    memoryBarrierBuffer();
    wgBarrierShared();
#else
    subgroupBarrier();
#endif
}

// -----------------------------------------------------------------------------------------------
// Shared memory through which the emulated and narrow forms exchange values. It is double-buffered,
// so that one barrier per operation is enough: an operation writes to the half that the operation
// before last used, and every lane has finished reading that half.

#ifdef SLUICE_EMU
// A vector holds the values of four neighbouring lanes. lavapipe compiles each load into a loop, so
// that loads of single words took most of the compile time; other devices load a vector as fast as
// a word.
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

// Adds lane `lane` to the three ballots: its bit is set in each ballot whose condition is set in
// `bits`, which that lane stored.
void lanesJoin(uint bits, uint lane, inout uvec3 ballots) {
    ballots |= (uvec3(bits, bits >> 1, bits >> 2) & 1u) << lane;
}
// Does the same and adds that lane's value to the sums of lgBallot3Scan. Lanes must come in order,
// since `total` ends at the first bit of ballots.x.
void lanesAdd(uint bits, uint value, uint lane, inout uvec3 ballots, inout uint prefix,
              inout uint total) {
    lanesJoin(bits, lane, ballots);
    prefix += lane < lgLane() ? value : 0u;
    total += ballots.x == 0u ? value : 0u;
}
#endif

// -----------------------------------------------------------------------------------------------
// The lane group's operations

// Returns true if `condition` holds in this lane group or in a lane group in lockstep with it. The
// condition must be uniform in each lane group.
//
// Where lane groups are subgroups, the ballot does not change the value, but it tells the compiler
// that a branch is uniform. In control flow that might diverge, NVIDIA's compiler (580) puts
// MATCH.ANY, REDUX and a convergence branch before every subgroup operation, which made the
// GDeflate decoder three times slower.
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

// Returns three ballots for one exchange through shared memory. Bit i of .x is `a` of lane i; .y
// and .z are those of `b` and `c`.
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

// Does an exclusive scan of `value` over the lanes, together with three ballots.
//   prefix   sum of value over the lanes below
//   total    sum of value over the lanes below the lowest lane that has `a` set; over all lanes if
//            no lane has it set
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

#elif defined(SLUICE_NARROW) // here with hardware subgroups and a join

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
    // A subgroup passes on its whole sum (`inclusive` of the last lane) and its sum below its first
    // lane with `a` set (`cut`).
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

#else // here with hardware subgroups that hold whole lane groups

// Returns the ballot's 32 bits for this lane's lane group.
uint lgPart(uvec4 ballot) { return kLockstep ? ballot[gl_SubgroupInvocationID >> 5] : ballot.x; }

uvec3 lgBallot3(bool a, bool b, bool c) {
    return uvec3(lgPart(subgroupBallot(a)), lgPart(subgroupBallot(b)), lgPart(subgroupBallot(c)));
}

// Does what subgroupInclusiveAdd does. NVIDIA's compiler (580) turns that built-in into a call that
// walks the list of active lanes and has twice as many shuffles. The steps are written out because
// the compiler does not unroll loops with shuffles. With SLUICE_SCANS_CALLED defined, the built-in
// is used.
uint sgAddBelow(uint value, uint reach) {
    uint below = subgroupShuffle(value, (gl_SubgroupInvocationID - reach) & 31u);
    return value + mix(0u, below, gl_SubgroupInvocationID >= reach);
}
uint sgInclusiveAddShuffled(uint value) {
#ifdef SLUICE_SCANS_CALLED
    return subgroupInclusiveAdd(value);
#endif
    if (!kNative) return subgroupInclusiveAdd(value);
    return sgAddBelow(sgAddBelow(sgAddBelow(sgAddBelow(sgAddBelow(value, 1u), 2u), 4u), 8u), 16u);
}

// Does the scan of lgBallot3Scan; `stops` is the ballot of its condition `a`.
void lgScanUntil(uint stops, uint value, out uint prefix, out uint total) {
    uint inclusive = sgInclusiveAddShuffled(value);
    uint first = kLockstep ? gl_SubgroupInvocationID & ~31u : 0u;
    uint stop = stops == 0u ? 31u : uint(findLSB(stops));
    prefix = inclusive - value;
    // Without a stop lane the total is the inclusive sum of the last lane; with one it is the
    // exclusive sum of that lane.
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

// Returns the sum of `value` over the lanes below, and the sum of all lanes.
void lgScan(uint value, out uint prefix, out uint total) {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    lgBallot3Scan(false, false, false, value, prefix, total);
#else
    lgScanUntil(0u, value, prefix, total);
#endif
}

uint lgBallot(bool a) { return lgBallot3(a, false, false).x; }

// Lets the lanes of the group read each other's `value` until the next call. One exchange serves
// any number of reads.
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

uint lgShared(uint lane) {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    return sLanesShared[gLanesSharedTurn][lgIndex() * 32u + lane];
#else
    return subgroupShuffle(gLanesShared,
                           kLockstep ? (gl_SubgroupInvocationID & ~31u) + lane : lane);
#endif
}

// Returns `condition`, which must be uniform in the subgroup, in a form that the compiler knows to
// be uniform.
bool sgUniform(bool condition) {
#ifdef SLUICE_EMU
    return condition;
#else
    return subgroupBallot(condition) != uvec4(0u);
#endif
}

// Returns whether no loop of this subgroup has been left early so far. lavapipe counts the
// iterations of all loops of a subgroup, and past a limit it leaves each loop after its first
// iteration (docs/portability.md). So a loop of two iterations reveals whether that has happened.
// `two` is 2, but must not be a constant that the compiler could fold.
bool sgLoopsGoOn(uint two) {
    uint turns = 0u;
    SLUICE_DONT_UNROLL
    for (uint k = 0u; k < two; k++)
        turns++;
    return turns == two;
}

// Does this test with a value of `two` that the compiler does not know. Only drivers with narrow
// subgroups have been seen to leave loops early, so nothing is tested elsewhere.
bool sgLoopsGoOn() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    return sgLoopsGoOn(2u + gl_WorkGroupID.z); // the z index is always 0
#else
    return true;
#endif
}

// Returns true if `condition` holds in any lane of this lane group or of a lane group in lockstep
// with it.
bool wgAnyLane(bool condition) {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    return wgAny(lgBallot(condition) != 0u);
#else
    return subgroupBallot(condition) != uvec4(0u);
#endif
}

// Returns true if no subgroup of this lane group, or of a lane group in lockstep with it, has left
// a loop early.
bool lgLoopsGoOn() {
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    return !wgAnyLane(!sgLoopsGoOn());
#else
    return true;
#endif
}

// Returns true if no subgroup of the workgroup has left a loop early; for kernels in which a whole
// workgroup works on one item. The whole workgroup calls wgLoopsBegin, then wgLoopsGoOn. The answer
// is meant for the invocation that writes a status; other invocations may see it one call late.
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
