// SPDX-License-Identifier: MIT OR Apache-2.0
// The columns of a section of a filter. The whole block works on one section of one tile. This file
// reads the section's description, finds the addresses of its columns, and loads and stores their
// values.
//
// Words of the filter_*.cuh files (docs/format.md, 8):
// - section: a piece of the tile that is filtered by itself: `count` records of `stride` bytes,
//   followed perhaps by a few bytes that do not fill a record.
// - column: the integers of 1, 2 or 4 bytes that stand at the same offset of each record; integer i
//   is the one in record i. `value` is the integer itself, `residual` what the filter has stored
//   for it: its difference from a prediction.
// - base: another column, whose value is added to the value of a column.
// - row: `width` records, if the records are the pixels of an image. The section's first record has
//   index `first` in its row.
// - plane: neighbouring bytes, one from each record: byte b of all integers of a column. In
//   scratch, a column has one plane for each byte of its integers.
// - group: columns whose residuals stand side by side in the filtered tile, record by record.
// - wave: a column that is predicted from the row above, and undone by a wavefront
//   (filter_wavefront.cuh).
//
// shaders/lib/filter_columns.glsl keeps offsets where this file keeps pointers, and for each a bit
// that tells whether it is in the tile or in scratch. Shaders read memory as words, and take bytes
// out of these.
//
// The file that includes these files must define SLUICE_FILTER_THREADS first, the number of threads
// of a block. All declarations are local to that file.
#pragma once

#include "cuda/tuning.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/filter_bytes.cuh"
#include "cuda/lib/region.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = SLUICE_FILTER_THREADS, kWarps = kThreads / kWarpSize;
constexpr uint32_t kStride = SLUICE_FILTER_MAX_STRIDE;
// The most words that a valid section has in the description: its head, two words about rows, and a
// word for each run of columns. kStride + 4 words are enough.
constexpr uint32_t kWindow = kStride + 4;
constexpr uint32_t kPerLane = 16;      // values that a lane takes in one step of prefix sums
constexpr uint32_t kStageWords = 6144; // words for the values of a round of wavefronts or pixels
constexpr uint32_t kRowWords = 2048;   // words for the rows that wavefronts hand to the next band
// Sums down columns load this many rows before they add the first one.
constexpr uint32_t kRowsAhead = 8;

// An entry of the list of tiles: SluiceFilterTile.
struct FilterTile {
    uint64_t source, target;
    uint32_t size, descriptionOffset, descriptionSize, statusIndex;
};

// Tells how to compute a byte of the records. In record i it is at[i * step] plus (base[i *
// baseStep] & baseMask), modulo 256. Without a base, `base` is `at` and baseMask is 0.
struct ByteSource {
    const uint8_t *at, *base;
    uint32_t step, baseStep, baseMask;
};

// A column of pixels (filter_pixels.cuh): its residuals begin `lead` bytes behind `words`. `last`
// is the index of the last word that has residuals.
struct alignas(16) PixelColumn {
    const uint32_t* words;
    int32_t lead, last;
};
// Masks that describe four columns of pixels, which share a word.
struct PixelBytes {
    // `predicted` has ones in the bytes of columns that are predicted from the row above, `average`
    // and `gradient` in those with these predictors. [0] has bytes 0 and 2 of the word, in 16 bits
    // each, [1] has bytes 1 and 3.
    uint32_t predicted[2], average[2], gradient[2];
    // The following masks have a byte for each column, in the order of the columns in the word.
    // `zigzag` has ones for predicted columns whose residuals have zigzag form.
    uint32_t zigzag;
    // The sign bits of the columns whose values are compared as signed numbers. XOR with these bits
    // turns a signed comparison into an unsigned one.
    uint32_t bias;
    uint32_t based; // the columns that have a base
    uint32_t base;  // selector for __byte_perm that fetches the base of each column
};

