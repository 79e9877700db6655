// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit streams of a tile of the float codec: a list of words that the lanes of a lane group
// consume in lane order. A lane holds two words, and takes the next word of the list when it has
// used one up. Words past the end of the list are 0.
#ifndef SLUICE_FLOAT_STREAM_GLSL
#define SLUICE_FLOAT_STREAM_GLSL

#ifdef SLUICE_INT64
#extension GL_ARB_gpu_shader_int64 : require
#endif
#include "lanes.glsl"
#include "memory.glsl"
#include "units.glsl"

uint gFloatFirst, gFloatSecond;
uint gFloatUsed;  // bits used of these words, modulo 64; the upper bits are undefined
uint gFloatAsked; // gFloatUsed at the lane's last opportunity to take a word; it takes one if bit 5
                  // has changed since
uint gFloatNext;  // the place of the next word
uint gFloatHalf;  // in the tail: 1 if the first half of that word has been taken
uint gFloatBelow; // a ballot times this keeps only the bits of the lanes below

uvec2 gFloatListAt; // address of the list, or of any 8 bytes of the source if it is empty
uint gFloatListEnd; // in pairs of words

uvec2 floatWords(uint pair) {
    return pair < gFloatListEnd ? PairsIn(gFloatListAt).v[pair] : uvec2(0u);
}

// Where a lane group spans several subgroups, a ring would cost more than it saves. Its barriers in
// every step would also make SwiftShader run out of memory during compilation.
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

// The ring has three chunks. The third is a copy of the first, so that a whole chunk can be read
// from any place in the first two without wrapping. Sizes are in words.
const uint kFloatChunk = 64u, kFloatRing = 3u * kFloatChunk;
shared uint sFloatRing[kGroupsPerWorkgroup * kFloatRing];
uint gFloatAheadAt; // the index of the pair of words that enters the ring next
uint gFloatMoveAt;  // the value of gFloatNext at which it does

uint floatWord(uint at) { return sFloatRing[at]; }

void floatStore(uint chunk, uvec2 words) {
    uint at = lgIndex() * kFloatRing + chunk * kFloatChunk + 2u * lgLane();
    sFloatRing[at] = words.x;
    sFloatRing[at + 1u] = words.y;
}

// Loads the lane's words of the chunk that enters the ring next. The load is issued early and
// without a branch, because the hardware would wait for a load inside a branch. Words past the end
// of the list are undefined.
uvec2 floatAhead() {
    uint at = gFloatAheadAt + lgLane();
    return kLockstep ? floatWords(at)
                     : PairsIn(gFloatListAt).v[min(at, max(gFloatListEnd, 1u) - 1u)];
}

// Advances the ring; between two calls the group may take kFloatChunk words. `ahead` is what
// floatAhead() returned when gFloatAheadAt was `aheadOf`.
void floatMove(uvec2 ahead, uint aheadOf) {
    bool moves = gFloatNext >= gFloatMoveAt;
    if (wgAny(moves)) {
        uint at = gFloatAheadAt + lgLane();
        uvec2 words = ahead;
        if (wgAny(moves && gFloatAheadAt != aheadOf)) // it has moved since
            words = floatWords(at);
        words = at < gFloatListEnd ? words : uvec2(0u);
        lgBarrierShared();
        if (!kLockstep || moves) {
            // This is true if the position wraps to the first chunk.
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

// Fills the ring. If lanes have already taken the list's first chunk (`whole`), the ring starts in
// the state that it would have if they had taken the chunk from it.
void floatRing(bool whole) {
    uint chunk = whole ? 1u : 0u, pair = chunk * kFloatChunk / 2u + lgLane();
    uvec2 first = floatWords(pair), second = floatWords(pair + kFloatChunk / 2u);
    lgBarrierShared(); // all lanes have read the previous list
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

// Opens a list. `whole` is set if the tile has rows before the tail; then each lane starts with two
// words.
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

// In a group that is `on`, each lane that has used up a word since its last opportunity takes
// another one. Nothing changes in other groups.
void floatTake(bool on) {
    bool takes = on && ((gFloatUsed ^ gFloatAsked) & 32u) != 0u;
    uint takers = lgBallot(takes),
         word = floatWord(gFloatNext + uint(bitCount(takers * gFloatBelow)));
    gFloatFirst = mix(gFloatFirst, gFloatSecond, takes);
    gFloatSecond = mix(gFloatSecond, word, takes);
    gFloatNext += uint(bitCount(takers));
    gFloatAsked = on ? gFloatUsed : gFloatAsked;
}

// Returns the 32 bits of the 64 in `first` and `second` that start at bit `at` modulo 32, counted
// from the highest.
uint floatFunnel(uint first, uint second, uint at) {
#ifdef SLUICE_INT64
    // This is one instruction on NVIDIA's GPUs.
    return unpackUint2x32(packUint2x32(uvec2(second, first)) << (at & 31u)).y;
#else
    return first << (at & 31u) | (second >> 1) >> (~at & 31u);
#endif
}
// Returns the lane's next bits. There are 32, minus those that it has used since its last
// opportunity to take a word.
uint floatNext() { return floatFunnel(gFloatFirst, gFloatSecond, gFloatUsed); }

#endif // SLUICE_FLOAT_STREAM_GLSL
