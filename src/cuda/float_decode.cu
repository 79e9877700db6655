// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of the float codec, a warp a tile; the method is told in shaders/lib/float_tile.glsl and float_decode.comp, of which
// this is the native twin.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

#include "../formats/float_format.h"

namespace sluice {
namespace {

constexpr uint32_t kWarps = 8, kThreads = kWarps * kWarpSize, kBlocksPerProcessor = 6;
constexpr uint32_t kMaxBits = floats::kMaxBits, kTile = floats::kTile, kRow = floats::kRow;
constexpr uint32_t kRingWords = 64; // of 4 bytes
static_assert(kThreads == 256, "a thread a symbol");

// Table entries: bits 0 .. 3 how many bits it takes, 4: the second symbol did not fit, 7 .. 14 the first symbol, 16 .. 19
// the length of its code, 23 .. 30 the second symbol.
constexpr uint32_t kWaits = 16;
constexpr uint32_t kSymbols = 0x7f807f80u;

struct BlockShared {
    uint32_t table[1u << kMaxBits];
    uint16_t ring[kWarps][2 * kRingWords];
    uint32_t limits[16], places[16]; // of each length, see the shader
    uint32_t counts[kWarps][16];
    uint8_t sorted[256];
};

struct Tensor {
    const uint32_t* words;
    const uint32_t* index;
    const uint8_t* lengths;
    const uint8_t* raw;
    uint8_t* output;
    uint64_t wordsSize, count;
    uint32_t type, firstTile;
    floats::Layout layout;
    floats::Planes planes;
    bool good, complete;
};

__device__ floats::Layout layoutOf(uint32_t type)
{
    const uint32_t bytes = type < 2 ? 2 : type == 2 ? 4 : 1;
    const uint32_t mantissa = type == 0 ? 7 : type == 1 ? 10 : type == 2 ? 23 : type == 3 ? 3 : type == 4 ? 2 : type == 6 ? 1 : 0;
    const uint32_t exponent = type == 1 || type == 4 ? 5 : type == 3 ? 4 : type == 6 ? 6 : 8;
    return {bytes, mantissa, exponent};
}

template <typename T>
__device__ T* pointerTo(uint64_t address)
{
    return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

__device__ Tensor loadTensor(const FloatDecodeParams& params, uint32_t index)
{
    const uint64_t* list = pointerFrom<const uint64_t>(params.tensors) + 8ull * index;
    Tensor tensor = {};
    tensor.words = pointerTo<const uint32_t>(list[0]);
    tensor.wordsSize = list[1];
    tensor.index = pointerTo<const uint32_t>(list[2]);
    tensor.lengths = pointerTo<const uint8_t>(list[3]);
    tensor.raw = pointerTo<const uint8_t>(list[4]);
    tensor.output = pointerTo<uint8_t>(list[5]);
    tensor.count = list[6];
    tensor.type = static_cast<uint32_t>(list[7]);
    tensor.firstTile = static_cast<uint32_t>(list[7] >> 32);
    tensor.good = tensor.type < SLUICE_FLOAT_TYPE_COUNT && tensor.count <= floats::kMaxCount;
    if (!tensor.good) return tensor;
    tensor.layout = layoutOf(tensor.type);
    const uint32_t rawBits = tensor.layout.bytes * 8 - tensor.layout.exponentBits, width = rawBits % 8;
    const auto aligned = [](uint64_t size) { return (size + 15) / 16 * 16; };
    tensor.planes.bytes = rawBits >= 16 ? aligned(2 * tensor.count) : 0;
    tensor.planes.bits = tensor.planes.bytes + (rawBits % 16 >= 8 ? aligned(tensor.count) : 0);
    tensor.planes.end = tensor.planes.bits + aligned((tensor.count + 7) / 8 * width);
    const uint64_t tiles = (tensor.count + kTile - 1) / kTile;
    const auto fromSource = [&](uint64_t address, uint64_t size) {
        return insideBuffer(address, size, params.source, params.sourceSize);
    };
    tensor.good = ((list[0] | list[2] | list[3] | list[4] | list[5]) & 15) == 0 && tensor.wordsSize % 4 == 0 &&
                  fromSource(list[0], tensor.wordsSize) && fromSource(list[2], (tiles + 1) * 4) &&
                  fromSource(list[3], SLUICE_FLOAT_LENGTHS_SIZE) && fromSource(list[4], tensor.planes.end) &&
                  insideBuffer(list[5], tensor.count * tensor.layout.bytes, params.destination, params.destinationSize);
    return tensor;
}

// By the whole block. Returns whether the code is complete.
__device__ bool buildTable(BlockShared& shared, const uint8_t* packed)
{
    const uint32_t lane = laneIndex(), warp = warpIndex(), symbol = threadIdx.x;
    __syncthreads(); // the table before has been used
    const uint32_t length = packed[symbol / 2] >> symbol % 2 * 4 & 15;
    if (lane < 16) shared.counts[warp][lane] = 0;
    __syncwarp();
    const uint32_t same = __match_any_sync(kAllLanes, length);
    const uint32_t rank = static_cast<uint32_t>(__popc(same & lanesBelow()));
    if (rank == 0) shared.counts[warp][length] = static_cast<uint32_t>(__popc(same));
    __syncthreads();

    // Lane l of every warp owns length l.
    uint32_t total = 0, before = 0;
    if (lane < 16) {
#pragma unroll
        for (uint32_t w = 0; w < kWarps; ++w) {
            if (w == warp) before = total;
            total += shared.counts[w][lane];
        }
    }
    const bool tooLong = __any_sync(kAllLanes, lane > kMaxBits && total != 0);
    const uint32_t used = lane >= 1 && lane <= kMaxBits ? total : 0;
    const uint32_t shift = kMaxBits - min(lane, kMaxBits);
    const uint32_t spaces = warpInclusiveSum(used << shift), ranks = warpInclusiveSum(used);
    const uint32_t all = __shfl_sync(kAllLanes, ranks, 31), space = __shfl_sync(kAllLanes, spaces, 31);
    const bool single = all == 1 && __shfl_sync(kAllLanes, used, 1) == 1;
    const uint32_t firstRank = ranks - used, firstCode = (spaces - (used << shift)) >> shift;
    if (warp == 0 && lane < 16) {
        shared.limits[lane] = single ? 1u << kMaxBits : spaces;
        shared.places[lane] = firstRank - firstCode;
    }
    const uint32_t place = __shfl_sync(kAllLanes, firstRank + before, static_cast<int>(length)) + rank;
    if (length != 0 && length <= kMaxBits) {
        shared.sorted[place & 255] = static_cast<uint8_t>(symbol);
        if (single) shared.sorted[1] = static_cast<uint8_t>(symbol);
    }
    __syncthreads();

    uint32_t limit[kMaxBits];
#pragma unroll
    for (uint32_t i = 1; i < kMaxBits; ++i) limit[i] = shared.limits[i];
    const auto lengthAt = [&](uint32_t bits) {
        uint32_t result = 1;
#pragma unroll
        for (uint32_t i = 1; i < kMaxBits; ++i) result += bits >= limit[i] ? 1 : 0;
        return result;
    };
    const auto symbolAt = [&](uint32_t bits, uint32_t bitCount) {
        return static_cast<uint32_t>(shared.sorted[((bits >> (kMaxBits - bitCount)) + shared.places[bitCount]) & 255]);
    };
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < 1u << kMaxBits; i += kThreads) {
        const uint32_t first = lengthAt(i), rest = i << first & ((1u << kMaxBits) - 1), second = lengthAt(rest);
        const bool both = first + second <= kMaxBits;
        shared.table[i] = symbolAt(i, first) << 7 | first << 16 |
                          (both ? (first + second) | symbolAt(rest, second) << 23 : first | kWaits);
    }
    __syncthreads();
    return !tooLong && (single || space == 1u << kMaxBits);
}

// The bits of a lane, left-aligned, and the words that its warp takes in turn. Past the end words are 0.
struct Stream {
    uint16_t* ring;
    const uint32_t* words;
    uint32_t wordEnd;
    uint32_t bits = 0, available = 0, next = 0, moveAt = 64, ahead = 0;

