// SPDX-License-Identifier: MIT OR Apache-2.0
// A team is the lanes that together undo the prediction of a column: a subgroup, or the whole
// workgroup where subgroups are narrow or emulated. All functions of this file must be called in
// control flow that is uniform for the whole team.
#ifndef SLUICE_FILTER_TEAM_GLSL
#define SLUICE_FILTER_TEAM_GLSL

#include "loops.glsl"
#include "lanes.glsl"
#include "scan.glsl"

// True if the lanes of a workgroup see each other's plain stores after a barrier; otherwise they
// need coherent accesses. With narrow or emulated subgroups it is false at compile time, because
// SwiftShader takes minutes to compile branches in code with barriers.
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
const bool kPlainHistory = false;
#else
layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const bool kPlainHistory = false;
#endif

// Waits for the whole workgroup, and makes stores to shared memory and scratch visible to it.
void wgBarrierAll() { wgBarrierAll(kPlainHistory); }

const uint kTeamTaken = 8u; // lanes whose values teamTake gives; every team has at least as many

#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
const uint kTeamSize = gl_WorkGroupSize.x, kTeams = 1u;

shared uint sTeam[2][gl_WorkGroupSize.x];
uint gTeamTurn = 0u;

uint teamLane() { return wgInvocation(); }
uint teamIndex() { return 0u; }

void teamBarrier() { wgBarrierShared(); }
void teamBarrierAll() { wgBarrierAll(); }

// Returns the value of the lane before this one; the first lane receives its own.
uint teamBefore(uint value) {
    sTeam[gTeamTurn][wgInvocation()] = value;
    wgBarrierShared();
    value = sTeam[gTeamTurn][max(wgInvocation(), 1u) - 1u];
    gTeamTurn ^= 1u;
    return value;
}

// Gives every lane the values of the first kTeamTaken lanes.
void teamTake(uint value, out uint taken[kTeamTaken]) {
    if (wgInvocation() < kTeamTaken) sTeam[gTeamTurn][wgInvocation()] = value;
    wgBarrierShared();
    SLUICE_UNROLL
    for (uint k = 0u; k < kTeamTaken; k++)
        taken[k] = sTeam[gTeamTurn][k];
    gTeamTurn ^= 1u;
}

uint teamExclusiveAdd(uint value, out uint total) { return wgExclusiveAdd(value, total); }
#else
const uint kTeamSize = kSubgroupSize, kTeams = kSubgroups;

uint teamLane() { return gl_SubgroupInvocationID; }
uint teamIndex() { return gl_SubgroupID; }

void teamBarrier() {
    subgroupMemoryBarrierShared();
    subgroupBarrier();
}
void teamBarrierAll() {
    subgroupMemoryBarrier();
    subgroupBarrier();
}

// Returns the value of the lane before this one; the first lane receives its own.
uint teamBefore(uint value) {
    return subgroupShuffle(value, max(gl_SubgroupInvocationID, 1u) - 1u);
}

// Gives every lane the values of the first kTeamTaken lanes.
void teamTake(uint value, out uint taken[kTeamTaken]) {
    SLUICE_UNROLL
    for (uint k = 0u; k < kTeamTaken; k++)
        taken[k] = subgroupShuffle(value, k);
}

// Returns the sum of `value` over the team's lanes before this one; `total` receives that of all.
uint teamExclusiveAdd(uint value, out uint total) {
    uint inclusive = sgInclusiveAddShuffled(value);
    total = subgroupShuffle(inclusive, kSubgroupSize - 1u);
    return inclusive - value;
}
#endif

#endif // SLUICE_FILTER_TEAM_GLSL
