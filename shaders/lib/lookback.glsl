// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoupled look-back: a single pass over the tiles of an input, in which each tile needs the
// combined value of all tiles before it (its prefix). The method is that of Merrill and Garland,
// Single-pass Parallel Prefix Scan with Decoupled Look-back (2016), with the fallback of Smith,
// Levien and Owens, Decoupled Fallback (SPAA 2025).
//
// Each tile first publishes its own value. Once it knows its prefix, it publishes the inclusive
// value: that of everything up to its end. To find its prefix, a tile combines the values that its
// predecessors have published, as many at a time as a subgroup has lanes. If a predecessor has
// published nothing after `polls` polls, the waiting workgroup computes that tile's value itself.
// So no workgroup depends on another's progress, and the pass ends on every device. Tiles are
// handed out by an atomic ticket, so that the workgroups of all predecessors have started.
//
// On a large GPU, hundreds of workgroups that poll the same few states slow each other down. So
// above some size workgroup 0 is a scanner: it only scans the published values, and every other
// workgroup polls a single state. The scanner is an optimization: if it makes no progress,
// workgroups look back as described above.
//
// Scratch has a head of four words, then one state per tile. The look-back uses two words of the
// head: the ticket and the number of workgroups that are done. All of scratch is zero before the
// command, and the workgroup that finishes last clears it again. A state's value is split into
// pieces of 16 bits, and each word holds one piece together with the kind of state, because the
// words of a store need not become visible at the same time.
//
// A shader that includes this file defines
//   bool lookbackTile(uint tile, out LookbackValue value) computes the tile's value from the input,
//        with the whole workgroup. It returns true if the tiles before it do not matter for later
//        tiles, because a segment begins in it. It must not overwrite shared memory that the caller
//        of lookbackWait still needs
// and, with SLUICE_LOOKBACK_OPERATION defined, an operation other than the sum of u32 by
//   LookbackValue kLookbackIdentity, lookbackCombine(a, b), and over the subgroup
//   lookbackCombineLanes(v) and lookbackInclusiveLanes(v); commutative. SLUICE_LOOKBACK_WIDE makes
//   LookbackValue a uvec2 instead of a uint.
#ifndef SLUICE_LOOKBACK_GLSL
#define SLUICE_LOOKBACK_GLSL

#include "layout/lookback.h"
#include "lanes.glsl"
#include "memory.glsl"

#ifdef SLUICE_LOOKBACK_WIDE
#define LookbackValue uvec2
#define LookbackState uvec4
#else
#define LookbackValue uint
#define LookbackState uvec2
#endif

bool lookbackTile(uint tile, out LookbackValue value);

#ifndef SLUICE_LOOKBACK_OPERATION
const uint kLookbackIdentity = 0u;
uint lookbackCombine(uint a, uint b) { return a + b; }
#ifndef SLUICE_EMU
uint lookbackCombineLanes(uint value) { return subgroupAdd(value); }
uint lookbackInclusiveLanes(uint value) { return subgroupInclusiveAdd(value); }
#endif
#endif

