// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit streams of a tile of the float codec (docs/format.md, 6.3). A tile has one list of words,
// which the lanes of a lane group take in the order of the lanes. A lane has two words, and takes
// the next word of the list when it has used one up. Words behind the end of the list are 0. The
// words pass through a ring in shared memory.
#ifndef SLUICE_FLOAT_STREAM_GLSL
#define SLUICE_FLOAT_STREAM_GLSL

#ifdef SLUICE_INT64
#extension GL_ARB_gpu_shader_int64 : require
#endif
#include "lanes.glsl"
#include "memory.glsl"
#include "units.glsl"

// The lane's two words.
uint gFloatFirst, gFloatSecond;
uint gFloatUsed; // how many bits of the two are used, modulo 64; only the lowest six bits count
// gFloatUsed when the lane could last take a word. If bit 5 has changed since then, a word is used
// up, and the lane takes one.
uint gFloatAsked;
uint gFloatNext;  // the index of the next word in the ring, or in the list if there is no ring
uint gFloatHalf;  // in the tail: 1 if half of the next word has been taken
uint gFloatBelow; // a ballot times this has only the bits of lower lanes, moved to the top

uvec2 gFloatListAt; // address of the list, or of any 8 bytes of the source if the list is empty
uint gFloatListEnd; // the size of the list, in pairs of words

// Returns pair `pair` of the list.
uvec2 floatWords(uint pair) {
    return pair < gFloatListEnd ? PairsIn(gFloatListAt).v[pair] : uvec2(0u);
}

// There is no ring where a lane group consists of several subgroups, because it would cost more
// than it saves: each step would need barriers. These barriers also make SwiftShader run out of
// memory while it compiles.
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)

const uint gFloatAheadAt = 0u;
uint floatWord(uint at) {
    uvec2 words = floatWords(at >> 1);
    return (at & 1u) == 0u ? words.x : words.y;
}
uvec2 floatAhead() { return uvec2(0u); }
void floatMove(uvec2 ahead, uint aheadOf) {}
void floatRing(bool whole) { gFloatNext = whole ? 64u : 0u; }
uint floatTaken() { return gFloatNext; }

#else

// The ring has three *chunks* of kFloatChunk words. The third is a copy of the first, so that a
// whole chunk can be read from any place in the first two without wrapping.
const uint kFloatChunk = 64u, kFloatRing = 3u * kFloatChunk;
shared uint sFloatRing[kGroupsPerWorkgroup * kFloatRing];
uint gFloatAheadAt; // the pair of words of the list that enters the ring next, for lane 0
uint gFloatMoveAt;  // that pair enters the ring when gFloatNext reaches this

uint floatWord(uint at) { return sFloatRing[at]; }

// Stores this lane's pair of words in a chunk of the ring.
void floatStore(uint chunk, uvec2 words) {
    uint at = lgIndex() * kFloatRing + chunk * kFloatChunk + 2u * lgLane();
    sFloatRing[at] = words.x;
    sFloatRing[at + 1u] = words.y;
}

// Loads this lane's words of the chunk that enters the ring next. The load is issued early and
// outside of branches, because in a branch the hardware would wait for it at the branch's end.
// Words behind the end of the list are undefined.
uvec2 floatAhead() {
    uint at = gFloatAheadAt + lgLane();
    return kLockstep ? floatWords(at)
                     : PairsIn(gFloatListAt).v[min(at, max(gFloatListEnd, 1u) - 1u)];
}

