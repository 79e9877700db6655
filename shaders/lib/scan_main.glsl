// SPDX-License-Identifier: MIT OR Apache-2.0
// scan.comp and scan64.comp: prefix sums, minima and maxima in one pass with decoupled look-back.
//
// A workgroup takes one tile after the other and works one tile ahead: it loads the next tile and
// publishes its value before it waits for the prefix of the current tile. So other workgroups do
// not wait long for a value, and the loads of one tile overlap with the wait of another.
//
// Sums of f32 depend on the order of the additions, so reduce.comp first adds up the tiles' sums in
// a fixed order. src/cuda/scan.cu describes how CUDA differs.
#include "loops.glsl"
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
    SLUICE_DONT_UNROLL
    for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1)
        value = combine(value, subgroupShuffle(value, gl_SubgroupInvocationID ^ reach));
    return value;
#else
    return kOperation == SLUICE_SCAN_OP_SUM ? subgroupAdd(value) : subgroupMax(value);
#endif
}
Value lookbackInclusiveLanes(Value value) {
#ifdef SLUICE_VALUE64
    SLUICE_UNROLL
    for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) {
        Value below = subgroupShuffle(value, max(gl_SubgroupInvocationID, reach) - reach);
        if (gl_SubgroupInvocationID >= reach) value = combine(below, value);
    }
    return value;
#else
    return kOperation == SLUICE_SCAN_OP_SUM ? subgroupInclusiveAdd(value) : sgInclusiveMax(value);
#endif
}
#endif
#include "lib/lookback.glsl"

// For sums of f32 a workgroup has a single tile, whose prefix reduce.comp has computed.
const bool kOrdered = kOperation == SLUICE_SCAN_OP_SUM_F32;

bool lookbackTile(uint index, out Value value) {
    Run total = tileRun(tileAt(index, elementCount()));
    value = total.value;
    return total.head;
}

// Joins the elements of the subgroup, for commutative operations. With segments, only the elements
// from the last head on matter. Each lane therefore drops its elements before that head, and the
// order of the remaining ones does not matter.
Run subgroupRun(Elements e) {
    Run run = kNoRun;
#ifdef SLUICE_EMU
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        Run own = rowRun(e.rows[row], e.heads[row]);
        run = join(run, kSegmented ? sgJoinedRun(own) : own);
    }
    return kSegmented ? run : sgJoinedRun(run);
#else
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        Run own = rowRun(e.rows[row], e.heads[row]);
        uvec4 heads = kSegmented ? subgroupBallot(own.head) : uvec4(0u);
        bool any = heads != uvec4(0u), follows = (heads & gl_SubgroupGtMask) == uvec4(0u);
        Value counts = follows ? own.value : kIdentity;
        run.value = any ? counts : combine(run.value, counts);
        run.head = run.head || any;
    }
    run.value = lookbackCombineLanes(run.value);
    return run;
#endif
}

// The scanned elements of a subgroup. starts[row] joins all of its elements that come before this
// invocation's elements in that row.
struct Scanned {
    Run starts[kRows];
    Run total; // of the subgroup
};

Scanned scanElements(Elements e) {
    Scanned s;
    s.total = kNoRun;
    Run runs[kRows];
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++)
        runs[row] = rowRun(e.rows[row], e.heads[row]);
    runs = sgInclusiveRows(runs);
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        Run rowTotal;
        s.starts[row] = join(s.total, sgRunBefore(runs[row], rowTotal));
        s.total = join(s.total, rowTotal);
    }
    return s;
}

// Computes the results of a row; `before` joins everything before the subgroup's elements.
Row resultRow(Elements e, Scanned s, Run before, uint row) {
    bool inclusive = p.kind == SLUICE_KIND_INCLUSIVE;
    Run running = join(before, s.starts[row]);
    Row result;
    SLUICE_UNROLL
    for (uint i = 0u; i < kPerRow; i++) {
        bool head = kSegmented && (e.heads[row] >> i & 1u) != 0u;
        Run next = join(running, Run(e.rows[row].x[i], head));
        result.x[i] = inclusive ? next.value : head ? kIdentity : running.value;
        running = next;
    }
    return decodeRow(result);
}

void storeElements(Tile tile, Elements e, Scanned s, Run before) {
    uvec2 target = add64(p.output_, mul64(tile.index, kTile * kValueBytes));
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++)
        storeRow(tile, target, row, resultRow(e, s, before, row));
}

void storeTotal(Run all) {
    if (wgInvocation() == 0u && p.total != uvec2(0u))
        storeValue(p.total, 0u, kOperation == SLUICE_SCAN_OP_MAX ? decode(all.value) : all.value);
}

