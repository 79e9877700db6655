// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the bytes of Zstandard frames: kernels/zstd_bytes.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/layout/zstd.h"

layout(push_constant, std430) uniform Push { ZstdParams p; };
#define Params ZstdParams
#include "lib/region_params.glsl"

void storeBytes(uvec2 target, uint value, uint first, uint end) {
    storeWord(target, value, first, end);
}

#include "lib/kernels/zstd_bytes.h"

void main() { zstdBytes(p, wgIndex() * gl_WorkGroupSize.x + wgInvocation()); }
