// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of the float codec, a warp a tile; the method is told in shaders/lib/float_tile.glsl and
// float_decode.comp, of which this is the native twin.
#include <sluice/sluice_float.h>

#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"
#include "tuning.h"

#include "../formats/float_format.h"

#include <type_traits>

namespace sluice {
namespace {

constexpr uint32_t kMaxBits = floats::kMaxBits, kTile = floats::kTile, kRow = floats::kRow;
constexpr uint32_t kUnit = 8, kTailRows = 2; // kUnit: bytes
constexpr uint32_t kTableSize = 1u << kMaxBits;
constexpr uint32_t kWarps = 21, kThreads = kWarps * kWarpSize;
constexpr uint32_t kChunk = 128, kRing = 3 * kChunk; // words
static_assert(kThreads >= 256, "a thread a symbol");
static_assert(kChunk >= 4 * kWarpSize, "what a row takes behind its look-ups");

// Table entries: bits 0 .. 3: how many bits it takes; 4, 5: 0; 6: the second symbol did not fit.
// The symbols stand where the numbers have them, so that few instructions join them with the other
// bits, and the length of the first one's code where neither is: numbers of 16 and 32 bits have a
// symbol in each half, the length at 16; those of 8 bits have them in bytes 1 and 2, the length at
// 24. Above a length there is a zero.
constexpr uint32_t kShort = 64;

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
__device__ constexpr bool isByte(uint32_t type) { return type > SLUICE_FLOAT_F32; }
// How many bits of an element are in the last plane.
__device__ constexpr uint32_t bitsOf(uint32_t type)
{
    return type == SLUICE_FLOAT_F16 || type == SLUICE_FLOAT_F8_E5M2 ? 3
           : type == SLUICE_FLOAT_F8_E4M3                           ? 4
           : type == SLUICE_FLOAT_F8_E4M3_DENSE                     ? 2
                                                                    : 0;
}
__device__ constexpr uint32_t sizeOf(uint32_t type)
{
    return type < SLUICE_FLOAT_F32 ? 2 : type == SLUICE_FLOAT_F32 ? 4 : 1;
}
// Bits of an element that are not coded.
__device__ constexpr uint32_t rawBitsOf(uint32_t type)
{
    return sizeOf(type) == 4 ? 24 : sizeOf(type) == 2 ? 8 + bitsOf(type) : bitsOf(type);
}
__device__ constexpr uint32_t aligned16(uint32_t bytes) { return (bytes + 15) / 16 * 16; }
// Where the planes of a tile of so many elements begin, that of 2 bytes an element at 0.
struct Planes {
    uint32_t bytes, bits, end;
};
__device__ constexpr Planes planesOf(uint32_t type, uint32_t elements)
{
    Planes planes = {};
    planes.bytes = sizeOf(type) == 4 ? aligned16(2 * elements) : 0;
    planes.bits = planes.bytes + (sizeOf(type) >= 2 ? aligned16(elements) : 0);
    planes.end = planes.bits + aligned16((elements + 7) / 8 * bitsOf(type));
    return planes;
}

// What is read once only, with a hint for the types whose bits are planes of 3 or 4 bits an
// element: the L2 cache then gets the next row's as well.
template <uint32_t Type>
constexpr bool kHint = bitsOf(Type) >= 3;
template <uint32_t Type>
__device__ inline uint32_t loadOnce(const uint32_t* from)
{
    if (!kHint<Type>) return __ldcs(from);
    uint32_t value;
    asm("ld.global.cs.L2::256B.u32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
}
template <uint32_t Type>
__device__ inline uint2 loadOnce(const uint2* from)
{
    if (!kHint<Type>) return __ldcs(from);
    uint2 value;
    asm("ld.global.cs.L2::256B.v2.u32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "l"(from));
    return value;
}

struct Tensor {
    const uint2* words;
    const uint32_t* index;
    const uint8_t* raw;
    uint8_t* output;
    uint64_t units, count; // units: of the words
    uint32_t type, firstTile;
    bool good;
};

// Of the words of a warp's tile.
struct TileWords {
    const uint2* begin;
    uint32_t units;
    uint32_t first; // bytes that the lanes begin with
};

struct BlockShared {
    uint32_t table[kTableSize];
    union {
        alignas(16) uint32_t ring[kWarps * kRing];
        alignas(16) uint16_t single[kTableSize]; // while the table is made: a symbol at bit 4,
                                                 // below its code's length
    };
    uint32_t limits[16], places[16]; // of each length, see the shader
    uint32_t counts[kWarps][16];
    uint8_t sorted[256];
    // Here because registers are scarce:
    TileWords tiles[kWarps];
    Tensor tensor;
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

// The length of a thread's symbol's code. It comes while the rest of the tensor does.
__device__ uint32_t loadLength(const FloatDecodeParams& params, uint32_t tensor)
{
    const uint64_t address = pointerFrom<const uint64_t>(params.tensors)[8ull * tensor + 3];
    const uint32_t symbol = threadIdx.x;
    if (symbol >= 256 ||
        !insideBuffer(address, SLUICE_FLOAT_LENGTHS_SIZE, params.source, params.sourceSize))
        return 0;
    return pointerTo<const uint8_t>(address)[symbol / 2] >> symbol % 2 * 4 & 15;
}

// By the whole block, each thread with the length of its symbol's code. Returns whether the code is
// complete.
__device__ bool buildTable(BlockShared& shared, uint32_t length)
{
    const uint32_t lane = laneIndex(), warp = warpIndex(), symbol = threadIdx.x;
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
    const uint32_t all = __shfl_sync(kAllLanes, ranks, 31),
                   space = __shfl_sync(kAllLanes, spaces, 31);
    const bool single = all == 1 && __shfl_sync(kAllLanes, used, 1) == 1;
    const uint32_t firstRank = ranks - used, firstCode = (spaces - (used << shift)) >> shift;
    if (warp == 0 && lane < 16) {
        shared.limits[lane] = single ? kTableSize : spaces;
        shared.places[lane] = firstRank - firstCode;
    }
    const uint32_t place =
        __shfl_sync(kAllLanes, firstRank + before, static_cast<int>(length)) + rank;
    if (length != 0 && length <= kMaxBits) {
        shared.sorted[place & 255] = static_cast<uint8_t>(symbol);
        if (single) shared.sorted[1] = static_cast<uint8_t>(symbol);
    }
    __syncthreads();

    // First one symbol an entry: 8 entries a thread where codes have up to 9 bits, which are the
    // same, then one.
    const auto singleAt = [&](uint32_t bits, uint32_t bitCount) {
        return shared.sorted[((bits >> (kMaxBits - bitCount)) + shared.places[bitCount]) & 255]
                   << 4 |
               bitCount;
    };
    const uint32_t shortEnd = min(shared.limits[9], kTableSize), end10 = shared.limits[10],
                   end11 = shared.limits[11];
#pragma unroll 1
    for (uint32_t i = 8 * threadIdx.x; i < shortEnd; i += 8 * kThreads) {
        uint32_t bitCount = 1;
#pragma unroll
        for (uint32_t k = 1; k < 9; ++k)
            bitCount += i >= shared.limits[k] ? 1 : 0;
        const uint32_t two = singleAt(i, bitCount) * 0x10001;
        *reinterpret_cast<uint4*>(shared.single + i) = make_uint4(two, two, two, two);
    }
#pragma unroll 1
    for (uint32_t i = shortEnd + threadIdx.x; i < kTableSize; i += kThreads)
        shared.single[i] =
            static_cast<uint16_t>(singleAt(i, 10 + (i >= end10 ? 1 : 0) + (i >= end11 ? 1 : 0)));
    __syncthreads();
    const Form form = formOf(shared.tensor.type);
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < kTableSize; i += kThreads) {
        const uint32_t first = shared.single[i], length1 = first & 15;
        const uint32_t second = shared.single[i << length1 & (kTableSize - 1)],
                       length2 = second & 15;
        const bool both = length1 + length2 <= kMaxBits;
        shared.table[i] = (first >> 4 & form.mask) << form.first | length1 << form.length |
                          (both ? (length1 + length2) | (second >> 4 & form.mask) << form.second
                                : length1 | kShort);
    }
    __syncthreads();
    return !tooLong && (single || space == kTableSize);
}

// -----------------------------------------------------------------------------------------------

__device__ inline uint32_t sharedAddress(const void* at)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}
// threadIdx.x, which the compiler does not keep in a register for a later call.
__device__ inline uint32_t threadNow()
{
    uint32_t result;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(result));
    return result;
}
__device__ inline void storeShared(uint32_t at, uint2 value)
{
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};"
                 :
                 : "r"(at), "r"(value.x), "r"(value.y)
                 : "memory");
}
__device__ inline uint32_t loadSharedHalf(uint32_t at)
{
    uint16_t value;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(value) : "r"(at) : "memory");
    return value;
}
// Lanes in which bit 5 of `used` is not that of `before` shift the words from `next` on, one each,
// into high and low. Written in PTX so that one predicate serves for all of it, without selections.
__device__ inline void takeWord(uint32_t used, uint32_t before, uint32_t below, uint32_t& next,
                                uint32_t& high, uint32_t& low)
{
    asm volatile("{ .reg .pred p; .reg .u32 t, at;"
                 " xor.b32 t, %3, %4; and.b32 t, t, 32; setp.ne.u32 p, t, 0;"
                 " vote.sync.ballot.b32 t, p, 0xffffffff;"
                 " mul.lo.u32 at, t, %5; popc.b32 at, at; mad.lo.u32 at, at, 4, %0;"
                 " @p mov.u32 %1, %2; @p ld.shared.u32 %2, [at];"
                 " popc.b32 t, t; mad.lo.u32 %0, t, 4, %0; }"
                 : "+r"(next), "+r"(high), "+r"(low)
                 : "r"(used), "r"(before), "r"(below)
                 : "memory");
}

