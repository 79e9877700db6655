// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans of runs over a subgroup and a workgroup: sums and maxima of u32, u64 and f32 values, cut into segments or not.
//
// Specialization constants: 2 = the operation, 3 = segmented. SLUICE_VALUE64 makes Value a pair of words.
// Every function must be called by the whole workgroup.
#ifndef SLUICE_RUNS_GLSL
#define SLUICE_RUNS_GLSL

#include "layout.h"
#include "lanes.glsl"
#include "memory.glsl"

layout(constant_id = 2) const uint kOperation = SLUICE_SCAN_OP_SUM;
layout(constant_id = 3) const bool kSegmented = false;

const uint kSubgroups = gl_WorkGroupSize.x / kSubgroupSize;

#ifdef SLUICE_VALUE64
#define Value uvec2
const Value kIdentity = uvec2(0u);

Value combine(Value a, Value b) {
    return kOperation == SLUICE_SCAN_OP_SUM ? add64(a, b) : less64(a, b) ? b : a;
}
#else
#define Value uint
const Value kIdentity = 0u; // of f32 sums too

Value combine(Value a, Value b) {
    return kOperation == SLUICE_SCAN_OP_SUM       ? a + b
           : kOperation == SLUICE_SCAN_OP_SUM_F32 ? floatBitsToUint(uintBitsToFloat(a) + uintBitsToFloat(b))
                                                    : max(a, b);
}
#endif

// A run of consecutive elements: the combined value of those after its last segment head, or of all if it has none.
struct Run {
    Value value;
    bool head;
};
const Run kNoRun = Run(kIdentity, false);

Run join(Run first, Run second) {
    bool cut = kSegmented && second.head;
    return Run(cut ? second.value : combine(first.value, second.value), cut || (kSegmented && first.head));
}

#ifdef SLUICE_EMU
shared Value sRunSteps[2][gl_WorkGroupSize.x];
shared bool sRunHeads[2][gl_WorkGroupSize.x];
uint gRunTurn = 0u;

Run sgRunOf(Run run, uint from) {
    sRunSteps[gRunTurn][wgInvocation()] = run.value;
    sRunHeads[gRunTurn][wgInvocation()] = run.head;
    barrier();
    Run other = Run(sRunSteps[gRunTurn][from], sRunHeads[gRunTurn][from]);
    gRunTurn ^= 1u;
    return other;
}
#else
Run sgRunOf(Run run, uint from) {
    return Run(subgroupShuffle(run.value, from), kSegmented && subgroupShuffle(run.head ? 1u : 0u, from) != 0u);
}
#endif

// The run of this lane, by its place among those that sgRunOf addresses.
#ifdef SLUICE_EMU
uint runLane() { return wgInvocation(); }
#else
uint runLane() { return gl_SubgroupInvocationID; }
#endif

// The runs of this lane and those below it in the subgroup, joined.
Run sgInclusiveRun(Run run) {
#if !defined(SLUICE_EMU) && !defined(SLUICE_VALUE64)
    if (!kSegmented) {
        if (kOperation == SLUICE_SCAN_OP_SUM)
            return Run(subgroupInclusiveAdd(run.value), false);
        if (kOperation == SLUICE_SCAN_OP_MAX)
            return Run(subgroupInclusiveMax(run.value), false);
        return Run(floatBitsToUint(subgroupInclusiveAdd(uintBitsToFloat(run.value))), false);
    }
#endif
    for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) {
        Run below = sgRunOf(run, sgLane() >= reach ? runLane() - reach : runLane());
        if (sgLane() >= reach)
            run = join(below, run);
    }
    return run;
}

// The runs of the lanes below this one, joined.
//   total   of the whole subgroup
Run sgExclusiveRun(Run run, out Run total) {
    Run inclusive = sgInclusiveRun(run);
    total = sgRunOf(inclusive, runLane() | (kSubgroupSize - 1u));
    Run before = sgRunOf(inclusive, sgLane() == 0u ? runLane() : runLane() - 1u);
    if (sgLane() == 0u)
        before = kNoRun;
    return before;
}

// The runs of all lanes of the subgroup, joined.
Run sgJoinedRun(Run run) {
#if !defined(SLUICE_EMU) && !defined(SLUICE_VALUE64)
    if (!kSegmented) {
        if (kOperation == SLUICE_SCAN_OP_SUM)
            return Run(subgroupAdd(run.value), false);
        if (kOperation == SLUICE_SCAN_OP_MAX)
            return Run(subgroupMax(run.value), false);
    }
#endif
    return sgRunOf(sgInclusiveRun(run), runLane() | (kSubgroupSize - 1u));
}

