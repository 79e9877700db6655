// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit reader of a lane group. It feeds 32 bit streams, one per lane, from one list of 32-bit
// words.
//
// Each lane holds up to 64 bits. A *refill* follows every step: each lane that has fewer than 32
// bits takes one word from the read position, which all lanes share, in the order of the lanes. A
// ballot tells which lanes take a word; the population count of its bits below a lane tells which
// word that lane takes. This is how GDeflate interleaves its streams (docs/format.md, 1.2). Words
// are loaded straight from memory and not staged in shared memory, because the first-level cache
// holds more than shared memory could spare; bitsAhead loads them into that cache early.
#ifndef SLUICE_BIT_READER_GLSL
#define SLUICE_BIT_READER_GLSL

#include "lanes.glsl"
#include "memory.glsl"

uvec2 gBitsSource; // address of the words, 4-byte aligned
uint gBitsBytes;   // bytes of the list
// The shared read position, in words. It is above bitsWords() once more words were taken than there
// are.
uint gBitsNext;
// The lane's bits, the next one lowest, and how many it has.
uint gBitsLow, gBitsHigh, gBitsCount;

// Returns the lane's next bits, the first one lowest; after a refill at least 32 are valid.
uint bitsPeek() { return gBitsLow; }

// Removes n bits, 1 .. 31.
void bitsConsume(uint n) {
    gBitsLow = (gBitsLow >> n) | (gBitsHigh << (32u - n));
    gBitsHigh >>= n;
    gBitsCount -= n;
}

// Returns the number of words; the last one may have fewer than 4 bytes.
uint bitsWords() { return (gBitsBytes + 3u) >> 2; }

// Returns whether a refill has taken more words than the list has.
bool bitsTruncated() { return gBitsNext > bitsWords(); }

// Returns whether bitsTake may take `words` more words `unchecked`. The list's last word is always
// checked, since some of its bytes may lie behind the list.
bool bitsEnough(uint words) { return gBitsNext + words < bitsWords(); }

// Returns word `index` of the list; all bytes behind its end are 0.
uint bitsWord(uint index) {
    uint word = loadWord(gBitsSource, index, bitsWords());
    uint past = 4u * bitsWords() - gBitsBytes;
    return mix(word, word & 0xffffffffu >> (8u * past), index + 1u == bitsWords());
}

// Refills the lanes that have `take` set, which must have 1 to 31 bits; `takers` is their ballot.
// `unchecked` may be true if a call of bitsEnough has covered all words that were taken since that
// call, and 32 more.
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

// Does the refills of two rounds at once, as bitsTake does them `unchecked`. No lane may have
// consumed more bits than it had, so that no lane takes two words. `takersFirst` is the ballot of
// the lanes that had fewer than 32 bits after the first round, and `first` is this lane's bit of
// that ballot. `takers` is the ballot of the lanes that have fewer than 32 bits now.
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

// All lane groups in lockstep call this together. Groups that are not `enabled` take no words.
void bitsRefill(bool enabled) {
    bool take = enabled && gBitsCount < 32u;
    bitsTake(take, lgBallot(take), false);
}

// Loads the next 32 sectors (of 32 bytes each) behind the read position into the cache. Each lane
// loads one word of one sector, because a cache loads only those sectors of a line that are
// accessed. The caller must use the result, or the compiler would drop the load; it should use the
// result late, so that nothing waits for the load.
uint bitsAhead() {
    return loadWord(gBitsSource, (gBitsNext | 7u) + 1u + 8u * lgLane(), bitsWords());
}

// Begins to read `bytes` bytes at `source`, a multiple of 4. Every lane takes its first word.
void bitsBegin(bool enabled, uvec2 source, uint bytes) {
    gBitsSource = source;
    gBitsBytes = enabled ? bytes : 0u;
    gBitsLow = bitsWord(lgLane());
    gBitsHigh = 0u;
    gBitsCount = gBitsNext = 32u;
}

#endif // SLUICE_BIT_READER_GLSL
