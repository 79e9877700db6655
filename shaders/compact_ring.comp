// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction of many 4-byte elements, for subgroups of 16 or 32 lanes, on devices where a
// workgroup that has started keeps making progress. It does what compact.comp does, but not in
// place, without partitions, with a single output (elements or indices) and any test except UNIQUE.
//
// A tile's place is known some microseconds after its count is published. Meanwhile the elements
// that it keeps wait in shared memory, and the workgroup works on the next tiles. In the first
// round they stay in registers, so that the sum over the tile's subgroups causes no wait either.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_COMPACT_RING
#include "lib/loops.glsl"
#include "lib/lanes.glsl"
#include "lib/layout/compact.h"

#ifdef SLUICE_EMU
void main() {} // this form is never used
#else
layout(constant_id = SLUICE_CONSTANT_COMPACT_RING_TILES) const uint kRingTiles = 3u;
const uint kRingRows = SLUICE_COMPACT_RING_ROWS;
shared uint sRing[kRingTiles * kRingRows * 4u * gl_WorkGroupSize.x];
shared uvec2 sRingTiles[8]; // for each of the last rounds, a tile and how many elements it keeps
shared uint sRingLate[2];   // alternate: the prefix of the last round's tile did not arrive
shared uint sRingEnd;
#include "lib/compact_words.glsl"

// Compacts whole tiles, of which there are `wideTiles`. Returns the round in which it ends, and
// leaves the tiles of that and the previous rounds in sRingTiles. If `late` is set, the tile of
// kRingTiles + 1 rounds earlier and all later tiles have not been stored.
uint compactTiles(LookbackStates states, uint wideTiles, out bool late) {
    if (wgInvocation() < 8u) sRingTiles[wgInvocation()].x = ~0u;
    if (wgInvocation() == 0u) {
        sRingLate[0] = sRingLate[1] = 0u;
        sRingEnd = wideTiles;
    }
    wgBarrierShared();
    uint taken = 0u;
    if (takesTickets()) {
        taken = ringTake();
        sRingTiles[0].x = taken;
    }
    wgBarrierShared();
    uint ticket = sRingTiles[0].x, slot = 0u, turn = 1u, heldKeep = 0u, heldPlaces = 0u, round = 0u;
    wideTiles = sRingEnd;
    if (takesTickets() && ticket < wideTiles) taken = ringTake();
    uint h0 = ~0u, h1 = ~0u, h2 = ~0u, h3 = ~0u, k0 = 0u, k1 = 0u, k2 = 0u;
    uvec4 next[kRows], held[kRows];
    uint selectors[kRows];
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        next[row] = held[row] = uvec4(0u);
        selectors[row] = 0u;
    }
    loadRows(ticket < wideTiles ? ticket : 0u, next, selectors);
    for (;; round++) {
        uint keep = keptRows(next, selectors), totals,
             before = ringExclusive(rowCounts(keep), kSubgroupSize, totals);
        if (sgLane() == 0u) sRingTotals[turn][sgIndex()] = (totals & 0xffu) + (totals >> 8 & 0xffu);
        if (takesTickets()) sRingTiles[turn].x = taken;
        wgBarrierShared();

        uint following = sRingTiles[turn].x, kept, base = ringBefore(turn, kept);
        uint current = kRingTiles == 2u ? h1 : h2, count = kRingTiles == 2u ? k1 : k2;
        late = sRingLate[turn] != 0u;
        if (late || round >= kRingTiles && current >= wideTiles) break;
        bool loads = ticket < wideTiles, stores = current < wideTiles;
        if (wgInvocation() == 0u && loads) states.s[ticket] = lookbackPack(kept, kTileOwn);
        LookbackState seen = lookbackPack(0u, kTileWhole);
        if (stores && current != 0u) seen = states.s[current - 1u];
        uvec4 putting[kRows];
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++) {
            putting[row] = held[row];
            held[row] = next[row];
        }
        if (writesIndices()) {
            SLUICE_UNROLL
            for (uint row = 0u; row < kRows; row++)
                held[row] = laneStart(ticket) + row * (4u * kSubgroupSize) + uvec4(0u, 1u, 2u, 3u);
        }
        loadRows(following < wideTiles ? following : 0u, next, selectors);
        uint place = (slot == 0u ? kRingTiles - 1u : slot - 1u) * kTile;
        putRow(heldKeep, 0u, putting[0], place + (heldPlaces & 0xffffu));
        putRow(heldKeep, 1u, putting[1], place + (heldPlaces >> 16));
        heldKeep = keep;
        heldPlaces = (base + (before & 0xffu)) | (base + (totals & 0xffu) + (before >> 8u & 0xffu))
                                                     << 16;
        taken = following; // known by the time it is needed
        if (takesTickets() && following < wideTiles) taken = ringTake();

        uint prefix;
        bool comes = ringComes(states, current, seen, prefix);
        if (!comes) sRingLate[turn ^ 1u] = 1u;
        storeWords(slot * kTile, comes && stores ? count : 0u, prefix);
        slot = slot + 1u >= kRingTiles ? 0u : slot + 1u;
        turn ^= 1u;
        h3 = h2;
        h2 = h1;
        h1 = h0;
        h0 = ticket;
        k2 = k1;
        k1 = k0;
        k0 = kept;
        ticket = following;
    }
    wgBarrierShared();
    if (wgInvocation() == 0u) {
        uint following = sRingTiles[turn].x;
        sRingTiles[(round + 1u) & 7u].x = following;
        sRingTiles[round & 7u].x = ticket;
        sRingTiles[(round - 1u) & 7u].x = h0;
        sRingTiles[(round - 2u) & 7u].x = h1;
        sRingTiles[(round - 3u) & 7u].x = h2;
        sRingTiles[(round - 4u) & 7u].x = h3;
    }
    wgBarrierShared();
    return round;
}

void main() {
    uint count = elementCount(), wideTiles = (max(count, 1u) - 1u) / kTile, end = wideTiles,
         round = 0u, published = 0u;
    bool unfinished = true, more = false;
    LookbackStates states = lookbackStates(p.scratch);
    if (gl_WorkGroupID.x == 0u) {
        // This workgroup is the scanner, which also compacts the last tile, whole or not.
        ringScan(states, wideTiles);
        if (wgInvocation() == 0u) sRingTiles[0].x = wideTiles;
        wgBarrierShared(); // the scanner's values have been read, too
        end++;
    } else {
        published = compactTiles(states, wideTiles, more);
        round = published - kRingTiles - 1u;
        unfinished = more;
    }
    // If the ring has ended early, tiles are done one by one.
    if (unfinished) {
        SLUICE_DONT_UNROLL
        for (;; round++) {
            bool known = gl_WorkGroupID.x == 0u ? round == 0u : int(round - published) <= 1;
            if (!known) {
                if (!more) break;
                if (takesTickets()) sRingTiles[round & 7u].x = ringTake();
                wgBarrierShared();
            }
            uint tile = sRingTiles[round & 7u].x;
            if (tile < end) {
                bool publishes = gl_WorkGroupID.x != 0u && int(round - published) >= 0;
                uint kept = compactTile(states, tile, wideTiles + 1u, publishes, false);
                if (wgInvocation() == 0u) states.s[tile] = lookbackPack(kept, kTileWhole);
            } else if (!known) {
                break;
            }
        }
    }
    lookbackLeave(p.scratch);
    ringClean(p.workgroups, wideTiles + 1u);
}
#endif
