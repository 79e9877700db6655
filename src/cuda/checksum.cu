// SPDX-License-Identifier: MIT OR Apache-2.0
// The checksum of decoded tiles, one warp a tile: XXH32 of 32 pieces, one lane a piece, then XXH32
// of those 32 words.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/pitch.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

namespace sluice {
namespace {

constexpr uint32_t kWarps = 4;

// The constants of XXH32 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md); the seed is 0.
constexpr uint32_t kPrime1 = 0x9E3779B1u, kPrime2 = 0x85EBCA77u, kPrime3 = 0xC2B2AE3Du,
                   kPrime4 = 0x27D4EB2Fu, kPrime5 = 0x165667B1u;

__device__ inline uint32_t rotateLeft(uint32_t value, uint32_t bits)
{
    return __funnelshift_l(value, value, bits);
}
__device__ inline uint32_t xxhRound(uint32_t sum, uint32_t word)
{
    return rotateLeft(sum + word * kPrime2, 13) * kPrime1;
}

struct XxhLanes {
    uint32_t sum[4] = {kPrime1 + kPrime2, kPrime2, 0u, 0u - kPrime1};

    __device__ uint32_t merged() const
    {
        return rotateLeft(sum[0], 1) + rotateLeft(sum[1], 7) + rotateLeft(sum[2], 12) +
               rotateLeft(sum[3], 18);
    }
};

__device__ inline uint32_t xxhAvalanche(uint32_t hash)
{
    hash = (hash ^ hash >> 15) * kPrime2;
    hash = (hash ^ hash >> 13) * kPrime3;
    return hash ^ hash >> 16;
}

// XXH32 of `size` bytes; word(i) is word i of them, byte(i) byte i.
template <typename Word, typename Byte>
__device__ inline uint32_t xxh32(uint32_t size, Word word, Byte byte)
{
    uint32_t hash = kPrime5;
    uint32_t at = 0; // in words
    if (size >= 16) {
        XxhLanes lanes;
        for (; 4 * at + 16 <= size; at += 4) {
#pragma unroll
            for (uint32_t i = 0; i < 4; ++i)
                lanes.sum[i] = xxhRound(lanes.sum[i], word(at + i));
        }
        hash = lanes.merged();
    }
    hash += size;
    for (; 4 * at + 4 <= size; ++at)
        hash = rotateLeft(hash + word(at) * kPrime3, 17) * kPrime4;
    for (uint32_t i = 4 * at; i < size; ++i)
        hash = rotateLeft(hash + byte(i) * kPrime5, 11) * kPrime1;
    return xxhAvalanche(hash);
}

// XXH32 of the tile's bytes [begin, end); begin is a multiple of 4.
__device__ uint32_t hashPiece(const RegionParams& params, uint64_t tile, uint32_t begin,
                              uint32_t end)
{
    if (params.rowBytes == 0) {
        const uint8_t* bytes =
            reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(tile + begin));
        const uint32_t* words = reinterpret_cast<const uint32_t*>(bytes);
        return xxh32(
            end - begin, [words](uint32_t i) { return words[i]; },
            [bytes](uint32_t i) { return static_cast<uint32_t>(bytes[i]); });
    }
    const PitchedTile rows(params, tile);
    return xxh32(
        end - begin, [&](uint32_t i) { return *rows.pointer<const uint32_t>(begin + 4 * i); },
        [&](uint32_t i) { return static_cast<uint32_t>(*rows.pointer<const uint8_t>(begin + i)); });
}

// XXH32 of the 32 words that the lanes of a warp hold. The same in all lanes.
__device__ uint32_t xxh32OfWarp(uint32_t word)
{
    XxhLanes lanes;
#pragma unroll
    for (uint32_t i = 0; i < kWarpSize; ++i) {
        lanes.sum[i % 4] =
            xxhRound(lanes.sum[i % 4], __shfl_sync(kAllLanes, word, static_cast<int>(i)));
    }
    return xxhAvalanche(lanes.merged() + 4 * kWarpSize);
}

__global__ void __launch_bounds__(kWarps* kWarpSize) checksumKernel(RegionParams params)
{
    const uint32_t index = blockIdx.x * kWarps + warpIndex();
    if (index >= regionCount(params)) return;
    const uint32_t status = pointerFrom<const uint32_t>(params.status)[index];
    if (status != SLUICE_ST_OK && status != SLUICE_ST_UNVERIFIED) return;

    // Such a tile had an allowed region; a list that has changed since must still not lead outside
    // the buffer.
    const Region region = loadRegion(params, index);
    bool match = destinationAllowed(params, region, SLUICE_MAX_TILE_BYTES);
    if (match) {
        const uint32_t size = static_cast<uint32_t>(region.decompressedSize);
        const uint32_t pieceBytes = 4 * (((size + 3) / 4 + kWarpSize - 1) / kWarpSize);
        const uint32_t begin = min(size, pieceBytes * laneIndex());
        const uint32_t end = min(size, begin + pieceBytes);
        const uint32_t piece = hashPiece(params, region.destination, begin, end);
        match = xxh32OfWarp(piece) == pointerFrom<const uint32_t>(params.expected)[index];
    }
    if (laneIndex() == 0) writeStatus(params, index, match ? SLUICE_ST_OK : SLUICE_ST_BAD_CHECKSUM);
}

} // namespace

cudaError_t loadChecksum() { return load(checksumKernel); }

cudaError_t launchChecksum(cudaStream_t stream, const RegionParams& params)
{
    if (params.maxRegionCount == 0) return cudaSuccess;
    return launch(stream, checksumKernel, (params.maxRegionCount + kWarps - 1) / kWarps,
                  kWarps * kWarpSize, params);
}

} // namespace sluice
