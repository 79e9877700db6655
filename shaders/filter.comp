// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters undone (docs/format.md, 8), a workgroup a tile. Columns with a prediction are undone side
// by side, each by a team: a subgroup, or the whole workgroup where a subgroup is narrow or
// emulated.
//   differences  are a scan along the records, once for each order
//   up           is a sum down each column of the image, four bytes a lane
//   the others   are a wavefront: lane k does row k of a band, four bytes a step, a step behind the
//                row above it; its last row waits in shared memory for the band below
// Their values stand in scratch, a plane for each byte. The last step puts the records together:
// four records a lane, of which it reads four bytes in a row from each plane. Columns without
// prediction go there from the tile's planes; the base of a column of bytes is added on the way.
// Other columns with a base, and rotated and block ones, are finished before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout/filter.h"
#include "lib/filter_columns.glsl"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/scan.glsl"
#include "lib/units.glsl"

layout(push_constant, std430) uniform Push { FilterParams p; };

const uint kSteps = 8u;          // of a wavefront, whose words come and go together: 32 bytes of
                                 // each row
const uint kPitch = kSteps + 1u; // words of a row in shared memory
const uint kRowsAhead = 4u;      // rows whose loads are under way when sums go down columns
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
const uint kTeamSize = gl_WorkGroupSize.x, kTeams = 1u;
#else
const uint kTeamSize = kSubgroupSize, kTeams = kSubgroups;
#endif

shared uint sRow[kRowWords + 1u]; // and one that nobody writes
shared uint sStage[gl_WorkGroupSize.x * kPitch];
shared uint sNext; // tile
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
shared uint sTeam[2][gl_WorkGroupSize.x];
uint gTeamTurn = 0u;
#endif

// -----------------------------------------------------------------------------------------------
// The team's operations

#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
uint teamLane() { return wgInvocation(); }
uint teamIndex() { return 0u; }

void teamBarrier() { wgBarrierShared(); }
void teamBarrierAll() { wgBarrierAll(); }

// The value of the lane before this one; the first lane's own.
uint teamBefore(uint value) {
    sTeam[gTeamTurn][wgInvocation()] = value;
    wgBarrierShared();
    value = sTeam[gTeamTurn][max(wgInvocation(), 1u) - 1u];
    gTeamTurn ^= 1u;
    return value;
}

uint teamExclusiveAdd(uint value, out uint total) { return wgExclusiveAdd(value, total); }
#else
uint teamLane() { return gl_SubgroupInvocationID; }
uint teamIndex() { return gl_SubgroupID; }

void teamBarrier() {
    subgroupMemoryBarrierShared();
    subgroupBarrier();
}
void teamBarrierAll() {
    subgroupMemoryBarrier();
    subgroupBarrier();
}

uint teamBefore(uint value) {
    return subgroupShuffle(value, max(gl_SubgroupInvocationID, 1u) - 1u);
}

uint teamExclusiveAdd(uint value, out uint total) {
    uint inclusive = sgInclusiveAddShuffled(value);
    total = subgroupShuffle(inclusive, kSubgroupSize - 1u);
    return inclusive - value;
}
#endif

// -----------------------------------------------------------------------------------------------
// Predictions undone, by a team a column

// One order of the sums of a team's values; carry: of those before.
void sumUp(inout uint values[kPerLane], inout uint carry) {
    uint sum = 0u, total;
    [[unroll]] for (uint k = 0u; k < kPerLane; k++) sum = values[k] += sum;
    uint before = teamExclusiveAdd(sum, total) + carry;
    [[unroll]] for (uint k = 0u; k < kPerLane; k++) values[k] += before;
    carry += total;
}

// The first `records` records of a difference of some order: as many sums in a row. False: the
// driver ended the loop.
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
                mix(packed[k / 4u], unzigzagBytes(packed[k / 4u]), hasZigzag) >> 8u * (k % 4u) &
                0xffu;
        } else {
            [[unroll]] for (uint k = 0u; k < kPerLane; k++) values[k] =
                begin + k < records ? residual(column, begin + k) : 0u;
        }
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
        for (uint o = 0u; o < order; o++) {
            uint sum = carry.x; // the order that is next stands in front
            sumUp(values, sum);
            carry = uvec3(carry.yz, sum);
        }
        for (uint o = order; o < kLeft3; o++)
            carry = carry.yzx;
#else
        // Not a loop: NVIDIA's compiler (580) matches lanes before each shuffle of a loop in a
        // loop.
        sumUp(values, carry.x);
        if (sgUniform(order > 1u)) sumUp(values, carry.y);
        if (sgUniform(order > 2u)) sumUp(values, carry.z);
