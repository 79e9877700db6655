// SPDX-License-Identifier: MIT OR Apache-2.0
// A look-back of sums for kernels in which a tile waits for its prefix in a ring while the
// workgroup works on the next tiles. So no workgroup idles, and memory is busy all the time. A
// subgroup must have at least as many lanes as a workgroup has subgroups. The scheme is fast on
// devices where a workgroup that has started keeps making progress. The states are those of
// lookback.glsl.
//
// The includer defines the push constants p with scratch, polls and workgroups, and kSubgroups.
//
// Workgroup 0 is the scanner (see lookback.glsl). It is an optimization: if it is not in time,
// invocations look back themselves.
//
// In the loop over tiles, shuffles and sums are the only subgroup operations, and they must not be
// inside branches. Otherwise NVIDIA's compiler (580) considers the loop divergent and turns each of
// these operations into a function with a loop of its own. This is why one invocation waits alone
// in that loop.
#ifndef SLUICE_RING_GLSL
#define SLUICE_RING_GLSL

bool lookbackTile(uint index, out uint value) { // lookback.glsl needs it, but nothing calls it
    value = 0u;
    return false;
}

// The arrays are double-buffered, so that one barrier per round is enough.
shared uint sRingTotals[2][kSubgroups];
shared uint sRingReady[2][kSubgroups]; // only the scanner uses these
shared uint sRingTicket[2];

// A step of an exclusive scan over `lanes` lanes, a power of two. It is written out because
// subgroupExclusiveAdd() takes twice as many instructions with NVIDIA's compiler (580).
void ringStep(uint reach, uint lanes, inout uint before, inout uint total) {
    if (reach >= lanes) return;
    uint other = subgroupShuffleXor(total, reach);
    before += mix(0u, other, (gl_SubgroupInvocationID & reach) != 0u);
    total += other;
}
// An exclusive scan over `lanes` lanes, a power of two.
uint ringExclusive(uint value, const uint lanes, out uint total) {
    uint before = 0u;
    total = value;
    ringStep(1u, lanes, before, total);
    ringStep(2u, lanes, before, total);
    ringStep(4u, lanes, before, total);
    ringStep(8u, lanes, before, total);
    ringStep(16u, lanes, before, total);
    ringStep(32u, lanes, before, total);
    ringStep(64u, lanes, before, total);
    return before;
}

// Returns the sum of sRingTotals over the subgroups below this one; `all` becomes the sum over all
// subgroups.
const uint kRingLanes = kSubgroups <= 8u ? 8u : kSubgroups <= 16u ? 16u : 32u;
uint ringBefore(uint turn, out uint all) {
    uint lane = sgLane() & (kRingLanes - 1u), own = 0u;
    if (kSubgroups == kRingLanes || lane < kSubgroups) own = sRingTotals[turn][lane];
    uint before = ringExclusive(own, kRingLanes, all);
    return subgroupShuffle(before, sgIndex());
}

// Returns whether the prefix of `tile` arrives within p.polls polls. `seen` is the state of the
// tile before it, loaded earlier.
bool ringComes(LookbackStates states, uint tile, LookbackState seen, out uint prefix) {
    uint state = lookbackUnpack(seen, prefix);
    for (uint i = 0u; i < p.polls && state != kTileWhole; i++)
        state = lookbackUnpack(states.s[tile - 1u], prefix);
    return state == kTileWhole;
}

layout(buffer_reference, std430, buffer_reference_align = 16) buffer RingStates {
    volatile uvec4 s[]; // two states each
};

