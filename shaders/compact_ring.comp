// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction of many 4-byte elements: those that pass a test are written without gaps, in
// their order. It is for subgroups of 16 or 32 lanes, on devices where a workgroup that has started
// keeps making progress. It does what compact.comp does, but not in place, without partitions, with
// a single output (elements or indices) and any test except UNIQUE.
//
// A workgroup publishes how many elements of its tile it keeps. Some microseconds later the tile's
// *prefix* is known, the number of elements that all tiles before it keep, and with it the tile's
// place in the output. Meanwhile the kept elements wait in shared memory, the *ring*, and the
// workgroup works on the next tiles. In the first round after they were loaded they stay in
// registers, so that the sum over the tile's subgroups causes no wait either. A *ticket* is the
// number of a tile that a workgroup has taken.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_COMPACT_RING
#include "lib/loops.glsl"
#include "lib/lanes.glsl"
#include "lib/layout/compact.h"

#ifdef SLUICE_EMU
void main() {} // not used: for emulated lane groups there is compact.comp
#else
layout(constant_id = SLUICE_CONSTANT_COMPACT_RING_TILES) const uint kRingTiles = 3u;
const uint kRingRows = SLUICE_COMPACT_RING_ROWS;
shared uint sRing[kRingTiles * kRingRows * 4u * gl_WorkGroupSize.x];
// x is a tile: while the ring runs, the next one, by `turn`; afterwards that of round r, at r % 8.
shared uvec2 sRingTiles[8];
shared uint sRingLate[2]; // used in turn; set if the prefix of the last round's tile did not arrive
shared uint sRingEnd;
#include "lib/compact_words.glsl"

// Compacts whole tiles, of which there are `wideTiles`. Returns the number of the round in which it
// ends, and leaves the tiles of that round and of those around it in sRingTiles. If it sets `late`,
// a prefix has not arrived: the tile of kRingTiles + 1 rounds before and all later ones have not
// been stored.
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
    // h0 to h3 are the tickets of the rounds before this one, the latest first; k0 to k2 are how
    // many elements these tiles keep.
    uint h0 = ~0u, h1 = ~0u, h2 = ~0u, h3 = ~0u, k0 = 0u, k1 = 0u, k2 = 0u;
    // `next` is the tile that this round tests, and `held` the one of the round before, which this
    // round puts into the ring. heldKeep and heldPlaces say which of its elements are kept and
    // where they go.
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

        // This round stores the tile `current`, which has `count` elements in the ring, and loads
        // `following`.
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
        taken = following; // this ticket has arrived by the time it is needed
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
        // Workgroup 0 is the scanner: it adds up the counts of all tiles, so that each gets its
        // prefix. It also compacts the last tile, whole or not.
        ringScan(states, wideTiles);
        if (wgInvocation() == 0u) sRingTiles[0].x = wideTiles;
        wgBarrierShared(); // all have read the scanner's shared memory, too
        end++;
    } else {
        published = compactTiles(states, wideTiles, more);
        round = published - kRingTiles - 1u;
        unfinished = more;
    }
    // If the ring has ended early, the remaining tiles are done here one by one.
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
