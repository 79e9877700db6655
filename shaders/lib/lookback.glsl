// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoupled look-back: one pass over the tiles of an input, each tile needing the combined value of all tiles before it.
// After Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back (2016); the fallback is that of
// Smith, Levien and Owens, Decoupled Fallback (SPAA 2025).
//
// Each tile publishes its own value first and, once it knows the tiles before it, the value of everything up to its end.
// A tile sums what its predecessors have published, a subgroup's width at a time. Where one has published nothing after
// `polls` looks, the waiting workgroup computes that tile's value itself: so no workgroup depends on another's progress,
// and the pass ends on every device. Tiles are handed out by an atomic ticket, so that predecessors have always started.
//
// On a large GPU hundreds of workgroups looking at the same few states slow each other down, so above some size workgroup 0
// is a scanner: it does nothing but scan what the tiles have published, and every other one looks at a single state. It is
// there for speed only; where it does not come, workgroups look back as described.
//
// Scratch: two words (ticket, workgroups that are done), two unused ones, then one state a tile. All of it is zero before
// the command; the workgroup that finishes last makes it zero again. A state's value is cut into pieces of 16 bits, each
// in a word of its own together with the state: words need not become visible together.
//
// A shader that includes this file defines
//   bool lookbackTile(uint tile, out LookbackValue value)   computes the tile's value from the input, by the whole
//        workgroup; true if nothing before the tile counts (a segment begins in it). Must not write what
//        lookbackPrefix's caller still needs in shared memory
// and, with SLUICE_LOOKBACK_OPERATION defined, an operation other than the sum of u32 by
//   LookbackValue kLookbackIdentity, lookbackCombine(a, b), and over the subgroup lookbackCombineLanes(v); commutative.
//   SLUICE_LOOKBACK_WIDE makes LookbackValue a uvec2 instead of a uint.
#ifndef SLUICE_LOOKBACK_GLSL
#define SLUICE_LOOKBACK_GLSL

#include "layout.h"
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
#endif
#endif

