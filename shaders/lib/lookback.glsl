// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoupled look-back: a single pass over the tiles of an input, in which each tile needs its
// *prefix*, the combined value of all tiles before it. The method is that of Merrill and Garland,
// Single-pass Parallel Prefix Scan with Decoupled Look-back (2016), with the fallback of Smith,
// Levien and Owens, Decoupled Fallback (SPAA 2025).
//
// A tile first publishes its own value in its *state*. Once it knows its prefix, it publishes its
// inclusive value, which combines everything up to its end. To find its prefix, a tile combines the
// values that the tiles before it have published, as many at a time as a subgroup has lanes. If a
// tile has published nothing after `polls` polls, the workgroup that waits for it computes that
// tile's value itself. So no workgroup depends on another's progress, and the pass ends on every
// device. Workgroups take their tiles by an atomic counter (tickets), so that the workgroups of all
// earlier tiles have started.
//
// On a large GPU, hundreds of workgroups that poll the same few states slow each other down. So for
// long inputs workgroup 0 is a *scanner*: it does nothing but turn published values into inclusive
// ones, and every other workgroup polls a single state. If the scanner makes no progress,
// workgroups look back as described.
//
// Scratch has a head of four words and then one state per tile. The look-back uses two words of the
// head: the ticket counter, and the number of workgroups that are done. All of scratch is zero
// before the command, and the workgroup that ends last clears it again. The words of a state need
// not become visible together, even if one store writes them. So a value is cut into pieces of 16
// bits, and each word has one piece and the kind of the state.
//
// A shader that includes this file defines
//   bool lookbackTile(uint tile, out LookbackValue value)
// which computes the tile's value from the input, with the whole workgroup. It returns true if a
// segment begins in the tile; then the tiles before it do not count for later tiles. It must not
// overwrite shared memory that the caller of lookbackWait still needs.
//
// The operation is the sum of u32. For another commutative operation, the shader defines
// SLUICE_LOOKBACK_OPERATION, kLookbackIdentity, lookbackCombine(a, b), lookbackCombineLanes(v) over
// the subgroup, and lookbackInclusiveLanes(v), an inclusive scan over the subgroup. With
// SLUICE_LOOKBACK_WIDE a value is a uvec2 instead of a uint.
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
    // Volatile implies coherent.
    volatile LookbackState s[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer LookbackWords { uint w[]; };

const uint kTileOwn = 1u;   // the kind of a state that has the tile's own value
const uint kTileWhole = 2u; // the kind of a state that has the value of this tile and all before it

shared uint sLookbackTicket;
// The number of workgroups that were done before this one. It does not share a word with
// sLookbackTicket, which other invocations may still be reading when this is written.
shared uint sLookbackLeft;
// The results that lookbackPoll and lookbackAwait leave for the workgroup.
shared LookbackValue sLookbackValue;
shared uint sLookbackNext;

// The number of lanes that poll states at the same time.
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

// Returns the kind of a state, or 0 if it is not yet visible as a whole. `value` receives its
// value.
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

// Returns the lowest polling lane for which `condition` holds, or kLookbackLanes if it holds for
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

// Returns whether this invocation takes the tickets in loops that work ahead. There invocation 0
// publishes and waits. So the last invocation takes tickets, and neither task delays the other.
bool takesTickets() { return wgInvocation() == gl_WorkGroupSize.x - 1u; }
// One invocation calls this to take the next tile. Returns the tile's number.
uint lookbackTakeAlone(uvec2 scratch) { return atomicAdd(LookbackHead(scratch).ticket, 1u); }
// The whole workgroup calls this to take the next tile. The tile's number is valid only in
// invocation 0.
uint lookbackTake(uvec2 scratch) { return wgInvocation() == 0u ? lookbackTakeAlone(scratch) : 0u; }

// Takes the next tile and returns its number in all invocations. The whole workgroup calls this,
// and must pass a barrier between two calls.
uint lookbackTicket(uvec2 scratch) {
    uint ticket = lookbackTake(scratch);
    if (wgInvocation() == 0u) sLookbackTicket = ticket;
    wgBarrierShared();
    return sLookbackTicket;
}

// Loads the state of the tile before `tile`, which the caller passes to lookbackAwait. The result
// is valid in invocation 0.
LookbackState lookbackPeek(uvec2 scratch, uint tile) {
    LookbackState words = lookbackPack(kLookbackIdentity, kTileWhole);
    if (wgInvocation() == 0u && tile != 0u) words = lookbackStates(scratch).s[tile - 1u];
    return words;
}

// Invocation 0 waits until the scanner has published the tile before `tile`. It stores the prefix
// of `tile` in sLookbackValue, and 0 in sLookbackNext. After `polls` polls it gives up: it stores
// the identity in sLookbackValue, and in sLookbackNext the number of tiles that the prefix still
// lacks, which is `tile`. `words` is from lookbackPeek.
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

// The polling lanes look back from tile `next`: they combine the values that the tiles before it
// have published with `prefix`, and store the result in sLookbackValue. sLookbackNext receives 0 if
// the result is complete. If a tile k does not publish in time, it receives k + 1, and the result
// lacks tiles 0 .. k.
void lookbackPoll(uvec2 scratch, uint next, LookbackValue prefix, uint polls) {
    LookbackStates states = lookbackStates(scratch);
    uint lane = wgInvocation(), idle = 0u;
    while (sgUniform(next != 0u && polls != SLUICE_LOOKBACK_NEVER && idle <= polls)) {
        // Lanes for which there is no tile act as if they had found the identity as an inclusive
        // value.
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

// Invocation 0 stores the state of `tile`: its value and its kind.
void lookbackStore(uvec2 scratch, uint tile, LookbackValue value, uint state) {
    if (wgInvocation() == 0u) lookbackStates(scratch).s[tile] = lookbackPack(value, state);
}

// Publishes the value of `tile`; the whole workgroup calls this. `own` is the tile's value, in
// invocation 0 only. `final` says that a segment begins in the tile, so that the tiles before it do
// not count for later tiles. `inPlace` says that the caller will overwrite the tile's input.
void lookbackPublish(uvec2 scratch, uint tile, LookbackValue own, bool final, bool inPlace) {
    lookbackStore(scratch, tile, own, final || tile == 0u ? kTileWhole : kTileOwn);
    // The state must be visible before the caller overwrites the tile's input. Then a workgroup
    // that reads overwritten input also sees the state.
    if (inPlace) memoryBarrierBuffer();
}

// The whole workgroup calls this after it has computed a tile's value from the input. Returns
// whether the tile's state still has no value. If it has one, and the operation works in place, the
// input may have been overwritten before it was read; so the caller must use the state instead.
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

// Returns the prefix of `tile`, whose own value has been published. The whole workgroup calls this.
// `own` is the tile's value, in invocation 0 only. `final` says that no earlier tile counts for
// later tiles. `inPlace` says that the tile's input will be overwritten. A tile that has published
// nothing is polled `polls` times; with SLUICE_LOOKBACK_NEVER no state is read. `scanned` says that
// workgroup 0 is a scanner.
LookbackValue lookbackWait(uvec2 scratch, uint tile, LookbackValue own, bool final, uint polls,
                           bool inPlace, bool scanned) {
    final = final || tile == 0u;
    if (inPlace && polls == SLUICE_LOOKBACK_NEVER)
        // In place, a tile that is done has overwritten its input, so its state must be read after
        // all.
        polls = 0u;
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
        // If there is a scanner, it was too late. From here on, the workgroup looks back by itself.
        scanned = false;
        // This barrier waits until all invocations have read sLookbackNext.
        wgBarrierShared();
    }
    return prefix;
}

#ifndef SLUICE_EMU
// Returns an inclusive scan over the subgroup. It begins anew at each lane that has `anew` set.
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

// The whole workgroup 0 is the scanner. It turns the tiles' own values into inclusive values, one
// tile per invocation at a time. It gives up after `polls` rounds without a new value.
#ifndef SLUICE_EMU
const uint kLookbackSubgroups = gl_WorkGroupSize.x / kSubgroupSize;
const uint kScannedAnew = 0x80000000u;
// Each subgroup has an entry in both arrays. sScannedReady is the number of its tiles before its
// first one that has not published, and sScannedValue is the combined value of these tiles. The
// flag kScannedAnew in sScannedReady says that this value does not depend on earlier tiles. The
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
        // True if this lane or a lower one has a state of kind kTileWhole.
        bool anew = subgroupBallotInclusiveBitCount(anewLanes) != 0u;
        if (lane + 1u == ready) sScannedValue[turn][gl_SubgroupID] = sum;
        if (lane + 1u == max(ready, 1u))
            sScannedReady[turn][gl_SubgroupID] = ready | (anew && ready != 0u ? kScannedAnew : 0u);
        wgBarrierShared();

        LookbackValue before = carry;
        // True as long as all tiles of subgroups 0 .. i - 1 have published.
        bool open = true, mine = false;
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

// Counts this workgroup as one that no longer accesses states. Every workgroup calls this once, as
// a whole. It may do other work before it calls lookbackClean, to hide the latency of the atomic.
void lookbackLeave(uvec2 scratch) {
    wgBarrierShared();
    if (wgInvocation() == gl_WorkGroupSize.x - 1u) {
        memoryBarrierBuffer(); // the states must be stored before another workgroup clears them
        sLookbackLeft = atomicAdd(LookbackHead(scratch).done, 1u);
    }
}

// The last of `workgroups` workgroups to call lookbackLeave clears the scratch.
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