#endif
        if (begin + kPerLane <= records) {
            for (uint b = 0u; b < bytesOf(column); b++)
                [[unroll]] for (uint k = 0u; k < kPerLane; k += 4u) storeScratchWord(
                    sValues[column] + b * gPlaneBytes + begin + k,
                    packBytes(uvec4(values[k], values[k + 1u], values[k + 2u], values[k + 3u]) >>
                              8u * b));
        } else { // behind them may stand residuals
            [[unroll]] for (uint k = 0u; k < kPerLane; k++) if (begin + k < records)
                storeValue(column, begin + k, values[k]);
        }
        begin += step;
        done += step;
    }
    return done >= records;
}

uint rowsOf() { return (gFirst + gCount + gWidth - 1u) / gWidth; }

// A column of any size: lane k does row k of a band, a record behind the row above it. Where no
// record has one above it, lane 0 does all of them, however wide the rows are.
bool undoWave(uint column) {
    bool oneLine = gCount <= gWidth;
    uint lane = teamLane(), rows = mix(rowsOf(), 1u, oneLine), bytes = bytesOf(column),
         mask = maskOf(bytes), done = 0u;
    // Bytes without a base are unsigned.
    uint bias = mask == 0xffu && sColumn[column] >> 24 == 0u ? 0u : (mask >> 1) + 1u;
    uint from = mix(0u, gFirst, oneLine), columns = mix(gWidth, gCount, oneLine);
    for (uint band = 0u; sgUniform(band < rows); band += kTeamSize) {
        uint begin = (band + lane) * gWidth, steps = columns + min(kTeamSize, rows - band) - 1u;
        uint value = 0u, left = 0u, corner = 0u, stepsDone = 0u;
        teamBarrierAll(); // the band above is in scratch
        for (uint s = 0u; sgUniform(s < steps); s++) {
            uint x = from + s - lane, at = begin + x, i = at - gFirst, up = teamBefore(value);
            if (band + lane < rows && x - from < columns) {
                if (lane == 0u)
                    up = band != 0u && at >= gFirst + gWidth ? loadValue(column, i - gWidth) : 0u;
                value = 0u;
                left = mix(left, 0u, at == gWidth);
                if (at >= gFirst && i < gCount) {
                    uint guess = guessOf(predictorOf(column), left + bias & mask, up + bias & mask,
                                         corner + bias & mask);
                    value = residual(column, i) + guess - bias & mask;
                    storeValue(column, i, value);
                }
                left = value;
                corner = up;
            }
            stepsDone = s + 1u;
        }
        done += stepsDone == steps ? kTeamSize : 0u;
    }
    return done >= rows;
}

// A wavefront of bytes: what stays the same, and what a lane has of its row.
struct Wave {
    uint above, quads, period, shift, bias;
    bool hasZigzag;
};
struct WaveRow {
    uint quad, last, result, left, corner;
};

// Four bytes of the lane's row; s: which step it is, at: where they stand in sStage.
void waveStep(const uint predictor, Wave wave, uint s, uint at, inout WaveRow row) {
    uint lane = teamLane(), quad = row.quad, bias = wave.bias;
    uint up = teamBefore(row.result), loaded = sStage[at];
    uint stored = sRow[mix(kRowWords, wave.above + quad, lane == 0u && quad < wave.quads)];
    up = mix(up, stored, lane == 0u);
    uint packed = shiftedWord(row.last, loaded, wave.shift);
    row.last = loaded;
    packed = mix(packed, unzigzagBytes(packed), wave.hasZigzag);
    // Row 0: nothing before the first record.
    uint before =
        mix(0u, gFirst - min(gFirst, 4u * max(s, 1u) - 4u), lane == 0u && s < wave.period);
    packed &= mix(0xffffffffu << 8u * min(before, 3u), 0u, before >= 4u);
    uint left = mix(row.left, bias & 0xffu, quad == 0u),
         corner = mix(row.corner, bias & 0xffu, quad == 0u);
    uvec4 value;
    [[unroll]] for (uint b = 0u; b < 4u; b++) {
        uint over = up >> 8u * b & 0xffu;
        if (predictor == kMedian) {
            int plane = int(left) + (int(over) - int(corner));
            left = uint(max(int(min(left, over)), min(int(max(left, over)), plane)));
        } else {
            left = guessOf(predictor, left, over, corner);
        }
        left = left + (packed >> 8u * b & 0xffu) & 0xffu;
        value[b] = left;
        corner = over;
    }
    row.left = left;
    row.corner = corner;
    row.result = value.x | value.y << 8 | value.z << 16 | value.w << 24;
    sStage[at] = row.result ^ bias;
    if (lane == kTeamSize - 1u && quad < wave.quads) sRow[wave.above + quad] = row.result;
    row.quad = mix(quad + 1u, 0u, quad + 1u == wave.period);
}

