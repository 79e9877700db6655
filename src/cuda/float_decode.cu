// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes tensors of the float codec (docs/format.md, section 6) to memory. A warp decodes a tile
// (8,192 elements); a block takes neighbouring tiles of the list and builds a table for each tensor
// that it reaches. shaders/lib/float_tile.glsl and float_decode.comp explain the method. Here steps
// that would cost more instructions in C++ are PTX, and the tiles of short lists are prefetched.
#include <sluice/sluice_float.h>

#include "cuda/kernels.h"
#include "cuda/lib/float_elements.cuh"
#include "cuda/lib/region.cuh"
#include "cuda/tuning.h"

#include <type_traits>

namespace sluice {
namespace {

using namespace float_decode;

template <typename T>
__device__ T* pointerTo(uint64_t address)
{
    return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

// Reads tensor `index` of the list, and sets `good` if its members and its addresses are valid.
__device__ Tensor loadTensor(const FloatDecodeParams& params, uint32_t index)
{
    const uint64_t* list = pointerFrom<const uint64_t>(params.tensors) + 8ull * index;
    Tensor tensor = {};
    tensor.words = pointerTo<const uint2>(list[0]);
    tensor.units = list[1] / kUnit;
    tensor.index = pointerTo<const uint32_t>(list[2]);
    tensor.raw = pointerTo<const uint8_t>(list[4]);
    tensor.output = pointerTo<uint8_t>(list[5]);
    tensor.count = list[6];
    tensor.type = static_cast<uint32_t>(list[7]);
    tensor.firstTile = static_cast<uint32_t>(list[7] >> 32);
    tensor.good = tensor.type < SLUICE_FLOAT_TYPE_COUNT && tensor.count <= floats::kMaxCount;
    if (!tensor.good) return tensor;
    const uint32_t type = tensor.type, size = sizeOf(type);
    const uint64_t rawSize = tensor.count / kTile * (kTile / 8 * rawBitsOf(type)) +
                             planesOf(type, static_cast<uint32_t>(tensor.count % kTile)).end;
    const uint64_t tiles = (tensor.count + kTile - 1) / kTile;
    const auto fromSource = [&](uint64_t address, uint64_t bytes) {
        return insideBuffer(address, bytes, params.source, params.sourceSize);
    };
    tensor.good =
        ((list[0] | list[3] | list[4] | list[5]) & 15) == 0 && list[1] % kUnit == 0 &&
        (list[2] & 3) == 0 && fromSource(list[0], list[1]) &&
        fromSource(list[2], (tiles + 1) * 4) && fromSource(list[3], SLUICE_FLOAT_LENGTHS_SIZE) &&
        fromSource(list[4], rawSize) &&
        insideBuffer(list[5], tensor.count * size, params.destination, params.destinationSize);
    return tensor;
}

// Returns the code length of symbol threadIdx.x. While the threads call this, one of them reads and
// checks the tensor (loadTensor), so this function checks the address of the lengths itself.
__device__ uint32_t loadLength(const FloatDecodeParams& params, uint32_t tensor)
{
    const uint64_t address = pointerFrom<const uint64_t>(params.tensors)[8ull * tensor + 3];
    const uint32_t symbol = threadIdx.x;
    if (symbol >= 256 ||
        !insideBuffer(address, SLUICE_FLOAT_LENGTHS_SIZE, params.source, params.sourceSize))
        return 0;
    return pointerTo<const uint8_t>(address)[symbol / 2] >> symbol % 2 * 4 & 15;
}

// Decodes a tile and returns its status. The tensor must be valid, and the tile must have at least
// one element. The tile's codes are `units` pairs of words, from pair `begin` of the tensor on.
template <uint32_t Type>
__device__ uint32_t decodeElements(BlockShared& shared, uint32_t tile, uint32_t begin,
                                   uint32_t units, uint32_t elements)
{
    const Tensor& tensor = shared.tensor;
    const bool hasWhole = elements > kTailRows * kRow;
    Stream<Type> stream(shared, tensor.words + begin, units, hasWhole);
    constexpr uint32_t bits = bitsOf(Type), loadBytes = bits == 2 ? 2 : 4;
    const uint8_t* raw = tensor.raw + static_cast<uint64_t>(tile) * (kTile / 8 * rawBitsOf(Type));
    const Planes planes = planesOf(Type, elements);
    const uint32_t own = 8 * laneIndex();
    Places places = {raw + 2 * own, raw + planes.bytes + own,
                     raw + planes.bits + laneIndex() * bits / loadBytes * loadBytes,
                     tensor.output + kSize<Type> * (static_cast<uint64_t>(tile) * kTile + own)};
    uint32_t pairs[4], words[8] = {};
    const auto advance = [&] {
        places.words += 2 * kRow;
        places.bytes += kRow;
        places.bits += kRow / 8 * bits;
        places.output += kSize<Type> * kRow;
    };
    const auto decodeWhole = [&](const Raw& row, uint8_t* to) {
        decodeRow<Type>(stream, pairs);
        join<Type>(pairs, row, words);
        storeWhole<Type>(words, to);
    };
    if (kAhead<Type>) {
        // Each iteration decodes two rows and already loads the raw bits of the row after them. The
        // loop ends before that row could be incomplete, so nothing beyond the tile is loaded.
        Raw even = {};
        if (hasWhole) even = loadRaw<Type>(places, true);
#pragma unroll 1
        for (; elements > (kTailRows + 1) * kRow; elements -= 2 * kRow) {
            uint8_t* to = places.output;
            advance();
            const Raw odd = loadRaw<Type>(places, true);
            decodeWhole(even, to);
            to = places.output;
            advance();
            even = loadRaw<Type>(places, true);
            decodeWhole(odd, to);
        }
    }
#pragma unroll 1
    for (; elements > kTailRows * kRow; elements -= kRow) {
        // The raw bits of the row are loaded while its symbols are decoded.
        const Raw row = loadRaw<Type>(places, true);
        decodeWhole(row, places.output);
        advance();
    }
    stream.beginLast(hasWhole);
#pragma unroll 1
    for (bool more = true; more;) {
        more = elements > kRow;
        const Raw row = 8 * laneIndex() < elements ? loadRaw<Type>(places, more) : Raw{};
        decodeLastRow<Type>(stream, pairs);
        join<Type>(pairs, row, words);
        // `elements` is the same in all lanes, so this branch is taken by all of them or by none.
        if (elements >= kRow) {
            storeWhole<Type>(words, places.output);
        } else if (8 * laneIndex() < elements) {
            storeSome<Type>(words, kSize<Type> * (elements - 8 * laneIndex()), places.output);
        }
        elements -= kRow;
        advance();
    }
    return stream.status();
}

template <uint32_t Type>
using TypeOf = std::integral_constant<uint32_t, Type>;

// Decodes a tile of the tensor in shared memory and returns its status. `complete` is true if the
// tensor's code is complete (buildTable).
__device__ uint32_t decodeTile(BlockShared& shared, bool complete, uint32_t tile)
{
    const Tensor& tensor = shared.tensor;
    if (!tensor.good || tile >= (tensor.count + kTile - 1) / kTile) return SLUICE_ST_BAD_REGION;
    const uint32_t begin = tensor.index[tile], end = tensor.index[tile + 1];
    if (begin > end || end > tensor.units) return SLUICE_ST_BAD_REGION;
    if (!complete) return SLUICE_ST_BAD_CODE;

    const uint64_t first = static_cast<uint64_t>(tile) * kTile;
    const uint32_t elements =
        static_cast<uint32_t>(min(static_cast<uint64_t>(kTile), tensor.count - first));
    const uint32_t units = min(end - begin, 1u << 16); // a valid tile has no more
    const auto decode = [&](auto type) {
        return decodeElements<decltype(type)::value>(shared, tile, begin, units, elements);
    };
    switch (tensor.type) {
    case SLUICE_FLOAT_BF16: return decode(TypeOf<SLUICE_FLOAT_BF16>());
    case SLUICE_FLOAT_F16: return decode(TypeOf<SLUICE_FLOAT_F16>());
    case SLUICE_FLOAT_F32: return decode(TypeOf<SLUICE_FLOAT_F32>());
    case SLUICE_FLOAT_F8_E4M3: return decode(TypeOf<SLUICE_FLOAT_F8_E4M3>());
    case SLUICE_FLOAT_F8_E5M2: return decode(TypeOf<SLUICE_FLOAT_F8_E5M2>());
    case SLUICE_FLOAT_F8_E4M3_DENSE: return decode(TypeOf<SLUICE_FLOAT_F8_E4M3_DENSE>());
    default: return decode(TypeOf<SLUICE_FLOAT_BYTES>());
    }
}

// Prefetches `bytes` bytes at `from` into the L2 cache.
__device__ void prefetch(const void* from, uint32_t bytes)
{
    for (uint32_t at = 128 * laneIndex(); at < bytes; at += 128 * kWarpSize)
        asm volatile("prefetch.global.L2 [%0];" : : "l"(static_cast<const char*>(from) + at));
}

// Prefetches everything from which a tile is decoded. This is for launches with so few tiles that
// their warps would wait for memory most of the time.
__device__ void prefetchTile(const Tensor& tensor, uint32_t tile)
{
    if (tile >= (tensor.count + kTile - 1) / kTile) return;
    const uint32_t begin = tensor.index[tile], end = tensor.index[tile + 1];
    const uint64_t first = static_cast<uint64_t>(tile) * kTile;
    const uint32_t elements =
        static_cast<uint32_t>(min(static_cast<uint64_t>(kTile), tensor.count - first));
    prefetch(tensor.raw + static_cast<uint64_t>(tile) * (kTile / 8 * rawBitsOf(tensor.type)),
             planesOf(tensor.type, elements).end);
    if (begin <= end && end <= tensor.units)
        prefetch(tensor.words + begin, min(end - begin, 1u << 16) * kUnit);
}

// Returns the number, in the list of all tiles, of the first tile of a tensor.
__device__ uint32_t firstTileOf(const FloatDecodeParams& params, uint32_t tensor)
{
    if (tensor >= params.tensorCount) return params.tileCount;
    return min(pointerFrom<const uint32_t>(params.tensors)[16ull * tensor + 15], params.tileCount);
}

__global__ void __launch_bounds__(kThreads, kFloatBlocksPerProcessor)
    floatDecodeKernel(const __grid_constant__ FloatDecodeParams params)
{
    // The launch sets the size of this memory, because a kernel can declare at most 48 KiB itself.
    extern __shared__ uint4 sharedMemory[];
    BlockShared& shared = *reinterpret_cast<BlockShared*>(sharedMemory);
    const uint32_t warp = uniform(warpIndex());
    const uint32_t begin = blockIdx.x * params.tilesPerWorkgroup;
    const uint32_t stop = min(begin + params.tilesPerWorkgroup, params.tileCount);

    // Finds the last tensor that begins at or before this block's first tile.
    uint32_t tensor = 0;
    for (uint32_t count = params.tensorCount; count > 1;) {
        const uint32_t half = count / 2;
        const bool up = firstTileOf(params, tensor + half) <= begin;
        tensor += up ? half : 0;
        count = up ? count - half : half;
    }
    for (uint32_t tile = begin; tile < stop; ++tensor) {
        const uint32_t next =
            tensor + 1 < params.tensorCount ? max(firstTileOf(params, tensor + 1), tile) : stop;
        const uint32_t end = min(next, stop);
        if (end == tile) continue;
        // After this barrier all warps are done with the previous tensor and its table.
        __syncthreads();
        const uint32_t length = loadLength(params, tensor);
        if (threadIdx.x == 0) shared.tensor = loadTensor(params, tensor);
        __syncthreads();
        if (shared.tensor.good && params.tilesPerWorkgroup <= kWarps && tile + warp < end)
            prefetchTile(shared.tensor, tile + warp - shared.tensor.firstTile);
        const bool complete = shared.tensor.good && buildTable(shared, length);
        // The previous launch sets the statuses to PENDING, so it must end before they are written.
        waitForPreviousLaunch();
        for (uint32_t at = tile + warp; at < end; at += kWarps) {
            const uint32_t status = decodeTile(shared, complete, at - shared.tensor.firstTile);
            if (laneIndex() == 0) writeStatus(params.status, params.tileCount, at, status);
        }
        tile = end;
    }
}

} // namespace

uint32_t floatDecodeWarps() { return kWarps; }

cudaError_t loadFloatDecode(CudaTraits& traits)
{
    int blocks = 0;
    cudaError_t error =
        cudaFuncSetAttribute(reinterpret_cast<const void*>(floatDecodeKernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(BlockShared));
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, floatDecodeKernel, static_cast<int>(kThreads), sizeof(BlockShared));
    cudaFuncAttributes attributes = {};
    if (error == cudaSuccess)
        error =
            cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(floatDecodeKernel));
    traits.floatBlocks = traits.processors * static_cast<uint32_t>(max(blocks, 1));
    traits.sm90 = traits.sm90 && isSm90(attributes);
    return error;
}

cudaError_t launchFloatDecode(cudaStream_t stream, const FloatDecodeParams& params,
                              bool programmatic)
{
    const uint32_t blocks =
        (params.tileCount + params.tilesPerWorkgroup - 1) / params.tilesPerWorkgroup;
    return launch(stream, floatDecodeKernel, blocks, kThreads, params, sizeof(BlockShared),
                  programmatic);
}

} // namespace sluice
