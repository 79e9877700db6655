// SPDX-License-Identifier: MIT OR Apache-2.0
// Pixels: records of 3, 4 or 8 bytes, each a column, of which some are predicted from the row above. All columns are undone
// together, four in the bytes of a word, from residuals to records without scratch in between.
#pragma once

#include "filter_columns.cuh"

namespace sluice {

// A lane of a wave warp does a row, a quad (4 pixels) a step, a quad behind the lane above, and goes on to its row of the next
// band without waiting. The last warps bring the quads of a round of steps to shared memory and take them away as records a
// round later, so that everything meets at one barrier a round.
struct FilterPixels : FilterColumns {
    static constexpr uint32_t kMovers = 128; // threads
    static constexpr uint32_t kEven = 0x00ff00ff;

    __device__ uint32_t quadsOfRow() const { return (width + 3) / 4; }

    // The same in all threads.
    __device__ bool arePixels() const
    {
        const uint32_t groups = stride > 4 ? 2 : 1;
        if ((stride != 3 && stride != 4 && stride != 8) || uniform(shared.columns) != stride || anyFinal) return false;
        if (width == 0 || width >= count || quadsOfRow() * groups > kRowWords / 4) return false;
        bool isWave = false;
        for (uint32_t c = 0; c < stride; ++c)
            isWave = isWave || predictorOf(c) >= kGradient;
        return uniform(isWave) != 0;
    }

    // Where residuals come from, a thread a column, and what the bytes of a pixel's words are, a thread a word.
    __device__ void placePixels() const
    {
        const uint32_t c = threadIdx.x;
        if (c < stride) {
            const uint32_t predictor = predictorOf(c);
            const bool inScratch = predictor != kNone && predictor < kGradient;
            PixelColumn& column = shared.pixelColumns[c];
            column.at = inScratch ? scratch + shared.values[c] : planes + shared.from[c];
            column.step = inScratch ? 1 : shared.step[c];
        }
        if (c < 2) {
            PixelBytes bytes = {};
            for (uint32_t k = 0; k < 4 && 4 * c + k < stride; ++k) {
                const uint32_t column = 4 * c + k, predictor = predictorOf(column), mask = 0xffu << 8 * k;
                const uint32_t base = shared.column[column] >> 24;
                if (predictor >= kGradient) bytes.predicted |= mask;
                if (predictor == kAverage) bytes.average |= mask;
                if (predictor == kGradient) bytes.gradient |= mask;
                if (predictor >= kGradient && (shared.column[column] & kZigzag) != 0) bytes.zigzag |= mask;
                if (base == 0) continue;
                if (predictor == kMedian || predictor == kAverage) bytes.bias |= mask & 0x80808080;
                bytes.based |= mask;
                bytes.base |= (base - 1) << 4 * k;
            }
            shared.pixelBytes[c] = bytes;
        }
    }

    // --- A wave ---

    // Two bytes in the halves of words: the guess from left, up and corner plus the residual; bits above the bytes are anything.
    template <bool Any>
    __device__ static uint32_t pixelValue(uint32_t residual, uint32_t left, uint32_t up, uint32_t corner, uint32_t average,
                                          uint32_t gradient)
    {
        uint32_t low = __vminu2(left, up), high = __vmaxu2(left, up);
        if (Any) { // of the gradient nothing is cut
            low &= ~gradient;
            high |= gradient;
        }
        const uint32_t cut = __vminu2(__vmaxu2(corner, low), high);
        if (!Any) return residual + up + left - cut;
        const uint32_t sum = left + up, guess = sum + (gradient & 0x01000100) - cut; // not negative
        return residual + ((guess & ~average) | (sum >> 1 & average & kEven));
    }

