// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction of few elements of 4 bytes, a tile a workgroup: what compact_ring.comp does for
// many. Nothing but what one tile needs, for a call is over before long code has come from memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_COMPACT_RING
#include "lib/lanes.glsl"
#include "lib/layout/compact.h"

#ifdef SLUICE_EMU
void main() {} // not used
#else
const uint kRingRows = SLUICE_COMPACT_CALL_ROWS;
shared uint sRing[kRingRows * 4u * gl_WorkGroupSize.x];
#include "lib/compact_words.glsl"

void main() {
    compactTile(lookbackStates(p.scratch), gl_WorkGroupID.x, p.workgroups, p.workgroups > 1u,
                p.workgroups > 1u);
    if (p.workgroups > 1u) lookbackClean(p.scratch, p.workgroups, p.workgroups);
}
#endif
