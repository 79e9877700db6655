// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes predictions from the values to the left, above and above to the left by a wavefront. A
// band is as many rows as a team has lanes. Lane k does row k of the band, one step behind lane k -
// 1, so that the values above are known in time. A wave is a column that is undone in this way.
#ifndef SLUICE_FILTER_WAVEFRONT_GLSL
#define SLUICE_FILTER_WAVEFRONT_GLSL

#include "loops.glsl"
#include "filter_columns.glsl"
#include "filter_team.glsl"

const uint kSteps = 8u;          // a round, whose 32 bytes of each row are loaded and stored
                                 // together
const uint kPitch = kSteps + 1u; // words of a row in sStage

// Row 0 of a band needs the last row of the band above it, which is kept here. The last word is
// never written, so that it can be read where there is no row above.
shared uint sRow[kRowWords + 1u];
shared uint sStage[gl_WorkGroupSize.x * kPitch]; // words of a round on their way in and out

uint rowsOf() { return (gFirst + gCount + gWidth - 1u) / gWidth; }

const uint kWaveSteps = kTeamTaken; // a batch, whose loads are issued together
// How many batches a band is behind the band above it, where several teams share a column. The last
// row of the band above is read from scratch one batch ahead, and its last bytes are written there
// one batch late.
const uint kWaveLag = (kTeamSize + kWaveSteps - 1u) / kWaveSteps + 3u;
const uint kWaveWords = kWaveSteps / 4u + 1u; // that hold a byte of all values of a batch

// Copies the residuals of a wave to scratch, one plane for each byte. The values replace them
// there.
void gatherWave(uint column) {
    for (uint i = 4u * wgInvocation(); i < gCount; i += 4u * gl_WorkGroupSize.x) {
        uvec4 value;
        SLUICE_UNROLL
        for (uint k = 0u; k < 4u; k++)
            value[k] = valueIn(column, min(i + k, gCount - 1u), false);
        SLUICE_DONT_UNROLL
        for (uint b = 0u; b < bytesOf(column); b++)
            storeScratchWord(sValues[column] + b * gPlaneBytes + i, packBytes(value >> 8u * b));
    }
}

// Returns a bit for each of kWaveSteps consecutive records of a row, which is set if the record
// belongs to the section. x: the position of the first of them in the row, negative before the
// row's begin; first: its index in the section.
uint recordsFrom(uint x, uint columns, uint first) {
    int begin = max(max(-int(x), -int(first)), 0),
        end = min(min(int(columns - x), int(gCount - first)), int(kWaveSteps));
    return begin < end ? (1u << end) - (1u << begin) : 0u;
}

// Stores those bytes of a word of scratch whose bits are set.
void storeReady(uint at, uint word, uint ready) {
    if (ready == 15u) {
        storeScratchWord(at, word);
    } else if (ready != 0u) {
        SLUICE_UNROLL
        for (uint k = 0u; k < 4u; k++)
            if ((ready >> k & 1u) != 0u) storeScratchByte(at + k, word >> 8u * k);
    }
}

