// SPDX-License-Identifier: MIT OR Apache-2.0
// The first step of every decode: sets the status words to PENDING (kernels/status.h). If the
// driver decodes the tiles, this also empties its list of tiles.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/kernels/status.h"
#include "lib/layout/regions.h"

layout(push_constant, std430) uniform Push { RegionParams p; };

void main() {
    uint group = wgIndex();
    uint index = group * gl_WorkGroupSize.x + wgInvocation();
    beginStatus(p.status, p.maxRegionCount, index);
    if (index == p.maxRegionCount + 2u && (p.flags & SLUICE_FLAG_BY_DRIVER) != 0u)
        WordsOut(p.scratch).w[0] = 0u;
}
