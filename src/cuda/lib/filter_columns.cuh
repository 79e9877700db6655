// SPDX-License-Identifier: MIT OR Apache-2.0
// The columns of a section of filters: what its description says of them, where they stand in the
// tile, in scratch and in a record, and their values. The whole block is at one section.
// shaders/lib/filter_columns.glsl keeps offsets and a bit that tells tile from scratch where this
// keeps pointers, and takes bytes out of words, since shaders read memory as words.
//
// A file that includes the parts of the undoing is compiled for one size of blocks, of which it
// defines SLUICE_FILTER_THREADS before; what they declare is its own.
#pragma once

#include "cuda/tuning.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/filter_bytes.cuh"
#include "cuda/lib/region.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = SLUICE_FILTER_THREADS, kWarps = kThreads / kWarpSize;
constexpr uint32_t kStride = SLUICE_FILTER_MAX_STRIDE;
constexpr uint32_t kWindow = kStride + 4; // words that a good section takes: head, rows, runs
constexpr uint32_t kPerLane = 16;         // values of a lane in a step of a scan
constexpr uint32_t kStageWords = 6144;    // what wavefronts and pixels load and store in a round
constexpr uint32_t kRowWords = 2048;      // the rows that wavefronts pass to the next band
constexpr uint32_t kRowsAhead = 8;        // rows whose loads are under way in sums down columns

// An entry of the list: SluiceFilterTile.
struct FilterTile {
    uint64_t source, target;
    uint32_t size, descriptionOffset, descriptionSize, statusIndex;
};

// Where a byte of record i is, at + i * step, and what is added to it, base + i * baseStep. Without
// a base both are the same and baseMask is 0.
struct ByteSource {
    const uint8_t *at, *base;
    uint32_t step, baseStep, baseMask;
};

// Where the residuals of a column of pixels begin, in bytes from a word, and their last word.
struct alignas(16) PixelColumn {
    const uint32_t* words;
    int32_t lead, last;
};
// Four columns of pixels, which stand in a word, as masks of its bytes.
struct PixelBytes {
    uint32_t predicted[2], average[2], gradient[2]; // bytes 0 and 2, then 1 and 3, as halves
    uint32_t zigzag;
    uint32_t bias;  // the sign bits of those whose values count as signed
    uint32_t based; // those with a base
    uint32_t base;  // a selector of bytes: where the bases stand
};

struct FilterShared {
    uint32_t window[kWindow];
    FilterReading reading;
    FilterSectionWords section; // its size is never SLUICE_FILTER_REST
    uint32_t column[kStride];   // the columns' words: kernels/filter_description.h
    uint32_t group[kStride];    // where its group begins in the record
    uint32_t groupEnd[kStride]; // index: where a group begins; value: where it ends
    uint32_t from[kStride];     // byte b of value i in the planes: from + i * step + b * byteStep
    uint32_t step[kStride], byteStep[kStride];
    uint32_t values[kStride];    // where its values are in scratch: a plane for each byte
    uint32_t predicted[kStride]; // the columns with a prediction
    uint32_t waves[kStride];     // those of them that undoWaves undoes, in any order
    uint32_t waveCount;
    ByteSource bytes[kStride]; // the sources of a record's bytes
    uint32_t predictedCount;
    uint32_t byteWaves;             // columns of bytes with a wavefront
    uint32_t ups[kStride], upCount; // columns of more than a byte with UP
    uint32_t packets;               // how many there are
    uint32_t next;                  // the block's next tile
    uint32_t status;
    uint32_t sums[2][kWarps];
    uint32_t partSums[kWarps]; // of the residuals of a column's parts
    PixelColumn pixelColumns[8];
    PixelBytes pixelBytes[2];
    alignas(16) uint32_t rows[kRowWords];
    uint32_t firstRole; // of the block's warps, in pixels
    alignas(16) uint32_t stage[kStageWords];
};

__shared__ FilterShared shared;

// A tile at work; its members are the same in all threads.
struct TileAtWork {
    const uint32_t* description;
    uint32_t descriptionWords;
    const uint8_t* source;
    uint8_t *target, *scratch;
    uint32_t tileSize;
    uint32_t position = 0;           // where the section begins in the tile
    const uint8_t* planes = nullptr; // its residuals: behind the headers, if there are packets
    uint32_t count = 0, stride = 0, width = 0, first = 0;
    uint32_t planeBytes = 0; // one plane of a column takes in scratch
    bool anyBase = false, anyFinal = false;
    uint32_t sumsTurn = 0; // which half of shared.sums comes next
};

