// SPDX-License-Identifier: MIT OR Apache-2.0
// scan_ring.comp: tiles that wait for what lies before them.
//
// A tile's place is known some microseconds after its sum is published. Meanwhile the tile, scanned in itself, waits in shared
// memory, each invocation's part for itself, or in registers, and the workgroup works on the next ones: so nobody ever waits,
// and memory has loads and stores to do all the time.
//
// Where the scanner does not come in time, tiles are written as they are, without what lies before them, which is added once
// the look-back has found it.
//
// Specialization constants: 3 = tiles in shared memory (1 to 3), 4 = tiles in registers before that (0 or 1).
#ifndef SLUICE_SCAN_RING_GLSL
#define SLUICE_SCAN_RING_GLSL

layout(constant_id = 3) const uint kRingShared = 1u;
layout(constant_id = 4) const uint kRingRegisters = 1u;
const uint kRingRounds = kRingShared + kRingRegisters; // from a tile's load to its store

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Vectors {
    uvec4 v[];
};

shared uvec4 sRing[kRingShared * kRows * gl_WorkGroupSize.x];
// Halves are used in turn, so that one barrier a round is enough.
shared uint sRingTotals[2][kSubgroups];
shared uint sRingTicket[2];
shared uint sRingLate[2]; // one more than the first tile that was written too early; 0
shared uint sRingUndone[kRingRounds + 2u];

uvec4 encodeVector(uvec4 v) {
    if (kOperation == SLUICE_SCAN_OP_MAX)
        return uvec4(encode(v.x), encode(v.y), encode(v.z), encode(v.w));
    return v;
}
uvec4 decodeVector(uvec4 v) {
    if (kOperation == SLUICE_SCAN_OP_MAX)
        return uvec4(decode(v.x), decode(v.y), decode(v.z), decode(v.w));
    return v;
}

uint sgCombined(uint value) { return kOperation == SLUICE_SCAN_OP_SUM ? subgroupAdd(value) : subgroupMax(value); }

// What the subgroups below this one have in sRingTotals, and all.
uint ringBefore(uint turn, out uint all) {
    uint before = kIdentity;
    if (kSubgroups <= kSubgroupSize) {
        uint one = sgLane() < kSubgroups ? sRingTotals[turn][min(sgLane(), kSubgroups - 1u)] : kIdentity;
        all = sgCombined(one);
        return sgCombined(sgLane() < sgIndex() ? one : kIdentity);
    }
    all = kIdentity;
    for (uint i = 0u; i < kSubgroups; i++) {
        before = i == sgIndex() ? all : before;
        all = combine(all, sRingTotals[turn][i]);
    }
    return before;
}

// The elements of a row of this invocation, scanned, behind `before`.
uvec4 scannedVector(uvec4 v, uint before, bool inclusive) {
    uint a = combine(before, v.x), b = combine(a, v.y), c = combine(b, v.z);
    return inclusive ? uvec4(a, b, c, combine(c, v.w)) : uvec4(before, a, b, c);
}

// Adds what lies before a tile to what this invocation wrote of it.
void ringFinish(uint tile, uint prefix) {
    uvec2 first = firstRow(p.output_, tile);
    [[unroll]] for (uint row = 0u; row < kRows; row++) {
        uvec4 x = Vectors(first).v[row * kSubgroupSize];
        Vectors(first).v[row * kSubgroupSize] = decodeVector(combine4(uvec4(prefix), x));
    }
}

// Wide tiles from `ticket`, which is one, on. Returns a ticket of another tile (or none, `tiles`) and how many it took.
uvec2 scanRing(uint ticket, uint wideTiles, uint tiles) {
    bool inPlace = p.input_ == p.output_, inclusive = p.kind == SLUICE_KIND_INCLUSIVE;
    bool late = false, early = false; // the workgroup knows that it is late; this invocation wrote too early
    LookbackStates states = lookbackStates(p.scratch);
    uint rest = tiles, undone = 0u, slot = 0u, turn = 1u, round = 0u;
    uint h0 = tiles, h1 = tiles, h2 = tiles, h3 = tiles; // tiles of the rounds before
    uvec4 next[kRows], held[kRows];
    {
        uvec2 first = firstRow(p.input_, ticket);
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            next[row] = VectorsIn(first).v[row * kSubgroupSize];
            held[row] = uvec4(0u);
        }
    }
    if (wgInvocation() == 0u)
        sRingLate[0] = sRingLate[1] = 0u;
    for (;; round++) {
        uint current = kRingRounds == 1u ? h0 : kRingRounds == 2u ? h1 : kRingRounds == 3u ? h2 : h3;
        if (round >= kRingRounds && current >= tiles)
            break;
        bool loads = ticket < tiles, stores = current < tiles;
        uint taken = tiles;
        if (takesTickets() && loads && round + 1u < p.share)
            taken = lookbackTakeAlone(p.scratch);

        uint before[kRows], totals[kRows], total = kIdentity;
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            next[row] = encodeVector(next[row]);
            totals[row] = combine(combine(next[row].x, next[row].y), combine(next[row].z, next[row].w));
            before[row] = kIdentity;
        }
#define SLUICE_STEP(reach) \
    [[unroll]] for (uint row = 0u; row < kRows; row++) sgExclusiveStep(reach, kSubgroupSize, before[row], totals[row]);
        SLUICE_STEP(1u) SLUICE_STEP(2u) SLUICE_STEP(4u) SLUICE_STEP(8u) SLUICE_STEP(16u) SLUICE_STEP(32u) SLUICE_STEP(64u)
