// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans over a subgroup and over a workgroup: sums and maxima of u32, u64 and f32 values, cut into
// segments or not. A *run* is neighbouring elements that were combined to one value; a *head* is an
// element with which a segment begins.
//
// With SLUICE_VALUE64 a Value has 64 bits, as a pair of words, otherwise 32. The whole workgroup
// must call each function.
#ifndef SLUICE_RUNS_GLSL
#define SLUICE_RUNS_GLSL

#include "loops.glsl"
#include "layout/scan.h"
#include "lanes.glsl"
#include "memory.glsl"

layout(constant_id = SLUICE_CONSTANT_SCAN_OPERATION) const uint kOperation = SLUICE_SCAN_OP_SUM;
layout(constant_id = SLUICE_CONSTANT_SCAN_SEGMENTED) const bool kSegmented = false;

const uint kSubgroups = gl_WorkGroupSize.x / kSubgroupSize;

#ifdef SLUICE_VALUE64
#define Value uvec2
const Value kIdentity = uvec2(0u);

Value combine(Value a, Value b) {
    return kOperation == SLUICE_SCAN_OP_SUM ? add64(a, b) : less64(a, b) ? b : a;
}
#else
#define Value uint
const Value kIdentity = 0u; // also for sums of f32, where it is 0.0

Value combine(Value a, Value b) {
    return kOperation == SLUICE_SCAN_OP_SUM ? a + b
           : kOperation == SLUICE_SCAN_OP_SUM_F32
               ? floatBitsToUint(uintBitsToFloat(a) + uintBitsToFloat(b))
               : max(a, b);
}
#endif

// A run is what is kept of neighbouring elements. `head` says whether a segment begins at one of
// them. If so, `value` combines the elements from the last such one on, otherwise all of them.
struct Run {
    Value value;
    bool head;
};
const Run kNoRun = Run(kIdentity, false);

// Joins two neighbouring runs: `first` and the run `second` that follows it.
Run join(Run first, Run second) {
    bool cut = kSegmented && second.head;
    return Run(cut ? second.value : combine(first.value, second.value),
               cut || (kSegmented && first.head));
}

#ifdef SLUICE_EMU
shared Value sRunSteps[2][gl_WorkGroupSize.x];
shared bool sRunHeads[2][gl_WorkGroupSize.x];
uint gRunTurn = 0u;

// Returns the `run` of the lane whose runLane() is `from`.
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
    return Run(subgroupShuffle(run.value, from),
               kSegmented && subgroupShuffle(run.head ? 1u : 0u, from) != 0u);
}
#endif

#ifndef SLUICE_EMU
// Returns how many lanes below this one belong to the same segment: 0 if `head` is set, that is, if
// a segment begins at this lane. `headed` receives whether one begins at this lane or a lower one.
uint sgReach(bool head, out bool headed) {
    uint lane = gl_SubgroupInvocationID;
    headed = false;
    if (!kSegmented) return lane;
    uvec4 heads = subgroupBallot(head) & gl_SubgroupLeMask;
    headed = heads != uvec4(0u);
    uint last = kSubgroupSize <= 32u ? uint(findMSB(heads.x)) : subgroupBallotFindMSB(heads);
    return headed ? lane - last : lane;
}

// Does a step of a scan over the subgroup: combines `value` with that of the lane `step_` lanes
// below, if that lane belongs to the same segment. `reach` is from sgReach.
Value sgStep(Value value, uint step_, uint reach) {
    Value below = subgroupShuffle(value, (gl_SubgroupInvocationID - step_) & (kSubgroupSize - 1u));
    Value both = combine(below, value);
#ifdef SLUICE_VALUE64
    return mix(value, both, bvec2(reach >= step_));
#else
    return reach >= step_ ? both : value;
#endif
}
#endif

// Returns this lane's number, by which sgRunOf finds it.
#ifdef SLUICE_EMU
uint runLane() { return wgInvocation(); }
#else
uint runLane() { return gl_SubgroupInvocationID; }
#endif

#if !defined(SLUICE_EMU) && !defined(SLUICE_VALUE64)
// Returns the maximum over this lane and those below it in the subgroup. It is written out because
// Metal's language, to which shaders are translated for Apple's devices, lacks
// subgroupInclusiveMax.
uint sgInclusiveMax(uint value) {
    SLUICE_UNROLL
    for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) {
        uint below =
            subgroupShuffle(value, (gl_SubgroupInvocationID - reach) & (kSubgroupSize - 1u));
        value = max(value, gl_SubgroupInvocationID >= reach ? below : 0u);
    }
    return value;
}
#endif