// The same for bytes, four a step. A lane goes on to its row of the next band without waiting:
// `period` steps are enough for the last row of the band above, which stands in shared memory.
// Steps without a quad of bytes do the same for nothing. A round of steps takes 32 bytes of each
// row through shared memory, so that a load or store of a team of 32 has 4 rows in it, not 32;
// loads are a round ahead.
bool undoByteWave(const uint predictor, uint column) {
    uint lane = teamLane(), quads = (gWidth + 3u) / 4u, rows = rowsOf(),
         period = max(quads + 1u, kTeamSize + 1u);
    uint steps = (rows + kTeamSize - 1u) / kTeamSize * period + kTeamSize, done = 0u;
    // differences from a base are signed
    uint word = sColumn[column], bias = mix(0u, 0x80808080u, word >> 24 != 0u);
    bool hasZigzag = (word & kZigzag) != 0u, isAligned = (gWidth & 3u) == 0u,
         inScratch = isGathered(column);
    uvec2 base = mix(gSource, gScratch, bvec2(inScratch));
    uint from = mix(sFrom[column], sValues[column], inScratch),
         lastFrom = (from + gCount - 1u) >> 2, values = sValues[column];
    uint above = teamIndex() * quads, stage = teamIndex() * kTeamSize * kPitch;
    for (uint q = lane; q < quads; q += kTeamSize)
        sRow[above + q] = bias; // above the image
    // Of the team's loads and stores this lane does word `part` of rows group, group + kRows, ...
    const uint kRows = kTeamSize / kSteps; // in one of them
    uint part = lane % kSteps, group = lane / kSteps, own = stage + lane * kPitch,
         others = stage + group * kPitch + part;
    uint rowsStep = kRows / 4u * gWidth - kRows; // from load to load
    uint bandWords = kTeamSize / 4u * gWidth;    // whole words, so that all rows of a lane have the
                                                 // same shift
    uint shift = 8u * (from + lane * gWidth - gFirst & 3u);
    // The place of the lane's word of row `group` in the stream of that row of all bands, within
    // the period, and in memory. It is a word further than the quads.
    bool isBefore = part < group;
    uint jump = bandWords - period; // of memory, where the period ends
    uint loadPlace = part - group + mix(0u, period, isBefore);
    uint loadIndex = uint(int(from) - int(gFirst) + int(group * gWidth) >> 2) + part - group -
                     mix(0u, jump, isBefore);
    // a record
    uint storePlace = loadPlace,
         storeAt = group * gWidth - gFirst + 4u * (part - group - 1u - mix(0u, jump, isBefore));
    uint words[kSteps];
    Wave wave = Wave(above, quads, period, shift, bias, hasZigzag);
    WaveRow row = WaveRow(0u - lane - 1u, 0u, 0u, 0u, 0u);
    teamBarrier();
    [[unroll]] for (uint m = 0u; m < kSteps; m++) words[m] = loadFrom(
        base, min(loadIndex + m * rowsStep - mix(0u, jump, loadPlace < kRows * m), lastFrom));
    for (uint s = 0u; sgUniform(s < steps); s += kSteps) {
        [[unroll]] for (uint m = 0u; m < kSteps; m++) sStage[others + m * kRows * kPitch] =
            words[m];
        loadPlace += kSteps;
        bool wraps = loadPlace >= period;
        loadIndex += kSteps + mix(0u, jump, wraps);
        loadPlace -= mix(0u, period, wraps);
        teamBarrier();
        [[unroll]] for (uint m = 0u; m < kSteps; m++) words[m] = loadFrom(
            base, min(loadIndex + m * rowsStep - mix(0u, jump, loadPlace < kRows * m), lastFrom));
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
        for (uint k = 0u; k < kSteps; k++) {
            waveStep(predictor, wave, s + k, own + k, row);
            if (k % 2u == 1u)
                teamBarrier(); // lane 0 reads what the last lane stored at least two steps ago
        }
#else
        // Two steps written out: a branch around the barrier would have NVIDIA's compiler (580)
        // match lanes eight times a step.
        [[dont_unroll]] for (uint k = 0u; k < kSteps; k += 2u) {
            waveStep(predictor, wave, s + k, own + k, row);
            waveStep(predictor, wave, s + k + 1u, own + k + 1u, row);
            teamBarrier(); // lane 0 reads what the last lane stored at least two steps ago
        }
#endif
        [[unroll]] for (uint m = 0u; m < kSteps; m++) {
            bool isBack = storePlace < kRows * m;
            uint i = storeAt + 4u * (m * rowsStep - mix(0u, jump, isBack));
            uint q = storePlace - kRows * m + mix(0u, period, isBack) - 1u,
                 bytes = sStage[others + m * kRows * kPitch];
            if (isAligned) {
                if (q < quads && i + 3u < gCount + 3u) storeScratchWord(values + i, bytes);
            } else if (q < quads) {
                [[unroll]] for (uint b = 0u; b < 4u; b++) if (i + b < gCount && 4u * q + b < gWidth)
                    storeScratchByte(values + i + b, bytes >> 8u * b);
            }
        }
        storePlace += kSteps;
        wraps = storePlace >= period;
        storeAt += 4u * (kSteps + mix(0u, jump, wraps));
        storePlace -= mix(0u, period, wraps);
        teamBarrier();
        done = s + kSteps;
    }
    return done >= steps;
}

