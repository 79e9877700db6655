// SPDX-License-Identifier: MIT OR Apache-2.0
// Load balancing for intervals: finds the intervals that a lane group works on, and the interval to
// which a piece of output belongs.
//
// The elements of all intervals, in order, are divided evenly into *shares*, one per lane group. A
// share is measured in *work*: the work of an interval is its elements plus intervalCost(), so that
// a share has a bounded number of intervals even if these are empty. A lane group takes its share
// in *rounds* of 32 intervals, one per lane. "Before" an interval always means the sum of the
// lengths of all intervals with a lower index. Sums are limited to 2^32 - 1.
//
// Lane groups work independently of each other. A version with one share per workgroup, in which
// lane groups had to wait for each other, made moves up to 1.3 times slower.
#ifndef SLUICE_INTERVALS_GLSL
#define SLUICE_INTERVALS_GLSL

#include "loops.glsl"
#include "interval_list.glsl"

// The size of an element in bytes, or 0 if only p.elementSize has it.
layout(constant_id = SLUICE_CONSTANT_ELEMENT_BYTES) const uint kElementSize = 0u;

uint elementSize() { return kElementSize != 0u ? kElementSize : p.elementSize; }
uint intervalCost() { return max(SLUICE_INTERVAL_COST_BYTES / elementSize(), 1u); }

// Returns the sum of `value` over the lanes below this one; `total` receives the sum over the lane
// group.
uint lgExclusiveAdd(uint value, out uint total) {
    uint before;
    lgScan(value, before, total);
    return before;
}

// Returns the sums of lgExclusiveAdd, limited to 2^32 - 1. The lower and upper halves of the values
// are summed separately, which cannot overflow, since there are only 32 values.
uint lgExclusiveAddSaturated(uint value, out uint total) {
#if !defined(SLUICE_EMU) && !defined(SLUICE_NARROW)
    if (!wgAnyLane(value >= 1u << 27)) return lgExclusiveAdd(value, total);
#endif
    uint lowTotal, highTotal;
    uint low = lgExclusiveAdd(value & 0xffffu, lowTotal),
         high = lgExclusiveAdd(value >> 16, highTotal);
    uint highSum = high + (low >> 16), highAll = highTotal + (lowTotal >> 16);
    total = highAll > 0xffffu ? ~0u : highAll << 16 | (lowTotal & 0xffffu);
    return highSum > 0xffffu ? ~0u : highSum << 16 | (low & 0xffffu);
}

// Returns the sum over the lane group, limited to 2^32 - 1.
uint lgSumSaturated(uint value) {
    uint total;
#if !defined(SLUICE_EMU) && !defined(SLUICE_NARROW)
    if (kNative) { // two sums instead of up to three scans
        uint low = subgroupAdd(value & 0xffffu), high = subgroupAdd(value >> 16) + (low >> 16);
        return high > 0xffffu ? ~0u : high << 16 | (low & 0xffffu);
    }
#endif
    lgExclusiveAddSaturated(value, total);
    return total;
}

// -----------------------------------------------------------------------------------------------
// The share of a lane group. All lane groups of the workgroup must call these functions together.

const uint kRound = 32u; // intervals that a lane group takes in a round

uint gIntervals;   // number of intervals in the list
uint gBase;        // first interval of the next round
uint gBefore;      // the sum of the lengths before that interval
uint gRounds = 0u; // limit for the rounds that follow; a valid list takes fewer
uint gLarges = 0u; // number of large shares, which come before all small ones
uint gDone = 0u;   // work of this share that is done

// True if this lane group has another round, of up to kRound intervals, to do.
bool gMore;

// Returns the work of all intervals before interval i, which have `before` elements: each element
// counts 1, and each interval intervalCost() more.
uvec2 workBefore(uint before, uint i) { return add64(mul64(i, intervalCost()), before); }

