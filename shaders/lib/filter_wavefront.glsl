// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes predictions from the values to the left, above and above to the left by a wavefront: lane
// k of a team does row k of a band of rows, a step behind the row above it.
#ifndef SLUICE_FILTER_WAVEFRONT_GLSL
#define SLUICE_FILTER_WAVEFRONT_GLSL

#include "filter_columns.glsl"
#include "filter_team.glsl"

const uint kSteps = 8u;          // a round; its words, 32 bytes of each row, come and go together
const uint kPitch = kSteps + 1u; // words of a row in sStage

// Row 0 of a band needs the last row of the band above it, which waits here. The last word is never
// written.
shared uint sRow[kRowWords + 1u];
shared uint sStage[gl_WorkGroupSize.x * kPitch]; // words of a round on their way in and out

uint rowsOf() { return (gFirst + gCount + gWidth - 1u) / gWidth; }

const uint kWaveSteps = kTeamTaken; // whose loads are under way at once

// Undoes a column of any size, a record a step. Where no record has another one above it, lane 0
// does all of them, however wide the rows are. A step waits for nothing but the one before it.
void undoWave(uint column) {
    bool oneLine = gCount <= gWidth;
    uint lane = teamLane(), rows = mix(rowsOf(), 1u, oneLine), bytes = bytesOf(column),
         mask = maskOf(bytes), predictor = predictorOf(column), lastRecord = gCount - 1u;
    // Bytes without a base are compared as unsigned numbers, all other values as signed ones.
    uint bias = mask == 0xffu && sColumn[column] >> 24 == 0u ? 0u : (mask >> 1) + 1u;
    uint from = mix(0u, gFirst, oneLine), columns = mix(gWidth, gCount, oneLine);
    bool hasZigzag = (sColumn[column] & kZigzag) != 0u;
    for (uint band = 0u; sgUniform(band < rows); band += kTeamSize) {
        uint begin = (band + lane) * gWidth, steps = columns + min(kTeamSize, rows - band) - 1u;
        uint value = 0u, left = 0u, upLeft = 0u;
        teamBarrierAll(); // the band above is in scratch
        for (uint s = 0u; sgUniform(s < steps); s += kWaveSteps) {
            uint values[kWaveSteps], above[kWaveSteps], first = begin + from + s - lane - gFirst;
            [[unroll]] for (uint k = 0u; k < kWaveSteps; k++) values[k] = above[k] = 0u;
            // A byte of all values a turn, so that the code is there once for all bytes.
            [[dont_unroll]] for (uint b = 0u; b < bytes; b++) {
                uint plane = sFrom[column] + b * sByteStep[column], step = sStep[column];
                [[unroll]] for (uint k = 0u; k < kWaveSteps; k++) values[k] |=
                    sourceByte(plane + min(first + k, lastRecord) * step) << 8u * b;
            }
            if (hasZigzag) [[unroll]]
                for (uint k = 0u; k < kWaveSteps; k++)
                    values[k] = filterUnzigzag(values[k], mask);
            // Only lane 0 needs values of the band above. A lane loads one of them, so that this
            // code is there once.
            if (sgUniform(band != 0u))
                teamTake(valueIn(column,
                                 min(begin - lane * gWidth + from + s - gFirst +
                                         min(lane, kWaveSteps - 1u) - gWidth,
                                     lastRecord),
                                 true),
                         above);
            [[unroll]] for (uint k = 0u; k < kWaveSteps; k++) {
                uint x = from + s + k - lane, at = begin + x, i = at - gFirst,
                     up = teamBefore(value);
                if (band + lane < rows && x - from < columns) {
                    if (lane == 0u) up = mix(0u, above[k], at >= gFirst + gWidth);
                    value = 0u;
                    left = mix(left, 0u, at == gWidth);
                    if (at >= gFirst && i < gCount) {
                        uint guess = filterGuess(predictor, left + bias & mask, up + bias & mask,
                                                 upLeft + bias & mask);
                        value = values[k] + guess - bias & mask;
                    }
                    left = value;
                    upLeft = up;
                }
                values[k] = value;
            }
            [[dont_unroll]] for (uint b = 0u; b < bytes; b++) {
                uint to = sValues[column] + b * gPlaneBytes + first;
                [[unroll]] for (uint k = 0u; k < kWaveSteps; k++) {
                    uint x = from + s + k - lane, i = first + k;
                    if (band + lane < rows && x - from < columns && i < gCount)
                        storeScratchByte(to + k, values[k] >> 8u * b);
                }
            }
        }
    }
}

