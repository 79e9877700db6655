// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of the float codec, a warp a tile; the method is told in shaders/lib/float_tile.glsl and float_decode.comp, of
// which this is the native twin.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

#include "../formats/float_format.h"

namespace sluice {
namespace {

// On an H200 42 warps of a multiprocessor share a batch of 2^28 elements more evenly than 48; the registers are as many.
constexpr uint32_t kWarps = 14, kThreads = kWarps * kWarpSize, kBlocksPerProcessor = 3;
constexpr uint32_t kMaxBits = floats::kMaxBits, kTile = floats::kTile, kRow = floats::kRow;
constexpr uint32_t kTableSize = 1u << kMaxBits;
constexpr uint32_t kRing = 256, kChunk = kRing / 2; // words of 16 bits
static_assert(kThreads >= 256, "a thread a symbol");

// Table entries: bits 0 .. 3 how many bits it takes, 5 and 31: the second symbol did not fit. The symbols stand where
// the numbers have them, so that few instructions join them with the other bits, and the length of the first one's code
// where neither is: numbers of 16 and 32 bits have a symbol in each half, the length at 16; those of 8 bits have them
// in bytes 1 and 2, the length at 24. Above a length there is a zero.
constexpr uint32_t kWaits = 32, kSign = 1u << 31; // two bits, for each is tested where that is one instruction

struct Form {
    uint32_t mask, first, second, length; // the bits that a symbol may have, and where all stand
};
__device__ constexpr Form formOf(uint32_t type)
{
    return type == SLUICE_FLOAT_F16             ? Form{31, 10, 26, 16}
           : type == SLUICE_FLOAT_F8_E4M3       ? Form{15, 11, 19, 24}
           : type == SLUICE_FLOAT_F8_E5M2       ? Form{31, 10, 18, 24}
           : type == SLUICE_FLOAT_F8_E4M3_DENSE ? Form{63, 9, 17, 24}
           : type == SLUICE_FLOAT_BYTES         ? Form{255, 8, 16, 24}
                                                : Form{255, 7, 23, 16};
}
__device__ constexpr bool isByte(uint32_t type)
{
    return type > SLUICE_FLOAT_F32;
}
// How many bits of an element are in the last plane.
__device__ constexpr uint32_t bitsOf(uint32_t type)
{
    return type == SLUICE_FLOAT_F16 || type == SLUICE_FLOAT_F8_E5M2 ? 3
           : type == SLUICE_FLOAT_F8_E4M3                           ? 4
           : type == SLUICE_FLOAT_F8_E4M3_DENSE                     ? 2
                                                                    : 0;
}
// The first symbols of two entries as those of one.
template <uint32_t Type>
__device__ inline uint32_t pairOf(uint32_t first, uint32_t second)
{
    return __byte_perm(first, second, isByte(Type) ? 0x3510 : 0x5410);
}

struct Tensor {
    const uint32_t* words;
    const uint32_t* index;
    const uint8_t* lengths;
    const uint8_t* raw;
    uint8_t* output;
    uint64_t words4, count, bytesAt, bitsAt; // words4: of 4 bytes; planes of raw
    uint32_t type, firstTile;
    bool good;
};

struct BlockShared {
    uint32_t table[kTableSize];
    union {
        uint32_t ring[kWarps * kRing]; // a word of 16 bits in each
        alignas(16) uint16_t single[kTableSize]; // while the table is made: a symbol at bit 4, below its code's length
    };
    uint32_t limits[16], places[16]; // of each length, see the shader
    uint32_t counts[kWarps][16];
    uint8_t sorted[256];
    Tensor tensor; // here because registers are scarce
};

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
    tensor.words4 = list[1] / 4;
    tensor.index = pointerTo<const uint32_t>(list[2]);
    tensor.lengths = pointerTo<const uint8_t>(list[3]);
    tensor.raw = pointerTo<const uint8_t>(list[4]);
    tensor.output = pointerTo<uint8_t>(list[5]);
    tensor.count = list[6];
    tensor.type = static_cast<uint32_t>(list[7]);
    tensor.firstTile = static_cast<uint32_t>(list[7] >> 32);
    tensor.good = tensor.type < SLUICE_FLOAT_TYPE_COUNT && tensor.count <= floats::kMaxCount;
    if (!tensor.good) return tensor;
    const uint32_t type = tensor.type, size = type < SLUICE_FLOAT_F32 ? 2 : type == SLUICE_FLOAT_F32 ? 4 : 1;
    const uint32_t bits = bitsOf(type);
    const auto aligned = [](uint64_t bytes) { return (bytes + 15) / 16 * 16; };
    tensor.bytesAt = size == 4 ? aligned(2 * tensor.count) : 0;
    tensor.bitsAt = tensor.bytesAt + (size >= 2 ? aligned(tensor.count) : 0);
    const uint64_t rawSize = tensor.bitsAt + aligned((tensor.count + 7) / 8 * bits);
    const uint64_t tiles = (tensor.count + kTile - 1) / kTile;
    const auto fromSource = [&](uint64_t address, uint64_t bytes) {
        return insideBuffer(address, bytes, params.source, params.sourceSize);
    };
    tensor.good = ((list[0] | list[2] | list[3] | list[4] | list[5]) & 15) == 0 && list[1] % 4 == 0 &&
                  fromSource(list[0], list[1]) && fromSource(list[2], (tiles + 1) * 4) &&
                  fromSource(list[3], SLUICE_FLOAT_LENGTHS_SIZE) && fromSource(list[4], rawSize) &&
                  insideBuffer(list[5], tensor.count * size, params.destination, params.destinationSize);
    return tensor;
}

// By the whole block. Returns whether the code is complete.
__device__ bool buildTable(BlockShared& shared)
{
    const uint32_t lane = laneIndex(), warp = warpIndex(), symbol = threadIdx.x;
    const uint32_t length = symbol < 256 ? shared.tensor.lengths[symbol / 2] >> symbol % 2 * 4 & 15 : 0;
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
        shared.limits[lane] = single ? kTableSize : spaces;
        shared.places[lane] = firstRank - firstCode;
    }
    const uint32_t place = __shfl_sync(kAllLanes, firstRank + before, static_cast<int>(length)) + rank;
    if (length != 0 && length <= kMaxBits) {
        shared.sorted[place & 255] = static_cast<uint8_t>(symbol);
        if (single) shared.sorted[1] = static_cast<uint8_t>(symbol);
    }
    __syncthreads();

