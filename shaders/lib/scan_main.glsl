// SPDX-License-Identifier: MIT OR Apache-2.0
// scan.comp and scan64.comp: prefix sums, minima and maxima in one pass with decoupled look-back.
//
// A workgroup takes one tile after the other and is one tile ahead of itself: it loads the next one
// and publishes that one's value before it waits for what lies before the current one. So nobody
// waits long for a value, and the loads of one tile hide the waiting for another.
//
// Sums of f32 depend on the order of their additions: there the tiles' sums are added up
// beforehand, in a fixed order, by reduce.comp.
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
    [[unroll]] for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) value =
        combine(value, subgroupShuffle(value, gl_SubgroupInvocationID ^ reach));
    return value;
#else
    return kOperation == SLUICE_SCAN_OP_SUM ? subgroupAdd(value) : subgroupMax(value);
#endif
}
Value lookbackInclusiveLanes(Value value) {
#ifdef SLUICE_VALUE64
    [[unroll]] for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) {
        Value below = subgroupShuffle(value, max(gl_SubgroupInvocationID, reach) - reach);
        if (gl_SubgroupInvocationID >= reach) value = combine(below, value);
    }
    return value;
#else
    return kOperation == SLUICE_SCAN_OP_SUM ? subgroupInclusiveAdd(value)
                                            : subgroupInclusiveMax(value);
#endif
}
#endif
#include "lib/lookback.glsl"

bool lookbackTile(uint index, out Value value) {
    Run total = tileRun(tileAt(index, elementCount()));
    value = total.value;
    return total.head;
}

// What an element's place in its tile adds: starts[row] is all of the subgroup's elements before
// this invocation's.
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

// The row's results; `before` is everything before the subgroup's elements.
Row resultRow(Elements e, Scanned s, Run before, uint row) {
    bool inclusive = p.kind == SLUICE_KIND_INCLUSIVE;
    Run running = join(before, s.starts[row]);
    Row result;
    [[unroll]] for (uint i = 0u; i < kPerRow; i++) {
        bool head = kSegmented && (e.heads[row] >> i & 1u) != 0u;
        Run next = join(running, Run(e.rows[row].x[i], head));
        result.x[i] = inclusive ? next.value : head ? kIdentity : running.value;
        running = next;
    }
    return decodeRow(result);
}

void storeElements(Tile tile, Elements e, Scanned s, Run before) {
    uvec2 target = add64(p.output_, mul64(tile.index, kTile * kValueBytes));
    [[unroll]] for (uint row = 0u; row < kRows; row++)
        storeRow(tile, target, row, resultRow(e, s, before, row));
}

void storeTotal(Run all) {
    if (wgInvocation() == 0u && p.total != uvec2(0u))
        storeValue(p.total, 0u, kOperation == SLUICE_SCAN_OP_MAX ? decode(all.value) : all.value);
}

// A tile a workgroup; what comes before it stands in scratch, which is left as it was found: zero.
void scanOrdered(uint index, uint count, uint tiles) {
    Run prefix = kNoRun;
    if (p.workgroups > 1u) prefix.value = loadPartial(p.scratch, index).value;
    Tile tile = tileAt(index, count);
    Elements elements = loadElements(tile);
    Scanned scanned = scanElements(elements);
    Run total;
    Run before = join(prefix, wgRunsBefore(scanned.total, total));
    storeElements(tile, elements, scanned, before);
    if (index == tiles - 1u) storeTotal(join(prefix, total));
    if (p.workgroups > 1u && wgInvocation() == 0u) // all have read it: there was a barrier
        storePartial(p.scratch, index, kNoRun);
}

// published: the tile's own value is known to the others.
void scanOne(uint index, uint count, uint tiles, bool published) {
    bool inPlace = p.input_ == p.output_;
    Tile tile = tileAt(index, count);
    Elements elements = loadElements(tile);
    Scanned scanned = scanElements(elements);
    Run total, prefix = kNoRun;
    Run before = wgRunsBefore(scanned.total, total);
    if (!published) lookbackPublish(p.scratch, index, total.value, total.head, inPlace);
    prefix.value =
        lookbackWait(p.scratch, index, total.value, total.head, p.polls, inPlace, p.scanner != 0u);
    storeElements(tile, elements, scanned, join(prefix, before));
    if (index == tiles - 1u) storeTotal(join(prefix, total));
    wgBarrierShared(); // before lookbackWait's shared memory is written again
}

