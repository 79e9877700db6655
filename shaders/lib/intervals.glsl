// SPDX-License-Identifier: MIT OR Apache-2.0
// Load-balancing search: which intervals a workgroup works on, and which of them made its i-th piece of output.
//
// The elements of all intervals, in order, are shared out evenly; each interval counts for intervalCost() elements more,
// so that a share holds a bounded number of intervals, empty ones too. "Before" an interval always means: the sum of the
// lengths of all intervals below it. Sums saturate at 2^32 - 1.
//
// Lists have up to 2^32 entries: each access gets a base address of its own (an index above 2^31 counts as negative).
//
// The including shader defines SLUICE_MAX_MARKS, the number of pieces that one batch of intervals can have.
#ifndef SLUICE_INTERVALS_GLSL
#define SLUICE_INTERVALS_GLSL

#include "layout.h"
#include "lanes.glsl"
#include "memory.glsl"
#include "scan.glsl"

layout(push_constant, std430) uniform Push {
    IntervalParams p;
};

uint intervalForm() { return p.form & 0xffu; }
uint intervalKind() { return p.form >> 8 & 0xffu; }
uint intervalCost() { return max(SLUICE_INTERVAL_COST_BYTES / p.elementSize, 1u); }

uint wordAt(uvec2 list, uint index) { return WordsIn(add64(list, mul64(index, 4u))).w[0]; }

uint addSaturated(uint a, uint b) {
    uint carry, sum = uaddCarry(a, b, carry);
    return carry != 0u ? ~0u : sum;
}
uint subSaturated(uint a, uint b) { return a - min(a, b); }
// The low word of a - b, at most 2^32 - 1 and at least 0.
uint subSaturated64(uvec2 a, uvec2 b) {
    uvec2 difference = sub64(a, b);
    return less64(a, b) ? 0u : difference.y != 0u ? ~0u : difference.x;
}

// As wgExclusiveAdd, but saturated. The halves of the values cannot overflow: a workgroup has 128 invocations.
uint wgExclusiveAddSaturated(uint value, out uint total) {
    uint lowTotal, highTotal;
    uint low = wgExclusiveAdd(value & 0xffffu, lowTotal), high = wgExclusiveAdd(value >> 16, highTotal);
    uint highSum = high + (low >> 16), highAll = highTotal + (lowTotal >> 16);
    total = highAll > 0xffffu ? ~0u : highAll << 16 | (lowTotal & 0xffffu);
    return highSum > 0xffffu ? ~0u : highSum << 16 | (low & 0xffffu);
}

// ---------------------------------------------------------------------------------------------------------------
// The list of intervals. A bulk operation's intervals are the runs of items between its indices, one more than those.

uint listCount() {
    return p.countBuffer == uvec2(0u) ? p.maxCount : min(p.maxCount, WordsIn(p.countBuffer).w[0]);
}
uint itemCount() { return p.scatter == uvec2(0u) ? p.itemCount : min(p.itemCount, WordsIn(p.scatter).w[0]); }

bool isBulk() { return intervalForm() >= SLUICE_INTERVAL_REMOVED; }
uint intervalCount() { return listCount() + (isBulk() ? 1u : 0u); }

// The first item of run i of a bulk operation.
uint runBegin(uint i, uint items) {
    if (i == 0u)
        return 0u;
    return min(addSaturated(wordAt(p.counts, i - 1u), intervalForm() == SLUICE_INTERVAL_REMOVED ? 1u : 0u), items);
}

// i < intervals
uint intervalLength(uint i, uint intervals) {
    if (intervalForm() == SLUICE_INTERVAL_COUNTS)
        return wordAt(p.counts, i);
    if (intervalForm() == SLUICE_INTERVAL_OFFSETS)
        return subSaturated(wordAt(p.counts, i + 1u), wordAt(p.counts, i));
    uint items = itemCount();
    uint end = i + 1u == intervals ? items : min(wordAt(p.counts, i), items);
    return subSaturated(end, runBegin(i, items));
}