    // First one symbol an entry, 8 entries a thread. Those of codes of up to 9 bits are the same.
    constexpr uint32_t each = 8;
#pragma unroll 1
    for (uint32_t begin = threadIdx.x * each; begin < kTableSize; begin += kThreads * each) {
        uint32_t bitCount = 1;
#pragma unroll
        for (uint32_t i = 1; i < kMaxBits; ++i) bitCount += begin >= shared.limits[i] ? 1 : 0;
        const auto singleAt = [&](uint32_t bits) {
            return shared.sorted[((bits >> (kMaxBits - bitCount)) + shared.places[bitCount]) & 255] << 4 | bitCount;
        };
        if (bitCount <= 9) {
            const uint32_t two = singleAt(begin) * 0x10001;
            *reinterpret_cast<uint4*>(shared.single + begin) = make_uint4(two, two, two, two);
        } else {
#pragma unroll 1
            for (uint32_t i = begin; i < begin + each; ++i) {
                while (bitCount < kMaxBits && i >= shared.limits[bitCount]) ++bitCount;
                shared.single[i] = static_cast<uint16_t>(singleAt(i));
            }
        }
    }
    __syncthreads();
    const Form form = formOf(shared.tensor.type);
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < kTableSize; i += kThreads) {
        const uint32_t first = shared.single[i], length1 = first & 15;
        const uint32_t second = shared.single[i << length1 & (kTableSize - 1)], length2 = second & 15;
        const bool both = length1 + length2 <= kMaxBits;
        shared.table[i] = (first >> 4 & form.mask) << form.first | length1 << form.length |
                          (both ? (length1 + length2) | (second >> 4 & form.mask) << form.second
                                : length1 | kWaits | kSign);
    }
    __syncthreads();
    return !tooLong && (single || space == kTableSize);
}

// ---------------------------------------------------------------------------------------------------------------

