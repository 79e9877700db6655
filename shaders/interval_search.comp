// SPDX-License-Identifier: MIT OR Apache-2.0
// The load-balancing search on its own: which interval each element belongs to, and its rank in there.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_MAX_MARKS SLUICE_INTERVAL_TILE
#include "lib/intervals.glsl"

shared uint sFirst; // number of the first element of a batch

void main() {
    openShare();
    while (moreBatches()) {
        clearMarks();
        Interval own = nextBatch();
        own.to = min(own.to, subSaturated(p.capacity, own.before));
        uint elements = own.to - min(own.from, own.to), total;
        uint marked = wgExclusiveAdd(elements | (elements != 0u ? 1u << 16 : 0u), total);
        uint start = marked & 0xffffu;
        if (elements != 0u) {
            setMark(start);
            // Its index, and what to add to an element's number for its rank.
            sIntervalData[marked >> 16].xy = uvec2(own.index, own.from - start);
            // The batch's elements are consecutive: its first interval with any tells where they go.
            if (start == 0u)
                sFirst = own.before + own.from;
        }
        countMarks();
        uvec2 target = mul64(sFirst, 4u);
        for (uint i = wgInvocation(); i < (total & 0xffffu); i += gl_WorkGroupSize.x) {
            uvec2 interval = sIntervalData[rankOfPiece(i)].xy;
            if (p.destination != uvec2(0u))
                WordsOut(add64(p.destination, target)).w[i] = interval.x;
            if (p.gather != uvec2(0u))
                WordsOut(add64(p.gather, target)).w[i] = interval.y + i;
        }
        wgBarrierShared();
    }
}