shared uint sTicket;

// Tiles that are wide, one ahead; there is a scanner. Returns three tickets that are still to be
// dealt with: after waiting for long (what is done then would take registers here) the first two
// are of tiles whose value is published; else the first is for no wide tile, and the others for
// none. The fourth number is how many tickets it took, its share at most.
uvec4 scanWideTiles(uint ticket, uint wideTiles, uint tiles) {
    bool inPlace = p.input_ == p.output_;
    uint nextTicket = ticket;
    Elements elements;
    Run total; // of the current tile, in the first subgroup
    // The first round only loads.
    for (uint round = 0u; ticket < wideTiles; round++) {
        Elements nextElements;
        if (nextTicket < wideTiles) nextElements = loadWide(nextTicket);
        Scanned scanned;
        if (round != 0u) scanned = scanElements(elements);
        Run nextRun = kNoRun, nextTotal, unused;
        if (nextTicket < wideTiles) nextRun = subgroupRun(nextElements);
        Run before = wgRunsBefore(scanned.total, nextRun, unused, nextTotal);
        // The next ticket as late as its latency can be hidden: until its tile has published,
        // others wait for it.
        uint taken = tiles;
        if (nextTicket < wideTiles) {
            lookbackPublish(p.scratch, nextTicket, nextTotal.value, nextTotal.head, inPlace);
            if (round + 1u < p.share) taken = lookbackTake(p.scratch);
        }
        if (round != 0u) lookbackAwait(p.scratch, ticket, p.polls, lookbackPeek(p.scratch, ticket));
        if (wgInvocation() == 0u) sTicket = taken;
        wgBarrierShared();

        if (round != 0u) {
            if (sLookbackNext != 0u)
                return uvec4(ticket, nextTicket, sTicket, min(round + 2u, p.share));
            Run prefix = Run(sLookbackValue, false);
            uvec2 target = add64(p.output_, mul64(ticket, kTile * kValueBytes));
            [[unroll]] for (uint row = 0u; row < kRows; row++) storeWide(
                target, rowStart(row), resultRow(elements, scanned, join(prefix, before), row));
            if (ticket == tiles - 1u) storeTotal(join(prefix, total));
        }
        ticket = nextTicket;
        elements = nextElements;
        total = nextTotal;
        nextTicket = sTicket;
    }
    return uvec4(ticket, tiles, tiles, p.share);
}

void scanTiles(uint count, uint tiles) {
    uint wideTiles = ((p.input_.x | p.output_.x) & 15u) == 0u ? count / kTile : 0u;
    uint ticket = lookbackTicket(p.scratch), taken = 1u;
    if (p.share > 1u && p.scanner != 0u && ticket < wideTiles) {
        uvec4 rest = scanWideTiles(ticket, wideTiles, tiles);
        for (uint i = 0u; i < 3u; i++)
            if (rest[i] < tiles) scanOne(rest[i], count, tiles, i < 2u && rest[i] < wideTiles);
        taken = rest.w;
        ticket = taken < p.share ? lookbackTicket(p.scratch) : tiles;
        taken++;
    }
    for (; ticket < tiles; taken++) {
        scanOne(ticket, count, tiles, false);
        ticket = taken < p.share ? lookbackTicket(p.scratch) : tiles;
    }
}

void scanMain() {
    uint workgroup = wgIndex();
    if (workgroup >= p.workgroups) return; // the grid is a rectangle and may have some more

    uint count = elementCount();
    uint tiles = max(tileCount(count), 1u); // an empty input has one empty tile, which writes the
                                            // total
    // one workgroup: one tile, nothing before it
    if (kOperation == SLUICE_SCAN_OP_SUM_F32 || p.workgroups == 1u) {
        scanOrdered(workgroup, count, tiles);
        return;
    }
    if (p.scanner != 0u && workgroup == 0u) {
        lookbackScan(p.scratch, tiles, p.polls);
    } else {
        scanTiles(count, tiles);
    }
    lookbackLeave(p.scratch);
    lookbackClean(p.scratch, p.workgroups, tiles);
}
