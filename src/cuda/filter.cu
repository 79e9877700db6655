// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters undone, a block a tile: the steps of shaders/filter.comp, which says how.
#include "kernels.h"
#include "lib/region.cuh"
#include "lib/warp.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 128, kWarps = kThreads / kWarpSize;
constexpr uint32_t kNone = 0, kUp = 4, kGradient = 5, kMedian = 6, kAverage = 7, kPredictors = 8;
constexpr uint32_t kZigzag = 1u << 10, kSplit = 1u << 11, kJoined = 1u << 12, kRotated = 1u << 13; // in a column's word
constexpr uint32_t kPerLane = 8; // values of a thread in a step of a scan
constexpr uint32_t kWave = 4;    // columns in a wavefront

struct Tile { // SluiceFilterTile
    uint64_t source, target;
    uint32_t size, descriptionOffset, descriptionSize, statusIndex;
};

struct Shared {
    // A column: as in the description, with its place in the record in the low 8 bits.
    uint32_t column[SLUICE_FILTER_MAX_STRIDE];
    uint32_t group[SLUICE_FILTER_MAX_STRIDE];     // where a column's group begins in the record; its bytes << 8
    uint32_t values[SLUICE_FILTER_MAX_STRIDE];    // where its values are in scratch, in bytes
    uint8_t byteColumn[SLUICE_FILTER_MAX_STRIDE]; // the column of each byte of a record
    uint32_t columns, stride, size, width, first; // of the section
    uint32_t packets;                             // 1, then the count of them
    uint32_t cursor, sections, status;            // next word of the description, sections to come
    uint32_t wave[2][kWave][kThreads + 1];
    uint32_t packetEnd[kThreads];
    uint32_t sums[2][kWarps];
};

__device__ inline uint32_t maskOf(uint32_t bytes)
{
    return 0xffffffffu >> (32 - 8 * bytes);
}

__device__ inline uint32_t medianOf(uint32_t left, uint32_t up, uint32_t upLeft, uint32_t mask, uint32_t bias)
{
    const uint32_t a = (left + bias) & mask, b = (up + bias) & mask, c = (upLeft + bias) & mask;
    const uint32_t low = min(a, b), high = max(a, b);
    return (c >= high ? low : c <= low ? high : a + b - c) - bias;
}

__device__ inline uint32_t averageOf(uint32_t left, uint32_t up, uint32_t mask, uint32_t bias)
{
    const uint32_t a = (left + bias) & mask, b = (up + bias) & mask;
    return (a & b) + ((a ^ b) >> 1) - bias;
}

// A tile at work; its members are the same in all threads.
struct Undo {
    Shared& shared;
    const uint32_t* description;
    uint32_t descriptionWords;
    const uint8_t* source;
    uint8_t *target, *scratch;
    uint32_t tileSize;
    uint32_t position = 0;             // of the section in the tile
    const uint8_t* planes = nullptr;   // behind the headers, if there are packets
    uint32_t count = 0, stride = 0, width = 0, first = 0;
    uint32_t turn = 0; // of shared.sums

    // --- The description, read by one thread ---

    __device__ uint32_t nextWord()
    {
        if (shared.cursor < descriptionWords) return description[shared.cursor++];
        shared.status = SLUICE_ST_BAD_FILTER;
        return 0;
    }

    __device__ void readColumns(uint32_t runs)
    {
        uint32_t columns = 0, bytes = 0, group = 0;
        bool good = true;
        for (uint32_t r = 0; r < runs && good; ++r) {
            const uint32_t run = nextWord(), repeat = run & 0xff, log2Bytes = run >> 8 & 3,
                           predictor = run >> 16 & 0xff;
            const bool same = columns != 0 && ((shared.column[columns - 1] ^ run) & kSplit) == 0;
            good = shared.status == SLUICE_ST_OK && log2Bytes != 3 && (run >> 14 & 3) == 0 && predictor < kPredictors &&
                   repeat != 0 && repeat <= SLUICE_FILTER_MAX_STRIDE - columns && ((run & kJoined) == 0 || same) &&
                   (predictor < kUp || shared.width != 0) && (repeat << log2Bytes) <= SLUICE_FILTER_MAX_STRIDE - bytes;
            for (uint32_t k = 0; good && k < repeat; ++k) {
                if ((run & kJoined) == 0) group = columns;
                shared.column[columns] = (run & ~0xffu) | bytes;
                shared.group[columns] = group;
                for (uint32_t b = 0; b < 1u << log2Bytes; ++b)
                    shared.byteColumn[bytes++] = static_cast<uint8_t>(columns);
                ++columns;
            }
        }
        for (uint32_t c = 0; c < columns; ++c) {
            const uint32_t base = shared.column[c] >> 24;
            if (base == 0) continue;
            good = good && base <= columns && shared.column[base - 1] >> 24 == 0 &&
                   ((shared.column[base - 1] ^ shared.column[c]) & 0x300) == 0;
        }
        uint32_t end = bytes; // of a group
        for (uint32_t c = columns; c-- > 0;) {
            const uint32_t leader = shared.group[c], begin = shared.column[leader] & 0xff;
            shared.group[c] = begin | (end - begin) << 8;
            if (leader == c) end = begin;
        }
        shared.columns = columns;
        shared.stride = bytes;
        if (!good || (shared.packets != 0 && columns == 0)) shared.status = SLUICE_ST_BAD_FILTER;
    }