    // Steps of a round, of the group's quads at `stage`; `kept` is what a lane keeps between rounds: its quad, left and corner,
    // and the quad above.
    template <uint32_t Steps, bool Any>
    __device__ void waveRound(uint4* stage, uint4* above, uint32_t group, uint32_t period, uint32_t (&kept)[9]) const
    {
        const uint32_t lane = laneIndex(), quads = quadsOfRow();
        const PixelBytes& bytes = shared.pixelBytes[group];
        const uint32_t even = bytes.predicted & kEven, odd = bytes.predicted >> 8 & kEven;
        const uint32_t evenAverage = bytes.average & kEven, oddAverage = bytes.average >> 8 & kEven;
        const uint32_t evenGradient = (bytes.gradient & kEven) * 257, oddGradient = (bytes.gradient >> 8 & kEven) * 257;
        const uint32_t evenBias = bytes.bias & kEven, oddBias = bytes.bias >> 8 & kEven;
#pragma unroll 1
        for (uint32_t pair = 0; pair < Steps; pair += 2) {
            // What the last lane has put into `above` for the first one was put there before this pair of steps.
            const uint32_t next = kept[0] + 1 == period ? 0 : kept[0] + 1;
            uint4* at[2] = {stage + pair * kWarpSize + (lane ^ pair), stage + (pair + 1) * kWarpSize + (lane ^ (pair + 1))};
            const uint4 residuals[2] = {*at[0], *at[1]};
            uint4 top[2] = {};
            if (lane == 0 && kept[0] < quads) top[0] = above[kept[0]];
            if (lane == 0 && next < quads) top[1] = above[next];
#pragma unroll
            for (uint32_t e = 0; e < 2; ++e) {
                const uint32_t residual[4] = {residuals[e].x, residuals[e].y, residuals[e].z, residuals[e].w};
                const uint32_t over[4] = {top[e].x, top[e].y, top[e].z, top[e].w};
                const bool atBegin = kept[0] == 0;
                uint32_t value[4];
                uint32_t left0 = atBegin ? evenBias : kept[1], left1 = atBegin ? oddBias : kept[2];
                uint32_t corner0 = atBegin ? evenBias : kept[3], corner1 = atBegin ? oddBias : kept[4];
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k) {
                    const uint32_t up = lane == 0 ? over[k] : kept[5 + k];
                    const uint32_t up0 = up & even, up1 = up >> 8 & odd;
                    const uint32_t value0 =
                        pixelValue<Any>(residual[k] & kEven, left0, up0, corner0, evenAverage, evenGradient);
                    const uint32_t value1 =
                        pixelValue<Any>(residual[k] >> 8 & kEven, left1, up1, corner1, oddAverage, oddGradient);
                    left0 = value0 & even;
                    left1 = value1 & odd;
                    corner0 = up0;
                    corner1 = up1;
                    value[k] = __byte_perm(value0, value1, 0x6240);
                    kept[5 + k] = __shfl_up_sync(kAllLanes, value[k], 1);
                }
                kept[1] = left0;
                kept[2] = left1;
                kept[3] = corner0;
                kept[4] = corner1;
                const uint4 quad = make_uint4(value[0], value[1], value[2], value[3]);
                *at[e] = quad;
                if (lane == kWarpSize - 1 && kept[0] < quads) above[kept[0]] = quad;
                ++kept[0];
                kept[0] = kept[0] == period ? 0 : kept[0];
            }
            __syncwarp();
        }
    }

    // --- Quads brought and taken away ---

    // The place of a quad: in the period of its row, and its first record, which may be none of the section.
    struct Quad {
        uint32_t place;
        int32_t record;
    };
    __device__ Quad firstQuad(uint32_t row, uint32_t step, uint32_t period) const
    {
        const bool isBefore = step < row; // in the band before the first
        const uint32_t place = step - row + (isBefore ? period : 0);
        const int32_t begin = static_cast<int32_t>(row) - (isBefore ? static_cast<int32_t>(kWarpSize) : 0);
        return {place, begin * static_cast<int32_t>(width) - static_cast<int32_t>(first) + static_cast<int32_t>(4 * place)};
    }
    __device__ void advance(Quad& quad, uint32_t steps, uint32_t period) const
    {
        quad.place += steps;
        quad.record += static_cast<int32_t>(4 * steps);
        if (quad.place < period) return;
        quad.place -= period;
        quad.record += static_cast<int32_t>(kWarpSize * width) - static_cast<int32_t>(4 * period);
    }

