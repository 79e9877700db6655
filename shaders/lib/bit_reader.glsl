// SPDX-License-Identifier: MIT OR Apache-2.0
// Bit reader of a lane group: 32 bit streams fed from one list of words.
//
// Each lane holds up to 64 bits; after every step the lanes that fell below 32 bits take one word each, in lane order,
// from the shared read position: a ballot and its population count below the lane give each lane its word. This is the
// interleave of GDeflate 1.0 (docs/format.md). Words come straight from memory, that is, from the first cache, which holds
// more than shared memory has to spare; bitsAhead gets them there before they are wanted.
#ifndef SLUICE_BIT_READER_GLSL
#define SLUICE_BIT_READER_GLSL

uvec2 gBitsSource;  // address of the words, 4-byte aligned
uint gBitsWords;    // how many there are
uint gBitsLastMask; // valid bits of the last one
uint gBitsNext;     // the shared read position, in words; past gBitsWords: the input was too short
uint gBitsLow, gBitsHigh, gBitsCount;

// The next bits, least significant first; 32 are valid after a refill.
uint bitsPeek() { return gBitsLow; }

// Removes n bits, 1 .. 31.
void bitsConsume(uint n) {
    gBitsLow = (gBitsLow >> n) | (gBitsHigh << (32u - n));
    gBitsHigh >>= n;
    gBitsCount -= n;
}

bool bitsTruncated() { return gBitsNext > gBitsWords; }

// Whether `words` more can be taken without looking. The last one of all is not among them: not all of it may count.
bool bitsAmple(uint words) { return gBitsNext + words < gBitsWords; }

// A word, 0 past the end. What the last one holds past the end is cleared.
uint bitsWord(uint index) {
    uint word = loadWord(gBitsSource, index, gBitsWords);
    return mix(word, word & gBitsLastMask, index + 1u == gBitsWords);
}

// The second half of a refill; `takers` is the ballot of lanes with `take`, which is gBitsCount < 32. A lane has at least
// one bit left then. `ample`: bitsAmple was true of what has been taken since and of 32 words more.
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

// Lane group operation. Groups that are not `enabled` take part in the ballot and take nothing.
void bitsRefill(bool enabled) {
    bool take = enabled && gBitsCount < 32u;
    bitsTake(take, lgBallot(take), false);
}

// A word of each of the 8 lines of 128 bytes behind the read position's, another in each of 8 lanes. The caller does
// something with it later, so that the load is not dropped, and nothing before, which would wait for it.
uint bitsAhead() { return loadWord(gBitsSource, (gBitsNext | 31u) + 32u + 32u * (lgLane() & 7u), gBitsWords); }

void bitsBegin(bool enabled, uvec2 source, uint bytes) {
    gBitsSource = source;
    gBitsWords = enabled ? (bytes + 3u) >> 2 : 0u;
    gBitsLastMask = (bytes & 3u) == 0u ? 0xffffffffu : (1u << ((bytes & 3u) * 8u)) - 1u;
    // Every lane takes a word.
    gBitsLow = bitsWord(lgLane());
    gBitsHigh = 0u;
    gBitsCount = gBitsNext = 32u;
}

#endif // SLUICE_BIT_READER_GLSL