// Sums down the columns of bytes, four a lane; the first row is there already.
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
                    sum = addBytes(sum, hasZigzag ? unzigzagBytes(packed[k]) : packed[k]);
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

bool undoColumn(uint column) {
    uint predictor = predictorOf(column);
    bool ended = true;
    if (sgUniform(predictor <= kUp)) {
        bool isUp = predictor == kUp;
        ended = undoDifferences(column, isUp ? min(gWidth, gCount) : gCount, isUp ? 1u : predictor);
        if (sgUniform(isUp && bytesOf(column) == 1u)) {
            teamBarrierAll(); // the first row
            ended = undoByteUp(column) && ended;
        }
        return ended;
    }
    bool isWave = isWaveOfBytes(column);
    if (sgUniform(!isWave)) ended = undoWave(column);
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW) // one copy of the code
    if (isWave) ended = undoByteWave(predictor, column);
#else
    if (sgUniform(isWave && predictor == kMedian)) ended = undoByteWave(kMedian, column);
    if (sgUniform(isWave && predictor == kAverage)) ended = undoByteWave(kAverage, column);
    if (sgUniform(isWave && predictor == kGradient)) ended = undoByteWave(kGradient, column);
#endif
    return ended;
}

// Residuals of bytes that do not stand in a row, in scratch.
bool gatherResiduals() {
    bool ended = true;
    for (uint n = 0u; n < sPredictedCount; n++) {
        uint column = sPredicted[n], step = sStep[column], lead = sValues[column] & 3u, done = 0u;
        if (isGathered(column)) {
            uint words = (lead + gCount + 3u) / 4u;
            for (uint w = wgInvocation(); w < words; w += gl_WorkGroupSize.x) {
                uvec4 value;
                // some of the first and the last word do not count
                [[unroll]] for (uint k = 0u; k < 4u; k++) value[k] = sourceByte(
                    sFrom[column] + min(max(4u * w + k, lead) - lead, gCount - 1u) * step);
                storeScratchWord(sValues[column] - lead + 4u * w, packBytes(value));
                done = w;
            }
            ended = ended && done + gl_WorkGroupSize.x >= words;
        }
    }
    return ended;
}

// Sums down the columns of the image, a lane each; the first row is there already.
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

bool undoPredictions() {
    bool ended = gatherResiduals();
    wgBarrierAll();
    // As many at once as have room for a row.
    uint teams = clamp(kRowWords / max((gWidth + 3u) / 4u, 1u), 1u, kTeams);
    for (uint n = teamIndex(); sgUniform(teamIndex() < teams && n < sPredictedCount); n += teams) {
        bool one = undoColumn(sPredicted[n]);
        ended = ended && one;
    }
    wgBarrierAll();
    if (gAnyUp) {
        for (uint n = 0u; n < sPredictedCount; n++)
            if (predictorOf(sPredicted[n]) == kUp && bytesOf(sPredicted[n]) != 1u) {
                bool one = undoUp(sPredicted[n]);
                ended = ended && one;
            }
    }
    wgBarrierAll();
    return ended;
}

// Columns whose bytes cannot be taken as they are, first those with a base, which is needed as it
// is.
bool finishColumns() {
    uint done = 0u;
    for (uint i = wgInvocation(); i < gCount; i += gl_WorkGroupSize.x) {
        for (uint c = 0u; c < 2u * sColumns; c++) {
            bool second = c >= sColumns;
            uint column = second ? c - sColumns : c, word = sColumn[column], base = word >> 24,
                 bytes = bytesOf(column);
            if (needsFinal(column) && (base == 0u) == second) {
                uint value = valueOf(column, i);
                if (base != 0u) value += valueOf(base - 1u, i);
                value &= maskOf(bytes);
                if ((word & kRotated) != 0u) value = value >> 1 | value << 8u * bytes - 1u;
                if ((word & kBlock) != 0u) value = unmapBlock(value, bytes == 2u);
                storeValue(column, i, value);
            }
        }
        done = i;
    }
    return done + gl_WorkGroupSize.x >= gCount;
}