    __device__ void readSection()
    {
        // size : 21, runs : 8, rows : 1, Targa packets : 1, reserved : 1
        const uint32_t head = nextWord(), size = head & 0x1fffff, left = tileSize - position;
        const bool rest = size == SLUICE_FILTER_REST;
        --shared.sections;
        shared.packets = head >> 30 & 1;
        shared.size = rest ? left : size;
        shared.width = shared.first = 0;
        bool good = head >> 31 == 0 && (rest ? shared.sections == 0 : size <= left);
        if ((head >> 29 & 1) != 0) {
            shared.width = nextWord();
            shared.first = nextWord();
            good = good && shared.width - 1 < 1u << 20 && shared.first < shared.width && shared.packets == 0;
        }
        if (!good) shared.status = SLUICE_ST_BAD_FILTER;
        readColumns(head >> 21 & 0xff);
        if (shared.sections == 0 && shared.cursor != descriptionWords) shared.status = SLUICE_ST_BAD_FILTER;
    }

    // --- Values ---

    __device__ uint32_t bytesOf(uint32_t column) const { return 1u << (shared.column[column] >> 8 & 3); }
    __device__ uint32_t predictorOf(uint32_t column) const { return shared.column[column] >> 16 & 0xff; }

    __device__ uint32_t residual(uint32_t column, uint32_t i) const
    {
        const uint32_t word = shared.column[column], bytes = bytesOf(column), place = word & 0xff;
        const uint32_t group = shared.group[column] & 0xff, groupBytes = shared.group[column] >> 8;
        const bool split = (word & kSplit) != 0;
        const uint8_t* from = planes + (split ? place * count + i : group * count + i * groupBytes + place - group);
        const uint32_t step = split ? count : 1;
        uint32_t value = from[0];
        if (bytes >= 2) value |= static_cast<uint32_t>(from[step]) << 8;
        if (bytes == 4) {
            value |= static_cast<uint32_t>(from[2 * step]) << 16 | static_cast<uint32_t>(from[3 * step]) << 24;
        }
        return (word & kZigzag) != 0 ? (value >> 1 ^ (0u - (value & 1))) & maskOf(bytes) : value;
    }

    // Values of columns with a prediction, in scratch.
    __device__ uint32_t loadValue(uint32_t column, uint32_t i) const
    {
        const uint8_t* from = scratch + shared.values[column];
        switch (bytesOf(column)) {
        case 1: return from[i];
        case 2: return reinterpret_cast<const uint16_t*>(from)[i];
        default: return reinterpret_cast<const uint32_t*>(from)[i];
        }
    }
    __device__ void storeValue(uint32_t column, uint32_t i, uint32_t value) const
    {
        uint8_t* to = scratch + shared.values[column];
        switch (bytesOf(column)) {
        case 1: to[i] = static_cast<uint8_t>(value); break;
        case 2: reinterpret_cast<uint16_t*>(to)[i] = static_cast<uint16_t>(value); break;
        default: reinterpret_cast<uint32_t*>(to)[i] = value; break;
        }
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

    // --- Predictions undone, by the whole block ---

    // The first `records` records of a difference of some order: as many sums in a row.
    __device__ void undoDifferences(uint32_t column, uint32_t records, uint32_t order)
    {
        uint32_t carry[3] = {};
        for (uint32_t base = 0; base < records; base += kThreads * kPerLane) {
            const uint32_t begin = base + threadIdx.x * kPerLane;
            uint32_t values[kPerLane];
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k)
                values[k] = begin + k < records ? residual(column, begin + k) : 0;
#pragma unroll
            for (uint32_t o = 0; o < 3; ++o) {
                if (o >= order) break;
                uint32_t sum = 0, total;
#pragma unroll
                for (uint32_t k = 0; k < kPerLane; ++k)
                    sum = values[k] += sum;
                const uint32_t before = exclusiveSum(sum, total) + carry[o];
#pragma unroll
                for (uint32_t k = 0; k < kPerLane; ++k)
                    values[k] += before;
                carry[o] += total;
            }
#pragma unroll
            for (uint32_t k = 0; k < kPerLane; ++k)
                if (begin + k < records) storeValue(column, begin + k, values[k]);
        }
    }

