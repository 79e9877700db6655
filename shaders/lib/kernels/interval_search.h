// SPDX-License-Identifier: MIT OR Apache-2.0
// Load-balancing search as a command of its own: finds the interval of each element, and the
// element's *rank*, which is its index in that interval.
//
// The includer provides Interval, and clearMarks, setMark, countMarks, rankOfPiece and kMarks as in
// intervals.glsl. kThreads is the size of a workgroup.
#ifndef SLUICE_KERNELS_INTERVAL_SEARCH_H
#define SLUICE_KERNELS_INTERVAL_SEARCH_H

#include "../compat.h"
#include "../layout/interval.h"

SLUICE_KERNEL_BEGIN

// One entry for each interval with elements in a round. x is the interval's index. y plus an
// element's index in the round is the element's rank, that is, its index in the interval.
SLUICE_SHARED u32x2 sOwners[kThreads];

// Finds and stores the interval and the rank of each element of a round, in which each lane has one
// interval, `own`. In a shader, all lane groups of a workgroup must call this together.
SLUICE_DEVICE void searchRound(SLUICE_IN(IntervalParams) p, SLUICE_IN(Interval) own) {
    u32 to = min(own.to, p.capacity - min(p.capacity, own.before));
    u32 elements = to - min(own.from, to), start, total;
    bool has = elements != 0u;
    u32 owners = lgBallotScan(has, elements, start, total);
    if (!wgAny(owners != 0u)) return;

    // The elements of a round are consecutive, so the output position of the first one gives the
    // positions of all.
    u32 element = own.before + own.from;
    lgShare(element);
    u64 target = mul64(lgShared(element, u32(max(findLSB(owners), 0))), 4u);
    u64 sources = add64(u64Of(p.destination), target), ranks = add64(u64Of(p.gather), target);
    bool wantsSources = u64Of(p.destination) != kNull, wantsRanks = u64Of(p.gather) != kNull;
    if (has)
        sOwners[lgFirst() + u32(bitCount(owners & lgLanesBelow()))] =
            makeU32x2(own.index, own.from - start);
    // Shared memory has bits to mark the beginnings of intervals among kMarks elements, so the loop
    // takes that many at a time.
    for (u32 window = 0u; wgAny(window < total); window += kMarks) {
        clearMarks();
        if (has && start - window < kMarks) setMark(start - window);
        countMarks(u32(bitCount(lgBallot(has && start < window))));
        u32 last = min(window + kMarks, total);
        SLUICE_UNROLL_BY(4)
        for (u32 i = window + lgLane(); i < last; i += 32u) {
            u32x2 owner = sOwners[lgFirst() + rankOfPiece(i - window)];
            if (wantsSources) storeWord(sources, i, owner.x);
            if (wantsRanks) storeWord(ranks, i, owner.y + i);
        }
        lgBarrierShared();
    }
}

SLUICE_KERNEL_END
#endif