// The bits of a lane, the next one above all others, and the words that its warp takes in turn and puts below them. Past
// the end words are 0. Between two calls of move() the warp may take kChunk words.
struct Stream {
    const uint32_t* table;
    uint32_t* ring; // of words times 4
    const uint32_t* words;
    uint32_t wordEnd; // of 4 bytes
    uint32_t bits = 0; // times 4, as an offset in the table is; above those that count is what has been used
    uint32_t next = 0, moveAt = 4 * kChunk; // words times 4
    uint32_t spare = 20; // how many bits it has, less 12: bit 4 says that they are fewer. Five bits count.
    uint32_t ahead[2];

    __device__ Stream(BlockShared& shared, uint32_t warp, const uint32_t* from, uint32_t count)
        : table(shared.table), ring(shared.ring + warp * kRing), words(from), wordEnd(count)
    {
        uint32_t first[2], second[2];
        load(0, first);
        load(1, second);
        load(2, ahead);
        __syncwarp(); // the tile before has been read
        store(0, first);
        store(1, second);
        __syncwarp();
    }
    __device__ void load(uint32_t chunk, uint32_t (&to)[2]) const
    {
#pragma unroll
        for (uint32_t i = 0; i < 2; ++i) {
            const uint32_t at = (2 * chunk + i) * kWarpSize + laneIndex();
            to[i] = at < wordEnd ? __ldcs(words + at) : 0;
        }
    }
    __device__ void store(uint32_t chunk, const uint32_t (&from)[2])
    {
#pragma unroll
        for (uint32_t i = 0; i < 2; ++i) {
            const uint32_t at = chunk % 2 * kChunk + 2 * (i * kWarpSize + laneIndex());
            *reinterpret_cast<uint2*>(ring + at) = make_uint2(from[i] << 2 & 0x3fffc, from[i] >> 14 & 0x3fffc);
        }
    }
    __device__ uint32_t status() const { return (next + 7) / 8 > wordEnd ? SLUICE_ST_TRUNCATED : SLUICE_ST_OK; }
    __device__ uint32_t needs() const { return spare & 16; } // not 0 if there are fewer than 12
    // Only lanes that have fewer than 12 bits need a word. For the others nothing changes.
    __device__ void take(uint32_t need)
    {
        const uint32_t takers = ballotIf(need);
        const uint32_t at = next + 4 * static_cast<uint32_t>(__popc(takers & lanesBelow()));
        const char* word = reinterpret_cast<const char*>(ring) + (at & (4 * kRing - 4));
        // if (need) bits = bits << 16 | word, without a selection.
        asm("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p mad.lo.u32 %0, %0, 65536, %1; }"
            : "+r"(bits) : "r"(*reinterpret_cast<const uint32_t*>(word)), "r"(need));
        next += 4 * static_cast<uint32_t>(__popc(takers));
    }
    // The entry of the next bits, of which there are 12, or, for the last row, fewer.
    __device__ uint32_t entryAt(uint32_t offset) const
    {
        return *reinterpret_cast<const uint32_t*>(reinterpret_cast<const char*>(table) + (offset & (4 * kTableSize - 4)));
    }
    __device__ uint32_t entry() const { return entryAt(bits >> (spare & 15)); }
    __device__ uint32_t entryOfLast() const
    {
        return entryAt(needs() != 0 ? bits << (32 - (spare & 31)) : bits >> (spare & 15));
    }
    __device__ void move()
    {
        if (__any_sync(kAllLanes, next >= moveAt)) {
            __syncwarp();
            const uint32_t chunk = moveAt / (4 * kChunk) + 1;
            store(chunk, ahead);
            load(chunk + 1, ahead);
            moveAt += 4 * kChunk;
            __syncwarp();
        }
    }
};

// Those that wait for their second symbol get it.
template <uint32_t Type>
__device__ inline void takeSecond(Stream& stream, uint32_t& entry)
{
    const bool waits = (entry & kWaits) != 0;
    stream.take(waits ? stream.needs() : 0);
    const uint32_t second = stream.entry();
    if (waits) {
        stream.spare = (stream.spare & 15) - (second >> formOf(Type).length);
        entry = pairOf<Type>(entry, second);
    }
}

