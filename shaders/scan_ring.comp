// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans many 32-bit values: sums without segments, with the results of scan.comp. It needs
// subgroups of 16 or 32 lanes and a device where a workgroup that has started goes on making
// progress. lib/lookback.glsl explains state, prefix and scanner.
//
// The prefix of a tile is known some microseconds after the tile's value has been published.
// Meanwhile the workgroup works on the next tiles, and the scanned elements of the tile wait in
// registers or in a ring buffer in shared memory, where each invocation has its own entries. One
// *round* brings in a tile and stores an older one.
//
// SLUICE_CONSTANT_SCAN_RING_SHARED is the number of rounds that a tile waits in shared memory, 1 or
// more. SLUICE_CONSTANT_SCAN_RING_REGISTERS is the number of rounds that it waits in registers
// before, 0 or 1.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_SCAN_RING
#include "lib/loops.glsl"
#include "lib/scan_tile.glsl"

#ifdef SLUICE_EMU
// Nothing uses this variant, since it has no subgroups; scan.comp serves such devices.
void main() {}
#else
#include "lib/lookback.glsl"

layout(constant_id = SLUICE_CONSTANT_SCAN_RING_SHARED) const uint kRingShared = 2u;
layout(constant_id = SLUICE_CONSTANT_SCAN_RING_REGISTERS) const uint kRingRegisters = 0u;
const uint kRingRounds = kRingShared + kRingRegisters; // rounds from a tile's scan to its store

shared uvec4 sRing[kRingShared * kRows * gl_WorkGroupSize.x];
#include "lib/ring.glsl"

// Returns the address of this invocation's first row of a whole tile; `base` is the address of the
// input or the output.
uvec2 ringRow(uvec2 base, uint tile) {
    return add64(add64(base, mul64(tile, kTile * kValueBytes)), rowStart(0u) * kValueBytes);
}

// -----------------------------------------------------------------------------------------------
// The prefix of a tile, where the scanner is too late

// Returns the sum of a whole tile's input, which the calling invocation adds up alone. The loop is
// not unrolled because the caller has few registers to spare.
uint ringTile(uint tile) {
    uvec2 base = add64(p.input_, mul64(tile, kTile * kValueBytes));
    uint value = 0u;
    SLUICE_DONT_UNROLL
    for (uint i = 0u; i < kTile / 4u; i++) {
        uvec4 v = VectorsIn(base).v[i];
        value += v.x + v.y + v.z + v.w;
    }
    return value;
}

// Returns the prefix of `tile`, by looking back. It adds up the states of the tiles before, and the
// input of tiles that publish nothing. It stores the prefix as the inclusive state of tile - 1,
// where later tiles find it. The scanner stops when it reaches that state.
uint ringLookBack(LookbackStates states, uint tile) {
    uint prefix = 0u, idle = 0u;
    SLUICE_DONT_UNROLL
    for (uint next = tile; next != 0u;) {
        uint value, state = lookbackUnpack(states.s[next - 1u], value);
        if (state == 0u && idle++ >= p.polls) {
            uint own = ringTile(next - 1u);
            // If the operation works in place, the input may have been overwritten. But then its
            // tile has published its state, and that is used.
            memoryBarrierBuffer();
            state = lookbackUnpack(states.s[next - 1u], value);
            if (state == 0u) {
                value = own;
                state = kTileOwn;
            }
        }
        if (state != 0u) {
            prefix += value;
            next = state == kTileWhole ? 0u : next - 1u;
            idle = 0u;
        }
    }
    states.s[tile - 1u] = lookbackPack(prefix, kTileWhole);
    return prefix;
}

// -----------------------------------------------------------------------------------------------

// Takes tickets and scans their tiles, as long as these are below `tiles`, the number of tiles that
// go through the ring.
void ringTiles(LookbackStates states, uint tiles) {
    if (takesTickets()) sRingTicket[0] = ringTake();
    wgBarrierShared();
    uint ticket = sRingTicket[0];
    bool inPlace = p.input_ == p.output_, inclusive = p.kind == SLUICE_KIND_INCLUSIVE;
    // The tiles of the last four rounds, the most recent first.
    uint h0 = tiles, h1 = tiles, h2 = tiles, h3 = tiles;
    // The shader takes 80 registers for an invocation on NVIDIA (driver 580). With one more, a
    // multiprocessor would hold one workgroup less.
    uint taken = ticket, slot = 0u, turn = 1u;
    if (takesTickets() && ticket < tiles) taken = ringTake();
    uvec4 next[kRows], held[kRows];
    {
        VectorsIn first = VectorsIn(ringRow(p.input_, ticket < tiles ? ticket : 0u));
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++) {
            next[row] = first.v[row * kSubgroupSize];
            held[row] = uvec4(0u);
        }
    }
    for (uint round = 0u;; round++) {
        uint current = kRingRounds == 1u   ? h0
                       : kRingRounds == 2u ? h1
                       : kRingRounds == 3u ? h2
                                           : h3;
        if (round >= kRingRounds && current >= tiles) return;
        bool loads = ticket < tiles, stores = current < tiles;

        uint before[kRows], totals[kRows], total = 0u;
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++) {
            totals[row] = next[row].x + next[row].y + next[row].z + next[row].w;
            before[row] = 0u;
        }
