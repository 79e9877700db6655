// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums up the lengths of intervals, their *counts*, and stores prefix sums: the sum of all counts
// before each *batch* of SLUICE_INTERVAL_BATCH intervals. Two dispatches do this, so that no
// workgroup waits for another. In the first one each workgroup sums up one *group* of counts
// (intervalGroupSize). In the second one, a single workgroup scans the sums of the groups and
// writes the command's result. Sums are limited to 2^32 - 1.
//
// The includer provides the list: listCount, and listElements for lists that do not hold counts. It
// also provides sums: the type Sum, addSums, sumWord, which limits a Sum to 32 bits, and
// wgExclusiveSum, whose first argument selects one of two shared arrays. kThreads is the size of a
// workgroup.
#ifndef SLUICE_KERNELS_INTERVAL_PLAN_H
#define SLUICE_KERNELS_INTERVAL_PLAN_H

#include "../compat.h"
#include "../formulas/interval.h"
#include "../layout/interval.h"

SLUICE_KERNEL_BEGIN

// kRun: how many consecutive counts one invocation sums up. kRunsPerBatch: how many invocations
// share a batch.
SLUICE_CONSTANT u32 kRun = SLUICE_INTERVAL_ROUND / kThreads;
SLUICE_CONSTANT u32 kRunsPerBatch = SLUICE_INTERVAL_BATCH / kRun;

// Returns the sum of the `count` counts at address `counts`. `count` is at most kRun.
SLUICE_DEVICE Sum sumRun(u64 counts, u32 count) {
    Sum sum = Sum(0u);
    if (count == kRun && (lowWord(counts) & 15u) == 0u) {
        SLUICE_UNROLL
        for (u32 i = 0u; i < kRun / 4u; ++i) {
            u32x4 four = loadUnit(counts, i);
            sum = addSums(
                sum, addSums(addSums(Sum(four.x), Sum(four.y)), addSums(Sum(four.z), Sum(four.w))));
        }
    } else {
        SLUICE_UNROLL
        for (u32 i = 0u; i < kRun; ++i)
            sum = addSums(sum, Sum(i < count ? loadWord(counts, i) : 0u));
    }
    return sum;
}

// Sums up group `group` of the counts. For each of its batches, stores the sum of the group's
// counts before the batch. Also stores the group's sum.
SLUICE_DEVICE void sumGroup(SLUICE_IN(IntervalParams) p, u32 group) {
    u64 prefixes = u64Of(p.prefixes);
    u32 count = listCount(p), rounds = intervalGroupSize(p.maxCount) / SLUICE_INTERVAL_ROUND;
    Sum before = Sum(0u);
    for (u32 round = 0u; round < rounds; ++round) {
        // `first` does not overflow, because all groups together have at most 2^32 counts
        // (intervalGroupSize).
        u32 first = group * intervalGroupSize(p.maxCount) + round * SLUICE_INTERVAL_ROUND +
                    wgInvocation() * kRun;
        u32 there = count - min(count, first);
        Sum total, sum = sumRun(add64(u64Of(p.counts), mul64(first, 4u)), min(there, kRun));
        Sum own = addSums(before, wgExclusiveSum(round & 1u, sum, total));
        if (wgInvocation() % kRunsPerBatch == 0u && there != 0u)
            storeWord(prefixes, SLUICE_INTERVAL_BATCHES_AT + first / SLUICE_INTERVAL_BATCH,
                      sumWord(own));
        before = addSums(before, total);
    }
    if (wgInvocation() == 0u)
        storeWord(prefixes, SLUICE_INTERVAL_GROUPS_AT + group, sumWord(before));
}

// Replaces each group's sum by the sum of all groups before it, and writes the command's result.
// `counts` says that the list holds counts; for other lists only the result is written.
SLUICE_DEVICE void scanGroups(SLUICE_IN(IntervalParams) p, bool counts) {
    u64 prefixes = u64Of(p.prefixes), result = u64Of(p.result_);
    u32 groups = 0u;
    if (counts && p.maxCount != 0u) groups = (p.maxCount - 1u) / intervalGroupSize(p.maxCount) + 1u;
    Sum before = Sum(0u);
    SLUICE_DONT_UNROLL
    for (u32 first = 0u; first < groups; first += kThreads) {
        u32 group = first + wgInvocation(), at = SLUICE_INTERVAL_GROUPS_AT + group;
        Sum total, sum = Sum(group < groups ? loadWord(prefixes, at) : 0u);
        Sum own = addSums(before, wgExclusiveSum(first / kThreads & 1u, sum, total));
        if (group < groups) storeWord(prefixes, at, sumWord(own));
        before = addSums(before, total);
    }
    if (wgInvocation() != 0u) return;
    u32 all = counts ? sumWord(before) : listElements(p);
    if (groups != 0u) storeWord(prefixes, 0u, all);
    if (result != kNull) {
        u32 flags = all == 0xffffffffu ? SLUICE_INTERVAL_FLAG_SATURATED : 0u;
        flags |= all > p.capacity ? SLUICE_INTERVAL_FLAG_TRUNCATED : 0u;
        storeWord(result, 0u, all);
        storeWord(result, 1u, flags);
    }
}

SLUICE_KERNEL_END
#endif
