// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit reader of a lane group. It feeds 32 bit streams, one per lane, from one list of words.
//
// Each lane holds up to 64 bits. After every step, each lane that has fewer than 32 bits takes one
// word from the shared read position, in lane order. A ballot and the population count of its bits
// below the lane tell the lane which word to take. This is the interleave of GDeflate 1.0
// (docs/format.md). Words are loaded straight from memory. They are not staged in shared memory,
// because the first-level cache holds more than shared memory could spare; bitsAhead prefetches
// them into that cache.
#ifndef SLUICE_BIT_READER_GLSL
#define SLUICE_BIT_READER_GLSL

#include "lanes.glsl"
#include "memory.glsl"

uvec2 gBitsSource; // address of the words, 4-byte aligned
uint gBitsBytes;   // number of valid bytes
uint gBitsNext;    // the shared read position, in words; past bitsWords() if the input was too
                   // short
uint gBitsLow, gBitsHigh, gBitsCount;

// Returns the next bits, least significant first; 32 are valid after a refill.
uint bitsPeek() { return gBitsLow; }

// Removes n bits, 1 .. 31.
void bitsConsume(uint n) {
    gBitsLow = (gBitsLow >> n) | (gBitsHigh << (32u - n));
    gBitsHigh >>= n;
    gBitsCount -= n;
}

uint bitsWords() { return (gBitsBytes + 3u) >> 2; }

bool bitsTruncated() { return gBitsNext > bitsWords(); }

// Returns whether `words` more words can be taken unchecked. The last word of the list must always
// be checked, since some of its bytes may be invalid.
bool bitsEnough(uint words) { return gBitsNext + words < bitsWords(); }

// Returns a word of the list; all bytes past the end are 0.
uint bitsWord(uint index) {
    uint word = loadWord(gBitsSource, index, bitsWords());
    uint past = 4u * bitsWords() - gBitsBytes;
    return mix(word, word & 0xffffffffu >> (8u * past), index + 1u == bitsWords());
}

// Does the second half of a refill. Lanes with `take` set have 1 to 31 bits, and `takers` is their
// ballot. The caller may set `unchecked` if bitsEnough has covered all words taken since that call
// and 32 more.
void bitsTake(bool take, uint takers, const bool unchecked) {
    uint index = gBitsNext + uint(bitCount(takers & lgLanesBelow())), word = 0u;
    if (!unchecked)
        word = bitsWord(index);
    else if (!kLockstep || take)
        word = WordsIn(gBitsSource).w[index];
    gBitsLow = mix(gBitsLow, gBitsLow | word << (gBitsCount & 31u), take);
    gBitsHigh = mix(gBitsHigh, word >> ((32u - gBitsCount) & 31u), take);
    gBitsCount += mix(0u, 32u, take);
    gBitsNext += uint(bitCount(takers));
}

// Does the refills of two rounds at once, unchecked. No lane has consumed more bits than it had, so
// no lane takes two words. `takersFirst` is the ballot of the lanes that had fewer than 32 bits
// after the first round, and `first` is this lane's bit of it. `takers` is the ballot of the lanes
// that have fewer than 32 bits now.
void bitsTakeTwo(bool first, uint takersFirst, uint takers) {
    bool take = gBitsCount < 32u;
    uint before = mix(takersFirst | (takers & lgLanesBelow()), takersFirst & lgLanesBelow(), first),
         word = 0u;
    if (!kLockstep || take) word = WordsIn(gBitsSource).w[gBitsNext + uint(bitCount(before))];
    gBitsLow = mix(gBitsLow, gBitsLow | word << (gBitsCount & 31u), take);
    gBitsHigh = mix(gBitsHigh, word >> ((32u - gBitsCount) & 31u), take);
    gBitsCount += mix(0u, 32u, take);
    gBitsNext += uint(bitCount(takers));
}

// All lane groups in lockstep refill together. Groups that are not `enabled` take no words.
void bitsRefill(bool enabled) {
    bool take = enabled && gBitsCount < 32u;
    bitsTake(take, lgBallot(take), false);
}

// Prefetches the next 32 sectors (of 32 bytes) after the read position. Each lane loads a word of
// one sector, because a cache loads only those sectors of a line that are accessed. The caller must
// use the result, or the compiler would drop the load; it should use it late, so that nothing waits
// for it.
uint bitsAhead() {
    return loadWord(gBitsSource, (gBitsNext | 7u) + 1u + 8u * lgLane(), bitsWords());
}

void bitsBegin(bool enabled, uvec2 source, uint bytes) {
    gBitsSource = source;
    gBitsBytes = enabled ? bytes : 0u;
    gBitsLow = bitsWord(lgLane());
    gBitsHigh = 0u;
    gBitsCount = gBitsNext = 32u;
}

#endif // SLUICE_BIT_READER_GLSL
