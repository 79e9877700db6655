// SPDX-License-Identifier: MIT OR Apache-2.0
// GDeflate 1.0 decode: one tile a warp. Format, rounds, limits and the order of errors: docs/format.md; the method:
// shaders/gdeflate.comp, of which this is the native twin.
#include "kernels.h"
#include "lib/bit_reader.cuh"
#include "lib/huffman.cuh"
#include "lib/launch.cuh"
#include "lib/lz_copy.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

namespace sluice {
namespace {

constexpr uint32_t kWarps = 4; // tiles a block
constexpr uint32_t kLitBits = 10, kDistBits = 8, kPreBits = 7;

struct TileShared {
    union {
        uint16_t lit[1u << kLitBits];
        uint8_t lengths[SLUICE_GD_LITLEN_SYMS + SLUICE_GD_DIST_SYMS]; // dead before `lit` is filled
    };
    union {
        uint16_t dist[1u << kDistBits];
        uint16_t pre[1u << kPreBits];
    };
    uint16_t litSorted[SLUICE_GD_LITLEN_SYMS];
    uint16_t distSorted[SLUICE_GD_DIST_SYMS];
    HuffmanCode litCode, distCode;
    uint32_t rank[16];
    MatchQueue queue;
};

struct TileDecoder {
    TileShared& shared;
    BitReader bits;
    LzCopier copier;
    uint32_t out; // bytes of output that have a symbol

