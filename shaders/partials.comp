// SPDX-License-Identifier: MIT OR Apache-2.0
// Prefix sums of 32-bit values, reduce-then-scan. One workgroup of 128 invocations handles one tile: REDUCE writes its
// sum to partials, which are then scanned by this same shader; APPLY scans it with its word of partials as carry-in.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/scan.glsl"

layout(push_constant, std430) uniform Push {
    CompactParams p;
};

const uint kRun = 4u; // consecutive elements of one invocation
const uint kRound = gl_WorkGroupSize.x * kRun;

void main() {
    // A tile's byte offset needs more than 32 bits, and an index above 2^31 counts as negative: so each tile has a base
    // address of its own, and indices stay small.
    uint tile = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    uvec2 tileOffset = mul64(tile, SLUICE_PARTIALS_TILE * 4u);
    uint first = tile * SLUICE_PARTIALS_TILE;
    if (tileOffset.y >= 4u || (first >= p.count && tile != 0u))
        return; // past the last tile; a count of 0 still has one tile, which writes the total
    uint size = min(p.count - first, SLUICE_PARTIALS_TILE);
    bool lastTile = p.count - first <= SLUICE_PARTIALS_TILE;
    uvec2 source = add64(p.input_, tileOffset);

    if (p.pass == SLUICE_PASS_REDUCE) {
        uint sum = 0u, total;
        for (uint i = wgInvocation(); i < SLUICE_PARTIALS_TILE; i += gl_WorkGroupSize.x)
            sum += loadWord(source, i, size);
        wgExclusiveAdd(sum, total);
        if (wgInvocation() == 0u)
            WordsOut(p.partials).w[tile] = total;
        return;
    }

    // The output may be the input: an invocation reads its elements before it writes them, and no other does either.
    uvec2 target = add64(p.output_, tileOffset);
    uint carry = p.partials == uvec2(0u) ? 0u : WordsIn(p.partials).w[tile];
    for (uint start = 0u; start < SLUICE_PARTIALS_TILE; start += kRound) {
        uint at = start + wgInvocation() * kRun, total;
        uint value[kRun], sum = 0u;
        [[unroll]] for (uint i = 0u; i < kRun; ++i) {
            value[i] = loadWord(source, at + i, size);
            sum += value[i];
        }
        uint running = carry + wgExclusiveAdd(sum, total);
        [[unroll]] for (uint i = 0u; i < kRun; ++i) {
            uint next = running + value[i];
            if (at + i < size)
                WordsOut(target).w[at + i] = p.kind == 1u ? next : running;
            running = next;
        }
        carry += total;
    }
    if (lastTile && wgInvocation() == 0u && p.total != uvec2(0u))
        WordsOut(p.total).w[0] = carry;
}