// The sum of all lengths.
uint elementCount(uint intervals) {
    if (intervalForm() == SLUICE_INTERVAL_COUNTS)
        return WordsIn(p.prefixes).w[0];
    if (intervalForm() == SLUICE_INTERVAL_OFFSETS)
        return wordAt(p.counts, intervals);
    return intervalForm() == SLUICE_INTERVAL_REMOVED ? subSaturated(itemCount(), intervals - 1u) : itemCount();
}

// The elements before interval `batch` * SLUICE_INTERVAL_BATCH.
uint beforeBatch(uint batch) {
    uint i = batch * SLUICE_INTERVAL_BATCH;
    if (intervalForm() == SLUICE_INTERVAL_COUNTS)
        return addSaturated(wordAt(p.prefixes, SLUICE_INTERVAL_GROUPS_AT + i / p.groupSize),
                            wordAt(p.prefixes, SLUICE_INTERVAL_BATCHES_AT + batch));
    if (intervalForm() == SLUICE_INTERVAL_OFFSETS)
        return wordAt(p.counts, i);
    uint begin = runBegin(i, itemCount());
    return intervalForm() == SLUICE_INTERVAL_REMOVED ? subSaturated(begin, i) : begin;
}

// ---------------------------------------------------------------------------------------------------------------
// A workgroup's share

// Where the work on interval i starts, `before` elements being before it.
uvec2 workBefore(uint before, uint i) { return add64(mul64(i, intervalCost()), before); }

// It stands in shared memory: in registers it would cost those that copies need.
shared uvec2 sShareBegin, sShareEnd; // of the work
shared uint sIntervals;              // in the list
shared uint sBase, sBefore;          // first interval of the next batch, and the elements before it
shared uint sBatches;                // that may still follow; a list that is what it should be never needs more

// Whatever the including shader keeps of each interval of a batch; the search uses it first.
shared uvec4 sIntervalData[SLUICE_INTERVAL_BATCH];

// A batch of little work is not cut: it is done by the share in which it begins.
bool isWhole(uint before, uint after) {
    return after - before <= p.tile / 2u && after - before + SLUICE_INTERVAL_BATCH * intervalCost() <= p.tile / 2u;
}

// The last batch whose work starts at or before `begin`, the elements before it, and those before the next one, if there
// is one. Each round probes at four places an invocation.
uint findBatch(uvec2 begin, uint intervals, out uint before, out uint after) {
    uint all = (intervals - 1u) / SLUICE_INTERVAL_BATCH + 1u, first = 0u, count = all;
    before = after = 0u;
    bool again = true;
    while (again) {
        uint places = 4u * gl_WorkGroupSize.x, step = (count - 1u) / places + 1u, below = 0u, passed;
        uvec4 values;
        [[unroll]] for (uint i = 0u; i < 4u; ++i)
            values[i] = beforeBatch(min(first + (4u * wgInvocation() + i) * step, all - 1u));
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            uint probe = (4u * wgInvocation() + i) * step;
            uvec2 work = workBefore(values[i], (first + probe) * SLUICE_INTERVAL_BATCH);
            below += probe < count && !less64(begin, work) ? 1u : 0u;
        }
        sIntervalData[wgInvocation()] = values;
        wgExclusiveAdd(below, passed);
        uint last = max(passed, 1u) - 1u, next = min(last + 1u, places - 1u);
        before = sIntervalData[last >> 2][last & 3u];
        after = sIntervalData[next >> 2][next & 3u];
        bool nextProbed = step == 1u && next == last + 1u;
        first += last * step;
        count = min(step, count - last * step);
        again = count > 1u;
        if (!again && !nextProbed && first + 1u < all)
            after = beforeBatch(first + 1u);
        wgBarrierShared();
    }
    return first;
}