// The scanner turns the tiles' own values into inclusive sums, two tiles per invocation at a time.
// It gives up after p.polls rounds without a new value, or if a workgroup had to look back.
void ringScan(LookbackStates states, uint tiles) {
    RingStates pairs = RingStates(add64(p.scratch, SLUICE_LOOKBACK_HEAD));
    uint lane = sgLane(), first = 0u, carry = 0u, turn = 0u, idle = 0u;
    while (first < tiles && idle <= p.polls) {
        uint at = first + 2u * wgInvocation();
        bool single = at + 1u == tiles;
        uvec4 words = uvec4(0u);
        if (single)
            words = uvec4(states.s[at], lookbackPack(0u, kTileOwn));
        else if (at < tiles)
            words = pairs.s[at >> 1];
        uint a, b, total;
        uint missing = uint(lookbackUnpack(words.xy, a) != kTileOwn) |
                       uint(lookbackUnpack(words.zw, b) != kTileOwn);
        uint ready = lookbackFirst(missing != 0u), value = lane < ready ? a + b : 0u;
        uint before = ringExclusive(value, kSubgroupSize, total);
        if (lane == 0u) {
            sRingReady[turn][sgIndex()] = ready;
            sRingTotals[turn][sgIndex()] = total;
        }
        wgBarrierShared();
        uint other = min(lane, kSubgroups - 1u);
        uint theirs = lane < kSubgroups ? sRingReady[turn][other] : 0u;
        uint sum = lane < kSubgroups ? sRingTotals[turn][other] : 0u;
        uint open = lookbackFirst(theirs != kSubgroupSize); // the first subgroup that misses a tile
        uint all, below = ringExclusive(lane <= open ? sum : 0u, kSubgroupSize, all),
                  own = subgroupShuffle(below, sgIndex());
        if (sgIndex() <= open && lane < ready) {
            own += carry + before;
            LookbackState whole = lookbackPack(own + a, kTileWhole);
            if (single)
                states.s[at] = whole;
            else
                pairs.s[at >> 1] = uvec4(whole, lookbackPack(own + value, kTileWhole));
        }
        carry += all;
        // If the number of tiles is odd, this count ends one past the last tile.
        uint taken = 2u * subgroupAdd(lane <= open ? theirs : 0u);
        first += taken;
        idle = taken != 0u ? 0u : idle + 1u;
        turn ^= 1u;
    }
}

// One invocation takes the next tile. The increment is 1, but NVIDIA's compiler (580) must not know
// that: for an increment that is uniform in the subgroup it does one atomic for all lanes and
// distributes the result, and the whole subgroup would wait for it here.
uint ringTake() {
    return atomicAdd(LookbackHead(p.scratch).ticket,
                     1u + (gl_LocalInvocationIndex & p.workgroups >> 31));
}

layout(buffer_reference, std430, buffer_reference_align = 16) buffer RingHead {
    coherent uint ticket;
    volatile uint done;
    coherent uint cleared; // counts the workgroups that have come to clear; in addition, in units
                           // of kRingClears, those that did not clear their part
};
const uint kRingClears = 0x10000u;
// With up to this many tiles per workgroup, it is faster that one workgroup clears all states than
// that each waits for the others.
const uint kRingClearsAlone = 16u;
const uint kRingWaits = 64u; // limits the polls for workgroups that may not have started yet

shared uint sRingCleared;

// Clears part `part` of `parts` of the states, but not the head, which counts as a pair of states.
void ringClear(uint part, uint parts, uint tiles) {
    RingStates pairs = RingStates(p.scratch);
    uint count = 1u + tiles / 2u, share = (count - 1u) / parts + 1u, begin = max(part * share, 1u);
    for (uint i = begin + wgInvocation(); i < min(part * share + share, count);
         i += gl_WorkGroupSize.x)
        pairs.s[i] = uvec4(0u);
    if (wgInvocation() == 0u && (tiles & 1u) != 0u)
        lookbackStates(p.scratch).s[tiles - 1u] = LookbackState(0u);
}

// Does what lookbackClean() does, but fast for many tiles: 2^28 elements have 1 MB of states, which
// a single workgroup takes 17 us to clear. So each workgroup waits for a limited time until the
// others no longer use the states, then clears its part. The last workgroup clears the head. It
// also clears all states if a workgroup gave up waiting.
void ringClean(uint workgroups, uint tiles) {
    RingHead head = RingHead(p.scratch);
    if (tiles <= kRingClearsAlone * workgroups) {
        wgBarrierShared();
        if (sLookbackLeft + 1u == workgroups) {
            ringClear(0u, 1u, tiles);
            if (wgInvocation() == 0u) RingStates(p.scratch).s[0] = uvec4(0u);
        }
        return;
    }
    if (wgInvocation() == gl_WorkGroupSize.x - 1u) { // the invocation that wrote sLookbackLeft
        uint done = sLookbackLeft + 1u;
        for (uint i = 0u; i < min(p.polls, kRingWaits) && done != workgroups; i++)
            done = head.done;
        bool clears = done == workgroups;
        sLookbackLeft = clears ? 1u : 0u;
        sRingCleared = atomicAdd(head.cleared, clears ? 1u : kRingClears + 1u);
    }
    wgBarrierShared();
    uint cleared = sRingCleared;
    if (sLookbackLeft != 0u) ringClear(gl_WorkGroupID.x, workgroups, tiles);
    if ((cleared & (kRingClears - 1u)) + 1u == workgroups) {
        if (cleared >= kRingClears || sLookbackLeft == 0u) ringClear(0u, 1u, tiles);
        if (wgInvocation() == 0u) RingStates(p.scratch).s[0] = uvec4(0u);
    }
}

#endif // SLUICE_RING_GLSL
