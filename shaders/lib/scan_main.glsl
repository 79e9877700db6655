// SPDX-License-Identifier: MIT OR Apache-2.0
// Prefix sums, minima and maxima of 32-bit and 64-bit values (scan.comp, scan64.comp), in one pass
// with decoupled look-back (lookback.glsl explains prefix, state and scanner).
//
// A workgroup takes one tile after the other and works one tile ahead: it loads the next tile and
// publishes its value before it waits for the prefix of the current one. So other workgroups do not
// wait long for a value, and the loads of a tile overlap with the wait for another.
//
// Sums of f32 depend on the order of the additions. For these, reduce.comp first computes the
// prefixes of all tiles, always in the same order, and there is no look-back. src/cuda/scan.cu says
// how CUDA differs.
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

// Returns the run of the subgroup's elements, for commutative operations. With segments, only the
// elements from the last head on count: each lane drops its elements before that head, and then the
// order of the others does not matter.
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

// The scanned elements of a subgroup: starts[row] is the run of all of its elements that come
// before this invocation's elements of that row.
struct Scanned {
    Run starts[kRows];
    Run total; // the run of the subgroup
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

// Returns the results of this invocation's elements of a row. `before` is the run of everything
// before the subgroup's elements.
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

// Stores the results of a tile.
void storeElements(Tile tile, Elements e, Scanned s, Run before) {
    uvec2 target = add64(p.output_, mul64(tile.index, kTile * kValueBytes));
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++)
        storeRow(tile, target, row, resultRow(e, s, before, row));
}

// Stores the combined value of all elements, if the caller wants it.
void storeTotal(Run all) {
    if (wgInvocation() == 0u && p.total != uvec2(0u))
        storeValue(p.total, 0u, kOperation == SLUICE_SCAN_OP_MAX ? decode(all.value) : all.value);
}

// The whole workgroup scans tile `index` of `tiles`. The tile's prefix comes from the look-back or,
// for a sum of f32, from scratch, which is cleared afterwards. A workgroup that runs alone has a
// single tile, which needs no prefix. `published` says that the tile's own value has been published
// already. The function is called in one place only, because it is long and every call is inlined.
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
    // All invocations have read this entry of scratch, since they have passed a barrier after it.
    if (kOrdered && others && wgInvocation() == 0u) storePartial(p.scratch, index, kNoRun);
    // This barrier waits until all invocations have read the shared memory of lookbackWait.
    wgBarrierShared();
}

shared uint sTicket;

// Scans wide tiles (scan_tile.glsl), working one tile ahead; there must be a scanner. Returns in x,
// y and z the tickets of tiles that the caller must still scan, and in w how many tickets were
// taken, at most p.share.
//
// If the scanner is too late for a tile, x is that tile, and the values of tiles x and y have been
// published. The caller then looks back, because doing so here would take too many registers.
// Otherwise x is not a wide tile, and y and z lie behind the last tile.
uvec4 scanWideTiles(uint ticket, uint wideTiles, uint tiles) {
    bool inPlace = p.input_ == p.output_;
    uint nextTicket = ticket;
    Elements elements;
    Run total; // the run of the current tile; valid in the first subgroup
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
        // The next ticket is taken as late as possible, because other workgroups depend on this one
        // from then on until the tile's value is published. It is taken before the wait, which
        // hides the latency of the atomic.
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

// Scans all tiles of a workgroup: the tile of its own number, or tiles by ticket. With tickets,
// scanWideTiles scans tiles as long as it can; the tiles that it returns are scanned here, before
// new tickets are taken.
void scanTiles(uint workgroup, uint count, uint tiles, bool tickets) {
    uint published = 0u, end = tickets ? tiles : workgroup + 1u;
    // Three tiles to scan, and the number of tickets taken.
    uvec4 next = uvec4(workgroup, end, end, p.share);
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
    // A dispatch may have more workgroups than the list (wgIndex).
    if (workgroup >= p.workgroups) return;

    uint count = elementCount();
    // An empty input has one empty tile, so that the total is written.
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
