// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the interval of each element (kernels/interval_search.h).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/intervals.glsl"

const uint kThreads = gl_WorkGroupSize.x;
#include "lib/compat.glsl"
#include "lib/kernels/interval_search.h"

void main() {
    openShare();
    while (nextIsThere()) {
        uint index = nextIndex();
        searchRound(p, nextRound(index < gIntervals ? intervalLength(index, gIntervals) : 0u));
    }
}
