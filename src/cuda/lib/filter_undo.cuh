// SPDX-License-Identifier: MIT OR Apache-2.0
// The undoing of a tile's filters by a block: all predictions first, then records, section by
// section; the steps are those of shaders/filter.comp. The kernel stands here too.
#pragma once

#include "cuda/kernels.h"
#include "cuda/tuning.h"
#include "cuda/lib/filter_packets.cuh"
#include "cuda/lib/publish.cuh"

namespace sluice {

template <uint32_t Threads>
struct FilterUndo : FilterPackets<Threads> {
    using Base = FilterPackets<Threads>;
    using Base::anyFinal;
    using Base::arePixels;
    using Base::bytesOf;
    using Base::copy;
    using Base::count;
    using Base::countPackets;
    using Base::description;
    using Base::descriptionWords;
    using Base::first;
    using Base::haveRoomForRows;
    using Base::isBaseBad;
    using Base::isGathered;
    using Base::isPixelGathered;
    using Base::isWaveOfBytes;
    using Base::kThreads;
    using Base::kWarps;
    using Base::loadValue;
    using Base::loadWindow;
    using Base::needsFinal;
    using Base::pixelRecords;
    using Base::placeColumns;
    using Base::placePixels;
    using Base::planes;
    using Base::position;
    using Base::predictorOf;
    using Base::readSection;
    using Base::residual;
    using Base::scratch;
    using Base::shared;
    using Base::source;
    using Base::storeValue;
    using Base::stride;
    using Base::sumBytes;
    using Base::sumResiduals;
    using Base::target;
    using Base::tileSize;
    using Base::undoByteDifferences;
    using Base::undoByteUp;
    using Base::undoDifferences;
    using Base::undoPixels;
    using Base::undoUps;
    using Base::width;
    using Base::writePackets;
    using Base::writeRecords;

    // Brings residuals that are bytes but do not stand in a row into one in scratch.
    __device__ void gatherResiduals(bool ofPixels) const
    {
        for (uint32_t n = 0; n < shared.waveCount && !ofPixels; ++n)
            this->gatherWave(shared.waves[n]);
        for (uint32_t p = 0; p < (ofPixels ? stride : shared.predictedCount); ++p) {
            const uint32_t column = ofPixels ? p : shared.predicted[p];
            const uint32_t step = shared.step[column], lead = shared.values[column] & 3;
            if (ofPixels ? !isPixelGathered(column) : !isGathered(column)) continue;
            uint32_t* words = reinterpret_cast<uint32_t*>(scratch + shared.values[column] - lead);
            const uint8_t* from = planes + shared.from[column];
            constexpr uint32_t atOnce = 4; // words, of which all are loaded before one is stored
            const uint32_t end = (lead + count + 3) / 4;
            for (uint32_t base = threadIdx.x; base < end; base += atOnce * kThreads) {
                uint32_t byte[atOnce][4];
#pragma unroll
                for (uint32_t n = 0; n < atOnce; ++n) {
                    const uint32_t w = base + n * kThreads;
#pragma unroll
                    for (uint32_t k = 0; k < 4; ++k) // some bytes of the ends do not count
                        byte[n][k] = from[min(max(4 * w + k, lead) - lead, count - 1) * step];
                }
#pragma unroll
                for (uint32_t n = 0; n < atOnce; ++n)
                    if (base + n * kThreads < end)
                        words[base + n * kThreads] =
                            packBytes(byte[n][0], byte[n][1], byte[n][2], byte[n][3]);
            }
        }
    }

    // What a warp does of a column. For differences from the left that is the records from a whole
    // number of steps on, and the value before them counts.
    struct Part {
        uint32_t column, begin, end, before;
    };

    // Where the residuals of a column stand in a row, if they are bytes.
    __device__ const uint8_t* placeOf(uint32_t column) const
    {
        return uniform(isGathered(column)) ? scratch + shared.values[column]
                                           : planes + shared.from[column];
    }

    __device__ void undoColumn(const Part& part) const
    {
        const uint32_t column = part.column, predictor = uniform(predictorOf(column));
        const uint8_t* from = placeOf(column);
        if (SLUICE_PREDICTOR_IS_SUM(predictor)) {
            const uint32_t records = predictor == kUp ? min(width, count) : count;
            const uint32_t order = predictor == kUp ? 1 : predictor;
            if (uniform(bytesOf(column)) == 1) {
                undoByteDifferences(column, from, records, order, part.begin,
                                    min(records, part.end), part.before);
                if (predictor == kUp) undoByteUp(column, from);
            } else {
                undoDifferences(column, order, part.begin, min(records, part.end), part.before);
            }
        } else if (uniform(isWaveOfBytes(column))) { // undoWaves undoes the others
#define SLUICE_WAVE(number)                                                                        \
    if (predictor == number) {                                                                     \
        this->template undoByteWave<number>(column, from);                                         \
    } else
            SLUICE_OTHER_WAVES(SLUICE_WAVE)
            {
                this->template undoByteWave<kGradient>(column, from);
            }
#undef SLUICE_WAVE
        }
    }

