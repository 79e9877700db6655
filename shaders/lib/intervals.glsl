// SPDX-License-Identifier: MIT OR Apache-2.0
// Load balancing for intervals: finds the intervals that a lane group works on, and the interval to
// which a piece of output belongs.
//
// The elements of all intervals, in order, are divided evenly into *shares*, one per lane group.
// The *work* of an interval is its elements and its cost: each interval counts as intervalCost()
// additional elements, so that a share holds a bounded number of intervals even if these are empty.
// A lane group takes its share in *rounds* of 32 intervals, one per lane. "Before" an interval
// always means the sum of the lengths of all intervals with a lower index. Sums are limited to 2^32
// - 1.
//
// Lane groups work independently of each other. A version with one share per workgroup, in which
// lane groups had to wait for each other, made moves up to 1.3 times slower.
#ifndef SLUICE_INTERVALS_GLSL
#define SLUICE_INTERVALS_GLSL

#include "loops.glsl"
#include "interval_list.glsl"

// The bytes of an element. If this is 0, p.elementSize tells.
layout(constant_id = SLUICE_CONSTANT_ELEMENT_BYTES) const uint kElementSize = 0u;

uint elementSize() { return kElementSize != 0u ? kElementSize : p.elementSize; }
uint intervalCost() { return max(SLUICE_INTERVAL_COST_BYTES / elementSize(), 1u); }

// Returns the exclusive sum over the lane group.
uint lgExclusiveAdd(uint value, out uint total) {
    uint before;
    lgScan(value, before, total);
    return before;
}

// Returns the sums of lgExclusiveAdd, limited to 2^32 - 1. The halves of the values are summed
// apart, which cannot overflow, since there are only 32 values.
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
uint gBefore;      // the elements before that interval
uint gRounds = 0u; // most rounds that may follow; a valid list takes fewer
uint gLarges = 0u; // number of large shares, which come before the small ones
uint gDone = 0u;   // work of this share that is done

// True if this lane group has another round.
bool gMore;

// Returns where the work on interval i starts, if `before` elements are before it.
uvec2 workBefore(uint before, uint i) { return add64(mul64(i, intervalCost()), before); }

// The bounds of the share, in work. They are computed again for each use, because copies need the
// registers.
uint shareNumber() { return wgIndex() * kGroupsPerWorkgroup + lgIndex(); }
uint shareSize() { return shareNumber() < gLarges ? p.large : p.tile; }
uvec2 shareBegin() {
    return add64(mul64(shareNumber(), p.tile),
                 mul64(min(shareNumber(), gLarges), p.large - p.tile));
}
uvec2 shareEnd() { return add64(shareBegin(), shareSize()); }

// Returns whether a round is *whole*. Such a round has so little work that it is not split between
// shares: the share in which it begins does all of it. `before` is the sum before the round,
// `after` the sum before the next round.
bool isWhole(uint before, uint after) {
    uint limit = p.window / 4u * 3u;
    return after - before <= limit && after - before + kRound * intervalCost() <= limit;
}

// Returns the last batch whose work starts at or before shareBegin(). In each step of the search,
// every lane tests one of 32 batches, so 32 times fewer batches are left.
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

// Moves gBase and gBefore from the start of a batch on to the round in which shareBegin() lies.
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

// Finds the share of this lane group. The kernel must call this first.
void openShare() {
    gIntervals = intervalCount();
    uvec2 work = workBefore(min(elementCount(gIntervals), p.capacity), gIntervals);
    uvec2 first = less64(work, uvec2(p.tail, 0u)) ? uvec2(0u) : sub64(work, uvec2(p.tail, 0u));
    // The work before the last p.tail of it is divided into large shares.
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
// index is behind the end of the list.
uint nextIndex() { return gMore ? addSaturated(gBase, lgLane()) : ~0u; }

// A lane's interval, and the lane group's share of it in a round.
struct Interval {
    uint index;
    uint count;    // its length
    uint before;   // the sum of the lengths of all intervals before it
    uint from, to; // the elements of it that this lane group does; none if from == to
    bool owned;    // this lane group does the interval's end
};

// Takes the next round, with one interval per lane. `count` is the length of the lane's interval, 0
// behind the end of the list. If the round has much work, only a window of it is taken, and the
// next round has the same intervals. If there is no next round, nothing changes.
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
        // from .. to is the window of the round's work.
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
// Marks. The includer divides its output into pieces, for example elements or sectors. A mark is a
// bit for the piece at which an interval begins. So the number of marks up to a piece gives the
// interval to which it belongs.

const uint kMarks = 32u * 32u; // a word for each lane

shared uvec2 sMarks[gl_WorkGroupSize.x]; // a word of marks, and how many marks there are before it

// Returns the first lane of this lane group in the workgroup.
uint lgFirst() { return wgInvocation() & ~31u; }

void clearMarks() {
    sMarks[wgInvocation()].x = 0u;
    lgBarrierShared();
}

void setMark(uint piece) { atomicOr(sMarks[lgFirst() + (piece >> 5)].x, 1u << (piece & 31u)); }

// Counts the marks, which rankOfPiece needs. `first` is how many marks come before these. The
// function also makes earlier stores to shared memory visible to the lane group.
void countMarks(uint first) {
    lgBarrierShared();
    uint total, before = lgExclusiveAdd(bitCount(sMarks[wgInvocation()].x), total);
    sMarks[wgInvocation()].y = first + before;
    lgBarrierShared();
}

// Returns the number, among the marked intervals, of the one to which a piece belongs. There must
// be a mark at or before the piece.
uint rankOfPiece(uint piece) {
    uvec2 word = sMarks[lgFirst() + (piece >> 5)];
    return word.y + bitCount(word.x & ((2u << (piece & 31u)) - 1u)) - 1u;
}

// Room for what the includer stores about a round's intervals, one entry per lane.
shared uvec4 sIntervalData[gl_WorkGroupSize.x];

#endif // SLUICE_INTERVALS_GLSL
