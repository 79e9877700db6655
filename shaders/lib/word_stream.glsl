// SPDX-License-Identifier: MIT OR Apache-2.0
// A list of 16-bit words that the lanes of a lane group take in the order of the lanes. The words
// pass through a ring buffer in shared memory. The caller must call wordsAhead, then do at most six
// steps in which each lane takes at most one word (192 words in all), then pass the result of
// wordsAhead to wordsMove, and begin again.
#ifndef SLUICE_WORD_STREAM_GLSL
#define SLUICE_WORD_STREAM_GLSL

#include "loops.glsl"
#include "lanes.glsl"
#include "memory.glsl"

// Where a lane group consists of several subgroups, lanes read the list directly, without a ring
// buffer in shared memory. A ring would need barriers at each read, which cost more than it saves
// and make SwiftShader run out of memory while it compiles.
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)

uvec2 gWordsAt;  // address of the list, a multiple of 4
uint gWordsSize; // the list's number of 32-bit words; words past its end are 0
uint gNext;      // number of the next 16-bit word to take

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

// The ring has kWordRows rows of 64 words. When the ring moves, a row whose words were all taken is
// replaced by the next row of the list, so that at least 192 words are ahead.
const uint kWordRows = 4u;
// Each element of the array is one 16-bit word. Unpacking two words from an element would make
// reads slower.
shared uint sWords[kGroupsPerWorkgroup * 64u * kWordRows];

uvec2 gWordsAt;  // address of the list, a multiple of 4
uint gWordsLast; // number of the list's last 32-bit word; words after it are undefined
uint gNext;      // number of the next 16-bit word to take
uint gMoveAt;    // when gNext reaches this, the ring moves

// Loads this lane's two 16-bit words of row `row` of the list. Returns the first one in the low
// half.
uint wordsLoad(uint row) { return WordsIn(gWordsAt).w[min(row * 32u + lgLane(), gWordsLast)]; }
// Stores in the ring what wordsLoad has returned for row `row`.
void wordsKeep(uint row, uint pair) {
    uint at = (lgIndex() * kWordRows + row % kWordRows) * 64u + 2u * lgLane();
    sWords[at] = pair & 0xffffu;
    sWords[at + 1u] = pair >> 16;
}

// Begins to read the list of `size` 32-bit words at `address`. If the list is empty, the words that
// this loads come from `elsewhere`, which must be a valid address.
void wordsBegin(uvec2 address, uint size, uvec2 elsewhere) {
    gWordsAt = mix(address, elsewhere, bvec2(size == 0u));
    gWordsLast = max(size, 1u) - 1u;
    gNext = 0u;
    // This barrier waits until all lanes have read the previous list.
    lgBarrierShared();
    SLUICE_UNROLL
    for (uint row = 0u; row < kWordRows; ++row)
        wordsKeep(row, wordsLoad(row));
    gMoveAt = 64u;
    lgBarrierShared();
}

// Returns 16-bit word `at` of the list. `at` must be below gNext + 192, and not below gNext.
uint wordAt(uint at) { return sWords[lgIndex() * 64u * kWordRows + at % (64u * kWordRows)]; }

// Loads the row that enters the ring next. The caller's loop calls this in each iteration, even if
// the ring does not move in it; most of these loads find their data in the first-level cache. If
// the load stood in a branch, or its result lived across iterations, NVIDIA's compiler (driver 580)
// would make the lanes wait for memory.
uint wordsAhead() { return wordsLoad(gMoveAt / 64u + kWordRows - 1u); }

// Moves the ring by one row.
void wordsMoveRow(uint ahead) {
    wordsKeep(gMoveAt / 64u - 1u, ahead);
    gMoveAt += 64u;
}

// Moves the ring until it has no row whose words were all taken. `ahead` is what wordsAhead has
// returned.
void wordsMove(uint ahead) {
    lgBarrierShared();
    if (gNext >= gMoveAt) {
        wordsMoveRow(ahead);
        // It is rare that more than one row was taken.
        if (gNext >= gMoveAt) {
            wordsMoveRow(wordsAhead());
            if (gNext >= gMoveAt) wordsMoveRow(wordsAhead());
        }
    }
    lgBarrierShared();
}

#endif
#endif // SLUICE_WORD_STREAM_GLSL
