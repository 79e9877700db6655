// SPDX-License-Identifier: MIT OR Apache-2.0
// The first step of every decode: all tiles PENDING, none failed, and none given to the driver.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"

layout(push_constant, std430) uniform Push { RegionParams p; };

void main() {
    uint group = wgIndex();
    uint index = group * gl_WorkGroupSize.x + wgInvocation();
    if (index < p.maxRegionCount)
        WordsOut(p.status).w[index] = SLUICE_ST_PENDING;
    else if (index == p.maxRegionCount)
        WordsOut(p.status).w[index] = 0u; // failed tiles
    else if (index == p.maxRegionCount + 1u)
        WordsOut(p.status).w[index] = 0xffffffffu; // the first of them
    else if (index == p.maxRegionCount + 2u && (p.flags & SLUICE_FLAG_BY_DRIVER) != 0u)
        WordsOut(p.scratch).w[0] = 0u;
}