// The bounds of this lane group's share, measured in work from the start of the list (workBefore).
// They are computed again for each use, because registers are scarce.
uint shareNumber() { return wgIndex() * kGroupsPerWorkgroup + lgIndex(); }
uint shareSize() { return shareNumber() < gLarges ? p.large : p.tile; }
uvec2 shareBegin() {
    return add64(mul64(shareNumber(), p.tile),
                 mul64(min(shareNumber(), gLarges), p.large - p.tile));
}
uvec2 shareEnd() { return add64(shareBegin(), shareSize()); }

// Returns whether a round is *whole*: it has so little work that it is not split between shares,
// and the share in which it begins does all of it. `before` and `after` are the sums of the lengths
// before the round and before the next round.
bool isWhole(uint before, uint after) {
    uint limit = p.window / 4u * 3u;
    return after - before <= limit && after - before + kRound * intervalCost() <= limit;
}

// Returns the last batch of SLUICE_INTERVAL_BATCH intervals that starts at or before shareBegin().
// In each step of the search, every lane tests one of 32 batches, which leaves a 32nd of them.
uint findBatch() {
    uvec2 begin = shareBegin();
    uint first = 0u, count = (max(gIntervals, 1u) - 1u) / SLUICE_INTERVAL_BATCH + 1u;
    while (wgAny(count > 1u)) {
        uint step = (count - 1u) / 32u + 1u, probe = lgLane() * step;
        uint before = beforeBatch(first + min(probe, count - 1u));
        bool passed = probe < count &&
                      !less64(begin, workBefore(before, (first + probe) * SLUICE_INTERVAL_BATCH));
        uint last = max(uint(bitCount(lgBallot(passed))), 1u) - 1u;
        first += last * step;
        count = min(step, count - last * step);
    }
    return first;
}

// Advances gBase, the first interval of the next round, and gBefore, the sum of the lengths before
// it, from the start of a batch to the round in which shareBegin() lies.
void skipRounds() {
    const uint rounds = SLUICE_INTERVAL_BATCH / kRound - 1u;
    uint lengths[rounds];
    SLUICE_UNROLL
    for (uint i = 0u; i < rounds; ++i) {
        uint own = addSaturated(gBase, i * kRound + lgLane());
        lengths[i] = own < gIntervals ? intervalLength(own, gIntervals) : 0u;
    }
    bool skip = true;
    SLUICE_UNROLL
    for (uint i = 0u; i < rounds; ++i) {
        uint after = addSaturated(gBefore, lgSumSaturated(lengths[i]));
        skip = skip && gIntervals - gBase > kRound &&
               !less64(shareBegin(), workBefore(after, gBase + kRound));
        gBase += skip ? kRound : 0u;
        gBefore = skip ? after : gBefore;
    }
}

// Finds which intervals this lane group works on, its share. The kernel must call this first.
void openShare() {
    gIntervals = intervalCount();
    uvec2 work = workBefore(min(elementCount(gIntervals), p.capacity), gIntervals);
    uvec2 first = less64(work, uvec2(p.tail, 0u)) ? uvec2(0u) : sub64(work, uvec2(p.tail, 0u));
    // All of the work, except p.tail of it at the end, is divided into large shares. The small
    // shares at the end balance the load.
    gLarges = uint((float(first.y) * 4294967296.0 + float(first.x)) / float(p.large));
    uint batch = findBatch();
    gBefore = beforeBatch(batch);
    gBase = batch * SLUICE_INTERVAL_BATCH;
    skipRounds();
    if (less64(shareBegin(), work) && gIntervals != 0u)
        gRounds = shareSize() / intervalCost() / kRound + shareSize() / p.window + 4u;
}

// Returns whether any lane group of the workgroup has another round, and sets gMore if this one
// has.
bool nextIsThere() {
    gMore = gRounds != 0u && gBase < gIntervals && gDone < shareSize() &&
            less64(workBefore(gBefore, gBase), shareEnd());
    return wgAny(gMore);
}

// Returns the index of the interval that this lane takes in the next round. If there is none, the
// index is past the end of the list.
uint nextIndex() { return gMore ? addSaturated(gBase, lgLane()) : ~0u; }

