// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the tables and bits of sequences of Zstandard blocks: kernels/zstd_sequences.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"

layout(constant_id = SLUICE_CONSTANT_ZSTD_CHAINS) const uint kZstdChains = 1u;
// A team is the lane groups that decode blocks together. If lane groups are whole subgroups, or
// emulated, those of a workgroup form one team. Otherwise they would wait for each other at
// subgroup operations, so each is a team of its own.
#ifdef SLUICE_EMU
const uint kZstdTeam = kGroupsPerWorkgroup;
#else
const uint kZstdTeam = kNative ? kGroupsPerWorkgroup : 1u;
#endif
const uint kZstdTeams = kGroupsPerWorkgroup / kZstdTeam;

void zstdTeamBarrier() {
    if (kZstdTeam > 1u)
        wgBarrierShared();
    else
        lgBarrierShared();
}

#include "lib/kernels/zstd_codes.h"

// Tables are built in the memory that later has the ring buffers.
#define SLUICE_FSE_MEMORY
#define sSlots sZstdWork
#define sSymbols sZstdWork
struct SlotMemory {
    uint slots, symbols;
};
SlotMemory slotMemory(uint group) {
    uint at = zstdTableMemory(group);
    return SlotMemory(at, at + 128u);
}

void zstdStoreStep(uint at, uint l, uint o, uint m, uint position) {
    sZstdWork[at] = l;
    sZstdWork[at + 1u] = o;
    sZstdWork[at + 2u] = m;
    sZstdWork[at + 3u] = position;
}

#include "lib/fse.glsl"

layout(push_constant, std430) uniform Push { ZstdParams p; };
#define Params ZstdParams
#include "lib/region_params.glsl"
#include "lib/kernels/zstd_sequences.h"

void main() { zstdSequences(p, wgIndex() * kZstdTeams + lgIndex() / kZstdTeam); }