    __device__ Stream(uint16_t* warpRing, const uint32_t* from, uint32_t count) : ring(warpRing), words(from), wordEnd(count)
    {
        __syncwarp(); // the tile before has been read
        store(0, load(0));
        store(1, load(1));
        ahead = load(2);
        __syncwarp();
    }
    __device__ uint32_t load(uint32_t row) const
    {
        const uint32_t at = row * kWarpSize + laneIndex();
        return at < wordEnd ? words[at] : 0;
    }
    __device__ void store(uint32_t row, uint32_t pair)
    {
        reinterpret_cast<uint32_t*>(ring)[row % 2 * kWarpSize + laneIndex()] = pair;
    }
    __device__ void take(bool need)
    {
        const uint32_t takers = __ballot_sync(kAllLanes, need);
        uint32_t word = ring[(next + static_cast<uint32_t>(__popc(takers & lanesBelow()))) % (2 * kRingWords)];
        word = need ? word : 0;
        available += need ? 16 : 0;
        bits |= __funnelshift_r(0, word, available); // word << 32 - available
        next += static_cast<uint32_t>(__popc(takers));
    }
    __device__ void consume(uint32_t count)
    {
        bits <<= count;
        available -= count;
    }
    // A round takes 64 words at most, half of the ring.
    __device__ void move()
    {
        if (__any_sync(kAllLanes, next >= moveAt)) {
            __syncwarp();
            const uint32_t row = moveAt / 64 + 1;
            store(row, ahead);
            ahead = load(row + 1);
            moveAt += 64;
            __syncwarp();
        }
    }
};

// A row but the last: two symbols in each of the four words, as in table entries.
__device__ inline void decodeRow(const uint32_t* table, Stream& stream, uint32_t (&row)[4])
{
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
        stream.take(stream.available < kMaxBits);
        uint32_t entry = table[stream.bits >> (32 - kMaxBits)];
        stream.consume(entry & 15);
        if (__any_sync(kAllLanes, static_cast<int>(entry & kWaits))) {
            const bool waits = entry & kWaits;
            stream.take(waits && stream.available < kMaxBits);
            const uint32_t second = table[stream.bits >> (32 - kMaxBits)];
            stream.consume(waits ? second >> 16 & 15 : 0);
            if (waits) entry = (entry & 0x7fff) | (second & 0x7f80) << 16;
        }
        row[i] = entry & kSymbols;
        stream.move();
    }
}

// The last one takes only words that its codes need.
__device__ void decodeLastRow(const uint32_t* table, Stream& stream, uint32_t (&row)[4])
{
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) {
        stream.take((table[stream.bits >> (32 - kMaxBits)] >> 16 & 15) > stream.available);
        const uint32_t entry = table[stream.bits >> (32 - kMaxBits)];
        stream.consume(entry >> 16 & 15);
        row[i / 2] = i % 2 == 0 ? entry & 0x7f80 : row[i / 2] | (entry & 0x7f80) << 16;
        stream.move();
    }
}