// A wavefront of bytes does a quad, four bytes, a step.
struct Wave {
    uint above;  // where the team's part of sRow begins
    uint quads;  // of a row
    uint period; // steps from a lane's row to its row in the next band
    uint shift;  // of residuals in the words that hold them
    uint bias;   // what makes four values unsigned, by xor
    bool hasZigzag;
};

// What a lane knows of its row.
struct WaveRow {
    uint quad;   // the one that is next
    uint last;   // the word of residuals loaded before
    uint result; // the values of the quad before
    uint left, upLeft;
};

// Does a quad of the lane's row. `s` is the number of the step, and sStage[at] has the residuals.
void waveStep(const uint predictor, Wave wave, uint s, uint at, inout WaveRow row) {
    uint lane = teamLane(), quad = row.quad, bias = wave.bias;
    uint up = teamBefore(row.result), loaded = sStage[at];
    uint stored = sRow[mix(kRowWords, wave.above + quad, lane == 0u && quad < wave.quads)];
    up = mix(up, stored, lane == 0u);
    uint packed = shiftedWord(row.last, loaded, wave.shift);
    row.last = loaded;
    packed = mix(packed, filterUnzigzagBytes(packed), wave.hasZigzag);
    // In the first row there are no values before the first record.
    uint before =
        mix(0u, gFirst - min(gFirst, 4u * max(s, 1u) - 4u), lane == 0u && s < wave.period);
    packed &= mix(0xffffffffu << 8u * min(before, 3u), 0u, before >= 4u);
    uint left = mix(row.left, bias & 0xffu, quad == 0u),
         upLeft = mix(row.upLeft, bias & 0xffu, quad == 0u);
    uvec4 value;
    [[unroll]] for (uint b = 0u; b < 4u; b++) {
        uint over = up >> 8u * b & 0xffu;
        if (predictor == SLUICE_PREDICTOR_MEDIAN) { // as filterMedian, with minima and maxima alone
            int plane = int(left) + (int(over) - int(upLeft));
            left = uint(max(int(min(left, over)), min(int(max(left, over)), plane)));
        } else {
            left = filterGuess(predictor, left, over, upLeft);
        }
        left = left + (packed >> 8u * b & 0xffu) & 0xffu;
        value[b] = left;
        upLeft = over;
    }
    row.left = left;
    row.upLeft = upLeft;
    row.result = value.x | value.y << 8 | value.z << 16 | value.w << 24;
    sStage[at] = row.result ^ bias;
    if (lane == kTeamSize - 1u && quad < wave.quads) sRow[wave.above + quad] = row.result;
    row.quad = mix(quad + 1u, 0u, quad + 1u == wave.period);
}

#if !defined(SLUICE_EMU) && !defined(SLUICE_NARROW)
// Does a round of steps, from step `s` on. Two steps are written out, since a branch around the
// barrier would have NVIDIA's compiler (580) match lanes eight times a step.
void waveRound(const uint predictor, Wave wave, uint s, uint own, inout WaveRow row) {
    [[dont_unroll]] for (uint k = 0u; k < kSteps; k += 2u) {
        waveStep(predictor, wave, s + k, own + k, row);
        waveStep(predictor, wave, s + k + 1u, own + k + 1u, row);
        teamBarrier(); // lane 0 reads what the last lane stored two steps ago or earlier
    }
}
#endif

