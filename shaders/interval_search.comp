// SPDX-License-Identifier: MIT OR Apache-2.0
// The load-balancing search on its own: which interval each element belongs to, and its rank in
// there.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/intervals.glsl"

void main() {
    openShare();
    while (nextIsThere()) {
        uint index = nextIndex(), total, start;
        Interval own = nextRound(index < gIntervals ? intervalLength(index, gIntervals) : 0u);
        own.to = min(own.to, subSaturated(p.capacity, own.before));
        uint elements = own.to - min(own.from, own.to);
        bool any_ = elements != 0u;
        uvec3 ballots = lgBallot3Scan(false, any_, false, elements, start, total);
        if (any_) {
            // Its index, and what to add to an element's number in the round for its rank.
            uint place = lgFirst() + bitCount(ballots.y & lgLanesBelow());
            sIntervalData[place].xyz = uvec3(own.index, own.from - start, own.before + own.from);
        }
        for (uint window = 0u; wgAny(window < total); window += kMarks) {
            clearMarks();
            if (any_ && start - window < kMarks) setMark(start - window);
            countMarks(bitCount(lgBallot(any_ && start < window)));
            // A round's elements are consecutive: its first interval with any tells where they go.
            uvec2 target = mul64(sIntervalData[lgFirst()].z, 4u);
            uint last = min(window + kMarks, total);
            for (uint i = window + lgLane(); i < last; i += 32u) {
                uvec2 interval = sIntervalData[lgFirst() + rankOfPiece(i - window)].xy;
                if (p.destination != uvec2(0u))
                    WordsOut(add64(p.destination, target)).w[i] = interval.x;
                if (p.gather != uvec2(0u)) WordsOut(add64(p.gather, target)).w[i] = interval.y + i;
            }
            lgBarrierShared();
        }
    }
}
