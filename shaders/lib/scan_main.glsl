// SPDX-License-Identifier: MIT OR Apache-2.0
// Prefix sums, minima and maxima of 32-bit and 64-bit values (scan.comp, scan64.comp), in one pass
// with decoupled look-back (lookback.glsl explains prefix, state and scanner).
//
// A workgroup takes one tile after the other and works one tile ahead: it loads the next tile and
// publishes its value before it waits for the prefix of the current one. So other workgroups do not
// wait long for a value, and the loads of a tile overlap with the wait for another.
//
// Sums of f32 depend on the order of the additions. So for f32, reduce.comp first computes the
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

// Combines the subgroup's elements by an operation for which their order does not matter. A head is
// an element with which a segment begins. Only elements from the last head on count, so each lane
// drops its elements before it.
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

// The scanned elements of a subgroup. starts[row] combines all elements of the subgroup that come
// before this invocation's elements of the row.
struct Scanned {
    Run starts[kRows];
    Run total; // all elements of the subgroup combined
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

// Returns the results for this invocation's elements of row `row`. `before` combines everything
// that comes before the subgroup's elements.
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
// for a sum of f32, from scratch, which is cleared afterwards. If there is one workgroup, it has a
// single tile, which needs no prefix. `published` is true if the tile's own value has been
// published already. Only one place calls this function, because it is long and every call is
// inlined.
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
    // The tile's entry of scratch is cleared. All invocations have read it, and have passed a
    // barrier since.
    if (kOrdered && others && wgInvocation() == 0u) storePartial(p.scratch, index, kNoRun);
    // This barrier waits until all invocations have read the shared memory of lookbackWait.
    wgBarrierShared();
}

shared uint sTicket;

// Scans wide tiles (Tile::wide) and works one tile ahead; there must be a scanner. A *ticket* is
// the number of a tile that the workgroup has taken. Returns in x, y and z the tickets of tiles
// that the caller must still scan. w is the number of tickets taken so far, at most p.share.
//
// If the scanner was too late for a tile, x is that tile, and the values of tiles x and y have been
// published. The caller then looks back, because doing so here would take too many registers.
// Otherwise x is not a wide tile, and y and z are past the last tile.
uvec4 scanWideTiles(uint ticket, uint wideTiles, uint tiles) {
    bool inPlace = p.input_ == p.output_;
    uint nextTicket = ticket;
    Elements elements;
    Run total; // the current tile's elements combined; valid in the first subgroup
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
        // The next ticket is taken as late as possible, because from then on until its tile's value
        // is published, other workgroups depend on this one. It is taken before the wait, which
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

// Scans all tiles of a workgroup. Without `tickets`, that is the tile with its own number. With
// tickets, scanWideTiles scans tiles as long as it can; the tiles that it returns are scanned here,
// before new tickets are taken.
void scanTiles(uint workgroup, uint count, uint tiles, bool tickets) {
    uint published = 0u, end = tickets ? tiles : workgroup + 1u;
    // xyz: tiles to scan; w: number of tickets taken.
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
    // A dispatch may have surplus workgroups (wgIndex).
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
