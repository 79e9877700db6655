// SPDX-License-Identifier: MIT OR Apache-2.0
// A list of 16-bit words that the lanes of a lane group take in turn, through a ring in shared
// memory. A step takes at most one word a lane. wordsMove must follow after at most six steps, with
// what wordsAhead returned before them.
#ifndef SLUICE_WORD_STREAM_GLSL
#define SLUICE_WORD_STREAM_GLSL

#include "loops.glsl"
#include "lanes.glsl"
#include "memory.glsl"

// Where lane groups are joined through shared memory, the ring would cost more than it saves; with
// its barriers in every read SwiftShader would run out of memory when it compiles.
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)

uvec2 gWordsAt;  // address, 4-byte aligned
uint gWordsSize; // in units of 4 bytes; words behind it are 0
uint gNext;      // the next word

void wordsBegin(uvec2 address, uint size, uvec2 elsewhere) {
    gWordsAt = address;
    gWordsSize = size;
    gNext = 0u;
}
uint wordAt(uint at) {
    uint pair = at >> 1 < gWordsSize ? WordsIn(gWordsAt).w[at >> 1] : 0u;
    return pair >> (at & 1u) * 16u & 0xffffu;
}
uint wordsAhead() { return 0u; }
void wordsMove(uint ahead) {}

#else

const uint kWordRows = 4u; // of 64 words; three of them are always ahead
// An entry has one word of 16 bits, since packed words would take longer to read.
shared uint sWords[kGroupsPerWorkgroup * 64u * kWordRows];

uvec2 gWordsAt;  // address, 4-byte aligned
uint gWordsLast; // the last 4 bytes; words behind them have no meaning
uint gNext;      // the next word
uint gMoveAt;    // when the ring moves on

// Returns two words of the stream in row `row` for this lane.
uint wordsLoad(uint row) { return WordsIn(gWordsAt).w[min(row * 32u + lgLane(), gWordsLast)]; }
void wordsKeep(uint row, uint pair) {
    uint at = (lgIndex() * kWordRows + row % kWordRows) * 64u + 2u * lgLane();
    sWords[at] = pair & 0xffffu;
    sWords[at + 1u] = pair >> 16;
}

// Opens a list of `size` times 4 bytes. `elsewhere` may be read if it is empty.
void wordsBegin(uvec2 address, uint size, uvec2 elsewhere) {
    gWordsAt = mix(address, elsewhere, bvec2(size == 0u));
    gWordsLast = max(size, 1u) - 1u;
    gNext = 0u;
    lgBarrierShared(); // the list before has been read
    SLUICE_UNROLL
    for (uint row = 0u; row < kWordRows; ++row)
        wordsKeep(row, wordsLoad(row));
    gMoveAt = 64u;
    lgBarrierShared();
}

// Returns word `at` of the list, which must be among the next 192.
uint wordAt(uint at) { return sWords[lgIndex() * 64u * kWordRows + at % (64u * kWordRows)]; }

// Loads the row that comes next. This is done at each turn, mostly from the first-level cache, and
// in vain if the ring does not move. With a load in a branch, or a register that lives across
// iterations, NVIDIA's compiler (580) would wait for the memory.
uint wordsAhead() { return wordsLoad(gMoveAt / 64u + kWordRows - 1u); }

void wordsMoveRow(uint ahead) {
    wordsKeep(gMoveAt / 64u - 1u, ahead);
    gMoveAt += 64u;
}

void wordsMove(uint ahead) {
    lgBarrierShared();
    if (gNext >= gMoveAt) {
        wordsMoveRow(ahead);
        if (gNext >= gMoveAt) { // more than one row is rare
            wordsMoveRow(wordsAhead());
            if (gNext >= gMoveAt) wordsMoveRow(wordsAhead());
        }
    }
    lgBarrierShared();
}

#endif
#endif // SLUICE_WORD_STREAM_GLSL
