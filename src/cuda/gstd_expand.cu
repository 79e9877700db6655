// SPDX-License-Identifier: MIT OR Apache-2.0
// The byte stage of Gstd (docs/format.md, section 7): turns the symbols that gstd_symbols.cu has
// decoded into bytes. A block takes a tile and makes its bytes one group after the other
// (gstd_part.cuh explains group and piece): gstd_mark.cuh finds the runs of a group, gstd_make.cuh
// makes their bytes. Literals wait at the end of the part's output until they are used. So literals
// are copies inside the tile too, like matches.
//
// If the epoch is not 0, both kernels of a turn run at the same time. This kernel then makes the
// bytes of a part as soon as the part's symbols have been published (gstd_tile.cuh).
//
// shaders/gstd_expand.comp has the same steps, but there an invocation makes eight neighbouring
// bytes. Here a thread makes words of four bytes, because most words lie inside a single run. With
// words, a batch of textures took 0.22 ms and one of maps 0.24 ms; with eight bytes per thread they
// took 0.31 and 0.26 ms.
#include "cuda/kernels.h"
#include "cuda/lib/gstd_make.cuh"
#include "cuda/lib/region.cuh"
#include "cuda/tuning.h"

namespace sluice {
namespace {

// Returns the status of a part to all threads. If `epoch` is not 0, first waits until
// gstd_symbols.cu has published that status with this epoch.
template <uint32_t Warps>
__device__ uint32_t partStatus(const GstdExpandTile& tile, GstdExpandShared<Warps>& shared,
                               uint32_t part, uint32_t epoch)
{
    if (epoch == 0) return tile.slot[SLUICE_GS_PARTS_AT + part];
    if (threadIdx.x == 0) shared.status = waitFor(tile.slot + SLUICE_GS_PARTS_AT + part, epoch);
    __syncthreads();
    const uint32_t status = shared.status;
    __syncthreads();
    return status;
}
// Returns the status of the first bad part in [from, parts), or SLUICE_ST_OK.
template <uint32_t Warps>
__device__ uint32_t partsStatus(const GstdExpandTile& tile, GstdExpandShared<Warps>& shared,
                                uint32_t from, uint32_t parts, uint32_t epoch)
{
    for (uint32_t i = from; i < parts; ++i) {
        const uint32_t status = partStatus(tile, shared, i, epoch);
        if (status != SLUICE_ST_OK) return status;
    }
    return SLUICE_ST_OK;
}

// The first warp reads the headers of the tile's parts into shared.parts. gstd_symbols.cu has
// checked the headers.
template <uint32_t Warps>
__device__ void loadParts(const GstdExpandTile& tile, GstdExpandShared<Warps>& shared,
                          uint32_t parts)
{
    const uint32_t lane = laneIndex(), entry = lane < parts ? tile.source[1 + lane] : 0;
    const uint32_t size = lane < parts ? (entry & 0xffff) + 1 : 0,
                   words = lane < parts ? (entry >> 16) + 1 : 0;
    GstdPartHeader part = {};
    part.end = warpInclusiveSum(size);
    part.begin = part.end - size;
    part.first = 2 + 2 * parts + warpInclusiveSum(words) - words;
    if (lane >= parts) return;
    part.word = tile.word(part.first);
    if ((part.word & 3) == SLUICE_GS_CODED && words >= SLUICE_GS_PART_HEADER) {
        part.literalCount = tile.word(part.first + 1) | (part.word >> 12 & 1) << 16;
        part.sequences = tile.word(part.first + 2);
    }
    shared.parts[lane] = part;
}

// Makes the bytes of the tile, part by part. Returns its status.
template <uint32_t Warps>
__device__ uint32_t expandTile(const GstdExpandTile& tile, GstdExpandShared<Warps>& shared,
                               uint32_t epoch)
{
    const bool byPart = epoch != 0;
    const uint32_t header = tile.source[0], parts = (header & 15) + 1;
    if (uniform(warpIndex()) == 0) loadParts(tile, shared, parts);
    __syncthreads();
    uint32_t status = partsStatus(tile, shared, 0, byPart ? 1 : parts, epoch);
    if (status != SLUICE_ST_OK) return status;
    GstdExpander<Warps> expander(tile, shared, (header >> 4 & 7) + 1);
    for (uint32_t i = 0; i < parts; ++i) {
        GstdPart part;
        static_cast<GstdPartHeader&>(part) = shared.parts[i];
        if ((part.word & 3) == SLUICE_GS_RUN) {
            tile.template fill<Warps * kWarpSize>(part.begin, part.end, part.word >> 8);
        } else if ((part.word & 3) == SLUICE_GS_PLAIN) {
            tile.template copyPlain<Warps * kWarpSize>(part.begin, part.end, 2 * (part.first + 1));
        } else {
            part.records = reinterpret_cast<const uint2*>(tile.slot + SLUICE_GS_SEQUENCES_AT) +
                           part.begin / SLUICE_GS_BYTES_PER_SEQUENCE + i;
            part.literals = part.end - part.literalCount;
            expander.expand(part);
            if (shared.badOffset != 0) {
                status = partsStatus(tile, shared, i + 1, byPart ? parts : 0, epoch);
                return status != SLUICE_ST_OK ? status : SLUICE_ST_BAD_OFFSET;
            }
        }
        __syncthreads();
        status = partsStatus(tile, shared, i + 1, byPart ? min(i + 2, parts) : 0, epoch);
        if (status != SLUICE_ST_OK) return status;
    }
    return shared.tooDeep != 0 ? SLUICE_ST_LIMIT : SLUICE_ST_OK;
}

template <uint32_t Warps, uint32_t BlocksPerProcessor>
__global__ void __launch_bounds__(Warps* kWarpSize, BlocksPerProcessor)
    gstdExpandKernel(GstdTurnParams params)
{
    // The launch sets the size of this memory, because a kernel can declare at most 48 KiB itself.
    extern __shared__ __align__(16) uint8_t sharedBytes[];
    GstdExpandShared<Warps>& shared = *reinterpret_cast<GstdExpandShared<Warps>*>(sharedBytes);
    // The next launch, which decodes the symbols of the next turn, may begin.
    letNextLaunchBegin();
    const uint32_t index = params.firstTile + blockIdx.x;
    const bool byPart = params.epoch != 0;
    if (index >= regionCount(params)) {
        if (byPart && blockIdx.x == 0) waitForPreviousLaunch();
        return;
    }
    uint32_t* const slot =
        pointerFrom<uint32_t>(params.scratch) +
        static_cast<uint64_t>(blockIdx.x) * (SLUICE_GS_SLOT_BYTES(params.maxTileBytes) / 4);
    if (threadIdx.x == 0) {
        shared.badOffset = shared.tooDeep = 0;
        shared.status = byPart ? waitFor(slot, params.epoch) : slot[0];
    }
    __syncthreads();
    const Region region = loadRegion(params, index);
    GstdExpandTile tile;
    tile.size = static_cast<uint32_t>(region.size);
    tile.slot = slot;
    uint32_t status = shared.status;
    __syncthreads();
    // gstd_symbols.cu puts this status in the tile's slot of scratch only after it has checked the
    // region's addresses.
    if (status == SLUICE_ST_OK) {
        tile.source = globalPointer<const uint32_t>(region.source);
        tile.destination = globalPointer<uint8_t>(region.destination);
        if ((params.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0 && region.sourceSize == region.size) {
            tile.template copyPlain<Warps * kWarpSize>(0, tile.size, 0);
        } else {
            status = expandTile(tile, shared, params.epoch);
            // After an error, gstd_symbols.cu may still be writing later parts to the slot. The
            // slot must not be released to the next turn (kDoneAt) before that ends.
            if (byPart && status != SLUICE_ST_OK && threadIdx.x <= (tile.source[0] & 15))
                waitFor(slot + SLUICE_GS_PARTS_AT + threadIdx.x, params.epoch);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (byPart) publish(slot + kDoneAt, params.epoch);
        // This makes the bytes visible to a launch that waits for the status.
        __threadfence();
        writeStatus(params, index, status);
    }
    // The next launch waits for this launch only, but may also rely on the symbols. So this launch
    // ends only after the launch that decodes them.
    if (byPart && blockIdx.x == 0) waitForPreviousLaunch();
}

constexpr auto kManyKernel = gstdExpandKernel<kGstdManyWarps, kGstdManyBlocksPerProcessor>;
constexpr auto kFewKernel = gstdExpandKernel<kGstdFewWarps, kGstdFewBlocksPerProcessor>;
static_assert(sizeof(GstdExpandShared<kGstdFewWarps>) <= 65536,
              "what all devices have for a block");

template <uint32_t Warps>
cudaError_t loadKernel(void (*kernel)(GstdTurnParams))
{
    const cudaError_t error = load(kernel);
    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                sizeof(GstdExpandShared<Warps>));
}
template <uint32_t Warps>
cudaError_t launchKernel(cudaStream_t stream, void (*kernel)(GstdTurnParams),
                         const GstdTurnParams& turn)
{
    return launch(stream, kernel, turn.tileCount, Warps * kWarpSize, turn,
                  sizeof(GstdExpandShared<Warps>), turn.epoch != 0);
}

} // namespace

cudaError_t loadGstdExpand(CudaTraits&)
{
    const cudaError_t error = loadKernel<kGstdManyWarps>(kManyKernel);
    return error != cudaSuccess ? error : loadKernel<kGstdFewWarps>(kFewKernel);
}

cudaError_t launchGstdExpand(cudaStream_t stream, const GstdTurnParams& turn, bool fewTiles)
{
    if (fewTiles) return launchKernel<kGstdFewWarps>(stream, kFewKernel, turn);
    return launchKernel<kGstdManyWarps>(stream, kManyKernel, turn);
}

} // namespace sluice
