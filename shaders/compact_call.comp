// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction of few 4-byte elements: those that pass a test are written without gaps, in
// their order. Each workgroup compacts one tile; compact_ring.comp is the kernel for many tiles.
// This shader has only the code that a single tile needs, because in a short call, fetching long
// code would take longer than the work.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_COMPACT_RING
#include "lib/lanes.glsl"
#include "lib/layout/compact.h"

#ifdef SLUICE_EMU
void main() {} // not used: for emulated lane groups there is compact.comp
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