// A row but the last: the symbols of a pair in each of the four words, as in table entries.
template <uint32_t Type>
__device__ inline void decodeRow(Stream& stream, uint32_t (&pairs)[4])
{
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
        stream.take(stream.needs());
        stream.spare &= 15;
        uint32_t entry = stream.entry();
        stream.spare -= entry;
        if (__builtin_expect(__any_sync(kAllLanes, static_cast<int32_t>(entry) < 0), 0)) {
            stream.move();
            takeSecond<Type>(stream, entry);
        }
        pairs[i] = entry;
    }
    stream.move();
}

// The last one takes only words that its codes need.
template <uint32_t Type>
__device__ void decodeLastRow(Stream& stream, uint32_t (&pairs)[4])
{
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) {
        const uint32_t need = (stream.entryOfLast() >> formOf(Type).length & 15) + 4 > (stream.spare & 31 ^ 16) ? 1 : 0;
        stream.take(need);
        if (need != 0) stream.spare &= 15;
        const uint32_t entry = stream.entryOfLast();
        stream.spare -= entry >> formOf(Type).length;
        pairs[i / 2] = i % 2 == 0 ? entry : pairOf<Type>(pairs[i / 2], entry);
        if (i % 4 == 3) stream.move();
    }
}

// ---------------------------------------------------------------------------------------------------------------

// Where a lane's next 8 elements are.
struct Places {
    const uint8_t *words, *bytes, *bits; // of raw; bits: of the row
    uint8_t* output;
};
// What is not coded of them.
struct Raw {
    uint4 words;
    uint2 bytes;
    uint32_t bits;
};

template <uint32_t Type>
__device__ inline Raw loadRaw(const Places& places)
{
    Raw raw = {};
    if (Type == SLUICE_FLOAT_F32) raw.words = __ldcs(reinterpret_cast<const uint4*>(places.words));
    if (Type <= SLUICE_FLOAT_F32) raw.bytes = __ldcs(reinterpret_cast<const uint2*>(places.bytes));
    if (Type == SLUICE_FLOAT_F16 || Type == SLUICE_FLOAT_F8_E5M2) {
        const uint32_t at = 3 * laneIndex(), shift = at % 4 * 8;
        const uint32_t* words = reinterpret_cast<const uint32_t*>(places.bits) + at / 4;
        const uint32_t low = __ldcs(words), high = __ldcs(words + (shift > 8 ? 1 : 0));
        raw.bits = __funnelshift_r(low, high, shift); // above 24 they mean nothing
    } else if (Type == SLUICE_FLOAT_F8_E4M3) {
        raw.bits = __ldcs(reinterpret_cast<const uint32_t*>(places.bits) + laneIndex());
    } else if (Type == SLUICE_FLOAT_F8_E4M3_DENSE) {
        raw.bits = __ldcs(reinterpret_cast<const uint16_t*>(places.bits) + laneIndex());
    }
    return raw;
}

// Bits of `a` where the mask has ones, of `b` elsewhere.
__device__ inline uint32_t select(uint32_t mask, uint32_t a, uint32_t b)
{
    uint32_t result; // the compiler makes two or three instructions of (a & mask) | (b & ~mask)
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(result) : "r"(mask), "r"(a), "r"(b));
    return result;
}

