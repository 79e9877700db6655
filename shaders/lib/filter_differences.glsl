// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes predictions by sums of residuals. LEFT, LEFT2 and LEFT3 are differences from the records
// before, of which prefix sums are taken once, twice and three times. UP is the difference from the
// row above, and is summed down each column of the image. filter_columns.glsl explains record,
// column, value and plane.
#ifndef SLUICE_FILTER_DIFFERENCES_GLSL
#define SLUICE_FILTER_DIFFERENCES_GLSL

#include "loops.glsl"
#include "filter_columns.glsl"
#include "filter_team.glsl"

// How many rows undoByteUps and undoWideUps load before they add the first of them, so that the
// loads are in flight together.
const uint kRowsAhead = 4u, kWideRowsAhead = 8u;

// Replaces the team's values, kPerLane in each lane, by their prefix sums, which undoes a
// difference once. `carry` is the sum of all earlier values, and this step's are added to it.
void addPrefixSums(inout uint values[kPerLane], inout uint carry) {
    // A lane first adds up groups of four values, so that chains of dependent additions stay short.
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

// A team undoes the differences of a column's first `records` records, by taking prefix sums
// `order` times (1 .. 3). In one step of the loop each lane takes kPerLane records.
void undoDifferences(uint column, uint records, uint order) {
    bool inScratch = isGathered(column), hasZigzag = (sColumn[column] & kZigzag) != 0u;
    uvec2 base = mix(gSource, gScratch, bvec2(inScratch));
    uint from = mix(sFrom[column], sValues[column], inScratch),
         lastWord = (from + records - 1u) >> 2, shift = 8u * (from & 3u);
    // Registers are scarce. So what only some steps need, such as sByteStep, is not kept in a
    // variable, but read from shared memory in each of these steps.
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
        // If the residuals' lowest bytes are neighbours, the previous step has loaded them into
        // `next`.
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
            // Each iteration loads one byte of half of the lane's values. Doing this for all values
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
            // The three carries rotate, so that the carry of the next order is always in `carry.x`.
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
            // The values replace residuals in scratch. The bytes after the last value in its word
            // may be residuals of the next row, which UP still needs. So they are kept.
            uint kept = loadFrom(gScratch, (from + records - 1u) >> 2);
            SLUICE_UNROLL
            for (uint k = 0u; k < kPerLane; k++)
                if (begin + k >= records) values[k] = kept >> 8u * (k % 4u);
        }
        // If values do not replace residuals, the bytes after the last value in its word are
        // padding, and any value may be stored there.
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
// with gWidth pixels in a row. Its first row has no row above, and undoDifferences has already
// undone it from the left. An invocation takes four neighbouring pixels of every row, which are one
// word, and adds each row to the row below.
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

// The whole workgroup undoes UP for columns wider than a byte. Their first rows have been undone
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
            // Each iteration loads one byte of each row's value. A loop keeps the code short.
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
