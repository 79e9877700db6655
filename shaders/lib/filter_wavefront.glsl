// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes predictions from the row above, by a wavefront. Lane k of a team undoes row k of a *band*,
// which is as many rows as the team has lanes. Lane k stays one step behind lane k - 1, so that the
// values of the row above are known when it needs them.
//
// Words of this file (filter_columns.glsl explains record, column and plane, filter_team.glsl
// explains team):
// - wave: a column that a wavefront undoes.
// - step: a lane undoes one value (undoWave) or one *quad*, four neighbouring bytes of its row
//   (undoByteWave).
// - batch: kWaveSteps steps of undoWave, whose loads are issued together.
// - turn: undoWave computes one batch and loads the next.
// - round: kSteps steps of undoByteWave. Before a round, its residuals are put into shared memory
//   together, and after it the values are stored from there.
// - period: how many turns or steps after its row a lane does its row of the team's next band.
#ifndef SLUICE_FILTER_WAVEFRONT_GLSL
#define SLUICE_FILTER_WAVEFRONT_GLSL

#include "loops.glsl"
#include "filter_columns.glsl"
#include "filter_team.glsl"

// The steps of a round of undoByteWave. In each step a lane does a quad, four bytes of its row, so
// a round does 32 bytes of each row.
const uint kSteps = 8u;
// The distance in words between rows in sStage. It is odd to avoid bank conflicts, since the lanes
// of a team access the same word of their rows at the same time.
const uint kPitch = kSteps + 1u;

// Each team keeps here the last row of a band (as many rows as the team has lanes), because the
// first row of the next band needs it. Lanes that need no row above read the last word of the
// array, which is never written, so that their load needs no branch.
shared uint sRow[kRowWords + 1u];
shared uint sStage[gl_WorkGroupSize.x * kPitch]; // the words of a round: residuals, then values

// Returns how many rows the section has.
uint rowsOf() { return (gFirst + gCount + gWidth - 1u) / gWidth; }

const uint kWaveSteps = kTeamTaken; // steps of a batch of undoWave
// Where several teams share a column, a band runs this many batches (of kWaveSteps steps) behind
// the band above it. The first summand is how many batches the last row of a band is behind its
// first row. Three more are needed: the next band loads this last row from scratch one batch ahead,
// the row's last bytes are stored one batch late, and stores become visible only in the turn after
// them.
const uint kWaveLag = (kTeamSize + kWaveSteps - 1u) / kWaveSteps + 3u;
// The bytes of a plane that a batch takes may begin anywhere in a word, so they lie in up to this
// many words.
const uint kWaveWords = kWaveSteps / 4u + 1u;

// Copies the residuals of a wave, a column that a wavefront undoes, to scratch, with a plane for
// each byte of a value. undoWave replaces them there by the values.
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

// Returns a bit for each of kWaveSteps neighbouring records of a row, set if the record belongs to
// the section. Two numbers locate the first of these records: x is its position in the row,
// negative if it lies before the row, and `first` is its number in the section. A row has `columns`
// records.
uint recordsFrom(uint x, uint columns, uint first) {
    int begin = max(max(-int(x), -int(first)), 0),
        end = min(min(int(columns - x), int(gCount - first)), int(kWaveSteps));
    return begin < end ? (1u << end) - (1u << begin) : 0u;
}

// Stores the bytes of `word` at byte `at` of scratch: byte k only if bit k of `ready` is set.
void storeReady(uint at, uint word, uint ready) {
    if (ready == 15u) {
        storeScratchWord(at, word);
    } else if (ready != 0u) {
        SLUICE_UNROLL
        for (uint k = 0u; k < 4u; k++)
            if ((ready >> k & 1u) != 0u) storeScratchByte(at + k, word >> 8u * k);
    }
}

