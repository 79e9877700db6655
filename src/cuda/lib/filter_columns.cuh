// SPDX-License-Identifier: MIT OR Apache-2.0
// What filters are undone with: the description of a section, where its columns stand in the tile,
// in scratch and in a record, and their values.
#pragma once

#include "../../../shaders/lib/formulas/filter.h"
#include "region.cuh"
#include "warp.cuh"

// Of a block; each form is a file of its own, and has its own names.
#ifndef SLUICE_FILTER_THREADS
#define SLUICE_FILTER_THREADS 256
#define SLUICE_FILTER_FORM filterOfMany
#endif

namespace sluice {
inline namespace SLUICE_FILTER_FORM {

constexpr uint32_t kThreads = SLUICE_FILTER_THREADS, kWarps = kThreads / kWarpSize;
constexpr uint32_t kNone = SLUICE_PREDICTOR_NONE, kLeft3 = SLUICE_PREDICTOR_LEFT3,
                   kUp = SLUICE_PREDICTOR_UP, kGradient = SLUICE_PREDICTOR_GRADIENT,
                   kMedian = SLUICE_PREDICTOR_MEDIAN, kAverage = SLUICE_PREDICTOR_AVERAGE,
                   kPredictors = SLUICE_PREDICTOR_COUNT;
// The flags in a column's word.
constexpr uint32_t kZigzag = SLUICE_FILTER_FLAG_ZIGZAG << SLUICE_FILTER_FLAGS_AT,
                   kSplit = SLUICE_FILTER_FLAG_SPLIT << SLUICE_FILTER_FLAGS_AT,
                   kJoined = SLUICE_FILTER_FLAG_JOINED << SLUICE_FILTER_FLAGS_AT,
                   kRotated = SLUICE_FILTER_FLAG_ROTATED << SLUICE_FILTER_FLAGS_AT,
                   kBlock = SLUICE_FILTER_FLAG_BLOCK << SLUICE_FILTER_FLAGS_AT;
constexpr uint32_t kStride = SLUICE_FILTER_MAX_STRIDE;
constexpr uint32_t kWindow = kStride + 4; // words of a description that a good section has at most:
                                          // head, rows, runs
constexpr uint32_t kPerLane = 16;         // values of a lane in a step of a scan
constexpr uint32_t kSteps = 8;            // of a wavefront, whose words come and go together: 32
                                          // bytes of each row
constexpr uint32_t kPitch = kSteps + 1;   // words of a row in shared memory
constexpr uint32_t kStageWords = 6144;    // of the words that come and go, of all warps
constexpr uint32_t kRowWords = 2048;      // of the rows that wavefronts of bytes pass to the next
                                          // band
constexpr uint32_t kRowsAhead = 8;        // rows whose loads are under way when sums go down
                                          // columns

struct FilterTile { // SluiceFilterTile
    uint64_t source, target;
    uint32_t size, descriptionOffset, descriptionSize, statusIndex;
};

// Where byte b of record i is, and what is added to it: at + i * step, base + i * baseStep. Without
// a base it is itself and baseMask is 0.
struct ByteSource {
    const uint8_t *at, *base;
    uint32_t step, baseStep, baseMask;
};

// Of pixels: where the residuals of a column begin, in bytes from a word, and the last word of
// them; and masks of the bytes in a word of four columns; for those with a base also where it is (a
// selector of bytes), and the sign bit where values count as signed.
struct alignas(16) PixelColumn {
    const uint32_t* words;
    int32_t lead, last;
};
struct PixelBytes {
    uint32_t predicted[2], average[2], gradient[2]; // bytes 0 and 2, 1 and 3 of a word as masks of
                                                    // halves
    uint32_t zigzag, bias, based, base;
};

struct FilterShared {
    uint32_t window[kWindow];
    uint32_t column[kStride];   // as in the description, with its place in the record in the low 8
                                // bits
    uint32_t leader[kStride];   // the first column of its group
    uint32_t groupEnd[kStride]; // of a leader's group, in the record
    uint32_t from[kStride];     // byte b of value i in the planes: from + i * step + b * byteStep
    uint32_t step[kStride], byteStep[kStride];
    uint32_t values[kStride];    // where its values are in scratch: a plane for each byte
    uint32_t predicted[kStride]; // the columns with a prediction
    ByteSource bytes[kStride];   // of a record
    uint32_t predictedCount, columns, stride, size, width, first; // of the section
    uint32_t packets;                                             // 1, then the count of them
    uint32_t next;                                                // tile of the block
    uint32_t sections, status;                                    // sections to come
    uint32_t cursor;                                              // next word of the description
    uint32_t sums[2][kWarps];
    uint32_t partSums[kWarps]; // of the residuals of a column
    PixelColumn pixelColumns[8];
    PixelBytes pixelBytes[2];
    alignas(16) uint32_t rows[kRowWords];
    uint32_t turnOfRoles; // of warps, in pixels
    alignas(16) uint32_t stage[kStageWords];
};

__device__ inline uint32_t maskOf(uint32_t bytes) { return 0xffffffffu >> (32 - 8 * bytes); }

__device__ inline uint32_t byteOf(uint32_t word, uint32_t k) { return word >> 8 * k & 0xff; }

// The low bytes of four words.
__device__ inline uint32_t packBytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// Rows of a square of bytes become its columns.
__device__ inline void transpose(uint32_t (&word)[4])
{
    const uint32_t low01 = __byte_perm(word[0], word[1], 0x5140),
                   high01 = __byte_perm(word[0], word[1], 0x7362);
    const uint32_t low23 = __byte_perm(word[2], word[3], 0x5140),
                   high23 = __byte_perm(word[2], word[3], 0x7362);
    word[0] = __byte_perm(low01, low23, 0x5410);
    word[1] = __byte_perm(low01, low23, 0x7632);
    word[2] = __byte_perm(high01, high23, 0x5410);
    word[3] = __byte_perm(high01, high23, 0x7632);
}

// A tile at work; its members are the same in all threads.
struct FilterColumns {
    FilterShared& shared;
    const uint32_t* description;
    uint32_t descriptionWords;
    const uint8_t* source;
    uint8_t *target, *scratch;
    uint32_t tileSize;
    uint32_t position = 0;           // of the section in the tile
    const uint8_t* planes = nullptr; // behind the headers, if there are packets
    uint32_t count = 0, stride = 0, width = 0, first = 0;
    uint32_t planeBytes = 0; // of a plane in scratch
    bool anyBase = false, anyUp = false, anyFinal = false;
    uint32_t turn = 0; // of shared.sums

    // --- The description: its words by all threads, their meaning by one ---

    __device__ void loadWindow() const
    {
        for (uint32_t k = threadIdx.x; k < kWindow; k += kThreads)
            if (shared.cursor + k < descriptionWords)
                shared.window[k] = description[shared.cursor + k];
    }

    // Word k of the section.
    __device__ uint32_t windowWord(uint32_t k) const
    {
        if (k < kWindow && shared.cursor + k < descriptionWords) return shared.window[k];
        shared.status = SLUICE_ST_BAD_FILTER;
        return 0;
    }

    __device__ void readColumns(uint32_t at, uint32_t runs) const
    {
        uint32_t columns = 0, bytes = 0, leader = 0, predicted = 0;
        bool good = true;
        for (uint32_t r = 0; r < runs && good; ++r) {
            const uint32_t run = windowWord(at + r), repeat = run & 0xff, log2Bytes = run >> 8 & 3,
                           predictor = run >> 16 & 0xff;
            const bool same = columns != 0 && ((shared.column[columns - 1] ^ run) & kSplit) == 0;
            good = shared.status == SLUICE_ST_OK && log2Bytes != 3 && (run >> 15 & 1) == 0 &&
                   predictor < kPredictors && repeat != 0 && repeat <= kStride - columns &&
                   ((run & kJoined) == 0 || same) && (predictor < kUp || shared.width != 0) &&
                   (repeat << log2Bytes) <= kStride - bytes &&
                   ((run & kBlock) == 0 || (log2Bytes != 0 && (run & kRotated) == 0));
            for (uint32_t k = 0; good && k < repeat; ++k) {
                if ((run & kJoined) == 0) leader = columns;
                shared.column[columns] = (run & ~0xffu) | bytes;
                shared.leader[columns] = leader;
                if (predictor != kNone) shared.predicted[predicted++] = columns;
                bytes += 1u << log2Bytes;
                shared.groupEnd[leader] = bytes;
                ++columns;
            }
        }
        shared.columns = columns;
        shared.predictedCount = predicted;
        shared.stride = bytes;
        if (!good || (shared.packets != 0 && columns == 0)) shared.status = SLUICE_ST_BAD_FILTER;
    }

    __device__ void readSection() const
    {
        // size : 21, runs : 8, rows : 1, Targa packets : 1, reserved : 1
        const uint32_t head = windowWord(0), size = head & 0x1fffff, left = tileSize - position;
        const uint32_t runs = head >> 21 & 0xff;
        const bool rest = size == SLUICE_FILTER_REST;
        uint32_t at = 1;
        --shared.sections;
        shared.packets = head >> 30 & 1;
        shared.size = rest ? left : size;
        shared.width = shared.first = 0;
        bool good = head >> 31 == 0 && (rest ? shared.sections == 0 : size <= left);
        if ((head >> 29 & 1) != 0) {
            shared.width = windowWord(at++);
            shared.first = windowWord(at++);
            good = good && shared.width - 1 < 1u << 20 && shared.first < shared.width &&
                   shared.packets == 0;
        }
        if (!good) shared.status = SLUICE_ST_BAD_FILTER;
        readColumns(at, runs);
        shared.cursor += at + runs;
        if (shared.sections == 0 && shared.cursor != descriptionWords)
            shared.status = SLUICE_ST_BAD_FILTER;
    }

    __device__ bool isBaseBad(uint32_t column) const
    {
        const uint32_t base = shared.column[column] >> 24;
        return base != 0 && (base > shared.columns || shared.column[base - 1] >> 24 != 0 ||
                             ((shared.column[base - 1] ^ shared.column[column]) & 0x300) != 0);
    }

    // --- Columns and values ---

    __device__ uint32_t bytesOf(uint32_t column) const
    {
        return 1u << (shared.column[column] >> 8 & 3);
    }
    __device__ uint32_t predictorOf(uint32_t column) const
    {
        return shared.column[column] >> 16 & 0xff;
    }
    __device__ bool isWaveOfBytes(uint32_t column) const
    {
        return predictorOf(column) >= kGradient && bytesOf(column) == 1 && width <= 4 * kRowWords &&
               width < count;
    }
    // Whether its residuals are brought into a row first.
    __device__ bool isGathered(uint32_t column) const
    {
        return predictorOf(column) != kNone && bytesOf(column) == 1 && shared.step[column] != 1 &&
               (predictorOf(column) <= kUp || isWaveOfBytes(column));
    }

    // Whether its bytes in the planes or in scratch are not those of the record, less those of its
    // base.
    __device__ bool isChanged(uint32_t column) const
    {
        const uint32_t word = shared.column[column];
        return (word & (kRotated | kBlock)) != 0 ||
               ((word & kZigzag) != 0 && predictorOf(column) == kNone);
    }
    // Such columns, and those whose sum with the base has carries, are finished in scratch.
    __device__ bool needsFinal(uint32_t column) const
    {
        const uint32_t base = shared.column[column] >> 24;
        return isChanged(column) || (base != 0 && (bytesOf(column) != 1 || isChanged(base - 1)));
    }

    // The places of columns and of a record's bytes, a thread a column.
    __device__ void placeColumns()
    {
        const uint32_t c = threadIdx.x, columns = shared.columns;
        uint32_t area = 0;
        planeBytes = (count + 3 + kPerLane - 1) / kPerLane * kPerLane;
        if (c < columns) {
            const uint32_t word = shared.column[c], place = word & 0xff, leader = shared.leader[c];
            const uint32_t group = shared.column[leader] & 0xff,
                           groupBytes = shared.groupEnd[leader] - group;
            const bool split = (word & kSplit) != 0;
            shared.from[c] = split ? place * count : group * count + place - group;
            shared.step[c] = split ? 1 : groupBytes;
            shared.byteStep[c] = split ? count : 1;
            area = planeBytes * bytesOf(c);
        }
        uint32_t total;
        const uint32_t values = exclusiveSum(area, total);
        // A row of quads that starts at a multiple of 4 records starts at a word.
        if (c < columns) shared.values[c] = values + (isWaveOfBytes(c) ? first & 3 : 0);
        anyUp = __syncthreads_or(c < columns && predictorOf(c) == kUp && bytesOf(c) != 1) != 0;
        anyFinal = __syncthreads_or(c < columns && needsFinal(c)) != 0;
        anyBase =
            __syncthreads_or(c < columns && shared.column[c] >> 24 != 0 && !needsFinal(c)) != 0;
        if (c < columns) {
            const uint32_t base = shared.column[c] >> 24;
            for (uint32_t b = 0; b < bytesOf(c); ++b) {
                ByteSource byte = {};
                placeByte(c, b, byte.at, byte.step);
                byte.base = byte.at;
                byte.baseStep = byte.step;
                if (base != 0 && !needsFinal(c)) {
                    placeByte(base - 1, b, byte.base, byte.baseStep);
                    byte.baseMask = ~0u;
                }
                shared.bytes[(shared.column[c] & 0xff) + b] = byte;
            }
        }
        __syncthreads();
    }

    __device__ void placeByte(uint32_t column, uint32_t b, const uint8_t*& at, uint32_t& step) const
    {
        const bool inScratch = predictorOf(column) != kNone || needsFinal(column);
        at = inScratch ? scratch + shared.values[column] + b * planeBytes
                       : planes + shared.from[column] + b * shared.byteStep[column];
        step = inScratch ? 1 : shared.step[column];
    }

    __device__ uint32_t residual(uint32_t column, uint32_t i) const
    {
        const uint32_t bytes = bytesOf(column), byteStep = shared.byteStep[column];
        const uint8_t* at = planes + shared.from[column] + i * shared.step[column];
        uint32_t value = at[0];
        if (bytes >= 2) value |= static_cast<uint32_t>(at[byteStep]) << 8;
        if (bytes == 4)
            value |= static_cast<uint32_t>(at[2 * byteStep]) << 16 |
                     static_cast<uint32_t>(at[3 * byteStep]) << 24;
        return (shared.column[column] & kZigzag) != 0 ? filterUnzigzag(value, maskOf(bytes))
                                                      : value;
    }

    // Values of columns with a prediction, in scratch.
    __device__ uint32_t loadValue(uint32_t column, uint32_t i) const
    {
        const uint8_t* from = scratch + shared.values[column] + i;
        uint32_t value = 0;
        for (uint32_t b = 0; b < bytesOf(column); ++b)
            value |= static_cast<uint32_t>(from[b * planeBytes]) << 8 * b;
        return value;
    }
    __device__ void storeValue(uint32_t column, uint32_t i, uint32_t value) const
    {
        uint8_t* to = scratch + shared.values[column] + i;
        for (uint32_t b = 0; b < bytesOf(column); ++b)
            to[b * planeBytes] = static_cast<uint8_t>(value >> 8 * b);
    }
    // Byte b of the values of kPerLane records from i on, a multiple of it.
    __device__ void storeBytes(uint32_t column, uint32_t b, uint32_t i,
                               const uint32_t (&values)[kPerLane]) const
    {
        uint32_t packed[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k)
            packed[k] = packBytes(values[4 * k] >> 8 * b, values[4 * k + 1] >> 8 * b,
                                  values[4 * k + 2] >> 8 * b, values[4 * k + 3] >> 8 * b);
        *reinterpret_cast<uint4*>(scratch + shared.values[column] + b * planeBytes + i) =
            make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }

    // Sum of `value` over the threads before this one, and over all.
    __device__ uint32_t exclusiveSum(uint32_t value, uint32_t& total)
    {
        const uint32_t inclusive = warpInclusiveSum(value);
        const uint32_t warpTotal = __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
        const WarpPrefix prefix = blockExclusiveSumInTurn(warpTotal, shared.sums[turn]);
        turn ^= 1;
        total = prefix.total;
        return prefix.before + inclusive - value;
    }
};

} // namespace SLUICE_FILTER_FORM
} // namespace sluice