// Whether any lane has a flag, or `next` has come to `end`.
__device__ inline bool anyLane(uint32_t flags, uint32_t next, uint32_t end)
{
    uint32_t result;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; setp.ge.or.u32 p, %2, %3, p; "
                 "vote.sync.any.pred p, p, 0xffffffff;"
                 " selp.u32 %0, 1, 0, p; }"
                 : "=r"(result)
                 : "r"(flags), "r"(next), "r"(end));
    return result != 0;
}

// The bits of a lane and the words that its warp takes in turn. Past the end words are 0. Between
// two calls of move() the warp may take kChunk words.
template <uint32_t Type>
struct Stream {
    static constexpr uint32_t kLoads = kChunk / (2 * kWarpSize);
    BlockShared& shared;
    uint32_t at;           // the lane's next unit of the tile
    uint32_t table;        // its address in shared memory
    uint32_t below;        // multiplied by it, a ballot has the bits of the lanes below this one
                           // only
    uint32_t next, moveAt; // addresses in shared memory: of the next word, and where the ring moves
    uint32_t high = 0, low = 0; // two words; in the last rows the bits that it has, the next one
                                // above all others
    uint32_t used = 0;          // how many bits of `high`; those above bit 5 mean nothing
    uint32_t before = 0;        // the same at the last take: a word has been used up when bit 5 has
                                // turned since
    uint2 ahead[kLoads];

