// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcodes UASTC blocks: kernels/uastc.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/layout/uastc.h"

// The group of targets, SLUICE_UA_GROUP_*, for which this pipeline is compiled. Each group has a
// pipeline of its own, so that no pipeline needs the registers and the code of the others.
layout(constant_id = SLUICE_CONSTANT_UASTC_GROUP) const uint kGroup = 0u;
const uint kThreads = gl_WorkGroupSize.x;

layout(push_constant, std430) uniform Push { UastcParams p; };

u32 reverseBits(u32 word) { return bitfieldReverse(word); }
void storeUnit16(u64 target, u32 x, u32 y, u32 z, u32 w) {
    UnitsOut(target).v[0] = u32x4(x, y, z, w);
}
u32 atomicAddGet(u64 base, u32 index, u32 value) {
    return atomicAdd(WordsOut(base).w[index], value);
}
void atomicOrWord(u64 base, u32 index, u32 value) { atomicOr(WordsOut(base).w[index], value); }
void atomicMaxWord(u64 base, u32 index, u32 value) { atomicMax(WordsOut(base).w[index], value); }
u32 atomicTake(u64 base, u32 index) { return atomicExchange(WordsOut(base).w[index], 0u); }
void deviceMemoryBarrier() { memoryBarrierBuffer(); }

// Workgroups sort blocks by mode with operations of lane groups (kernels/uastc.h). In these two
// variants, such operations usually need a workgroup of a single lane group (lanes.glsl). Here it
// has four lane groups, so it does not sort.
#if !defined(SLUICE_EMU) && !defined(SLUICE_NARROW)
#define SLUICE_UASTC_SORTS
#endif
#include "lib/kernels/uastc.h"

void main() { uastcPiece(p, wgIndex(), kGroup); }