__device__ inline uint32_t symbolOf(const uint32_t (&row)[4], uint32_t i)
{
    return row[i / 2] >> (7 + 16 * (i % 2)) & 255;
}

// 2 to 4 bits an element, of the 8 from `element` on.
__device__ inline uint32_t rawBits(const Tensor& tensor, uint64_t element, uint32_t width)
{
    const uint64_t at = tensor.planes.bits + element / 8 * width;
    const uint32_t* words = reinterpret_cast<const uint32_t*>(tensor.raw + at / 4 * 4);
    const uint32_t shift = static_cast<uint32_t>(at % 4) * 8;
    uint32_t bits = words[0] >> shift;
    if (shift > 32 - 8 * width) bits |= words[1] << (32 - shift);
    return bits;
}

// Stores the first `count` of the 8 elements from `element` on.
__device__ inline void storeElements(const Tensor& tensor, const uint32_t (&row)[4], uint64_t element, uint32_t count)
{
    uint32_t words[8] = {};
    const auto rawBytes = [&] { return *reinterpret_cast<const uint2*>(tensor.raw + tensor.planes.bytes + element); };
    const uint32_t type = tensor.type;
    if (type == SLUICE_FLOAT_BF16) {
        const uint2 raw = rawBytes();
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t two = __byte_perm(i < 2 ? raw.x : raw.y, 0, i % 2 == 0 ? 0x4140 : 0x4342);
            words[i] = row[i] | (two + (two & 0x00800080u) * 255); // the sign goes up by a byte
        }
    } else if (type == SLUICE_FLOAT_F16) {
        const uint2 raw = rawBytes();
        const uint32_t bits = rawBits(tensor, element, 3);
#pragma unroll
        for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t high = bits >> 3 * i & 7;
            const uint32_t value = ((i < 4 ? raw.x : raw.y) >> i % 4 * 8 & 255) | (high & 3) << 8 |
                                   (symbolOf(row, i) & 31) << 10 | high >> 2 << 15;
            words[i / 2] |= value << 16 * (i % 2);
        }
    } else if (type == SLUICE_FLOAT_F32) {
        const uint4 low = *reinterpret_cast<const uint4*>(tensor.raw + 2 * element);
        const uint32_t lows[4] = {low.x, low.y, low.z, low.w};
        const uint2 raw = rawBytes();
#pragma unroll
        for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t high = (i < 4 ? raw.x : raw.y) >> i % 4 * 8 & 255;
            words[i] = (lows[i / 2] >> 16 * (i % 2) & 0xffff) | (high & 127) << 16 | symbolOf(row, i) << 23 | high >> 7 << 31;
        }
    } else {
        const uint32_t mantissa = tensor.layout.mantissaBits, width = type == SLUICE_FLOAT_BYTES ? 0 : mantissa + 1;
        const uint32_t bits = width == 0 ? 0 : rawBits(tensor, element, width), mask = (1u << tensor.layout.exponentBits) - 1;
#pragma unroll
        for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t raw = bits >> width * i & ((1u << width) - 1);
            const uint32_t value = (raw & ((1u << mantissa) - 1)) | (symbolOf(row, i) & mask) << mantissa | raw >> mantissa << 7;
            words[i / 4] |= (width == 0 ? symbolOf(row, i) : value) << 8 * (i % 4);
        }
    }
    const uint32_t size = tensor.layout.bytes;
    uint8_t* to = tensor.output + element * size;
    if (count == 8) {
        if (size == 1) {
            __stcs(reinterpret_cast<uint2*>(to), make_uint2(words[0], words[1]));
        } else {
            __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
            if (size == 4) __stcs(reinterpret_cast<uint4*>(to) + 1, make_uint4(words[4], words[5], words[6], words[7]));
        }
    } else {
#pragma unroll
        for (uint32_t i = 0; i < 32; ++i)
            if (i < count * size) to[i] = static_cast<uint8_t>(words[i / 4] >> i % 4 * 8);
    }
}

