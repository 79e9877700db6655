// SPDX-License-Identifier: MIT OR Apache-2.0
// Bit reader of a lane group: 32 bit streams fed from one list of words.
//
// Each lane holds up to 64 bits; after every step the lanes that fell below 32 bits take one word each, in lane order,
// from the shared read position: a ballot and its population count below the lane give each lane its word. This is the
// interleave of GDeflate 1.0 (docs/format.md) and of Gstd. The words pass through a window of two rows of 32 in shared
// memory, and the row after it is already on its way, so that no refill waits for memory.
#ifndef SLUICE_BIT_READER_GLSL
#define SLUICE_BIT_READER_GLSL

shared uint sWindow[kTiles * 64u];

uvec2 gBitsSource;  // address of the words, 4-byte aligned
uint gBitsWords;    // how many there are
uint gBitsLastMask; // valid bits of the last one
uint gBitsNext;     // the shared read position, in words; past gBitsWords: the input was too short
uint gBitsLimit;    // when gBitsNext gets here, the window moves or the input is over
uint gBitsAhead;    // this lane's word of the row after the window
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

uint bitsLoad(uint row) { return loadWord(gBitsSource, row * 32u + lgLane(), gBitsWords); }

// Clears what the last word holds past the end. Not done on loading, which would wait for the word.
void bitsSetRow(uint row, uint word) {
    if (row * 32u + lgLane() + 1u == gBitsWords)
        word &= gBitsLastMask;
    sWindow[tileIndex() * 64u + (row & 1u) * 32u + lgLane()] = word;
}

// Moves the window. A refill passes one row boundary at most, since it takes no more than 32 words.
void bitsAdvance(bool enabled) {
    lgBarrierShared(); // all lanes have read the row that goes
    if (enabled && !bitsTruncated()) {
        uint row = gBitsNext >> 5;
        bitsSetRow(row + 1u, gBitsAhead);
        gBitsAhead = bitsLoad(row + 2u);
        gBitsLimit = min((row + 1u) * 32u, gBitsWords + 1u);
    }
    lgBarrierShared();
}

// The second half of a refill; `takers` is the ballot of lanes with `take`, which is gBitsCount < 32. A lane has at least
// one bit left then. True: the window must move, or the input is over; wants bitsAdvance.
bool bitsTake(bool take, uint takers) {
    uint word = sWindow[tileIndex() * 64u + ((gBitsNext + uint(bitCount(takers & lgLanesBelow()))) & 63u)];
    if (take) {
        gBitsLow |= word << gBitsCount;
        gBitsHigh = word >> (32u - gBitsCount);
        gBitsCount += 32u;
    }
    gBitsNext += uint(bitCount(takers));
    return gBitsNext >= gBitsLimit;
}

// Lane group operation. Groups that are not `enabled` take part in the ballot and take nothing.
void bitsRefill(bool enabled) {
    bool take = enabled && gBitsCount < 32u;
    bool moves = bitsTake(take, lgBallot(take));
    if (wgAny(moves))
        bitsAdvance(moves);
}

void bitsBegin(bool enabled, uvec2 source, uint bytes) {
    gBitsSource = source;
    gBitsWords = enabled ? (bytes + 3u) >> 2 : 0u;
    gBitsLastMask = (bytes & 3u) == 0u ? 0xffffffffu : (1u << ((bytes & 3u) * 8u)) - 1u;
    uint row0 = bitsLoad(0u), row1 = bitsLoad(1u);
    gBitsAhead = bitsLoad(2u);
    bitsSetRow(0u, row0);
    bitsSetRow(1u, row1);
    lgBarrierShared();
    // Every lane takes a word.
    gBitsLow = sWindow[tileIndex() * 64u + lgLane()];
    gBitsHigh = 0u;
    gBitsCount = gBitsNext = 32u;
    gBitsLimit = min(32u, gBitsWords + 1u);
    bitsAdvance(enabled);
}

#endif // SLUICE_BIT_READER_GLSL
