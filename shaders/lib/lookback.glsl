// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoupled look-back: one pass over the tiles of an input, where each tile needs the combined
// value of all tiles before it. The method is that of Merrill and Garland, Single-pass Parallel
// Prefix Scan with Decoupled Look-back (2016), with the fallback of Smith, Levien and Owens,
// Decoupled Fallback (SPAA 2025).
//
// Each tile publishes its own value first and, once it knows the tiles before it, the value of
// everything up to its end. A tile sums what its predecessors have published, a subgroup's width at
// a time. If one has published nothing after `polls` looks, the waiting workgroup computes that
// tile's value itself. So no workgroup depends on another's progress, and the pass ends on every
// device. Tiles are handed out by an atomic ticket, so that predecessors have always started.
//
// On a large GPU hundreds of workgroups looking at the same few states slow each other down, so
// above some size workgroup 0 is a scanner: it does nothing but scan what the tiles have published,
// and every other one looks at a single state. It only serves speed: if it does not come,
// workgroups look back as described.
//
// Scratch has a head of four words, of which the look-back uses two, the ticket and how many
// workgroups are done; then one state a tile. All of it is zero before the command, and the
// workgroup that finishes last makes it zero again. A state's value is cut into pieces of 16 bits,
// each in a word of its own together with the state, because words need not become visible
// together.
//
// A shader that includes this file defines
//   bool lookbackTile(uint tile, out LookbackValue value)
//        computes the tile's value from the input, by the whole workgroup; true if nothing before
//        the tile counts (a segment begins in it). It must not write what lookbackWait's caller
//        still needs in shared memory
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
    volatile LookbackState s[]; // this one is coherent, too
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer LookbackWords { uint w[]; };

const uint kTileOwn = 1u;   // published: the tile's own value
const uint kTileWhole = 2u; // published: the value of this tile and all before it

shared uint sLookbackTicket;
shared uint sLookbackLeft; // not sLookbackTicket, which others may still read
shared LookbackValue sLookbackValue;
shared uint sLookbackNext;

// How many lanes look at states at a time, whatever their elements of the tile.
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

// Returns 0 until all words of the state have arrived.
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

// Returns the first of the looking lanes for which `condition` holds; their number if there is
// none.
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

// Only this invocation takes tickets; it is not the one that publishes and waits.
bool takesTickets() { return wgInvocation() == gl_WorkGroupSize.x - 1u; }
// One invocation takes the next tile; or the whole workgroup does, and the result is valid in
// invocation 0.
uint lookbackTakeAlone(uvec2 scratch) { return atomicAdd(LookbackHead(scratch).ticket, 1u); }
uint lookbackTake(uvec2 scratch) { return wgInvocation() == 0u ? lookbackTakeAlone(scratch) : 0u; }

// The whole workgroup takes the next tile; a barrier must stand between two calls.
uint lookbackTicket(uvec2 scratch) {
    uint ticket = lookbackTake(scratch);
    if (wgInvocation() == 0u) sLookbackTicket = ticket;
    wgBarrierShared();
    return sLookbackTicket;
}

// Loads the state of the tiles before `tile`, for lookbackAwait. The result is valid in invocation
// 0.
LookbackState lookbackPeek(uvec2 scratch, uint tile) {
    LookbackState words = lookbackPack(kLookbackIdentity, kTileWhole);
    if (wgInvocation() == 0u && tile != 0u) words = lookbackStates(scratch).s[tile - 1u];
    return words;
}

// Waits, in invocation 0, until the scanner has come to `tile`. Leaves the tile's prefix in
// sLookbackValue, and in sLookbackNext how many tiles are still missing, 0 or all. `words` comes
// from lookbackPeek.
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

// The looking lanes add to `prefix` what the tiles below `next` have published. They leave the sum
// in sLookbackValue, and in sLookbackNext how many tiles are still missing; the last of those did
// not publish in time.
void lookbackPoll(uvec2 scratch, uint next, LookbackValue prefix, uint polls) {
    LookbackStates states = lookbackStates(scratch);
    uint lane = wgInvocation(), idle = 0u;
    while (sgUniform(next != 0u && polls != SLUICE_LOOKBACK_NEVER && idle <= polls)) {
        // Nothing lies before the first tile, which is final.
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

// Publishes the value of `tile`, by the whole workgroup.
//   own      the tile's value, in invocation 0 only
//   final    nothing before the tile counts for the tiles after it
//   inPlace  the caller will overwrite the tile's input
void lookbackPublish(uvec2 scratch, uint tile, LookbackValue own, bool final, bool inPlace) {
    lookbackStore(scratch, tile, own, final || tile == 0u ? kTileWhole : kTileOwn);
    // In place, a workgroup that reads this tile's overwritten input must also see this state.
    if (inPlace) memoryBarrierBuffer();
}

// Returns whether a tile that was computed from the input, in place, has not published since. If it
// has, its input may have been overwritten, and its state must be used. The whole workgroup calls
// it.
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
//   polls    how often to look at a tile that has published nothing; SLUICE_LOOKBACK_NEVER: no
//            state is looked at
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
        scanned = false;   // the scanner did not come
        wgBarrierShared(); // all have read sLookbackNext
    }
    return prefix;
}

#ifndef SLUICE_EMU
// Combines the values of each lane and those below it, beginning with the last lane that starts
// anew.
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

// The scanner, which is all of workgroup 0, turns the tiles' own values into the values up to their
// ends, a tile an invocation at a time. It gives up if nothing comes for long.
#ifndef SLUICE_EMU
const uint kLookbackSubgroups = gl_WorkGroupSize.x / kSubgroupSize;
const uint kScannedAnew = 0x80000000u;
// For each subgroup, how many of its tiles have published, up to the first that has not, and their
// value, which starts anew or not. The halves are used in turn, so that one barrier is enough.
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
        bool open = true, mine = false; // open: all subgroups so far are ready to their ends
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
// a whole, and may do other work during its latency, until lookbackClean.
void lookbackLeave(uvec2 scratch) {
    wgBarrierShared();
    if (wgInvocation() == gl_WorkGroupSize.x - 1u)
        sLookbackLeft = atomicAdd(LookbackHead(scratch).done, 1u);
}

// The last of `workgroups` to leave clears the scratch; all of that workgroup takes part.
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