// The whole workgroup scans a tile. The function is called in one place only, because it is long
// and every call is inlined. The tile's prefix comes from the look-back. For a sum of f32 it comes
// from scratch, which is cleared afterwards. A workgroup that runs alone has a single tile, which
// needs no prefix.
//   published  other workgroups know the tile's own value
void scanOne(uint index, uint count, uint tiles, bool published) {
    bool inPlace = p.input_ == p.output_, others = p.workgroups > 1u;
    Tile tile = tileAt(index, count);
    Run total, prefix = kNoRun;
    if (kOrdered && others) prefix.value = loadPartial(p.scratch, index).value;
    Elements elements = loadElements(tile);
    Scanned scanned = scanElements(elements);
    Run before = wgRunsBefore(scanned.total, total);
    if (!kOrdered && others) {
        if (!published) lookbackPublish(p.scratch, index, total.value, total.head, inPlace);
        prefix.value = lookbackWait(p.scratch, index, total.value, total.head, p.polls, inPlace,
                                    p.scanner != 0u);
    }
    storeElements(tile, elements, scanned, join(prefix, before));
    if (index == tiles - 1u) storeTotal(join(prefix, total));
    if (kOrdered && others && wgInvocation() == 0u) // a barrier has followed since all lanes read
                                                    // it
        storePartial(p.scratch, index, kNoRun);
    wgBarrierShared(); // all have read lookbackWait's shared memory
}

shared uint sTicket;

// Scans wide tiles with look-ahead, if there is a scanner. Returns three tickets that the caller
// must still process and the number of tickets taken, which is at most the share. If a wait for the
// scanner times out, the caller does the look-back, since it would take too many registers here;
// then the values of the first two tickets' tiles are already published. Otherwise the first ticket
// is not that of a wide tile, and the other two lie past the last tile.
uvec4 scanWideTiles(uint ticket, uint wideTiles, uint tiles) {
    bool inPlace = p.input_ == p.output_;
    uint nextTicket = ticket;
    Elements elements;
    Run total; // of the current tile, in the first subgroup
    // The first round only loads.
    for (uint round = 0u; sgUniform(ticket < wideTiles); round++) {
        bool loading = sgUniform(nextTicket < wideTiles);
        Elements nextElements;
        if (loading) nextElements = loadWide(nextTicket);
        Scanned scanned;
        if (round != 0u) scanned = scanElements(elements);
        Run nextRun = kNoRun, nextTotal, ignored;
        if (loading) nextRun = subgroupRun(nextElements);
        Run before = wgRunsBefore(scanned.total, nextRun, ignored, nextTotal);
        // The next ticket is taken as late as possible, but early enough to hide the latency of the
        // atomic: other workgroups depend on its tile from the moment the ticket is taken until the
        // tile's value is published.
        uint taken = tiles;
        if (loading) {
            lookbackPublish(p.scratch, nextTicket, nextTotal.value, nextTotal.head, inPlace);
            if (round + 1u < p.share) taken = lookbackTake(p.scratch);
        }
        if (round != 0u) lookbackAwait(p.scratch, ticket, p.polls, lookbackPeek(p.scratch, ticket));
        if (wgInvocation() == 0u) sTicket = taken;
        wgBarrierShared();

        if (round != 0u) {
            if (sgUniform(sLookbackNext != 0u))
                return uvec4(ticket, nextTicket, sTicket, min(round + 2u, p.share));
            Run prefix = Run(sLookbackValue, false);
            uvec2 target = add64(p.output_, mul64(ticket, kTile * kValueBytes));
            SLUICE_UNROLL
            for (uint row = 0u; row < kRows; row++)
                storeWide(target, rowStart(row),
                          resultRow(elements, scanned, join(prefix, before), row));
            if (ticket == tiles - 1u) storeTotal(join(prefix, total));
        }
        ticket = nextTicket;
        elements = nextElements;
        total = nextTotal;
        nextTicket = sTicket;
    }
    return uvec4(ticket, tiles, tiles, p.share);
}

// Scans all tiles of a workgroup: either the tile of the workgroup's own index, or tiles by ticket.
// Tickets that scanWideTiles returns come first.
void scanTiles(uint workgroup, uint count, uint tiles, bool tickets) {
    uint published = 0u, end = tickets ? tiles : workgroup + 1u;
    uvec4 next = uvec4(workgroup, end, end, p.share); // tiles to do, and tickets taken
    if (tickets) {
        next = uvec4(lookbackTicket(p.scratch), tiles, tiles, 1u);
        uint wideTiles = ((p.input_.x | p.output_.x) & 15u) == 0u ? count / kTile : 0u;
        if (sgUniform(p.share > 1u && p.scanner != 0u && next.x < wideTiles)) {
            next = scanWideTiles(next.x, wideTiles, tiles);
            published = uint(next.x < wideTiles) + uint(next.x < wideTiles && next.y < wideTiles);
        }
    }
    while (sgUniform(next.x < end)) {
        scanOne(next.x, count, tiles, published != 0u);
        published -= min(published, 1u);
        next.xyz = uvec3(next.yz, end);
        if (sgUniform(tickets && next.x >= end && next.w < p.share)) {
            next.x = lookbackTicket(p.scratch);
            next.w++;
        }
    }
}

void scanMain() {
    uint workgroup = wgIndex();
    if (workgroup >= p.workgroups) return; // see wgIndex

    uint count = elementCount();
    // An empty input has one empty tile, which writes the total.
    uint tiles = max(tileCount(count), 1u);
    bool looksBack = !kOrdered && p.workgroups > 1u;
    if (looksBack && p.scanner != 0u && workgroup == 0u)
        lookbackScan(p.scratch, tiles, p.polls);
    else
        scanTiles(workgroup, count, tiles, looksBack);
    if (looksBack) {
        lookbackLeave(p.scratch);
        lookbackClean(p.scratch, p.workgroups, tiles);
    }
}