// -----------------------------------------------------------------------------------------------
// Records put together

// at / the stride, below 2^20.
uint recordOf(uint at, uint reciprocal) {
    uint high, low;
    umulExtended(at, reciprocal, high, low);
    return gStride == 1u ? at : high;
}
uint reciprocalOfStride() { return 0xffffffffu / max(gStride, 1u) + 1u; }

uvec2 memoryOf(uint place) { return mix(gSource, gScratch, bvec2((place & 1u) != 0u)); }

// Byte `at` of the records.
uint recordByte(uint at, uint reciprocal) {
    uint i = recordOf(at, reciprocal);
    uvec4 place = sBytes[at - i * gStride];
    bool hasBase = place.z != kNothing;
    uint own = place.x + i * (place.y >> 1), base = mix(own, place.z + i * (place.w >> 1), hasBase);
    uint value = loadFrom(memoryOf(place.y), own >> 2) >> 8u * (own & 3u);
    uint more = loadFrom(memoryOf(mix(place.y, place.w, hasBase)), base >> 2) >> 8u * (base & 3u);
    return value + mix(0u, more, hasBase) & 0xffu;
}

// Byte `at` of what the planes hold: records, then bytes that are too few for one.
uint planesByte(uint at, uint reciprocal) {
    if (at >= gCount * gStride) return sourceByte(gPlanes + at);
    return recordByte(at, reciprocal);
}

// Stores the bytes of the word that the range [begin, end) of the tile has.
void storeTileWord(uint word, uint value, uint begin, uint end) {
    uint from = max(begin, 4u * word) - 4u * word, to = min(end, 4u * word + 4u) - 4u * word;
    storeWord(add64(gTarget, 4u * word), value, from, to);
}

// Rows of a square of bytes become its columns.
uvec4 transposed(uvec4 row) {
    uvec4 even = uvec4(row.x & 0x00ff00ffu | (row.y & 0x00ff00ffu) << 8,
                       row.x >> 8 & 0x00ff00ffu | row.y & 0xff00ff00u,
                       row.z & 0x00ff00ffu | (row.w & 0x00ff00ffu) << 8,
                       row.z >> 8 & 0x00ff00ffu | row.w & 0xff00ff00u);
    // even.x: records 0 and 2 of columns 0 and 1; even.y: records 1 and 3; even.z, even.w: of
    // columns 2 and 3
    return uvec4(even.x & 0xffffu | even.z << 16, even.y & 0xffffu | even.w << 16,
                 even.x >> 16 | even.z & 0xffff0000u, even.y >> 16 | even.w & 0xffff0000u);
}

// Whether `bytes` bytes of a record from `at` on come from planes, or four all from a row of
// values.
bool arePlanes(uint at, uint bytes) {
    bool result = true;
    for (uint k = 0u; k < bytes; k++) {
        uvec4 place = sBytes[(at + k) % gStride];
        result = result && place.y >> 1 == 1u && (place.z == kNothing || place.w >> 1 == 1u);
    }
    return result;
}
bool areValues(uint at) {
    uint byte = at % gStride;
    uvec4 place = sBytes[byte];
    bool result = place.z == kNothing && byte + 4u <= gStride;
    for (uint k = 1u; k < 4u && result; k++) {
        uvec4 other = sBytes[byte + k];
        result = other.x == place.x + k && other.y == place.y && other.z == kNothing;
    }
    return result;
}