// Undoes a column of values of any size, one record per step. If the section is a single row, lane
// 0 does all records.
//
// `teams` teams share the column. Each does bands (kTeamSize rows each) in turn: this team those
// whose number is `part` modulo `teams`. If there are several teams, the whole workgroup calls
// this, and a barrier separates the turns. A team with hasColumn = false only takes part in the
// barriers. A turn computes one batch and loads the next, so a band takes one turn more than it has
// batches.
void undoWave(uint column, bool hasColumn, uint teams, uint part) {
    bool oneLine = gCount <= gWidth;
    uint lane = teamLane(), rows = mix(rowsOf(), 1u, oneLine), bytes = bytesOf(column),
         mask = maskOf(bytes), predictor = predictorOf(column);
    // Values are kept with `bias` added, so that unsigned arithmetic gives the right median and
    // average of signed values. Bytes without a base are unsigned, so their bias is 0.
    uint bias = mask == 0xffu && sColumn[column] >> 24 == 0u ? 0u : (mask >> 1) + 1u;
    uint from = mix(0u, gFirst, oneLine), columns = mix(gWidth, gCount, oneLine);
    uint bands = (rows + kTeamSize - 1u) / kTeamSize;
    uint batches = (columns + min(rows, kTeamSize) + kWaveSteps - 2u) / kWaveSteps;
    // How many turns lie between the beginnings of two bands of this team.
    uint period = max(batches + 1u, teams * kWaveLag);
    uint turns = (bands - 1u) / teams * period + (bands - 1u) % teams * kWaveLag + batches + 1u;
    uint planes = sValues[column] >> 2, planeWords = gPlaneBytes >> 2;
    int lastWord = int((gCount - 1u) >> 2);
    // `turn` counts the turns of this band; it is negative before the first one.
    uint band = part, turn = 0u - part * kWaveLag;
    uint value = bias, left = bias, upLeft = bias;
    uint before = 0u; // bit k is set if the previous batch has a record in step k
    // words[n] are loaded words of residuals, `above` is a word of the row above. In each vector,
    // component b is of the plane with byte b of the values.
    uvec4 words[kWaveWords], above = uvec4(0u);
    uvec4 tails = uvec4(0u); // for each plane, the last word of values of the previous batch
    SLUICE_UNROLL
    for (uint n = 0u; n < kWaveWords; n++)
        words[n] = uvec4(0u);
    for (uint t = 0u; sgUniform(t < turns); t++) {
        // This barrier makes other teams' stores visible.
        if (sgUniform(teams > 1u)) wgBarrierAll();
        teamBarrierAll();
        if (sgUniform(hasColumn && band < bands && turn <= batches)) {
            // `first` is the number, in the section, of the lane's record in the first step of this
            // batch; it may lie before the row. Lane 0 has no lane above, so the first kWaveSteps
            // lanes load the values above its row: lane k loads the one that lane 0 needs in step
            // k. `over` is the number of that record.
            uint x = (turn - 1u) * kWaveSteps - lane;
            uint row = band * kTeamSize + lane, first = row * gWidth + from + x - gFirst;
            uint over = (band * kTeamSize - 1u) * gWidth + from + (turn - 1u) * kWaveSteps +
                        min(lane, kWaveSteps - 1u) - gFirst;
            uint records = turn != 0u && row < rows ? recordsFrom(x, columns, first) : 0u;
            // If the section is taken as one row but reaches into a second one, the first record of
            // the second row has no left neighbour. `begins` has the bit of its step.
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
            // Above the first band and left of a row, values count as 0, which is kept as `bias`.
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
            // Only whole words are stored. Bytes at the end of the batch that do not fill a word
            // are kept for the next batch, unless the row ends here.
            uint odd = first & 3u, ready = before >> (kWaveSteps - odd) | records << odd;
            bool ends =
                int(x + kWaveSteps) >= int(columns) || int(first + kWaveSteps) >= int(gCount);
            before = ends ? 0u : records;
            SLUICE_DONT_UNROLL
            for (uint b = 0u; b < bytes; b++) {
                uint to = sValues[column] + b * gPlaneBytes + (first & ~3u);
                uint packed[kWaveWords + 1u]; // packed[0] is the last word of the previous batch
                packed[0] = tails.x;
                SLUICE_UNROLL
                for (uint n = 0u; n < kWaveSteps / 4u; n++)
                    packed[n + 1u] = packBytes(uvec4(values[4u * n], values[4u * n + 1u],
                                                     values[4u * n + 2u], values[4u * n + 3u]) >>
                                               8u * b);
                packed[kWaveWords] = 0u;
                // The tails rotate, so that the next plane's tail comes first.
                tails = uvec4(tails.yzw, packed[kWaveWords - 1u]);
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

// Undoes all waves (columns that a wavefront undoes), except those that undoByteWave undoes. If
// there are more teams than such waves, several teams share the bands of each wave, unless rows are
// so short that a team finishes a band before the next band could start.
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

// The properties of undoByteWave's wave, in which a lane does a quad (four bytes) per step.
struct Wave {
    uint above;  // where the team's words begin in sRow
    uint quads;  // the number of quads in a row
    uint period; // steps between a lane's row and its row in the next band
    uint shift;  // the bit of a loaded word at which the residuals of a quad begin
    uint bias;   // XOR with it maps four signed bytes to unsigned ones in the same order
    bool hasZigzag;
};

// Holds what a lane of undoByteWave keeps of its row from step to step.
struct WaveRow {
    uint quad;   // number of the quad to do in this step
    uint last;   // the word of residuals that the previous step read
    uint result; // the values of the previous quad
    // The last value of the previous quad, and the value in the row above it.
    uint left, upLeft;
};

// Undoes the lane's quad of step `s`. sStage[at] has its residuals and receives its values.
void waveStep(const uint predictor, Wave wave, uint s, uint at, inout WaveRow row) {
    uint lane = teamLane(), quad = row.quad, bias = wave.bias;
    uint up = teamBefore(row.result), loaded = sStage[at];
    uint stored = sRow[mix(kRowWords, wave.above + quad, lane == 0u && quad < wave.quads)];
    up = mix(up, stored, lane == 0u);
    uint packed = shiftedWord(row.last, loaded, wave.shift);
    row.last = loaded;
    packed = mix(packed, filterUnzigzagBytes(packed), wave.hasZigzag);
    // The section's first row may lack its first gFirst records, whose residuals count as 0.
    // `before` is how many of these records lie at or after the beginning of this quad.
    uint before =
        mix(0u, gFirst - min(gFirst, 4u * max(s, 1u) - 4u), lane == 0u && s < wave.period);
    packed &= mix(0xffffffffu << 8u * min(before, 3u), 0u, before >= 4u);
    uint left = mix(row.left, bias & 0xffu, quad == 0u),
         upLeft = mix(row.upLeft, bias & 0xffu, quad == 0u);
    uvec4 value;
    SLUICE_UNROLL
    for (uint b = 0u; b < 4u; b++) {
        uint over = up >> 8u * b & 0xffu;
        // This is filterMedian computed by minima and maxima alone.
        if (predictor == SLUICE_PREDICTOR_MEDIAN) {
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
// Does the kSteps steps of a round, from step `s` on. The lane's words begin at sStage[own]. The
// barrier is needed after every second step, so two steps stand in the body of the loop. If a
// branch skipped every other barrier instead, NVIDIA's compiler (driver 580) would take the flow
// for divergent and add eight MATCH.ANY instructions to each step.
void waveRound(const uint predictor, Wave wave, uint s, uint own, inout WaveRow row) {
    SLUICE_DONT_UNROLL
    for (uint k = 0u; k < kSteps; k += 2u) {
        waveStep(predictor, wave, s + k, own + k, row);
        waveStep(predictor, wave, s + k + 1u, own + k + 1u, row);
        // Lane 0 reads from sRow what the last lane has stored at least two steps ago, so one
        // barrier for two steps is enough.
        teamBarrier();
    }
}
#endif

// Undoes a wave of bytes, one quad per step. A lane goes from the end of its row to its row of the
// next band without waiting: a period is so long that the last row of this band is in sRow by then.
// Steps past the end of a row have no effect. Residuals are loaded a round ahead. Residuals and
// values pass through sStage, 32 bytes of each row at once, so that a load or store of a team of 32
// lanes touches 4 rows and not 32. Only the code of the steps is compiled once for each predictor.
void undoByteWave(uint predictor, uint column) {
    uint lane = teamLane(), quads = (gWidth + 3u) / 4u, rows = rowsOf(),
         period = max(quads + 1u, kTeamSize + 1u);
    uint steps = (rows + kTeamSize - 1u) / kTeamSize * period + kTeamSize;
    // In a column with a base, values are compared as signed numbers. For this, `bias` is XORed to
    // them.
    uint word = sColumn[column], bias = mix(0u, 0x80808080u, word >> 24 != 0u);
    bool hasZigzag = (word & kZigzag) != 0u, isAligned = (gWidth & 3u) == 0u,
         inScratch = isGathered(column);
    uvec2 base = mix(gSource, gScratch, bvec2(inScratch));
    uint from = mix(sFrom[column], sValues[column], inScratch),
         lastFrom = (from + gCount - 1u) >> 2, values = sValues[column];
    uint above = teamIndex() * quads, stage = teamIndex() * kTeamSize * kPitch;
    for (uint q = lane; q < quads; q += kTeamSize)
        // Values above the image are 0.
        sRow[above + q] = bias;
    // One load or store of the team moves kSteps words of each of kRows rows. This lane moves word
    // `part` of rows `group`, `group` + kRows, and so on.
    const uint kRows = kTeamSize / kSteps;
    uint part = lane % kSteps, group = lane / kSteps, own = stage + lane * kPitch,
         others = stage + group * kPitch + part;
    uint rowsStep = kRows / 4u * gWidth - kRows; // words in memory between two loads of the lane
    // A band has a whole number of words. So the residuals of a lane's rows, one in each band, all
    // begin at the same byte of a word and need the same shift.
    uint bandWords = kTeamSize / 4u * gWidth;
    uint shift = 8u * ((from + lane * gWidth - gFirst) & 3u);
    // The words that this lane moves are numbered along row `group` of one band, then along that
    // row of the next band, and so on, with `period` numbers for each band. The next word to load
    // has number loadPlace in its band and index loadIndex in memory. If part < group, the lane
    // starts in the band before. Loads are one word ahead of the quads, because a quad may lie in
    // two words; so storeAt subtracts 1.
    bool isBefore = part < group;
    uint jump = bandWords - period; // words to skip in memory between two bands
    uint loadPlace = part - group + mix(0u, period, isBefore);
    uint loadIndex = uint((int(from) - int(gFirst) + int(group * gWidth)) >> 2) + part - group -
                     mix(0u, jump, isBefore);
    // The next word that this lane stores has number storePlace in its band, and begins with record
    // storeAt.
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
                // A barrier after every second step is enough, because lane 0 reads from sRow only
                // what was stored two steps ago or earlier.
                teamBarrier();
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
