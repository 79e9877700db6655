// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes predictions from the row above, by a wavefront. Lane k of a warp does row k of a *band*,
// which has as many rows as a warp has lanes. It stays one step behind lane k - 1, which does the
// row above, so that the values above are known in time.
//
// Words of this file (filter_columns.cuh explains record, column and plane):
// - wave: a column that is undone in this way.
// - step: a lane does one value (undoWave) or one *quad*, four neighbouring bytes of its row
//   (undoByteWave).
// - batch: kWaveSteps steps of undoWave, whose loads are issued together.
// - turn: undoWave computes one batch and loads the next.
// - round: kSteps steps of undoByteWave, whose words pass through shared memory together.
// - period: how many turns or steps lie between a lane's row and its row in the warp's next band.
//
// In shaders/lib/filter_wavefront.glsl a team, which is a subgroup or the workgroup, does what a
// warp does here. All code of undoByteWave() exists once for each predictor here; there, only the
// code of its steps does. undoWave() is not inlined here, because there would be too few registers;
// GLSL cannot prevent inlining.
#pragma once

#include "cuda/lib/filter_columns.cuh"

namespace sluice {
namespace {

// A step of undoByteWave takes one word (a quad) of each row, kSteps steps make a round. The 32
// bytes of each row that belong to a round are loaded into shared memory before it, and stored
// after it.
constexpr uint32_t kSteps = 8;
// The words from one row to the next in shared.stage; odd, so that rows lie in different banks.
constexpr uint32_t kPitch = kSteps + 1;

// Returns how many rows the section has.
__device__ uint32_t rowsOf(const TileAtWork& tile)
{
    return (tile.first + tile.count + tile.width - 1) / tile.width;
}

// The whole block copies a column's residuals to scratch, with a plane for each of their bytes.
// undoWave then replaces them there by the values.
__device__ void gatherWave(const TileAtWork& tile, uint32_t column)
{
    for (uint32_t i = 4 * threadIdx.x; i < tile.count; i += 4 * kThreads) {
        uint32_t value[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k)
            value[k] = residual(tile, column, min(i + k, tile.count - 1));
        for (uint32_t b = 0; b < bytesOf(column); ++b)
            *reinterpret_cast<uint32_t*>(tile.scratch + shared.values[column] +
                                         b * tile.planeBytes + i) =
                packBytes(value[0] >> 8 * b, value[1] >> 8 * b, value[2] >> 8 * b,
                          value[3] >> 8 * b);
    }
}

constexpr uint32_t kWaveSteps = 8; // steps of a batch
// If several warps share a column, a band runs this many batches behind the band above it. The lag
// is needed because a warp reads the last row of the band above from scratch one batch ahead, while
// the last bytes of that row are stored one batch late.
constexpr uint32_t kWaveLag = kWarpSize / kWaveSteps + 3;
// The bytes of a batch in a plane may begin anywhere in a word, so they touch this many words.
constexpr uint32_t kWaveWords = kWaveSteps / 4 + 1;

// Returns a mask for kWaveSteps neighbouring records, with ones for those that belong to their row
// and to the section. The first of these records is at position x of the row, which is negative
// before the row, and has number `record` in the section. A row has `columns` records, the section
// `count`.
__device__ uint32_t recordsFrom(uint32_t x, uint32_t columns, uint32_t record, uint32_t count)
{
    const int32_t begin = max(max(-static_cast<int32_t>(x), -static_cast<int32_t>(record)), 0),
                  end = min(
                      min(static_cast<int32_t>(columns - x), static_cast<int32_t>(count - record)),
                      static_cast<int32_t>(kWaveSteps));
    return begin < end ? (1u << end) - (1u << begin) : 0;
}

// Stores those bytes of a word whose bits in `ready` are set.
__device__ void storeReady(uint8_t* to, uint32_t word, uint32_t ready)
{
    if (ready == 15) {
        *global(reinterpret_cast<uint32_t*>(to)) = word;
    } else if (ready != 0) {
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k)
            if ((ready >> k & 1) != 0) *global(to + k) = static_cast<uint8_t>(word >> 8 * k);
    }
}

// Undoes a column of values of any size, one record per step. If the section is a single row, lane
// 0 does all records.
// `team` warps share the column; this warp does the bands whose number is `part` modulo `team`. If
// `team` is above 1, the whole block calls this, and a barrier separates the turns; hasColumn is
// false for a warp without a column, which only takes part in the barriers. A turn computes one
// batch and loads the next, so a band takes one turn more than it has batches. The function is not
// inlined, so that its loads have enough registers.
__device__ __noinline__ void undoWave(uint8_t* scratch, uint32_t planeBytes, uint32_t count,
                                      uint32_t width, uint32_t first, uint32_t column,
                                      bool hasColumn, uint32_t team, uint32_t part)
{
    const uint32_t word = uniform(shared.column[column]), bytes = 1u << (word >> 8 & 3),
                   mask = maskOf(bytes), predictor = word >> 16 & 0xff, lane = laneIndex();
    // Values are kept with `bias` added, so that signed values can be compared as unsigned numbers.
    // Bytes without a base are unsigned already.
    const uint32_t bias = mask == 0xff && word >> 24 == 0 ? 0 : (mask >> 1) + 1;
    const bool oneLine = count <= width;
    const uint32_t rowCount = oneLine ? 1 : (first + count + width - 1) / width,
                   from = oneLine ? first : 0, columns = oneLine ? count : width;
    const uint32_t bands = (rowCount + kWarpSize - 1) / kWarpSize;
    const uint32_t batches = (columns + min(rowCount, kWarpSize) + kWaveSteps - 2) / kWaveSteps;
    const uint32_t period = max(batches + 1, team * kWaveLag);
    const uint32_t turns =
        (bands - 1) / team * period + (bands - 1) % team * kWaveLag + batches + 1;
    uint8_t* const values = scratch + uniform(shared.values[column]);
    const int32_t lastWord = static_cast<int32_t>((count - 1) / 4);
    // `turn` counts the turns of the band; it is negative before the band's first turn.
    uint32_t band = part, turn = 0u - part * kWaveLag;
    uint32_t value = bias, left = bias, corner = bias;
    uint32_t before = 0; // bit k: there was a record in step k of the batch before
    // For each byte of the values: words of the residuals, and a word of the row above the band.
    uint32_t words[kWaveWords][4] = {}, above[4] = {};
    uint32_t tails[4] = {}; // for each plane, the last four bytes of the batch before
    for (uint32_t t = 0; t < turns; ++t) {
        // This barrier makes the stores of other warps visible.
        if (team > 1) __syncthreads();
        __syncwarp();
        if (hasColumn && band < bands && turn <= batches) {
            // `record` is the number of the lane's record in the first step of this batch; it may
            // lie before the row. In step k, lane 0 needs the record above it. Lane k loads that
            // record; its number is `over`.
            const uint32_t x = (turn - 1) * kWaveSteps - lane, row = band * kWarpSize + lane,
                           record = row * width + from + x - first;
            const uint32_t over = (band * kWarpSize - 1) * width + from + (turn - 1) * kWaveSteps +
                                  min(lane, kWaveSteps - 1) - first;
            const uint32_t records =
                turn != 0 && row < rowCount ? recordsFrom(x, columns, record, count) : 0;
            // A section that is taken as one row may reach into a second row. The first record of
            // that row has no left neighbour.
            const uint32_t begins =
                oneLine && width - first - record < kWaveSteps ? 1u << (width - first - record) : 0;
            const uint32_t shift = 8 * (record & 3);
            uint32_t next[kWaveSteps];
#pragma unroll
            for (uint32_t n = 0; n < kWaveWords - 1; ++n) {
                uint32_t packed[4];
#pragma unroll
                for (uint32_t b = 0; b < 4; ++b)
                    packed[b] = __funnelshift_r(words[n][b], words[n + 1][b], shift);
                transpose(packed);
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k)
                    next[4 * n + k] = packed[k];
            }
            const uint32_t overShift = 8 * (over & 3);
            const uint32_t overValue = packBytes(above[0] >> overShift, above[1] >> overShift,
                                                 above[2] >> overShift, above[3] >> overShift);
            const int32_t begin = static_cast<int32_t>(record + kWaveSteps) >> 2,
                          overWord = static_cast<int32_t>(over + kWaveSteps) >> 2;
#pragma unroll
            for (uint32_t b = 0; b < 4; ++b) {
                if (b >= bytes) continue;
                const uint32_t* plane = reinterpret_cast<const uint32_t*>(values + b * planeBytes);
#pragma unroll
                for (uint32_t n = 0; n < kWaveWords; ++n)
                    words[n][b] = plane[min(max(begin + static_cast<int32_t>(n), 0), lastWord)];
                if (band != 0) above[b] = plane[min(max(overWord, 0), lastWord)];
            }
            // There are no values above the first band, nor before the beginning of a row.
            uint32_t taken[kWaveSteps];
#pragma unroll
            for (uint32_t k = 0; k < kWaveSteps; ++k)
                taken[k] = bias;
            if (band != 0 && turn != 0) {
#pragma unroll
                for (uint32_t k = 0; k < kWaveSteps; ++k)
                    taken[k] = __shfl_sync(kAllLanes, overValue ^ bias, k);
            }
#pragma unroll
            for (uint32_t k = 0; k < kWaveSteps; ++k) {
                uint32_t up = __shfl_up_sync(kAllLanes, value, 1);
                up = lane == 0 ? taken[k] : up;
                left = (begins >> k & 1) != 0 ? bias : left;
                const bool isRecord = (records >> k & 1) != 0;
                const uint32_t kept = isRecord ? mask : 0, none = isRecord ? 0 : bias;
                value = ((next[k] + filterGuess(predictor, left, up, corner)) & kept) | none;
                left = value;
                corner = up;
                next[k] = value ^ bias;
            }
            // Only whole words are stored. Bytes at the end of the batch that do not fill a word
            // wait for the next batch, unless the row ends here.
            const uint32_t odd = record & 3, ready = before >> (kWaveSteps - odd) | records << odd;
            const bool ends =
                static_cast<int32_t>(x + kWaveSteps) >= static_cast<int32_t>(columns) ||
                static_cast<int32_t>(record + kWaveSteps) >= static_cast<int32_t>(count);
            before = ends ? 0 : records;
#pragma unroll
            for (uint32_t b = 0; b < 4; ++b) {
                if (b >= bytes) continue;
                uint8_t* to = global(values + b * planeBytes + static_cast<int32_t>(record & ~3u));
                uint32_t last = tails[b];
#pragma unroll
                for (uint32_t n = 0; n < kWaveWords; ++n) {
                    uint32_t packed = 0;
                    if (n + 1 < kWaveWords)
                        packed = packBytes(next[4 * n] >> 8 * b, next[4 * n + 1] >> 8 * b,
                                           next[4 * n + 2] >> 8 * b, next[4 * n + 3] >> 8 * b);
                    if (n + 1 < kWaveWords || ends)
                        storeReady(to + 4 * n,
                                   odd == 0 ? packed : __funnelshift_r(last, packed, 32 - 8 * odd),
                                   ready >> 4 * n & 15);
                    if (n + 1 < kWaveWords) last = packed;
                }
                tails[b] = last;
            }
        }
        ++turn;
        if (turn == period) {
            turn = 0;
            band += team;
        }
    }
}

