// SPDX-License-Identifier: MIT OR Apache-2.0
// Prepares lists of intervals: computes prefix sums of their lengths (kernels/interval_plan.h). The
// pass REDUCE has a workgroup for each group of counts; the pass APPLY has one workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/interval_list.glsl"
#include "lib/scan.glsl"

const uint kThreads = gl_WorkGroupSize.x;

#define Sum uint
Sum addSums(Sum a, Sum b) { return addSaturated(a, b); }
uint sumWord(Sum sum) { return sum; }

// Returns the sum of the values of all invocations before this one; `total` receives the sum over
// all invocations. Both are limited to 2^32 - 1. The lower and upper halves of the values are
// summed separately. These sums do not overflow, since a workgroup has 128 invocations.
Sum wgExclusiveSum(uint turn, Sum value, out Sum total) {
    uint lowTotal, highTotal;
    uint low = wgExclusiveAdd(value & 0xffffu, lowTotal),
         high = wgExclusiveAdd(value >> 16, highTotal);
    uint highSum = high + (low >> 16), highAll = highTotal + (lowTotal >> 16);
    total = highAll > 0xffffu ? ~0u : highAll << 16 | (lowTotal & 0xffffu);
    return highSum > 0xffffu ? ~0u : highSum << 16 | (low & 0xffffu);
}

uint listCount(IntervalParams p) { return listCount(); }

uint listElements(IntervalParams p) {
    uint elements = elementCount(intervalCount());
    return p.form == SLUICE_INTERVAL_INSERTED ? addSaturated(elements, listCount()) : elements;
}

#include "lib/kernels/interval_plan.h"

void main() {
    if (p.pass == SLUICE_PASS_REDUCE) {
        uint group = wgIndex();
        if (group < (p.maxCount - 1u) / intervalGroupSize(p.maxCount) + 1u) sumGroup(p, group);
    } else {
        scanGroups(p, p.form == SLUICE_INTERVAL_COUNTS);
    }
}
