// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes sections of pixels: records of 3, 4 or 8 bytes, each byte a column, of which at least one
// is predicted from the row above. All columns are undone together, from residuals to records,
// without scratch in between. filter_columns.cuh explains record, column, base and row, and
// PixelColumn and PixelBytes.
//
// The warps of a block have three roles. A *wave* warp computes a *pair* of columns: bytes 0 and 2,
// or bytes 1 and 3, of a word of each pixel. Its lane k does row k of a *band* of 32 rows. In a
// *step* it does a *quad*, four pixels of its row, one step behind the lane above. After `period`
// steps it goes on with its row of the next band, without waiting. Loaders bring the quads of the
// next *round*, which is a number of steps, to shared memory. Storers write those of the round
// before as records. All warps meet at one barrier per round.
#pragma once

#include "cuda/lib/filter_columns.cuh"

namespace sluice {
namespace {

constexpr uint32_t kStorers = kThreads / 4; // threads that store
// Ones in bytes 0 and 2 of a word.
constexpr uint32_t kEven = 0x00ff00ff;
constexpr uint32_t kKept = 19; // words that a thread keeps between rounds: 3 + 2 * 8 in loadRound

// groupsOf returns how many words (groups) a pixel with that many columns has. For a number of
// groups, stepsOf returns how many steps a round has, and loadersOf how many threads load.
__host__ __device__ constexpr uint32_t groupsOf(uint32_t columns) { return (columns + 3) / 4; }
__host__ __device__ constexpr uint32_t stepsOf(uint32_t groups) { return 8 / groups; }
__host__ __device__ constexpr uint32_t loadersOf(uint32_t groups) { return kThreads / 2 / groups; }

__device__ uint32_t quadsOfRow(const TileAtWork& tile) { return (tile.width + 3) / 4; }

// Returns true, in all threads or in none, if undoPixels can undo the section: it has pixels of 3,
// 4 or 8 columns of bytes, one of them predicted from the row above, and rows of suitable width.
__device__ bool arePixels(const TileAtWork& tile)
{
    const uint32_t groups = groupsOf(tile.stride);
    if ((tile.stride != 3 && tile.stride != 4 && tile.stride != 8) ||
        uniform(shared.section.columns) != tile.stride || tile.anyFinal)
        return false;
    // A width of at most 4 * count bounds the work by the number of records.
    if (tile.width < SLUICE_FILTER_QUAD_WIDTH || tile.width > 4 * tile.count ||
        quadsOfRow(tile) * 2 * groups > kRowWords / 4)
        return false;
    bool isWave = false;
    for (uint32_t c = 0; c < tile.stride; ++c)
        isWave = isWave || SLUICE_PREDICTOR_IS_WAVE(predictorOf(c));
    return uniform(isWave) != 0;
}

// Returns true if the columns are *joined*: their residuals stand side by side, record by record,
// and no column has to be undone before undoPixels runs.
__device__ bool arePixelsJoined(const TileAtWork& tile)
{
    bool result = true;
    for (uint32_t c = 0; c < tile.stride; ++c)
        result = result && shared.step[c] == tile.stride &&
                 (predictorOf(c) == kNone || SLUICE_PREDICTOR_IS_WAVE(predictorOf(c)));
    return result;
}
// Returns true if gatherResiduals copies the column's residuals to scratch. It does so if they are
// not neighbouring bytes and the columns are not joined.
__device__ bool isPixelGathered(const TileAtWork& tile, uint32_t column)
{
    return shared.step[column] != 1 && !arePixelsJoined(tile);
}
// Returns true if undoPixels reads the column's bytes from scratch: they were gathered there, or
// the column has a prediction that is not from the row above and was undone before.
__device__ bool isPixelInScratch(const TileAtWork& tile, uint32_t column)
{
    return (predictorOf(column) != kNone && !SLUICE_PREDICTOR_IS_WAVE(predictorOf(column))) ||
           isPixelGathered(tile, column);
}

// Fills shared.pixelColumns, one column per thread, and shared.pixelBytes, one word of the pixel
// per thread.
__device__ void placePixels(const TileAtWork& tile)
{
    const uint32_t c = threadIdx.x;
    if (c < tile.stride) {
        const uint8_t* at = isPixelInScratch(tile, c) ? tile.scratch + shared.values[c]
                                                      : tile.planes + shared.from[c];
        const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) & 3);
        const uint32_t bytes = arePixelsJoined(tile) ? tile.count * tile.stride : tile.count;
        shared.pixelColumns[c] = {reinterpret_cast<const uint32_t*>(at - lead),
                                  static_cast<int32_t>(lead),
                                  static_cast<int32_t>((lead + bytes - 1) / 4)};
    }
    if (c < 2) {
        PixelBytes bytes = {};
        for (uint32_t k = 0; k < 4 && 4 * c + k < tile.stride; ++k) {
            const uint32_t column = 4 * c + k, predictor = predictorOf(column),
                           mask = 0xffu << 8 * k;
            const uint32_t base = shared.column[column] >> 24;
            const uint32_t half = 0xffu << 16 * (k / 2);
            if (SLUICE_PREDICTOR_IS_WAVE(predictor)) bytes.predicted[k % 2] |= half;
            if (predictor == kAverage) bytes.average[k % 2] |= half;
            if (predictor == kGradient) bytes.gradient[k % 2] |= half;
            if (SLUICE_PREDICTOR_IS_WAVE(predictor) && (shared.column[column] & kZigzag) != 0)
                bytes.zigzag |= mask;
            if (base == 0) continue;
            if (predictor == kMedian || predictor == kAverage) bytes.bias |= mask & 0x80808080;
            bytes.based |= mask;
            bytes.base |= (base - 1) << 4 * k;
        }
        shared.pixelBytes[c] = bytes;
    }
}

