// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes predictions that are sums: differences of any order along the records, and `up`, which
// sums down each column of the image.
#ifndef SLUICE_FILTER_DIFFERENCES_GLSL
#define SLUICE_FILTER_DIFFERENCES_GLSL

#include "filter_columns.glsl"
#include "filter_team.glsl"

const uint kRowsAhead = 4u; // rows whose loads are under way when sums go down columns

// Replaces the team's values by their prefix sums, which are one order of a difference. `carry` is
// the sum of all values before them.
void addPrefixSums(inout uint values[kPerLane], inout uint carry) {
    uint sum = 0u, total;
    [[unroll]] for (uint k = 0u; k < kPerLane; k++) sum = values[k] += sum;
    uint before = teamExclusiveAdd(sum, total) + carry;
    [[unroll]] for (uint k = 0u; k < kPerLane; k++) values[k] += before;
    carry += total;
}

// Undoes a difference of any order for the first `records` records. False: the driver ended the
// loop.
bool undoDifferences(uint column, uint records, uint order) {
    bool bytes = bytesOf(column) == 1u, inScratch = isGathered(column);
    bool hasZigzag = (sColumn[column] & kZigzag) != 0u;
    uvec2 base = mix(gSource, gScratch, bvec2(inScratch));
    uint from = mix(sFrom[column], sValues[column], inScratch),
         lastWord = (from + records - 1u) >> 2, shift = 8u * (from & 3u);
    uvec3 carry = uvec3(0u);
    uint step = kTeamSize * kPerLane, steps = (records + step - 1u) / step, done = 0u;
    uint begin = teamLane() * kPerLane;
    uint next[kPerLane / 4u + 1u];
    if (bytes) [[unroll]]
        for (uint k = 0u; k <= kPerLane / 4u; k++)
            next[k] = loadFrom(base, min((from + begin >> 2) + k, lastWord));
    for (uint s = 0u; sgUniform(s < steps); s++) {
        uint values[kPerLane];
        if (bytes) {
            uint packed[kPerLane / 4u];
            [[unroll]] for (uint k = 0u; k < kPerLane / 4u; k++) packed[k] =
                shiftedWord(next[k], next[k + 1u], shift);
            [[unroll]] for (uint k = 0u; k <= kPerLane / 4u; k++) next[k] =
                loadFrom(base, min((from + begin + step >> 2) + k, lastWord));
            [[unroll]] for (uint k = 0u; k < kPerLane; k++) values[k] =
                mix(packed[k / 4u], filterUnzigzagBytes(packed[k / 4u]), hasZigzag) >>
                    8u * (k % 4u) &
                0xffu;
        } else {
            [[unroll]] for (uint k = 0u; k < kPerLane; k++) values[k] =
                begin + k < records ? residual(column, begin + k) : 0u;
        }
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
        for (uint o = 0u; o < order; o++) {
            uint sum = carry.x; // the carries rotate, so that the next order's stands in front
            addPrefixSums(values, sum);
            carry = uvec3(carry.yz, sum);
        }
        for (uint o = order; o < SLUICE_PREDICTOR_LEFT3; o++)
            carry = carry.yzx;
#else
        // This is no loop because NVIDIA's compiler (580) matches lanes before each shuffle of a
        // loop inside a loop.
        addPrefixSums(values, carry.x);
        if (sgUniform(order > 1u)) addPrefixSums(values, carry.y);
        if (sgUniform(order > 2u)) addPrefixSums(values, carry.z);
#endif
        if (begin + kPerLane <= records) {
            for (uint b = 0u; b < bytesOf(column); b++)
                [[unroll]] for (uint k = 0u; k < kPerLane; k += 4u) storeScratchWord(
                    sValues[column] + b * gPlaneBytes + begin + k,
                    packBytes(uvec4(values[k], values[k + 1u], values[k + 2u], values[k + 3u]) >>
                              8u * b));
        } else { // residuals may stand behind the last value
            [[unroll]] for (uint k = 0u; k < kPerLane; k++) if (begin + k < records)
                storeValue(column, begin + k, values[k]);
        }
        begin += step;
        done += step;
    }
    return done >= records;
}

// Sums down the columns of an image of bytes, four columns a lane. The first row is done already.
bool undoByteUp(uint column) {
    uint quads = (min(gWidth, gCount) + 3u) / 4u, rows = (gCount + gWidth - 1u) / gWidth, done = 1u;
    bool hasZigzag = (sColumn[column] & kZigzag) != 0u, isAligned = (gWidth & 3u) == 0u,
         inScratch = isGathered(column);
    uvec2 base = inScratch ? gScratch : gSource;
    uint from = inScratch ? sValues[column] : sFrom[column], lastFrom = (from + gCount - 1u) >> 2;
    uint values = sValues[column];
    bool ended = true;
    for (uint first = 0u; first < quads; first += kTeamSize) {
        uint quad = first + teamLane();
        done = 1u;
        if (quad < quads) {
            uint sum = loadFrom(gScratch, (values >> 2) + quad);
            for (uint row = 1u; row < rows; row += kRowsAhead) {
                uint packed[kRowsAhead];
                [[unroll]] for (uint k = 0u; k < kRowsAhead; k++) {
                    uint at = from + (row + k) * gWidth + 4u * quad;
                    packed[k] =
                        shiftedWord(loadFrom(base, min(at >> 2, lastFrom)),
                                    loadFrom(base, min((at >> 2) + 1u, lastFrom)), 8u * (at & 3u));
                }
                [[unroll]] for (uint k = 0u; k < kRowsAhead; k++) {
                    uint i = (row + k) * gWidth + 4u * quad;
                    sum =
                        filterAddBytes(sum, hasZigzag ? filterUnzigzagBytes(packed[k]) : packed[k]);
                    if (isAligned) {
                        if (i < gCount) storeScratchWord(values + i, sum);
                    } else {
                        [[unroll]] for (uint b = 0u; b < 4u;
                                        b++) if (i + b < gCount && 4u * quad + b < gWidth)
                            storeScratchByte(values + i + b, sum >> 8u * b);
                    }
                }
                done = row + kRowsAhead;
            }
            ended = ended && done >= rows;
        }
    }
    return ended;
}

// Sums down the columns of an image of any values, a column an invocation, by the whole workgroup.
// The first row is done already.
bool undoUp(uint column) {
    uint columns = min(gWidth, gCount);
    bool ended = true;
    for (uint x = wgInvocation(); x < columns; x += gl_WorkGroupSize.x) {
        uint sum = loadValue(column, x), i = x + gWidth;
        for (; i < gCount; i += gWidth) {
            sum += residual(column, i);
            storeValue(column, i, sum);
        }
        ended = ended && i >= gCount;
    }
    return ended;
}

#endif // SLUICE_FILTER_DIFFERENCES_GLSL