    __device__ Stream(BlockShared& block, const uint2* begin, uint32_t units, bool hasWhole)
        : shared(block), at(laneIndex()), table(sharedAddress(block.table)),
          below(laneIndex() == 0 ? 0 : 1u << (32 - laneIndex())), next(ring()),
          moveAt(next + 4 * kChunk)
    {
        const TileWords from = {begin, units, hasWhole ? kUnit * kWarpSize : 0};
        if (hasWhole) {
            const uint2 first = load(from);
            high = first.x;
            low = first.y;
        }
        uint2 first[kLoads], second[kLoads];
        load(from, first);
        load(from, second);
        load(from, ahead);
        __syncwarp(); // the tile before has been read
        if (laneIndex() == 0) shared.tiles[warpIndex()] = from;
        store(0, first);
        store(kChunk, second);
        __syncwarp();
    }
    // Of the warp. Made anew where it is needed, which is seldom.
    __device__ uint32_t ring() const
    {
        return sharedAddress(shared.ring) + threadNow() / kWarpSize * (4 * kRing);
    }
    __device__ uint2 load(const TileWords& from)
    {
        const uint2 result = at < from.units ? loadOnce<Type>(from.begin + at) : make_uint2(0, 0);
        at += kWarpSize;
        return result;
    }
    __device__ void load(const TileWords& from, uint2 (&to)[kLoads])
    {
#pragma unroll
        for (uint32_t i = 0; i < kLoads; ++i)
            to[i] = load(from);
    }
    __device__ void store(uint32_t place, const uint2 (&from)[kLoads])
    {
#pragma unroll
        for (uint32_t i = 0; i < kLoads; ++i)
            storeShared(ring() + 4 * (place + 2 * (i * kWarpSize + threadNow() % kWarpSize)),
                        from[i]);
    }
    __device__ uint32_t status() const
    {
        const TileWords& tile = shared.tiles[warpIndex()];
        const uint32_t loads = (at - laneIndex()) / kWarpSize - (tile.first != 0 ? 1 : 0);
        const uint32_t turns = (loads / kLoads - 3) / 2; // of the ring
        const uint32_t bytes = tile.first + turns * (8 * kChunk) + (next - ring());
        return (bytes + kUnit - 1) / kUnit > tile.units ? SLUICE_ST_TRUNCATED : SLUICE_ST_OK;
    }
    // Each lane that has used up the first of its two words drops it and gets another one.
    __device__ void take()
    {
        takeWord(used, before, below, next, high, low);
        before = used;
    }
    // Of a window. In PTX because the compiler would make two instructions of logic of the place in
    // the table, and the pipe of those is what a row is bound by.
    __device__ uint32_t entryOf(uint32_t bits) const
    {
        uint32_t result;
        asm volatile("{ .reg .u32 at; shr.u32 at, %1, %3; mad.lo.u32 at, at, 4, %2; ld.shared.u32 "
                     "%0, [at]; }"
                     : "=r"(result)
                     : "r"(bits), "r"(table), "n"(32 - kMaxBits)
                     : "memory");
        return result;
    }
    // The bits ahead, the next one above all others.
    __device__ uint32_t window() const { return __funnelshift_l(low, high, used); }
    // Two entries.
    __device__ void takePairs(uint32_t& first, uint32_t& second)
    {
        const uint32_t bits = window();
        first = entryOf(bits);
        second = entryOf(__funnelshift_l(0, bits, first));
        used += first + second;
    }
    __device__ void move()
    {
        if (__any_sync(kAllLanes, next >= moveAt)) {
            __syncwarp();
            const uint32_t middle = ring() + 4 * kChunk;
            if (moveAt == middle) {
                store(0, ahead);
                store(2 * kChunk, ahead);
                moveAt = middle + 4 * kChunk;
            } else {
                store(kChunk, ahead);
                next -= 8 * kChunk;
                moveAt = middle;
            }
            load(shared.tiles[threadNow() / kWarpSize], ahead);
            __syncwarp();
        }
    }

