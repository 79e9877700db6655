// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns the symbols of Gstd tiles into bytes, one tile per block. For each group of bytes the runs
// are marked (gstd_mark.cuh) and then turned into bytes (gstd_make.cuh). Literals are kept at the
// end of the part's output until they are used, so that all runs, of literals or of a match, are
// copies. If all tiles run at the same time, a part is started as soon as its symbols are known.
//
// shaders/gstd_expand.comp has the same steps with eight bytes an invocation. Here a thread takes
// words, most of which need one run for their four bytes; the bytes of one batch then took 0.22 and
// 0.24 instead of 0.31 and 0.26 ms.
#include "cuda/kernels.h"
#include "cuda/lib/gstd_make.cuh"
#include "cuda/lib/region.cuh"
#include "cuda/tuning.h"

namespace sluice {
namespace {

// Returns the status of a part to all threads; when expanding by part they wait for it.
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
// Returns the status of the first bad part in [from, parts), or OK.
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

// Reads the headers of the parts of a good tile, by the first warp.
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
    extern __shared__ __align__(16) uint8_t sharedBytes[]; // more than can be declared
    GstdExpandShared<Warps>& shared = *reinterpret_cast<GstdExpandShared<Warps>*>(sharedBytes);
    letNextLaunchBegin(); // it decodes the symbols of the next turn
    const uint32_t index = params.firstTile + blockIdx.x;
    const bool byPart = params.epoch != 0;
    if (index >= regionCount(params)) {
        if (byPart && blockIdx.x == 0) waitForPreviousLaunch();
        return;
    }
    uint32_t* const slot = pointerFrom<uint32_t>(params.scratch) +
                           static_cast<uint64_t>(blockIdx.x) * SLUICE_GS_SLOT_WORDS;
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
    if (status == SLUICE_ST_OK) { // then the addresses have been checked
        tile.source = globalPointer<const uint32_t>(region.source);
        tile.destination = globalPointer<uint8_t>(region.destination);
        if ((params.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0 && region.sourceSize == region.size) {
            tile.template copyPlain<Warps * kWarpSize>(0, tile.size, 0);
        } else {
            status = expandTile(tile, shared, params.epoch);
            // Parts that this block has not come to are still being written to the slot.
            if (byPart && status != SLUICE_ST_OK && threadIdx.x <= (tile.source[0] & 15))
                waitFor(slot + SLUICE_GS_PARTS_AT + threadIdx.x, params.epoch);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (byPart) publish(slot + kDoneAt, params.epoch);
        __threadfence(); // a block that waits for the status reads the bytes
        writeStatus(params, index, status);
    }
    // The next launch may rely on the symbols, too.
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
