// SPDX-License-Identifier: MIT OR Apache-2.0
// A list of intervals as the caller of the library gives it: lengths (*counts*), offsets, or the
// indices of a bulk operation. The intervals of a bulk operation are the *runs* of items between
// its indices; there is one run more than there are indices.
//
// Lists have up to 2^32 entries. So each access computes an address of its own, since an index
// above 2^31 would count as negative. Sums are limited to 2^32 - 1: they *saturate*.
#ifndef SLUICE_INTERVAL_LIST_GLSL
#define SLUICE_INTERVAL_LIST_GLSL

#include "formulas/interval.h"
#include "lanes.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push { IntervalParams p; };

uint wordAt(uvec2 list, uint index) { return WordsIn(add64(list, mul64(index, 4u))).w[0]; }

// Returns the sum, limited to 2^32 - 1.
uint addSaturated(uint a, uint b) {
    uint carry, sum = uaddCarry(a, b, carry);
    return carry != 0u ? ~0u : sum;
}
// Returns the difference, or 0 if it is negative.
uint subSaturated(uint a, uint b) { return a - min(a, b); }
// Returns the difference of two 64-bit numbers, limited to 0 .. 2^32 - 1.
uint subSaturated64(uvec2 a, uvec2 b) {
    uvec2 difference = sub64(a, b);
    return less64(a, b) ? 0u : difference.y != 0u ? ~0u : difference.x;
}

// Returns how many entries the list has.
uint listCount() { return countOf(p.countBuffer, p.maxCount); }
// Returns how many items the caller's array has before a bulk operation removes or inserts items.
uint itemCount() { return countOf(p.scatter, p.itemCount); }

bool isBulk() { return p.form >= SLUICE_INTERVAL_REMOVED; }
uint intervalCount() { return listCount() + (isBulk() ? 1u : 0u); }

// A bulk operation splits `items` items into runs at the positions in its list. Returns the item
// with which run i begins. Its position is entry i - 1 of the list, or the next one if the
// operation removes the item at that entry.
uint runBegin(uint i, uint items) {
    if (i == 0u) return 0u;
    return min(addSaturated(wordAt(p.counts, i - 1u), p.form == SLUICE_INTERVAL_REMOVED ? 1u : 0u),
               items);
}

// Returns the length of interval i of the list's `intervals` intervals.
uint intervalLength(uint i, uint intervals) {
    if (p.form == SLUICE_INTERVAL_COUNTS) return wordAt(p.counts, i);
    if (p.form == SLUICE_INTERVAL_OFFSETS)
        return subSaturated(wordAt(p.counts, i + 1u), wordAt(p.counts, i));
    uint items = itemCount();
    uint end = i + 1u == intervals ? items : min(wordAt(p.counts, i), items);
    return subSaturated(end, runBegin(i, items));
}

// Returns the sum of the lengths of all intervals.
uint elementCount(uint intervals) {
    if (p.form == SLUICE_INTERVAL_COUNTS) return WordsIn(p.prefixes).w[0];
    if (p.form == SLUICE_INTERVAL_OFFSETS) return wordAt(p.counts, intervals);
    return p.form == SLUICE_INTERVAL_REMOVED ? subSaturated(itemCount(), intervals - 1u)
                                             : itemCount();
}

// Returns the sum of the lengths of all intervals before a batch. A batch is SLUICE_INTERVAL_BATCH
// intervals.
uint beforeBatch(uint batch) {
    uint i = batch * SLUICE_INTERVAL_BATCH;
    if (p.form == SLUICE_INTERVAL_COUNTS)
        return addSaturated(
            wordAt(p.prefixes, SLUICE_INTERVAL_GROUPS_AT + i / intervalGroupSize(p.maxCount)),
            wordAt(p.prefixes, SLUICE_INTERVAL_BATCHES_AT + batch));
    if (p.form == SLUICE_INTERVAL_OFFSETS) return wordAt(p.counts, i);
    uint begin = runBegin(i, itemCount());
    return p.form == SLUICE_INTERVAL_REMOVED ? subSaturated(begin, i) : begin;
}

#endif // SLUICE_INTERVAL_LIST_GLSL