    // Words around the bytes [at, at + 4 * (Words - 1)) of the `bytes` bytes at `from`; such as hold none of them are others.
    template <uint32_t Words>
    __device__ static void loadAround(const uint8_t* from, int32_t at, uint32_t bytes, uint32_t (&words)[Words])
    {
        const int32_t lead = static_cast<int32_t>(reinterpret_cast<uintptr_t>(from) & 3);
        const uint32_t* aligned = globalPointer<const uint32_t>(reinterpret_cast<uintptr_t>(from) & ~uintptr_t{3});
        const int32_t begin = (lead + at) >> 2, last = (lead + static_cast<int32_t>(bytes) - 1) >> 2;
#pragma unroll
        for (uint32_t k = 0; k < Words; ++k)
            words[k] = aligned[min(max(begin + static_cast<int32_t>(k), 0), last)];
    }
    __device__ static uint32_t shiftOf(const uint8_t* from, int32_t at)
    {
        return 8 * ((static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from)) + static_cast<uint32_t>(at)) & 3);
    }

    // Of a quad: what stands around it; in raw[2 * c], raw[2 * c + 1] for a column, or all bytes of its records in a row.
    template <uint32_t Columns>
    __device__ void loadQuad(int32_t record, bool areJoined, uint32_t (&raw)[2 * Columns]) const
    {
        if (areJoined) {
            uint32_t words[Columns + 1];
            loadAround(shared.pixelColumns[0].at, record * static_cast<int32_t>(Columns), count * Columns, words);
#pragma unroll
            for (uint32_t k = 0; k <= Columns; ++k)
                raw[k] = words[k];
            return;
        }
#pragma unroll
        for (uint32_t c = 0; c < Columns; ++c) {
            const PixelColumn& column = shared.pixelColumns[c];
            if (column.step == 1) {
                uint32_t words[2];
                loadAround(column.at, record, count, words);
                raw[2 * c] = words[0];
                raw[2 * c + 1] = words[1];
            } else {
                uint32_t byte[4];
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k) {
                    const int32_t i = min(max(record + static_cast<int32_t>(k), 0), static_cast<int32_t>(count) - 1);
                    byte[k] = column.at[static_cast<uint32_t>(i) * column.step];
                }
                raw[2 * c] = packBytes(byte[0], byte[1], byte[2], byte[3]);
            }
        }
    }

    // Its pixels, four columns a word.
    template <uint32_t Columns>
    __device__ void quadFrom(int32_t record, bool areJoined, const uint32_t (&raw)[2 * Columns],
                             uint32_t (&pixels)[(Columns + 3) / 4][4]) const
    {
        constexpr uint32_t kGroups = (Columns + 3) / 4;
        if (areJoined) {
            const uint32_t shift = shiftOf(shared.pixelColumns[0].at, record * static_cast<int32_t>(Columns));
            uint32_t words[Columns];
#pragma unroll
            for (uint32_t k = 0; k < Columns; ++k)
                words[k] = __funnelshift_r(raw[k], raw[k + 1], shift);
            if (Columns == 3) {
                pixels[0][0] = words[0] & 0xffffff;
                pixels[0][1] = __byte_perm(words[0], words[1], 0x6543) & 0xffffff;
                pixels[0][2] = __byte_perm(words[1], words[2 % Columns], 0x5432) & 0xffffff;
                pixels[0][3] = words[2 % Columns] >> 8;
            } else {
#pragma unroll
                for (uint32_t k = 0; k < Columns; ++k)
                    pixels[k % kGroups][k / kGroups] = words[k];
            }
        } else {
#pragma unroll
            for (uint32_t g = 0; g < kGroups; ++g) {
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k) {
                    const uint32_t c = 4 * g + k;
                    if (c < Columns) {
                        const PixelColumn& column = shared.pixelColumns[c];
                        const uint32_t shift = column.step == 1 ? shiftOf(column.at, record) : 0;
                        pixels[g][k] = __funnelshift_r(raw[2 * c % (2 * Columns)], raw[(2 * c + 1) % (2 * Columns)], shift);
                    } else {
                        pixels[g][k] = 0;
                    }
                }
                transpose(pixels[g]);
            }
        }
        if (record < 0) { // in row 0 nothing before the first record
#pragma unroll
            for (uint32_t g = 0; g < kGroups; ++g)
#pragma unroll
                for (uint32_t k = 0; k < 4; ++k)
                    if (record + static_cast<int32_t>(k) < 0) pixels[g][k] = 0;
        }