// --- A wave ---

// Returns residual + prediction for two bytes, which are the low bytes of the halves of each word.
// The bits above these bytes have no meaning. `corner` is the value above to the left. `average`
// and `gradient` have ones where the column has that predictor. Elsewhere it is the median: left +
// up - corner, where corner is clamped to the range from left to up.
template <bool HasAverage, bool HasGradient>
__device__ uint32_t pixelValue(uint32_t residual, uint32_t left, uint32_t up, uint32_t corner,
                               uint32_t average, uint32_t gradient)
{
    uint32_t low = __vminu2(left, up), high = __vmaxu2(left, up);
    // The gradient has the same formula without the clamp.
    if (HasGradient) {
        low &= ~gradient;
        high |= gradient;
    }
    const uint32_t clamped = __vminu2(__vmaxu2(corner, low), high);
    if (!HasAverage && !HasGradient) return residual + up + left - clamped;
    const uint32_t sum = left + up;
    uint32_t guess = sum - clamped;
    // Adding 2^8 keeps the gradient in the lower half from being negative and borrowing from the
    // upper half.
    if (HasGradient) guess += gradient << 1 & 0x01000100;
    return residual + ((guess & ~average) | (sum >> 1 & average));
}

// Half 0 of a word is its bytes 0 and 2, half 1 its bytes 1 and 3. Returns one of them, each byte
// in 16 bits.
__device__ uint32_t halfOf(uint32_t word, uint32_t half) { return word >> 8 * half & kEven; }

// Initializes what a lane of a wave keeps between rounds. kept[0] is how many steps it has spent on
// its row, and so the index of its quad. kept[1] and kept[2] are the values `left` and `corner`,
// and kept[3] to kept[6] the values above its next quad. Until the row begins, kept[0] is negative,
// and the others are values above the image.
__device__ void beginWave(uint32_t pair, uint32_t (&kept)[kKept])
{
    kept[0] = 0u - laneIndex();
    kept[1] = kept[2] = kept[3] = kept[4] = kept[5] = kept[6] =
        halfOf(shared.pixelBytes[pair / 2].bias, pair % 2);
}

