// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters undone, a block a tile: the steps of shaders/filter.comp, which says how; pixels in one
// go (filter_pixels.cuh).
#include "kernels.h"
#include "lib/filter_pixels.cuh"
#include "lib/publish.cuh"

namespace sluice {
namespace {

struct Undo : FilterPixels {
    // --- Predictions undone, by a warp a column ---

    // Sums over the lanes' values, `order` times; carry: of the steps before.
    __device__ static void sumValues(uint32_t (&values)[kPerLane], uint32_t (&carry)[kLeft3],
                                     uint32_t order)
    {
#pragma unroll
        for (uint32_t o = 0; o < kLeft3; ++o) {
            if (o >= order) break;
            uint32_t sum = 0;
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k)
                sum = values[k] += sum;
            const uint32_t inclusive = warpInclusiveSum(sum), before = carry[o] + inclusive - sum;
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k)
                values[k] += before;
            carry[o] += __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
        }
    }

    // Residuals of records from `begin` on, a multiple of kPerLane; behind the last one they are
    // anything.
    __device__ void loadResiduals(uint32_t column, uint32_t begin,
                                  uint32_t (&values)[kPerLane]) const
    {
        const uint32_t step = shared.step[column], byteStep = shared.byteStep[column],
                       bytes = bytesOf(column);
        const uint8_t* from = planes + shared.from[column];
        if (bytes == 4 && step == 1) { // planes, from which words are taken
#pragma unroll
            for (uint32_t w = 0; w < kPerLane / 4; ++w) {
                uint32_t square[4];
#pragma unroll
                for (uint32_t b = 0; b < 4; ++b)
                    square[b] = loadWordBefore(from + b * byteStep, begin + 4 * w, count);
                transpose(square);
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k)
                    values[4 * w + k] = square[k];
            }
        } else if (bytes == 4) {
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k)
                values[k] = loadWord(from + min(begin + k, count - 1) * step);
        } else {
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k) {
                const uint8_t* at = from + min(begin + k, count - 1) * step;
                values[k] = bytes == 2 ? at[0] | at[byteStep] << 8 : at[0];
            }
        }
        if ((shared.column[column] & kZigzag) == 0) return;
        const uint32_t mask = maskOf(bytes);
#pragma unroll
        for (uint32_t k = 0; k < kPerLane; ++k)
            values[k] = filterUnzigzag(values[k], mask);
    }

    // Records of a difference of some order, from one on that begins a step; `before`: the value
    // before it, for order 1.
    __device__ void undoDifferences(uint32_t column, uint32_t order, uint32_t firstRecord,
                                    uint32_t end, uint32_t before) const
    {
        uint32_t carry[kLeft3] = {before};
#pragma unroll 1
        for (uint32_t base = firstRecord; base < end; base += kWarpSize * kPerLane) {
            const uint32_t begin = base + laneIndex() * kPerLane;
            uint32_t values[kPerLane];
            loadResiduals(column, begin, values);
            sumValues(values, carry, order);
            if (begin < end)
                for (uint32_t b = 0; b < bytesOf(column); ++b)
                    storeBytes(column, b, begin, values);
        }
    }
    // The sum of residuals, a multiple of a step.
    __device__ uint32_t sumResiduals(uint32_t column, uint32_t firstRecord, uint32_t end) const
    {
        uint32_t sum = 0;
#pragma unroll 1
        for (uint32_t base = firstRecord; base < end; base += kWarpSize * kPerLane) {
            uint32_t values[kPerLane];
            loadResiduals(column, base + laneIndex() * kPerLane, values);
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k)
                sum += values[k];
        }
        return warpSum(sum);
    }

    // The sum of some bytes in a row, a multiple of a step; behind the last of `records` there are
    // others.
    __device__ uint32_t sumBytes(uint32_t column, const uint8_t* plane, uint32_t records,
                                 uint32_t begin, uint32_t end) const
    {
        constexpr uint32_t kWords = kPerLane / 4;
        const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(plane) & 3);
        const uint32_t* words = reinterpret_cast<const uint32_t*>(plane - lead);
        const uint32_t lastWord = (lead + records - 1) / 4;
        const bool hasZigzag = (shared.column[column] & kZigzag) != 0;
        uint32_t sum = 0;
#pragma unroll 2
        for (uint32_t base = begin; base < end; base += kWarpSize * kPerLane) {
            uint32_t around[kWords + 1];
#pragma unroll
            for (uint32_t k = 0; k <= kWords; ++k)
                around[k] = words[min((base + laneIndex() * kPerLane) / 4 + k, lastWord)];
#pragma unroll
            for (uint32_t k = 0; k < kWords; ++k) {
                const uint32_t packed = __funnelshift_r(around[k], around[k + 1], 8 * lead);
                sum = __dp4a(hasZigzag ? filterUnzigzagBytes(packed) : packed, 0x01010101u, sum);
            }
        }
        return warpSum(sum);
    }

    // The differences of bytes in a row, from a record on that begins a step; `before`: the value
    // before it, for order 1. Words are loaded a step ahead.
    __device__ void undoByteDifferences(uint32_t column, const uint8_t* plane, uint32_t records,
                                        uint32_t order, uint32_t firstRecord, uint32_t end,
                                        uint32_t before) const
    {
        constexpr uint32_t kWords = kPerLane / 4;
        const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(plane) & 3);
        const uint32_t* words = reinterpret_cast<const uint32_t*>(plane - lead);
        const uint32_t lastWord = (lead + records - 1) / 4;
        const bool hasZigzag = (shared.column[column] & kZigzag) != 0;
        uint32_t carry[kLeft3] = {before}, next[kWords + 1];
        uint32_t begin = firstRecord + laneIndex() * kPerLane;
