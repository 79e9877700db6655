// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the headers of Zstandard frames and blocks: kernels/zstd_walk.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/layout/zstd.h"

layout(push_constant, std430) uniform Push { ZstdParams p; };
#define Params ZstdParams
#include "lib/region_params.glsl"
#include "lib/kernels/zstd_walk.h"

void main() { zstdWalk(p, wgIndex() * gl_WorkGroupSize.x + wgInvocation()); }
