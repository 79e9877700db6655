// SPDX-License-Identifier: MIT OR Apache-2.0
// Predictors and values of filters (docs/format.md, 8.3 and 8.5).
#ifndef SLUICE_FORMULAS_FILTER_H
#define SLUICE_FORMULAS_FILTER_H

#include "../layout/filter.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// Fields of the word that describes a run of columns, and of the word of a single column.
SLUICE_FORMULA u32 filterWordBytes(u32 word) { return 1u << (word >> 8 & 3u); }
SLUICE_FORMULA u32 filterWordPredictor(u32 word) { return word >> 16 & 0xffu; }
SLUICE_FORMULA u32 filterWordBase(u32 word) { return word >> 24; } // 1 + its column, or 0

// These predict a value from its neighbours to the left, above, and above to the left, as unsigned
// numbers. Only the low bits of the gradient are meaningful; the caller masks the result.
SLUICE_FORMULA u32 filterGradient(u32 left, u32 up, u32 upLeft) { return left + up - upLeft; }

// The median of left, up and their gradient (Weinberger, Seroussi, Sapiro: The LOCO-I lossless
// image compression algorithm, IEEE Transactions on Image Processing 9(8), 2000). The formula is
// the gradient with `upLeft` clamped to the range of the other two.
SLUICE_FORMULA u32 filterMedian(u32 left, u32 up, u32 upLeft) {
    u32 low = SLUICE_MIN(left, up), high = SLUICE_MAX(left, up);
    return left + up - SLUICE_MIN(SLUICE_MAX(upLeft, low), high);
}

// Returns half of the sum, rounded down; the sum itself may need 33 bits.
SLUICE_FORMULA u32 filterAverage(u32 left, u32 up) { return (left & up) + ((left ^ up) >> 1); }

// Returns the prediction by GRADIENT, MEDIAN or AVERAGE.
SLUICE_FORMULA u32 filterGuess(u32 predictor, u32 left, u32 up, u32 upLeft) {
    return SLUICE_SELECT(predictor == SLUICE_PREDICTOR_AVERAGE, filterAverage(left, up),
                         SLUICE_SELECT(predictor == SLUICE_PREDICTOR_GRADIENT,
                                       filterGradient(left, up, upLeft),
                                       filterMedian(left, up, upLeft)));
}

// Returns how many times the steps of columns that have `bytes` bytes in all are counted: once for
// every SLUICE_FILTER_STEP_BYTES bytes or part of them.
SLUICE_FORMULA u32 filterTurns(u32 bytes) {
    return (bytes + SLUICE_FILTER_STEP_BYTES - 1u) / SLUICE_FILTER_STEP_BYTES;
}

// Returns the number of sequential steps of a section, each of which needs the result of the step
// before. Every 8 bytes of the columns with UP (`upBytes` in all) and of the columns with a
// wavefront (`waveBytes` in all) take a step for each row. A wavefront also takes a step for each
// record of a row. A row counts as several steps, since the rows of a band start one after the
// other. The result stays below 2^27.
SLUICE_FORMULA u32 filterSteps(u32 count, u32 width, u32 first, u32 upBytes, u32 waveBytes) {
    u32 rows = (first + count + width - 1u) / SLUICE_MAX(width, 1u);
    u32 ups = filterTurns(upBytes), waves = filterTurns(waveBytes);
    return SLUICE_SELECT(
        count != 0u,
        (ups + waves) * SLUICE_FILTER_ROW_STEPS * rows + waves * SLUICE_MIN(width, count), 0u);
}

// Decodes a residual from its zigzag form. `mask` has ones in the bits of a value.
SLUICE_FORMULA u32 filterUnzigzag(u32 value, u32 mask) {
    return (value >> 1 ^ (0u - (value & 1u))) & mask;
}

// The first function decodes the zigzag form of the four bytes of a word. The second one adds two
// words byte by byte.
SLUICE_FORMULA u32 filterUnzigzagBytes(u32 word) {
    return (word >> 1 & 0x7f7f7f7fu) ^ (word & 0x01010101u) * 0xffu;
}
SLUICE_FORMULA u32 filterAddBytes(u32 a, u32 b) {
    return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u);
}

// These undo the mapping of the values of block columns. A value is either an end point, which is a
// colour of 5, 6 and 5 bits, or 4 x 4 indices of 2 bits, which are transposed.
SLUICE_FORMULA u32 filterUnmapColour(u32 value) {
    u32 green = ((value >> 5) + 2u * (value >> 11)) & 63u;
    return (value & 0xf800u) | green << 5 | ((value + (green >> 1)) & 31u);
}
SLUICE_FORMULA u32 filterTransposeIndices(u32 value) {
    u32 near = (value ^ value >> 6) & 0x00cc00ccu, rows = value ^ near ^ near << 6;
    u32 far = (rows ^ rows >> 12) & 0x0000f0f0u;
    return rows ^ far ^ far << 12;
}
SLUICE_FORMULA u32 filterUnmapBlock(u32 value, bool isColour) {
    return SLUICE_SELECT(isColour, filterUnmapColour(value), filterTransposeIndices(value));
}

SLUICE_LAYOUT_END
#endif