// Does the steps of a round for the quads of pair `pair`, which are at `stage`. `above` is the last
// row of the band above, for lane 0. A lane spends `period` steps on a row. If that is the number
// of lanes (IsNarrow), lane 0 takes what the last lane has just done, just as every other lane
// takes what the lane above has done.
template <bool IsNarrow, bool HasAverage, bool HasGradient>
__device__ void waveRound(const TileAtWork& tile, uint32_t steps, uint4* stage, uint4* above,
                          uint32_t pair, uint32_t period, uint32_t (&kept)[kKept])
{
    const uint32_t lane = laneIndex(), quads = quadsOfRow(tile), laneAbove = (lane - 1) % kWarpSize;
    const PixelBytes& bytes = shared.pixelBytes[pair / 2];
    // Columns that are not predicted use 0 for left and up.
    const uint32_t predicted = bytes.predicted[pair % 2], average = bytes.average[pair % 2],
                   gradient = bytes.gradient[pair % 2], bias = halfOf(bytes.bias, pair % 2);
    // Loads are one step ahead. The last lane has stored in `above` what lane 0 loads.
    uint4 nextResidual = stage[lane], nextTop = {};
    if (!IsNarrow && lane == 0 && kept[0] < quads) nextTop = above[kept[0]];
// The loop is not unrolled: warps of different roles run different code at the same time, so the
// code should be short.
#pragma unroll 1
    for (uint32_t step = 0; step < steps; ++step) {
        const uint4 residuals = nextResidual, tops = nextTop;
        const uint32_t place = kept[0], next = min(step + 1, steps - 1);
        kept[0] = place + 1 == period ? 0 : place + 1;
        nextResidual = stage[next * kWarpSize + (lane ^ next)];
        if (!IsNarrow && lane == 0 && kept[0] < quads) nextTop = above[kept[0]];
        const uint32_t residual[4] = {residuals.x, residuals.y, residuals.z, residuals.w};
        const uint32_t top[4] = {tops.x, tops.y, tops.z, tops.w};
        uint32_t value[4], left = place == 0 ? bias : kept[1], corner = place == 0 ? bias : kept[2];
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            const uint32_t up = !IsNarrow && lane == 0 ? top[k] : kept[3 + k];
            value[k] = pixelValue<HasAverage, HasGradient>(residual[k], left, up, corner, average,
                                                           gradient);
            left = value[k] & predicted;
            corner = up;
            kept[3 + k] = __shfl_sync(kAllLanes, left, static_cast<int>(laneAbove));
        }
        kept[1] = left;
        kept[2] = corner;
        stage[step * kWarpSize + (lane ^ step)] =
            make_uint4(value[0], value[1], value[2], value[3]);
        if (!IsNarrow) {
            if (lane == kWarpSize - 1 && place < quads)
                above[place] = make_uint4(value[0] & predicted, value[1] & predicted,
                                          value[2] & predicted, left);
            __syncwarp();
        }
    }
}
// Calls waveRound with the predictors that the pair has.
__device__ void waveRound(const TileAtWork& tile, bool isNarrow, uint32_t steps, uint4* stage,
                          uint4* above, uint32_t pair, uint32_t period, uint32_t (&kept)[kKept])
{
    const PixelBytes& bytes = shared.pixelBytes[pair / 2];
    const uint32_t predicted = bytes.predicted[pair % 2], average = bytes.average[pair % 2],
                   gradient = bytes.gradient[pair % 2];
    const uint32_t kind = uniform(predicted == 0 ? 0 : gradient != 0 ? 3 : average != 0 ? 2 : 1);
    // Without a prediction, the residuals are the values already.
    if (kind == 0) return;
    if (isNarrow) {
        if (kind == 1) {
            waveRound<true, false, false>(tile, steps, stage, above, pair, period, kept);
        } else if (kind == 2) {
            waveRound<true, true, false>(tile, steps, stage, above, pair, period, kept);
        } else {
            waveRound<true, true, true>(tile, steps, stage, above, pair, period, kept);
        }
    } else if (kind == 1) {
        waveRound<false, false, false>(tile, steps, stage, above, pair, period, kept);
    } else if (kind == 2) {
        waveRound<false, true, false>(tile, steps, stage, above, pair, period, kept);
    } else {
        waveRound<false, true, true>(tile, steps, stage, above, pair, period, kept);
    }
}

