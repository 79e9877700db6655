// SPDX-License-Identifier: MIT OR Apache-2.0
// The arithmetic of predictions and of the coded forms of values (docs/format.md, 8.2 to 8.6).
#ifndef SLUICE_FORMULAS_FILTER_H
#define SLUICE_FORMULAS_FILTER_H

#include "../layout/filter.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// These three functions read fields of the word that describes a column or a run of columns. This
// one returns the size of a value in bytes.
SLUICE_FORMULA u32 filterWordBytes(u32 word) { return 1u << (word >> 8 & 3u); }
// Returns the predictor.
SLUICE_FORMULA u32 filterWordPredictor(u32 word) { return word >> 16 & 0xffu; }
// Returns 1 + the number of the base column, or 0 if there is no base.
SLUICE_FORMULA u32 filterWordBase(u32 word) { return word >> 24; }

// These functions predict a value from its neighbours in an image: left, up, and upLeft, which is
// above the left one. All are unsigned. The gradient may exceed a value's bits; the caller drops
// the upper ones.
SLUICE_FORMULA u32 filterGradient(u32 left, u32 up, u32 upLeft) { return left + up - upLeft; }

// The median of left, up and their gradient (Weinberger, Seroussi, Sapiro: The LOCO-I lossless
// image compression algorithm, IEEE Transactions on Image Processing 9(8), 2000). The formula is
// the gradient with `upLeft` clamped to the range of the other two.
SLUICE_FORMULA u32 filterMedian(u32 left, u32 up, u32 upLeft) {
    u32 low = SLUICE_MIN(left, up), high = SLUICE_MAX(left, up);
    return left + up - SLUICE_MIN(SLUICE_MAX(upLeft, low), high);
}

// Returns (left + up) / 2, rounded down. The sum itself could need 33 bits. So this adds the bits
// that both numbers have in common, and half of the bits in which they differ.
SLUICE_FORMULA u32 filterAverage(u32 left, u32 up) { return (left & up) + ((left ^ up) >> 1); }

// Returns the prediction by the predictor GRADIENT, MEDIAN or AVERAGE.
SLUICE_FORMULA u32 filterGuess(u32 predictor, u32 left, u32 up, u32 upLeft) {
    return SLUICE_SELECT(predictor == SLUICE_PREDICTOR_AVERAGE, filterAverage(left, up),
                         SLUICE_SELECT(predictor == SLUICE_PREDICTOR_GRADIENT,
                                       filterGradient(left, up, upLeft),
                                       filterMedian(left, up, upLeft)));
}

// Returns how many passes a decoder makes over a section for columns that have `bytes` bytes in
// total. A pass undoes columns of up to SLUICE_FILTER_STEP_BYTES bytes.
SLUICE_FORMULA u32 filterTurns(u32 bytes) {
    return (bytes + SLUICE_FILTER_STEP_BYTES - 1u) / SLUICE_FILTER_STEP_BYTES;
}

// Returns how many steps of a section must follow each other, because each needs the previous one's
// result. Their limit, SLUICE_FILTER_MAX_STEPS, bounds the time that a tile takes. The section has
// `count` records in rows of `width`; its first record has index `first` in its row. `upBytes` are
// the bytes of columns with UP, `waveBytes` those of columns with a wavefront. A row counts as
// SLUICE_FILTER_ROW_STEPS steps, since the rows of a wavefront start one after the other. A
// wavefront also takes a step for each record of a row. The result stays below 2^27.
SLUICE_FORMULA u32 filterSteps(u32 count, u32 width, u32 first, u32 upBytes, u32 waveBytes) {
    u32 rows = (first + count + width - 1u) / SLUICE_MAX(width, 1u);
    u32 ups = filterTurns(upBytes), waves = filterTurns(waveBytes);
    return SLUICE_SELECT(
        count != 0u,
        (ups + waves) * SLUICE_FILTER_ROW_STEPS * rows + waves * SLUICE_MIN(width, count), 0u);
}

// Returns the signed number whose zigzag form is `value`: 0, 1, 2, 3 and so on stand for 0, -1, 1,
// -2 and so on. `mask` has ones in the bits of a value.
SLUICE_FORMULA u32 filterUnzigzag(u32 value, u32 mask) {
    return (value >> 1 ^ (0u - (value & 1u))) & mask;
}

// Does what filterUnzigzag does, for each of the four bytes of a word.
SLUICE_FORMULA u32 filterUnzigzagBytes(u32 word) {
    return (word >> 1 & 0x7f7f7f7fu) ^ (word & 0x01010101u) * 0xffu;
}
// Adds two words byte by byte, without carries between bytes.
SLUICE_FORMULA u32 filterAddBytes(u32 a, u32 b) {
    return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u);
}

// Returns an end point of a compressed block of pixels, a colour with 5, 6 and 5 bits. The filter
// has stored green minus twice red, and blue minus half of green (docs/format.md, 8.5).
SLUICE_FORMULA u32 filterUnmapColour(u32 value) {
    u32 green = ((value >> 5) + 2u * (value >> 11)) & 63u;
    return (value & 0xf800u) | green << 5 | ((value + (green >> 1)) & 31u);
}
// Returns the indices of a block, 4 x 4 numbers of 2 bits, which the filter has stored transposed.
SLUICE_FORMULA u32 filterTransposeIndices(u32 value) {
    u32 near = (value ^ value >> 6) & 0x00cc00ccu, rows = value ^ near ^ near << 6;
    u32 far = (rows ^ rows >> 12) & 0x0000f0f0u;
    return rows ^ far ^ far << 12;
}
SLUICE_FORMULA u32 filterUnmapBlock(u32 value, bool isColour) {
    return SLUICE_SELECT(isColour, filterUnmapColour(value), filterTransposeIndices(value));
}

// A packet of a run-length coded Targa image begins with a header byte. Its lowest seven bits are a
// count minus 1. If bit 7 is set, one pixel follows, which is repeated `count` times. Otherwise
// `count` pixels follow. Returns the count, that is, how many pixels the packet decodes to.
SLUICE_FORMULA u32 filterPacketPixels(u32 header) { return (header & 127u) + 1u; }
// Returns how many pixels follow the header in the packet.
SLUICE_FORMULA u32 filterPacketStored(u32 header) {
    return SLUICE_SELECT((header & 128u) != 0u, 1u, header + 1u);
}
// Returns the size of a packet in bytes, with its header.
SLUICE_FORMULA u32 filterPacketBytes(u32 header, u32 pixelBytes) {
    return 1u + filterPacketStored(header) * pixelBytes;
}

// While the packets of a section of `size` bytes are put together, the workgroup's scratch has a
// bit for each byte of the section's output, set if the byte is a header. The first bit is for the
// first byte of the aligned word in which the section begins. After the words of bits follows one
// word for each of them: the number of bits that are set before it. This returns the index in
// scratch of the first word of bits.
SLUICE_FORMULA u32 filterHeaderBits(u32 size) {
    return (size + SLUICE_FILTER_SLACK + 15u) / 16u * 4u;
}
// Returns how many words of bits there are (filterHeaderBits).
SLUICE_FORMULA u32 filterHeaderWords(u32 size) { return (size + 3u + 31u) / 32u; }

SLUICE_LAYOUT_END
#endif
