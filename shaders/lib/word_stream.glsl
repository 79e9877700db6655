// SPDX-License-Identifier: MIT OR Apache-2.0
// A list of 16-bit words that the lanes of a lane group consume in lane order, through a ring
// buffer in shared memory. A step takes at most one word per lane. The caller calls wordsAhead,
// does at most six steps, then passes the result of wordsAhead to wordsMove.
#ifndef SLUICE_WORD_STREAM_GLSL
#define SLUICE_WORD_STREAM_GLSL

#include "loops.glsl"
#include "lanes.glsl"
#include "memory.glsl"

// Where a lane group spans several subgroups, the ring would cost more than it saves. Its barriers
// in every read would also make SwiftShader run out of memory during compilation.
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)

uvec2 gWordsAt;  // address, 4-byte aligned
uint gWordsSize; // in units of 4 bytes; words past it are 0
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
// An entry holds a single 16-bit word, since unpacking two words would make reads slower.
shared uint sWords[kGroupsPerWorkgroup * 64u * kWordRows];

uvec2 gWordsAt;  // address, 4-byte aligned
uint gWordsLast; // index of the last 4 bytes; words past them are undefined
uint gNext;      // the next word
uint gMoveAt;    // the ring moves when gNext reaches this

// Returns two words of the stream in row `row` for this lane.
uint wordsLoad(uint row) { return WordsIn(gWordsAt).w[min(row * 32u + lgLane(), gWordsLast)]; }
void wordsKeep(uint row, uint pair) {
    uint at = (lgIndex() * kWordRows + row % kWordRows) * 64u + 2u * lgLane();
    sWords[at] = pair & 0xffffu;
    sWords[at + 1u] = pair >> 16;
}

// Opens a list of `size` units of 4 bytes. If the list is empty, `elsewhere` is read instead; its
// contents do not matter.
void wordsBegin(uvec2 address, uint size, uvec2 elsewhere) {
    gWordsAt = mix(address, elsewhere, bvec2(size == 0u));
    gWordsLast = max(size, 1u) - 1u;
    gNext = 0u;
    lgBarrierShared(); // all lanes have read the previous list
    SLUICE_UNROLL
    for (uint row = 0u; row < kWordRows; ++row)
        wordsKeep(row, wordsLoad(row));
    gMoveAt = 64u;
    lgBarrierShared();
}

// Returns word `at` of the list, which must be among the next 192.
uint wordAt(uint at) { return sWords[lgIndex() * 64u * kWordRows + at % (64u * kWordRows)]; }

// Loads the row that enters the ring next. Each iteration of the caller's loop loads it, even if
// the ring does not move; most of these loads hit the first-level cache. A load in a branch, or a
// register that lives across iterations, would make NVIDIA's compiler (580) wait for the memory.
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
