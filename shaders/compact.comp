// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction by ballot and population count. One workgroup of 128 invocations handles one tile, and each of its
// subgroups a contiguous part of that: REDUCE counts what the tile keeps, scan.comp turns the counts into places, and
// APPLY writes the kept elements from the tile's place on.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/scan.glsl"

layout(push_constant, std430) uniform Push {
    CompactParams p;
};

const uint kRows = 16u; // rows of one element a lane that a subgroup handles; 128 * 16 = SLUICE_PARTIALS_TILE

void main() {
    uint tile = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    uvec2 tileOffset = mul64(tile, SLUICE_PARTIALS_TILE * 4u); // small indices on a base a tile: see scan.comp
    uint first = tile * SLUICE_PARTIALS_TILE;
    if (tileOffset.y >= 4u || first >= p.count)
        return;
    uint size = min(p.count - first, SLUICE_PARTIALS_TILE);
    uvec2 flags = add64(p.flags, tileOffset);

    if (p.pass == SLUICE_PASS_REDUCE) {
        uint kept = 0u, total;
        [[unroll]] for (uint row = 0u; row < kRows; ++row)
            kept += loadWord(flags, row * gl_WorkGroupSize.x + wgInvocation(), size) != 0u ? 1u : 0u;
        wgExclusiveAdd(kept, total);
        if (wgInvocation() == 0u)
            WordsOut(p.partials).w[tile] = total;
        return;
    }

    uint at = sgIndex() * (kRows * kSubgroupSize) + sgLane();
    uint place[kRows]; // among the subgroup's kept elements
    uint keepBits = 0u, subgroupKept = 0u, total;
    [[unroll]] for (uint row = 0u; row < kRows; ++row) {
        bool keep = loadWord(flags, at + row * kSubgroupSize, size) != 0u;
        uint rowKept;
        place[row] = subgroupKept + sgRank(keep, rowKept);
        subgroupKept += rowKept;
        keepBits |= keep ? 1u << row : 0u;
    }

    uint start = WordsIn(p.partials).w[tile] + wgSubgroupsBefore(subgroupKept, total);
    uint room = p.outputCount - min(start, p.outputCount);
    uvec2 source = add64(p.input_, tileOffset);
    uvec2 target = add64(p.output_, mul64(start, 4u));
    [[unroll]] for (uint row = 0u; row < kRows; ++row) {
        if ((keepBits >> row & 1u) != 0u && place[row] < room)
            WordsOut(target).w[place[row]] = WordsIn(source).w[at + row * kSubgroupSize];
    }
}