// 8 elements from four entries and the rest, the words of them that there are.
template <uint32_t Type>
__device__ inline void join(const uint32_t (&pairs)[4], const Raw& raw, uint32_t (&words)[8])
{
    if constexpr (Type == SLUICE_FLOAT_BF16 || Type == SLUICE_FLOAT_F32) {
        const uint32_t low[4] = {raw.words.x, raw.words.y, raw.words.z, raw.words.w};
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t twice = __byte_perm(i < 2 ? raw.bytes.x : raw.bytes.y, 0, i % 2 == 0 ? 0x1100 : 0x3322);
            const uint32_t upper = select(0x7f807f80, pairs[i], twice);
            if (Type == SLUICE_FLOAT_BF16) {
                words[i] = upper;
            } else {
                words[2 * i] = __byte_perm(low[i], upper, 0x5410);
                words[2 * i + 1] = __byte_perm(low[i], upper, 0x7632);
            }
        }
    } else if constexpr (Type == SLUICE_FLOAT_F16) {
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
            // Of 3 bits the lower two go to 8 and 24, the sign to 15 and 31; nothing is carried.
            const uint32_t six = i < 2 ? raw.bits : raw.bits >> 12, down = i % 2 * 6;
            const uint32_t mantissas = (six & 27u << down) * ((1u << 8 | 1u << 21) >> down);
            const uint32_t high = (six & 36u << down) * ((1u << 13 | 1u << 26) >> down) + mantissas;
            const uint32_t both = __byte_perm(i < 2 ? raw.bytes.x : raw.bytes.y, high, i % 2 == 0 ? 0x7150 : 0x7352);
            words[i] = select(0x7c007c00, pairs[i], both);
        }
    } else {
#pragma unroll
        for (uint32_t i = 0; i < 2; ++i) {
            words[i] = __byte_perm(pairs[2 * i], pairs[2 * i + 1], 0x6521);
            if (Type == SLUICE_FLOAT_F8_E4M3) {
                const uint32_t four = __byte_perm(raw.bits, raw.bits >> 4, i == 0 ? 0x5140 : 0x7362);
                words[i] = select(0x78787878, words[i], select(0x80808080, four << 4, four));
            } else if (Type == SLUICE_FLOAT_F8_E5M2) {
                const uint32_t twelve = i == 0 ? raw.bits : raw.bits >> 12;
                const uint32_t four = ((twelve & 00707) * 0x401 & 0x70007) | ((twelve & 07070) * 0x8020 & 0x7000700);
                words[i] = select(0x7c7c7c7c, words[i], four * 33);
            } else if (Type == SLUICE_FLOAT_F8_E4M3_DENSE) {
                const uint32_t eight = i == 0 ? raw.bits : raw.bits >> 8;
                const uint32_t four = (eight & 0x33) * 0x1001 + (eight & 0xcc) * 0x40040; // and more that is not selected
                words[i] = select(0x7e7e7e7e, words[i], four | four << 6);
            }
        }
    }
}

template <uint32_t Type>
constexpr uint32_t kSize = Type < SLUICE_FLOAT_F32 ? 2 : Type == SLUICE_FLOAT_F32 ? 4 : 1; // bytes

template <uint32_t Type>
__device__ inline void storeWhole(const uint32_t (&words)[8], uint8_t* to)
{
    if (kSize<Type> == 1) {
        __stcs(reinterpret_cast<uint2*>(to), make_uint2(words[0], words[1]));
    } else {
        __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
        if (kSize<Type> == 4)
            __stcs(reinterpret_cast<uint4*>(to) + 1, make_uint4(words[4], words[5], words[6], words[7]));
    }
}

template <uint32_t Type>
__device__ inline void storeSome(const uint32_t (&words)[8], uint32_t bytes, uint8_t* to)
{
#pragma unroll
    for (uint32_t i = 0; i < 8 * kSize<Type>; ++i)
        if (i < bytes) __stcs(to + i, static_cast<uint8_t>(words[i / 4] >> i % 4 * 8));
}

// Elements of a tile of a good tensor, `elements` from `first` on, at least one.
template <uint32_t Type>
__device__ void decodeElements(const Tensor& tensor, Stream& stream, uint64_t first, uint32_t elements)
{
    constexpr uint32_t bits = bitsOf(Type);
    const uint64_t own = first + 8 * laneIndex();
    Places places = {tensor.raw + 2 * own, tensor.raw + tensor.bytesAt + own,
                     tensor.raw + tensor.bitsAt + first / 8 * bits, tensor.output + kSize<Type> * own};
    uint32_t pairs[4], words[8] = {};
#pragma unroll 1
    for (; elements > kRow; elements -= kRow) {
        const Raw raw = loadRaw<Type>(places); // it comes while the row is decoded
        decodeRow<Type>(stream, pairs);
        join<Type>(pairs, raw, words);
        storeWhole<Type>(words, places.output);
        places.words += 2 * kRow;
        places.bytes += kRow;
        places.bits += kRow / 8 * bits;
        places.output += kSize<Type> * kRow;
    }
    const Raw raw = 8 * laneIndex() < elements ? loadRaw<Type>(places) : Raw{};
    decodeLastRow<Type>(stream, pairs);
    join<Type>(pairs, raw, words);
    if (elements == kRow) { // the same for the warp
        storeWhole<Type>(words, places.output);
    } else if (8 * laneIndex() < elements) {
        storeSome<Type>(words, kSize<Type> * (elements - 8 * laneIndex()), places.output);
    }
}

