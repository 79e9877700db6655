// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction of many 4-byte elements: those that pass a test are written without gaps, in
// their order. It is for subgroups of 16 or 32 lanes, on devices where a workgroup that has started
// keeps making progress. It does what compact.comp does, but not in place, without partitions, with
// a single output (elements or indices) and any test except UNIQUE.
//
// A workgroup publishes how many elements of its tile it keeps. Some microseconds later the tile's
// *prefix* is known: the number of elements that all tiles before it keep, which is where the
// tile's output begins. Meanwhile the workgroup works on the next tiles, and the kept elements wait
// in the *ring*, a ring buffer in shared memory. Before a tile's elements enter the ring, they stay
// in registers for one round, so that no invocation waits for the sum over the tile's subgroups. A
// *ticket* is the number of a tile that a workgroup has taken.
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
// While compactTiles runs, sRingTiles[turn] is the workgroup's next tile; `turn` alternates between
// 0 and 1. After compactTiles, sRingTiles[r % 8] is the tile of round r.
shared uint sRingTiles[8];
shared uint sRingLate[2]; // double-buffered; 1 if a tile's prefix did not arrive in the last round
shared uint sRingEnd;
#include "lib/compact_words.glsl"

// Compacts whole tiles, those with numbers below `wideTiles`. Returns the number of the round in
// which it ends. sRingTiles then has the tiles of that round, of the next one and of the four
// before. `late` is set if a prefix did not arrive in time. Then the tile of kRingTiles + 1 rounds
// before the last round, and all later tiles, have not been stored.
uint compactTiles(LookbackStates states, uint wideTiles, out bool late) {
    if (wgInvocation() < 8u) sRingTiles[wgInvocation()] = ~0u;
    if (wgInvocation() == 0u) {
        sRingLate[0] = sRingLate[1] = 0u;
        sRingEnd = wideTiles;
    }
    wgBarrierShared();
    uint taken = 0u;
    if (takesTickets()) {
        taken = ringTake();
        sRingTiles[0] = taken;
    }
    wgBarrierShared();
    uint ticket = sRingTiles[0], slot = 0u, turn = 1u, heldKeep = 0u, heldPlaces = 0u, round = 0u;
    wideTiles = sRingEnd;
    if (takesTickets() && ticket < wideTiles) taken = ringTake();
    // h0 to h3 are the tickets of the last four rounds, the most recent first. k0 to k2 are how
    // many elements the tiles h0 to h2 keep.
    uint h0 = ~0u, h1 = ~0u, h2 = ~0u, h3 = ~0u, k0 = 0u, k1 = 0u, k2 = 0u;
    // `next` is the tile that this round tests, and `held` the tile of the previous round, which
    // this round puts into the ring. heldKeep and heldPlaces say which elements of `held` are kept
    // and where they go.
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
        if (takesTickets()) sRingTiles[turn] = taken;
        wgBarrierShared();

        // This round stores the tile `current`, which has `count` elements in the ring, and loads
        // the tile `following`.
        uint following = sRingTiles[turn], kept, base = ringBefore(turn, kept);
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
        taken = following; // the next round needs the ticket; by then the atomic has returned
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
        uint following = sRingTiles[turn];
        sRingTiles[(round + 1u) & 7u] = following;
        sRingTiles[round & 7u] = ticket;
        sRingTiles[(round - 1u) & 7u] = h0;
        sRingTiles[(round - 2u) & 7u] = h1;
        sRingTiles[(round - 3u) & 7u] = h2;
        sRingTiles[(round - 4u) & 7u] = h3;
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
        if (wgInvocation() == 0u) sRingTiles[0] = wideTiles;
        wgBarrierShared(); // also waits until all have read the shared memory of ringScan
        end++;
    } else {
        published = compactTiles(states, wideTiles, more);
        round = published - kRingTiles - 1u;
        unfinished = more;
    }
    // If compactTiles ended early because a prefix was late, the remaining tiles are compacted here
    // one by one. So is the last tile, by workgroup 0.
    if (unfinished) {
        SLUICE_DONT_UNROLL
        for (;; round++) {
            bool known = gl_WorkGroupID.x == 0u ? round == 0u : int(round - published) <= 1;
            if (!known) {
                if (!more) break;
                if (takesTickets()) sRingTiles[round & 7u] = ringTake();
                wgBarrierShared();
            }
            uint tile = sRingTiles[round & 7u];
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
