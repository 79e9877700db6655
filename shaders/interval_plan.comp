// SPDX-License-Identifier: MIT OR Apache-2.0
// Prefix sums of the counts of intervals, one word for every SLUICE_INTERVAL_BATCH of them. REDUCE:
// a workgroup sums one group of counts, and writes the sum before each batch within the group.
// APPLY: one workgroup scans the groups' sums and writes the result words. No workgroup waits for
// another.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/intervals.glsl"
#include "lib/scan.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Vec4sIn {
    uvec4 v[];
};

// consecutive counts of one invocation
const uint kRun = SLUICE_INTERVAL_ROUND / gl_WorkGroupSize.x;
const uint kRunsPerBatch = SLUICE_INTERVAL_BATCH / kRun;

// As wgExclusiveAdd, but saturated. The halves of the values cannot overflow: a workgroup has 128
// invocations.
uint wgExclusiveAddSaturated(uint value, out uint total) {
    uint lowTotal, highTotal;
    uint low = wgExclusiveAdd(value & 0xffffu, lowTotal),
         high = wgExclusiveAdd(value >> 16, highTotal);
    uint highSum = high + (low >> 16), highAll = highTotal + (lowTotal >> 16);
    total = highAll > 0xffffu ? ~0u : highAll << 16 | (lowTotal & 0xffffu);
    return highSum > 0xffffu ? ~0u : highSum << 16 | (low & 0xffffu);
}

// The saturated sum of the counts [first, first + kRun).
uint sumRun(uint first, uint count) {
    uint sum = 0u, there = min(subSaturated(count, first), kRun);
    uvec2 list = add64(p.counts, mul64(first, 4u));
    if (there == kRun && (list.x & 15u) == 0u) {
        [[unroll]] for (uint i = 0u; i < kRun / 4u; ++i) {
            uvec4 four = Vec4sIn(list).v[i];
            sum = addSaturated(addSaturated(sum, addSaturated(four.x, four.y)),
                               addSaturated(four.z, four.w));
        }
    } else {
        [[unroll]] for (uint i = 0u; i < kRun; ++i) sum =
            addSaturated(sum, i < there ? WordsIn(list).w[i] : 0u);
    }
    return sum;
}

void reduceGroup(uint group) {
    uint count = listCount(), rounds = intervalGroupSize(p.maxCount) / SLUICE_INTERVAL_ROUND, before = 0u;
    for (uint round = 0u; round < rounds; ++round) {
        uint first = group * intervalGroupSize(p.maxCount) + round * SLUICE_INTERVAL_ROUND + wgInvocation() * kRun,
             total;
        uint own = addSaturated(before, wgExclusiveAddSaturated(sumRun(first, count), total));
        if (wgInvocation() % kRunsPerBatch == 0u && first < count)
            WordsOut(add64(p.prefixes,
                           mul64(SLUICE_INTERVAL_BATCHES_AT + first / SLUICE_INTERVAL_BATCH, 4u)))
                .w[0] = own;
        before = addSaturated(before, total);
    }
    if (wgInvocation() == 0u) WordsOut(p.prefixes).w[SLUICE_INTERVAL_GROUPS_AT + group] = before;
}

void main() {
    if (p.pass == SLUICE_PASS_REDUCE) {
        uint group = wgIndex();
        if (group < (p.maxCount - 1u) / intervalGroupSize(p.maxCount) + 1u) reduceGroup(group);
        return;
    }

    uint groups = p.form != SLUICE_INTERVAL_COUNTS || p.maxCount == 0u
                      ? 0u
                      : (p.maxCount - 1u) / intervalGroupSize(p.maxCount) + 1u;
    uint before = 0u;
    for (uint first = 0u; first < groups; first += gl_WorkGroupSize.x) {
        uint group = first + wgInvocation(), total;
        uint sum = group < groups ? WordsIn(p.prefixes).w[SLUICE_INTERVAL_GROUPS_AT + group] : 0u;
        uint own = addSaturated(before, wgExclusiveAddSaturated(sum, total));
        if (group < groups) WordsOut(p.prefixes).w[SLUICE_INTERVAL_GROUPS_AT + group] = own;
        before = addSaturated(before, total);
    }
    if (wgInvocation() == 0u) {
        uint all = before;
        if (groups != 0u) WordsOut(p.prefixes).w[0] = all;
        if (p.form != SLUICE_INTERVAL_COUNTS) all = elementCount(intervalCount());
        if (p.form == SLUICE_INTERVAL_INSERTED) all = addSaturated(all, listCount());
        uint flags = all == ~0u ? SLUICE_INTERVAL_FLAG_SATURATED : 0u;
        flags |= all > p.capacity ? SLUICE_INTERVAL_FLAG_TRUNCATED : 0u;
        if (p.result_ != uvec2(0u)) {
            WordsOut(p.result_).w[0] = all;
            WordsOut(p.result_).w[1] = flags;
        }
    }
}
