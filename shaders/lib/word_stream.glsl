// SPDX-License-Identifier: MIT OR Apache-2.0
// A list of 16-bit words that the lanes of a lane group take in turn, through a ring in shared memory. A step takes at most
// one word a lane; wordsMove follows every two of them at least.
#ifndef SLUICE_WORD_STREAM_GLSL
#define SLUICE_WORD_STREAM_GLSL

// Where lane groups are joined through shared memory the ring would cost more than it saves, and its barriers would stand in
// every read: SwiftShader takes more memory than there is to compile that.
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)

uvec2 gWordsAt;  // address, 4-byte aligned
uint gWordsSize; // in 4 bytes; behind it all words are 0
uint gNext;      // the next word

void wordsBegin(uvec2 address, uint size) {
    gWordsAt = address;
    gWordsSize = size;
    gNext = 0u;
}
uint wordAt(uint at) {
    uint pair = at >> 1 < gWordsSize ? WordsIn(gWordsAt).w[at >> 1] : 0u;
    return pair >> (at & 1u) * 16u & 0xffffu;
}
void wordsMove() {}

#else

const uint kWordRing = 64u; // two words of the stream in each
shared uint sWords[kGroupsPerWorkgroup * kWordRing];

uvec2 gWordsAt;  // address, 4-byte aligned
uint gWordsSize; // in 4 bytes; behind it all words are 0
uint gNext;      // the next word
uint gMoveAt;    // when the ring moves on

// Two words of the stream in row `row` for this lane.
uint wordsLoad(uint row) {
    uint at = row * 32u + lgLane();
    return at < gWordsSize ? WordsIn(gWordsAt).w[at] : 0u;
}

void wordsBegin(uvec2 address, uint size) {
    gWordsAt = address;
    gWordsSize = size;
    gNext = 0u;
    lgBarrierShared(); // the list before has been read
    sWords[lgIndex() * kWordRing + lgLane()] = wordsLoad(0u);
    sWords[lgIndex() * kWordRing + 32u + lgLane()] = wordsLoad(1u);
    gMoveAt = kWordRing;
    lgBarrierShared();
}

// Word `at` of the list, which is among the next 64.
uint wordAt(uint at) {
    uint pair = sWords[lgIndex() * kWordRing + ((at >> 1) & (kWordRing - 1u))];
    return pair >> (at & 1u) * 16u & 0xffffu;
}

void wordsMove() {
    bool moves = gNext >= gMoveAt;
    if (wgAny(moves)) {
        lgBarrierShared();
        if (moves) {
            uint row = gMoveAt / kWordRing + 1u;
            sWords[lgIndex() * kWordRing + ((row & 1u) * 32u) + lgLane()] = wordsLoad(row);
            gMoveAt += kWordRing;
        }
        lgBarrierShared();
    }
}

#endif
#endif // SLUICE_WORD_STREAM_GLSL