// Returns the combined run of this lane and the lanes below it in the subgroup.
Run sgInclusiveRun(Run run) {
#if !defined(SLUICE_EMU) && !defined(SLUICE_VALUE64)
    if (!kSegmented) {
        if (kOperation == SLUICE_SCAN_OP_SUM) return Run(subgroupInclusiveAdd(run.value), false);
        if (kOperation == SLUICE_SCAN_OP_MAX) return Run(sgInclusiveMax(run.value), false);
        return Run(floatBitsToUint(subgroupInclusiveAdd(uintBitsToFloat(run.value))), false);
    }
#endif
#ifdef SLUICE_EMU
    for (uint step_ = 1u; step_ < kSubgroupSize; step_ <<= 1) {
        Run below = sgRunOf(run, sgLane() >= step_ ? runLane() - step_ : runLane());
        if (sgLane() >= step_) run = join(below, run);
    }
#else
    uint reach = sgReach(run.head, run.head);
    SLUICE_DONT_UNROLL
    for (uint step_ = 1u; step_ < kSubgroupSize; step_ <<= 1)
        run.value = sgStep(run.value, step_, reach);
#endif
    return run;
}

// Returns the combined run of the lanes below this one. `inclusive` is the result of
// sgInclusiveRun; `total` receives the run of the whole subgroup.
Run sgRunBefore(Run inclusive, out Run total) {
    total = sgRunOf(inclusive, runLane() | (kSubgroupSize - 1u));
    Run before = sgRunOf(inclusive, sgLane() == 0u ? runLane() : runLane() - 1u);
    if (sgLane() == 0u) before = kNoRun;
    return before;
}
// Returns the combined run of the lanes below this one; `total` receives that of the whole
// subgroup.
Run sgExclusiveRun(Run run, out Run total) { return sgRunBefore(sgInclusiveRun(run), total); }

// Returns the combined run of the whole subgroup, in all lanes.
Run sgJoinedRun(Run run) {
#if !defined(SLUICE_EMU) && !defined(SLUICE_VALUE64)
    if (!kSegmented) {
        if (kOperation == SLUICE_SCAN_OP_SUM) return Run(subgroupAdd(run.value), false);
        if (kOperation == SLUICE_SCAN_OP_MAX) return Run(subgroupMax(run.value), false);
    }
#endif
    return sgRunOf(sgInclusiveRun(run), runLane() | (kSubgroupSize - 1u));
}

// These arrays are double-buffered, so that one barrier per call is enough.
shared Value sRuns[2][kSubgroups], sOthers[2][kSubgroups];
shared bool sHeads[2][kSubgroups], sOtherHeads[2][kSubgroups];
uint gRunsTurn = 0u;

// Returns the combined run of the subgroups below this one. `run` is this subgroup's run, and
// `total` receives the workgroup's. At the same barrier, the function combines a second list:
// `other` is this subgroup's run of that list, and `otherTotal` receives the workgroup's, which is
// valid only in the first subgroup.
Run wgRunsBefore(Run run, Run other, out Run total, out Run otherTotal) {
    if (sgLane() == 0u) {
        sRuns[gRunsTurn][sgIndex()] = run.value;
        sHeads[gRunsTurn][sgIndex()] = run.head;
        sOthers[gRunsTurn][sgIndex()] = other.value;
        sOtherHeads[gRunsTurn][sgIndex()] = other.head;
    }
    wgBarrierShared();
    Run before = kNoRun;
    total = otherTotal = kNoRun;
#ifndef SLUICE_EMU
    if (kSubgroups <= kSubgroupSize) {
        uint lane = min(sgLane(), kSubgroups - 1u);
        Run own = Run(sRuns[gRunsTurn][lane], sHeads[gRunsTurn][lane]);
        // Lanes past the number of subgroups have meaningless runs, which nobody reads.
        Run inclusive = sgInclusiveRun(own);
        total = sgRunOf(inclusive, kSubgroups - 1u);
        before = sgRunOf(inclusive, max(sgIndex(), 1u) - 1u);
        if (sgUniform(sgIndex() == 0u)) {
            before = kNoRun;
            Run others = Run(sOthers[gRunsTurn][lane], sOtherHeads[gRunsTurn][lane]);
            otherTotal = sgRunOf(sgInclusiveRun(others), kSubgroups - 1u);
        }
        gRunsTurn ^= 1u;
        return before;
    }
#endif
    for (uint i = 0u; i < kSubgroups; i++) {
        if (i == sgIndex()) before = total;
        total = join(total, Run(sRuns[gRunsTurn][i], sHeads[gRunsTurn][i]));
        otherTotal = join(otherTotal, Run(sOthers[gRunsTurn][i], sOtherHeads[gRunsTurn][i]));
    }
    gRunsTurn ^= 1u;
    return before;
}

Run wgRunsBefore(Run run, out Run total) {
    Run ignored;
    return wgRunsBefore(run, kNoRun, total, ignored);
}

#endif // SLUICE_RUNS_GLSL
