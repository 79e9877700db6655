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
#if !defined(SLUICE_EMU) && !defined(SLUICE_VALUE64)
    if (kSimple) {
        uvec4 own, totals;
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            own[row] = rowRun(e.rows[row], 0u).value;
        uvec4 before = sgExclusive4(own, totals);
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            s.starts[row] = Run(combine(s.total.value, before[row]), false);
            s.total.value = combine(s.total.value, totals[row]);
        }
        return s;
    }
#endif
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
    if (tile.wide) {
        uvec2 first = firstRow(p.output_, tile.index);
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            storeWide(first, row, resultRow(e, s, before, row));
    } else {
        uvec2 target = add64(p.output_, mul64(tile.index, kTile * kValueBytes));
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            storeRow(tile, target, row, resultRow(e, s, before, row));
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

// published: the tile's own value is known to the others.
void scanOne(uint index, uint count, uint tiles, bool published) {
    bool inPlace = p.input_ == p.output_;
    Tile tile = tileAt(index, count);
    Elements elements = loadElements(tile);
    Scanned scanned = scanElements(elements);
    Run total, prefix = kNoRun;
    Run before = wgRunsBefore(scanned.total, total);
    if (!published)
        lookbackPublish(p.scratch, index, total.value, total.head, inPlace);
    prefix.value = lookbackWait(p.scratch, index, total.value, total.head, p.polls, inPlace, p.scanner != 0u);
    storeElements(tile, elements, scanned, join(prefix, before));
    if (index == tiles - 1u)
        storeTotal(join(prefix, total));
    wgBarrierShared(); // before lookbackWait's shared memory is written again
}

shared uint sTicket;

// Not the invocation that publishes and waits.
bool takesTickets() { return wgInvocation() == gl_WorkGroupSize.x - 1u; }

shared uvec4 sLate;

// Tiles that are wide, one ahead; there is a scanner. Returns three tickets that are still to be dealt with: after waiting
// for long (what is done then would take registers here) the first two are of tiles whose value is published; else the
// first is for no wide tile, and the others for none. The fourth number is how many tickets it took, its share at most.
//
// Rounds without a tile to load load the first one and write nothing. The only branch around subgroup operations is the
// loop's own, on a ballot: at every other one NVIDIA's compiler (580) computes anew which lanes are there.
uvec4 scanWideTiles(uint ticket, uint wideTiles, uint tiles) {
    bool inPlace = p.input_ == p.output_, late = false;
    uint current = tiles; // the tile that waits for what lies before it
    Elements elements;
    Scanned scanned;
    Run before, total;
    for (uint round = 0u; sgUniform(min(ticket, current) < wideTiles); round++) {
        bool loads = ticket < wideTiles, stores = current < wideTiles;
        Elements nextElements = loadWide(loads ? ticket : 0u);
        LookbackState seen = lookbackPeek(p.scratch, stores ? current : 0u);
        Scanned nextScanned = scanElements(nextElements);
        // As late as its latency can be hidden: until its tile has published, others wait for it.
        uint taken = tiles;
        if (takesTickets() && loads && round + 1u < p.share)
            taken = lookbackTakeAlone(p.scratch);
        Run nextTotal, nextBefore = wgRunsBefore(nextScanned.total, nextTotal);
        if (loads)
            lookbackPublish(p.scratch, ticket, nextTotal.value, nextTotal.head, inPlace);
        if (stores)
            lookbackAwait(p.scratch, current, p.polls, seen);
        if (takesTickets())
            sTicket = taken;
        wgBarrierShared();

        uint following = sTicket;
        bool waited = stores && sLookbackNext == 0u;
        if (waited) {
            Run prefix = Run(sLookbackValue, false);
            uvec2 first = firstRow(p.output_, current);
            [[unroll]] for (uint row = 0u; row < kRows; row++)
                storeWide(first, row, resultRow(elements, scanned, join(prefix, before), row));
            if (current == tiles - 1u)
                storeTotal(join(prefix, total));
        } else if (stores) {
            if (wgInvocation() == 0u)
                sLate = uvec4(current, ticket, loads ? following : tiles, min(round + 2u, p.share));
            late = true;
            loads = false;
            ticket = tiles;
        }
        current = loads ? ticket : tiles;
        ticket = loads ? following : ticket;
        elements = nextElements;
        scanned = nextScanned;
        before = nextBefore;
        total = nextTotal;
    }
    wgBarrierShared();
    return late ? sLate : uvec4(ticket, tiles, tiles, p.share);
}

void scanTiles(uint workgroup, uint count, uint tiles) {
    if (p.share == 1u) { // a tile a workgroup, without tickets
        uint index = workgroup - p.scanner;
        if (index < tiles)
            scanOne(index, count, tiles, false);
        return;
    }
    uint wideTiles = ((p.input_.x | p.output_.x) & 15u) == 0u ? count / kTile : 0u;
    uint ticket = lookbackTicket(p.scratch), taken = 1u;
    if (p.scanner != 0u && wideTiles != 0u) {
        uvec4 rest = scanWideTiles(ticket, wideTiles, tiles);
        for (uint i = 0u; i < 3u; i++)
            if (rest[i] < tiles)
                scanOne(rest[i], count, tiles, i < 2u && rest[i] < wideTiles);
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
    uint workgroup = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    if (workgroup >= p.workgroups)
        return; // the grid is a rectangle and may have some more

    uint count = elementCount();
    uint tiles = max(tileCount(count), 1u); // an empty input has one empty tile, which writes the total
    if (kOperation == SLUICE_SCAN_OP_SUM_F32 || p.workgroups == 1u) { // one workgroup: one tile, nothing before it
        scanOrdered(workgroup, count, tiles);
        return;
    }
    if (p.scanner != 0u && workgroup == 0u) {
        lookbackScan(p.scratch, tiles, p.polls);
    } else {
        scanTiles(workgroup, count, tiles);
    }
    lookbackLeave(p.scratch);
    lookbackClean(p.scratch, p.workgroups, tiles);
}