// The whole block undoes the columns in shared.waves, by undoWave. If there are more warps than
// columns, several warps share the bands of each column, unless rows are so short that a warp
// finishes a band before the next band could start.
__device__ void undoWaves(const TileAtWork& tile)
{
    const uint32_t waves = uniform(shared.waveCount);
    if (waves == 0) return;
    const uint32_t bands = (rowsOf(tile) + kWarpSize - 1) / kWarpSize;
    uint32_t team = min(max(kWarps / waves, 1u), bands);
    if (tile.count <= tile.width || tile.width + kWarpSize <= 2 * kWaveLag * kWaveSteps) team = 1;
    const uint32_t atOnce = kWarps / team, warp = uniform(warpIndex()), own = warp / team;
    for (uint32_t base = 0; base < waves; base += atOnce) {
        const bool hasColumn = own < atOnce && base + own < waves;
        if (!hasColumn && team == 1) continue;
        const uint32_t column = uniform(shared.waves[min(base + own, waves - 1)]);
        undoWave(tile.scratch, tile.planeBytes, tile.count, tile.width, tile.first, column,
                 hasColumn, team, warp % team);
    }
}

// Returns the prediction of a byte from its neighbours, each 0 .. 255. The median is computed as
// the gradient clamped to the range of left and up, which takes only minima and maxima.
template <uint32_t Predictor>
__device__ uint32_t byteGuess(uint32_t left, uint32_t up, uint32_t corner)
{
    if (Predictor != kMedian) return filterGuess(Predictor, left, up, corner);
    const int32_t a = static_cast<int32_t>(left), b = static_cast<int32_t>(up);
    const int32_t plane = a + (b - static_cast<int32_t>(corner));
    return static_cast<uint32_t>(max(min(a, b), min(max(a, b), plane)));
}
// Undoes a column of bytes with a wavefront, one quad (four bytes) of each row per step. The
// residuals are neighbouring bytes at `from`. A lane goes on with its row of the next band without
// waiting, because a period is so long that the last row of this band is in shared.rows by then.
// Steps behind the end of a row have no effect. Residuals are loaded a round ahead. They pass
// through shared memory, 32 bytes of each row at once, so that a load or store of the warp touches
// 4 rows and not 32. `Aligned` means that rows begin at words of scratch.
template <uint32_t Predictor, bool Aligned>
__device__ void undoByteWave(const TileAtWork& tile, uint32_t column, const uint8_t* from)
{
    const uint32_t lane = laneIndex(), quads = (tile.width + 3) / 4,
                   bands = (rowsOf(tile) + kWarpSize - 1) / kWarpSize;
    const uint32_t period = max(quads + 1, kWarpSize + 1), steps = bands * period + kWarpSize;
    const uint32_t word = uniform(shared.column[column]);
    // Values of a column with a base are compared as signed numbers. XOR with `bias` flips the
    // signs of four values, so that they can be compared as unsigned numbers.
    const uint32_t bias = word >> 24 != 0 ? 0x80808080 : 0;
    const bool hasZigzag = (word & kZigzag) != 0, isSpecial = hasZigzag || tile.first != 0;
    const uint32_t fromLead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 3);
    const uint32_t* fromWords = reinterpret_cast<const uint32_t*>(from - fromLead);
    const uint32_t lastFrom = (fromLead + tile.count - 1) / 4;
    uint8_t* values = tile.scratch + shared.values[column];
    uint32_t* above = shared.rows + uniform(warpIndex()) * quads;
    // The number of iterations is the same in all lanes, because otherwise the compiler would
    // assume that lanes diverge at the shuffles behind this loop.
    for (uint32_t base = 0; base < quads; base += kWarpSize)
        // Values above the image are 0, which is stored as `bias`.
        if (base + lane < quads) above[base + lane] = bias;
    __syncwarp();
    // A load or store of the warp covers 8 words of rowsAtOnce rows. This lane moves word `part` of
    // rows `group`, `group` + rowsAtOnce, and so on.
    constexpr uint32_t rowsAtOnce = kWarpSize / kSteps;
    const uint32_t part = lane % kSteps, group = lane / kSteps;
    static_assert(kThreads * kPitch <= kStageWords, "a part for each warp");
    uint32_t* stage = shared.stage + uniform(warpIndex()) * (kWarpSize * kPitch);
    uint32_t *own = stage + lane * kPitch, *others = stage + group * kPitch + part;
    // A band has a whole number of words, so each lane needs the same shift in all bands.
    const uint32_t bandWords = kWarpSize / 4 * tile.width;
    // The byte of fromWords at which row 0 would begin. The section's first record is `first` bytes
    // behind it.
    const int32_t fromBegin = static_cast<int32_t>(fromLead) - static_cast<int32_t>(tile.first);
    const uint32_t shift = 8 * ((fromLead + lane * tile.width - tile.first) & 3);
    // For this lane, the rows `group` of all bands are one stream of words. The next word to load
    // is number loadPlace in the period, and has index loadIndex in memory. Loads are one word
    // ahead of the quads, because a quad may lie in two words.
    const bool isBefore = part < group;
    // In a period, an index advances by `period` words and then by this jump to the next band.
    const uint32_t jump = bandWords - period;
    uint32_t loadPlace = part - group + (isBefore ? period : 0);
    uint32_t loadIndex =
        static_cast<uint32_t>((fromBegin + static_cast<int32_t>(group * tile.width)) >> 2) + part -
        group - (isBefore ? jump : 0);
    uint32_t storePlace = loadPlace;
    // The next word that this lane stores is number storePlace in the period, and begins with
    // record storeAt.
    uint32_t storeAt =
        group * tile.width - tile.first + 4 * (part - group - 1 - (isBefore ? jump : 0));
    uint32_t words[kSteps];
    const auto load = [&] {
#pragma unroll
        for (uint32_t m = 0; m < kSteps; ++m) {
            const uint32_t back = loadPlace < rowsAtOnce * m ? jump : 0;
            words[m] =
                __ldca(fromWords + min(loadIndex + m * (tile.width - rowsAtOnce) - back, lastFrom));
        }
        loadPlace += kSteps;
        const bool wraps = loadPlace >= period;
        loadIndex += kSteps + (wraps ? jump : 0);
        loadPlace -= wraps ? period : 0;
    };
    const auto store = [&] {
#pragma unroll
        for (uint32_t m = 0; m < kSteps; ++m) {
            const bool isBack = storePlace < rowsAtOnce * m;
            const uint32_t i = storeAt + 4 * (m * (tile.width - rowsAtOnce) - (isBack ? jump : 0));
            const uint32_t quad = storePlace - rowsAtOnce * m + (isBack ? period : 0) - 1;
            const uint32_t result = others[m * rowsAtOnce * kPitch];
            if (Aligned) {
                if (quad < quads && i + 3 < tile.count + 3)
                    __stwb(reinterpret_cast<uint32_t*>(values + static_cast<int32_t>(i)), result);
            } else if (quad < quads) {
#pragma unroll
                for (uint32_t b = 0; b < 4; ++b)
                    if (i + b < tile.count && 4 * quad + b < tile.width)
                        __stwb(values + (i + b), static_cast<uint8_t>(result >> 8 * b));
            }
        }
        storePlace += kSteps;
        const bool wraps = storePlace >= period;
        storeAt += 4 * (kSteps + (wraps ? jump : 0));
        storePlace -= wraps ? period : 0;
    };
    uint32_t quad = 0u - lane - 1, last = 0, result = 0, left = 0, corner = 0;
    load();
    for (uint32_t s = 0; s < steps; s += kSteps) {
#pragma unroll
        for (uint32_t m = 0; m < kSteps; ++m)
            others[m * rowsAtOnce * kPitch] = words[m];
        __syncwarp();
        load();
#pragma unroll 1
        for (uint32_t pair = 0; pair < kSteps; pair += 2) {
            // These are two steps with one barrier behind them. First everything is loaded that
            // does not come from the lane above. Lane 0 reads what the last lane has stored at
            // least two steps ago, so a barrier lies between.
            const uint32_t next = quad + 1 == period ? 0 : quad + 1;
            uint32_t topRow[2] = {}, packed[2];
            if (lane == 0 && quad < quads) topRow[0] = above[quad];
            if (lane == 0 && next < quads) topRow[1] = above[next];
            const uint32_t loaded = own[pair];
            packed[0] = __funnelshift_r(last, loaded, shift);
            last = own[pair + 1];
            packed[1] = __funnelshift_r(loaded, last, shift);
            if (isSpecial) {
#pragma unroll
                for (uint32_t e = 0; e < 2; ++e) {
                    if (hasZigzag) packed[e] = filterUnzigzagBytes(packed[e]);
                    // The section may begin inside its first row. The records before its first one
                    // count as 0.
                    const uint32_t at = s + pair + e,
                                   before = tile.first - min(tile.first, 4 * max(at, 1u) - 4);
                    const uint32_t kept = before >= 4 ? 0 : 0xffffffffu << 8 * before;
                    packed[e] &= lane == 0 && at < period ? kept : ~0u;
                }
            }
#pragma unroll
            for (uint32_t e = 0; e < 2; ++e) {
                uint32_t up = __shfl_up_sync(kAllLanes, result, 1);
                up = lane == 0 ? topRow[e] : up;
                const bool atBegin = quad == 0;
                left = atBegin ? bias & 0xff : left;
                corner = atBegin ? bias & 0xff : corner;
                uint32_t value[4];
#pragma unroll
                for (uint32_t b = 0; b < 4; ++b) {
                    const uint32_t over = byteOf(up, b);
                    left = (byteGuess<Predictor>(left, over, corner) + byteOf(packed[e], b)) & 0xff;
                    value[b] = left;
                    corner = over;
                }
                result = packBytes(value[0], value[1], value[2], value[3]);
                own[pair + e] = result ^ bias;
                if (lane == kWarpSize - 1 && quad < quads) above[quad] = result;
                ++quad;
                quad = quad == period ? 0 : quad;
            }
            __syncwarp();
        }
        store();
        __syncwarp();
    }
}
template <uint32_t Predictor>
__device__ void undoByteWave(const TileAtWork& tile, uint32_t column, const uint8_t* from)
{
    if (tile.width % 4 == 0) {
        undoByteWave<Predictor, true>(tile, column, from);
    } else {
        undoByteWave<Predictor, false>(tile, column, from);
    }
}
} // namespace
} // namespace sluice
