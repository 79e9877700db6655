// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit streams of the lanes that decode a tile of the float codec (docs/format.md, 6.3). A tile
// has one list of words. Each lane holds two words. When it has used up one, it takes the next word
// of the list; if several lanes do so in a step, they take words in the order of the lanes. Words
// past the end of the list are 0. The words pass through a ring buffer in shared memory.
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
uint gFloatUsed; // how many bits were used so far; only its lowest six bits have a meaning
// The value of gFloatUsed at the last floatTake. If the two values differ in bit 5, the lane has
// used up a word since then, and takes the next one.
uint gFloatAsked;
uint gFloatNext;  // the index of the next word in the ring, or in the list if there is no ring
uint gFloatHalf;  // in the tail: 1 if half of the next word has been taken
uint gFloatBelow; // a ballot times this: the bits of the lanes below this one, shifted to the top

uvec2 gFloatListAt; // address of the list, or of any 8 bytes of the source if the list is empty
uint gFloatListEnd; // the size of the list, in pairs of words

// Returns words 2 * pair and 2 * pair + 1 of the list; words past its end are 0.
uvec2 floatWords(uint pair) {
    return pair < gFloatListEnd ? PairsIn(gFloatListAt).v[pair] : uvec2(0u);
}

// Where a lane group consists of several subgroups, lanes read the list directly, without a ring
// buffer in shared memory. A ring would need barriers in each step, which cost more than it saves
// and make SwiftShader run out of memory while it compiles.
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
// whole chunk can be read from any place in the first two without wrapping around.
const uint kFloatChunk = 64u, kFloatRing = 3u * kFloatChunk;
shared uint sFloatRing[kGroupsPerWorkgroup * kFloatRing];
uint gFloatAheadAt; // the pair of words of the list with which the chunk to load next begins
uint gFloatMoveAt;  // when gFloatNext reaches this, floatMove puts the next chunk into the ring

uint floatWord(uint at) { return sFloatRing[at]; }

// Stores this lane's pair of words in a chunk of the ring.
void floatStore(uint chunk, uvec2 words) {
    uint at = lgIndex() * kFloatRing + chunk * kFloatChunk + 2u * lgLane();
    sFloatRing[at] = words.x;
    sFloatRing[at + 1u] = words.y;
}

// Loads this lane's pair of words of the chunk that enters the ring next. The load is issued early
// and outside of branches, because in a branch the hardware would wait for it at the branch's end.
// Words past the end of the list are undefined.
uvec2 floatAhead() {
    uint at = gFloatAheadAt + lgLane();
    return kLockstep ? floatWords(at)
                     : PairsIn(gFloatListAt).v[min(at, max(gFloatListEnd, 1u) - 1u)];
}

// If the lanes have taken a whole chunk of the ring, replaces it by the next chunk of the list.
// Between two calls they may take at most kFloatChunk words. `ahead` is what floatAhead() returned
// when gFloatAheadAt was `aheadOf`.
void floatMove(uvec2 ahead, uint aheadOf) {
    bool moves = gFloatNext >= gFloatMoveAt;
    if (wgAny(moves)) {
        uint at = gFloatAheadAt + lgLane();
        uvec2 words = ahead;
        // If the ring has moved since floatAhead loaded `ahead`, later words are needed.
        if (wgAny(moves && gFloatAheadAt != aheadOf)) words = floatWords(at);
        words = at < gFloatListEnd ? words : uvec2(0u);
        lgBarrierShared();
        if (!kLockstep || moves) {
            // True if the second chunk has been taken. The next words are then in the third chunk;
            // the lanes read its copy, the first chunk, instead.
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

// Fills the ring. If `whole` is set, the lanes have taken the list's first chunk from memory
// already, and the ring gets the state that it would have after that chunk.
void floatRing(bool whole) {
    uint chunk = whole ? 1u : 0u, pair = chunk * kFloatChunk / 2u + lgLane();
    uvec2 first = floatWords(pair), second = floatWords(pair + kFloatChunk / 2u);
    // This barrier waits until all lanes have read what the ring had for the previous tile.
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

// Begins to read the list of `pairs` pairs of words at the address `words`. `whole` is true if the
// tile has rows before the tail; then each lane begins with two words.
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

// Gives the next word of the list to each lane that has used up a word since the last call. In lane
// groups that are not `on` nothing changes.
void floatTake(bool on) {
    bool takes = on && ((gFloatUsed ^ gFloatAsked) & 32u) != 0u;
    uint takers = lgBallot(takes),
         word = floatWord(gFloatNext + uint(bitCount(takers * gFloatBelow)));
    gFloatFirst = mix(gFloatFirst, gFloatSecond, takes);
    gFloatSecond = mix(gFloatSecond, word, takes);
    gFloatNext += uint(bitCount(takers));
    gFloatAsked = on ? gFloatUsed : gFloatAsked;
}

// Returns the high word of the 64-bit number (first, second), shifted left by `at` modulo 32.
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