#pragma unroll
        for (uint32_t k = 0; k <= kWords; ++k)
            next[k] = words[min(begin / 4 + k, lastWord)];
        for (uint32_t base = firstRecord; base < end; base += kWarpSize * kPerLane) {
            uint32_t values[kPerLane], packed[kWords];
#pragma unroll
            for (uint32_t k = 0; k < kWords; ++k)
                packed[k] = __funnelshift_r(next[k], next[k + 1], 8 * lead);
#pragma unroll
            for (uint32_t k = 0; k <= kWords; ++k)
                next[k] = words[min((begin + kWarpSize * kPerLane) / 4 + k, lastWord)];
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k)
                values[k] =
                    byteOf(hasZigzag ? filterUnzigzagBytes(packed[k / 4]) : packed[k / 4], k % 4);
            sumValues(values, carry, order);
            if (begin + kPerLane <= records) {
                storeBytes(column, 0, begin, values);
            } else { // behind them may stand residuals
#pragma unroll
                for (uint32_t k = 0; k < kPerLane; ++k)
                    if (begin + k < records) storeValue(column, begin + k, values[k]);
            }
            begin += kWarpSize * kPerLane;
        }
    }

    __device__ uint32_t rows() const { return (first + count + width - 1) / width; }

    // A column of any size: lane k does row k of a band, a record behind the row above it. Where no
    // record has one above it, lane 0 does all of them, however wide the rows are.
    __device__ void undoWave(uint32_t column) const
    {
        const uint32_t lane = laneIndex(), mask = maskOf(bytesOf(column)),
                       predictor = predictorOf(column);
        // Bytes without a base are unsigned.
        const uint32_t bias =
            mask == 0xff && shared.column[column] >> 24 == 0 ? 0 : (mask >> 1) + 1;
        const bool oneLine = count <= width;
        const uint32_t rowCount = oneLine ? 1 : rows(), from = oneLine ? first : 0,
                       columns = oneLine ? count : width;
        for (uint32_t band = 0; band < rowCount; band += kWarpSize) {
            const uint32_t begin = (band + lane) * width,
                           steps = columns + min(kWarpSize, rowCount - band) - 1;
            uint32_t value = 0, left = 0, corner = 0;
            __syncwarp(); // the band above is in scratch
            for (uint32_t s = 0; s < steps; ++s) {
                const uint32_t x = from + s - lane, at = begin + x, i = at - first;
                uint32_t up = __shfl_up_sync(kAllLanes, value, 1);
                if (band + lane < rowCount && x - from < columns) {
                    if (lane == 0)
                        up = band != 0 && at >= first + width ? loadValue(column, i - width) : 0;
                    value = 0;
                    if (at == width) left = 0;
                    if (at >= first && i < count) {
                        const uint32_t guess =
                            filterGuess(predictor, (left + bias) & mask, (up + bias) & mask,
                                        (corner + bias) & mask);
                        value = (residual(column, i) + guess - bias) & mask;
                        storeValue(column, i, value);
                    }
                    left = value;
                    corner = up;
                }
            }
        }
    }

    // The same for bytes, four a step, which stand in a row at `from`. A lane goes on to its row of
    // the next band without waiting: `period` steps are enough for the last row of the band above,
    // which stands in shared memory. Steps without a quad of bytes do the same for nothing. A round
    // of steps takes 32 bytes of each row through shared memory, so that a load or store of the
    // warp has 4 rows in it, not 32; loads are a round ahead. Aligned: rows begin at words of
    // scratch.
    template <uint32_t Predictor, bool Aligned>
    __device__ void undoByteWave(uint32_t column, const uint8_t* from) const
    {
        const uint32_t lane = laneIndex(), quads = (width + 3) / 4,
                       bands = (rows() + kWarpSize - 1) / kWarpSize;
        const uint32_t period = max(quads + 1, kWarpSize + 1), steps = bands * period + kWarpSize;
        const uint32_t word = uniform(shared.column[column]);
        // differences from a base are signed
        const uint32_t bias = word >> 24 != 0 ? 0x80808080 : 0;
        const bool hasZigzag = (word & kZigzag) != 0, isSpecial = hasZigzag || first != 0;
        const uint32_t fromLead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 3);
        const uint32_t* fromWords = reinterpret_cast<const uint32_t*>(from - fromLead);
        const uint32_t lastFrom = (fromLead + count - 1) / 4;
        uint8_t* values = scratch + shared.values[column];
        uint32_t* above = shared.rows + uniform(warpIndex()) * quads;
        // Turns of loops are the same in the warp here, or the compiler takes the shuffles behind
        // them for divergent.
        for (uint32_t base = 0; base < quads; base += kWarpSize)
            if (base + lane < quads) above[base + lane] = bias; // above the image
        __syncwarp();
        // Of the warp's loads and stores this lane does word `part` of rows group, group + kRows,
        // ...
        constexpr uint32_t kRows = kWarpSize / kSteps; // in one of them
        const uint32_t part = lane % kSteps, group = lane / kSteps;
        static_assert(kWarps * kWarpSize * kPitch <= kStageWords, "a part for each warp");
        uint32_t* stage = shared.stage + uniform(warpIndex()) * (kWarpSize * kPitch);
        uint32_t *own = stage + lane * kPitch, *others = stage + group * kPitch + part;
        // whole words, so that all rows of a lane have the same shift
        const uint32_t bandWords = kWarpSize / 4 * width;
        // of row 0
        const int32_t fromBegin = static_cast<int32_t>(fromLead) - static_cast<int32_t>(first);
        const uint32_t shift = 8 * ((fromLead + lane * width - first) & 3);
        // The place of the lane's word of row `group` in the stream of that row of all bands,
        // within the period, and in memory. It is a word further than the quads.
        const bool isBefore = part < group;
        const uint32_t jump = bandWords - period; // of memory, where the period ends
        uint32_t loadPlace = part - group + (isBefore ? period : 0);
        uint32_t loadIndex =
            static_cast<uint32_t>((fromBegin + static_cast<int32_t>(group * width)) >> 2) + part -
            group - (isBefore ? jump : 0);
        uint32_t storePlace = loadPlace;
        // a record
        uint32_t storeAt = group * width - first + 4 * (part - group - 1 - (isBefore ? jump : 0));
        uint32_t words[kSteps];
        const auto load = [&] {
#pragma unroll
            for (uint32_t m = 0; m < kSteps; ++m) {
                const uint32_t back = loadPlace < kRows * m ? jump : 0;
                words[m] =
                    __ldca(fromWords + min(loadIndex + m * (width - kRows) - back, lastFrom));
            }
            loadPlace += kSteps;
            const bool wraps = loadPlace >= period;
            loadIndex += kSteps + (wraps ? jump : 0);
            loadPlace -= wraps ? period : 0;
        };
        const auto store = [&] {
#pragma unroll
            for (uint32_t m = 0; m < kSteps; ++m) {
                const bool isBack = storePlace < kRows * m;
                const uint32_t i = storeAt + 4 * (m * (width - kRows) - (isBack ? jump : 0));
                const uint32_t quad = storePlace - kRows * m + (isBack ? period : 0) - 1;
                const uint32_t result = others[m * kRows * kPitch];
                if (Aligned) {
                    if (quad < quads && i + 3 < count + 3)
                        __stwb(reinterpret_cast<uint32_t*>(values + static_cast<int32_t>(i)),
                               result);
                } else if (quad < quads) {
#pragma unroll
                    for (uint32_t b = 0; b < 4; ++b)
                        if (i + b < count && 4 * quad + b < width)
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
                others[m * kRows * kPitch] = words[m];
            __syncwarp();
            load();
#pragma unroll 1
            for (uint32_t pair = 0; pair < kSteps; pair += 2) {
                // Two steps; what does not come from the lane above is loaded first. What lane 0
                // reads of the last lane was stored at least two steps ago, so there was a barrier
                // since.
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
                        // Row 0: nothing before the first record.
                        const uint32_t at = s + pair + e,
                                       before = first - min(first, 4 * max(at, 1u) - 4);
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
                        left = (byteGuess<Predictor>(left, over, corner) + byteOf(packed[e], b)) &
                               0xff;
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
    __device__ void undoByteWave(uint32_t column, const uint8_t* from) const
    {
        if (width % 4 == 0) {
            undoByteWave<Predictor, true>(column, from);
        } else {
            undoByteWave<Predictor, false>(column, from);
        }
    }
    // Of bytes that are not negative.
    template <uint32_t Predictor>
    __device__ static uint32_t byteGuess(uint32_t left, uint32_t up, uint32_t corner)
    {
        if (Predictor != kMedian) return filterGuess(Predictor, left, up, corner);
        const int32_t a = static_cast<int32_t>(left), b = static_cast<int32_t>(up);
        const int32_t plane = a + (b - static_cast<int32_t>(corner));
        return static_cast<uint32_t>(max(min(a, b), min(max(a, b), plane)));
    }

    // Sums down the columns of bytes, which stand in a row at `from`, four a lane; the first row is
    // there already.
    __device__ void undoByteUp(uint32_t column, const uint8_t* from) const
    {
        const uint32_t quads = (min(width, count) + 3) / 4, rowCount = (count + width - 1) / width;
        const bool hasZigzag = (shared.column[column] & kZigzag) != 0, isAligned = width % 4 == 0;
        const uint32_t fromLead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 3);
        const uint32_t* fromWords = reinterpret_cast<const uint32_t*>(from - fromLead);
        const uint32_t lastFrom = (fromLead + count - 1) / 4;
        uint8_t* values = scratch + shared.values[column];
        __syncwarp(); // the first row
        for (uint32_t base = 0; base < quads; base += kWarpSize) {
            const uint32_t quad = base + laneIndex();
            if (quad >= quads) continue;
            uint32_t sum = reinterpret_cast<const uint32_t*>(values)[quad];
            for (uint32_t row = 1; row < rowCount; row += kRowsAhead) {
                uint32_t packed[kRowsAhead];
#pragma unroll
                for (uint32_t k = 0; k < kRowsAhead; ++k) {
                    const uint32_t at = fromLead + (row + k) * width + 4 * quad;
                    packed[k] = __funnelshift_r(fromWords[min(at / 4, lastFrom)],
                                                fromWords[min(at / 4 + 1, lastFrom)], 8 * (at & 3));
                }
#pragma unroll
                for (uint32_t k = 0; k < kRowsAhead; ++k) {
                    const uint32_t i = (row + k) * width + 4 * quad;
                    sum =
                        filterAddBytes(sum, hasZigzag ? filterUnzigzagBytes(packed[k]) : packed[k]);
                    if (isAligned) {
                        if (i < count) *reinterpret_cast<uint32_t*>(values + i) = sum;
                    } else {
                        for (uint32_t b = 0; b < 4; ++b)
                            if (i + b < count && 4 * quad + b < width)
                                values[i + b] = static_cast<uint8_t>(sum >> 8 * b);
                    }
                }
            }
        }
    }

    // Residuals of bytes that do not stand in a row, in scratch.
    __device__ void gatherResiduals(bool ofPixels) const
    {
        for (uint32_t p = 0; p < (ofPixels ? stride : shared.predictedCount); ++p) {
            const uint32_t column = ofPixels ? p : shared.predicted[p];
            const uint32_t step = shared.step[column], lead = shared.values[column] & 3;
            if (ofPixels ? !isPixelGathered(column) : !isGathered(column)) continue;
            uint32_t* words = reinterpret_cast<uint32_t*>(scratch + shared.values[column] - lead);
            const uint8_t* from = planes + shared.from[column];
            constexpr uint32_t kAtOnce = 4; // words, of which all are loaded before one is stored
            const uint32_t end = (lead + count + 3) / 4;
            for (uint32_t base = threadIdx.x; base < end; base += kAtOnce * kThreads) {
                uint32_t byte[kAtOnce][4];
#pragma unroll
                for (uint32_t n = 0; n < kAtOnce; ++n) {
                    const uint32_t w = base + n * kThreads;
#pragma unroll
                    for (uint32_t k = 0; k < 4; ++k) // some of the first and the last words do not
                                                     // count
                        byte[n][k] = from[min(max(4 * w + k, lead) - lead, count - 1) * step];
                }
#pragma unroll
                for (uint32_t n = 0; n < kAtOnce; ++n)
                    if (base + n * kThreads < end)
                        words[base + n * kThreads] =
                            packBytes(byte[n][0], byte[n][1], byte[n][2], byte[n][3]);
            }
        }
    }

    // What a warp does of a column: for differences from the left records from a multiple of a step
    // on, and the value before them.
    struct Part {
        uint32_t column, begin, end, before;
    };

    // Where the residuals of a column of bytes stand in a row.
    __device__ const uint8_t* placeOf(uint32_t column) const
    {
        return uniform(isGathered(column)) ? scratch + shared.values[column]
                                           : planes + shared.from[column];
    }

    __device__ void undoColumn(const Part& part) const
    {
        const uint32_t column = part.column, predictor = uniform(predictorOf(column));
        const uint8_t* from = placeOf(column);
        if (predictor <= kUp) {
            const uint32_t records = predictor == kUp ? min(width, count) : count;
            const uint32_t order = predictor == kUp ? 1 : predictor;
            if (uniform(bytesOf(column)) == 1) {
                undoByteDifferences(column, from, records, order, part.begin,
                                    min(records, part.end), part.before);
                if (predictor == kUp) undoByteUp(column, from);
            } else {
                undoDifferences(column, order, part.begin, min(records, part.end), part.before);
            }
        } else if (uniform(isWaveOfBytes(column))) {
            if (predictor == kMedian) {
                undoByteWave<kMedian>(column, from);
            } else if (predictor == kAverage) {
                undoByteWave<kAverage>(column, from);
            } else {
                undoByteWave<kGradient>(column, from);
            }
        } else {
            undoWave(column);
        }
    }

    // Sums down the columns of the image, a thread each; the first row is there already.
    __device__ void undoUp(uint32_t column) const
    {
        for (uint32_t x = threadIdx.x; x < min(width, count); x += kThreads) {
            uint32_t sum = loadValue(column, x);
            for (uint32_t i = x + width; i < count; i += kRowsAhead * width) {
                uint32_t values[kRowsAhead];
#pragma unroll
                for (uint32_t k = 0; k < kRowsAhead; ++k)
                    values[k] = i + k * width < count ? residual(column, i + k * width) : 0;
#pragma unroll
                for (uint32_t k = 0; k < kRowsAhead; ++k) {
                    sum += values[k];
                    if (i + k * width < count) storeValue(column, i + k * width, sum);
                }
            }
        }
    }

    __device__ bool isLeft(uint32_t column) const { return predictorOf(column) == 1; }

    // Columns with differences from the left, all of them at once, by several warps each: what is
    // before a warp's part is the sum of the parts before. Without columns or with too many parts
    // are empty.
    __device__ Part partOfLefts() const
    {
        constexpr uint32_t kStep = kWarpSize * kPerLane;
        uint32_t lefts = 0;
        for (uint32_t p = 0; p < shared.predictedCount; ++p)
            lefts += isLeft(shared.predicted[p]) ? 1 : 0;
        lefts = uniform(lefts);
        const uint32_t parts = lefts == 0 ? 0 : kWarps / lefts;
        if (parts < 2 || count < 2 * kWarps * kStep) return {};
        const uint32_t warp = uniform(warpIndex()), own = warp / parts, part = warp % parts;
        const uint32_t size = (count + parts * kStep - 1) / (parts * kStep) * kStep;
        Part result = {0, part * size, min(count, (part + 1) * size), 0};
        uint32_t seen = 0;
        for (uint32_t p = 0; p < shared.predictedCount; ++p)
            if (isLeft(shared.predicted[p]) && seen++ == own) result.column = shared.predicted[p];
        result.column = uniform(result.column);
        if (own < lefts && part + 1 < parts) {
            const uint32_t sum = uniform(bytesOf(result.column)) == 1
                                     ? sumBytes(result.column, placeOf(result.column), count,
                                                result.begin, result.end)
                                     : sumResiduals(result.column, result.begin, result.end);
            if (laneIndex() == 0) shared.partSums[warp] = sum;
        }
        __syncthreads();
        for (uint32_t k = warp - part; k < warp; ++k)
            result.before += shared.partSums[k];
        if (own >= lefts) result.begin = result.end = ~0u;
        return result;
    }

    __device__ void undoPredictions(bool ofPixels) const
    {
        gatherResiduals(ofPixels);
        __syncthreads();
        Part part = partOfLefts();
        const bool haveParts = uniform(part.end) != 0;
        // As many at once as have room for a row.
        const uint32_t warps = max(1u, min(kWarps, kRowWords / max(1u, (width + 3) / 4)));
        const uint32_t warp = uniform(warpIndex()), predicted = uniform(shared.predictedCount);
        bool isPart = haveParts && uniform(part.begin < part.end) != 0;
        for (uint32_t p = warp;;) {
            if (!isPart) {
                if (warp >= warps || p >= predicted) break;
                part = {uniform(shared.predicted[p]), 0, ~0u, 0};
                p += warps;
                if (ofPixels && uniform(predictorOf(part.column)) >= kGradient) continue;
                if (haveParts && uniform(isLeft(part.column)) != 0) continue;
            }
            isPart = false;
            undoColumn(part);
        }
        __syncthreads();
        if (anyUp) {
            for (uint32_t p = 0; p < shared.predictedCount; ++p)
                if (predictorOf(shared.predicted[p]) == kUp && bytesOf(shared.predicted[p]) != 1)
                    undoUp(shared.predicted[p]);
            __syncthreads();
        }
    }

    // Columns whose bytes cannot be taken as they are, first those with a base, which is needed as
    // it is.
    __device__ void finishColumns() const
    {
        for (uint32_t turnOf = 0; turnOf < 2; ++turnOf) {
            for (uint32_t c = 0; c < shared.columns; ++c) {
                const uint32_t word = shared.column[c], base = word >> 24, bytes = bytesOf(c);
                if (!needsFinal(c) || (base == 0) != (turnOf == 1)) continue;
                // a thread has the same records of all columns
                for (uint32_t i = threadIdx.x; i < count; i += kThreads) {
                    uint32_t value = valueOf(c, i);
                    if (base != 0) value += valueOf(base - 1, i);
                    value &= maskOf(bytes);
                    if ((word & kRotated) != 0) value = value >> 1 | value << (8 * bytes - 1);
                    if ((word & kBlock) != 0) value = filterUnmapBlock(value, bytes == 2);
                    storeValue(c, i, value);
                }
            }
        }
        __syncthreads();
    }
    __device__ uint32_t valueOf(uint32_t column, uint32_t i) const
    {
        return predictorOf(column) == kNone ? residual(column, i) : loadValue(column, i);
    }

    // --- Records put together ---

    // Byte `at` of what the planes hold: records, then bytes that are too few for one.
    __device__ uint32_t planesByte(uint32_t at, uint32_t reciprocal) const
    {
        return at >= count * stride ? planes[at] : recordByte(at, reciprocal);
    }
    __device__ uint32_t recordByte(uint32_t at, uint32_t reciprocal) const
    {
        const uint32_t i = stride == 1 ? at : __umulhi(at, reciprocal);
        const ByteSource byte = shared.bytes[at - i * stride];
        return (byte.at[i * byte.step] + (byte.base[i * byte.baseStep] & byte.baseMask)) & 0xff;
    }
    // For planesByte: at / stride is exact below 2^20.
    __device__ uint32_t reciprocalOfStride() const { return 0xffffffffu / stride + 1; }

    // Four bytes, at any alignment; no word without any of them is read.
    __device__ static uint32_t loadWord(const uint8_t* at)
    {
        const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) & 3);
        const uint32_t* words = global(reinterpret_cast<const uint32_t*>(at - lead));
        return __funnelshift_r(words[0], words[lead != 0 ? 1 : 0], 8 * lead);
    }

    // Four bytes from `at` on of the `bytes` bytes at `from`; behind the last of them they are
    // others.
    __device__ static uint32_t loadWordBefore(const uint8_t* from, uint32_t at, uint32_t bytes)
    {
        const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 3);
        const uint32_t* words = reinterpret_cast<const uint32_t*>(from - lead);
        const uint32_t last = (lead + bytes - 1) / 4, first = (lead + at) / 4;
        return __funnelshift_r(words[min(first, last)], words[min(first + 1, last)], 8 * lead);
    }

    // Whether four bytes of a record from `at` on come from planes, or all from a row of values.
    __device__ bool arePlanes(uint32_t at, uint32_t bytes) const
    {
        bool result = true;
        for (uint32_t k = 0; k < bytes; ++k) {
            const ByteSource& byte = shared.bytes[(at + k) % stride];
            result = result && byte.step == 1 && byte.baseStep == 1;
        }
        return result;
    }
    __device__ bool areValues(uint32_t at) const
    {
        const ByteSource& byte = shared.bytes[at % stride];
        bool result = byte.baseMask == 0 && at % stride + 4 <= stride;
        for (uint32_t k = 1; k < 4 && result; ++k) {
            const ByteSource& other = shared.bytes[at % stride + k];
            result = other.at == byte.at + k && other.step == byte.step && other.baseMask == 0;
        }
        return result;
    }

    // Four records a thread, of which it does Bytes (3 or 4) bytes that follow each other; Bytes ==
    // 3: the stride, else it is a multiple of 4. lead: bytes before, the target is then aligned.
    // Returns how many bytes are done; 0: the records are of another kind.
    template <uint32_t Bytes, bool HasBase>
    __device__ uint32_t writeQuads(uint8_t* records, uint32_t lead) const
    {
        const uint32_t total = count * stride,
                       quads = total > lead ? (total - lead) / (4 * stride) : 0;
        const uint32_t parts = stride / Bytes, threads = kThreads / parts,
                       part = threadIdx.x % parts;
        const bool fromPlanes = arePlanes(lead + Bytes * part, Bytes);
        if (__syncthreads_or(!fromPlanes && (Bytes == 3 || !areValues(lead + Bytes * part))) != 0)
            return 0;
        if (threadIdx.x >= threads * parts) return quads * 4 * stride;
        const uint32_t begin = threadIdx.x / parts;
        const uint8_t *own[Bytes], *base[Bytes];
        uint32_t baseMask[Bytes], advance = 4 * threads;
#pragma unroll
        for (uint32_t k = 0; k < Bytes; ++k) {
            const uint32_t at = lead + Bytes * part + k, i = 4 * begin + at / stride;
            const ByteSource& byte = shared.bytes[at % stride];
            own[k] = byte.at + i * byte.step;
            base[k] = byte.base + i * byte.baseStep;
            baseMask[k] = byte.baseMask;
        }
        if (!fromPlanes) {
            const uint32_t step = shared.bytes[(lead + Bytes * part) % stride].step;
            advance *= step;
#pragma unroll
            for (uint32_t k = 1; k < Bytes; ++k)
                own[k] = own[0] + k * step;
        }
        uint32_t* to = reinterpret_cast<uint32_t*>(records + lead) + begin * stride + part;
        constexpr uint32_t kAtOnce = HasBase ? 1 : 2; // loaded before one is stored
        for (uint32_t quad = begin; quad < quads; quad += kAtOnce * threads) {
            uint32_t words[kAtOnce][4] = {};
#pragma unroll
            for (uint32_t n = 0; n < kAtOnce; ++n) {
#pragma unroll
                for (uint32_t k = 0; k < Bytes; ++k) {
                    if (n == 0 || quad + n * threads < quads) words[n][k] = loadWord(own[k]);
                    own[k] += advance;
                    if (!HasBase) continue;
                    words[n][k] = filterAddBytes(words[n][k], loadWord(base[k]) & baseMask[k]);
                    base[k] += advance;
                }
            }
#pragma unroll
            for (uint32_t n = 0; n < kAtOnce; ++n) {
                uint32_t(&word)[4] = words[n];
                if (n != 0 && quad + n * threads >= quads) break;
                if (Bytes == 4) {
                    if (fromPlanes) transpose(word);
                    if (stride == 4) {
                        *global(reinterpret_cast<uint4*>(to)) =
                            make_uint4(word[0], word[1], word[2], word[3]);
                    } else {
#pragma unroll
                        for (uint32_t k = 0; k < 4; ++k)
                            *global(to + k * parts) = word[k];
                    }
                } else { // a0 b0 c0 a1 | b1 c1 a2 b2 | c2 a3 b3 c3
                    const uint32_t low = __byte_perm(word[0], word[1], 0x5140),
                                   high = __byte_perm(word[0], word[1], 0x7362);
                    *global(to + 0) = __byte_perm(low, word[2], 0x2410);
                    *global(to + 1) = __byte_perm(__byte_perm(low, word[2], 0x0053), high, 0x5410);
                    *global(to + 2) = __byte_perm(high, word[2], 0x7326);
                }
                to += threads * stride;
            }
        }
        return quads * 4 * stride;
    }

    // Words of records of any stride. A thread's words are whole records apart, so that it reads
    // the same columns all the time.
    __device__ uint32_t writeWords(uint8_t* records, uint32_t lead) const
    {
        const uint32_t total = count * stride, words = total > lead ? (total - lead) / 4 : 0;
        const uint32_t unit = stride % 4 == 0 ? stride / 4 : stride % 2 == 0 ? stride / 2 : stride;
        const uint32_t threads = kThreads / unit * unit, advance = 4 * threads / stride;
        if (threadIdx.x >= threads) return 4 * words;
        ByteSource own[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            const uint32_t byteAt = lead + 4 * threadIdx.x + k, i = byteAt / stride;
            own[k] = shared.bytes[byteAt - i * stride];
            own[k].at += i * own[k].step;
            own[k].base += i * own[k].baseStep;
            own[k].step *= advance;
            own[k].baseStep *= advance;
        }
        uint32_t* to = reinterpret_cast<uint32_t*>(records + lead);
#pragma unroll 1
        for (uint32_t w = threadIdx.x; w < words; w += threads) {
            uint32_t value[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                value[k] = *global(own[k].at);
                own[k].at += own[k].step;
            }
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                value[k] += *global(own[k].base) & own[k].baseMask;
                own[k].base += own[k].baseStep;
            }
            *global(to + w) = packBytes(value[0], value[1], value[2], value[3]);
        }
        return 4 * words;
    }

    // `size` bytes: records, then bytes that are too few for one.
    __device__ void writeRecords(uint8_t* records, uint32_t size) const
    {
        const uint32_t alignment = stride == 4 ? 16 : 4;
        const uint32_t lead = min(
            (0u - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(records))) % alignment, size);
        uint32_t done = 0;
        if (stride % 4 == 0) {
            done =
                anyBase ? writeQuads<4, true>(records, lead) : writeQuads<4, false>(records, lead);
        } else if (stride == 3) {
            done =
                anyBase ? writeQuads<3, true>(records, lead) : writeQuads<3, false>(records, lead);
        }
        if (done == 0) done = writeWords(records, lead);
        const uint32_t reciprocal = reciprocalOfStride();
        for (uint32_t k = threadIdx.x; k < size - done; k += kThreads) {
            const uint32_t at = k < lead ? k : k + done;
            records[at] = static_cast<uint8_t>(planesByte(at, reciprocal));
        }
    }

    // Bytes that are not filtered, from the section's position on.
    __device__ void copy(uint32_t size) const
    {
        const uint32_t lead = min((0u - position) & 3, size), words = (size - lead) / 4;
        const uint32_t* from = reinterpret_cast<const uint32_t*>(source + position + lead);
        uint32_t* to = reinterpret_cast<uint32_t*>(target + position + lead);
        constexpr uint32_t kAtOnce = 4; // loaded before one is stored
        for (uint32_t w = threadIdx.x; w < words; w += kAtOnce * kThreads) {
            uint32_t word[kAtOnce];
#pragma unroll
            for (uint32_t n = 0; n < kAtOnce; ++n)
                word[n] = from[min(w + n * kThreads, words - 1)];
#pragma unroll
            for (uint32_t n = 0; n < kAtOnce; ++n)
                if (w + n * kThreads < words) to[w + n * kThreads] = word[n];
        }
        for (uint32_t k = threadIdx.x; k < size - 4 * words; k += kThreads) {
            const uint32_t at = position + (k < lead ? k : k + 4 * words);
            target[at] = source[at];
        }
    }

    // --- Targa packets ---

    // What a packet takes, from its header: with its pixels.
    __device__ uint32_t packetBytes(uint32_t header) const
    {
        return 1 + ((header & 128) != 0 ? 1 : header + 1) * stride;
    }

    // In scratch: a bit for each byte of the section in the tile, set at headers, and before each
    // 32 of them the count of those set. Bits are counted from the word that holds the section's
    // first byte.
    __device__ uint32_t* headerBits(uint32_t size) const
    {
        return reinterpret_cast<uint32_t*>(scratch + (size + SLUICE_FILTER_SLACK + 15) / 16 * 16);
    }
    __device__ uint32_t* headerCounts(uint32_t size) const
    {
        return headerBits(size) + (size + 3 + 31) / 32;
    }
    // Behind them the pixels, before they go between the headers.
    __device__ uint8_t* pixelRecords(uint32_t size) const
    {
        const uint32_t* end = headerCounts(size) + (size + 3 + 31) / 32;
        return scratch +
               (static_cast<uint32_t>(reinterpret_cast<const uint8_t*>(end) - scratch) + 15) / 16 *
                   16;
    }
    // Four bytes; words up to `lastWord` are read.
    __device__ static uint32_t loadWord(const uint32_t* words, uint32_t at, uint32_t lastWord)
    {
        return __funnelshift_r(*global(words + min(at / 4, lastWord)),
                               *global(words + min(at / 4 + 1, lastWord)), 8 * (at & 3));
    }

    // Counts the packets that take exactly `size` bytes and marks their headers; 0: none do.
    __device__ uint32_t countPackets(uint32_t size)
    {
        constexpr uint32_t kEach = 4;
        const uint32_t lead = position & 3, bitWords = (size + 3 + 31) / 32;
        uint32_t *bits = headerBits(size), *counts = headerCounts(size), bytes = 0;
        for (uint32_t w = threadIdx.x; w < bitWords; w += kThreads)
            bits[w] = 0;
        if (threadIdx.x == 0) shared.packets = 0;
        __syncthreads();
        for (uint32_t base = 0; base < size && bytes < size; base += kThreads * kEach) {
            const uint32_t k = base + threadIdx.x * kEach;
            uint32_t own[kEach], sum = 0, total;
#pragma unroll
            for (uint32_t e = 0; e < kEach; ++e)
                sum += own[e] = k + e < size ? packetBytes(source[position + k + e]) : 0;
            uint32_t at = bytes + exclusiveSum(sum, total);
#pragma unroll
            for (uint32_t e = 0; e < kEach; ++e) {
                if (own[e] != 0 && at < size)
                    atomicOr(&bits[(lead + at) / 32], 1u << (lead + at) % 32);
                at += own[e];
                if (own[e] != 0 && at == size) shared.packets = k + e + 1;
            }
            bytes += total;
        }
        __syncthreads();
        uint32_t before = 0;
        for (uint32_t base = 0; base < bitWords; base += kThreads) {
            const uint32_t w = base + threadIdx.x,
                           own = w < bitWords
                                     ? static_cast<uint32_t>(__popc(static_cast<int>(bits[w])))
                                     : 0;
            uint32_t total;
            const uint32_t sum = exclusiveSum(own, total);
            if (w < bitWords) counts[w] = before + sum;
            before += total;
        }
        __syncthreads();
        return shared.packets;
    }

    __device__ void writePackets(uint32_t size) const
    {
        const uint32_t lead = position & 3, words = (lead + size + 3) / 4;
        const uint32_t *bits = headerBits(size), *counts = headerCounts(size);
        const uint32_t *sourceWords = reinterpret_cast<const uint32_t*>(source),
                       lastSource = (tileSize - 1) / 4;
        const uint32_t* pixels = reinterpret_cast<const uint32_t*>(pixelRecords(size));
        const uint32_t lastPixel = (max(count * stride, 1u) - 1) / 4;
        uint8_t* to = target + position - lead;
        constexpr uint32_t kAtOnce = 4; // words, of which all are loaded before one is stored
        for (uint32_t first = threadIdx.x; first < words; first += kAtOnce * kThreads) {
            uint32_t marks[kAtOnce], before[kAtOnce], pixel[kAtOnce], header[kAtOnce];
#pragma unroll
            for (uint32_t n = 0; n < kAtOnce; ++n) {
                const uint32_t w = min(first + n * kThreads, words - 1);
                marks[n] = bits[w / 8];
                before[n] = counts[w / 8];
            }
#pragma unroll
            for (uint32_t n = 0; n < kAtOnce; ++n) { // the next four bytes of pixels and of headers
                const uint32_t w = min(first + n * kThreads, words - 1), shift = 4 * (w % 8);
                before[n] +=
                    static_cast<uint32_t>(__popc(static_cast<int>(marks[n] & ((1u << shift) - 1))));
                marks[n] >>= shift;
                const uint32_t skipped = 4 * w < lead ? lead - 4 * w : 0,
                               pixelAt = 4 * w + skipped - lead - before[n];
                pixel[n] = loadWord(pixels, pixelAt, lastPixel);
                header[n] = loadWord(sourceWords, position + before[n], lastSource);
            }
#pragma unroll
            for (uint32_t n = 0; n < kAtOnce; ++n) {
                const uint32_t w = first + n * kThreads, skipped = 4 * w < lead ? lead - 4 * w : 0;
                if (n != 0 && w >= words) break;
                uint32_t seen = 0, places = 0; // which of them stand where
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k) {
                    const uint32_t isHeader = marks[n] >> k & 1;
                    places |= (isHeader != 0 ? 4 + seen : (k - seen - skipped) & 3) << 4 * k;
                    seen += isHeader;
                }
                const uint32_t value = __byte_perm(pixel[n], header[n], places);
                if (skipped == 0 && 4 * w + 4 <= lead + size) {
                    reinterpret_cast<uint32_t*>(to)[w] = value;
                } else {
#pragma unroll
                    for (uint32_t k = 0; k < 4; ++k)
                        if (4 * w + k - lead < size)
                            to[4 * w + k] = static_cast<uint8_t>(value >> 8 * k);
                }
            }
        }
    }

    // What readSection found becomes bytes of the tile. It and run() inline, or the members would
    // be in memory.
    __device__ __forceinline__ uint32_t undoSection()
    {
        const uint32_t size = uniform(shared.size);
        const bool hasPackets = uniform(shared.packets) != 0;
        uint32_t packets = 0;
        stride = uniform(shared.stride);
        width = uniform(shared.width);
        first = uniform(shared.first);
        planes = source + position;
        if (stride == 0 || size == 0) {
            copy(size);
            return SLUICE_ST_OK;
        }
        if (hasPackets) {
            __syncthreads(); // shared.packets has been read
            packets = uniform(countPackets(size));
            if (packets == 0 && size != 0) return SLUICE_ST_BAD_FILTER;
            planes += packets;
        }
        count = uniform((size - packets) / stride);
        placeColumns();
        if (count != 0) {
            const bool ofPixels = uniform(arePixels()) != 0;
            undoPredictions(ofPixels);
            if (ofPixels) {
                placePixels();
                __syncthreads();
                undoPixels();
                return SLUICE_ST_OK;
            }
            if (anyFinal) finishColumns();
        }
        if (hasPackets) {
            writeRecords(pixelRecords(size), size - packets);
            __syncthreads();
            writePackets(size);
        } else {
            writeRecords(target + position, size);
        }
        return SLUICE_ST_OK;
    }

    __device__ __forceinline__ uint32_t run()
    {
        if (threadIdx.x == 0) {
            const bool sized = descriptionWords - 1 < 4096;
            const uint32_t head = sized ? description[0] : 0;
            shared.cursor = 1;
            shared.sections = head >> 16;
            const bool good =
                sized && (head & 0xffff) == 1 && shared.sections - 1 < SLUICE_FILTER_MAX_SECTIONS;
            shared.status = good ? SLUICE_ST_OK : SLUICE_ST_BAD_FILTER;
        }
        __syncthreads();
        uint32_t status = uniform(shared.status);
        while (status == SLUICE_ST_OK && uniform(shared.sections) != 0) {
            loadWindow();
            __syncthreads();
            if (threadIdx.x == 0) readSection();
            __syncthreads();
            const bool bad = threadIdx.x < shared.columns && isBaseBad(threadIdx.x);
            status = uniform(__syncthreads_or(bad) != 0 ? SLUICE_ST_BAD_FILTER : shared.status);
            if (status == SLUICE_ST_OK) status = undoSection();
            position += uniform(shared.size);
            __syncthreads();
        }
        if (status != SLUICE_ST_OK) return status;
        copy(tileSize - position); // what remains
        return SLUICE_ST_OK;
    }
};