layout(buffer_reference, std430, buffer_reference_align = 16) buffer LookbackHead {
    coherent uint ticket;
    coherent uint done;
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer LookbackStates {
    coherent volatile LookbackState s[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer LookbackWords {
    uint w[];
};

const uint kTileOwn = 1u;   // published: the tile's own value
const uint kTileWhole = 2u; // published: the value of this tile and all before it

shared uint sLookbackTicket;
shared uint sLookbackLeft; // not sLookbackTicket, which others may still read
shared LookbackValue sLookbackValue;
shared uint sLookbackNext;

// Unrelated to the lane that a tile's elements stand in.
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

// 0 until all words of the state have arrived.
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

// The first of the looking lanes that holds `condition`; their number if none does.
uint lookbackFirst(bool condition) {
#ifdef SLUICE_EMU
    return condition ? 0u : 1u;
#else
    uvec4 lanes = subgroupBallot(condition);
    if (kLookbackLanes <= 32u)
        return min(uint(findLSB(lanes.x)), kLookbackLanes); // of 0: -1
    return lanes == uvec4(0u) ? kLookbackLanes : subgroupBallotFindLSB(lanes);
#endif
}

LookbackStates lookbackStates(uvec2 scratch) { return LookbackStates(add64(scratch, SLUICE_LOOKBACK_HEAD)); }

// Takes the next tile. By the workgroup's last invocation alone.
uint lookbackTakeAlone(uvec2 scratch) {
    // Adds 1, which NVIDIA's compiler (580) must not know: a number that is the same in all lanes it adds for all of them at
    // once and shares the result out among them, for which the subgroup waits in this place.
    return atomicAdd(LookbackHead(scratch).ticket, gl_WorkGroupSize.x - wgInvocation());
}
// By the workgroup; the result counts in invocation 0.
uint lookbackTake(uvec2 scratch) { return wgInvocation() == 0u ? atomicAdd(LookbackHead(scratch).ticket, 1u) : 0u; }

// Takes the next tile. By the whole workgroup, once.
uint lookbackTicket(uvec2 scratch) {
    uint ticket = lookbackTake(scratch);
    if (wgInvocation() == 0u)
        sLookbackTicket = ticket;
    wgBarrierShared();
    return sLookbackTicket;
}

// What is known now of the tiles before `tile`, for lookbackAwait; counts in invocation 0.
LookbackState lookbackPeek(uvec2 scratch, uint tile) {
    LookbackState words = lookbackPack(kLookbackIdentity, kTileWhole);
    if (wgInvocation() == 0u && tile != 0u)
        words = lookbackStates(scratch).s[tile - 1u];
    return words;
}

// By invocation 0: waits for the scanner to have come to `tile`. Leaves its prefix in sLookbackValue and how many tiles are
// still missing, 0 or all, in sLookbackNext.
//   words  what lookbackPeek gave
void lookbackAwait(uvec2 scratch, uint tile, uint polls, LookbackState words) {
    if (wgInvocation() != 0u)
        return;
    LookbackStates states = lookbackStates(scratch);
    LookbackValue value;
    uint state = lookbackUnpack(words, value);
    for (uint i = 0u; i < polls && state != kTileWhole; i++)
        state = lookbackUnpack(states.s[tile - 1u], value);
    sLookbackValue = state == kTileWhole ? value : kLookbackIdentity;
    sLookbackNext = state == kTileWhole ? 0u : tile;
}

// By the looking lanes: adds to `prefix` what the tiles below `next` have published. Leaves the sum in sLookbackValue
// and in sLookbackNext how many tiles are still missing; the last of them did not publish in time.
void lookbackPoll(uvec2 scratch, uint next, LookbackValue prefix, uint polls) {
    LookbackStates states = lookbackStates(scratch);
    uint lane = wgInvocation(), idle = 0u;
    while (sgUniform(next != 0u && polls != SLUICE_LOOKBACK_NEVER && idle <= polls)) {
        // Before the first tile there is nothing, which is final.
        LookbackState words = lookbackPack(kLookbackIdentity, kTileWhole);
        if (lane < next)
            words = states.s[next - 1u - lane];
        LookbackValue value;
        uint state = lookbackUnpack(words, value);
        uint missing = lookbackFirst(state == 0u), whole = lookbackFirst(state == kTileWhole);
        uint taken = min(missing, whole + 1u);
        if (lane >= taken)
            value = kLookbackIdentity;
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
    if (wgInvocation() == 0u)
        lookbackStates(scratch).s[tile] = lookbackPack(value, state);
}

// Publishes the value of `tile`. By the whole workgroup.
//   own      the tile's value, needed in invocation 0 only
//   final    nothing before the tile counts for the tiles after it
//   inPlace  the caller will overwrite the tile's input
void lookbackPublish(uvec2 scratch, uint tile, LookbackValue own, bool final, bool inPlace) {
    lookbackStore(scratch, tile, own, final || tile == 0u ? kTileWhole : kTileOwn);
    // In place: whoever computes this tile for itself must not meet its overwritten input without seeing this state.
    if (inPlace)
        memoryBarrierBuffer();
}

// In place, after `tile` was computed from the input: if it has published meanwhile, that input may be gone; then its state
// is there to be read. By the whole workgroup.
bool lookbackUnpublished(uvec2 scratch, uint tile) {
    memoryBarrierBuffer();
    wgBarrierShared();
    if (wgInvocation() == 0u) {
        LookbackValue unused;
        sLookbackNext = lookbackUnpack(lookbackStates(scratch).s[tile], unused);
    }
    wgBarrierShared();
    return sLookbackNext == 0u;
}

// Returns the combined value of all tiles before `tile`, whose own value is published. By the whole workgroup.
//   own, final, inPlace  as for lookbackPublish
//   polls    how often to look at a tile that has published nothing; SLUICE_LOOKBACK_NEVER: look at none
//   scanned  workgroup 0 is a scanner
LookbackValue lookbackWait(uvec2 scratch, uint tile, LookbackValue own, bool final, uint polls, bool inPlace,
                           bool scanned) {
    final = final || tile == 0u;
    if (inPlace && polls == SLUICE_LOOKBACK_NEVER)
        polls = 0u; // what a finished tile was made of is gone: its state has to be read
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
        if (sgUniform(next == 0u))
            break;
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
        scanned = false; // it did not come
        wgBarrierShared(); // before sLookbackNext is written again
    }
    return prefix;
}

// Both in one. By the whole workgroup.
LookbackValue lookbackPrefix(uvec2 scratch, uint tile, LookbackValue own, bool final, uint polls, bool inPlace) {
    lookbackPublish(scratch, tile, own, final, inPlace);
    return lookbackWait(scratch, tile, own, final, polls, inPlace, false);
}

#ifndef SLUICE_EMU
// Each lane's value and those below it, combined from the last lane on that starts anew.
LookbackValue lookbackInclusiveRuns(LookbackValue value, bool anew) {
    uint lane = gl_SubgroupInvocationID, started = anew ? 1u : 0u;
    for (uint reach = 1u; reach < kSubgroupSize; reach <<= 1) {
        uint from = lane >= reach ? lane - reach : lane;
        LookbackValue below = subgroupShuffle(value, from);
        uint belowStarted = subgroupShuffle(started, from);
        if (lane >= reach && started == 0u)
            value = lookbackCombine(below, value);
        started |= belowStarted;
    }
    return value;
}
#endif

// The scanner, by the whole of workgroup 0: turns what tiles have published of themselves into what lies up to their end.
// Every wait in the pass lasts as long as its looks, so only one subgroup does it, without barriers, some rows of as many
// states as it has lanes at a time. Gives up where nothing comes for long.
#ifndef SLUICE_EMU
void lookbackScanStep(uint reach, inout LookbackValue before, inout LookbackValue total) {
    if (reach >= kSubgroupSize)
        return;
    LookbackValue other = subgroupShuffleXor(total, reach);
    before = lookbackCombine(before, (gl_SubgroupInvocationID & reach) != 0u ? other : kLookbackIdentity);
    total = lookbackCombine(total, other);
}

// Takes the states of a row up to the first that is not there. Those that are taken are all of single tiles.
//   open   all before the row are taken; in the end whether all of the row are, too
//   taken  counts them
//   carry  the value of all tiles before the row, in the end of those that are taken
void lookbackScanRow(LookbackStates states, uint at, LookbackState words, inout bool open, inout uint taken,
                     inout LookbackValue carry) {
    LookbackValue value, before = kLookbackIdentity;
    uint ready = lookbackFirst(lookbackUnpack(words, value) == 0u);
    ready = open ? ready : 0u;
    bool mine = gl_SubgroupInvocationID < ready;
    value = mine ? value : kLookbackIdentity;
    LookbackValue total = value;
    lookbackScanStep(1u, before, total);
    lookbackScanStep(2u, before, total);
    lookbackScanStep(4u, before, total);
    lookbackScanStep(8u, before, total);
    lookbackScanStep(16u, before, total);
    lookbackScanStep(32u, before, total);
    lookbackScanStep(64u, before, total);
    if (mine)
        states.s[at] = lookbackPack(lookbackCombine(carry, lookbackCombine(before, value)), kTileWhole);
    carry = lookbackCombine(carry, total);
    taken += ready;
    open = ready == kSubgroupSize;
}

// The same of a row with states that are of all tiles up to theirs: what comes after those starts anew.
void lookbackScanAnew(LookbackStates states, uint at, LookbackState words, inout uint taken, inout LookbackValue carry) {
    LookbackValue value;
    uint state = lookbackUnpack(words, value), ready = lookbackFirst(state == 0u);
    value = lookbackInclusiveRuns(value, state == kTileWhole);
    if (subgroupBallotInclusiveBitCount(subgroupBallot(state == kTileWhole)) == 0u)
        value = lookbackCombine(carry, value);
    if (gl_SubgroupInvocationID < ready && state != kTileWhole)
        states.s[at] = lookbackPack(value, kTileWhole);
    LookbackValue last = subgroupShuffle(value, max(ready, 1u) - 1u);
    if (ready != 0u)
        carry = last;
    taken += ready;
}

LookbackState lookbackLook(LookbackStates states, uint at, uint tiles) {
    return states.s[min(at, tiles - 1u)] * (at < tiles ? 1u : 0u);
}

bool lookbackIsWhole(LookbackState words) {
    LookbackValue unused;
    return lookbackUnpack(words, unused) == kTileWhole;
}

void lookbackScan(uvec2 scratch, uint tiles, uint polls) {
    if (gl_SubgroupID != 0u)
        return;
    LookbackStates states = lookbackStates(scratch);
    LookbackValue carry = kLookbackIdentity;
    uint base = 0u, idle = 0u;
    while (sgUniform(base < tiles && idle <= polls)) {
        // Written out, so that the loads overlap: the compiler does not unroll loops with subgroup operations everywhere.
        uint at = base + gl_SubgroupInvocationID, taken = 0u;
        LookbackState a = lookbackLook(states, at, tiles), b = lookbackLook(states, at + kSubgroupSize, tiles);
        LookbackState c = lookbackLook(states, at + 2u * kSubgroupSize, tiles);
        LookbackState d = lookbackLook(states, at + 3u * kSubgroupSize, tiles);
#ifndef SLUICE_LOOKBACK_WIDE
        LookbackState e = lookbackLook(states, at + 4u * kSubgroupSize, tiles);
        LookbackState f = lookbackLook(states, at + 5u * kSubgroupSize, tiles);
        LookbackState g = lookbackLook(states, at + 6u * kSubgroupSize, tiles);
        LookbackState h = lookbackLook(states, at + 7u * kSubgroupSize, tiles);
#endif
        bool open = true;
        if (sgUniform(lookbackIsWhole(a) || lookbackIsWhole(b) || lookbackIsWhole(c) || lookbackIsWhole(d))) {
            lookbackScanAnew(states, at, a, taken, carry);
            open = false;
        } else {
            lookbackScanRow(states, at, a, open, taken, carry);
            lookbackScanRow(states, at + kSubgroupSize, b, open, taken, carry);
            lookbackScanRow(states, at + 2u * kSubgroupSize, c, open, taken, carry);
            lookbackScanRow(states, at + 3u * kSubgroupSize, d, open, taken, carry);
        }
#ifndef SLUICE_LOOKBACK_WIDE
        open = open && !(lookbackIsWhole(e) || lookbackIsWhole(f) || lookbackIsWhole(g) || lookbackIsWhole(h));
        if (!sgUniform(!open)) {
            lookbackScanRow(states, at + 4u * kSubgroupSize, e, open, taken, carry);
            lookbackScanRow(states, at + 5u * kSubgroupSize, f, open, taken, carry);
            lookbackScanRow(states, at + 6u * kSubgroupSize, g, open, taken, carry);
            lookbackScanRow(states, at + 7u * kSubgroupSize, h, open, taken, carry);
        }
#endif
        base += taken;
        idle = taken != 0u ? 0u : idle + 1u;
    }
}
#else
void lookbackScan(uvec2 scratch, uint tiles, uint polls) {}
#endif

// Says that this workgroup neither reads nor writes a state any more. By every workgroup, once, as a whole; its latency passes
// while the workgroup does something else, up to lookbackClean.
void lookbackLeave(uvec2 scratch) {
    wgBarrierShared();
    if (wgInvocation() == gl_WorkGroupSize.x - 1u)
        sLookbackLeft = atomicAdd(LookbackHead(scratch).done, 1u);
}

// The last of `workgroups` to leave clears the scratch. By the whole workgroup.
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