// Sums and maxima of unsegmented words have shorter forms where there are subgroup operations. f32 sums keep their order.
#if defined(SLUICE_EMU) || defined(SLUICE_VALUE64)
const bool kSimple = false;
#else
const bool kSimple = !kSegmented && kOperation != SLUICE_SCAN_OP_SUM_F32;

uvec4 combine4(uvec4 a, uvec4 b) { return kOperation == SLUICE_SCAN_OP_SUM ? a + b : max(a, b); }

void sgExclusiveStep(uint reach, uint lanes, inout uvec4 before, inout uvec4 total) {
    if (reach >= lanes)
        return;
    uvec4 other = subgroupShuffleXor(total, reach);
    before = combine4(before, mix(uvec4(kIdentity), other, bvec4((gl_SubgroupInvocationID & reach) != 0u)));
    total = combine4(total, other);
}

// Four exclusive scans over the subgroup at once, and their totals. NVIDIA's compiler (580) makes three times as many
// instructions of subgroupExclusiveAdd(), which waits for itself more often, too.
uvec4 sgExclusive4(uvec4 value, out uvec4 total) {
    uvec4 before = uvec4(kIdentity);
    total = value;
    sgExclusiveStep(1u, kSubgroupSize, before, total);
    sgExclusiveStep(2u, kSubgroupSize, before, total);
    sgExclusiveStep(4u, kSubgroupSize, before, total);
    sgExclusiveStep(8u, kSubgroupSize, before, total);
    sgExclusiveStep(16u, kSubgroupSize, before, total);
    sgExclusiveStep(32u, kSubgroupSize, before, total);
    sgExclusiveStep(64u, kSubgroupSize, before, total);
    return before;
}

void sgExclusiveStep(uint reach, uint lanes, inout uint before, inout uint total) {
    if (reach >= lanes)
        return;
    uint other = subgroupShuffleXor(total, reach);
    before = combine(before, mix(kIdentity, other, (gl_SubgroupInvocationID & reach) != 0u));
    total = combine(total, other);
}

// One exclusive scan over each `lanes` lanes, a power of two.
uint sgExclusiveAmong(uint lanes, uint value, out uint total) {
    uint before = kIdentity;
    total = value;
    sgExclusiveStep(1u, lanes, before, total);
    sgExclusiveStep(2u, lanes, before, total);
    sgExclusiveStep(4u, lanes, before, total);
    sgExclusiveStep(8u, lanes, before, total);
    sgExclusiveStep(16u, lanes, before, total);
    sgExclusiveStep(32u, lanes, before, total);
    sgExclusiveStep(64u, lanes, before, total);
    return before;
}
#endif

shared Value sRuns[2][kSubgroups];
shared bool sHeads[2][kSubgroups];
uint gRunsTurn = 0u;

// The runs of the subgroups below this one, joined; `run` is the same in all lanes of a subgroup.
//   total   of the whole workgroup
Run wgRunsBefore(Run run, out Run total) {
    if (sgLane() == 0u) {
        sRuns[gRunsTurn][sgIndex()] = run.value;
        if (kSegmented)
            sHeads[gRunsTurn][sgIndex()] = run.head;
    }
    wgBarrierShared();
    Run before = kNoRun;
    total = kNoRun;
#ifndef SLUICE_EMU
    if (kSubgroups <= kSubgroupSize) {
#ifndef SLUICE_VALUE64
        if (kSimple) {
            const uint lanes = kSubgroups <= 8u ? min(8u, kSubgroupSize) : kSubgroups <= 16u ? 16u : kSubgroupSize;
            uint lane = sgLane() & lanes - 1u, one = lane < kSubgroups ? sRuns[gRunsTurn][lane] : kIdentity;
            before.value = subgroupShuffle(sgExclusiveAmong(lanes, one, total.value), sgIndex());
            gRunsTurn ^= 1u;
            return before;
        }
#endif
        uint lane = min(sgLane(), kSubgroups - 1u);
        Run own = Run(sRuns[gRunsTurn][lane], kSegmented && sHeads[gRunsTurn][lane]);
        Run inclusive = sgInclusiveRun(own); // lanes past the last subgroup are not looked at
        total = sgRunOf(inclusive, kSubgroups - 1u);
        before = sgRunOf(inclusive, max(sgIndex(), 1u) - 1u);
        if (sgIndex() == 0u)
            before = kNoRun;
        gRunsTurn ^= 1u;
        return before;
    }
#endif
    for (uint i = 0u; i < kSubgroups; i++) {
        if (i == sgIndex())
            before = total;
        total = join(total, Run(sRuns[gRunsTurn][i], kSegmented && sHeads[gRunsTurn][i]));
    }
    gRunsTurn ^= 1u;
    return before;
}

#endif // SLUICE_RUNS_GLSL
