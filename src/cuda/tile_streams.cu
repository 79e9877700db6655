// SPDX-License-Identifier: MIT OR Apache-2.0
// Tile streams taken whole, a block a stream: the passes of shaders/tile_streams.comp.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/region.cuh"

namespace sluice {
namespace {

constexpr uint32_t kThreads = 128;

struct Result { // SluiceStreamResult
    uint32_t status, firstTile, tileCount, size;
};
struct Summary { // SluiceStreamSummary
    uint32_t failedStreams, firstFailedStream, tileCount, tilesNeeded;
};

__device__ inline bool inside(uint64_t offset, uint64_t size, u64pair bufferSize)
{
    return offset % 4 == 0 && insideBuffer(offset, size, u64pair{0, 0}, bufferSize);
}

// One stream's place, header and table; the same in all threads of the block.
struct Stream {
    uint64_t source, sourceSize, destination, destinationSize; // addresses and bytes
    uint32_t tileCount = 0, lastSize = 0, size = 0;            // size: decoded
    const uint32_t* table = nullptr;

    // Reads the list's entry and the header. A good one stays PENDING.
    __device__ uint32_t readHeader(const TileStreamsParams& params, uint32_t index)
    {
        const uint64_t* range =
            pointerFrom<const uint64_t>(params.streams) + 4 * static_cast<uint64_t>(index);
        sourceSize = range[1];
        destinationSize = range[3];
        source = u64From(params.source) + range[0];
        destination = u64From(params.destination) + range[2];
        if (!inside(range[0], sourceSize, params.sourceSize) ||
            !inside(range[2], destinationSize, params.destinationSize))
            return SLUICE_STREAM_ST_BAD_RANGE;
        if (sourceSize < 8) return SLUICE_STREAM_ST_TRUNCATED;
        // u8 id = 4, u8 id ^ 0xff, u16 tile count; tile size index : 2, last tile's size : 18,
        // reserved : 12
        const uint32_t* words = reinterpret_cast<const uint32_t*>(static_cast<uintptr_t>(source));
        const uint32_t first = words[0], second = words[1], count = first >> 16,
                       last = second >> 2 & 0x3ffff;
        if ((first & 0xffff) != 0xfb04 || (second & 3) != 1 || second >> 20 != 0 ||
            last > SLUICE_GD_TILE_BYTES || (count == 0 && last != 0))
            return SLUICE_STREAM_ST_BAD_HEADER;
        if (sourceSize < 8 + 4 * count) return SLUICE_STREAM_ST_TRUNCATED;
        table = words + 2;
        tileCount = count;
        lastSize = last == 0 ? SLUICE_GD_TILE_BYTES : last;
        size = count == 0 ? 0 : (count - 1) * SLUICE_GD_TILE_BYTES + lastSize;
        return SLUICE_STREAM_ST_PENDING;
    }

    // Entry 0 is the compressed size of the last tile; tile 0 begins at 0.
    __device__ uint32_t begin(uint32_t i) const { return i == 0 ? 0 : table[i]; }
    __device__ uint32_t compressedSize(uint32_t i) const
    {
        return i + 1 == tileCount ? table[0] : table[i + 1] - begin(i);
    }
    __device__ uint64_t data() const { return source + 8 + 4 * tileCount; }

    __device__ bool badEntry(uint32_t i) const
    {
        const uint32_t bytes = compressedSize(i);
        if (bytes - 1 >= SLUICE_GD_MAX_COMPRESSED) return true;
        return i + 1 != tileCount && (table[i + 1] <= begin(i) || bytes % 4 != 0);
    }