    // Sums down each column of the image. above: the first row's values are there already; else it is as the others.
    __device__ void undoUp(uint32_t column, bool above) const
    {
        for (uint32_t x = threadIdx.x; x < min(width, count); x += kThreads) {
            uint32_t sum = above ? loadValue(column, x) : residual(column, x);
            if (!above) storeValue(column, x, sum);
            for (uint32_t i = x + width; i < count; i += width) {
                sum += residual(column, i);
                storeValue(column, i, sum);
            }
        }
    }

    __device__ uint32_t rows() const { return (first + count + width - 1) / width; }

    // Sums along each row, in place.
    __device__ void undoRows(uint32_t column) const
    {
        for (uint32_t row = threadIdx.x; row < rows(); row += kThreads) {
            const uint32_t begin = row * width; // with the missing records of the first row counted
            uint32_t sum = 0;
            for (uint32_t i = max(begin, first) - first; i < min(begin + width - first, count); ++i) {
                sum += loadValue(column, i);
                storeValue(column, i, sum);
            }
        }
    }

    // Up to kWave columns with the median or the average, as many rows at once as there are threads.
    __device__ void undoWave(const uint32_t (&columns)[kWave], uint32_t columnCount) const
    {
        const uint32_t lane = threadIdx.x;
        for (uint32_t band = 0; band < rows(); band += kThreads) {
            const uint32_t begin = (band + lane) * width, steps = width + min(kThreads, rows() - band) - 1;
            const bool inImage = band + lane < rows();
            uint32_t left[kWave] = {}, upLeft[kWave] = {};
            for (uint32_t k = 0; k < kWave; ++k)
                shared.wave[0][k][lane + 1] = shared.wave[1][k][lane + 1] = 0;
            __syncthreads(); // also: the band above is in scratch
            for (uint32_t s = 0; s < steps; ++s) {
                const uint32_t x = s - lane, at = begin + x, i = at - first;
                if (inImage && x < width) {
                    const bool there = at >= first && i < count;
#pragma unroll
                    for (uint32_t k = 0; k < kWave; ++k) {
                        if (k >= columnCount) break;
                        const uint32_t mask = maskOf(bytesOf(columns[k]));
                        uint32_t up = shared.wave[s & 1][k][lane], value = 0;
                        if (lane == 0) up = band != 0 && at >= first + width ? loadValue(columns[k], i - width) : 0;
                        if (there) {
                            // Bytes without a base are unsigned.
                            const bool isSigned = mask != 0xff || shared.column[columns[k]] >> 24 != 0;
                            const uint32_t bias = isSigned ? (mask >> 1) + 1 : 0;
                            const uint32_t guess = predictorOf(columns[k]) == kAverage
                                                       ? averageOf(left[k], up, mask, bias)
                                                       : medianOf(left[k], up, upLeft[k], mask, bias);
                            value = (residual(columns[k], i) + guess) & mask;
                            storeValue(columns[k], i, value);
                        }
                        left[k] = value;
                        upLeft[k] = up;
                    }
                }
#pragma unroll
                for (uint32_t k = 0; k < kWave; ++k)
                    if (k < columnCount) shared.wave[(s + 1) & 1][k][lane + 1] = left[k];
                __syncthreads();
            }
        }
    }