    __device__ uint32_t readCodeLengths(uint32_t litCount, uint32_t distCount);
    __device__ uint32_t buildCodes(uint32_t type, uint32_t header);
    __device__ uint32_t storedBlock(uint32_t length);
    __device__ uint32_t huffmanBlock();
    __device__ uint32_t decode();
};

// Reads the code lengths of a dynamic block: literal/length codes first, distances behind the 288 places of those.
__device__ uint32_t TileDecoder::readCodeLengths(uint32_t litCount, uint32_t distCount)
{
    const uint32_t total = litCount + distCount;
    uint32_t position = 0, carried = 0;
    while (position < total) {
        const uint32_t entry = shared.pre[bits.peek() & ((1u << kPreBits) - 1)];
        const uint32_t length = entry & 15, symbol = entry >> 4;
        const uint32_t extraBits = symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
        const uint32_t extra = bits.peek() >> length & ((1u << extraBits) - 1);
        const uint32_t run = symbol < 16 ? 1 : (symbol == 18 ? 11 : 3) + extra;
        const uint32_t inclusive = warpInclusiveSum(run), at = position + inclusive - run;
        const bool valid = at < total;

        // A repeat takes its value from the nearest lower lane that defines one.
        const uint32_t defines = __ballot_sync(kAllLanes, symbol != 16);
        const uint32_t defined = symbol < 16 ? symbol : 0;
        const uint32_t source = symbol == 16 ? defines & lanesBelow() : 1u << laneIndex();
        const uint32_t fromLane = __shfl_sync(kAllLanes, defined, source != 0 ? 31 - __clz(static_cast<int>(source)) : 0);
        const uint32_t value = source != 0 ? fromLane : carried;
        if (valid && value != 0) {
#pragma unroll
            for (uint32_t k = 0; k < 6; ++k) {
                const uint32_t i = at + k;
                if (k < run && i < total) {
                    shared.lengths[i < litCount ? i : i - litCount + SLUICE_GD_LITLEN_SYMS] = static_cast<uint8_t>(value);
                }
            }
        }
        carried = __shfl_sync(kAllLanes, value, 31);
        if (valid) bits.consume(length + extraBits);
        const bool enough = bits.refill();
        const bool bad = valid && (at + run > total || (symbol == 16 && at == 0));
        if (!enough) return SLUICE_ST_TRUNCATED;
        if (__any_sync(kAllLanes, bad)) return SLUICE_ST_BAD_CODE;
        position += __shfl_sync(kAllLanes, inclusive, 31);
    }
    return SLUICE_ST_OK;
}

// Builds the tables of a dynamic (type 2) or static (type 1) block.
__device__ uint32_t TileDecoder::buildCodes(uint32_t type, uint32_t header)
{
    const uint32_t lane = laneIndex();
    uint32_t litCount = SLUICE_GD_LITLEN_SYMS, distCount = SLUICE_GD_DIST_SYMS;
    __syncwarp();
    if (type == 2) {
        litCount = (header & 31) + 257;
        distCount = (header >> 5 & 31) + 1;
        const uint32_t preCount = (header >> 10 & 15) + 4;
        // Where precode length i stands (RFC 1951, 3.2.7), 5 bits each, 12 to a word.
        constexpr uint64_t order0 = 16ull | 17ull << 5 | 18ull << 10 | 0ull << 15 | 8ull << 20 | 7ull << 25 | 9ull << 30 |
                                    6ull << 35 | 10ull << 40 | 5ull << 45 | 11ull << 50 | 4ull << 55;
        constexpr uint64_t order1 = 12ull | 3ull << 5 | 13ull << 10 | 2ull << 15 | 14ull << 20 | 1ull << 25 | 15ull << 30;
        if (lane < 19) shared.lengths[lane] = 0;
        __syncwarp();
        if (lane < preCount) {
            const uint32_t place = static_cast<uint32_t>(lane < 12 ? order0 >> lane * 5 : order1 >> (lane - 12) * 5) & 31;
            shared.lengths[place] = static_cast<uint8_t>(bits.peek() & 7);
            bits.consume(3);
        }
        if (!bits.refill()) return SLUICE_ST_TRUNCATED;
        if (!huffmanSort(shared.lengths, 19, shared.litSorted, shared.litCode, shared.rank)) return SLUICE_ST_BAD_CODE;
        huffmanFill<kPreBits>(shared.pre, shared.litSorted, shared.litCode);
        for (uint32_t i = lane; i < sizeof(shared.lengths); i += kWarpSize) shared.lengths[i] = 0;
        __syncwarp();
        const uint32_t status = readCodeLengths(litCount, distCount);
        if (status != SLUICE_ST_OK) return status;
    } else {
        for (uint32_t i = lane; i < sizeof(shared.lengths); i += kWarpSize) {
            shared.lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
        }
    }
    const bool goodLit = huffmanSort(shared.lengths, litCount, shared.litSorted, shared.litCode, shared.rank);
    const bool goodDist = huffmanSort(shared.lengths + SLUICE_GD_LITLEN_SYMS, distCount, shared.distSorted, shared.distCode,
                                      shared.rank);
    if (!goodLit || !goodDist) return SLUICE_ST_BAD_CODE;
    huffmanFill<kLitBits>(shared.lit, shared.litSorted, shared.litCode);
    huffmanFill<kDistBits>(shared.dist, shared.distSorted, shared.distCode);
    return SLUICE_ST_OK;
}

__device__ uint32_t TileDecoder::storedBlock(uint32_t length)
{
    if (length > copier.size - out) return SLUICE_ST_TOO_LONG;
    do { // an empty block still refills lane 0
        const uint32_t n = min(length, kWarpSize);
        if (laneIndex() < n) {
            copier.out[out + laneIndex()] = static_cast<uint8_t>(bits.peek());
            bits.consume(8);
        }
        out += n;
        length -= n;
        if (!bits.refill()) return SLUICE_ST_TRUNCATED;
    } while (length != 0);
    return SLUICE_ST_OK;
}

__device__ uint32_t TileDecoder::huffmanBlock()
{
    const uint32_t lane = laneIndex();
    uint32_t pendingMask = 0;                     // lanes whose length still wants its distance
    uint32_t matchPosition = 0, matchLength = 0; // of this lane
    bool ended = false;
    do {
        const bool distance = pendingMask >> lane & 1;
        bool litlen = !ended && !distance;

        const uint32_t ahead = bits.peek();
        uint32_t entry = distance ? shared.dist[ahead & ((1u << kDistBits) - 1)] : shared.lit[ahead & ((1u << kLitBits) - 1)];
        if (entry == 0) {
            entry = distance ? huffmanSearch(ahead, shared.distSorted, shared.distCode)
                             : huffmanSearch(ahead, shared.litSorted, shared.litCode);
        }
        const uint32_t length = entry & 15, symbol = entry >> 4;

        // Both kinds of code: 1 (distance) or 2 (length) bits below a leading one, shifted by the extra bits.
        bool isLength = !distance && symbol > 256;
        const uint32_t slot = distance ? symbol : symbol - 257, mantissaBits = distance ? 1 : 2;
        uint32_t extraBits = max(slot >> mantissaBits, 1u) - 1;
        const uint32_t mantissa = slot >> mantissaBits == 0 ? slot : (1u << mantissaBits) + (slot & ((1u << mantissaBits) - 1));
        uint32_t base = (distance ? 1 : 3) + (mantissa << (extraBits & 31));
        if (!distance && slot == 28) {
            extraBits = 16;
            base = 3;
        }
        const bool undefined = isLength && slot > 28;
        if ((!distance && !isLength) || undefined) extraBits = 0;
        const uint32_t value = base + (ahead >> length & ((1u << extraBits) - 1));

        // Lanes above the lowest end-of-block symbol read nothing.
        const uint32_t ends = __ballot_sync(kAllLanes, litlen && symbol == 256);
        const uint32_t upToEnd = ends ^ (ends - 1); // all ones if there is none
        litlen = litlen && (upToEnd >> lane & 1);
        isLength = litlen && isLength;
        const uint32_t produced = isLength ? value : litlen && symbol < 256 ? 1 : 0;
        const uint32_t inclusive = warpInclusiveSum(produced);
        const uint32_t position = out + inclusive - produced;
        if (litlen && symbol < 256 && position < copier.size) copier.out[position] = static_cast<uint8_t>(symbol);
        copier.push(distance, pendingMask, matchPosition, matchLength, value);
        const bool badOffset = distance && value > matchPosition;
        if (litlen || distance) bits.consume(length + extraBits);
        if (isLength) {
            matchPosition = position;
            matchLength = value;
        }

        pendingMask = __ballot_sync(kAllLanes, isLength);
        out += __shfl_sync(kAllLanes, inclusive, 31);
        ended = ended || ends != 0;
        const bool enough = bits.refill();
        const uint32_t bad = __ballot_sync(kAllLanes, (litlen && undefined) || badOffset);
        if (bad != 0 || out > copier.size || !enough) {
            if (__any_sync(kAllLanes, litlen && undefined)) return SLUICE_ST_BAD_CODE;
            if (__any_sync(kAllLanes, badOffset)) return SLUICE_ST_BAD_OFFSET;
            return out > copier.size ? SLUICE_ST_TOO_LONG : SLUICE_ST_TRUNCATED;
        }
        if (copier.count >= kWarpSize) copier.flush();
    } while (!ended || pendingMask != 0);
    return SLUICE_ST_OK;
}

__device__ uint32_t TileDecoder::decode()
{
    if (bits.next > bits.count) return SLUICE_ST_TRUNCATED;
    for (uint32_t block = 0; block < SLUICE_GD_MAX_BLOCKS; ++block) {
        uint32_t header = __shfl_sync(kAllLanes, bits.peek(), 0);
        if (laneIndex() == 0) bits.consume(3);
        if (!bits.refill()) return SLUICE_ST_TRUNCATED;
        const bool final = header & 1;
        const uint32_t type = header >> 1 & 3;
        if (type == 3) return SLUICE_ST_BAD_CODE;

        uint32_t status;
        if (type == 0) {
            const uint32_t length = __shfl_sync(kAllLanes, bits.peek(), 0) & 0xffff;
            if (laneIndex() == 0) bits.consume(16);
            status = storedBlock(length);
        } else {
            if (type == 2) {
                header = __shfl_sync(kAllLanes, bits.peek(), 0);
                if (laneIndex() == 0) bits.consume(14);
                if (!bits.refill()) return SLUICE_ST_TRUNCATED;
            }
            status = buildCodes(type, header);
            if (status == SLUICE_ST_OK) status = huffmanBlock();
        }
        if (status != SLUICE_ST_OK) return status;
        if (final) {
            while (copier.count != 0) copier.flush();
            return out < copier.size ? SLUICE_ST_TOO_SHORT : SLUICE_ST_OK;
        }
    }
    return SLUICE_ST_LIMIT;
}

__device__ void copyPlain(const uint8_t* source, uint8_t* destination, uint32_t size)
{
    const uint32_t* from = reinterpret_cast<const uint32_t*>(source);
    uint32_t* to = reinterpret_cast<uint32_t*>(destination);
#pragma unroll 8
    for (uint32_t i = laneIndex(); i < size / 4; i += kWarpSize) to[i] = from[i];
    const uint32_t at = size / 4 * 4 + laneIndex();
    if (at < size) destination[at] = source[at];
}

__global__ void __launch_bounds__(kWarps* kWarpSize) gdeflateKernel(RegionParams params)
{
    __shared__ TileShared shared[kWarps];
    const uint32_t index = blockIdx.x * kWarps + warpIndex();
    if (index >= regionCount(params)) return;

    const Region region = loadRegion(params, index);
    uint32_t status = SLUICE_ST_BAD_REGION;
    if (sourceAllowed(params, region) && destinationAllowed(params, region)) {
        const uint8_t* source = reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(region.source));
        uint8_t* destination = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(region.destination));
        const uint32_t size = static_cast<uint32_t>(region.decompressedSize);
        if (params.flags & SLUICE_FLAG_STORED_IF_EQUAL && region.compressedSize == region.decompressedSize) {
            copyPlain(source, destination, size);
            status = SLUICE_ST_OK;
        } else {
            TileDecoder decoder = {shared[warpIndex()], {}, {shared[warpIndex()].queue, destination, size, 0, 0}, 0};
            decoder.bits.begin(reinterpret_cast<const uint32_t*>(source), static_cast<uint32_t>(region.compressedSize));
            status = decoder.decode();
        }
    }
    if (laneIndex() == 0) writeStatus(params, index, status);
}

} // namespace

cudaError_t loadGdeflate()
{
    return load(gdeflateKernel);
}

cudaError_t launchGdeflate(cudaStream_t stream, const RegionParams& params)
{
    if (params.maxRegionCount == 0) return cudaSuccess;
    return launch(stream, gdeflateKernel, (params.maxRegionCount + kWarps - 1) / kWarps, kWarps * kWarpSize, params);
}

} // namespace sluice