    // In the last rows `high` and `low` begin with the next bit, and `used` is how many bits they
    // have; behind those are zeros.
    __device__ void beginLast(bool hasWhole)
    {
        const uint32_t two = used & 31 | (used ^ before) & 32;
        const bool one = two >= 32;
        high = one ? low << (two & 31) : __funnelshift_l(low, high, two);
        low = one ? 0 : low << two;
        used = hasWhole ? 64 - two : 0;
    }
    // need: of lanes with fewer than 12 bits.
    __device__ void takeHalf(bool need)
    {
        const uint32_t takers = __ballot_sync(kAllLanes, need);
        const uint32_t word =
            loadSharedHalf(next + 2 * static_cast<uint32_t>(__popc(takers * below)));
        if (need) {
            high |= word << (16 - used);
            used += 16;
        }
        next += 2 * static_cast<uint32_t>(__popc(takers));
    }
    __device__ void drop(uint32_t count)
    {
        high = __funnelshift_l(low, high, count);
        low = __funnelshift_l(0, low, count);
        used -= count;
    }
};

__device__ inline uint32_t flagsOf(const uint32_t (&pairs)[4])
{
    return (pairs[0] | pairs[1] | pairs[2] | pairs[3]) & kShort;
}
// Which of a lane's look-ups found one symbol only: a flag in each byte, that of the last look-up
// in the lowest one.
__device__ inline uint32_t shortOnes(const uint32_t (&pairs)[4])
{
    const uint32_t low = __byte_perm(pairs[3], pairs[2], 0x40),
                   high = __byte_perm(pairs[1], pairs[0], 0x40);
    return __byte_perm(low, high, 0x5410) & kShort * 0x1010101;
}
// a = the bytes of a and b that the selector tells, if `what` is `with`, or more than `than`. In
// PTX because the compiler would select after the permutation.
template <uint32_t Selector>
__device__ inline void permuteIfSame(uint32_t& a, uint32_t b, uint32_t what, uint32_t with)
{
    asm("{ .reg .pred p; setp.eq.u32 p, %2, %3; @p prmt.b32 %0, %0, %1, %4; }"
        : "+r"(a)
        : "r"(b), "r"(what), "r"(with), "n"(Selector));
}
template <uint32_t Selector>
__device__ inline void permuteIfMore(uint32_t& a, uint32_t b, uint32_t what, uint32_t than)
{
    asm("{ .reg .pred p; setp.gt.u32 p, %2, %3; @p prmt.b32 %0, %0, %1, %4; }"
        : "+r"(a)
        : "r"(b), "r"(what), "r"(than), "n"(Selector));
}
// A symbol behind the others, those behind the last look-up that found only one a place further
// ahead. Of lanes with shorts == 0 nothing changes. one: the entry that begins with the symbol.
template <uint32_t Type>
__device__ inline void addSymbol(uint32_t (&pairs)[4], uint32_t& shorts, uint32_t one)
{
    constexpr uint32_t shift = isByte(Type) ? 0x3520 : 0x5432,
                       fill = isByte(Type) ? 0x3510 : 0x5410;
    const uint32_t last = shorts & (0 - shorts);
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t own = kShort << (24 - 8 * i), next = i < 3 ? pairs[i + 1] : one;
        permuteIfSame<fill>(pairs[i], next, last, own);
        if (i > 0) permuteIfMore<shift>(pairs[i], next, last, own);
    }
    shorts &= shorts - 1;
}