__device__ uint32_t decodeTile(BlockShared& shared, const Tensor& tensor, uint32_t tile)
{
    if (!tensor.good || tile >= (tensor.count + kTile - 1) / kTile) return SLUICE_ST_BAD_REGION;
    const uint32_t begin = tensor.index[tile], end = tensor.index[tile + 1];
    if (begin > end || 4ull * end > tensor.wordsSize) return SLUICE_ST_BAD_REGION;
    if (!tensor.complete) return SLUICE_ST_BAD_CODE;

    const uint64_t first = static_cast<uint64_t>(tile) * kTile;
    const uint32_t elements = static_cast<uint32_t>(min(static_cast<uint64_t>(kTile), tensor.count - first));
    const uint32_t rows = (elements + kRow - 1) / kRow;
    Stream stream(shared.ring[warpIndex()], tensor.words + begin, end - begin);
    uint32_t symbols[4];
#pragma unroll 1
    for (uint32_t row = 0; row + 1 < rows; ++row) {
        decodeRow(shared.table, stream, symbols);
        storeElements(tensor, symbols, first + row * kRow + 8 * laneIndex(), 8);
    }
    decodeLastRow(shared.table, stream, symbols);
    const uint32_t at = (rows - 1) * kRow + 8 * laneIndex();
    if (at < elements) storeElements(tensor, symbols, first + at, min(elements - at, 8u));
    return stream.next > 2 * stream.wordEnd ? SLUICE_ST_TRUNCATED : SLUICE_ST_OK;
}

__device__ uint32_t firstTileOf(const FloatDecodeParams& params, uint32_t tensor)
{
    if (tensor >= params.tensorCount) return params.tileCount;
    return min(pointerFrom<const uint32_t>(params.tensors)[16ull * tensor + 15], params.tileCount);
}

__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor) floatDecodeKernel(const __grid_constant__ FloatDecodeParams params)
{
    __shared__ BlockShared shared;
    const uint32_t begin = blockIdx.x * params.tilesPerWorkgroup;
    const uint32_t stop = min(begin + params.tilesPerWorkgroup, params.tileCount);

    // The last tensor that begins at or before the first tile.
    uint32_t tensor = 0;
    for (uint32_t count = params.tensorCount; count > 1;) {
        const uint32_t half = count / 2;
        const bool up = firstTileOf(params, tensor + half) <= begin;
        tensor += up ? half : 0;
        count = up ? count - half : half;
    }
    for (uint32_t tile = begin; tile < stop; ++tensor) {
        const uint32_t next = tensor + 1 < params.tensorCount ? max(firstTileOf(params, tensor + 1), tile) : stop;
        const uint32_t end = min(next, stop);
        if (end == tile) continue;
        Tensor one = loadTensor(params, tensor);
        if (one.good) one.complete = buildTable(shared, one.lengths);
        for (uint32_t at = tile + warpIndex(); at < end; at += kWarps) {
            const uint32_t status = decodeTile(shared, one, at - one.firstTile);
            if (laneIndex() == 0) {
                uint32_t* words = pointerFrom<uint32_t>(params.status);
                words[at] = status;
                if (status != SLUICE_ST_OK) {
                    atomicAdd(&words[params.tileCount], 1u);
                    atomicMin(&words[params.tileCount + 1], at);
                }
            }
        }
        tile = end;
    }
}

} // namespace

uint32_t floatDecodeWarps()
{
    return kWarps;
}

cudaError_t loadFloatDecode()
{
    return load(floatDecodeKernel);
}

cudaError_t launchFloatDecode(cudaStream_t stream, const FloatDecodeParams& params)
{
    const uint32_t blocks = (params.tileCount + params.tilesPerWorkgroup - 1) / params.tilesPerWorkgroup;
    return launch(stream, floatDecodeKernel, blocks, kThreads, params);
}

} // namespace sluice
