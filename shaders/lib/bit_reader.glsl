// SPDX-License-Identifier: MIT OR Apache-2.0
// Bit reader of a lane group: 32 bit streams fed from one list of words.
//
// Each lane holds up to 64 bits; after every step the lanes that fell below 32 bits take one word
// each, in lane order, from the shared read position: a ballot and its population count below the
// lane give each lane its word. This is the interleave of GDeflate 1.0 (docs/format.md). Words come
// straight from memory, that is, from the first cache, which holds more than shared memory has to
// spare; bitsAhead gets them there before they are wanted.
#ifndef SLUICE_BIT_READER_GLSL
#define SLUICE_BIT_READER_GLSL

#include "lanes.glsl"
#include "memory.glsl"

uvec2 gBitsSource; // address of the words, 4-byte aligned
uint gBitsBytes;   // bytes that count
uint gBitsNext;    // the shared read position, in words; past bitsWords(): the input was too short
uint gBitsLow, gBitsHigh, gBitsCount;

// The next bits, least significant first; 32 are valid after a refill.
uint bitsPeek() { return gBitsLow; }

// Removes n bits, 1 .. 31.
void bitsConsume(uint n) {
    gBitsLow = (gBitsLow >> n) | (gBitsHigh << (32u - n));
    gBitsHigh >>= n;
    gBitsCount -= n;
}

uint bitsWords() { return (gBitsBytes + 3u) >> 2; }

bool bitsTruncated() { return gBitsNext > bitsWords(); }

// Whether `words` more can be taken without looking. The last one of all is not among them: not all
// of it may count.
bool bitsAmple(uint words) { return gBitsNext + words < bitsWords(); }

// A word, 0 past the end. What the last one holds past the end is cleared.
uint bitsWord(uint index) {
    uint word = loadWord(gBitsSource, index, bitsWords());
    uint past = 4u * bitsWords() - gBitsBytes;
    return mix(word, word & 0xffffffffu >> (8u * past), index + 1u == bitsWords());
}

// The second half of a refill; `takers` is the ballot of lanes with `take`, which is gBitsCount <
// 32. A lane has at least one bit left then. `ample`: bitsAmple was true of what has been taken
// since and of 32 words more.
void bitsTake(bool take, uint takers, const bool ample) {
    uint index = gBitsNext + uint(bitCount(takers & lgLanesBelow())), word = 0u;
    if (!ample)
        word = bitsWord(index);
    else if (!kLockstep || take)
        word = WordsIn(gBitsSource).w[index];
    gBitsLow = mix(gBitsLow, gBitsLow | word << (gBitsCount & 31u), take);
    gBitsHigh = mix(gBitsHigh, word >> ((32u - gBitsCount) & 31u), take);
    gBitsCount += mix(0u, 32u, take);
    gBitsNext += uint(bitCount(takers));
}

// The refills of two rounds at once, where no lane consumed more bits than it had: so none takes
// two words. `takersFirst` is the ballot of lanes that were below 32 bits after the first round, as
// `first` says of this one, `takers` that of gBitsCount < 32 now. bitsAmple was true as for
// bitsTake.
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

// Lane group operation. Groups that are not `enabled` take part in the ballot and take nothing.
void bitsRefill(bool enabled) {
    bool take = enabled && gBitsCount < 32u;
    bitsTake(take, lgBallot(take), false);
}

// A word of each of the 32 sectors of 32 bytes behind the read position's, another in each lane:
// caches load no more of a line than the sectors that are asked for. The caller does something with
// it later, so that the load is not dropped, and nothing before, which would wait for it.
uint bitsAhead() {
    return loadWord(gBitsSource, (gBitsNext | 7u) + 1u + 8u * lgLane(), bitsWords());
}

void bitsBegin(bool enabled, uvec2 source, uint bytes) {
    gBitsSource = source;
    gBitsBytes = enabled ? bytes : 0u;
    // Every lane takes a word.
    gBitsLow = bitsWord(lgLane());
    gBitsHigh = 0u;
    gBitsCount = gBitsNext = 32u;
}

#endif // SLUICE_BIT_READER_GLSL
