// SPDX-License-Identifier: MIT OR Apache-2.0
// A look-back of sums (lookback.glsl explains states, prefix and scanner) for kernels in which a
// tile waits for its prefix in a ring buffer while the workgroup works on the next tiles. So no
// workgroup is idle, and memory is busy all the time. It is fast only on devices where a workgroup
// that has started goes on making progress. A subgroup must have at least as many lanes as a
// workgroup has subgroups.
//
// The includer defines kSubgroups, and the push constants p with scratch, polls and workgroups.
//
// Workgroup 0 is the scanner. If it is too late for a tile, that tile's workgroup looks back
// itself.
//
// In the kernels' loop over tiles, shuffles and sums are the only subgroup operations, and must not
// stand inside branches. Otherwise NVIDIA's compiler (driver 580) takes the loop for divergent, and
// turns each of these operations into a call of a function that has a loop. So in that loop each
// invocation polls for a prefix by itself.
#ifndef SLUICE_RING_GLSL
#define SLUICE_RING_GLSL

// lookback.glsl needs this function to be defined, but here nothing calls it.
bool lookbackTile(uint index, out uint value) {
    value = 0u;
    return false;
}

// These arrays are double-buffered, so that one barrier per round is enough.
shared uint sRingTotals[2][kSubgroups];
shared uint sRingReady[2][kSubgroups]; // for ringScan: a subgroup's lanes that can go on
shared uint sRingTicket[2];

// Does one step of an exclusive scan over `lanes` lanes, a power of two. The lane exchanges its
// `total` with the lane whose number differs in the bit `reach`. It adds the other total to its
// own, and also to `before` if the other lane is below. The scan is written out because
// subgroupExclusiveAdd() takes twice as many instructions with NVIDIA's compiler (driver 580).
void ringStep(uint reach, uint lanes, inout uint before, inout uint total) {
    if (reach >= lanes) return;
    uint other = subgroupShuffleXor(total, reach);
    before += mix(0u, other, (gl_SubgroupInvocationID & reach) != 0u);
    total += other;
}
// Returns an exclusive scan over `lanes` lanes, a power of two. `total` receives the sum over these
// lanes.
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

// ringBefore returns the sum of sRingTotals[turn] over the subgroups below this one; `all` receives
// the sum over all subgroups. kRingLanes lanes scan the totals of as many subgroups. There may be
// fewer subgroups; their totals count as 0.
const uint kRingLanes = kSubgroups <= 8u ? 8u : kSubgroups <= 16u ? 16u : 32u;
uint ringBefore(uint turn, out uint all) {
    uint lane = sgLane() & (kRingLanes - 1u), own = 0u;
    if (kSubgroups == kRingLanes || lane < kSubgroups) own = sRingTotals[turn][lane];
    uint before = ringExclusive(own, kRingLanes, all);
    return subgroupShuffle(before, sgIndex());
}

// Waits for the prefix of `tile` during at most p.polls polls, and returns whether it has arrived.
// `seen` is the state of the tile before it, loaded earlier.
bool ringComes(LookbackStates states, uint tile, LookbackState seen, out uint prefix) {
    uint state = lookbackUnpack(seen, prefix);
    for (uint i = 0u; i < p.polls && state != kTileWhole; i++)
        state = lookbackUnpack(states.s[tile - 1u], prefix);
    return state == kTileWhole;
}

layout(buffer_reference, std430, buffer_reference_align = 16) buffer RingStates {
    // Each entry has two states.
    volatile uvec4 s[];
};

// The scanner turns the tiles' own values into inclusive sums, two tiles per invocation at a time.
// It gives up after p.polls rounds without a new value, or at a state that a workgroup has made
// inclusive by looking back.
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
        // `open` is the first subgroup with a tile that has not published. Only tiles before the
        // first such tile get their inclusive sums.
        uint open = lookbackFirst(theirs != kSubgroupSize);
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
        // If the number of tiles is odd, `first` ends one tile past the last one.
        uint taken = 2u * subgroupAdd(lane <= open ? theirs : 0u);
        first += taken;
        idle = taken != 0u ? 0u : idle + 1u;
        turn ^= 1u;
    }
}

// Takes the next tile; one invocation calls this. The increment is always 1, but NVIDIA's compiler
// (driver 580) must not know that. If an increment is uniform in the subgroup, that compiler makes
// one atomic for all lanes and distributes the result, for which the whole subgroup would wait
// here.
uint ringTake() {
    return atomicAdd(LookbackHead(p.scratch).ticket,
                     1u + (gl_LocalInvocationIndex & p.workgroups >> 31));
}

layout(buffer_reference, std430, buffer_reference_align = 16) buffer RingHead {
    coherent uint ticket;
    volatile uint done;
    // The low half counts the workgroups that have reached the clearing of states. The upper half,
    // in units of kRingClears, counts those that gave up waiting and did not clear their part.
    coherent uint cleared;
};
const uint kRingClears = 0x10000u;
// With up to this many tiles per workgroup, one workgroup clears all states. That is faster than if
// each workgroup waits for the others and clears a part.
const uint kRingClearsAlone = 16u;
// How many polls a workgroup waits at most until the others no longer use the states. It must not
// wait for long, because some of the others may not have started yet.
const uint kRingWaits = 64u;

shared uint sRingCleared;

// Clears part `part` of `parts` equal parts of the states. It does not clear the head, which takes
// as much memory as a pair of states.
void ringClear(uint part, uint parts, uint tiles) {
    RingStates pairs = RingStates(p.scratch);
    uint count = 1u + tiles / 2u, share = (count - 1u) / parts + 1u, begin = max(part * share, 1u);
    for (uint i = begin + wgInvocation(); i < min(part * share + share, count);
         i += gl_WorkGroupSize.x)
        pairs.s[i] = uvec4(0u);
    if (wgInvocation() == 0u && (tiles & 1u) != 0u)
        lookbackStates(p.scratch).s[tiles - 1u] = LookbackState(0u);
}

// Clears all of scratch after the last use, faster than lookbackClean() for many tiles: 2^28
// elements have 1 MB of states, which one workgroup takes 17 us to clear. Each workgroup waits a
// limited time until the others no longer use the states, and then clears its part. The last
// workgroup clears the head. If some workgroup has given up waiting, the last one also clears all
// states.
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
    // This invocation has written sLookbackLeft, so it needs no barrier to read it.
    if (wgInvocation() == gl_WorkGroupSize.x - 1u) {
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
