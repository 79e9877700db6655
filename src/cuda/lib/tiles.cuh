// SPDX-License-Identifier: MIT OR Apache-2.0
// How scan and compact cut their input: into tiles of 4096 elements, and the tiles into one contiguous chunk a block.
//
//   block:  256 threads = 8 warps, walks the tiles of its chunk in order
//   tile:   warp w owns elements [512 w, 512 w + 512), as 16 rows of 32; lane l of row r holds element 32 r + l
//
// Rows make every load and store of a warp one run of 128 bytes whatever the alignment of the buffer.
#pragma once

#include "warp.cuh"

namespace sluice {

constexpr uint32_t kTileWarps = 8;
constexpr uint32_t kTileThreads = kTileWarps * kWarpSize;
constexpr uint32_t kTileRows = 16;
constexpr uint32_t kTileElements = kTileThreads * kTileRows;

// Blocks at most: several waves on today's largest GPUs, and few enough that a block can add up all partial sums below
// its own with 16 loads a thread.
constexpr uint32_t kMaxBlocks = 4096;

__host__ __device__ inline uint32_t tileCount(uint32_t count)
{
    return count / kTileElements + (count % kTileElements != 0 ? 1u : 0u);
}
__host__ __device__ inline uint32_t tilesPerBlock(uint32_t count)
{
    return (tileCount(count) + kMaxBlocks - 1) / kMaxBlocks;
}

// At least one block, which writes the total of an empty input.
__host__ __device__ inline uint32_t blockCount(uint32_t count)
{
    const uint32_t tiles = tileCount(count);
    return tiles == 0 ? 1u : (tiles + tilesPerBlock(count) - 1) / tilesPerBlock(count);
}

// Where this thread's elements of a tile start; row r is at + 32 r. 64 bits: it may pass 2^32 in the last tile.
__device__ inline uint64_t tileStart(uint32_t tile)
{
    return static_cast<uint64_t>(tile) * kTileElements + warpIndex() * (kTileRows * kWarpSize) + laneIndex();
}

struct TileRange {
    uint32_t begin, end;
};
__device__ inline TileRange blockTiles(uint32_t count)
{
    const uint32_t tiles = tileCount(count);
    const uint32_t perBlock = tilesPerBlock(count);
    TileRange range;
    range.begin = min(blockIdx.x * perBlock, tiles);
    range.end = min(range.begin + perBlock, tiles);
    return range;
}

// The sum of the partial sums of all blocks below this one. The same in all threads.
__device__ inline uint32_t sumOfEarlierBlocks(const uint32_t* partials, uint32_t (&shared)[kTileWarps])
{
    uint32_t sum = 0;
    for (uint32_t i = threadIdx.x; i < blockIdx.x; i += kTileThreads)
        sum += partials[i];
    return blockExclusiveSum(warpSum(sum), shared).total;
}

} // namespace sluice
