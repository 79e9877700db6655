// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the checksums of Zstandard frames: kernels/zstd_hash.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/layout/zstd.h"

layout(push_constant, std430) uniform Push { ZstdParams p; };
#define Params ZstdParams
#include "lib/region_params.glsl"
#include "lib/kernels/zstd_hash.h"

void main() { zstdHash(p, wgIndex() * gl_WorkGroupSize.x + wgInvocation()); }
