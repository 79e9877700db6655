// SPDX-License-Identifier: MIT OR Apache-2.0
// Bit reader of a lane group: 32 bit streams fed from one list of words.
//
// Each lane holds up to 64 bits; after every step the lanes that fell below 32 bits take one word each, in lane order,
// from the shared read position: a ballot and its population count below the lane give each lane its word. This is the
// interleave of GDeflate 1.0 (docs/format.md) and of Gstd.
#ifndef SLUICE_BIT_READER_GLSL
#define SLUICE_BIT_READER_GLSL

uvec2 gBitsSource; // address of the words, 4-byte aligned
uint gBitsWords;   // how many there are
uint gBitsLastMask; // valid bits of the last one
uint gBitsNext;    // the shared read position, in words; past gBitsWords: the input was too short
uint gBitsLow, gBitsHigh, gBitsCount;

// The next bits, least significant first; 32 are valid after a refill.
uint bitsPeek() { return gBitsLow; }

// Removes n bits, 0 .. 31.
void bitsConsume(uint n) {
    gBitsLow = (gBitsLow >> n) | ((gBitsHigh << 1) << (31u - n));
    gBitsHigh >>= n;
    gBitsCount -= n;
}

bool bitsTruncated() { return gBitsNext > gBitsWords; }

// The second half of a refill; `takers` is the ballot of lanes with `take`, which is gBitsCount < 32.
void bitsTake(bool take, uint takers) {
    if (take) {
        uint index = gBitsNext + uint(bitCount(takers & lgLanesBelow()));
        uint word = loadWord(gBitsSource, index, gBitsWords);
        if (index + 1u == gBitsWords)
            word &= gBitsLastMask;
        gBitsLow |= word << gBitsCount;
        gBitsHigh = (word >> 1) >> (31u - gBitsCount);
        gBitsCount += 32u;
    }
    gBitsNext += uint(bitCount(takers));
}

// Lane group operation. Groups that are not `enabled` take part in the ballot and take nothing.
void bitsRefill(bool enabled) {
    bool take = enabled && gBitsCount < 32u;
    bitsTake(take, lgBallot(take));
}

void bitsBegin(bool enabled, uvec2 source, uint bytes) {
    gBitsSource = source;
    gBitsWords = enabled ? (bytes + 3u) >> 2 : 0u;
    gBitsLastMask = (bytes & 3u) == 0u ? 0xffffffffu : (1u << ((bytes & 3u) * 8u)) - 1u;
    gBitsNext = 0u;
    gBitsLow = gBitsHigh = gBitsCount = 0u;
    bitsRefill(enabled);
}

#endif // SLUICE_BIT_READER_GLSL