// Undoes a column of values of any size, one record per step. If no record has another one above
// it, lane 0 does all records, however wide the rows are. `teams` teams share the column; this team
// does the bands whose index is `part` modulo `teams`. If several teams share it, the whole
// workgroup calls this, and passes a barrier between batches. A turn computes one batch and loads
// the next one, so a band takes one turn more than it has batches.
void undoWave(uint column, bool hasColumn, uint teams, uint part) {
    bool oneLine = gCount <= gWidth;
    uint lane = teamLane(), rows = mix(rowsOf(), 1u, oneLine), bytes = bytesOf(column),
         mask = maskOf(bytes), predictor = predictorOf(column);
    // Values are held with `bias` added, so that signed values compare correctly as unsigned
    // numbers. Bytes without a base are unsigned already.
    uint bias = mask == 0xffu && sColumn[column] >> 24 == 0u ? 0u : (mask >> 1) + 1u;
    uint from = mix(0u, gFirst, oneLine), columns = mix(gWidth, gCount, oneLine);
    uint bands = (rows + kTeamSize - 1u) / kTeamSize;
    uint batches = (columns + min(rows, kTeamSize) + kWaveSteps - 2u) / kWaveSteps;
    uint period = max(batches + 1u, teams * kWaveLag); // turns from a band of the team to its next
    uint turns = (bands - 1u) / teams * period + (bands - 1u) % teams * kWaveLag + batches + 1u;
    uint planes = sValues[column] >> 2, planeWords = gPlaneBytes >> 2;
    int lastWord = int((gCount - 1u) >> 2);
    uint band = part, turn = 0u - part * kWaveLag; // of the band; negative before its first turn
    uint value = bias, left = bias, upLeft = bias;
    uint before = 0u;                           // which records of the previous batch exist
    uvec4 words[kWaveWords], above = uvec4(0u); // a component for each byte of the values
    uvec4 tails = uvec4(0u);                    // the last four bytes of the previous batch
    SLUICE_UNROLL
    for (uint n = 0u; n < kWaveWords; n++)
        words[n] = uvec4(0u);
    for (uint t = 0u; sgUniform(t < turns); t++) {
        if (sgUniform(teams > 1u)) wgBarrierAll(); // makes other teams' stores visible
        teamBarrierAll();
        if (sgUniform(hasColumn && band < bands && turn <= batches)) {
            // `first` is the lane's record in the first step of the current batch, which may lie
            // before the row's begin. `over` is a record of the row above lane 0.
            uint x = (turn - 1u) * kWaveSteps - lane;
            uint row = band * kTeamSize + lane, first = row * gWidth + from + x - gFirst;
            uint over = (band * kTeamSize - 1u) * gWidth + from + (turn - 1u) * kWaveSteps +
                        min(lane, kWaveSteps - 1u) - gFirst;
            uint records = turn != 0u && row < rows ? recordsFrom(x, columns, first) : 0u;
            // If all records are one line that wraps to a second row, the first record of that row
            // has no left neighbour.
            uint begins = oneLine && gWidth - gFirst - first < kWaveSteps
                              ? 1u << (gWidth - gFirst - first)
                              : 0u;
            uint shift = 8u * (first & 3u), values[kWaveSteps], taken[kWaveSteps];
            SLUICE_UNROLL
            for (uint n = 0u; n < kWaveWords - 1u; n++) {
                uvec4 packed;
                SLUICE_UNROLL
                for (uint b = 0u; b < 4u; b++)
                    packed[b] = shiftedWord(words[n][b], words[n + 1u][b], shift);
                packed = transposed(packed);
                SLUICE_UNROLL
                for (uint k = 0u; k < 4u; k++)
                    values[4u * n + k] = packed[k];
            }
            uint overValue = packBytes(above >> 8u * (over & 3u));
            SLUICE_UNROLL
            for (uint b = 0u; b < 4u; b++)
                if (b < bytes) {
                    uint plane = planes + b * planeWords;
                    int begin = int(first + kWaveSteps) >> 2;
                    SLUICE_UNROLL
                    for (uint n = 0u; n < kWaveWords; n++)
                        words[n][b] =
                            loadFrom(gScratch, plane + uint(clamp(begin + int(n), 0, lastWord)));
                    if (band != 0u)
                        above[b] =
                            loadFrom(gScratch,
                                     plane + uint(clamp(int(over + kWaveSteps) >> 2, 0, lastWord)));
                }
            // There are no values above the first band, nor before the begin of a row.
            SLUICE_UNROLL
            for (uint k = 0u; k < kWaveSteps; k++)
                taken[k] = bias;
            if (sgUniform(band != 0u && turn != 0u)) teamTake(overValue ^ bias, taken);
            SLUICE_UNROLL
            for (uint k = 0u; k < kWaveSteps; k++) {
                uint up = teamBefore(value);
                up = mix(up, taken[k], lane == 0u);
                left = mix(left, bias, (begins >> k & 1u) != 0u);
                bool isRecord = (records >> k & 1u) != 0u;
                uint kept = mix(0u, mask, isRecord), none = mix(bias, 0u, isRecord);
                value = (values[k] + filterGuess(predictor, left, up, upLeft)) & kept | none;
                left = value;
                upLeft = up;
                values[k] = value ^ bias;
            }
            // Whole words are stored. The bytes of the batch that do not fill a word are stored
            // with the next batch, unless the row ends here.
            uint odd = first & 3u, ready = before >> (kWaveSteps - odd) | records << odd;
            bool ends =
                int(x + kWaveSteps) >= int(columns) || int(first + kWaveSteps) >= int(gCount);
            before = ends ? 0u : records;
            SLUICE_DONT_UNROLL
            for (uint b = 0u; b < bytes; b++) {
                uint to = sValues[column] + b * gPlaneBytes + (first & ~3u);
                uint packed[kWaveWords + 1u]; // starts with the end of the previous batch
                packed[0] = tails.x;
                SLUICE_UNROLL
                for (uint n = 0u; n < kWaveSteps / 4u; n++)
                    packed[n + 1u] = packBytes(uvec4(values[4u * n], values[4u * n + 1u],
                                                     values[4u * n + 2u], values[4u * n + 3u]) >>
                                               8u * b);
                packed[kWaveWords] = 0u;
                tails = uvec4(tails.yzw, packed[kWaveWords - 1u]); // the components rotate
                SLUICE_UNROLL
                for (uint n = 0u; n < kWaveWords; n++)
                    if (n + 1u < kWaveWords || ends)
                        storeReady(to + 4u * n,
                                   odd == 0u
                                       ? packed[n + 1u]
                                       : shiftedWord(packed[n], packed[n + 1u], 32u - 8u * odd),
                                   ready >> 4u * n & 15u);
            }
            tails = bytes == 1u ? tails.wxyz : bytes == 2u ? tails.zwxy : tails;
        }
        turn++;
        bool wraps = turn == period;
        band += mix(0u, teams, wraps);
        turn = mix(turn, 0u, wraps);
    }
}

