// SPDX-License-Identifier: MIT OR Apache-2.0
// The columns of a section of a filter. The whole block works on one section of one tile. This file
// reads the section's description, finds where its columns stand, and loads and stores their
// values.
//
// Words of the filter_*.cuh files (docs/format.md, 8):
// - section: a piece of the tile that is filtered by itself: `count` records of `stride` bytes, and
//   perhaps a few bytes too few for a record.
// - column: the integer of 1, 2 or 4 bytes that stands at one place in each record; integer i is
//   that of record i. `value` is the integer itself, `residual` what the filter has stored for it:
//   its difference from a prediction.
// - base: another column, whose value is added to a column's value.
// - row: `width` records, if the records are an image. The section's first record has number
//   `first` in its row.
// - plane: neighbouring bytes, one of each record: byte b of a column's integers. In scratch every
//   column is a plane for each of its bytes.
// - group: columns whose residuals stand side by side in the filtered tile, record by record.
// - wave: a column that is predicted from the row above, and undone by a wavefront
//   (filter_wavefront.cuh).
//
// shaders/lib/filter_columns.glsl keeps offsets, and a bit that tells whether they are in the tile
// or in scratch, where this file keeps pointers; it takes bytes out of words, because shaders read
// memory as words.
//
// These files are compiled for one size of blocks, SLUICE_FILTER_THREADS, which the file that
// includes them defines before. What they declare is local to that file.
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
// word for each run of columns; kStride + 4 is enough.
constexpr uint32_t kWindow = kStride + 4;
constexpr uint32_t kPerLane = 16;      // values that a lane undoes in one step of prefix sums
constexpr uint32_t kStageWords = 6144; // words for the values of a round of wavefronts or pixels
constexpr uint32_t kRowWords = 2048;   // words for the rows that wavefronts hand to the next band
// In sums down columns, this many rows are loaded before the first is added.
constexpr uint32_t kRowsAhead = 8;

// An entry of the list of tiles: SluiceFilterTile.
struct FilterTile {
    uint64_t source, target;
    uint32_t size, descriptionOffset, descriptionSize, statusIndex;
};

// This says where a byte of the records comes from. For record i it is at[i * step], and base[i *
// baseStep] & baseMask is added to it. Without a base, `base` is `at` and baseMask is 0.
struct ByteSource {
    const uint8_t *at, *base;
    uint32_t step, baseStep, baseMask;
};

// A column of pixels (filter_pixels.cuh): its residuals begin `lead` bytes behind `words`, and
// `last` is the last word that has any.
struct alignas(16) PixelColumn {
    const uint32_t* words;
    int32_t lead, last;
};
// Four columns of pixels that share a word, described by masks of its bytes.
struct PixelBytes {
    // Columns that are predicted from the row above, by the average, or by the gradient: ones in
    // their bytes. [0] has bytes 0 and 2 of the word in 16 bits each, [1] has bytes 1 and 3.
    uint32_t predicted[2], average[2], gradient[2];
    // The following masks have the bytes in the order of the word.
    uint32_t zigzag;
    // The sign bits of the columns whose values are compared as signed numbers. Exclusive or with
    // them makes a comparison of unsigned numbers do.
    uint32_t bias;
    uint32_t based; // the columns that have a base
    uint32_t base;  // a selector for __byte_perm that brings each column its base
};