#pragma unroll
        for (uint32_t g = 0; g < kGroups; ++g) {
            const uint32_t zigzag = shared.pixelBytes[g].zigzag;
            if (zigzag == 0) continue;
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k)
                pixels[g][k] = (unzigzagBytes(pixels[g][k]) & zigzag) | (pixels[g][k] & ~zigzag);
        }
    }

    // Values become bytes of records.
    template <uint32_t Columns>
    __device__ void recordsFrom(uint32_t (&pixels)[(Columns + 3) / 4][4], uint32_t (&words)[Columns]) const
    {
        constexpr uint32_t kGroups = (Columns + 3) / 4;
        if (anyBase) {
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                const uint32_t low = pixels[0][k], high = kGroups == 1 ? 0 : pixels[kGroups - 1][k];
#pragma unroll
                for (uint32_t g = 0; g < kGroups; ++g) {
                    const PixelBytes& bytes = shared.pixelBytes[g];
                    pixels[g][k] =
                        addBytes(pixels[g][k] ^ bytes.bias, __byte_perm(low, high, bytes.base) & bytes.based);
                }
            }
        }
        if (Columns == 3) {
            words[0] = __byte_perm(pixels[0][0], pixels[0][1], 0x4210);
            words[1] = __byte_perm(pixels[0][1], pixels[0][2], 0x5421);
            words[2 % Columns] = __byte_perm(pixels[0][2], pixels[0][3], 0x6542);
        } else {
#pragma unroll
            for (uint32_t k = 0; k < Columns; ++k)
                words[k] = pixels[k % kGroups][k / kGroups];
        }
    }

    // The words of a quad's records, of whose first and last words those beside have a part; before: the word before them.
    template <uint32_t Columns>
    __device__ void storeQuad(const Quad& quad, const uint32_t (&words)[Columns], uint32_t before) const
    {
        const int32_t columns = static_cast<int32_t>(Columns), lead = static_cast<int32_t>(position & 3);
        const int32_t rowBegin = quad.record - static_cast<int32_t>(4 * quad.place);
        // In bytes from the word in which the section begins.
        const int32_t low = lead + max(rowBegin, 0) * columns;
        const int32_t high = lead + min(rowBegin + static_cast<int32_t>(width), static_cast<int32_t>(count)) * columns;
        const int32_t at = lead + quad.record * columns, begin = at & ~3;
        uint8_t* to = target + (position & ~3u);
        if (4 * quad.place >= width || at >= high || at + 4 * columns <= low) return;
        const uint32_t shift = 8 * (static_cast<uint32_t>(at) & 3);
        uint32_t shifted[Columns + 1];
        shifted[0] = __funnelshift_l(before, words[0], shift);
#pragma unroll
        for (uint32_t k = 1; k < Columns; ++k)
            shifted[k] = __funnelshift_l(words[k - 1], words[k], shift);
        const bool isLast = at + 4 * columns >= high;
        if (begin >= low && !isLast) {
            if (Columns % 4 == 0 && (reinterpret_cast<uintptr_t>(to + begin) & 15) == 0) {
#pragma unroll
                for (uint32_t k = 0; k + 3 < Columns; k += 4)
                    reinterpret_cast<uint4*>(to + begin)[k / 4] =
                        make_uint4(shifted[k], shifted[k + 1], shifted[k + 2], shifted[k + 3]);
            } else {
#pragma unroll
                for (uint32_t k = 0; k < Columns; ++k)
                    reinterpret_cast<uint32_t*>(to + begin)[k] = shifted[k];
            }
            return;
        }
        shifted[Columns] = __funnelshift_l(words[Columns - 1], 0, shift);
#pragma unroll
        for (uint32_t k = 0; k <= Columns; ++k) {
            const int32_t word = begin + static_cast<int32_t>(4 * k);
            if (k == Columns && !isLast) break; // the next quad's
            if (word >= low && word + 4 <= high) {
                *reinterpret_cast<uint32_t*>(to + word) = shifted[k];
            } else {
#pragma unroll
                for (int32_t b = 0; b < 4; ++b)
                    if (word + b >= low && word + b < high) to[word + b] = static_cast<uint8_t>(shifted[k] >> 8 * b);
            }
        }
    }

    template <uint32_t Columns>
    __device__ void undoPixels() const
    {
        constexpr uint32_t kGroups = (Columns + 3) / 4, kSteps = 8 / kGroups, kQuads = kSteps * kWarpSize / kMovers;
        static_assert(2 * kGroups * kSteps * kWarpSize * 4 <= sizeof(shared.stage) / 4, "two rounds of quads");
        const uint32_t quads = quadsOfRow(), rowCount = (first + count + width - 1) / width;
        const uint32_t bands = (rowCount + kWarpSize - 1) / kWarpSize;
        // Of the rows of a lane; the row above the last lane's next one is then done two steps before it is needed.
        const uint32_t period = max(quads, kWarpSize + 1);
        const uint32_t rounds = (bands * period + kWarpSize + kSteps - 2) / kSteps;
        uint4* stage = reinterpret_cast<uint4*>(shared.stage);
        uint4* above = reinterpret_cast<uint4*>(shared.rows);
        for (uint32_t k = threadIdx.x; k < quads * kGroups; k += kThreads) { // above the image
            const uint32_t bias = shared.pixelBytes[k / quads].bias;
            above[k] = make_uint4(bias, bias, bias, bias);
        }
        bool areJoined = true, isAny = false;
        for (uint32_t c = 0; c < Columns; ++c)
            areJoined = areJoined && shared.pixelColumns[c].step == Columns &&
                        shared.pixelColumns[c].at == shared.pixelColumns[0].at + c;
        for (uint32_t g = 0; g < kGroups; ++g)
            isAny = isAny || (shared.pixelBytes[g].average | shared.pixelBytes[g].gradient) != 0;
        const uint32_t warp = uniform(warpIndex());
        const bool isMover = warp >= (kThreads - kMovers) / kWarpSize, isWave = warp < kGroups;
        const uint32_t mover = threadIdx.x % kMovers, step = mover % kSteps, row = mover / kSteps;
        constexpr uint32_t kRowsBetween = kMovers / kSteps;
        Quad loads[kQuads], stores[kQuads];
        uint32_t lastWords[kQuads] = {};
        uint32_t kept[9] = {0u - laneIndex()};
#pragma unroll
        for (uint32_t h = 0; h < kQuads; ++h)
            loads[h] = stores[h] = firstQuad(row + h * kRowsBetween, step, period);
        // Round r: waves do quads r, movers bring r + 1 to where they take r - 1 from.
#pragma unroll 1
        for (uint32_t round = 0; round < rounds + 2; ++round) {
            uint4* others = stage + (round & 1) * (kGroups * kSteps * kWarpSize);
            if (isMover) {
                uint32_t raw[kQuads][2 * Columns];
                if (round < rounds) {
#pragma unroll
                    for (uint32_t h = 0; h < kQuads; ++h)
                        loadQuad<Columns>(loads[h].record, areJoined, raw[h]);
                }
                if (round >= 2) {
#pragma unroll
                    for (uint32_t h = 0; h < kQuads; ++h) {
                        const uint32_t l = row + h * kRowsBetween;
                        uint32_t pixels[kGroups][4], words[Columns];
#pragma unroll
                        for (uint32_t g = 0; g < kGroups; ++g) {
                            const uint4 quad = others[(g * kSteps + step) * kWarpSize + (l ^ step)];
                            pixels[g][0] = quad.x;
                            pixels[g][1] = quad.y;
                            pixels[g][2] = quad.z;
                            pixels[g][3] = quad.w;
                        }
                        recordsFrom<Columns>(pixels, words);
                        // The last word of a round is wanted in the next one.
                        const uint32_t lane = laneIndex();
                        const uint32_t given = step == kSteps - 1 ? lastWords[h] : words[Columns - 1];
                        const uint32_t before = __shfl_sync(
                            kAllLanes, given, static_cast<int>((lane & ~(kSteps - 1)) | ((lane - 1) & (kSteps - 1))));
                        lastWords[h] = words[Columns - 1];
                        storeQuad<Columns>(stores[h], words, before);
                        advance(stores[h], kSteps, period);
                    }
                }
                if (round < rounds) {
#pragma unroll
                    for (uint32_t h = 0; h < kQuads; ++h) {
                        const uint32_t l = row + h * kRowsBetween;
                        uint32_t pixels[kGroups][4];
                        quadFrom<Columns>(loads[h].record, areJoined, raw[h], pixels);
#pragma unroll
                        for (uint32_t g = 0; g < kGroups; ++g)
                            others[(g * kSteps + step) * kWarpSize + (l ^ step)] =
                                make_uint4(pixels[g][0], pixels[g][1], pixels[g][2], pixels[g][3]);
                        advance(loads[h], kSteps, period);
                    }
                }
            } else if (isWave && round - 1 < rounds) {
                uint4* own = stage + ((round & 1) ^ 1) * (kGroups * kSteps * kWarpSize) + warp * kSteps * kWarpSize;
                if (isAny) {
                    waveRound<kSteps, true>(own, above + warp * quads, warp, period, kept);
                } else {
                    waveRound<kSteps, false>(own, above + warp * quads, warp, period, kept);
                }
            }
            __syncthreads();
        }
        // Bytes that are too few for a record.
        for (uint32_t k = count * Columns + threadIdx.x; k < shared.size; k += kThreads)
            target[position + k] = planes[k];
    }
};

} // namespace sluice
