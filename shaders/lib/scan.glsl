// SPDX-License-Identifier: MIT OR Apache-2.0
// Exclusive sums over a subgroup and over a workgroup, for any subgroup size. The whole workgroup
// must call each function. The shared arrays are double-buffered, so that one barrier per step is
// enough.
//
// A shader that takes sums inside loops and branches defines SLUICE_SCAN_SHUFFLED to use shuffles.
// There NVIDIA's compiler (driver 580) would turn the built-in subgroup sum into a function call,
// and wait for all loads in flight before the call.
#ifndef SLUICE_SCAN_GLSL
#define SLUICE_SCAN_GLSL

#include "loops.glsl"
#include "lanes.glsl"

const uint kSubgroups = gl_WorkGroupSize.x / kSubgroupSize;

shared uint sSubgroupSums[2][kSubgroups];
uint gSumsTurn = 0u;

#ifdef SLUICE_EMU
shared uint sSteps[2][gl_WorkGroupSize.x];
uint gStepsTurn = 0u;
#endif

// Returns the sum of `value` over this lane and those below it in the subgroup.
uint sgInclusiveAdd(uint value) {
#ifdef SLUICE_EMU
    for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) {
        sSteps[gStepsTurn][wgInvocation()] = value;
        barrier();
        if (sgLane() >= reach) value += sSteps[gStepsTurn][wgInvocation() - reach];
        gStepsTurn ^= 1u;
    }
    return value;
#elif defined(SLUICE_SCAN_SHUFFLED) && !defined(SLUICE_NARROW)
    return sgInclusiveAddShuffled(value);
#else
    return subgroupInclusiveAdd(value);
#endif
}

// Returns the value of the subgroup's last lane.
uint sgLast(uint value) {
#ifdef SLUICE_EMU
    sSteps[gStepsTurn][wgInvocation()] = value;
    barrier();
    value = sSteps[gStepsTurn][wgInvocation() | (kSubgroupSize - 1u)];
    gStepsTurn ^= 1u;
    return value;
#else
    return subgroupShuffle(value, kSubgroupSize - 1u);
#endif
}

// Returns the sum over the lanes below this one in the subgroup, for values below 2^bits; `total`
// receives the sum over the subgroup. It takes a ballot of each bit of the values, and counts the
// ballot's bits below the lane (Billeter, Olsson, Assarsson 2009). For few bits this is less work
// than a scan by additions, which takes log2(S) steps for S lanes.
uint sgExclusiveAddBits(uint value, uint bits, out uint total) {
#ifdef SLUICE_EMU
    uint inclusive = sgInclusiveAdd(value);
    total = sgLast(inclusive);
    return inclusive - value;
#else
    uint before = 0u;
    total = 0u;
    SLUICE_UNROLL
    for (uint bit = 0u; bit < bits; bit++) {
        uvec4 ballot = subgroupBallot((value >> bit & 1u) != 0u);
        before += subgroupBallotExclusiveBitCount(ballot) << bit;
        total += subgroupBallotBitCount(ballot) << bit;
    }
    return before;
#endif
}

// Returns the sum over the subgroups below this one; `total` receives the sum over all. `sum` is
// this subgroup's sum, and only its last lane needs to have it.
uint wgSubgroupsBefore(uint sum, out uint total) {
    if (sgLane() == kSubgroupSize - 1u) sSubgroupSums[gSumsTurn][sgIndex()] = sum;
    wgBarrierShared();
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
    uint before = 0u;
    total = 0u;
    for (uint i = 0u; i < kSubgroups; ++i) {
        uint one = sSubgroupSums[gSumsTurn][i];
        before += i < sgIndex() ? one : 0u;
        total += one;
    }
#else
    // A workgroup has at most as many subgroups as a subgroup has lanes.
    uint one = sgLane() < kSubgroups ? sSubgroupSums[gSumsTurn][sgLane()] : 0u;
    uint inclusive = sgInclusiveAdd(one);
    uint before = subgroupShuffle(inclusive - one, sgIndex());
    total = subgroupShuffle(inclusive, kSubgroups - 1u);
#endif
    gSumsTurn ^= 1u;
    return before;
}

// Returns the sum over the invocations below this one, in the order of wgInvocation(); `total`
// receives the sum over all.
uint wgExclusiveAdd(uint value, out uint total) {
    uint inclusive = sgInclusiveAdd(value);
    return wgSubgroupsBefore(inclusive, total) + inclusive - value;
}

#endif // SLUICE_SCAN_GLSL
