// SPDX-License-Identifier: MIT OR Apache-2.0
// Bit reader of a lane group: 32 bit streams fed from one list of words.
//
// Each lane holds up to 64 bits; after every step the lanes that fell below 32 bits take one word each, in lane order,
// from the shared read position: a ballot and its population count below the lane give each lane its word. This is the
// interleave of GDeflate 1.0 (docs/format.md) and of Gstd. The words pass through a window of two rows in shared memory, so
// that few refills wait for memory. (A third row, on its way in registers, makes things worse: NVIDIA's compiler copies
// such a register at the end of each pass of a loop, which waits for it.)
#ifndef SLUICE_BIT_READER_GLSL
#define SLUICE_BIT_READER_GLSL

shared uint sWindow[kTiles * 2u * kRowWords]; // kRowWords: 32, 64 or 128

uvec2 gBitsSource;  // address of the words, 4-byte aligned
uint gBitsWords;    // how many there are
uint gBitsLastMask; // valid bits of the last one
uint gBitsNext;     // the shared read position, in words; past gBitsWords: the input was too short
uint gBitsLimit;    // when gBitsNext gets here, the window moves or the input is over
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

// Fetches a row of the window. What the last word holds past the end is cleared.
void bitsFetch(uint row) {
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
        if (i < kRowWords / 32u) {
            uint index = row * kRowWords + i * 32u + lgLane(), word = loadWord(gBitsSource, index, gBitsWords);
            if (index + 1u == gBitsWords)
                word &= gBitsLastMask;
            sWindow[tileIndex() * 2u * kRowWords + (index & (2u * kRowWords - 1u))] = word;
        }
}

// Moves the window. A refill passes one row boundary at most, since it takes no more than 32 words.
void bitsAdvance(bool enabled) {
    lgBarrierShared(); // all lanes have read the row that goes
    if (enabled && !bitsTruncated()) {
        uint row = gBitsNext / kRowWords;
        bitsFetch(row + 1u);
        gBitsLimit = min((row + 1u) * kRowWords, gBitsWords + 1u);
    }
    lgBarrierShared();
}

// The second half of a refill; `takers` is the ballot of lanes with `take`, which is gBitsCount < 32. A lane has at least
// one bit left then. True: the window must move, or the input is over; wants bitsAdvance.
bool bitsTake(bool take, uint takers) {
    uint word = sWindow[tileIndex() * 2u * kRowWords + ((gBitsNext + uint(bitCount(takers & lgLanesBelow()))) & (2u * kRowWords - 1u))];
    gBitsLow = mix(gBitsLow, gBitsLow | word << (gBitsCount & 31u), take);
    gBitsHigh = mix(gBitsHigh, word >> ((32u - gBitsCount) & 31u), take);
    gBitsCount += mix(0u, 32u, take);
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
    bitsFetch(0u);
    bitsFetch(1u);
    lgBarrierShared();
    // Every lane takes a word.
    gBitsLow = sWindow[tileIndex() * 2u * kRowWords + lgLane()];
    gBitsHigh = 0u;
    gBitsCount = gBitsNext = 32u;
    gBitsLimit = min(kRowWords, gBitsWords + 1u);
    if (kRowWords == 32u)
        bitsAdvance(enabled);
}

#endif // SLUICE_BIT_READER_GLSL