// --- Loads and stores of quads ---

// A quad is four pixels of a row. `place` is the step, of those that a lane spends on the row, in
// which it is done. `record` is the number of its first record, which may lie outside the section.
struct Quad {
    uint32_t place, record;
};
// Returns the quad that row `row` of a band does in step `step`, counted over the whole section.
__device__ Quad firstQuad(const TileAtWork& tile, uint32_t row, uint32_t step, uint32_t period)
{
    const bool isBefore = step < row; // in the band before the first
    const uint32_t place = step - row + (isBefore ? period : 0);
    return {place, (isBefore ? row - kWarpSize : row) * tile.width - tile.first + 4 * place};
}
// Returns the quad `rows` rows below `quad` that is done in the same step.
__device__ Quad quadBelow(const TileAtWork& tile, Quad quad, uint32_t rows, uint32_t period)
{
    const bool isBefore = quad.place < rows;
    return {quad.place - rows + (isBefore ? period : 0),
            quad.record + rows * (tile.width - 4) +
                (isBefore ? 4 * period - kWarpSize * tile.width : 0)};
}
// Returns the quad that is done `steps` steps after `quad` in the same row of a band.
__device__ Quad quadAfter(const TileAtWork& tile, Quad quad, uint32_t steps, uint32_t period)
{
    const bool wraps = quad.place + steps >= period;
    return {quad.place + steps - (wraps ? period : 0),
            quad.record + 4 * steps + (wraps ? kWarpSize * tile.width - 4 * period : 0)};
}

// Loads the Words words around bytes [at, at + 4 * (Words - 1)) of a column's residuals. For a word
// without residuals, the nearest word of the column is loaded. IsInside means that all of these
// words have residuals.
template <uint32_t Words, bool IsInside>
__device__ void loadAround(const PixelColumn& column, int32_t at, uint32_t* words)
{
    const int32_t begin = (column.lead + at) >> 2;
#pragma unroll
    for (uint32_t k = 0; k < Words; ++k) {
        const int32_t word = begin + static_cast<int32_t>(k);
        words[k] = *global(column.words + (IsInside ? word : min(max(word, 0), column.last)));
    }
}
// Returns the offset, in bits, of byte `at` of the residuals in its aligned word.
__device__ uint32_t shiftOf(const PixelColumn& column, int32_t at)
{
    return 8 * (static_cast<uint32_t>(column.lead + at) & 3);
}

// Loads the words around a quad's residuals. If the columns are joined, these are all bytes of its
// four records; otherwise raw[2 * c] and raw[2 * c + 1] belong to column c.
template <uint32_t Columns, bool IsInside>
__device__ void loadQuad(const TileAtWork& tile, int32_t record, bool areJoined, uint32_t* raw)
{
    if (areJoined) {
        loadAround<Columns + 1, IsInside>(shared.pixelColumns[0],
                                          record * static_cast<int32_t>(Columns), raw);
    } else {
#pragma unroll
        for (uint32_t c = 0; c < Columns; ++c)
            loadAround<2, IsInside>(shared.pixelColumns[c], record, raw + 2 * c);
    }
}
template <uint32_t Columns>
__device__ void loadQuad(const TileAtWork& tile, int32_t record, bool areJoined, uint32_t* raw)
{
    if (record >= 0 && record + 5 <= static_cast<int32_t>(tile.count)) {
        loadQuad<Columns, true>(tile, record, areJoined, raw);
    } else {
        loadQuad<Columns, false>(tile, record, areJoined, raw);
    }
}

