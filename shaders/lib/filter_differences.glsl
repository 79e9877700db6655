// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes predictions that are sums of residuals: differences from the records before (LEFT, LEFT2
// and LEFT3, whose sums are taken once, twice and three times), and UP, which sums down each column
// of the image. filter_columns.glsl explains record, column, value and plane.
#ifndef SLUICE_FILTER_DIFFERENCES_GLSL
#define SLUICE_FILTER_DIFFERENCES_GLSL

#include "loops.glsl"
#include "filter_columns.glsl"
#include "filter_team.glsl"

// Where sums go down the columns of an image, this many rows are loaded before the first of them is
// added, so that their loads are in flight together. kRowsAhead is for columns of bytes,
// kWideRowsAhead for wider values.
const uint kRowsAhead = 4u, kWideRowsAhead = 8u;

// Replaces the team's values, kPerLane in each lane, by their prefix sums, which undoes a
// difference once. `carry` is the sum of all values of earlier steps; this step's values are added
// to it.
void addPrefixSums(inout uint values[kPerLane], inout uint carry) {
    // Lanes add up fours first, so that chains of dependent additions stay short.
    uint sums[kPerLane / 4u], sum = 0u, total;
    SLUICE_UNROLL
    for (uint k = 0u; k < kPerLane; k++) {
        if (k % 4u != 0u) values[k] += values[max(k, 1u) - 1u];
        if (k % 4u == 3u) {
            sums[k / 4u] = sum;
            sum += values[k];
        }
    }
    uint before = teamExclusiveAdd(sum, total) + carry;
    SLUICE_UNROLL
    for (uint k = 0u; k < kPerLane; k++)
        values[k] += before + sums[k / 4u];
    carry += total;
}