constexpr uint32_t kThreadsAtOnce = 1024; // on a processor

__host__ __device__ inline uint32_t* ticketOf(const FilterParams& params)
{
    return pointerFrom<uint32_t>(params.scratch) +
           static_cast<uint64_t>(params.workgroups) * (params.scratchBytes / 4);
}

// The status of a tile, of one that is being decoded when it is known; by a warp, whose lanes leave
// the loop together, as in waitTogether (gstd_tile.cuh). The bytes of the tile are there with it.
__device__ uint32_t tileStatus(const uint32_t* status, bool isDecoded)
{
    if (isDecoded) return *status;
    uint32_t value = SLUICE_ST_PENDING;
    for (uint32_t turn = 0; turn < kMostPolls; ++turn) {
        value = published(status);
        if (__all_sync(kAllLanes, value != SLUICE_ST_PENDING)) break;
        __nanosleep(200);
    }
    return value;
}

__global__ void __launch_bounds__(kThreads, kThreadsAtOnce / kThreads)
    filterKernel(FilterLaunchParams params)
{
    __shared__ FilterShared shared;
    if (threadIdx.x == 0) shared.turnOfRoles = warpSlot() / kWarps;
    const uint32_t* inMemory = pointerFrom<const uint32_t>(params.tileCount);
    const uint32_t tiles =
        uniform(inMemory == nullptr ? params.maxTileCount : min(*inMemory, params.maxTileCount));
    uint32_t* statuses = pointerFrom<uint32_t>(params.status);
    const uint32_t* decodes = pointerFrom<const uint32_t>(params.decodeCount);
    const uint32_t decoding =
        uniform(decodes == nullptr ? params.decodeMaxCount : min(*decodes, params.decodeMaxCount));
    // Tiles differ much; blocks that are done with one take the next.
    const auto next = [&](uint32_t index) {
        if (params.tickets == 0) return index + params.workgroups;
        __syncthreads();
        if (threadIdx.x == 0) shared.next = params.workgroups + atomicAdd(ticketOf(params), 1);
        __syncthreads();
        return uniform(shared.next);
    };
    for (uint32_t index = blockIdx.x; index < tiles; index = next(index)) {
        const FilterTile tile = pointerFrom<const FilterTile>(params.tiles)[index];
        if (uniform(warpIndex()) == 0) { // one reads: another tile with the same word may write it
            const uint32_t at = uniform(tile.statusIndex);
            const uint32_t found = at < params.statusCount
                                       ? tileStatus(statuses + at, at >= decoding)
                                       : SLUICE_ST_PENDING;
            if (laneIndex() == 0) shared.status = found;
        }
        __syncthreads();
        const uint32_t before = uniform(shared.status);
        const bool decoded = before == SLUICE_ST_OK || before == SLUICE_ST_UNVERIFIED;
        __syncthreads();
        if (!decoded) continue;
        const uint64_t description = u64From(params.descriptions) + tile.descriptionOffset;
        const bool aligned =
            (tile.source | tile.target | tile.descriptionOffset | tile.descriptionSize) % 4 == 0;
        uint32_t status = SLUICE_ST_BAD_REGION;
        const bool good =
            aligned && tile.size - 1 < params.maxTileBytes &&
            insideBuffer(tile.source, tile.size, params.source, params.sourceSize) &&
            insideBuffer(tile.target, tile.size, params.destination, params.destinationSize) &&
            insideBuffer(description, tile.descriptionSize, params.descriptions,
                         params.descriptionsSize);
        if (uniform(good)) {
            Undo undo{shared,
                      globalPointer<const uint32_t>(description),
                      tile.descriptionSize / 4,
                      globalPointer<const uint8_t>(tile.source),
                      globalPointer<uint8_t>(tile.target),
                      globalPointer<uint8_t>(u64From(params.scratch)) +
                          static_cast<uint64_t>(blockIdx.x) * params.scratchBytes,
                      tile.size};
            status = undo.run();
        }
        if (status != SLUICE_ST_OK && threadIdx.x == 0)
            writeStatus(params.status, params.statusCount, tile.statusIndex, status);
        __syncthreads();
    }
    // what comes next may count on the decode too
    if (params.decodeMaxCount != 0 && blockIdx.x == 0) waitForLaunchBefore();
}

} // namespace

// The names of the form for few tiles, filter_few.cu.
#ifdef SLUICE_FILTER_FEW
#define loadFilter loadFilterFew
#define launchFilter launchFilterFew
#else
cudaError_t clearFilterTicket(cudaStream_t stream, const FilterParams& params)
{
    if (params.tickets == 0) return cudaSuccess;
    return cudaMemsetAsync(ticketOf(params), 0, sizeof(uint32_t), stream);
}
#endif

cudaError_t loadFilter() { return load(filterKernel); }

cudaError_t launchFilter(cudaStream_t stream, const FilterLaunchParams& params)
{
    if (params.maxTileCount == 0) return cudaSuccess;
    return launch(stream, filterKernel, params.workgroups, kThreads, params, 0,
                  params.decodeMaxCount != 0);
}

} // namespace sluice
