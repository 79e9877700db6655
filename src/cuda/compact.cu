// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction: writes the elements that pass a test, or their indices, or both, without gaps
// and in their order. A single pass over the input is enough, because each block publishes how many
// elements of its tile it keeps, and looks back at the counts of earlier tiles. A block does one
// tile (compact_block.cuh) or many, through a *ring* in shared memory (compact_ring.cuh,
// compact_words.cuh).
//
// shaders/compact.comp, compact_ring.comp and compact_call.comp are its counterparts. Vulkan has no
// asynchronous copies to shared memory, so its ring takes elements of 4 bytes only. For short lists
// Vulkan has compact_call.comp, which has little code; here compactKernel does short lists too.
#include <algorithm>

#include "cuda/kernels.h"
#include "cuda/lib/compact_ring.cuh"
#include "cuda/lib/compact_words.cuh"
#include "cuda/tuning.h"

namespace sluice {
namespace {

template <bool Bytes>
__global__ void __launch_bounds__(kCompactThreads, kCompactWordBlocksPerProcessor)
    compactWordsKernel(const __grid_constant__ CompactParams params)
{
#if __CUDA_ARCH__ >= 900
    __shared__ CompactShared shared;
    __shared__ typename CompactWords<Bytes>::Shared ring;
    const uint32_t count = elementCount(params),
                   wholeTiles = (max(count, 1u) - 1) / CompactTile<4>::kElements;
    CountLookback lookback(shared.looked, params.scratch);
    CompactWords<Bytes> compact{{params, shared, lookback, count, wholeTiles + 1}};
    if (blockIdx.x == 0) {
        compact.scan(ring, wholeTiles);
        compact.compactTile(wholeTiles, true);
    } else {
        compact.compactWholeTiles(ring, wholeTiles);
        lookback.leave();
    }
    lookback.clean(wholeTiles + 1);
#endif
}

// Returns true if the command is short: each block has one tile. Programmatic dependent launch then
// pays, because it overlaps the start of this kernel with the end of the kernel before.
__host__ __device__ inline bool isShort(const CompactParams& params)
{
    return (params.mode & SLUICE_COMPACT_MODE_DIRECT) != 0;
}

template <uint32_t Bytes>
__global__ void __launch_bounds__(kCompactThreads, kCompactBlocksPerProcessor)
    compactKernel(const __grid_constant__ CompactParams params)
{
    __shared__ CompactShared shared;
    waitForPreviousLaunch();
    if (isShort(params)) letNextLaunchBegin();
    const uint32_t count = elementCount(params);
    // An empty input has one empty tile, because the block of the last tile writes the results.
    const uint32_t tiles = max(CompactTile<Bytes>::count(count), 1u);
    CountLookback lookback(shared.looked, params.scratch);
    Compact<Bytes> compact{params, shared, lookback, count, tiles};
    if (hasMode(params, SLUICE_COMPACT_MODE_COUNT)) {
        compact.countAll();
    } else if (hasMode(params, SLUICE_COMPACT_MODE_SERIAL)) {
        compact.serial();
    } else if (gridDim.x == 1) {
        compact.compactTile(0, false);
    } else {
        if (hasMode(params, SLUICE_COMPACT_MODE_SCANNER) && blockIdx.x == 0) {
            lookback.scan(tiles, params.polls);
            lookback.leave();
        } else {
            CompactRing<Bytes>{compact}.compactAll();
        }
        lookback.clean(tiles);
    }
}

using CompactKernel = void (*)(CompactParams);

CompactKernel kernelFor(uint32_t elementSize)
{
    switch (elementSize) {
    case 1: return compactKernel<1>;
    case 2: return compactKernel<2>;
    case 8: return compactKernel<8>;
    case 12: return compactKernel<12>;
    case 16: return compactKernel<16>;
    case 20: return compactKernel<20>;
    default: return compactKernel<4>;
    }
}

} // namespace

bool compactsWords(const CompactParams& params)
{
    const uint32_t test = params.mode & SLUICE_COMPACT_MODE_TEST;
    const uint32_t notCompared = SLUICE_COMPACT_MODE_INVERT | SLUICE_COMPACT_MODE_F32;
    return u64From(params.output_) != 0 &&
           (test == SLUICE_COMPACT_TEST_BYTES ||
            (test == SLUICE_COMPACT_TEST_COMPARE && (params.mode & notCompared) == 0));
}

uint32_t compactTileElements(uint32_t elementSize)
{
    return kCompactRows * SLUICE_COMPACT_ROW_ELEMENTS(elementSize) * kCompactThreads;
}

cudaError_t loadCompact(CudaTraits& traits)
{
    cudaError_t error = cudaSuccess;
    for (const uint32_t size : {1u, 2u, 4u, 8u, 12u, 16u, 20u}) {
        if (error != cudaSuccess) break;
        const void* kernel = reinterpret_cast<const void*>(kernelFor(size));
        cudaFuncAttributes attributes;
        error = cudaFuncGetAttributes(&attributes, kernel);
        traits.sm90 = traits.sm90 && error == cudaSuccess && isSm90(attributes);
        if (error == cudaSuccess && traits.sm90)
            error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         kCompactRingBytes);
    }
    for (const auto kernel : {compactWordsKernel<false>, compactWordsKernel<true>}) {
        if (error == cudaSuccess && traits.sm90)
            error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         kCompactWordRingBytes);
    }
    return error;
}

cudaError_t launchCompactWords(cudaStream_t stream, const CompactParams& params)
{
    const bool bytes = (params.mode & SLUICE_COMPACT_MODE_TEST) == SLUICE_COMPACT_TEST_BYTES;
    return launch(stream, bytes ? compactWordsKernel<true> : compactWordsKernel<false>,
                  params.workgroups, kCompactThreads, params, kCompactWordRingBytes);
}

cudaError_t launchCompact(cudaStream_t stream, const CompactParams& params, uint32_t elementSize,
                          bool programmatic)
{
    const bool ring = (params.mode & SLUICE_COMPACT_MODE_AHEAD) != 0;
    const uint32_t tileBytes =
        SLUICE_COMPACT_IS_WIDE(elementSize) ? kCompactWideTileBytes : kCompactTileBytes;
    return launch(stream, kernelFor(elementSize), params.workgroups, kCompactThreads, params,
                  ring ? kCompactRingBytes : tileBytes, programmatic && isShort(params));
}

} // namespace sluice