// A lane's interval of a round, and the part of it that the lane group does.
struct Interval {
    uint index;
    uint count;    // its length
    uint before;   // the sum of the lengths of all intervals before it
    uint from, to; // this lane group does its elements from .. to - 1; none if from == to
    bool owned;    // true if this lane group does the interval's end
};

// Takes the next round, with one interval per lane. `count` is the length of the lane's interval, 0
// past the end of the list. If the round has much work (isWhole is false), at most p.window of it
// is taken now, and the next round continues with the same intervals. If there is no next round,
// nothing changes.
Interval nextRound(uint count) {
    Interval own;
    uint total;
    bool exists = nextIndex() < gIntervals, finished = true;
    own.index = gBase + lgLane();
    own.count = count;
    own.before = addSaturated(gBefore, lgExclusiveAddSaturated(count, total));
    uint after = addSaturated(gBefore, total), most = min(count, ~own.before);
    uvec2 first = workBefore(gBefore, gBase), next = workBefore(after, gBase + kRound);
    uvec2 at = workBefore(own.before, own.index), end = add64(at, count);
    if (isWhole(gBefore, after)) {
        bool mine = !less64(first, shareBegin());
        own.from = 0u;
        own.to = mine ? most : 0u;
        own.owned = exists && mine;
    } else {
        // [from, to) is the range of the round's work that is taken.
        uvec2 from = add64(shareBegin(), gDone);
        from = less64(from, first) ? first : from;
        uvec2 to = add64(from, p.window);
        to = less64(to, shareEnd()) ? to : shareEnd();
        finished = !less64(to, next);
        to = finished ? next : to;
        own.to = min(most, subSaturated64(to, at));
        own.from = min(own.to, subSaturated64(from, at));
        own.owned = exists && !less64(end, from) && less64(end, to);
        gDone = gMore ? sub64(to, shareBegin()).x : gDone;
    }
    if (gMore) {
        gBase = finished ? addSaturated(gBase, kRound) : gBase;
        gBefore = finished ? after : gBefore;
        --gRounds;
    }
    return own;
}

// -----------------------------------------------------------------------------------------------
// Marks. The includer divides its output into pieces, for example elements or sectors. A *mark* is
// a bit that is set for each piece at which an interval begins. So the number of marks up to a
// piece tells to which interval the piece belongs.

const uint kMarks = 32u * 32u; // marks of a lane group: a word for each lane

shared uvec2 sMarks[gl_WorkGroupSize.x]; // x: a word of marks; y: the number of marks before it

// Returns the number, in the workgroup, of this lane group's lane 0.
uint lgFirst() { return wgInvocation() & ~31u; }

void clearMarks() {
    sMarks[wgInvocation()].x = 0u;
    lgBarrierShared();
}

void setMark(uint piece) { atomicOr(sMarks[lgFirst() + (piece >> 5)].x, 1u << (piece & 31u)); }

// Computes the prefix sums of the marks, for rankOfPiece. The marks are those of kMarks pieces, one
// window of the output; `first` is the number of marks in the windows before it. Stores of the lane
// group to shared memory before the call are visible after it.
void countMarks(uint first) {
    lgBarrierShared();
    uint total, before = lgExclusiveAdd(bitCount(sMarks[wgInvocation()].x), total);
    sMarks[wgInvocation()].y = first + before;
    lgBarrierShared();
}

// Returns the number of the interval to which a piece belongs, counted among the marked intervals.
// There must be a mark at or before the piece.
uint rankOfPiece(uint piece) {
    uvec2 word = sMarks[lgFirst() + (piece >> 5)];
    return word.y + bitCount(word.x & ((2u << (piece & 31u)) - 1u)) - 1u;
}

// Room for what the includer stores about a round's intervals, one entry per lane.
shared uvec4 sIntervalData[gl_WorkGroupSize.x];

#endif // SLUICE_INTERVALS_GLSL