// Undoes all waves except waves of quads. If there are more teams than such columns, several teams
// share the bands of a column. They do not if rows are so short that a team finishes a band before
// the next one could start.
void undoWaves() {
    uint waves = sWaveCount, bands = (rowsOf() + kTeamSize - 1u) / kTeamSize;
    uint teams = clamp(kTeams / max(waves, 1u), 1u, bands);
    if (gCount <= gWidth || gWidth + kTeamSize <= 2u * kWaveLag * kWaveSteps) teams = 1u;
    uint atOnce = kTeams / teams, own = teamIndex() / teams;
    for (uint base = 0u; sgUniform(base < waves); base += atOnce) {
        bool hasColumn = own < atOnce && base + own < waves;
        if (sgUniform(hasColumn || teams > 1u))
            undoWave(sWaves[min(base + own, waves - 1u)], hasColumn, teams, teamIndex() % teams);
    }
}

// A wavefront of bytes does a quad per step, that is, four bytes.
struct Wave {
    uint above;  // where the team's part of sRow begins
    uint quads;  // of a row
    uint period; // steps from a lane's row to its row in the next band
    uint shift;  // of residuals in the words that hold them
    uint bias;   // xor that makes four signed values unsigned
    bool hasZigzag;
};

// Holds what a lane knows of its row.
struct WaveRow {
    uint quad;   // index of the next quad
    uint last;   // the previous word of residuals
    uint result; // the values of the previous quad
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
    SLUICE_UNROLL
    for (uint b = 0u; b < 4u; b++) {
        uint over = up >> 8u * b & 0xffu;
        if (predictor == SLUICE_PREDICTOR_MEDIAN) { // like filterMedian, but only minima and maxima
            int plane = int(left) + (int(over) - int(upLeft));
            left = uint(max(int(min(left, over)), min(int(max(left, over)), plane)));
        } else {
            left = filterGuess(predictor, left, over, upLeft);
        }
        left = (left + (packed >> 8u * b & 0xffu)) & 0xffu;
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
// Does a round of steps, starting with step `s`. The loop body has two steps because a branch
// around the barrier would make NVIDIA's compiler (580) match lanes eight times per step.
void waveRound(const uint predictor, Wave wave, uint s, uint own, inout WaveRow row) {
    SLUICE_DONT_UNROLL
    for (uint k = 0u; k < kSteps; k += 2u) {
        waveStep(predictor, wave, s + k, own + k, row);
        waveStep(predictor, wave, s + k + 1u, own + k + 1u, row);
        teamBarrier(); // lane 0 reads what the last lane stored two steps ago or earlier
    }
}
#endif

// Undoes a column of bytes, one quad per step. A lane continues with its row of the next band
// without waiting: a period is so long that the last row of the current band is in sRow by then.
// The results of steps past the end of a row are discarded. A round of steps moves 32 bytes of each
// row through shared memory, so that a load or store of a team of 32 lanes touches 4 rows instead
// of 32; loads are issued one round ahead. Only the code of the steps is instantiated for each
// predictor.
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
    // Each load or store of the team covers kRows rows. This lane takes word `part` of rows group,
    // group + kRows, ...
    const uint kRows = kTeamSize / kSteps;
    uint part = lane % kSteps, group = lane / kSteps, own = stage + lane * kPitch,
         others = stage + group * kPitch + part;
    uint rowsStep = kRows / 4u * gWidth - kRows; // words from one load to the next
    // A band is whole words, so that all rows of a lane have the same shift.
    uint bandWords = kTeamSize / 4u * gWidth;
    uint shift = 8u * ((from + lane * gWidth - gFirst) & 3u);
    // For the lane, row `group` of all bands is one stream of words. loadPlace is the place of the
    // next word within the period, and loadIndex is its index in memory. Loads are one word ahead
    // of the quads.
    bool isBefore = part < group;
    uint jump = bandWords - period; // words of memory that are skipped where a period ends
    uint loadPlace = part - group + mix(0u, period, isBefore);
    uint loadIndex = uint((int(from) - int(gFirst) + int(group * gWidth)) >> 2) + part - group -
                     mix(0u, jump, isBefore);
    // storeAt is the index of a record.
    uint storePlace = loadPlace,
         storeAt = group * gWidth - gFirst + 4u * (part - group - 1u - mix(0u, jump, isBefore));
    uint words[kSteps];
    Wave wave = Wave(above, quads, period, shift, bias, hasZigzag);
    WaveRow row = WaveRow(0u - lane - 1u, 0u, 0u, 0u, 0u);
    teamBarrier();
    SLUICE_UNROLL
    for (uint m = 0u; m < kSteps; m++)
        words[m] = loadFrom(
            base, min(loadIndex + m * rowsStep - mix(0u, jump, loadPlace < kRows * m), lastFrom));
    for (uint s = 0u; sgUniform(s < steps); s += kSteps) {
        SLUICE_UNROLL
        for (uint m = 0u; m < kSteps; m++)
            sStage[others + m * kRows * kPitch] = words[m];
        loadPlace += kSteps;
        bool wraps = loadPlace >= period;
        loadIndex += kSteps + mix(0u, jump, wraps);
        loadPlace -= mix(0u, period, wraps);
        teamBarrier();
        SLUICE_UNROLL
        for (uint m = 0u; m < kSteps; m++)
            words[m] =
                loadFrom(base, min(loadIndex + m * rowsStep - mix(0u, jump, loadPlace < kRows * m),
                                   lastFrom));
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
        if (isAligned) {
            SLUICE_UNROLL
            for (uint m = 0u; m < kSteps; m++) {
                bool isBack = storePlace < kRows * m;
                uint i = storeAt + 4u * (m * rowsStep - mix(0u, jump, isBack));
                uint q = storePlace - kRows * m + mix(0u, period, isBack) - 1u;
                if (q < quads && i + 3u < gCount + 3u)
                    storeScratchWord(values + i, sStage[others + m * kRows * kPitch]);
            }
        } else {
            SLUICE_DONT_UNROLL
            for (uint half_ = 0u; half_ < kSteps; half_ += kSteps / 2u) {
                SLUICE_UNROLL
                for (uint n = 0u; n < kSteps / 2u; n++) {
                    uint m = half_ + n;
                    bool isBack = storePlace < kRows * m;
                    uint i = storeAt + 4u * (m * rowsStep - mix(0u, jump, isBack));
                    uint q = storePlace - kRows * m + mix(0u, period, isBack) - 1u,
                         bytes = sStage[others + m * kRows * kPitch];
                    if (q < quads) {
                        SLUICE_UNROLL
                        for (uint b = 0u; b < 4u; b++)
                            if (i + b < gCount && 4u * q + b < gWidth)
                                storeScratchByte(values + i + b, bytes >> 8u * b);
                    }
                }
            }
        }
        storePlace += kSteps;
        wraps = storePlace >= period;
        storeAt += 4u * (kSteps + mix(0u, jump, wraps));
        storePlace -= mix(0u, period, wraps);
        teamBarrier();
    }
}

#endif // SLUICE_FILTER_WAVEFRONT_GLSL