// Makes pixels from the words that loadQuad has loaded: pixels[g][k] is word g of pixel k, which
// has a byte for each of its columns.
template <uint32_t Columns>
__device__ void quadFrom(int32_t record, bool areJoined, const uint32_t* raw,
                         uint32_t (&pixels)[groupsOf(Columns)][4])
{
    constexpr uint32_t groups = groupsOf(Columns);
    if (areJoined) {
        const uint32_t shift =
            shiftOf(shared.pixelColumns[0], record * static_cast<int32_t>(Columns));
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
                pixels[k % groups][k / groups] = words[k];
        }
    } else {
#pragma unroll
        for (uint32_t g = 0; g < groups; ++g) {
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                const uint32_t c = 4 * g + k;
                if (c < Columns) {
                    pixels[g][k] = __funnelshift_r(raw[2 * c % (2 * Columns)],
                                                   raw[(2 * c + 1) % (2 * Columns)],
                                                   shiftOf(shared.pixelColumns[c], record));
                } else {
                    pixels[g][k] = 0;
                }
            }
            transpose(pixels[g]);
        }
    }
    // The section may begin inside its first row. The records before its first one count as 0.
    if (record < 0) {
#pragma unroll
        for (uint32_t g = 0; g < groups; ++g)
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k)
                if (record + static_cast<int32_t>(k) < 0) pixels[g][k] = 0;
    }
#pragma unroll
    for (uint32_t g = 0; g < groups; ++g) {
        const uint32_t zigzag = shared.pixelBytes[g].zigzag;
        if (zigzag == 0) continue;
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k)
            pixels[g][k] = (filterUnzigzagBytes(pixels[g][k]) & zigzag) | (pixels[g][k] & ~zigzag);
    }
}

