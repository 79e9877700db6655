// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the trees and literals of Zstandard blocks: kernels/zstd_literals.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/kernels/zstd_tree.h"

u32 zstdEntry(u32 groupHere, u32 value) {
    return sZstdTable[groupHere * kZstdTable + (value >> 1)] >> (value & 1u) * 16u & 0xffffu;
}

#include "lib/fse.glsl"

layout(push_constant, std430) uniform Push { ZstdParams p; };
#define Params ZstdParams
#include "lib/region_params.glsl"
#include "lib/kernels/zstd_literals.h"

void main() {
    uint workgroup = wgIndex();
    zstdLiterals(p, workgroup * kGroupsPerWorkgroup + lgIndex(), lgIndex());
}