__device__ uint32_t decodeTile(BlockShared& shared, bool complete, uint32_t warp, uint32_t tile)
{
    const Tensor& tensor = shared.tensor;
    if (!tensor.good || tile >= (tensor.count + kTile - 1) / kTile) return SLUICE_ST_BAD_REGION;
    const uint32_t begin = tensor.index[tile], end = tensor.index[tile + 1];
    if (begin > end || end > tensor.words4) return SLUICE_ST_BAD_REGION;
    if (!complete) return SLUICE_ST_BAD_CODE;

    const uint64_t first = static_cast<uint64_t>(tile) * kTile;
    const uint32_t elements = static_cast<uint32_t>(min(static_cast<uint64_t>(kTile), tensor.count - first));
    Stream stream(shared, warp, tensor.words + begin, end - begin);
    switch (tensor.type) {
    case SLUICE_FLOAT_BF16: decodeElements<SLUICE_FLOAT_BF16>(tensor, stream, first, elements); break;
    case SLUICE_FLOAT_F16: decodeElements<SLUICE_FLOAT_F16>(tensor, stream, first, elements); break;
    case SLUICE_FLOAT_F32: decodeElements<SLUICE_FLOAT_F32>(tensor, stream, first, elements); break;
    case SLUICE_FLOAT_F8_E4M3: decodeElements<SLUICE_FLOAT_F8_E4M3>(tensor, stream, first, elements); break;
    case SLUICE_FLOAT_F8_E5M2: decodeElements<SLUICE_FLOAT_F8_E5M2>(tensor, stream, first, elements); break;
    case SLUICE_FLOAT_F8_E4M3_DENSE: decodeElements<SLUICE_FLOAT_F8_E4M3_DENSE>(tensor, stream, first, elements); break;
    default: decodeElements<SLUICE_FLOAT_BYTES>(tensor, stream, first, elements);
    }
    return stream.status();
}

__device__ uint32_t firstTileOf(const FloatDecodeParams& params, uint32_t tensor)
{
    if (tensor >= params.tensorCount) return params.tileCount;
    return min(pointerFrom<const uint32_t>(params.tensors)[16ull * tensor + 15], params.tileCount);
}

__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor)
floatDecodeKernel(const __grid_constant__ FloatDecodeParams params)
{
    __shared__ BlockShared shared;
    const uint32_t warp = uniform(warpIndex());
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
        __syncthreads(); // the tensor and the table before have been used
        if (threadIdx.x == 0) shared.tensor = loadTensor(params, tensor);
        __syncthreads();
        const bool complete = shared.tensor.good && buildTable(shared);
        waitForLaunchBefore(); // the statuses are PENDING
        for (uint32_t at = tile + warp; at < end; at += kWarps) {
            const uint32_t status = decodeTile(shared, complete, warp, at - shared.tensor.firstTile);
            if (laneIndex() == 0) writeStatus(params.status, params.tileCount, at, status);
        }
        tile = end;
    }
}

} // namespace

cudaError_t loadFloatDecode(FloatDevice& floatDevice)
{
    floatDevice = {};
    uint32_t processors = 0;
    int blocks = 0;
    cudaError_t error = countProcessors(processors);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, floatDecodeKernel, static_cast<int>(kThreads), 0);
    cudaFuncAttributes attributes = {};
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(floatDecodeKernel));
    floatDevice.warps = kWarps;
    floatDevice.blocks = processors * static_cast<uint32_t>(max(blocks, 1));
    floatDevice.early = isForHopper(attributes); // else waitForLaunchBefore() was compiled to nothing
    return error;
}

cudaError_t launchFloatDecode(cudaStream_t stream, const FloatDecodeParams& params, bool early)
{
    const uint32_t blocks = (params.tileCount + params.tilesPerWorkgroup - 1) / params.tilesPerWorkgroup;
    return launch(stream, floatDecodeKernel, blocks, kThreads, params, 0, early);
}

} // namespace sluice