// Four records a lane, of which it does a word of each, or all three bytes. lead: bytes before, the
// target is then aligned. Returns how many bytes are done; 0: the records are of another kind,
// kNothing: the driver ended the loop.
uint writeQuads(uint lead) {
    uint bytes = gStride == 3u ? 3u : 4u, total = gCount * gStride;
    uint quads = total > lead ? (total - lead) / (4u * gStride) : 0u;
    uint parts = gStride / bytes, lanes = gl_WorkGroupSize.x / parts, part = wgInvocation() % parts;
    uint begin = wgInvocation() / parts, at = lead + bytes * part, advance = 4u * lanes;
    bool fromPlanes = arePlanes(at, bytes);
    if (wgAnyInvocation(!fromPlanes && (bytes == 3u || !areValues(at)))) return 0u;
    if (begin >= lanes) return quads * 4u * gStride;
    uvec2 own[4], base[4];
    uvec4 ownAt = uvec4(0u), baseAt = uvec4(0u), baseMask = uvec4(0u);
    [[unroll]] for (uint k = 0u; k < 4u; k++) {
        uint byteAt = k < bytes ? at + k : at, i = 4u * begin + byteAt / gStride;
        uvec4 place = sBytes[byteAt % gStride];
        own[k] = memoryOf(place.y);
        ownAt[k] = place.x + i * (place.y >> 1);
        base[k] = own[k];
        baseAt[k] = ownAt[k];
        if (place.z != kNothing) {
            base[k] = memoryOf(place.w);
            baseAt[k] = place.z + i * (place.w >> 1);
            baseMask[k] = ~0u;
        }
    }
    if (!fromPlanes) {
        uint step = sBytes[at % gStride].y >> 1;
        advance *= step;
        ownAt = ownAt.x + step * uvec4(0u, 1u, 2u, 3u);
    }
    uint done = begin, to = gPosition + lead + 4u * (begin * gStride + part);
    for (uint quad = begin; quad < quads; quad += lanes) {
        uvec4 word;
        [[unroll]] for (uint k = 0u; k < 4u; k++) word[k] = loadBytes4(own[k], ownAt[k]);
        ownAt += advance;
        if (gAnyBase) {
            [[unroll]] for (uint k = 0u; k < 4u; k++) word[k] =
                addBytes(word[k], loadBytes4(base[k], baseAt[k]) & baseMask[k]);
            baseAt += advance;
        }
        if (bytes == 4u) {
            if (fromPlanes) word = transposed(word);
            if (gStride == 4u) {
                UnitsOut(add64(gTarget, to)).v[0] = word;
            } else {
                [[unroll]] for (uint k = 0u; k < 4u; k++) WordOut(add64(gTarget, to + k * gStride))
                    .w = word[k];
            }
        } else { // a0 b0 c0 a1 | b1 c1 a2 b2 | c2 a3 b3 c3
            uvec4 shifts = uvec4(0u, 8u, 16u, 24u), a = uvec4(word.x) >> shifts & 0xffu;
            uvec4 b = uvec4(word.y) >> shifts & 0xffu, c = uvec4(word.z) >> shifts & 0xffu;
            WordOut(add64(gTarget, to)).w = a.x | b.x << 8 | c.x << 16 | a.y << 24;
            WordOut(add64(gTarget, to + 4u)).w = b.y | c.y << 8 | a.z << 16 | b.z << 24;
            WordOut(add64(gTarget, to + 8u)).w = c.z | a.w << 8 | b.w << 16 | c.w << 24;
        }
        to += 4u * lanes * gStride;
        done = quad + lanes;
    }
    return done >= quads ? quads * 4u * gStride : kNothing;
}

// Bytes [begin, end) of the section, byte for byte. False: the driver ended the loop.
bool writeBytes(uint begin, uint end) {
    uint first = gPosition + begin >> 2, words = (gPosition + end + 3u >> 2) - first,
         reciprocal = reciprocalOfStride();
    uint done = 0u;
    if (begin >= end) return true;
    for (uint base = 0u; base < words; base += gl_WorkGroupSize.x) {
        uint word = first + base + wgInvocation(), value = 0u;
        if (base + wgInvocation() < words) {
            [[unroll]] for (uint b = 0u; b < 4u; b++) {
                uint at = 4u * word + b - gPosition; // wraps below the section's begin
                if (at - begin < end - begin) value |= planesByte(at, reciprocal) << 8u * b;
            }
            storeTileWord(word, value, gPosition + begin, gPosition + end);
        }
        done = base + gl_WorkGroupSize.x;
    }
    return done >= words;
}

bool writeRecords(uint size) {
    uint lead = min(0u - (gTarget.x + gPosition) & (gStride == 4u ? 15u : 3u), size), done = 0u;
    if (sgUniform((gStride & 3u) == 0u || gStride == 3u)) done = writeQuads(lead);
    bool ended = done != kNothing;
    if (!ended || done == 0u) return ended && writeBytes(0u, size);
    ended = writeBytes(0u, lead);
    return writeBytes(lead + done, size) && ended;
}

// Bytes that are not filtered, from the section's position on.
bool copyBytes(uint size) {
    uint first = gPosition >> 2, words = (gPosition + size + 3u >> 2) - first, done = 0u;
    for (uint base = 0u; base < words; base += gl_WorkGroupSize.x) {
        uint word = first + base + wgInvocation();
        if (base + wgInvocation() < words)
            storeTileWord(word, WordsIn(gSource).w[word], gPosition, gPosition + size);
        done = base + gl_WorkGroupSize.x;
    }
    return done >= words;
}

// -----------------------------------------------------------------------------------------------
// Targa packets

// What a packet takes, from its header: with its pixels.
uint packetBytes(uint header) { return 1u + ((header & 128u) != 0u ? 1u : header + 1u) * gStride; }

// In scratch: a bit for each byte of the section in the tile, set at headers, and before each 32 of
// them the count of those set. Bits are counted from the word that holds the section's first byte.
uint headerBits(uint size) { return (size + SLUICE_FILTER_SLACK + 15u) / 16u * 4u; }
uint headerWords(uint size) { return (size + 3u + 31u) / 32u; }

