// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef SLUICE_FLOAT_STREAM_GLSL
#define SLUICE_FLOAT_STREAM_GLSL

#ifdef SLUICE_INT64
#extension GL_ARB_gpu_shader_int64 : require
#endif
#include "lanes.glsl"
#include "memory.glsl"
#include "units.glsl"

// Two words of a lane, of which it has used so many bits, and the words of the group's list that it
// takes behind them: one when it has used one up. Past the list's end words are 0.

uint gFloatFirst, gFloatSecond;
uint gFloatUsed;  // modulo 64; bits above those mean nothing
uint gFloatAsked; // gFloatUsed when the lane last could take a word: it takes one if bit 5 has
                  // turned since
uint gFloatNext;  // where the next word is
uint gFloatHalf;  // in the tail: 1 if the first half of that word has been taken
uint gFloatBelow; // multiplied by it, a ballot has the bits of the lanes below this one only

uvec2 gFloatListAt; // if it is empty, any 8 bytes of the source
uint gFloatListEnd; // in pairs of words

uvec2 floatWords(uint pair) {
    return pair < gFloatListEnd ? PairsIn(gFloatListAt).v[pair] : uvec2(0u);
}

// Where lane groups are joined through shared memory a ring would cost more than it saves, and its
// barriers would stand in every step: SwiftShader takes more memory than there is to compile that.
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

// Three chunks, the third one a copy of the first, so that a chunk may be taken from any place in
// the first two.
const uint kFloatChunk = 64u, kFloatRing = 3u * kFloatChunk; // words
shared uint sFloatRing[kGroupsPerWorkgroup * kFloatRing];
uint gFloatAheadAt; // the pair of words that comes into the ring next
uint gFloatMoveAt;  // and when

uint floatWord(uint at) { return sFloatRing[at]; }

void floatStore(uint chunk, uvec2 words) {
    uint at = lgIndex() * kFloatRing + chunk * kFloatChunk + 2u * lgLane();
    sFloatRing[at] = words.x;
    sFloatRing[at + 1u] = words.y;
}

// The lane's words of the chunk that the ring takes next, as they are loaded long before that and
// without a branch: what is loaded inside one is waited for there. Past the list they are any.
uvec2 floatAhead() {
    uint at = gFloatAheadAt + lgLane();
    return kLockstep ? floatWords(at)
                     : PairsIn(gFloatListAt).v[min(at, max(gFloatListEnd, 1u) - 1u)];
}

// Between two calls of it the group may take kFloatChunk words. ahead: floatAhead() when
// gFloatAheadAt was `aheadOf`.
void floatMove(uvec2 ahead, uint aheadOf) {
    bool moves = gFloatNext >= gFloatMoveAt;
    if (wgAny(moves)) {
        uint at = gFloatAheadAt + lgLane();
        uvec2 words = ahead;
        if (wgAny(moves && gFloatAheadAt != aheadOf)) // the second time in a row
            words = floatWords(at);
        words = at < gFloatListEnd ? words : uvec2(0u);
        lgBarrierShared();
        if (!kLockstep || moves) {
            bool back = (gFloatAheadAt & kFloatChunk / 2u) != 0u; // to the first chunk
            floatStore(back ? 1u : 0u, words);
            floatStore(back ? 1u : 2u, words);
            gFloatNext -= back ? 2u * kFloatChunk : 0u;
            gFloatMoveAt += back ? -kFloatChunk : kFloatChunk;
            gFloatAheadAt += kFloatChunk / 2u;
        }
        lgBarrierShared();
    }
}

// If lanes have taken the list's first chunk it begins as if they had done so from the ring.
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

// How many words have been taken.
uint floatTaken() {
    return gFloatNext - kFloatRing * lgIndex() +
           (gFloatAheadAt / kFloatChunk - 1u) * 2u * kFloatChunk;
}

#endif

// whole: whether the tile has rows but those of the tail, for which each lane begins with two
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

// Lanes of a group that is `on` take another word if they have used one up since they were asked
// last. For the others nothing changes.
void floatTake(bool on) {
    bool takes = on && ((gFloatUsed ^ gFloatAsked) & 32u) != 0u;
    uint takers = lgBallot(takes),
         word = floatWord(gFloatNext + uint(bitCount(takers * gFloatBelow)));
    gFloatFirst = mix(gFloatFirst, gFloatSecond, takes);
    gFloatSecond = mix(gFloatSecond, word, takes);
    gFloatNext += uint(bitCount(takers));
    gFloatAsked = on ? gFloatUsed : gFloatAsked;
}

// first, second: 64 bits. Those that begin at `at`, which counts modulo 32.
uint floatFunnel(uint first, uint second, uint at) {
#ifdef SLUICE_INT64
    // one instruction of NVIDIA's
    return unpackUint2x32(packUint2x32(uvec2(second, first)) << (at & 31u)).y;
#else
    return first << (at & 31u) | (second >> 1) >> (~at & 31u);
#endif
}
// A lane's next bits, at least 32 less those that it has used since it was asked.
uint floatNext() { return floatFunnel(gFloatFirst, gFloatSecond, gFloatUsed); }

#endif // SLUICE_FLOAT_STREAM_GLSL