// Moves the ring if a chunk of it has been taken; between two calls the group may take at most
// kFloatChunk words. `ahead` is what floatAhead() returned when gFloatAheadAt was `aheadOf`.
void floatMove(uvec2 ahead, uint aheadOf) {
    bool moves = gFloatNext >= gFloatMoveAt;
    if (wgAny(moves)) {
        uint at = gFloatAheadAt + lgLane();
        uvec2 words = ahead;
        // If the ring has moved since that call of floatAhead, other words are needed.
        if (wgAny(moves && gFloatAheadAt != aheadOf)) words = floatWords(at);
        words = at < gFloatListEnd ? words : uvec2(0u);
        lgBarrierShared();
        if (!kLockstep || moves) {
            // True if the second chunk has been taken: the next words are in the third chunk, a
            // copy of the first, and the lanes go on in the first.
            bool back = (gFloatAheadAt & kFloatChunk / 2u) != 0u;
            floatStore(back ? 1u : 0u, words);
            floatStore(back ? 1u : 2u, words);
            gFloatNext -= back ? 2u * kFloatChunk : 0u;
            gFloatMoveAt += back ? -kFloatChunk : kFloatChunk;
            gFloatAheadAt += kFloatChunk / 2u;
        }
        lgBarrierShared();
    }
}

// Fills the ring. `whole` says that lanes have already taken the first chunk of the list from
// memory; the ring is then as it would be if they had taken that chunk from the ring.
void floatRing(bool whole) {
    uint chunk = whole ? 1u : 0u, pair = chunk * kFloatChunk / 2u + lgLane();
    uvec2 first = floatWords(pair), second = floatWords(pair + kFloatChunk / 2u);
    // This barrier waits until all lanes have read what the ring had for the tile before.
    lgBarrierShared();
    floatStore(chunk, first);
    floatStore(1u - chunk, second);
    floatStore(1u + chunk, second);
    gFloatNext = kFloatRing * lgIndex() + chunk * kFloatChunk;
    gFloatMoveAt = gFloatNext + kFloatChunk;
    gFloatAheadAt = (2u + chunk) * kFloatChunk / 2u;
    lgBarrierShared();
}

// Returns how many words of the list have been taken.
uint floatTaken() {
    return gFloatNext - kFloatRing * lgIndex() +
           (gFloatAheadAt / kFloatChunk - 1u) * 2u * kFloatChunk;
}

#endif

// Begins to read the list of `pairs` pairs of words at `words`. `whole` says that the tile has rows
// before the tail; then each lane begins with two words.
void floatStreamBegin(uvec2 words, uint pairs, bool whole) {
    gFloatListAt = words;
    gFloatListEnd = pairs;
    gFloatUsed = 0u;
    gFloatAsked = 0u;
    gFloatBelow = lgLane() == 0u ? 0u : 1u << (32u - lgLane());
    uvec2 first = whole ? floatWords(lgLane()) : uvec2(0u);
    gFloatFirst = first.x;
    gFloatSecond = first.y;
    gFloatHalf = 0u;
    floatRing(whole);
}

// In a group that is `on`, each lane that has used up a word since the last call takes another one.
// In other groups nothing changes.
void floatTake(bool on) {
    bool takes = on && ((gFloatUsed ^ gFloatAsked) & 32u) != 0u;
    uint takers = lgBallot(takes),
         word = floatWord(gFloatNext + uint(bitCount(takers * gFloatBelow)));
    gFloatFirst = mix(gFloatFirst, gFloatSecond, takes);
    gFloatSecond = mix(gFloatSecond, word, takes);
    gFloatNext += uint(bitCount(takers));
    gFloatAsked = on ? gFloatUsed : gFloatAsked;
}

// Returns 32 of the 64 bits of `first` and `second`: those from bit `at` modulo 32 on, counted from
// the highest.
uint floatFunnel(uint first, uint second, uint at) {
#ifdef SLUICE_INT64
    // On NVIDIA's GPUs this shift of 64 bits is one instruction.
    return unpackUint2x32(packUint2x32(uvec2(second, first)) << (at & 31u)).y;
#else
    return first << (at & 31u) | (second >> 1) >> (~at & 31u);
#endif
}
// Returns the lane's next bits, the first one highest. If the lane has used n bits since the last
// floatTake, the upper 32 - n bits are valid.
uint floatNext() { return floatFunnel(gFloatFirst, gFloatSecond, gFloatUsed); }

#endif // SLUICE_FLOAT_STREAM_GLSL
