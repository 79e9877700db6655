// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the tables and bits of sequences of Zstandard blocks: kernels/zstd_sequences.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"

layout(constant_id = SLUICE_CONSTANT_ZSTD_CHAINS) const uint kZstdChains = 1u;
// Where lane groups are subgroups, or emulated, all of a workgroup are a team. The lane groups of a
// wide subgroup would wait for each other, so each is one alone.
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

// Tables are built where the rings are later.
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

#include "lib/fse.glsl"

layout(push_constant, std430) uniform Push { ZstdParams p; };
#define Params ZstdParams
#include "lib/region_params.glsl"
#include "lib/kernels/zstd_sequences.h"

void main() { zstdSequences(p, wgIndex() * kZstdTeams + lgIndex() / kZstdTeam); }