// A row but the last two: the symbols of a pair in each of the four words, as in table entries.
template <uint32_t Type>
__device__ inline void decodeRow(Stream<Type>& stream, uint32_t (&pairs)[4])
{
    stream.take();
    stream.takePairs(pairs[0], pairs[1]);
    stream.take();
    stream.takePairs(pairs[2], pairs[3]);
    // One vote on both things that are rare.
    if (__builtin_expect(anyLane(flagsOf(pairs), stream.next, stream.moveAt), 0)) {
        stream.move(); // the turns take 4 words a lane at most
        uint32_t shorts = shortOnes(pairs);
#pragma unroll 1
        while (__any_sync(kAllLanes, shorts != 0)) {
            stream.take();
            const uint32_t one = stream.entryOf(stream.window());
            stream.used += shorts != 0 ? one >> formOf(Type).length : 0;
            addSymbol<Type>(pairs, shorts, one);
        }
        stream.move();
    }
}

// The last ones take only words of 16 bits that their codes need.
template <uint32_t Type>
__device__ inline void decodeLastRow(Stream<Type>& stream, uint32_t (&pairs)[4])
{
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t guess = stream.entryOf(stream.high);
        stream.takeHalf(stream.used < ((guess & kShort) != 0 ? kMaxBits : guess & 15));
        pairs[i] = stream.entryOf(stream.high);
        stream.drop(pairs[i] & 15);
    }
    stream.move();
    uint32_t shorts = shortOnes(pairs);
#pragma unroll 1
    while (__any_sync(kAllLanes, shorts != 0)) {
        const uint32_t guess = stream.entryOf(stream.high);
        stream.takeHalf(shorts != 0 && stream.used < (guess >> formOf(Type).length & 15));
        const uint32_t one = stream.entryOf(stream.high);
        stream.drop(shorts != 0 ? one >> formOf(Type).length & 15 : 0);
        addSymbol<Type>(pairs, shorts, one);
        stream.move();
    }
}

// -----------------------------------------------------------------------------------------------

// Where a lane's next 8 elements are.
struct Places {
    const uint8_t *words, *bytes, *bits; // of raw; bits: from the word on that they are in
    uint8_t* output;
};
// What is not coded of them.
struct Raw {
    uint4 words;
    uint2 bytes;
    uint2 bits; // two words of which bits are in both, if a lane has 24
};
// A lane's 24 bits; what is above them means nothing.
__device__ inline uint32_t bits24(const Raw& raw)
{
    return __funnelshift_r(raw.bits.x, raw.bits.y, 3 * laneIndex() % 4 * 8);
}