// The shared memory of a block. `window` has the description's words from the section's head on.
struct FilterShared {
    uint32_t window[kWindow];
    FilterReading reading;
    FilterSectionWords section; // its size is never SLUICE_FILTER_REST
    // Each column's word, which is explained in kernels/filter_description.h.
    uint32_t column[kStride];
    uint32_t group[kStride];    // the byte of the record at which the column's group begins
    uint32_t groupEnd[kStride]; // [b]: where the group ends that begins at byte b of the record
    // Byte b of residual i is at from + i * step + b * byteStep of the planes.
    uint32_t from[kStride];
    uint32_t step[kStride], byteStep[kStride];
    uint32_t values[kStride];    // the byte of scratch at which its planes begin, planeBytes apart
    uint32_t predicted[kStride]; // the columns with a prediction
    uint32_t waves[kStride];     // the waves that undoWaves undoes, in any order
    uint32_t waveCount;
    ByteSource bytes[kStride]; // where each byte of a record comes from
    uint32_t predictedCount;
    uint32_t byteWaves;             // how many waves of bytes there are
    uint32_t ups[kStride], upCount; // columns with UP that are wider than a byte
    uint32_t packets;               // how many run-length packets the section has
    uint32_t next;                  // the next tile that the block takes
    uint32_t status;
    uint32_t sums[2][kWarps];
    uint32_t partSums[kWarps]; // for the residuals of a part of a column (partOfLefts)
    PixelColumn pixelColumns[8];
    PixelBytes pixelBytes[2];
    alignas(16) uint32_t rows[kRowWords];
    uint32_t firstRole; // the role of the block's first warp, in pixels
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
    // The section's residuals; the headers of packets come before them.
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

// The numbers that addColumn counts while a section is read.
struct Columns {
    uint32_t window; // the description's word that shared.window begins with
    uint32_t predicted, ups, byteWaves;
};

// These two are called by kernels/filter_description.h.
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

// Returns whether the column's base breaks a rule; each thread tests one column.
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
// Returns whether waves of bytes are undone by quads (undoByteWave). Where many columns are undone
// at once, each warp has room for short rows only.
__device__ bool haveRoomForRows(const TileAtWork& tile)
{
    const uint32_t room = shared.section.waveBytes <= SLUICE_FILTER_STEP_BYTES
                              ? kRowWords
                              : kRowWords / SLUICE_FILTER_STEP_BYTES;
    // If rows do not begin at words, quads are stored byte by byte. In that case a wave of values
    // is faster, if there are enough warps for several of them to share a column.
    return tile.width <= 4 * room && tile.width >= SLUICE_FILTER_QUAD_WIDTH &&
           tile.width < tile.count &&
           (tile.width % 4 == 0 || 4 * shared.section.waveBytes > kWarps);
}
// isWaveOfBytes returns whether the column is a wave that undoByteWave undoes; isWaveOfValues
// returns whether it is one that undoWave undoes.
__device__ bool isWaveOfBytes(const TileAtWork& tile, uint32_t column)
{
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && bytesOf(column) == 1 &&
           haveRoomForRows(tile);
}
__device__ bool isWaveOfValues(const TileAtWork& tile, uint32_t column)
{
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && !isWaveOfBytes(tile, column);
}
// Returns whether gatherResiduals copies the column's residuals to scratch, since they do not stand
// side by side.
__device__ bool isGathered(const TileAtWork& tile, uint32_t column)
{
    return predictorOf(column) != kNone && bytesOf(column) == 1 && shared.step[column] != 1 &&
           (SLUICE_PREDICTOR_IS_SUM(predictorOf(column)) || isWaveOfBytes(tile, column));
}

// Returns whether the column's values, without their base, differ from the bytes in the planes.
__device__ bool isChanged(uint32_t column)
{
    const uint32_t word = shared.column[column];
    return (word & (kRotated | kBlock)) != 0 ||
           ((word & kZigzag) != 0 && predictorOf(column) == kNone);
}
// Returns whether the column gets its final form in scratch: if it is changed, or if adding its
// base carries from byte to byte or needs the value of a changed column.
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

// Finds where byte b of a column's value is for record 0, and how far apart records are.
__device__ void placeByte(const TileAtWork& tile, uint32_t column, uint32_t b, const uint8_t*& at,
                          uint32_t& step)
{
    const bool inScratch = predictorOf(column) != kNone || needsFinal(column);
    at = inScratch ? tile.scratch + shared.values[column] + b * tile.planeBytes
                   : tile.planes + shared.from[column] + b * shared.byteStep[column];
    step = inScratch ? 1 : shared.step[column];
}

// Finds the places of all columns and of all bytes of a record; each thread takes one column.
__device__ void placeColumns(TileAtWork& tile)
{
    const uint32_t c = threadIdx.x, columns = shared.section.columns;
    uint32_t area = 0;
    tile.planeBytes = (tile.count + 3 + kPerLane - 1) / kPerLane * kPerLane;
    if (c < columns) {
        uint32_t word = shared.column[c];
        // In a single row, the median and the gradient equal the value to the left, so the column
        // is undone as LEFT, which takes prefix sums and no wavefront.
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
    // With a width that is a multiple of 4, rows of a wave of bytes shall begin at words of
    // scratch.
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

// These load and store value i of a column in scratch. Columns with a prediction have their values
// there.
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
// Stores byte b of the values of kPerLane records, from record i on, which is a multiple of
// kPerLane.
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