#undef SLUICE_STEP
        uvec4 scanned[kRows];
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            scanned[row] = scannedVector(next[row], combine(total, before[row]), inclusive);
            total = combine(total, totals[row]);
        }
        if (sgLane() == 0u)
            sRingTotals[turn][sgIndex()] = total;
        if (takesTickets())
            sRingTicket[turn] = taken;
        wgBarrierShared();

        uint following = sRingTicket[turn], failed = late ? 0u : sRingLate[turn], all, base = ringBefore(turn, all);
        if (failed != 0u) {
            if (wgInvocation() == 0u)
                sRingUndone[0] = failed - 1u;
            undone = 1u;
            late = true;
        }
        bool ends = late || following >= wideTiles;
        rest = ends ? min(rest, following) : rest;
        following = ends ? tiles : following;
        if (loads)
            lookbackPublish(p.scratch, ticket, all, false, inPlace);
        LookbackState seen = lookbackPack(kIdentity, kTileWhole);
        if (stores && current != 0u && !late)
            seen = states.s[current - 1u];
        uvec2 first = firstRow(p.input_, following < tiles ? following : 0u);
        [[unroll]] for (uint row = 0u; row < kRows; row++)
            next[row] = VectorsIn(first).v[row * kSubgroupSize];
        uvec4 oldest[kRows];
        [[unroll]] for (uint row = 0u; row < kRows; row++) {
            uvec4 x = combine4(uvec4(base), scanned[row]);
            uint at = (slot * kRows + row) * gl_WorkGroupSize.x + wgInvocation();
            oldest[row] = sRing[at];
            sRing[at] = kRingRegisters == 0u ? x : held[row];
            held[row] = x;
        }
        uint prefix, state = lookbackUnpack(seen, prefix);
        for (uint i = 0u; i < p.polls && state != kTileWhole; i++)
            state = lookbackUnpack(states.s[current - 1u], prefix);
        if (stores) {
            bool known = state == kTileWhole && !late;
            if (late) {
                if (wgInvocation() == 0u)
                    sRingUndone[min(undone, kRingRounds + 1u)] = current;
                undone++;
            } else if (!known) {
                sRingLate[turn ^ 1u] = current + 1u;
                early = true;
            }
            uvec2 target = firstRow(p.output_, current);
            [[unroll]] for (uint row = 0u; row < kRows; row++) {
                uvec4 x = oldest[row];
                if (known)
                    x = decodeVector(combine4(uvec4(prefix), x));
                VectorsOut(target).v[row * kSubgroupSize] = x;
            }
        }
        slot = slot + 1u >= kRingShared ? 0u : slot + 1u;
        turn ^= 1u;
        h3 = h2;
        h2 = h1;
        h1 = h0;
        h0 = ticket;
        ticket = following;
    }
    wgBarrierShared();
    if (!late && sRingLate[turn] != 0u) {
        if (wgInvocation() == 0u)
            sRingUndone[0] = sRingLate[turn] - 1u;
        undone = 1u;
    }
    wgBarrierShared();
    for (uint i = 0u; i < min(undone, kRingRounds + 2u); i++) {
        uint prefix = lookbackWait(p.scratch, sRingUndone[i], kIdentity, true, p.polls, inPlace, false);
        if (i != 0u || early)
            ringFinish(sRingUndone[i], prefix);
        wgBarrierShared();
    }
    return uvec2(rest, round - kRingRounds + (rest < tiles ? 1u : 0u));
}

// The scanner, by the whole of workgroup 0: all states but that of the first tile are of single tiles.
shared uint sScannerReady[2][kSubgroups];
shared uint sScannerSums[2][kSubgroups];

void ringScan(uint tiles) {
    LookbackStates states = lookbackStates(p.scratch);
    uint lane = sgLane(), first = 0u, carry = kIdentity, turn = 0u, idle = 0u;
    while (first < tiles && idle <= p.polls) {
        uint at = first + wgInvocation(), value, total;
        LookbackState words = lookbackLook(states, at, tiles);
        uint ready = lookbackFirst(lookbackUnpack(words, value) == 0u);
        value = lane < ready ? value : kIdentity;
        uint before = sgExclusiveAmong(kSubgroupSize, value, total);
        if (lane == 0u) {
            sScannerReady[turn][sgIndex()] = ready;
            sScannerSums[turn][sgIndex()] = total;
        }
        wgBarrierShared();
        uint other = min(lane, kSubgroups - 1u);
        uint theirs = lane < kSubgroups ? sScannerReady[turn][other] : 0u;
        uint sum = lane < kSubgroups ? sScannerSums[turn][other] : kIdentity;
        uint open = lookbackFirst(theirs != kSubgroupSize); // the first subgroup that misses one
        sum = lane <= open ? sum : kIdentity;
        uint all, below = sgExclusiveAmong(kSubgroupSize, sum, all), mine = subgroupShuffle(below, sgIndex());
        if (sgIndex() <= open && lane < ready)
            states.s[at] = lookbackPack(combine(combine(carry, mine), combine(before, value)), kTileWhole);
        carry = combine(carry, all);
        uint taken = subgroupAdd(lane <= open ? theirs : 0u);
        first += taken;
        idle = taken != 0u ? 0u : idle + 1u;
        turn ^= 1u;
    }
}

#endif // SLUICE_SCAN_RING_GLSL
