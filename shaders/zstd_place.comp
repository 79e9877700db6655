// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds where Zstandard blocks begin in the output, and sorts blocks: kernels/zstd_place.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/layout/zstd.h"

layout(push_constant, std430) uniform Push { ZstdParams p; };
#define Params ZstdParams
#include "lib/region_params.glsl"
#include "lib/kernels/zstd_place.h"

void main() {
    uint thread = wgIndex() * gl_WorkGroupSize.x + wgInvocation();
    if ((p.pass & SLUICE_ZS_BEGIN) != 0u)
        zstdBeginTurn(p, thread);
    else if (p.pass >= SLUICE_ZS_COUNT)
        zstdOrder(p, thread);
    else
        zstdPlace(p, thread);
}
