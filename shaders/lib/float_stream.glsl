// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit streams of a tile of the float codec: a list of words that the lanes of a lane group take
// in turn. A lane has two words, and takes the next one of the list when it has used one up. Past
// the list's end words are 0.
#ifndef SLUICE_FLOAT_STREAM_GLSL
#define SLUICE_FLOAT_STREAM_GLSL

#ifdef SLUICE_INT64
#extension GL_ARB_gpu_shader_int64 : require
#endif
#include "lanes.glsl"
#include "memory.glsl"
#include "units.glsl"

uint gFloatFirst, gFloatSecond;
uint gFloatUsed;  // bits used of these words, modulo 64; upper bits mean nothing
uint gFloatAsked; // gFloatUsed when the lane last could take a word: it takes one if bit 5 has
                  // changed since
uint gFloatNext;  // the place of the next word
uint gFloatHalf;  // in the tail: 1 if the first half of that word has been taken
uint gFloatBelow; // a ballot multiplied by this has only the bits of the lanes below this one

uvec2 gFloatListAt; // the address of the list; if it is empty, of any 8 bytes of the source
uint gFloatListEnd; // in pairs of words

uvec2 floatWords(uint pair) {
    return pair < gFloatListEnd ? PairsIn(gFloatListAt).v[pair] : uvec2(0u);
}

// Where lane groups are joined through shared memory, a ring would cost more than it saves; with
// its barriers in every step SwiftShader would run out of memory when it compiles.
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

// The ring has three chunks, of which the third is a copy of the first, so that a chunk may be
// taken from any place in the first two. Sizes are in words.
const uint kFloatChunk = 64u, kFloatRing = 3u * kFloatChunk;
shared uint sFloatRing[kGroupsPerWorkgroup * kFloatRing];
uint gFloatAheadAt; // the pair of words that comes into the ring next
uint gFloatMoveAt;  // gFloatNext when it does

uint floatWord(uint at) { return sFloatRing[at]; }

void floatStore(uint chunk, uvec2 words) {
    uint at = lgIndex() * kFloatRing + chunk * kFloatChunk + 2u * lgLane();
    sFloatRing[at] = words.x;
    sFloatRing[at + 1u] = words.y;
}

// Loads the lane's words of the chunk that the ring takes next. This happens long before and
// without a branch, because loads inside a branch are waited for there. Words past the list may be
// anything.
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
            // Returns whether the place goes back to the first chunk.
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

// Fills the ring. Where lanes have taken the list's first chunk, the ring begins as if they had
// taken it from there.
void floatRing(bool whole) {
    uint chunk = whole ? 1u : 0u, pair = chunk * kFloatChunk / 2u + lgLane();
    uvec2 first = floatWords(pair), second = floatWords(pair + kFloatChunk / 2u);
    lgBarrierShared(); // the list before has been read
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

// Opens a list. `whole` says that the tile has rows before the tail, for which each lane begins
// with two words.
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

// Lanes of a group that is `on` take another word if they have used one up since they could last
// take one. For the others nothing changes.
void floatTake(bool on) {
    bool takes = on && ((gFloatUsed ^ gFloatAsked) & 32u) != 0u;
    uint takers = lgBallot(takes),
         word = floatWord(gFloatNext + uint(bitCount(takers * gFloatBelow)));
    gFloatFirst = mix(gFloatFirst, gFloatSecond, takes);
    gFloatSecond = mix(gFloatSecond, word, takes);
    gFloatNext += uint(bitCount(takers));
    gFloatAsked = on ? gFloatUsed : gFloatAsked;
}

// Returns 32 bits of the 64 in `first` and `second`, from bit `at` modulo 32 on.
uint floatFunnel(uint first, uint second, uint at) {
#ifdef SLUICE_INT64
    // This is one instruction on NVIDIA's GPUs.
    return unpackUint2x32(packUint2x32(uvec2(second, first)) << (at & 31u)).y;
#else
    return first << (at & 31u) | (second >> 1) >> (~at & 31u);
#endif
}
// Returns the lane's next bits: 32, less those that it has used since it could last take a word.
uint floatNext() { return floatFunnel(gFloatFirst, gFloatSecond, gFloatUsed); }

#endif // SLUICE_FLOAT_STREAM_GLSL