    __device__ bool isLeft(uint32_t column) const { return predictorOf(column) == 1; }

    // This warp's part where several warps share each column with differences from the left: the
    // value before it is the sum of the parts before. Empty where warps are too few for that.
    __device__ Part partOfLefts() const
    {
        constexpr uint32_t step = kWarpSize * kPerLane;
        uint32_t lefts = 0;
        for (uint32_t p = 0; p < shared.predictedCount; ++p)
            lefts += isLeft(shared.predicted[p]) ? 1 : 0;
        lefts = uniform(lefts);
        const uint32_t parts = lefts == 0 ? 0 : kWarps / lefts;
        if (parts < 2 || count < 2 * kWarps * step) return {};
        const uint32_t warp = uniform(warpIndex()), own = warp / parts, part = warp % parts;
        const uint32_t size = (count + parts * step - 1) / (parts * step) * step;
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
        // Each warp needs room for a row of a wave of bytes.
        const uint32_t warps = uniform(shared.byteWaves) != 0 && haveRoomForRows()
                                   ? max(1u, min(kWarps, kRowWords / ((width + 3) / 4)))
                                   : kWarps;
        const uint32_t warp = uniform(warpIndex()), predicted = uniform(shared.predictedCount);
        bool isPart = haveParts && uniform(part.begin < part.end) != 0;
        for (uint32_t p = warp;;) {
            if (!isPart) {
                if (warp >= warps || p >= predicted) break;
                part = {uniform(shared.predicted[p]), 0, ~0u, 0};
                p += warps;
                if (ofPixels && SLUICE_PREDICTOR_IS_WAVE(uniform(predictorOf(part.column))))
                    continue;
                if (haveParts && uniform(isLeft(part.column)) != 0) continue;
            }
            isPart = false;
            undoColumn(part);
        }
        if (!ofPixels) this->undoWaves();
        __syncthreads();
        if (uniform(shared.upCount) != 0) {
            undoUps();
            __syncthreads();
        }
    }

    // Finishes columns whose bytes cannot be taken as they are: those with a base first, which they
    // need as it is.
    __device__ void finishColumns() const
    {
        for (uint32_t pass = 0; pass < 2; ++pass) {
            for (uint32_t c = 0; c < shared.columns; ++c) {
                const uint32_t word = shared.column[c], base = word >> 24, bytes = bytesOf(c);
                if (!needsFinal(c) || (base == 0) != (pass == 1)) continue;
                // A thread has the same records of all columns, so no barrier is needed.
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

    // Makes bytes of the tile of the section that readSection() found. It and run() are inlined, or
    // the members would be in memory.
    __device__ __forceinline__ uint32_t undoSection()
    {
        const uint32_t size = uniform(shared.size);
        const bool hasPackets = uniform(shared.packets) != 0;
        uint32_t packets = 0;
        stride = uniform(shared.stride);
        // In rows of one record all that counts is the record before, as in a single row: the median
        // and the gradient are that, and the average is half of it.
        width = uniform(shared.width) == 1 ? SLUICE_FILTER_MAX_WIDTH : uniform(shared.width);
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
            shared.steps = 0;
            shared.tileColumns = 0;
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
        copy(tileSize - position); // behind the last section
        return SLUICE_ST_OK;
    }
};

// How many tiles blocks have taken beyond their first one.
__host__ __device__ inline uint32_t* ticketOf(const FilterParams& params)
{
    return pointerFrom<uint32_t>(params.scratch) +
           static_cast<uint64_t>(params.workgroups) * (params.scratchBytes / 4);
}

// Returns the status of a tile; waits for it, and with it for the tile's bytes, while the tile is
// being decoded. By a warp, whose lanes leave the loop together, as in waitForEpoch
// (gstd_tile.cuh).
__device__ inline uint32_t tileStatus(const uint32_t* status, bool isDecoded)
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

template <uint32_t Threads>
__global__ void __launch_bounds__(Threads, kFilterThreadsPerProcessor / Threads)
    filterKernel(FilterLaunchParams params)
{
    __shared__ FilterShared<Threads> shared;
    if (threadIdx.x == 0) shared.firstRole = warpSlot() / (Threads / kWarpSize);
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
        // One warp reads: another tile with the same status word may write it.
        if (uniform(warpIndex()) == 0) {
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
            FilterUndo<Threads> undo{shared,
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
    // The next launch may count on the decode, too.
    if (params.decodeMaxCount != 0 && blockIdx.x == 0) waitForPreviousLaunch();
}

template <uint32_t Threads>
cudaError_t launchFilterKernel(cudaStream_t stream, const FilterLaunchParams& params)
{
    if (params.maxTileCount == 0) return cudaSuccess;
    return launch(stream, filterKernel<Threads>, params.workgroups, Threads, params, 0,
                  params.decodeMaxCount != 0);
}

} // namespace sluice