// Turns the values of a quad into the bytes of its four records: adds the bases of columns and
// packs the words.
template <uint32_t Columns>
__device__ void recordsFrom(const TileAtWork& tile, uint32_t (&pixels)[groupsOf(Columns)][4],
                            uint32_t (&words)[Columns])
{
    constexpr uint32_t groups = groupsOf(Columns);
    if (tile.anyBase) {
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            const uint32_t low = pixels[0][k], high = groups == 1 ? 0 : pixels[groups - 1][k];
#pragma unroll
            for (uint32_t g = 0; g < groups; ++g) {
                const PixelBytes& bytes = shared.pixelBytes[g];
                pixels[g][k] = filterAddBytes(pixels[g][k] ^ bytes.bias,
                                              __byte_perm(low, high, bytes.base) & bytes.based);
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
            words[k] = pixels[k % groups][k / groups];
    }
}

// Stores the words of a quad's records. If the quad shares its first word with the quad before, it
// stores that word; `before` is the last word of that quad. At both ends of a row, bytes are stored
// one by one.
template <uint32_t Columns>
__device__ void storeQuad(const TileAtWork& tile, Quad quad, const uint32_t (&words)[Columns],
                          uint32_t before)
{
    constexpr int32_t quadBytes = static_cast<int32_t>(4 * Columns);
    const int32_t columns = static_cast<int32_t>(Columns),
                  lead = static_cast<int32_t>(tile.position & 3);
    const int32_t rowBegin = static_cast<int32_t>(quad.record - 4 * quad.place);
    // These positions count bytes from the aligned word in which the section begins.
    const int32_t low = lead + max(rowBegin, 0) * columns;
    const int32_t high =
        lead + min(rowBegin + static_cast<int32_t>(tile.width), static_cast<int32_t>(tile.count)) *
                   columns;
    const int32_t at = lead + static_cast<int32_t>(quad.record) * columns, begin = at & ~3;
    if (4 * quad.place >= tile.width || at >= high || at + quadBytes <= low) return;
    uint8_t* bytes = globalPointer<uint8_t>(
        reinterpret_cast<uintptr_t>(tile.target + (tile.position & ~3u) + begin));
    uint32_t* to = reinterpret_cast<uint32_t*>(bytes);
    // This many bytes of the first word belong to the quad before.
    const uint32_t count0 = static_cast<uint32_t>(at) & 3, shift = 8 * count0;
    uint32_t shifted[Columns + 1];
    shifted[0] = __funnelshift_l(before, words[0], shift);
#pragma unroll
    for (uint32_t k = 1; k < Columns; ++k)
        shifted[k] = __funnelshift_l(words[k - 1], words[k], shift);
    shifted[Columns] = __funnelshift_l(words[Columns - 1], 0, shift);
    // The quad is only partly inside its row and the section, so its bytes are stored one by one.
    if (at < low || at + quadBytes > high) {
        const int32_t end = min(high, at + quadBytes);
#pragma unroll
        for (uint32_t k = 0; k <= Columns; ++k)
#pragma unroll
            for (uint32_t b = 0; b < 4; ++b) {
                const int32_t byte = begin + static_cast<int32_t>(4 * k + b);
                if (byte >= low && byte < end)
                    bytes[4 * k + b] = static_cast<uint8_t>(shifted[k] >> 8 * b);
            }
        return;
    }
    if (Columns % 4 == 0 && begin >= low && (reinterpret_cast<uintptr_t>(to) & 15) == 0) {
#pragma unroll
        for (uint32_t k = 0; k + 3 < Columns; k += 4)
            reinterpret_cast<uint4*>(to)[k / 4] =
                make_uint4(shifted[k], shifted[k + 1], shifted[k + 2], shifted[k + 3]);
    } else {
        if (begin >= low) {
            to[0] = shifted[0];
        } else {
// The first quad of a row stores only its own bytes of its first word.
#pragma unroll
            for (uint32_t b = 1; b < 4; ++b)
                if (b >= count0) bytes[b] = static_cast<uint8_t>(shifted[0] >> 8 * b);
        }
#pragma unroll
        for (uint32_t k = 1; k < Columns; ++k)
            to[k] = shifted[k];
    }
    // The last quad of a row also stores its bytes behind its last whole word.
    if (at + quadBytes == high) {
#pragma unroll
        for (uint32_t b = 0; b < 3; ++b)
            if (b < count0)
                bytes[4 * Columns + b] = static_cast<uint8_t>(shifted[Columns] >> 8 * b);
    }
}

// Brings the quads of a round to `stage`, one pair of columns after the other. In step s, the quad
// of lane l is at l ^ s, to avoid bank conflicts. A loader keeps in kept[0] and kept[1] its first
// quad of the next round (place and record), in kept[2] the record of its next quad, and from
// kept[3] on the words that loadQuad has loaded for that quad.
template <uint32_t Columns>
__device__ void loadRound(const TileAtWork& tile, uint4* stage, uint32_t thread, bool areJoined,
                          uint32_t period, uint32_t (&kept)[kKept])
{
    constexpr uint32_t groups = groupsOf(Columns), steps = stepsOf(groups),
                       rowsAtOnce = loadersOf(groups) / steps;
    static_assert(kKept >= 3 + 2 * Columns && 2 * rowsAtOnce >= kWarpSize,
                  "kept words; at most two quads");
    const uint32_t step = thread % steps;
// The loop is not unrolled: warps of different roles run different code at the same time, so the
// code should be short.
#pragma unroll 1
    for (uint32_t l = thread / steps; l < kWarpSize; l += rowsAtOnce) {
        uint32_t pixels[groups][4];
        quadFrom<Columns>(static_cast<int32_t>(kept[2]), areJoined, kept + 3, pixels);
#pragma unroll
        for (uint32_t g = 0; g < groups; ++g) {
            const uint32_t* quad = pixels[g];
            uint4* to = stage + (2 * g * steps + step) * kWarpSize + (l ^ step);
            to[0] = make_uint4(quad[0] & kEven, quad[1] & kEven, quad[2] & kEven, quad[3] & kEven);
            to[steps * kWarpSize] =
                make_uint4(__byte_perm(quad[0], 0, 0x4341), __byte_perm(quad[1], 0, 0x4341),
                           __byte_perm(quad[2], 0, 0x4341), __byte_perm(quad[3], 0, 0x4341));
        }
        Quad next = {kept[0], kept[1]};
        if (l + rowsAtOnce < kWarpSize) {
            next = quadBelow(tile, next, rowsAtOnce, period);
        } else {
            next = quadAfter(tile, next, steps, period);
            kept[0] = next.place;
            kept[1] = next.record;
        }
        kept[2] = next.record;
        loadQuad<Columns>(tile, static_cast<int32_t>(kept[2]), areJoined, kept + 3);
    }
}
// Stores the quads of a round as records. `quad` is the thread's first quad of the round; `last`
// has the last words of the thread's quads in the round before.
template <uint32_t Columns>
__device__ void storeRound(const TileAtWork& tile, const uint4* stage, uint32_t thread,
                           uint32_t period, Quad quad, uint32_t* last)
{
    constexpr uint32_t groups = groupsOf(Columns), steps = stepsOf(groups),
                       rowsAtOnce = kStorers / steps;
    constexpr uint32_t quadsOfThread = kWarpSize / rowsAtOnce;
    const uint32_t step = thread % steps, row = thread / steps, lane = thread % kWarpSize;
    const int32_t laneBefore =
        static_cast<int32_t>((lane & ~(steps - 1)) | ((lane - 1) & (steps - 1)));
    const uint4* from = stage + step * kWarpSize;
// The loop is not unrolled: warps of different roles run different code at the same time, so the
// code should be short.
#pragma unroll 1
    for (uint32_t l = row; l < kWarpSize; l += rowsAtOnce) {
        uint32_t pixels[groups][4], words[Columns];
#pragma unroll
        for (uint32_t g = 0; g < groups; ++g) {
            const uint4 even = from[2 * g * steps * kWarpSize + (l ^ step)];
            const uint4 odd = from[(2 * g + 1) * steps * kWarpSize + (l ^ step)];
            pixels[g][0] = __byte_perm(even.x, odd.x, 0x6240);
            pixels[g][1] = __byte_perm(even.y, odd.y, 0x6240);
            pixels[g][2] = __byte_perm(even.z, odd.z, 0x6240);
            pixels[g][3] = __byte_perm(even.w, odd.w, 0x6240);
        }
        recordsFrom<Columns>(tile, pixels, words);
        const uint32_t given = step == steps - 1 ? last[0] : words[Columns - 1];
        const uint32_t before = __shfl_sync(kAllLanes, given, laneBefore);
#pragma unroll
        for (uint32_t h = 0; h + 1 < quadsOfThread; ++h)
            last[h] = last[h + 1];
        last[quadsOfThread - 1] = words[Columns - 1];
        storeQuad<Columns>(tile, quad, words, before);
        quad = quadBelow(tile, quad, rowsAtOnce, period);
    }
}
// Calls loadRound for the section's number of columns.
__device__ void loadRound(const TileAtWork& tile, uint4* stage, uint32_t thread, bool areJoined,
                          uint32_t period, uint32_t (&kept)[kKept])
{
    if (tile.stride == 3) {
        loadRound<3>(tile, stage, thread, areJoined, period, kept);
    } else if (tile.stride == 4) {
        loadRound<4>(tile, stage, thread, areJoined, period, kept);
    } else {
        loadRound<8>(tile, stage, thread, areJoined, period, kept);
    }
}
// Loads the words of a loader's first quad.
__device__ void loadFirst(const TileAtWork& tile, bool areJoined, uint32_t (&kept)[kKept])
{
    const int32_t record = static_cast<int32_t>(kept[1]);
    kept[2] = kept[1];
    if (tile.stride == 3) {
        loadQuad<3, false>(tile, record, areJoined, kept + 3);
    } else if (tile.stride == 4) {
        loadQuad<4, false>(tile, record, areJoined, kept + 3);
    } else {
        loadQuad<8, false>(tile, record, areJoined, kept + 3);
    }
}
__device__ void storeRound(const TileAtWork& tile, const uint4* stage, uint32_t thread,
                           uint32_t period, Quad quad, uint32_t* last)
{
    if (tile.stride == 3) {
        storeRound<3>(tile, stage, thread, period, quad, last);
    } else if (tile.stride == 4) {
        storeRound<4>(tile, stage, thread, period, quad, last);
    } else {
        storeRound<8>(tile, stage, thread, period, quad, last);
    }
}

// The whole block undoes the section, for which arePixels() must be true.
__device__ void undoPixels(const TileAtWork& tile)
{
    const uint32_t groups = groupsOf(tile.stride), steps = stepsOf(groups);
    constexpr uint32_t roundQuads = 2 * 8 * kWarpSize;
    static_assert(3 * roundQuads * sizeof(uint4) <= sizeof(shared.stage), "three rounds of quads");
    const uint32_t quads = quadsOfRow(tile),
                   rowCount = (tile.first + tile.count + tile.width - 1) / tile.width;
    const uint32_t bands = (rowCount + kWarpSize - 1) / kWarpSize;
    // A lane does its next row `period` steps later. If a row has more quads than the warp has
    // lanes, lane 0 needs what the last lane has done two or more steps before, and reads it from
    // `above`.
    const bool isNarrow = quads <= kWarpSize;
    const uint32_t period = max(quads, kWarpSize);
    const uint32_t rounds = (bands * period + kWarpSize - 1 + steps - 1) / steps;
    uint4* stage = reinterpret_cast<uint4*>(shared.stage);
    uint4* above = reinterpret_cast<uint4*>(shared.rows);
    // Values above the image are 0, which is stored as the bias of signed values.
    for (uint32_t k = threadIdx.x; k < quads * 2 * groups; k += kThreads) {
        const uint32_t pair = k / quads, bias = halfOf(shared.pixelBytes[pair / 2].bias, pair % 2);
        above[k] = make_uint4(bias, bias, bias, bias);
    }
    const bool areJoined = uniform(arePixelsJoined(tile)) != 0;
    // Roles rotate from block to block, so that the waves of all blocks on a processor are spread
    // over its schedulers.
    const uint32_t role = uniform((warpIndex() + shared.firstRole) % kWarps);
    const uint32_t loaderWarps = loadersOf(groups) / kWarpSize;
    const uint32_t firstStorer = kWarps == 8 ? 2 * groups : kStorers / kWarpSize;
    const bool isWave = role < 2 * groups, isLoader = role >= kWarps - loaderWarps;
    const bool isStorer = role >= firstStorer && role < firstStorer + kStorers / kWarpSize;
    const uint32_t thread =
        role % (isLoader ? loaderWarps : kStorers / kWarpSize) * kWarpSize + laneIndex();
    static_assert(2 * 2 + kStorers / kWarpSize + loadersOf(2) / kWarpSize <= kWarps,
                  "roles of eight columns");
    // Loaders and storers keep the first quad of their next round. Loaders also keep the words that
    // they have loaded, and storers the last word of each of their quads.
    uint32_t kept[kKept] = {};
    if (isWave) {
        beginWave(role, kept);
    } else if (isLoader || isStorer) {
        const Quad quad = firstQuad(tile, thread / steps, thread % steps, period);
        kept[0] = quad.place;
        kept[1] = quad.record;
        if (isLoader) loadFirst(tile, areJoined, kept);
    }
    uint32_t part = 0;
#pragma unroll 1
    for (uint32_t round = 0; round < rounds + 2; ++round) {
        const uint32_t partBefore = part == 0 ? 2 : part - 1, partAfter = part == 2 ? 0 : part + 1;
        if (isLoader) {
            if (round < rounds)
                loadRound(tile, stage + part * roundQuads, thread, areJoined, period, kept);
        } else if (isWave) {
            uint4* own = stage + partBefore * roundQuads + role * steps * kWarpSize;
            if (round - 1 < rounds)
                waveRound(tile, isNarrow, steps, own, above + role * quads, role, period, kept);
        } else if (isStorer) {
            if (round >= 2) {
                const Quad quad = {kept[0], kept[1]}, next = quadAfter(tile, quad, steps, period);
                storeRound(tile, stage + partAfter * roundQuads, thread, period, quad, kept + 2);
                kept[0] = next.place;
                kept[1] = next.record;
            }
        }
        part = partAfter;
        __syncthreads();
    }
    // Bytes at the end that do not fill a record are copied.
    for (uint32_t k = tile.count * tile.stride + threadIdx.x; k < shared.section.size;
         k += kThreads)
        tile.target[tile.position + k] = tile.planes[k];
}
} // namespace
} // namespace sluice