layout(buffer_reference, std430, buffer_reference_align = 16) buffer LookbackHead {
    coherent uint ticket;
    coherent uint done;
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer LookbackStates {
    volatile LookbackState s[]; // volatile implies coherent
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer LookbackWords { uint w[]; };

const uint kTileOwn = 1u;   // published: the tile's own value
const uint kTileWhole = 2u; // published: the value of this tile and all before it

shared uint sLookbackTicket;
shared uint sLookbackLeft; // separate from sLookbackTicket, which other invocations may still be
                           // reading
shared LookbackValue sLookbackValue;
shared uint sLookbackNext;

// How many lanes poll states at a time.
#ifdef SLUICE_EMU
const uint kLookbackLanes = 1u;
#else
const uint kLookbackLanes = kSubgroupSize;
#endif

LookbackState lookbackPack(LookbackValue value, uint state) {
#ifdef SLUICE_LOOKBACK_WIDE
    return uvec4(value & 0xffffu, value >> 16) | state << 30;
#else
    return uvec2(value & 0xffffu, value >> 16) | state << 30;
#endif
}

// Returns the kind of state, or 0 until all words of the state are visible.
uint lookbackUnpack(LookbackState words, out LookbackValue value) {
    LookbackState state = words >> 30;
#ifdef SLUICE_LOOKBACK_WIDE
    value = (words.xy & 0xffffu) | words.zw << 16;
    return state == uvec4(state.x) ? state.x : 0u;
#else
    value = (words.x & 0xffffu) | words.y << 16;
    return state.x == state.y ? state.x : 0u;
#endif
}

// Returns the first polling lane for which `condition` holds, or kLookbackLanes if there is none.
uint lookbackFirst(bool condition) {
#ifdef SLUICE_EMU
    return condition ? 0u : 1u;
#else
    uvec4 lanes = subgroupBallot(condition);
    return lanes == uvec4(0u) ? kLookbackLanes : subgroupBallotFindLSB(lanes);
#endif
}

LookbackStates lookbackStates(uvec2 scratch) {
    return LookbackStates(add64(scratch, SLUICE_LOOKBACK_HEAD));
}

// Only this invocation takes tickets. It differs from the one that publishes and waits, so that
// neither delays the other.
bool takesTickets() { return wgInvocation() == gl_WorkGroupSize.x - 1u; }
// lookbackTakeAlone takes the next tile and is called by one invocation. lookbackTake is called by
// the whole workgroup; its result is valid in invocation 0.
uint lookbackTakeAlone(uvec2 scratch) { return atomicAdd(LookbackHead(scratch).ticket, 1u); }
uint lookbackTake(uvec2 scratch) { return wgInvocation() == 0u ? lookbackTakeAlone(scratch) : 0u; }

// Takes the next tile for the whole workgroup, which must pass a barrier between two calls.
uint lookbackTicket(uvec2 scratch) {
    uint ticket = lookbackTake(scratch);
    if (wgInvocation() == 0u) sLookbackTicket = ticket;
    wgBarrierShared();
    return sLookbackTicket;
}

// Loads the state of the tile before `tile`, for lookbackAwait. The result is valid in invocation
// 0.
LookbackState lookbackPeek(uvec2 scratch, uint tile) {
    LookbackState words = lookbackPack(kLookbackIdentity, kTileWhole);
    if (wgInvocation() == 0u && tile != 0u) words = lookbackStates(scratch).s[tile - 1u];
    return words;
}

// Waits, in invocation 0, until the scanner has reached `tile`. Leaves the tile's prefix in
// sLookbackValue, and in sLookbackNext the number of predecessors that are still missing: 0, or all
// of them after too many polls. `words` comes from lookbackPeek.
void lookbackAwait(uvec2 scratch, uint tile, uint polls, LookbackState words) {
    if (wgInvocation() != 0u) return;
    LookbackStates states = lookbackStates(scratch);
    LookbackValue value;
    uint state = lookbackUnpack(words, value);
    for (uint i = 0u; i < polls && state != kTileWhole; i++)
        state = lookbackUnpack(states.s[tile - 1u], value);
    sLookbackValue = state == kTileWhole ? value : kLookbackIdentity;
    sLookbackNext = state == kTileWhole ? 0u : tile;
}

// The polling lanes combine the published values of the tiles below `next` with `prefix`. They
// leave the result in sLookbackValue, and in sLookbackNext the number of tiles that are still
// missing; the last of the missing tiles did not publish in time.
void lookbackPoll(uvec2 scratch, uint next, LookbackValue prefix, uint polls) {
    LookbackStates states = lookbackStates(scratch);
    uint lane = wgInvocation(), idle = 0u;
    while (sgUniform(next != 0u && polls != SLUICE_LOOKBACK_NEVER && idle <= polls)) {
        // Lanes past the first tile act as if they had found the inclusive value of nothing.
        LookbackState words = lookbackPack(kLookbackIdentity, kTileWhole);
        if (lane < next) words = states.s[next - 1u - lane];
        LookbackValue value;
        uint state = lookbackUnpack(words, value);
        uint missing = lookbackFirst(state == 0u), whole = lookbackFirst(state == kTileWhole);
        uint taken = min(missing, whole + 1u);
        if (lane >= taken) value = kLookbackIdentity;
#ifndef SLUICE_EMU
        value = lookbackCombineLanes(value);
#endif
        prefix = lookbackCombine(value, prefix);
        next = whole < missing ? 0u : next - taken;
        idle = taken != 0u ? 0u : idle + 1u;
    }
    if (lane == 0u) {
        sLookbackValue = prefix;
        sLookbackNext = next;
    }
}

void lookbackStore(uvec2 scratch, uint tile, LookbackValue value, uint state) {
    if (wgInvocation() == 0u) lookbackStates(scratch).s[tile] = lookbackPack(value, state);
}

// Publishes the value of `tile`. The whole workgroup calls it.
//   own      the tile's value, in invocation 0 only
//   final    nothing before the tile counts for the tiles after it
//   inPlace  the caller will overwrite the tile's input
void lookbackPublish(uvec2 scratch, uint tile, LookbackValue own, bool final, bool inPlace) {
    lookbackStore(scratch, tile, own, final || tile == 0u ? kTileWhole : kTileOwn);
    // The state must become visible before the caller overwrites the tile's input, so that a
    // workgroup that reads overwritten input also sees the state.
    if (inPlace) memoryBarrierBuffer();
}

// Returns whether a tile is still unpublished after its value was computed from the input of an
// in-place operation. If it has published, its input may have been overwritten during the
// computation, and its state must be used instead. The whole workgroup calls it.
bool lookbackUnpublished(uvec2 scratch, uint tile) {
    memoryBarrierBuffer();
    wgBarrierShared();
    if (wgInvocation() == 0u) {
        LookbackValue ignored;
        sLookbackNext = lookbackUnpack(lookbackStates(scratch).s[tile], ignored);
    }
    wgBarrierShared();
    return sLookbackNext == 0u;
}

// Returns the combined value of all tiles before `tile`, whose own value is published. The whole
// workgroup calls it.
//   own, final, inPlace  as for lookbackPublish
//   polls    how often to poll a tile that has published nothing; SLUICE_LOOKBACK_NEVER: no state
//            is read
//   scanned  workgroup 0 is a scanner
LookbackValue lookbackWait(uvec2 scratch, uint tile, LookbackValue own, bool final, uint polls,
                           bool inPlace, bool scanned) {
    final = final || tile == 0u;
    if (inPlace && polls == SLUICE_LOOKBACK_NEVER)
        polls = 0u; // the input of a finished tile is gone, so its state has to be read
    LookbackValue prefix = kLookbackIdentity;
    uint next = tile;
    while (sgUniform(next != 0u)) {
        if (sgUniform(wgInvocation() < kLookbackLanes)) {
            if (scanned)
                lookbackAwait(scratch, tile, polls, lookbackPeek(scratch, tile));
            else
                lookbackPoll(scratch, next, prefix, polls);
            if (wgInvocation() == 0u && sLookbackNext == 0u && !final && !scanned)
                lookbackStore(scratch, tile, lookbackCombine(sLookbackValue, own), kTileWhole);
        }
        wgBarrierShared();
        prefix = sLookbackValue;
        next = sLookbackNext;
        if (sgUniform(next == 0u)) break;
        if (!scanned) {
            LookbackValue value;
            bool whole = lookbackTile(next - 1u, value);
            if (!inPlace || lookbackUnpublished(scratch, next - 1u)) {
                prefix = lookbackCombine(value, prefix);
                next = whole ? 0u : next - 1u;
            }
            if (next == 0u && !final)
                lookbackStore(scratch, tile, lookbackCombine(prefix, own), kTileWhole);
        }
        scanned = false;   // the scanner did not arrive in time
        wgBarrierShared(); // all have read sLookbackNext
    }
    return prefix;
}

#ifndef SLUICE_EMU
// Returns an inclusive scan over the subgroup that restarts at each lane with `anew` set.
LookbackValue lookbackInclusiveRuns(LookbackValue value, bool anew) {
    uint lane = gl_SubgroupInvocationID, started = anew ? 1u : 0u;
    for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) {
        uint from = lane >= reach ? lane - reach : lane;
        LookbackValue below = subgroupShuffle(value, from);
        uint belowStarted = subgroupShuffle(started, from);
        if (lane >= reach && started == 0u) value = lookbackCombine(below, value);
        started |= belowStarted;
    }
    return value;
}
#endif

// The scanner is the whole workgroup 0. It turns the tiles' own values into inclusive values, one
// tile per invocation at a time. It gives up after `polls` rounds without a new value.
#ifndef SLUICE_EMU
const uint kLookbackSubgroups = gl_WorkGroupSize.x / kSubgroupSize;
const uint kScannedAnew = 0x80000000u;
// For each subgroup: how many of its tiles have published, up to the first one that has not, and
// their combined value. kScannedAnew marks a value that does not depend on earlier tiles. The
// arrays are double-buffered, so that one barrier per round is enough.
shared uint sScannedReady[2][kLookbackSubgroups];
shared LookbackValue sScannedValue[2][kLookbackSubgroups];

void lookbackScan(uvec2 scratch, uint tiles, uint polls) {
    LookbackStates states = lookbackStates(scratch);
    LookbackValue carry = kLookbackIdentity;
    uint lane = gl_SubgroupInvocationID, base = 0u, idle = 0u, turn = 0u;
    while (sgUniform(base < tiles && idle <= polls)) {
        uint at = base + wgInvocation();
        LookbackState words = LookbackState(0u);
        if (at < tiles) words = states.s[at];
        LookbackValue sum;
        uint state = lookbackUnpack(words, sum);
        uint ready = lookbackFirst(state == 0u);
        uvec4 anewLanes = subgroupBallot(state == kTileWhole);
        if (anewLanes == uvec4(0u))
            sum = lookbackInclusiveLanes(sum);
        else
            sum = lookbackInclusiveRuns(sum, state == kTileWhole);
        bool anew = subgroupBallotInclusiveBitCount(anewLanes) != 0u; // at this lane or below
        if (lane + 1u == ready) sScannedValue[turn][gl_SubgroupID] = sum;
        if (lane + 1u == max(ready, 1u))
            sScannedReady[turn][gl_SubgroupID] = ready | (anew && ready != 0u ? kScannedAnew : 0u);
        wgBarrierShared();

        LookbackValue before = carry;
        bool open = true, mine = false; // open: all tiles of the subgroups so far are ready
        uint taken = 0u;
        for (uint i = 0u; i < kLookbackSubgroups; i++) {
            if (i == gl_SubgroupID) {
                before = carry;
                mine = open;
            }
            uint scanned = open ? sScannedReady[turn][i] : 0u, here = scanned & ~kScannedAnew;
            LookbackValue value = sScannedValue[turn][i];
            if (here != 0u) carry = scanned != here ? value : lookbackCombine(carry, value);
            taken += here;
            open = here == kSubgroupSize;
        }
        if (mine && lane < ready && state != kTileWhole)
            states.s[at] = lookbackPack(anew ? sum : lookbackCombine(before, sum), kTileWhole);
        base += taken;
        idle = taken != 0u ? 0u : idle + 1u;
        turn ^= 1u;
    }
}
#else
void lookbackScan(uvec2 scratch, uint tiles, uint polls) {}
#endif

// Announces that this workgroup no longer reads or writes states. Every workgroup calls it once, as
// a whole. The workgroup may do other work before it calls lookbackClean, to hide the latency of
// the atomic.
void lookbackLeave(uvec2 scratch) {
    wgBarrierShared();
    if (wgInvocation() == gl_WorkGroupSize.x - 1u)
        sLookbackLeft = atomicAdd(LookbackHead(scratch).done, 1u);
}

// The last of `workgroups` workgroups to leave clears the scratch, with all of its invocations.
void lookbackClean(uvec2 scratch, uint workgroups, uint tiles) {
    wgBarrierShared();
    if (sLookbackLeft + 1u == workgroups) {
        uint words = SLUICE_LOOKBACK_HEAD / 4u + tiles * (SLUICE_LOOKBACK_STATE / 4u);
#ifdef SLUICE_LOOKBACK_WIDE
        words += tiles * (SLUICE_LOOKBACK_STATE / 4u);
#endif
        for (uint i = wgInvocation(); i < words; i += gl_WorkGroupSize.x)
            LookbackWords(scratch).w[i] = 0u;
    }
}

#endif // SLUICE_LOOKBACK_GLSL