    __device__ void undoPredictions()
    {
        for (uint32_t c = 0; c < shared.columns; ++c) {
            const uint32_t predictor = predictorOf(c);
            if (predictor == kNone || predictor > kUp) continue;
            undoDifferences(c, predictor == kUp ? min(width, count) : count, predictor == kUp ? 1 : predictor);
        }
        __syncthreads();
        for (uint32_t c = 0; c < shared.columns; ++c)
            if (predictorOf(c) == kUp || predictorOf(c) == kGradient) undoUp(c, predictorOf(c) == kUp);
        __syncthreads();
        for (uint32_t c = 0; c < shared.columns; ++c)
            if (predictorOf(c) == kGradient) undoRows(c);
        for (uint32_t next = 0; next < shared.columns;) {
            uint32_t columns[kWave] = {}, found = 0;
            for (; next < shared.columns && found < kWave; ++next)
                if (predictorOf(next) >= kMedian) columns[found++] = next;
            if (found != 0) undoWave(columns, found);
        }
        __syncthreads();
    }

    // --- Records put together ---

    __device__ uint32_t valueOf(uint32_t column, uint32_t i) const
    {
        return predictorOf(column) == kNone ? residual(column, i) : loadValue(column, i);
    }

    // Byte `at` of what the planes hold: records, then bytes that are too few for one.
    __device__ uint8_t planesByte(uint32_t at) const
    {
        if (stride == 0 || at >= count * stride) return planes[at];
        const uint32_t i = at / stride, byte = at - i * stride, column = shared.byteColumn[byte];
        const uint32_t word = shared.column[column], bytes = bytesOf(column), base = word >> 24;
        uint32_t value = valueOf(column, i);
        if (base != 0) value += valueOf(base - 1, i);
        if ((word & kRotated) != 0) {
            value &= maskOf(bytes);
            value = value >> 1 | value << (8 * bytes - 1);
        }
        return static_cast<uint8_t>(value >> 8 * (byte - (word & 0xff)));
    }

    __device__ void writeRecords(uint32_t size) const
    {
        for (uint32_t at = threadIdx.x; at < size; at += kThreads)
            target[position + at] = planesByte(at);
    }

    // --- Targa packets ---

    // What packet k takes, from its header: with its pixels.
    __device__ uint32_t packetBytes(uint32_t k) const
    {
        const uint32_t header = source[position + k];
        return 1 + ((header & 128) != 0 ? 1 : header + 1) * stride;
    }

    // Counts the packets that take exactly `size` bytes; 0: none do.
    __device__ uint32_t countPackets(uint32_t size)
    {
        uint32_t bytes = 0;
        if (threadIdx.x == 0) shared.packets = 0;
        for (uint32_t base = 0; base < size && bytes < size; base += kThreads) {
            const uint32_t k = base + threadIdx.x, own = k < size ? packetBytes(k) : 0;
            uint32_t total;
            const uint32_t end = bytes + exclusiveSum(own, total) + own;
            if (own != 0 && end == size) shared.packets = k + 1;
            bytes += total;
        }
        __syncthreads();
        return shared.packets;
    }

    __device__ void writePackets(uint32_t packets)
    {
        uint32_t begin = 0; // of the packets so far, in the section
        for (uint32_t base = 0; base < packets; base += kThreads) {
            const uint32_t k = base + threadIdx.x, own = k < packets ? packetBytes(k) : 0;
            uint32_t total;
            shared.packetEnd[threadIdx.x] = begin + exclusiveSum(own, total) + own;
            __syncthreads();
            for (uint32_t at = begin + threadIdx.x; at < begin + total; at += kThreads) {
                uint32_t packet = 0; // how many of these packets end at or before it
#pragma unroll
                for (uint32_t reach = kThreads / 2; reach != 0; reach /= 2)
                    packet += shared.packetEnd[packet + reach - 1] <= at ? reach : 0;
                const uint32_t start = packet == 0 ? begin : shared.packetEnd[packet - 1];
                target[position + at] = at == start ? source[position + base + packet]
                                                    : planesByte(at - (base + packet) - 1);
            }
            begin += total;
            __syncthreads();
        }
    }