// A team undoes the differences of a column's first `records` records; `order` is how many times
// their prefix sums are taken (1 .. 3). One step takes kPerLane records in each lane.
void undoDifferences(uint column, uint records, uint order) {
    bool inScratch = isGathered(column), hasZigzag = (sColumn[column] & kZigzag) != 0u;
    uvec2 base = mix(gSource, gScratch, bvec2(inScratch));
    uint from = mix(sFrom[column], sValues[column], inScratch),
         lastWord = (from + records - 1u) >> 2, shift = 8u * (from & 3u);
    // Values that not every step needs are read from shared memory again each time, because
    // registers are scarce.
    bool inPlanes = inScratch || sStep[column] == 1u, isBytes = bytesOf(column) == 1u;
    uvec3 carry = uvec3(0u);
    bool isSecond = sgUniform(order > 1u), isThird = sgUniform(order > 2u);
    uint step = kTeamSize * kPerLane, steps = (records + step - 1u) / step;
    uint begin = teamLane() * kPerLane;
    uint next[kPerLane / 4u + 1u];
    if (inPlanes) {
        SLUICE_UNROLL
        for (uint k = 0u; k <= kPerLane / 4u; k++)
            next[k] = loadFrom(base, min(((from + begin) >> 2) + k, lastWord));
    }
    for (uint s = 0u; sgUniform(s < steps); s++) {
        uint values[kPerLane];
        // If the lowest bytes of the residuals are neighbours, their words were loaded a step ago.
        if (inPlanes) {
            uint packed[kPerLane / 4u];
            SLUICE_UNROLL
            for (uint k = 0u; k < kPerLane / 4u; k++)
                packed[k] = shiftedWord(next[k], next[k + 1u], shift);
            SLUICE_UNROLL
            for (uint k = 0u; k <= kPerLane / 4u; k++)
                next[k] = loadFrom(base, min(((from + begin + step) >> 2) + k, lastWord));
            SLUICE_UNROLL
            for (uint k = 0u; k < kPerLane; k++)
                values[k] = mix(packed[k / 4u], filterUnzigzagBytes(packed[k / 4u]),
                                hasZigzag && isBytes) >>
                                8u * (k % 4u) &
                            0xffu;
        } else {
            SLUICE_UNROLL
            for (uint k = 0u; k < kPerLane; k++)
                values[k] = 0u;
        }
        if (!inPlanes || !isBytes) {
            // Each iteration loads one byte of half of the values. Loading that byte of all values
            // at once would take twice as many registers.
            const uint kHalf = kPerLane / 2u;
            SLUICE_DONT_UNROLL
            for (uint n = inPlanes ? 2u : 0u; n < 2u * bytesOf(column); n++) {
                uint b = n >> 1, stride = sStep[column], plane = from + b * sByteStep[column],
                     at = plane + (begin + (n & 1u) * kHalf) * stride,
                     last = (plane + (records - 1u) * stride) >> 2;
                SLUICE_UNROLL
                for (uint k = 0u; k < kHalf; k++) {
                    uint value =
                        values[k] | (loadFrom(base, min(at >> 2, last)) >> 8u * (at & 3u) & 0xffu)
                                        << 8u * b;
                    values[k] = values[k + kHalf];
                    values[k + kHalf] = value;
                    at += stride;
                }
            }
            if (hasZigzag && !isBytes) {
                SLUICE_UNROLL
                for (uint k = 0u; k < kPerLane; k++)
                    values[k] = filterUnzigzag(values[k], maskOf(bytesOf(column)));
            }
        }
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
        for (uint o = 0u; o < order; o++) {
            // The carries rotate, so that the carry of the next order comes first.
            uint sum = carry.x;
            addPrefixSums(values, sum);
            carry = uvec3(carry.yz, sum);
        }
        for (uint o = order; o < SLUICE_PREDICTOR_LEFT3; o++)
            carry = carry.yzx;
#else
        // The three calls are not a loop, because NVIDIA's compiler (driver 580) puts a MATCH.ANY
        // instruction before each shuffle in a loop inside a loop.
        addPrefixSums(values, carry.x);
        if (isSecond) addPrefixSums(values, carry.y);
        if (isThird) addPrefixSums(values, carry.z);
#endif
        if (inScratch && begin < records && begin + kPerLane > records) {
            // The values replace residuals in scratch. Behind the last value, its word may hold
            // residuals of the next row, which UP still needs.
            uint kept = loadFrom(gScratch, (from + records - 1u) >> 2);
            SLUICE_UNROLL
            for (uint k = 0u; k < kPerLane; k++)
                if (begin + k >= records) values[k] = kept >> 8u * (k % 4u);
        }
        // Where values do not replace residuals, the bytes behind the last value in its word are
        // padding.
        SLUICE_DONT_UNROLL
        for (uint b = 0u; b < bytesOf(column); b++) {
            uint to = sValues[column] + b * gPlaneBytes + begin;
            SLUICE_UNROLL
            for (uint k = 0u; k < kPerLane; k += 4u)
                if (begin + k < records)
                    storeScratchWord(to + k, packBytes(uvec4(values[k], values[k + 1u],
                                                             values[k + 2u], values[k + 3u]) >>
                                                       8u * b));
        }
        begin += step;
    }
}

