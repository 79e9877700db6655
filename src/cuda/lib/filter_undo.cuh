// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters: a block takes a tile and undoes its sections one after the other. In a section,
// predictions are undone first, and then the records are built, in the steps that
// shaders/filter.comp lists. This file also has the kernel. filter_columns.cuh explains section,
// record, column and plane.
#pragma once

#include "cuda/kernels.h"
#include "cuda/lib/filter_differences.cuh"
#include "cuda/lib/filter_packets.cuh"
#include "cuda/lib/filter_pixels.cuh"
#include "cuda/lib/filter_records.cuh"
#include "cuda/lib/filter_wavefront.cuh"
#include "cuda/lib/publish.cuh"

namespace sluice {
namespace {

// Copies residuals to scratch, as planes: those of columns that undoWave undoes, and those of
// columns of bytes that are interleaved with the residuals of other columns. `ofPixels` means that
// undoPixels will undo the section.
__device__ void gatherResiduals(const TileAtWork& tile, bool ofPixels)
{
    for (uint32_t n = 0; n < shared.waveCount && !ofPixels; ++n)
        gatherWave(tile, shared.waves[n]);
    for (uint32_t p = 0; p < (ofPixels ? tile.stride : shared.predictedCount); ++p) {
        const uint32_t column = ofPixels ? p : shared.predicted[p];
        const uint32_t step = shared.step[column], lead = shared.values[column] & 3;
        if (ofPixels ? !isPixelGathered(tile, column) : !isGathered(tile, column)) continue;
        uint32_t* words = reinterpret_cast<uint32_t*>(tile.scratch + shared.values[column] - lead);
        const uint8_t* from = tile.planes + shared.from[column];
        // A thread loads the bytes of this many words before it stores the first one.
        constexpr uint32_t atOnce = 4;
        const uint32_t end = (lead + tile.count + 3) / 4;
        for (uint32_t base = threadIdx.x; base < end; base += atOnce * kThreads) {
            uint32_t byte[atOnce][4];
#pragma unroll
            for (uint32_t n = 0; n < atOnce; ++n) {
                const uint32_t w = base + n * kThreads;
#pragma unroll
                // In the first and the last word, bytes that are not residuals may have any value.
                for (uint32_t k = 0; k < 4; ++k)
                    byte[n][k] = from[min(max(4 * w + k, lead) - lead, tile.count - 1) * step];
            }
#pragma unroll
            for (uint32_t n = 0; n < atOnce; ++n)
                if (base + n * kThreads < end)
                    words[base + n * kThreads] =
                        packBytes(byte[n][0], byte[n][1], byte[n][2], byte[n][3]);
        }
    }
}

// The part of a column that a warp undoes: the records [begin, end). Only columns with differences
// of order 1 are divided among warps. For these, `begin` is a multiple of the records of a step
// (kWarpSize * kPerLane), and `before` is the value of record begin - 1.
struct Part {
    uint32_t column, begin, end, before;
};

// Returns the address of the residuals of a column of bytes, which are neighbouring bytes there.
__device__ const uint8_t* placeOf(const TileAtWork& tile, uint32_t column)
{
    return uniform(isGathered(tile, column)) ? tile.scratch + shared.values[column]
                                             : tile.planes + shared.from[column];
}

// A warp undoes the prediction of its part of a column.
__device__ void undoColumn(const TileAtWork& tile, const Part& part)
{
    const uint32_t column = part.column, predictor = uniform(predictorOf(column));
    const uint8_t* from = placeOf(tile, column);
    if (SLUICE_PREDICTOR_IS_SUM(predictor)) {
        const uint32_t records = predictor == kUp ? min(tile.width, tile.count) : tile.count;
        const uint32_t order = predictor == kUp ? 1 : predictor;
        if (uniform(bytesOf(column)) == 1) {
            undoByteDifferences(tile, column, from, records, order, part.begin,
                                min(records, part.end), part.before);
            if (predictor == kUp) undoByteUp(tile, column, from);
        } else {
            undoDifferences(tile, column, order, part.begin, min(records, part.end), part.before);
        }
    } else if (uniform(isWaveOfBytes(tile, column))) {
// All other columns with a wavefront are left to undoWaves.
#define SLUICE_WAVE(number)                                                                        \
    if (predictor == number) {                                                                     \
        undoByteWave<number>(tile, column, from);                                                  \
    } else
        SLUICE_OTHER_WAVES(SLUICE_WAVE) { undoByteWave<kGradient>(tile, column, from); }
#undef SLUICE_WAVE
    }
}

__device__ bool isLeft(uint32_t column) { return predictorOf(column) == 1; }

// Divides the columns with differences of order 1 among the warps, if there are several warps for
// each. Returns this warp's part, where `before` is the sum of the residuals of the column's
// earlier parts. If there are too few warps or records to divide the columns, `end` is 0 in all
// warps.
__device__ Part partOfLefts(const TileAtWork& tile)
{
    constexpr uint32_t step = kWarpSize * kPerLane;
    uint32_t lefts = 0;
    for (uint32_t p = 0; p < shared.predictedCount; ++p)
        lefts += isLeft(shared.predicted[p]) ? 1 : 0;
    lefts = uniform(lefts);
    const uint32_t parts = lefts == 0 ? 0 : kWarps / lefts;
    if (parts < 2 || tile.count < 2 * kWarps * step) return {};
    const uint32_t warp = uniform(warpIndex()), own = warp / parts, part = warp % parts;
    const uint32_t size = (tile.count + parts * step - 1) / (parts * step) * step;
    Part result = {0, part * size, min(tile.count, (part + 1) * size), 0};
    uint32_t seen = 0;
    for (uint32_t p = 0; p < shared.predictedCount; ++p)
        if (isLeft(shared.predicted[p]) && seen++ == own) result.column = shared.predicted[p];
    result.column = uniform(result.column);
    if (own < lefts && part + 1 < parts) {
        const uint32_t sum = uniform(bytesOf(result.column)) == 1
                                 ? sumBytes(result.column, placeOf(tile, result.column), tile.count,
                                            result.begin, result.end)
                                 : sumResiduals(tile, result.column, result.begin, result.end);
        if (laneIndex() == 0) shared.partSums[warp] = sum;
    }
    __syncthreads();
    for (uint32_t k = warp - part; k < warp; ++k)
        result.before += shared.partSums[k];
    if (own >= lefts) result.begin = result.end = ~0u;
    return result;
}

__device__ void undoPredictions(const TileAtWork& tile, bool ofPixels)
{
    gatherResiduals(tile, ofPixels);
    __syncthreads();
    Part part = partOfLefts(tile);
    const bool haveParts = uniform(part.end) != 0;
    // Each warp that calls undoByteWave needs room for a row in shared.rows.
    const uint32_t warps = uniform(shared.byteWaves) != 0 && haveRoomForRows(tile)
                               ? max(1u, min(kWarps, kRowWords / ((tile.width + 3) / 4)))
                               : kWarps;
    const uint32_t warp = uniform(warpIndex()), predicted = uniform(shared.predictedCount);
    bool isPart = haveParts && uniform(part.begin < part.end) != 0;
    for (uint32_t p = warp;;) {
        if (!isPart) {
            if (warp >= warps || p >= predicted) break;
            part = {uniform(shared.predicted[p]), 0, ~0u, 0};
            p += warps;
            if (ofPixels && SLUICE_PREDICTOR_IS_WAVE(uniform(predictorOf(part.column)))) continue;
            if (haveParts && uniform(isLeft(part.column)) != 0) continue;
        }
        isPart = false;
        undoColumn(tile, part);
    }
    if (!ofPixels) undoWaves(tile);
    __syncthreads();
    if (uniform(shared.upCount) != 0) {
        undoWideUps(tile);
        __syncthreads();
    }
}

// Returns value i of a column as it is before finishColumns changes it.
__device__ uint32_t valueOf(const TileAtWork& tile, uint32_t column, uint32_t i)
{
    return predictorOf(column) == kNone ? residual(tile, column, i) : loadValue(tile, column, i);
}
// Brings columns to their final form, the values of the records, if they need it (needsFinal).
// Columns with a base come first, because they add the base's value before the base has its own
// final form.
__device__ void finishColumns(const TileAtWork& tile)
{
    for (uint32_t pass = 0; pass < 2; ++pass) {
        for (uint32_t c = 0; c < shared.section.columns; ++c) {
            const uint32_t word = shared.column[c], base = word >> 24, bytes = bytesOf(c);
            if (!needsFinal(c) || (base == 0) != (pass == 1)) continue;
            // A thread takes the same records in every column, so no barrier is needed.
            for (uint32_t i = threadIdx.x; i < tile.count; i += kThreads) {
                uint32_t value = valueOf(tile, c, i);
                if (base != 0) value += valueOf(tile, base - 1, i);
                value &= maskOf(bytes);
                if ((word & kRotated) != 0) value = value >> 1 | value << (8 * bytes - 1);
                if ((word & kBlock) != 0) value = filterUnmapBlock(value, bytes == 2);
                storeValue(tile, c, i, value);
            }
        }
    }
    __syncthreads();
}

// Undoes the section that readSection() has read, and returns its status. This function and
// undoTile() are inlined, because otherwise the members of `tile` would be in memory.
__device__ __forceinline__ uint32_t undoSection(TileAtWork& tile)
{
    const uint32_t size = uniform(shared.section.size);
    const bool hasPackets = uniform(shared.section.hasPackets) != 0;
    uint32_t packets = 0;
    tile.stride = uniform(shared.section.stride);
    // Rows of one record are treated as a single row. In both cases a value is predicted from the
    // record before it alone: the median and the gradient equal that record's value, the average is
    // half of it.
    tile.width = uniform(shared.section.width) == 1 ? SLUICE_FILTER_MAX_WIDTH
                                                    : uniform(shared.section.width);
    tile.first = uniform(shared.section.first);
    tile.planes = tile.source + tile.position;
    if (tile.stride == 0 || size == 0) {
        copyBytes(tile, size);
        return SLUICE_ST_OK;
    }
    if (hasPackets) {
        packets = uniform(countPackets(tile, size));
        if (packets == 0 && size != 0) return SLUICE_ST_BAD_FILTER;
        tile.planes += packets;
    }
    tile.count = uniform((size - packets) / tile.stride);
    placeColumns(tile);
    if (tile.count != 0) {
        const bool ofPixels = uniform(arePixels(tile)) != 0;
        undoPredictions(tile, ofPixels);
        if (ofPixels) {
            placePixels(tile);
            __syncthreads();
            undoPixels(tile);
            return SLUICE_ST_OK;
        }
        if (tile.anyFinal) finishColumns(tile);
    }
    if (hasPackets) {
        writeRecords(tile, pixelRecords(tile, size), size - packets);
        __syncthreads();
        writePackets(tile, size);
    } else {
        writeRecords(tile, tile.target + tile.position, size);
    }
    return SLUICE_ST_OK;
}

// Undoes all sections of the tile and copies the bytes behind them. Returns a status.
__device__ __forceinline__ uint32_t undoTile(TileAtWork& tile)
{
    if (threadIdx.x == 0) {
        shared.reading = beginDescription(tile.descriptionWords,
                                          tile.descriptionWords != 0 ? tile.description[0] : 0);
        shared.status =
            shared.reading.fault == SLUICE_FILTER_GOOD ? SLUICE_ST_OK : SLUICE_ST_BAD_FILTER;
    }
    __syncthreads();
    uint32_t status = uniform(shared.status);
    while (status == SLUICE_ST_OK && uniform(shared.reading.sections) != 0) {
        loadWindow(tile);
        __syncthreads();
        if (threadIdx.x == 0) readSection(tile);
        __syncthreads();
        const bool bad = threadIdx.x < shared.section.columns && hasBadBase(threadIdx.x);
        status = uniform(__syncthreads_or(bad) != 0 ? SLUICE_ST_BAD_FILTER : shared.status);
        if (status == SLUICE_ST_OK) status = undoSection(tile);
        tile.position += uniform(shared.section.size);
        __syncthreads();
    }
    if (status != SLUICE_ST_OK) return status;
    // The bytes behind the last section are not filtered.
    copyBytes(tile, tile.tileSize - tile.position);
    return SLUICE_ST_OK;
}

// Returns the counter by which blocks take further tiles after their first one.
__host__ __device__ uint32_t* ticketOf(const FilterParams& params)
{
    return pointerFrom<uint32_t>(params.scratch) +
           static_cast<uint64_t>(params.workgroups) * (params.scratchBytes / 4);
}

// Returns the status of a tile; one warp calls this. If the tile is still being decoded, waits for
// its status, and thus for its bytes. The vote makes the lanes leave the loop together, so that the
// compiler does not assume that they diverge behind it.
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

__global__ void __launch_bounds__(kThreads, kFilterThreadsPerProcessor / kThreads)
    filterKernel(FilterLaunchParams params)
{
    if (threadIdx.x == 0) shared.firstRole = warpSlot() / kWarps;
    const uint32_t* inMemory = pointerFrom<const uint32_t>(params.tileCount);
    const uint32_t tiles =
        uniform(inMemory == nullptr ? params.maxTileCount : min(*inMemory, params.maxTileCount));
    uint32_t* statuses = pointerFrom<uint32_t>(params.status);
    const uint32_t* decodes = pointerFrom<const uint32_t>(params.decodeCount);
    const uint32_t decoding =
        uniform(decodes == nullptr ? params.decodeMaxCount : min(*decodes, params.decodeMaxCount));
    // Some tiles take much longer than others. So with tickets, a block that has finished a tile
    // takes the next one that no block has taken.
    const auto next = [&](uint32_t index) {
        if (params.tickets == 0) return index + params.workgroups;
        __syncthreads();
        if (threadIdx.x == 0) shared.next = params.workgroups + atomicAdd(ticketOf(params), 1);
        __syncthreads();
        return uniform(shared.next);
    };
    for (uint32_t index = blockIdx.x; index < tiles; index = next(index)) {
        const FilterTile entry = pointerFrom<const FilterTile>(params.tiles)[index];
        // One warp reads the status for all threads, so that all act on one value: another block,
        // with a tile that has the same status word, may write that word meanwhile.
        if (uniform(warpIndex()) == 0) {
            const uint32_t at = uniform(entry.statusIndex);
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
        const uint64_t description = u64From(params.descriptions) + entry.descriptionOffset;
        const bool aligned =
            (entry.source | entry.target | entry.descriptionOffset | entry.descriptionSize) % 4 ==
            0;
        uint32_t status = SLUICE_ST_BAD_REGION;
        const bool good =
            aligned && entry.size - 1 < params.maxTileBytes &&
            insideBuffer(entry.source, entry.size, params.source, params.sourceSize) &&
            insideBuffer(entry.target, entry.size, params.destination, params.destinationSize) &&
            insideBuffer(description, entry.descriptionSize, params.descriptions,
                         params.descriptionsSize);
        if (uniform(good)) {
            TileAtWork tile{globalPointer<const uint32_t>(description),
                            entry.descriptionSize / 4,
                            globalPointer<const uint8_t>(entry.source),
                            globalPointer<uint8_t>(entry.target),
                            globalPointer<uint8_t>(u64From(params.scratch)) +
                                static_cast<uint64_t>(blockIdx.x) * params.scratchBytes,
                            entry.size};
            status = undoTile(tile);
        }
        if (status != SLUICE_ST_OK && threadIdx.x == 0)
            writeStatus(params.status, params.statusCount, entry.statusIndex, status);
        __syncthreads();
    }
    // The next launch may also rely on the decode, so this launch ends only after the decode.
    if (params.decodeMaxCount != 0 && blockIdx.x == 0) waitForPreviousLaunch();
}

cudaError_t launchFilterKernel(cudaStream_t stream, const FilterLaunchParams& params)
{
    if (params.maxTileCount == 0) return cudaSuccess;
    return launch(stream, filterKernel, params.workgroups, kThreads, params, 0,
                  params.decodeMaxCount != 0);
}

} // namespace
} // namespace sluice