// more: a row follows, so that a word may be read behind this one's.
template <uint32_t Type>
__device__ inline Raw loadRaw(const Places& places, bool more)
{
    Raw raw = {};
    if (Type == SLUICE_FLOAT_F32) raw.words = __ldcs(reinterpret_cast<const uint4*>(places.words));
    if (Type <= SLUICE_FLOAT_F32)
        raw.bytes = loadOnce<Type>(reinterpret_cast<const uint2*>(places.bytes));
    if (Type == SLUICE_FLOAT_F16 || Type == SLUICE_FLOAT_F8_E5M2) {
        const uint32_t shift = 3 * laneIndex() % 4 * 8;
        const uint32_t* words = reinterpret_cast<const uint32_t*>(places.bits);
        raw.bits =
            make_uint2(loadOnce<Type>(words), loadOnce<Type>(words + (more || shift > 8 ? 1 : 0)));
    } else if (Type == SLUICE_FLOAT_F8_E4M3) {
        raw.bits.x = loadOnce<Type>(reinterpret_cast<const uint32_t*>(places.bits));
    } else if (Type == SLUICE_FLOAT_F8_E4M3_DENSE) {
        raw.bits.x = __ldcs(reinterpret_cast<const uint16_t*>(places.bits));
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
            const uint32_t twice =
                __byte_perm(i < 2 ? raw.bytes.x : raw.bytes.y, 0, i % 2 == 0 ? 0x1100 : 0x3322);
            const uint32_t upper = select(0x7f807f80, pairs[i], twice);
            if (Type == SLUICE_FLOAT_BF16) {
                words[i] = upper;
            } else {
                words[2 * i] = __byte_perm(low[i], upper, 0x5410);
                words[2 * i + 1] = __byte_perm(low[i], upper, 0x7632);
            }
        }
    } else if constexpr (Type == SLUICE_FLOAT_F16) {
        const uint32_t all = bits24(raw);
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
            // Of 3 bits the lower two go to 8 and 24, the sign to 15 and 31; nothing is carried.
            const uint32_t six = i < 2 ? all : all >> 12, down = i % 2 * 6;
            const uint32_t mantissas = (six & 27u << down) * ((1u << 8 | 1u << 21) >> down);
            const uint32_t high = (six & 36u << down) * ((1u << 13 | 1u << 26) >> down) + mantissas;
            const uint32_t both =
                __byte_perm(i < 2 ? raw.bytes.x : raw.bytes.y, high, i % 2 == 0 ? 0x7150 : 0x7352);
            words[i] = select(0x7c007c00, pairs[i], both);
        }
    } else {
        const uint32_t all = Type == SLUICE_FLOAT_F8_E5M2 ? bits24(raw) : raw.bits.x;
#pragma unroll
        for (uint32_t i = 0; i < 2; ++i) {
            words[i] = __byte_perm(pairs[2 * i], pairs[2 * i + 1], 0x6521);
            if (Type == SLUICE_FLOAT_F8_E4M3) {
                const uint32_t four = __byte_perm(all, all >> 4, i == 0 ? 0x5140 : 0x7362);
                words[i] = select(0x78787878, words[i], select(0x80808080, four << 4, four));
            } else if (Type == SLUICE_FLOAT_F8_E5M2) {
                // Twelve bits go two ways, then each half, and the sign to the top; what else there
                // is does not count.
                const uint32_t twelve = i == 0 ? all : all >> 12;
                const uint32_t halves = select(0xffff, twelve, twelve << 10);
                const uint32_t four = select(0xff00ff, halves, halves << 5);
                words[i] = select(0x7c7c7c7c, words[i], select(0x80808080, four << 5, four));
            } else if (Type == SLUICE_FLOAT_F8_E4M3_DENSE) {
                const uint32_t eight = i == 0 ? all : all >> 8;
                // and more that is not selected
                const uint32_t four = (eight & 0x33) * 0x1001 + (eight & 0xcc) * 0x40040;
                words[i] = select(0x7e7e7e7e, words[i], four | four << 6);
            }
        }
    }
}

template <uint32_t Type>
constexpr uint32_t kSize = Type < SLUICE_FLOAT_F32    ? 2
                           : Type == SLUICE_FLOAT_F32 ? 4
                                                      : 1; // bytes

