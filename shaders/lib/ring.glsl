// SPDX-License-Identifier: MIT OR Apache-2.0
// A look-back of sums for kernels whose tiles wait for what lies before them while the workgroup works on the next ones: nobody
// waits, and memory has loads and stores to do all the time. For subgroups of at least 32 lanes, as many as a workgroup has
// subgroups, where workgroups that have started are known to go on. The states are those of lookback.glsl, which is included
// before.
//
// Workgroup 0 is the scanner. It is there for speed only: where it does not come in time, invocations look back for themselves.
//
// In the loop over tiles nothing but shuffles and sums may need the whole subgroup, and no branch may hold these: NVIDIA's
// compiler (580) takes the loop for divergent otherwise, and each of them becomes a function with a loop of its own. So
// whatever waits in there does so by each invocation alone.
//
// A shader that includes this file defines
//   uint ringTile(uint tile)   a tile's value from the input, by one invocation. It comes in the middle of everything else
//        and must be content with few registers
#ifndef SLUICE_RING_GLSL
#define SLUICE_RING_GLSL

uint ringTile(uint tile);

bool lookbackTile(uint index, out uint value) { // that of lookback.glsl, which is not used
    value = 0u;
    return false;
}

// Halves are used in turn, so that one barrier a round is enough.
shared uint sRingTotals[2][kSubgroups];
shared uint sRingReady[2][kSubgroups]; // the scanner's
shared uint sRingTicket[2];

// A step of an exclusive scan over `lanes` lanes, a power of two. NVIDIA's compiler (580) makes twice as many instructions of
// subgroupExclusiveAdd().
void ringStep(uint reach, uint lanes, inout uint before, inout uint total) {
    if (reach >= lanes)
        return;
    uint other = subgroupShuffleXor(total, reach);
    before += mix(0u, other, (gl_SubgroupInvocationID & reach) != 0u);
    total += other;
}
uint ringExclusive(uint value, out uint total) {
    uint before = 0u;
    total = value;
    ringStep(1u, kSubgroupSize, before, total);
    ringStep(2u, kSubgroupSize, before, total);
    ringStep(4u, kSubgroupSize, before, total);
    ringStep(8u, kSubgroupSize, before, total);
    ringStep(16u, kSubgroupSize, before, total);
    ringStep(32u, kSubgroupSize, before, total);
    ringStep(64u, kSubgroupSize, before, total);
    return before;
}

// Of the subgroups' values in sRingTotals: what lies below this one, and all.
uint ringBefore(uint turn, out uint all) {
    uint own = sgLane() < kSubgroups ? sRingTotals[turn][min(sgLane(), kSubgroups - 1u)] : 0u;
    all = subgroupAdd(own);
    return subgroupAdd(sgLane() < sgIndex() ? own : 0u);
}

// What lies before `tile` where the scanner did not come: all states below, and tiles that publish nothing computed anew.
// Leaves the result for those that come after, and with it the scanner stops.
uint ringLookBack(LookbackStates states, uint tile) {
    uint prefix = 0u, idle = 0u;
    [[dont_unroll]] for (uint next = tile; next != 0u;) {
        uint value, state = lookbackUnpack(states.s[next - 1u], value);
        if (state == 0u && idle++ >= p.polls) {
            uint own = ringTile(next - 1u);
            // In place, what it was computed from may be gone; then its state is there.
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

// What lies before `tile`, if it comes within `polls` looks. `seen` is what the state before it was.
bool ringComes(LookbackStates states, uint tile, LookbackState seen, out uint prefix) {
    uint state = lookbackUnpack(seen, prefix);
    for (uint i = 0u; i < p.polls && state != kTileWhole; i++)
        state = lookbackUnpack(states.s[tile - 1u], prefix);
    return state == kTileWhole;
}

layout(buffer_reference, std430, buffer_reference_align = 16) buffer RingStates {
    coherent volatile uvec4 s[]; // two of them
};

// The scanner: turns what tiles have published of themselves into what lies up to their end, two an invocation at a time.
// Gives up where nothing comes for long, or somebody had to look back.
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
        uint missing = uint(lookbackUnpack(words.xy, a) != kTileOwn) | uint(lookbackUnpack(words.zw, b) != kTileOwn);
        uint ready = lookbackFirst(missing != 0u), value = lane < ready ? a + b : 0u;
        uint before = ringExclusive(value, total);
        if (lane == 0u) {
            sRingReady[turn][sgIndex()] = ready;
            sRingTotals[turn][sgIndex()] = total;
        }
        wgBarrierShared();
        uint other = min(lane, kSubgroups - 1u);
        uint theirs = lane < kSubgroups ? sRingReady[turn][other] : 0u;
        uint sum = lane < kSubgroups ? sRingTotals[turn][other] : 0u;
        uint open = lookbackFirst(theirs != kSubgroupSize); // the first subgroup that misses one
        uint all, below = ringExclusive(lane <= open ? sum : 0u, all), own = subgroupShuffle(below, sgIndex());
        if (sgIndex() <= open && lane < ready) {
            own += carry + before;
            LookbackState whole = lookbackPack(own + a, kTileWhole);
            if (single)
                states.s[at] = whole;
            else
                pairs.s[at >> 1] = uvec4(whole, lookbackPack(own + value, kTileWhole));
        }
        carry += all;
        uint taken = 2u * subgroupAdd(lane <= open ? theirs : 0u); // past the end by one if their number is odd
        first += taken;
        idle = taken != 0u ? 0u : idle + 1u;
        turn ^= 1u;
    }
}

// The next tile, by the last invocation. Adds 1, which NVIDIA's compiler (580) must not know: a number that is the same in all
// lanes it adds for all of them at once and shares the result out among them, for which the subgroup waits in this place.
uint ringTake() { return atomicAdd(LookbackHead(p.scratch).ticket, gl_WorkGroupSize.x - wgInvocation()); }

#endif // SLUICE_RING_GLSL