// Counts the packets that take exactly `size` bytes and marks their headers; 0: none do.
uint countPackets(uint size) {
    const uint kEach = 4u;
    uint lead = gPosition & 3u, bits = headerBits(size), words = headerWords(size), bytes = 0u,
         before = 0u;
    for (uint w = wgInvocation(); w < words; w += gl_WorkGroupSize.x)
        storeScratchWord(4u * (bits + w), 0u);
    if (wgInvocation() == 0u) sPackets = 0u;
    wgBarrierAll();
    for (uint base = 0u; sgUniform(base < size && bytes < size);
         base += gl_WorkGroupSize.x * kEach) {
        uint k = base + wgInvocation() * kEach, sum = 0u, total;
        uint own[kEach];
        [[unroll]] for (uint e = 0u; e < kEach; e++) {
            own[e] = k + e < size ? packetBytes(sourceByte(gPosition + k + e)) : 0u;
            sum += own[e];
        }
        uint at = bytes + wgExclusiveAdd(sum, total);
        [[unroll]] for (uint e = 0u; e < kEach; e++) {
            if (own[e] != 0u && at < size)
                atomicOr(WordsOut(gScratch).w[bits + (lead + at >> 5)], 1u << (lead + at & 31u));
            at += own[e];
            if (own[e] != 0u && at == size) sPackets = k + e + 1u;
        }
        bytes += total;
    }
    wgBarrierAll();
    for (uint base = 0u; sgUniform(base < words); base += gl_WorkGroupSize.x) {
        uint w = base + wgInvocation(), total;
        uint own = w < words ? bitCount(WordsOut(gScratch).w[bits + w]) : 0u;
        uint sum = wgExclusiveAdd(own, total);
        if (w < words) storeScratchWord(4u * (bits + words + w), before + sum);
        before += total;
    }
    wgBarrierAll();
    return sPackets;
}

// The bytes of the packets: headers, and pixels, which planesByte counts on their own.
bool writePackets(uint size) {
    uint lead = gPosition & 3u, words = (lead + size + 3u) / 4u, bits = headerBits(size),
         counts = bits + headerWords(size);
    uint reciprocal = reciprocalOfStride(), done = 0u, pixelBytes = gCount * gStride;
    for (uint base = 0u; base < words; base += gl_WorkGroupSize.x) {
        uint w = base + wgInvocation();
        if (w < words) {
            uint marks = WordsOut(gScratch).w[bits + w / 8u], shift = 4u * (w % 8u);
            uint before =
                loadFrom(gScratch, counts + w / 8u) + bitCount(marks & (1u << shift) - 1u);
            // The next bytes of pixels and of headers, as far as there are so many.
            uint pixelAt = 4u * w + max(4u * w, lead) - 4u * w - lead - before, value = 0u;
            uvec4 pixel, header;
            [[unroll]] for (uint k = 0u; k < 4u; k++) {
                pixel[k] = recordByte(min(pixelAt + k, pixelBytes - 1u), reciprocal);
                header[k] = sourceByte(gPosition + min(before + k, size - 1u));
            }
            [[unroll]] for (uint k = 0u; k < 4u; k++) {
                bool isHeader = (marks >> shift + k & 1u) != 0u;
                value |= mix(pixel.x, header.x, isHeader) << 8u * k;
                if (isHeader)
                    header = header.yzww;
                else if (4u * w + k >= lead)
                    pixel = pixel.yzww;
            }
            storeTileWord((gPosition >> 2) + w, value, gPosition, gPosition + size);
        }
        done = base + gl_WorkGroupSize.x;
    }
    return done >= words;
}

// -----------------------------------------------------------------------------------------------

// What readSection found becomes bytes of the tile.
uint undoSection() {
    uint size = sSize, packets = 0u;
    bool hasPackets = sPackets != 0u, ended = true;
    gStride = sStride;
    gWidth = sWidth;
    gFirst = sFirst;
    gPlanes = gPosition;
    if (sgUniform(gStride == 0u || size == 0u))
        return copyBytes(size) ? SLUICE_ST_OK : SLUICE_ST_INTERNAL;
    wgBarrierAll(); // sPackets has been read; also: the section before is done with scratch
    if (sgUniform(hasPackets)) {
        packets = countPackets(size);
        if (sgUniform(packets == 0u && size != 0u)) return SLUICE_ST_BAD_FILTER;
        gPlanes += packets;
    }
    gCount = (size - packets) / gStride;
    placeColumns();
    if (sgUniform(gCount != 0u)) {
        ended = undoPredictions();
        if (gAnyFinal) ended = finishColumns() && ended;
        wgBarrierAll();
    }
    bool written;
    if (hasPackets) written = writePackets(size);
    if (sgUniform(!hasPackets)) written = writeRecords(size);
    return ended && written ? SLUICE_ST_OK : SLUICE_ST_INTERNAL;
}

