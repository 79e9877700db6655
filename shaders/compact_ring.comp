// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction of many elements of 4 bytes, for subgroups of 32 lanes where workgroups that have started are known to go
// on: what compact.comp does, but not in place, no partition, one kind of output, any test but that for changes.
//
// A tile's place is known some microseconds after its count is published. Meanwhile what it keeps waits in shared memory, and
// the workgroup works on the next tiles. A tile's elements stay in registers for the first round of that, so that nothing
// waits for the sum over its subgroups either.
//
// Specialization constant 4 = tiles that wait in shared memory, 2 to 4.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_COMPACT_RING
#include "lib/lanes.glsl"
#include "lib/layout.h"

#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
void main() {} // not used
#else
layout(constant_id = 4) const uint kRingTiles = 3u;
const uint kRingRows = SLUICE_COMPACT_RING_ROWS;
shared uint sRing[kRingTiles * kRingRows * 4u * gl_WorkGroupSize.x];
shared uint sRingKept; // by all tiles, if this workgroup has the last one
#include "lib/compact_words.glsl"

// Whole tiles, `wideTiles` of `tiles`.
void compactTiles(LookbackStates states, uint wideTiles, uint tiles) {
    if (takesTickets())
        sRingTicket[0] = ringTake();
    wgBarrierShared();
    uint ticket = sRingTicket[0];
    uint h0 = wideTiles, h1 = wideTiles, h2 = wideTiles, h3 = wideTiles; // the tiles of the rounds before
    uint k0 = 0u, k1 = 0u, k2 = 0u, k3 = 0u;                             // and what they keep
    uint slot = 0u, turn = 1u, heldKeep = 0u, heldPlaces = 0u, taken = ticket;
    if (takesTickets())
        sRingKept = ~0u; // not the end of whole tiles
    if (takesTickets() && ticket < wideTiles)
        taken = ringTake();
    uvec4 next[kRows], held[kRows];
    uint selectors[kRows];
    [[unroll]] for (uint row = 0u; row < kRows; row++) {
        next[row] = held[row] = uvec4(0u);
        selectors[row] = 0u;
    }
    loadRows(ticket < wideTiles ? ticket : 0u, next, selectors);
    for (uint round = 0u;; round++) {
        uint current = kRingTiles == 2u ? h1 : kRingTiles == 3u ? h2 : h3;
        uint count = kRingTiles == 2u ? k1 : kRingTiles == 3u ? k2 : k3;
        if (round >= kRingTiles && current >= wideTiles)
            break;
        bool loads = ticket < wideTiles, stores = current < wideTiles;
        uint keep = keptRows(next, selectors), totals, before = ringExclusive(rowCounts(keep), totals);
        if (sgLane() == 0u)
            sRingTotals[turn][sgIndex()] = (totals & 0xffu) + (totals >> 8 & 0xffu);
        if (takesTickets())
            sRingTicket[turn] = taken;
        wgBarrierShared();

        uint following = sRingTicket[turn], kept, base = ringBefore(turn, kept);
        if (wgInvocation() == 0u && loads)
            states.s[ticket] = lookbackPack(kept, kTileOwn);
        LookbackState seen = lookbackPack(0u, kTileWhole);
        if (stores && current != 0u)
            seen = states.s[current - 1u];
        uvec4 putting[kRows];
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            putting[row] = held[row];
            held[row] = next[row];
        }
        if (writesIndices()) {
            [[unroll]] for (uint row = 0u; row < kRows; row++)
                held[row] = laneStart(ticket) + row * (4u * kSubgroupSize) + uvec4(0u, 1u, 2u, 3u);
        }
        loadRows(following < wideTiles ? following : 0u, next, selectors);
        uint place = (slot == 0u ? kRingTiles - 1u : slot - 1u) * kTile;
        putRow(heldKeep, 0u, putting[0], place + (heldPlaces & 0xffffu));
        putRow(heldKeep, 1u, putting[1], place + (heldPlaces >> 16));
        heldKeep = keep;
        heldPlaces = base + (before & 0xffu) | base + (totals & 0xffu) + (before >> 8 & 0xffu) << 16;
        taken = following; // known by the time that it is wanted
        if (takesTickets() && following < wideTiles)
            taken = ringTake();

        uint prefix;
        if (!ringComes(states, current, seen, prefix)) {
            prefix = ringLookBack(states, current);
            loadRowsAgain(following < wideTiles ? following : 0u, next, selectors); // no registers for these in there
        }
        storeWords(slot * kTile, stores ? count : 0u, prefix);
        if (stores && current == tiles - 1u && takesTickets())
            sRingKept = prefix + count;
        slot = slot + 1u >= kRingTiles ? 0u : slot + 1u;
        turn ^= 1u;
        h3 = h2;
        h2 = h1;
        h1 = h0;
        h0 = ticket;
        k3 = k2;
        k2 = k1;
        k1 = k0;
        k0 = kept;
        ticket = following;
    }
    if (takesTickets() && sRingKept != ~0u)
        storeResult(sRingKept);
}

void main() {
    uint count = elementCount(), tiles = max(tileCount(count), 1u), wideTiles = count / kTile;
    LookbackStates states = lookbackStates(p.scratch);
    if (gl_WorkGroupID.x == 0u) {
        ringScan(states, wideTiles);
        if (wideTiles < tiles) {
            wgBarrierShared(); // the scanner's values have been read
            compactTile(states, wideTiles, tiles, false);
        }
    } else if (wideTiles != 0u) {
        compactTiles(states, wideTiles, tiles);
    }
    lookbackLeave(p.scratch);
    lookbackClean(p.scratch, p.workgroups, tiles);
}
#endif