// --- The description: all threads load its words, one reads their meaning ---

__device__ void loadWindow(const TileAtWork& tile)
{
    const FilterReading& reading = shared.reading;
    for (uint32_t k = threadIdx.x; k < kWindow; k += kThreads)
        if (reading.next + k < reading.words) shared.window[k] = tile.description[reading.next + k];
}

struct Columns {
    uint32_t window; // the first word there
    uint32_t predicted, ups, byteWaves;
};

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
// Warps that undo many columns at once have room for short rows only.
__device__ bool haveRoomForRows(const TileAtWork& tile)
{
    const uint32_t room = shared.section.waveBytes <= SLUICE_FILTER_STEP_BYTES
                              ? kRowWords
                              : kRowWords / SLUICE_FILTER_STEP_BYTES;
    // Quads of rows that do not begin at words are stored byte by byte, so with warps to spare a
    // wave of values, which several share, is faster.
    return tile.width <= 4 * room && tile.width >= SLUICE_FILTER_QUAD_WIDTH &&
           tile.width < tile.count &&
           (tile.width % 4 == 0 || 4 * shared.section.waveBytes > kWarps);
}
__device__ bool isWaveOfBytes(const TileAtWork& tile, uint32_t column)
{
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && bytesOf(column) == 1 &&
           haveRoomForRows(tile);
}
__device__ bool isWaveOfValues(const TileAtWork& tile, uint32_t column)
{
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && !isWaveOfBytes(tile, column);
}
// Returns whether the column's residuals are first brought into a row in scratch.
__device__ bool isGathered(const TileAtWork& tile, uint32_t column)
{
    return predictorOf(column) != kNone && bytesOf(column) == 1 && shared.step[column] != 1 &&
           (SLUICE_PREDICTOR_IS_SUM(predictorOf(column)) || isWaveOfBytes(tile, column));
}

// Returns whether the column's bytes in the planes or in scratch differ from those of the record by
// more than the bytes of its base.
__device__ bool isChanged(uint32_t column)
{
    const uint32_t word = shared.column[column];
    return (word & (kRotated | kBlock)) != 0 ||
           ((word & kZigzag) != 0 && predictorOf(column) == kNone);
}
// Changed columns, and those whose sum with the base has carries, are finished in scratch.
__device__ bool needsFinal(uint32_t column)
{
    const uint32_t base = baseOf(column);
    return isChanged(column) || (base != 0 && (bytesOf(column) != 1 || isChanged(base - 1)));
}

// Sums `value` over the threads before this one, and over all of them.
__device__ uint32_t exclusiveSum(TileAtWork& tile, uint32_t value, uint32_t& total)
{
    const uint32_t inclusive = warpInclusiveSum(value);
    const uint32_t warpTotal = __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
    const WarpPrefix prefix = blockExclusiveSumInTurn(warpTotal, shared.sums[tile.sumsTurn]);
    tile.sumsTurn ^= 1;
    total = prefix.total;
    return prefix.before + inclusive - value;
}

__device__ void placeByte(const TileAtWork& tile, uint32_t column, uint32_t b, const uint8_t*& at,
                          uint32_t& step)
{
    const bool inScratch = predictorOf(column) != kNone || needsFinal(column);
    at = inScratch ? tile.scratch + shared.values[column] + b * tile.planeBytes
                   : tile.planes + shared.from[column] + b * shared.byteStep[column];
    step = inScratch ? 1 : shared.step[column];
}

// Finds the places of columns and of a record's bytes. Each thread takes a column.
__device__ void placeColumns(TileAtWork& tile)
{
    const uint32_t c = threadIdx.x, columns = shared.section.columns;
    uint32_t area = 0;
    tile.planeBytes = (tile.count + 3 + kPerLane - 1) / kPerLane * kPerLane;
    if (c < columns) {
        uint32_t word = shared.column[c];
        // In a single row, the median and the gradient equal the value to the left.
        if (tile.first + tile.count <= tile.width && SLUICE_PREDICTOR_IS_WAVE(predictorOf(c)) &&
            predictorOf(c) != kAverage) {
            word = (word & ~(0xffu << 16)) | SLUICE_PREDICTOR_LEFT << 16;
            shared.column[c] = word; // others read it behind the next barrier
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
    // A row of quads that starts at a multiple of 4 records starts at a word.
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

// Columns with a prediction have their values in scratch.
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
// Stores byte b of the values of kPerLane records from i on, a multiple of kPerLane.
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