// The shared memory of a block. `window` has the words of the description that begin with the
// section's head.
struct FilterShared {
    uint32_t window[kWindow];
    FilterReading reading;
    FilterSectionWords section; // its size is never SLUICE_FILTER_REST
    // A word with the offset, size, predictor, flags and base of each column
    // (kernels/filter_description.h).
    uint32_t column[kStride];
    uint32_t group[kStride];    // the byte of the record at which the column's group begins
    uint32_t groupEnd[kStride]; // [b]: where the group ends that begins at byte b of the record
    // Byte b of a column's residual i is at byte from + i * step + b * byteStep of
    // TileAtWork::planes.
    uint32_t from[kStride];
    uint32_t step[kStride], byteStep[kStride];
    uint32_t values[kStride]; // offset in scratch of the column's planes, each of planeBytes bytes
    uint32_t predicted[kStride]; // the columns with a prediction
    uint32_t waves[kStride];     // the columns that undoWaves undoes, in any order
    uint32_t waveCount;
    ByteSource bytes[kStride]; // where each byte of a record comes from
    uint32_t predictedCount;
    uint32_t byteWaves;             // how many columns of bytes have a wavefront
    uint32_t ups[kStride], upCount; // columns with UP that are wider than a byte
    uint32_t packets;               // how many run-length packets the section has
    uint32_t next;                  // the next tile that the block takes
    uint32_t status;
    uint32_t sums[2][kWarps];
    uint32_t partSums[kWarps]; // the sums that partOfLefts exchanges between warps
    PixelColumn pixelColumns[8];
    PixelBytes pixelBytes[2];
    alignas(16) uint32_t rows[kRowWords];
    uint32_t firstRole; // role of the block's first warp (filter_pixels.cuh)
    alignas(16) uint32_t stage[kStageWords];
};

__shared__ FilterShared shared;

// The tile on which the block works. Its members are the same in all threads.
struct TileAtWork {
    const uint32_t* description;
    uint32_t descriptionWords;
    const uint8_t* source;
    uint8_t *target, *scratch;
    uint32_t tileSize;
    uint32_t position = 0; // the byte of the tile at which the section begins
    // The section's residuals. If the section has packets, their headers come before the residuals.
    const uint8_t* planes = nullptr;
    uint32_t count = 0, stride = 0, width = 0, first = 0;
    uint32_t planeBytes = 0; // bytes that a plane takes in scratch
    bool anyBase = false, anyFinal = false;
    uint32_t sumsTurn = 0; // the half of shared.sums that the next sum uses
};

// --- The description: all threads load its words, one reads their meaning ---

__device__ void loadWindow(const TileAtWork& tile)
{
    const FilterReading& reading = shared.reading;
    for (uint32_t k = threadIdx.x; k < kWindow; k += kThreads)
        if (reading.next + k < reading.words) shared.window[k] = tile.description[reading.next + k];
}

// The counts that addColumn keeps while a section is read.
struct Columns {
    uint32_t window; // index in the description of the first word of shared.window
    uint32_t predicted, ups, byteWaves;
};

// kernels/filter_description.h calls the next two functions: descriptionWord reads a word of the
// description, addColumn enters a column in the lists in shared memory.
__device__ uint32_t descriptionWord(const Columns& columns, uint32_t at)
{
    return shared.window[min(at - columns.window, kWindow - 1)];
}

__device__ void addColumn(Columns& columns, uint32_t column, uint32_t word, uint32_t group)
{
    const uint32_t predictor = filterWordPredictor(word), bytes = filterWordBytes(word);
    shared.column[column] = word;
    shared.group[column] = group;
    shared.groupEnd[group] = (word & 0xff) + bytes;
    if (predictor != kNone) shared.predicted[columns.predicted++] = column;
    if (predictor == kUp && bytes != 1) shared.ups[columns.ups++] = column;
    if (SLUICE_PREDICTOR_IS_WAVE(predictor) && bytes == 1) ++columns.byteWaves;
}

} // namespace
} // namespace sluice

#include "kernels/filter_description.h"

