// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the tables and bits of sequences of Zstandard blocks: kernels/zstd_sequences.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"

layout(constant_id = SLUICE_CONSTANT_ZSTD_CHAINS) const uint kZstdChains = 1u;

#include "lib/kernels/zstd_codes.h"

// Tables are built where the rings are later.
#define SLUICE_FSE_MEMORY
#define sSlots sZstdWork
#define sSymbols sZstdWork
struct SlotMemory {
    uint slots, symbols;
};
SlotMemory slotMemory(uint group) {
    return SlotMemory(group * kZstdWork, group * kZstdWork + 128u);
}

#include "lib/fse.glsl"

layout(push_constant, std430) uniform Push { ZstdParams p; };
#define Params ZstdParams
#include "lib/region_params.glsl"
#include "lib/kernels/zstd_sequences.h"

void main() {
    uint workgroup = wgIndex();
    zstdSequences(p, workgroup * kGroupsPerWorkgroup + lgIndex(), lgIndex());
}