#define SLUICE_STEP(reach)                                                                         \
    SLUICE_UNROLL                                                                                  \
    for (uint row = 0u; row < kRows; row++)                                                        \
        ringStep(reach, kSubgroupSize, before[row], totals[row]);
        SLUICE_STEP(1u)
        SLUICE_STEP(2u)
        SLUICE_STEP(4u)
        SLUICE_STEP(8u)
        SLUICE_STEP(16u)
        SLUICE_STEP(32u)
        SLUICE_STEP(64u)
#undef SLUICE_STEP
        uvec4 scanned[kRows];
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++) {
            uvec4 x = next[row], own = inclusive ? x : uvec4(0u, x.xyz);
            scanned[row].x = total + before[row] + own.x;
            scanned[row].y = scanned[row].x + own.y;
            scanned[row].z = scanned[row].y + own.z;
            scanned[row].w = scanned[row].z + own.w;
            total += totals[row];
        }
        if (sgLane() == 0u) sRingTotals[turn][sgIndex()] = total;
        if (takesTickets()) sRingTicket[turn] = taken;
        wgBarrierShared();

        uint following = sRingTicket[turn], all, base = ringBefore(turn, all);
        if (wgInvocation() == 0u && loads) states.s[ticket] = lookbackPack(all, kTileOwn);
        // A workgroup that reads input which this one overwrites below must see the state above,
        // too. It then uses the state instead of that input.
        if (inPlace) memoryBarrierBuffer();
        LookbackState seen = lookbackPack(0u, kTileWhole);
        if (stores && current != 0u) seen = states.s[current - 1u];
        VectorsIn first = VectorsIn(ringRow(p.input_, following < tiles ? following : 0u));
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++)
            next[row] = first.v[row * kSubgroupSize];
        uvec4 oldest[kRows];
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++) {
            uvec4 x = base + scanned[row];
            uint at = (slot * kRows + row) * gl_WorkGroupSize.x + wgInvocation();
            oldest[row] = sRing[at];
            sRing[at] = kRingRegisters == 0u ? x : held[row];
            held[row] = x;
        }
        // The next ticket is taken early: its tile is loaded in the next round, and the atomic has
        // returned by then.
        taken = following;
        if (takesTickets() && following < tiles) taken = ringTake();
        uint prefix;
        if (!ringComes(states, current, seen, prefix)) prefix = ringLookBack(states, current);
        if (stores) {
            VectorsOut target = VectorsOut(ringRow(p.output_, current));
            SLUICE_UNROLL
            for (uint row = 0u; row < kRows; row++)
                target.v[row * kSubgroupSize] = prefix + oldest[row];
        }
        slot = slot + 1u >= kRingShared ? 0u : slot + 1u;
        turn ^= 1u;
        h3 = h2;
        h2 = h1;
        h1 = h0;
        h0 = ticket;
        ticket = following;
    }
}

// Scans the last tile, which may be incomplete, and stores the total. It goes row by row, which
// takes little code. Its speed does not matter, since this is one of many tiles.
void ringLast(LookbackStates states, Tile tile, bool inclusive) {
    LookbackState seen = lookbackPack(0u, kTileWhole);
    if (tile.index != 0u) seen = states.s[tile.index - 1u];
    uint prefix, own = 0u, all;
    if (!ringComes(states, tile.index, seen, prefix)) prefix = ringLookBack(states, tile.index);
    SLUICE_DONT_UNROLL
    for (uint row = 0u; row < kRows; row++)
        own += subgroupAdd(rowRun(loadRow(tile, row), 0u).value);
    // This barrier waits until all invocations have read sRingTotals for the ring.
    wgBarrierShared();
    if (sgLane() == 0u) sRingTotals[0][sgIndex()] = own;
    wgBarrierShared();
    uint running = prefix + ringBefore(0u, all);
    uvec2 target = add64(p.output_, mul64(tile.index, kTile * kValueBytes));
    SLUICE_DONT_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        Row values = loadRow(tile, row);
        uint total, at = running + ringExclusive(rowRun(values, 0u).value, kSubgroupSize, total);
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerRow; i++) {
            uint after = at + values.x[i];
            values.x[i] = inclusive ? after : at;
            at = after;
        }
        running += total;
        storeRow(tile, target, row, values);
    }
    all += prefix;
    if (wgInvocation() == 0u && p.total != uvec2(0u)) storeValue(p.total, 0u, all);
}

void main() {
    uint count = elementCount(), tiles = max(tileCount(count), 1u);
    // Tiles below wideTiles go through the ring. If a total is wanted, the last tile does not,
    // because ringLast stores the total.
    uint wideTiles = p.total != uvec2(0u) ? (max(count, 1u) - 1u) / kTile : count / kTile;
    LookbackStates states = lookbackStates(p.scratch);
    if (gl_WorkGroupID.x == 0u) {
        ringScan(states, wideTiles);
        if (wideTiles < tiles)
            ringLast(states, tileAt(wideTiles, count), p.kind == SLUICE_KIND_INCLUSIVE);
    } else if (wideTiles != 0u) {
        ringTiles(states, wideTiles);
    }
    lookbackLeave(p.scratch);
    ringClean(p.workgroups, tiles);
}
#endif