// The whole workgroup undoes UP for columns of one byte. The values of such a column form an image
// with gWidth pixels in a row. Its first row has no row above; undoDifferences has undone it from
// the left. An invocation takes four neighbouring pixels, which are one word of a row, and adds
// each row to the row below.
void undoByteUps() {
    uint quads = (min(gWidth, gCount) + 3u) / 4u, rows = (gCount + gWidth - 1u) / gWidth;
    bool isAligned = (gWidth & 3u) == 0u;
    for (uint task = wgInvocation(); task < sByteUps * quads; task += gl_WorkGroupSize.x) {
        uint image = task / quads, quad = task - image * quads, column = sUps[image];
        bool hasZigzag = (sColumn[column] & kZigzag) != 0u, inScratch = isGathered(column);
        uvec2 base = inScratch ? gScratch : gSource;
        uint values = sValues[column], from = inScratch ? values : sFrom[column],
             lastFrom = (from + gCount - 1u) >> 2;
        uint sum = loadFrom(gScratch, (values >> 2) + quad);
        for (uint row = 1u; row < rows; row += kRowsAhead) {
            uint packed[kRowsAhead];
            SLUICE_UNROLL
            for (uint k = 0u; k < kRowsAhead; k++) {
                uint at = from + (row + k) * gWidth + 4u * quad;
                packed[k] =
                    shiftedWord(loadFrom(base, min(at >> 2, lastFrom)),
                                loadFrom(base, min((at >> 2) + 1u, lastFrom)), 8u * (at & 3u));
            }
            uint sums[kRowsAhead];
            SLUICE_UNROLL
            for (uint k = 0u; k < kRowsAhead; k++)
                sum = sums[k] =
                    filterAddBytes(sum, mix(packed[k], filterUnzigzagBytes(packed[k]), hasZigzag));
            uint i = row * gWidth + 4u * quad;
            if (isAligned) {
                SLUICE_UNROLL
                for (uint k = 0u; k < kRowsAhead; k++)
                    if (i + k * gWidth < gCount) storeScratchWord(values + i + k * gWidth, sums[k]);
            } else {
                SLUICE_DONT_UNROLL
                for (uint k = 0u; k < kRowsAhead; k++) {
                    SLUICE_UNROLL
                    for (uint b = 0u; b < 4u; b++)
                        if (i + b < gCount && 4u * quad + b < gWidth)
                            storeScratchByte(values + i + b, sums[0] >> 8u * b);
                    SLUICE_UNROLL
                    for (uint n = 1u; n < kRowsAhead; n++)
                        sums[n - 1u] = sums[n];
                    i += gWidth;
                }
            }
        }
    }
}

// The whole workgroup undoes UP for columns that are wider than a byte, whose first rows are undone
// already. An invocation takes one position in the row and sums down all rows.
void undoWideUps() {
    uint across = min(gWidth, gCount);
    for (uint task = wgInvocation(); task < sWideUps * across; task += gl_WorkGroupSize.x) {
        uint image = task / across, x = task - image * across, column = sUps[kStride - 1u - image];
        bool hasZigzag = (sColumn[column] & kZigzag) != 0u;
        uint sum = loadValue(column, x), mask = maskOf(bytesOf(column));
        for (uint i = x + gWidth; i < gCount; i += kWideRowsAhead * gWidth) {
            uint values[kWideRowsAhead];
            SLUICE_UNROLL
            for (uint k = 0u; k < kWideRowsAhead; k++)
                values[k] = 0u;
            // Each iteration loads one byte of the value in each row; a loop over bytes keeps the
            // code short.
            SLUICE_DONT_UNROLL
            for (uint b = 0u; b < bytesOf(column); b++) {
                uint plane = sFrom[column] + b * sByteStep[column], step = sStep[column];
                SLUICE_UNROLL
                for (uint k = 0u; k < kWideRowsAhead; k++)
                    values[k] |= sourceByte(plane + min(i + k * gWidth, gCount - 1u) * step)
                                 << 8u * b;
            }
            SLUICE_UNROLL
            for (uint k = 0u; k < kWideRowsAhead; k++)
                sum = values[k] = sum + (hasZigzag ? filterUnzigzag(values[k], mask) : values[k]);
            SLUICE_DONT_UNROLL
            for (uint b = 0u; b < bytesOf(column); b++) {
                uint to = sValues[column] + i + b * gPlaneBytes;
                SLUICE_UNROLL
                for (uint k = 0u; k < kWideRowsAhead; k++)
                    if (i + k * gWidth < gCount)
                        storeScratchByte(to + k * gWidth, values[k] >> 8u * b);
            }
        }
    }
}

#endif // SLUICE_FILTER_DIFFERENCES_GLSL
