// SPDX-License-Identifier: MIT OR Apache-2.0
// scan.comp and scan64.comp: prefix sums, minima and maxima in one pass with decoupled look-back.
//
// A workgroup takes one tile after the other and is one tile ahead of itself: it loads the next one and publishes that
// one's value before it waits for what lies before the current one. So nobody waits long for a value, and the loads of one
// tile hide the waiting for another.
//
// Sums of f32 depend on the order of their additions: there the tiles' sums are added up beforehand, in a fixed order, by
// reduce.comp.
#include "lib/scan_tile.glsl"
#include "lib/partials.glsl"

#define SLUICE_LOOKBACK_OPERATION
#ifdef SLUICE_VALUE64
#define SLUICE_LOOKBACK_WIDE
#endif
const Value kLookbackIdentity = kIdentity;
Value lookbackCombine(Value a, Value b) { return combine(a, b); }
#ifndef SLUICE_EMU
Value lookbackCombineLanes(Value value) {
#ifdef SLUICE_VALUE64
    [[unroll]] for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1)
        value = combine(value, subgroupShuffle(value, gl_SubgroupInvocationID ^ reach));
    return value;
#else
    return kOperation == SLUICE_SCAN_OP_SUM ? subgroupAdd(value) : subgroupMax(value);
#endif
}
Value lookbackInclusiveLanes(Value value) {
#ifdef SLUICE_VALUE64
    [[unroll]] for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) {
        Value below = subgroupShuffle(value, max(gl_SubgroupInvocationID, reach) - reach);
        if (gl_SubgroupInvocationID >= reach)
            value = combine(below, value);
    }
    return value;
#else
    return kOperation == SLUICE_SCAN_OP_SUM ? subgroupInclusiveAdd(value) : subgroupInclusiveMax(value);
#endif
}
#endif
#include "lib/lookback.glsl"

bool lookbackTile(uint index, out Value value) {
    Run total = tileRun(tileAt(index, elementCount()));
    value = total.value;
    return total.head;
}

// What an element's place in its tile adds: starts[row] is all of the subgroup's elements before this invocation's.
struct Scanned {
    Run starts[kRows];
    Run total; // of the subgroup
};

Scanned scanElements(Elements e) {
    Scanned s;
    s.total = kNoRun;
    [[unroll]] for (uint row = 0u; row < kRows; row++) {
        Run rowTotal;
        s.starts[row] = join(s.total, sgExclusiveRun(rowRun(e.rows[row], e.heads[row]), rowTotal));
        s.total = join(s.total, rowTotal);
    }
    return s;
}

// Writes the tile; `before` is everything before the subgroup's elements.
void storeElements(Tile tile, Elements e, Scanned s, Run before) {
    uvec2 target = add64(p.output_, mul64(tile.index, kTile * kValueBytes));
    bool inclusive = p.kind == SLUICE_KIND_INCLUSIVE;
    [[unroll]] for (uint row = 0u; row < kRows; row++) {
        Run running = join(before, s.starts[row]);
        Row result;
        [[unroll]] for (uint i = 0u; i < kPerRow; i++) {
            bool head = kSegmented && (e.heads[row] >> i & 1u) != 0u;
            Run next = join(running, Run(e.rows[row].x[i], head));
            result.x[i] = inclusive ? next.value : head ? kIdentity : running.value;
            running = next;
        }
        storeRow(tile, target, row, result);
    }
}

void storeTotal(Run all) {
    if (wgInvocation() == 0u && p.total != uvec2(0u))
        storeValue(p.total, 0u, kOperation == SLUICE_SCAN_OP_MAX ? decode(all.value) : all.value);
}

// A tile a workgroup; what comes before it stands in scratch, which is left as it was found: zero.
void scanOrdered(uint index, uint count, uint tiles) {
    Run prefix = kNoRun;
    if (p.workgroups > 1u)
        prefix.value = loadPartial(p.scratch, index).value;
    Tile tile = tileAt(index, count);
    Elements elements = loadElements(tile);
    Scanned scanned = scanElements(elements);
    Run total;
    Run before = join(prefix, wgRunsBefore(scanned.total, total));
    storeElements(tile, elements, scanned, before);
    if (index == tiles - 1u)
        storeTotal(join(prefix, total));
    if (p.workgroups > 1u && wgInvocation() == 0u) // all have read it: there was a barrier
        storePartial(p.scratch, index, kNoRun);
}

shared uint sTickets[2];

void scanTiles(uint count, uint tiles) {
    bool inPlace = p.input_ == p.output_;
    uint ticket = lookbackTicket(p.scratch), nextTicket = ticket;
    Tile tile;
    Elements elements;
    Run total;
    // The first round only loads. A ticket is taken a round before it is needed.
    for (uint round = 0u; ticket < tiles; round++) {
        Tile nextTile = tileAt(nextTicket, count);
        Elements nextElements;
        if (nextTicket < tiles)
            nextElements = loadElements(nextTile);
        uint taken = round + 1u < p.share ? lookbackTake(p.scratch) : tiles;

        Scanned scanned;
        if (round != 0u)
            scanned = scanElements(elements);
        Run nextRun = kNoRun, nextTotal, unused;
        if (nextTicket < tiles)
            nextRun = subgroupRun(nextElements);
        if (wgInvocation() == 0u)
            sTickets[round & 1u] = taken;
        Run before = wgRunsBefore(scanned.total, nextRun, unused, nextTotal);
        if (nextTicket < tiles)
            lookbackPublish(p.scratch, nextTicket, nextTotal.value, nextTotal.head, inPlace);

        if (round != 0u) {
            Run prefix = kNoRun;
            prefix.value = lookbackWait(p.scratch, ticket, total.value, total.head, p.polls, inPlace, p.scanner != 0u);
            storeElements(tile, elements, scanned, join(prefix, before));
            if (ticket == tiles - 1u)
                storeTotal(join(prefix, total));
        }
        ticket = nextTicket;
        tile = nextTile;
        elements = nextElements;
        total = nextTotal;
        nextTicket = sTickets[round & 1u];
    }
}

void main() {
    uint workgroup = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    if (workgroup >= p.workgroups)
        return; // the grid is a rectangle and may have some more

    uint count = elementCount();
    uint tiles = max(tileCount(count), 1u); // an empty input has one empty tile, which writes the total
    if (kOperation == SLUICE_SCAN_OP_SUM_F32) {
        scanOrdered(workgroup, count, tiles);
        return;
    }
    if (p.scanner != 0u && workgroup == 0u) {
        if (wgInvocation() < kLookbackLanes)
            lookbackScan(p.scratch, tiles, p.polls);
    } else {
        scanTiles(count, tiles);
    }
    lookbackClean(p.scratch, lookbackLeave(p.scratch), p.workgroups, tiles);
}