bool readTile(WordsIn tile) {
    uvec2 source = uvec2(tile.w[0], tile.w[1]), target = uvec2(tile.w[2], tile.w[3]);
    gTileSize = tile.w[4];
    uint offset = tile.w[5], bytes = tile.w[6];
    gSource = source;
    gTarget = target;
    gDescription = add64(p.descriptions, offset);
    gDescriptionWords = bytes / 4u;
    return gTileSize - 1u < p.maxTileBytes && ((source.x | target.x | offset | bytes) & 3u) == 0u &&
           inside64(source, uvec2(gTileSize, 0u), p.source, p.sourceSize) &&
           inside64(target, uvec2(gTileSize, 0u), p.destination, p.destinationSize) &&
           inside64(gDescription, uvec2(bytes, 0u), p.descriptions, p.descriptionsSize);
}

uint undoTile(bool goodRegion) {
    if (wgInvocation() == 0u) {
        bool sized = goodRegion && gDescriptionWords - 1u < 4096u;
        uint head = sized ? WordsIn(gDescription).w[0] : 0u;
        sCursor = 1u;
        sSections = head >> 16;
        bool good = sized && (head & 0xffffu) == 1u && sSections - 1u < SLUICE_FILTER_MAX_SECTIONS;
        sStatus = !goodRegion ? SLUICE_ST_BAD_REGION : good ? SLUICE_ST_OK : SLUICE_ST_BAD_FILTER;
    }
    wgBarrierShared();
    gPosition = 0u;
    uint status = sStatus;
    for (uint s = 0u;
         sgUniform(s < SLUICE_FILTER_MAX_SECTIONS && status == SLUICE_ST_OK && sSections != 0u);
         s++) {
        loadWindow();
        wgBarrierShared();
        if (wgInvocation() == 0u) readSection();
        wgBarrierShared();
        bool bad = wgAnyInvocation(wgInvocation() < sColumns && isBaseBad(wgInvocation()));
        status = bad ? SLUICE_ST_BAD_FILTER : sStatus;
        if (sgUniform(status == SLUICE_ST_OK)) {
            status = undoSection();
            gPosition += sSize;
        }
        // A loop that the driver ended leaves lanes with different results.
        status = wgAnyInvocation(status == SLUICE_ST_INTERNAL) ? SLUICE_ST_INTERNAL : status;
        wgBarrierShared();
    }
    if (status != SLUICE_ST_OK) return status;
    bool ended = copyBytes(gTileSize - gPosition); // what remains
    return ended && sSections == 0u ? SLUICE_ST_OK : SLUICE_ST_INTERNAL;
}

void main() {
    uint group = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    uint count = countOf(p.tileCount, p.maxTileCount);
    gScratch = add64(p.scratch, mul64(group, p.scratchBytes));
    uvec2 ticket = add64(p.scratch, mul64(p.workgroups, p.scratchBytes));
    // Branches and loops with subgroup operations in them ask by a ballot: one that does not has
    // NVIDIA's compiler (580) match lanes before each such operation of the whole shader. Tiles
    // differ much: with tickets a workgroup that is done with one takes the next that none has.
    uint index = group < p.workgroups ? group : count;
    for (uint turn = 0u; sgUniform(turn < count && index < count); turn++) {
        WordsIn tile = WordsIn(add64(p.tiles, mul64(index, 4u * SLUICE_FILTER_TILE_WORDS)));
        uint word = tile.w[7];
        if (wgInvocation() == 0u) // one reads: another tile with the same word may write it
            sStatus = word < p.statusCount ? WordsIn(p.status).w[word] : SLUICE_ST_PENDING;
        wgBarrierShared();
        bool decoded = sStatus == SLUICE_ST_OK || sStatus == SLUICE_ST_UNVERIFIED;
        wgBarrierShared();
        if (sgUniform(decoded)) {
            uint result = undoTile(readTile(tile)), bad;
            // A loop that the driver ended leaves lanes with different results.
            wgExclusiveAdd(result == SLUICE_ST_OK ? 0u : 1u, bad);
            if (bad != 0u && wgInvocation() == 0u)
                writeStatus(p.status, p.statusCount, word,
                            result == SLUICE_ST_OK ? SLUICE_ST_INTERNAL : result);
        }
        if (wgInvocation() == 0u)
            sNext = p.workgroups + (p.tickets != 0u ? atomicAdd(WordsOut(ticket).w[0], 1u) : index);
        wgBarrierShared();
        index = sNext;
    }
}
