// SPDX-License-Identifier: MIT OR Apache-2.0
// Exclusive sums over a subgroup and over a workgroup of several subgroups, for any subgroup size. Every function must
// be called by the whole workgroup. Like the lane group's, the shared arrays have two halves used in turn, so that one
// barrier a step is enough.
#ifndef SLUICE_SCAN_GLSL
#define SLUICE_SCAN_GLSL

#include "lanes.glsl"

const uint kSubgroups = gl_WorkGroupSize.x / kSubgroupSize;

shared uint sSubgroupSums[2][kSubgroups];
uint gSumsTurn = 0u;

#ifdef SLUICE_EMU
shared uint sSteps[2][gl_WorkGroupSize.x];
uint gStepsTurn = 0u;
#endif

// Sum of `value` over this lane and the lanes below it in the subgroup.
uint sgInclusiveAdd(uint value) {
#ifdef SLUICE_EMU
    for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) {
        sSteps[gStepsTurn][wgInvocation()] = value;
        barrier();
        if (sgLane() >= reach)
            value += sSteps[gStepsTurn][wgInvocation() - reach];
        gStepsTurn ^= 1u;
    }
    return value;
#else
    return subgroupInclusiveAdd(value);
#endif
}

// How many lanes below this one in the subgroup hold `keep`: a ballot and its population count below the lane.
//   total   how many in the whole subgroup
uint sgRank(bool keep, out uint total) {
#ifdef SLUICE_EMU
    uint inclusive = sgInclusiveAdd(keep ? 1u : 0u);
    sSteps[gStepsTurn][wgInvocation()] = inclusive;
    barrier();
    total = sSteps[gStepsTurn][wgInvocation() | (kSubgroupSize - 1u)];
    gStepsTurn ^= 1u;
    return inclusive - (keep ? 1u : 0u);
#else
    uvec4 ballot = subgroupBallot(keep);
    total = subgroupBallotBitCount(ballot);
    return subgroupBallotExclusiveBitCount(ballot);
#endif
}

// Exclusive sum over the subgroups of the workgroup; `sum` counts in the last lane of each subgroup only.
//   total   sum over all of them
uint wgSubgroupsBefore(uint sum, out uint total) {
    if (sgLane() == kSubgroupSize - 1u)
        sSubgroupSums[gSumsTurn][sgIndex()] = sum;
    wgBarrierShared();
    uint before = 0u;
    total = 0u;
    for (uint i = 0u; i < kSubgroups; ++i) {
        uint one = sSubgroupSums[gSumsTurn][i];
        before += i < sgIndex() ? one : 0u;
        total += one;
    }
    gSumsTurn ^= 1u;
    return before;
}

// Exclusive sum over the workgroup, in the order of wgInvocation().
uint wgExclusiveAdd(uint value, out uint total) {
    uint inclusive = sgInclusiveAdd(value);
    return wgSubgroupsBefore(inclusive, total) + inclusive - value;
}

#endif // SLUICE_SCAN_GLSL
