// SPDX-License-Identifier: MIT OR Apache-2.0
// The bit reader of a lane group. It feeds 32 bit streams, one per lane, from one list of 32-bit
// words.
//
// Each lane holds up to 64 bits. A *refill* follows every step: each lane that has fewer than 32
// bits takes one word from the read position, which all lanes share, in the order of the lanes. A
// ballot tells which lanes take a word; the population count of its bits below a lane tells which
// word that lane takes. This is how GDeflate interleaves its streams (docs/format.md, 1.2). Words
// are not staged in shared memory: the first-level cache holds more, and bitsAhead loads words into
// it early.
#ifndef SLUICE_BIT_READER_GLSL
#define SLUICE_BIT_READER_GLSL

#include "lanes.glsl"
#include "memory.glsl"

uvec2 gBitsSource; // address of the words, 4-byte aligned
uint gBitsBytes;   // bytes of the list
// The index in the list of the next word that a refill gives out; it is the same in all lanes. In a
// truncated stream it can pass the end of the list.
uint gBitsNext;
// The bits that the lane holds, gBitsCount in all. The next one is the lowest bit of gBitsLow.
uint gBitsLow, gBitsHigh, gBitsCount;

// Returns the lane's next bits, the first one lowest. At least 32 of them are valid after a refill.
uint bitsPeek() { return gBitsLow; }

// Removes n bits, 1 .. 31.
void bitsConsume(uint n) {
    gBitsLow = (gBitsLow >> n) | (gBitsHigh << (32u - n));
    gBitsHigh >>= n;
    gBitsCount -= n;
}

// Returns how many words the list has; the last one may have fewer than 4 bytes.
uint bitsWords() { return (gBitsBytes + 3u) >> 2; }

// Returns whether a refill has taken more words than the list has.
bool bitsTruncated() { return gBitsNext > bitsWords(); }

// Returns whether bitsTake may take `words` more words without checking for the end of the list.
// They must all lie before the list's last word, since that word may have bytes past the end.
bool bitsEnough(uint words) { return gBitsNext + words < bitsWords(); }

// Returns word `index` of the list; all bytes past the list's end are 0.
uint bitsWord(uint index) {
    uint word = loadWord(gBitsSource, index, bitsWords());
    uint past = 4u * bitsWords() - gBitsBytes;
    return mix(word, word & 0xffffffffu >> (8u * past), index + 1u == bitsWords());
}

// Gives a word to each lane that has `take` set; such a lane must have 1 to 31 bits. `takers` is
// the ballot of `take`. `unchecked` omits the check for the end of the list. It may be true only if
// bitsEnough(n) has returned true, and at most n - 32 words have been taken since, because this
// call may take 32.
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

// Does the refills of two rounds at once, after the second round. The first words go to the lanes
// that had fewer than 32 bits after the first round: `takersFirst` is their ballot, and `first`
// says whether this lane is one of them. The next words go to the other lanes that have fewer than
// 32 bits now; `takers` is the ballot of all lanes that get a word. The caller must make sure that
// no lane has consumed more bits than it had; then no lane needs two words. The end of the list is
// not checked, so bitsEnough must have been true (see bitsTake).
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

// Does a refill: gives a word to each lane that has fewer than 32 bits. Lane groups in lockstep
// call this together; only `enabled` ones take words.
void bitsRefill(bool enabled) {
    bool take = enabled && gBitsCount < 32u;
    bitsTake(take, lgBallot(take), false);
}

// Prefetches the next 32 sectors (of 32 bytes each) after the read position into the cache. Each
// lane loads one word of one sector, because a cache loads only those sectors of a line that are
// accessed. The caller must use the result, or the compiler would drop the load. It should use the
// result late, so that nothing waits for the load.
uint bitsAhead() {
    return loadWord(gBitsSource, (gBitsNext | 7u) + 1u + 8u * lgLane(), bitsWords());
}

// Begins to read the list of `bytes` bytes at the address `source`, a multiple of 4, or an empty
// list if `enabled` is false. Every lane takes its first word.
void bitsBegin(bool enabled, uvec2 source, uint bytes) {
    gBitsSource = source;
    gBitsBytes = enabled ? bytes : 0u;
    gBitsLow = bitsWord(lgLane());
    gBitsHigh = 0u;
    gBitsCount = gBitsNext = 32u;
}

#endif // SLUICE_BIT_READER_GLSL