namespace sluice {
namespace {

// One thread reads the next section into shared.section and the columns' arrays.
__device__ void readSection(const TileAtWork& tile)
{
    FilterReading reading = shared.reading;
    Columns columns = {reading.next, 0, 0, 0};
    const uint32_t left = tile.tileSize - tile.position;
    FilterSectionWords section = readSectionWords(left, columns, reading);
    if (section.size == SLUICE_FILTER_REST) section.size = left;
    countSteps(section, section.size, reading);
    endSections(reading);
    if (reading.fault != SLUICE_FILTER_GOOD) shared.status = SLUICE_ST_BAD_FILTER;
    shared.reading = reading;
    shared.section = section;
    shared.predictedCount = columns.predicted;
    shared.byteWaves = columns.byteWaves;
    shared.upCount = columns.ups;
    shared.waveCount = 0;
}

// Returns true if the column's base breaks a rule. Each thread tests one column.
__device__ bool hasBadBase(uint32_t column)
{
    const uint32_t word = shared.column[column], columns = shared.section.columns;
    return isBaseBad(word, shared.column[baseColumn(word, columns)], columns);
}

// --- Columns and values ---

__device__ uint32_t bytesOf(uint32_t column) { return filterWordBytes(shared.column[column]); }
__device__ uint32_t predictorOf(uint32_t column)
{
    return filterWordPredictor(shared.column[column]);
}
__device__ uint32_t baseOf(uint32_t column) { return filterWordBase(shared.column[column]); }
// Returns true if undoByteWave undoes the columns of bytes with a wavefront, four bytes per step.
// If many columns are undone at the same time, each warp has room for short rows only.
__device__ bool haveRoomForRows(const TileAtWork& tile)
{
    const uint32_t room = shared.section.waveBytes <= SLUICE_FILTER_STEP_BYTES
                              ? kRowWords
                              : kRowWords / SLUICE_FILTER_STEP_BYTES;
    // If rows do not begin at words, quads are stored byte by byte. In that case undoWave is
    // faster, if there are enough warps for several of them to share a column.
    return tile.width <= 4 * room && tile.width >= SLUICE_FILTER_QUAD_WIDTH &&
           tile.width < tile.count &&
           (tile.width % 4 == 0 || 4 * shared.section.waveBytes > kWarps);
}
// isWaveOfBytes returns true if undoByteWave undoes the column, isWaveOfValues if undoWave does.
__device__ bool isWaveOfBytes(const TileAtWork& tile, uint32_t column)
{
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && bytesOf(column) == 1 &&
           haveRoomForRows(tile);
}
__device__ bool isWaveOfValues(const TileAtWork& tile, uint32_t column)
{
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && !isWaveOfBytes(tile, column);
}
// Returns true if gatherResiduals must copy the column's residuals to scratch, because they are not
// neighbouring bytes.
__device__ bool isGathered(const TileAtWork& tile, uint32_t column)
{
    return predictorOf(column) != kNone && bytesOf(column) == 1 && shared.step[column] != 1 &&
           (SLUICE_PREDICTOR_IS_SUM(predictorOf(column)) || isWaveOfBytes(tile, column));
}

// Returns true if more than a prediction and a base changes the column's values: a rotation, the
// mapping of block columns, or zigzag without a prediction.
__device__ bool isChanged(uint32_t column)
{
    const uint32_t word = shared.column[column];
    return (word & (kRotated | kBlock)) != 0 ||
           ((word & kZigzag) != 0 && predictorOf(column) == kNone);
}
// Returns true if finishColumns brings the column to its final form in scratch. It does so if
// isChanged() is true, if adding the column's base carries from byte to byte, or if the base is a
// changed column.
__device__ bool needsFinal(uint32_t column)
{
    const uint32_t base = baseOf(column);
    return isChanged(column) || (base != 0 && (bytesOf(column) != 1 || isChanged(base - 1)));
}

// Returns the sum of `value` over the threads before this one; `total` is the sum over all threads.
__device__ uint32_t exclusiveSum(TileAtWork& tile, uint32_t value, uint32_t& total)
{
    const uint32_t inclusive = warpInclusiveSum(value);
    const uint32_t warpTotal = __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
    const WarpPrefix prefix = blockExclusiveSumInTurn(warpTotal, shared.sums[tile.sumsTurn]);
    tile.sumsTurn ^= 1;
    total = prefix.total;
    return prefix.before + inclusive - value;
}

// Finds byte b of a column's value: its address for record 0, and its distance between records.
__device__ void placeByte(const TileAtWork& tile, uint32_t column, uint32_t b, const uint8_t*& at,
                          uint32_t& step)
{
    const bool inScratch = predictorOf(column) != kNone || needsFinal(column);
    at = inScratch ? tile.scratch + shared.values[column] + b * tile.planeBytes
                   : tile.planes + shared.from[column] + b * shared.byteStep[column];
    step = inScratch ? 1 : shared.step[column];
}

// Finds the addresses of all columns and of all bytes of a record; each thread takes one column.
__device__ void placeColumns(TileAtWork& tile)
{
    const uint32_t c = threadIdx.x, columns = shared.section.columns;
    uint32_t area = 0;
    tile.planeBytes = (tile.count + 3 + kPerLane - 1) / kPerLane * kPerLane;
    if (c < columns) {
        uint32_t word = shared.column[c];
        // In a single row, the median and the gradient equal the value to the left. The column is
        // then undone as LEFT, by prefix sums, which are faster than a wavefront.
        if (tile.first + tile.count <= tile.width && SLUICE_PREDICTOR_IS_WAVE(predictorOf(c)) &&
            predictorOf(c) != kAverage) {
            word = (word & ~(0xffu << 16)) | SLUICE_PREDICTOR_LEFT << 16;
            // Other threads read this word only after the next barrier.
            shared.column[c] = word;
        }
        const uint32_t place = word & 0xff, group = shared.group[c],
                       groupBytes = shared.groupEnd[group] - group;
        const bool split = (word & kSplit) != 0;
        shared.from[c] = split ? place * tile.count : group * tile.count + place - group;
        shared.step[c] = split ? 1 : groupBytes;
        shared.byteStep[c] = split ? tile.count : 1;
        area = tile.planeBytes * bytesOf(c);
    }
    uint32_t total;
    const uint32_t values = exclusiveSum(tile, area, total);
    // If the width is a multiple of 4, this offset makes all rows of a wave of bytes begin at words
    // of scratch.
    if (c < columns) shared.values[c] = values + (isWaveOfBytes(tile, c) ? tile.first & 3 : 0);
    tile.anyFinal = __syncthreads_or(c < columns && needsFinal(c)) != 0;
    tile.anyBase = __syncthreads_or(c < columns && baseOf(c) != 0 && !needsFinal(c)) != 0;
    if (c < columns) {
        if (isWaveOfValues(tile, c)) shared.waves[atomicAdd(&shared.waveCount, 1)] = c;
        const uint32_t base = baseOf(c);
        for (uint32_t b = 0; b < bytesOf(c); ++b) {
            ByteSource byte = {};
            placeByte(tile, c, b, byte.at, byte.step);
            byte.base = byte.at;
            byte.baseStep = byte.step;
            if (base != 0 && !needsFinal(c)) {
                placeByte(tile, base - 1, b, byte.base, byte.baseStep);
                byte.baseMask = ~0u;
            }
            shared.bytes[(shared.column[c] & 0xff) + b] = byte;
        }
    }
    __syncthreads();
}

// Returns residual i of a column.
__device__ uint32_t residual(const TileAtWork& tile, uint32_t column, uint32_t i)
{
    const uint32_t bytes = bytesOf(column), byteStep = shared.byteStep[column];
    const uint8_t* at = tile.planes + shared.from[column] + i * shared.step[column];
    uint32_t value = at[0];
    if (bytes >= 2) value |= static_cast<uint32_t>(at[byteStep]) << 8;
    if (bytes == 4)
        value |= static_cast<uint32_t>(at[2 * byteStep]) << 16 |
                 static_cast<uint32_t>(at[3 * byteStep]) << 24;
    return (shared.column[column] & kZigzag) != 0 ? filterUnzigzag(value, maskOf(bytes)) : value;
}

// loadValue and storeValue load and store value i of a column in scratch, where columns with a
// prediction have their values.
__device__ uint32_t loadValue(const TileAtWork& tile, uint32_t column, uint32_t i)
{
    const uint8_t* from = tile.scratch + shared.values[column] + i;
    uint32_t value = 0;
    for (uint32_t b = 0; b < bytesOf(column); ++b)
        value |= static_cast<uint32_t>(from[b * tile.planeBytes]) << 8 * b;
    return value;
}
__device__ void storeValue(const TileAtWork& tile, uint32_t column, uint32_t i, uint32_t value)
{
    uint8_t* to = tile.scratch + shared.values[column] + i;
    for (uint32_t b = 0; b < bytesOf(column); ++b)
        to[b * tile.planeBytes] = static_cast<uint8_t>(value >> 8 * b);
}
// Stores byte b of the values of kPerLane records, from record i on. i is a multiple of kPerLane.
__device__ void storeBytes(const TileAtWork& tile, uint32_t column, uint32_t b, uint32_t i,
                           const uint32_t (&values)[kPerLane])
{
    uint32_t packed[4];
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k)
        packed[k] = packBytes(values[4 * k] >> 8 * b, values[4 * k + 1] >> 8 * b,
                              values[4 * k + 2] >> 8 * b, values[4 * k + 3] >> 8 * b);
    *reinterpret_cast<uint4*>(tile.scratch + shared.values[column] + b * tile.planeBytes + i) =
        make_uint4(packed[0], packed[1], packed[2], packed[3]);
}

} // namespace
} // namespace sluice