// Whether what is not coded is loaded a row ahead: not where the registers for it cost more than
// the waiting.
template <uint32_t Type>
constexpr bool kAhead =
    Type != SLUICE_FLOAT_F32&& Type != SLUICE_FLOAT_F16&& Type != SLUICE_FLOAT_BYTES;

template <uint32_t Type>
__device__ inline void storeWhole(const uint32_t (&words)[8], uint8_t* to)
{
    if (kSize<Type> == 1) {
        __stcs(reinterpret_cast<uint2*>(to), make_uint2(words[0], words[1]));
    } else {
        __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
        if (kSize<Type> == 4)
            __stcs(reinterpret_cast<uint4*>(to) + 1,
                   make_uint4(words[4], words[5], words[6], words[7]));
    }
}

template <uint32_t Type>
__device__ inline void storeSome(const uint32_t (&words)[8], uint32_t bytes, uint8_t* to)
{
#pragma unroll
    for (uint32_t i = 0; i < 8 * kSize<Type>; ++i)
        if (i < bytes) __stcs(to + i, static_cast<uint8_t>(words[i / 4] >> i % 4 * 8));
}

// A good tensor's tile of `units` of words from `begin` on and of `elements` elements, at least
// one.
template <uint32_t Type>
__device__ uint32_t decodeElements(BlockShared& shared, uint32_t tile, uint32_t begin,
                                   uint32_t units, uint32_t elements)
{
    const Tensor& tensor = shared.tensor;
    const bool hasWhole = elements > kTailRows * kRow;
    Stream<Type> stream(shared, tensor.words + begin, units, hasWhole);
    constexpr uint32_t bits = bitsOf(Type), unit = bits == 2 ? 2 : 4; // unit: bytes of a load
    const uint8_t* raw = tensor.raw + static_cast<uint64_t>(tile) * (kTile / 8 * rawBitsOf(Type));
    const Planes planes = planesOf(Type, elements);
    const uint32_t own = 8 * laneIndex();
    Places places = {raw + 2 * own, raw + planes.bytes + own,
                     raw + planes.bits + laneIndex() * bits / unit * unit,
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
        // Behind the whole rows there is one of 256 elements still, so that a row may be loaded
        // ahead in any case.
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
        const Raw row = loadRaw<Type>(places, true); // it comes while the row is decoded
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
        if (elements >= kRow) { // the same for the warp
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
    const uint32_t units = min(end - begin, 1u << 16); // more than a tile can take
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

__device__ void prefetch(const void* from, uint32_t bytes)
{
    for (uint32_t at = 128 * laneIndex(); at < bytes; at += 128 * kWarpSize)
        asm volatile("prefetch.global.L2 [%0];" : : "l"(static_cast<const char*>(from) + at));
}

// All that a tile is decoded from, for a launch with so few of them that waiting for memory would
// be what takes long.
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

__device__ uint32_t firstTileOf(const FloatDecodeParams& params, uint32_t tensor)
{
    if (tensor >= params.tensorCount) return params.tileCount;
    return min(pointerFrom<const uint32_t>(params.tensors)[16ull * tensor + 15], params.tileCount);
}

__global__ void __launch_bounds__(kThreads, kFloatBlocksPerProcessor)
    floatDecodeKernel(const __grid_constant__ FloatDecodeParams params)
{
    extern __shared__ uint4 sharedMemory[]; // larger than what can be declared
    BlockShared& shared = *reinterpret_cast<BlockShared*>(sharedMemory);
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
        const uint32_t next =
            tensor + 1 < params.tensorCount ? max(firstTileOf(params, tensor + 1), tile) : stop;
        const uint32_t end = min(next, stop);
        if (end == tile) continue;
        __syncthreads(); // the tensor and the table before have been used
        const uint32_t length = loadLength(params, tensor);
        if (threadIdx.x == 0) shared.tensor = loadTensor(params, tensor);
        __syncthreads();
        if (shared.tensor.good && params.tilesPerWorkgroup <= kWarps && tile + warp < end)
            prefetchTile(shared.tensor, tile + warp - shared.tensor.firstTile);
        const bool complete = shared.tensor.good && buildTable(shared, length);
        waitForPreviousLaunch(); // the statuses are PENDING
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
