// SPDX-License-Identifier: MIT OR Apache-2.0
// A list of 16-bit words that the lanes of a lane group take in turn, through a ring in shared memory. A step takes at most
// one word a lane; wordsMove follows every six of them at least.
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

const uint kWordRows = 4u; // of 64 words; three of them are always ahead
shared uint sWords[kGroupsPerWorkgroup * 64u * kWordRows]; // one each: packed they would take longer to read

uvec2 gWordsAt;  // address, 4-byte aligned
uint gWordsSize; // in 4 bytes; behind it all words are 0
uint gNext;      // the next word
uint gMoveAt;    // when the ring moves on
uint gAhead;     // two words of the row that comes next

// Two words of the stream in row `row` for this lane.
uint wordsLoad(uint row) {
    uint at = row * 32u + lgLane();
    return at < gWordsSize ? WordsIn(gWordsAt).w[at] : 0u;
}
void wordsKeep(uint row, uint pair) {
    uint at = (lgIndex() * kWordRows + row % kWordRows) * 64u + 2u * lgLane();
    sWords[at] = pair & 0xffffu;
    sWords[at + 1u] = pair >> 16;
}

void wordsBegin(uvec2 address, uint size) {
    gWordsAt = address;
    gWordsSize = size;
    gNext = 0u;
    lgBarrierShared(); // the list before has been read
    [[unroll]] for (uint row = 0u; row < kWordRows; ++row)
        wordsKeep(row, wordsLoad(row));
    gAhead = wordsLoad(kWordRows);
    gMoveAt = 64u;
    lgBarrierShared();
}

// Word `at` of the list, which is among the next 192.
uint wordAt(uint at) { return sWords[lgIndex() * 64u * kWordRows + at % (64u * kWordRows)]; }

bool wordsMoveRow() {
    bool moves = gNext >= gMoveAt;
    if (moves) {
        wordsKeep(gMoveAt / 64u - 1u, gAhead);
        gMoveAt += 64u;
        gAhead = wordsLoad(gMoveAt / 64u + kWordRows - 1u);
    }
    return moves;
}

void wordsMove() {
    lgBarrierShared();
    if (wordsMoveRow() && wordsMoveRow())
        wordsMoveRow();
    lgBarrierShared();
}

#endif
#endif // SLUICE_WORD_STREAM_GLSL