// Finds the share of this workgroup. All invocations together, as for every function here.
void openShare() {
    uint index = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x, intervals = intervalCount();
    uvec2 begin = mul64(index, p.tile);
    if (intervals != 0u) {
        uint elements = elementCount(intervals); // needed last, but loaded while the search goes on
        uint before, after, batch = findBatch(begin, intervals, before, after);
        uint base = batch * SLUICE_INTERVAL_BATCH;
        if (intervals - base <= SLUICE_INTERVAL_BATCH)
            after = elements;
        if (isWhole(before, after) && less64(workBefore(before, base), begin)) {
            base = addSaturated(base, SLUICE_INTERVAL_BATCH);
            before = after;
        }
        bool any_ = less64(begin, workBefore(min(elements, p.capacity), intervals));
        if (wgInvocation() == 0u) {
            sBase = base;
            sBefore = before;
            sBatches = any_ ? p.tile / intervalCost() / SLUICE_INTERVAL_BATCH + 2u : 0u;
        }
    } else if (wgInvocation() == 0u) {
        sBase = sBefore = sBatches = 0u;
    }
    if (wgInvocation() == 0u) {
        sShareBegin = begin;
        sShareEnd = add64(begin, p.tile);
        sIntervals = intervals;
    }
    wgBarrierShared();
}

bool moreBatches() {
    return sBatches != 0u && sBase < sIntervals && less64(workBefore(sBefore, sBase), sShareEnd);
}

// An invocation's interval of a batch.
struct Interval {
    uint index;
    uint count; // elements
    uint before;
    uint from, to; // the elements of it that are this workgroup's; none: from == to
    bool owned;    // its end is this workgroup's
};

// Reads the next batch, one interval an invocation. A barrier must follow before moreBatches is called.
Interval nextBatch() {
    Interval own;
    uint total, base = sBase, before = sBefore;
    own.index = base + wgInvocation();
    bool exists = wgInvocation() < sIntervals - base;
    own.count = exists ? intervalLength(own.index, sIntervals) : 0u;
    own.before = addSaturated(before, wgExclusiveAddSaturated(own.count, total));
    uint after = addSaturated(before, total);
    uvec2 at = workBefore(own.before, own.index), end = add64(at, own.count);
    own.from = 0u;
    own.to = min(own.count, ~own.before);
    own.owned = exists;
    if (!isWhole(before, after)) {
        own.to = min(own.to, subSaturated64(sShareEnd, at));
        own.from = min(own.to, subSaturated64(sShareBegin, at));
        own.owned = exists && !less64(end, sShareBegin) && less64(end, sShareEnd);
    }
    if (wgInvocation() == 0u) { // all have read them: the scan's barriers lie between
        sBase = addSaturated(base, SLUICE_INTERVAL_BATCH);
        sBefore = after;
        --sBatches;
    }
    return own;
}

// ---------------------------------------------------------------------------------------------------------------
// Marks: a bit for each piece of output at which an interval begins. A piece's interval is the number of marks up to it.

const uint kMarkWords = (SLUICE_MAX_MARKS + 31u) / 32u;
const uint kMarkRun = (kMarkWords + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x; // words an invocation counts

shared uint sMarks[kMarkWords];
shared uint sMarksBefore[kMarkWords];

// Before a batch is read: the scans in there are the barrier between this and setMark.
void clearMarks() {
    for (uint i = wgInvocation(); i < kMarkWords; i += gl_WorkGroupSize.x)
        sMarks[i] = 0u;
}

void setMark(uint piece) { atomicOr(sMarks[piece >> 5], 1u << (piece & 31u)); }

// Makes rankOfPiece work, and shared memory visible. All invocations together.
void countMarks() {
    wgBarrierShared();
    uint first = wgInvocation() * kMarkRun, sum = 0u, total;
    [[unroll]] for (uint i = 0u; i < kMarkRun; ++i)
        sum += first + i < kMarkWords ? bitCount(sMarks[first + i]) : 0u;
    uint before = wgExclusiveAdd(sum, total);
    [[unroll]] for (uint i = 0u; i < kMarkRun; ++i)
        if (first + i < kMarkWords) {
            sMarksBefore[first + i] = before;
            before += bitCount(sMarks[first + i]);
        }
    wgBarrierShared();
}

// Among the marked intervals, the one that piece belongs to; 0 also for pieces before the first mark.
uint rankOfPiece(uint piece) {
    uint marks = sMarks[piece >> 5] & (2u << (piece & 31u)) - 1u;
    return max(sMarksBefore[piece >> 5] + bitCount(marks), 1u) - 1u;
}

#endif // SLUICE_INTERVALS_GLSL