    // The rest of the table's rules.
    __device__ uint32_t checkEnd() const
    {
        uint64_t end = 8 + 4 * tileCount;
        if (tileCount != 0) end += static_cast<uint64_t>(begin(tileCount - 1)) + table[0];
        if (end != sourceSize)
            return end > sourceSize ? SLUICE_STREAM_ST_TRUNCATED : SLUICE_STREAM_ST_BAD_TABLE;
        return size > destinationSize ? SLUICE_STREAM_ST_NO_SPACE : SLUICE_STREAM_ST_PENDING;
    }
};

__device__ void check(const TileStreamsParams& params, uint32_t index, bool there, Result& result)
{
    Stream stream;
    uint32_t status = there ? stream.readHeader(params, index) : SLUICE_STREAM_ST_PENDING;
    bool bad = false;
    for (uint32_t i = threadIdx.x; i < stream.tileCount; i += kThreads)
        bad = bad || stream.badEntry(i);
    bad = __syncthreads_or(bad) != 0;
    if (threadIdx.x != 0) return;
    if (there && status == SLUICE_STREAM_ST_PENDING)
        status = bad ? SLUICE_STREAM_ST_BAD_TABLE : stream.checkEnd();
    const bool good = there && status == SLUICE_STREAM_ST_PENDING;
    result.status = status;
    result.tileCount = good ? stream.tileCount : 0;
    result.size = good ? stream.size : 0;
    pointerFrom<uint32_t>(params.counts)[index] = result.tileCount;
}

__device__ void write(const TileStreamsParams& params, uint32_t index, Result& result,
                      Summary& summary)
{
    const uint32_t first = pointerFrom<const uint32_t>(params.counts)[index],
                   tiles = result.tileCount;
    const bool fits = first <= params.maxTileCount && tiles <= params.maxTileCount - first;
    if (threadIdx.x == 0) {
        result.firstTile = first;
        if (index + 1 == params.maxStreamCount) summary.tilesNeeded = first + tiles;
        if (tiles != 0 && !fits) {
            result.status = SLUICE_STREAM_ST_NO_TILES;
            atomicMin(&summary.tileCount, first); // the tiles of the streams before this one
        }
    }
    Stream stream;
    if (tiles == 0 || !fits || stream.readHeader(params, index) != SLUICE_STREAM_ST_PENDING) return;
    uint64_t* regions = pointerFrom<uint64_t>(params.regions) + 4 * static_cast<uint64_t>(first);
    for (uint32_t i = threadIdx.x; i < min(tiles, stream.tileCount); i += kThreads) {
        regions[4 * i] = stream.data() + stream.begin(i);
        regions[4 * i + 1] = stream.destination + static_cast<uint64_t>(i) * SLUICE_GD_TILE_BYTES;
        regions[4 * i + 2] = stream.compressedSize(i);
        regions[4 * i + 3] = i + 1 == stream.tileCount ? stream.lastSize : SLUICE_GD_TILE_BYTES;
    }
}

__device__ void verdict(const TileStreamsParams& params, uint32_t index, Result& result,
                        Summary& summary)
{
    const uint32_t* tiles = pointerFrom<const uint32_t>(params.status) + result.firstTile;
    const bool decoded = result.status == SLUICE_STREAM_ST_PENDING;
    bool bad = false;
    for (uint32_t i = threadIdx.x; decoded && i < result.tileCount; i += kThreads)
        bad = bad || tiles[i] != SLUICE_ST_OK;
    bad = __syncthreads_or(bad) != 0;
    if (threadIdx.x != 0) return;
    if (decoded) result.status = bad ? SLUICE_STREAM_ST_BAD_TILE : SLUICE_STREAM_ST_OK;
    if (result.status == SLUICE_STREAM_ST_OK) return;
    atomicAdd(&summary.failedStreams, 1u);
    atomicMin(&summary.firstFailedStream, index);
}

__global__ void __launch_bounds__(kThreads) tileStreamsKernel(TileStreamsParams params)
{
    const uint32_t index = blockIdx.x;
    const uint32_t* count = pointerFrom<const uint32_t>(params.streamCount);
    const bool there =
        index < (count == nullptr ? params.maxStreamCount : min(*count, params.maxStreamCount));
    Result* results = pointerFrom<Result>(params.results);
    Summary& summary = *reinterpret_cast<Summary*>(results + params.maxStreamCount);

    if (params.pass == SLUICE_STREAMS_CHECK && index == 0 && threadIdx.x == 0)
        summary = Summary{0, 0xffffffffu, 0, 0};
    const uint32_t word = index * kThreads + threadIdx.x;
    if (params.pass == SLUICE_STREAMS_CHECK && word < params.zeroedWords)
        pointerFrom<uint32_t>(params.zeroed)[word] = 0;
    if (index >= params.maxStreamCount) return; // the block of an empty list
    if (params.pass == SLUICE_STREAMS_CHECK) {
        check(params, index, there, results[index]);
    } else if (params.pass == SLUICE_STREAMS_WRITE) {
        write(params, index, results[index], summary);
    } else if (there) {
        verdict(params, index, results[index], summary);
    }
}

} // namespace

cudaError_t loadTileStreams() { return load(tileStreamsKernel); }

cudaError_t launchTileStreams(cudaStream_t stream, const TileStreamsParams& params)
{
    return launch(stream, tileStreamsKernel, max(params.maxStreamCount, 1u), kThreads, params);
}

} // namespace sluice