// Undoes a column of bytes, a quad a step. A lane goes on to its row of the next band without
// waiting: a period is so long that the last row of its band is in sRow by then. Steps past the end
// of a row do their work in vain. A round of steps takes 32 bytes of each row through shared
// memory, so that a load or store of a team of 32 has 4 rows in it, not 32; loads are a round
// ahead. Only the steps themselves are there once for each predictor.
void undoByteWave(uint predictor, uint column) {
    uint lane = teamLane(), quads = (gWidth + 3u) / 4u, rows = rowsOf(),
         period = max(quads + 1u, kTeamSize + 1u);
    uint steps = (rows + kTeamSize - 1u) / kTeamSize * period + kTeamSize;
    // Differences from a base are compared as signed numbers.
    uint word = sColumn[column], bias = mix(0u, 0x80808080u, word >> 24 != 0u);
    bool hasZigzag = (word & kZigzag) != 0u, isAligned = (gWidth & 3u) == 0u,
         inScratch = isGathered(column);
    uvec2 base = mix(gSource, gScratch, bvec2(inScratch));
    uint from = mix(sFrom[column], sValues[column], inScratch),
         lastFrom = (from + gCount - 1u) >> 2, values = sValues[column];
    uint above = teamIndex() * quads, stage = teamIndex() * kTeamSize * kPitch;
    for (uint q = lane; q < quads; q += kTeamSize)
        sRow[above + q] = bias; // values above the image are 0
    // One of the team's loads or stores has kRows rows in it. This lane does word `part` of rows
    // group, group + kRows, ...
    const uint kRows = kTeamSize / kSteps;
    uint part = lane % kSteps, group = lane / kSteps, own = stage + lane * kPitch,
         others = stage + group * kPitch + part;
    uint rowsStep = kRows / 4u * gWidth - kRows; // words from one load to the next
    // A band is whole words, so that all rows of a lane have the same shift.
    uint bandWords = kTeamSize / 4u * gWidth;
    uint shift = 8u * (from + lane * gWidth - gFirst & 3u);
    // Row `group` of all bands is a stream of words for the lane. loadPlace is the place of its
    // next word within the period, loadIndex that in memory; loads are a word ahead of the quads.
    bool isBefore = part < group;
    uint jump = bandWords - period; // words of memory that are skipped where a period ends
    uint loadPlace = part - group + mix(0u, period, isBefore);
    uint loadIndex = uint(int(from) - int(gFirst) + int(group * gWidth) >> 2) + part - group -
                     mix(0u, jump, isBefore);
    // storeAt is a record.
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
                teamBarrier(); // lane 0 reads what the last lane stored two steps ago or earlier
        }
#else
#define SLUICE_WAVE(number)                                                                        \
    if (sgUniform(predictor == number))                                                            \
        waveRound(number, wave, s, own, row);                                                      \
    else
        SLUICE_OTHER_WAVES(SLUICE_WAVE)
        waveRound(SLUICE_PREDICTOR_GRADIENT, wave, s, own, row);
#undef SLUICE_WAVE
#endif
        if (isAligned) [[unroll]]
            for (uint m = 0u; m < kSteps; m++) {
                bool isBack = storePlace < kRows * m;
                uint i = storeAt + 4u * (m * rowsStep - mix(0u, jump, isBack));
                uint q = storePlace - kRows * m + mix(0u, period, isBack) - 1u;
                if (q < quads && i + 3u < gCount + 3u)
                    storeScratchWord(values + i, sStage[others + m * kRows * kPitch]);
            }
        else [[dont_unroll]]
            for (uint half_ = 0u; half_ < kSteps; half_ += kSteps / 2u)
                [[unroll]] for (uint n = 0u; n < kSteps / 2u; n++) {
                    uint m = half_ + n;
                    bool isBack = storePlace < kRows * m;
                    uint i = storeAt + 4u * (m * rowsStep - mix(0u, jump, isBack));
                    uint q = storePlace - kRows * m + mix(0u, period, isBack) - 1u,
                         bytes = sStage[others + m * kRows * kPitch];
                    if (q < quads) [[unroll]]
                        for (uint b = 0u; b < 4u; b++)
                            if (i + b < gCount && 4u * q + b < gWidth)
                                storeScratchByte(values + i + b, bytes >> 8u * b);
                }
        storePlace += kSteps;
        wraps = storePlace >= period;
        storeAt += 4u * (kSteps + mix(0u, jump, wraps));
        storePlace -= mix(0u, period, wraps);
        teamBarrier();
    }
}

#endif // SLUICE_FILTER_WAVEFRONT_GLSL