    // What readSection found becomes bytes of the tile.
    __device__ uint32_t undoSection()
    {
        const uint32_t size = shared.size;
        const bool hasPackets = shared.packets != 0;
        uint32_t packets = 0;
        stride = shared.stride;
        width = shared.width;
        first = shared.first;
        planes = source + position;
        __syncthreads(); // shared.packets has been read
        if (hasPackets) {
            packets = countPackets(size);
            if (packets == 0 && size != 0) return SLUICE_ST_BAD_FILTER;
            planes += packets;
        }
        count = stride == 0 ? 0 : (size - packets) / stride;
        if (threadIdx.x == 0) {
            uint32_t end = 0;
            for (uint32_t c = 0; c < shared.columns; ++c) {
                shared.values[c] = end;
                end += (count * bytesOf(c) + 3) & ~3u;
            }
        }
        __syncthreads(); // also: the section before is done with scratch
        undoPredictions();
        if (hasPackets) {
            writePackets(packets);
        } else {
            writeRecords(size);
        }
        return SLUICE_ST_OK;
    }

    __device__ uint32_t run()
    {
        if (threadIdx.x == 0) {
            const bool sized = descriptionWords - 1 < 4096;
            const uint32_t head = sized ? description[0] : 0;
            shared.cursor = 1;
            shared.sections = head >> 16;
            const bool good = sized && (head & 0xffff) == 1 && shared.sections - 1 < SLUICE_FILTER_MAX_SECTIONS;
            shared.status = good ? SLUICE_ST_OK : SLUICE_ST_BAD_FILTER;
        }
        __syncthreads();
        uint32_t status = shared.status;
        while (status == SLUICE_ST_OK && shared.sections != 0) {
            __syncthreads();
            if (threadIdx.x == 0) readSection();
            __syncthreads();
            status = shared.status;
            if (status == SLUICE_ST_OK) status = undoSection();
            position += shared.size;
            __syncthreads();
        }
        if (status != SLUICE_ST_OK) return status;
        stride = count = 0; // what remains is copied
        planes = source + position;
        writeRecords(tileSize - position);
        return SLUICE_ST_OK;
    }
};

__global__ void __launch_bounds__(kThreads) filterKernel(FilterParams params)
{
    __shared__ Shared shared;
    const uint32_t* inMemory = pointerFrom<const uint32_t>(params.tileCount);
    const uint32_t tiles = inMemory == nullptr ? params.maxTileCount : min(*inMemory, params.maxTileCount);
    uint32_t* statuses = pointerFrom<uint32_t>(params.status);
    for (uint32_t index = blockIdx.x; index < tiles; index += params.workgroups) {
        const Tile tile = pointerFrom<const Tile>(params.tiles)[index];
        if (threadIdx.x == 0) // one reads: another tile with the same word may write it
            shared.status = tile.statusIndex < params.statusCount ? statuses[tile.statusIndex] : SLUICE_ST_PENDING;
        __syncthreads();
        const bool decoded = shared.status == SLUICE_ST_OK || shared.status == SLUICE_ST_UNVERIFIED;
        __syncthreads();
        if (!decoded) continue;
        const uint64_t description = u64From(params.descriptions) + tile.descriptionOffset;
        const bool aligned = (tile.source | tile.target | tile.descriptionOffset | tile.descriptionSize) % 4 == 0;
        uint32_t status = SLUICE_ST_BAD_REGION;
        if (aligned && tile.size - 1 < params.maxTileBytes &&
            insideBuffer(tile.source, tile.size, params.source, params.sourceSize) &&
            insideBuffer(tile.target, tile.size, params.destination, params.destinationSize) &&
            insideBuffer(description, tile.descriptionSize, params.descriptions, params.descriptionsSize)) {
            Undo undo{shared,
                      reinterpret_cast<const uint32_t*>(static_cast<uintptr_t>(description)),
                      tile.descriptionSize / 4,
                      reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(tile.source)),
                      reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(tile.target)),
                      pointerFrom<uint8_t>(params.scratch) + static_cast<uint64_t>(blockIdx.x) * params.scratchBytes,
                      tile.size};
            status = undo.run();
        }
        if (status != SLUICE_ST_OK && threadIdx.x == 0) {
            statuses[tile.statusIndex] = status;
            atomicAdd(&statuses[params.statusCount], 1u);
            atomicMin(&statuses[params.statusCount + 1], tile.statusIndex);
        }
        __syncthreads();
    }
}

} // namespace

cudaError_t loadFilter()
{
    return load(filterKernel);
}

cudaError_t launchFilter(cudaStream_t stream, const FilterParams& params)
{
    if (params.maxTileCount == 0) return cudaSuccess;
    return launch(stream, filterKernel, params.workgroups, kThreads, params);
}

} // namespace sluice
