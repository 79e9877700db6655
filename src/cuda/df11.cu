// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of DFloat11 and ECF8 units, a thread a window; the method is told in shaders/df11.comp, of which this is the
// native twin.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/warp.cuh"

namespace sluice {
namespace {

constexpr uint32_t kBf16 = 1, kFp8 = 2, kUnitWords = 18, kMaxRows = 18, kMaxSize = 0x7fffffff;
constexpr uint32_t kBlockBytes = 4096, kWindows = 512, kWindowBits = 64, kMaxElements = 32768;
constexpr uint32_t kPointer = 240; // the least entry of a row that leads to another one
constexpr uint32_t kThreads = kWindows, kWarps = kThreads / kWarpSize, kBlocksPerProcessor = 3;

// An entry: bits 0 .. 23 symbols, 24 .. 27 the length of all their codes, 28 .. 29 how many there are; 0 if the first code
// has more than 8 bits or is none. First those for 10 bits, then those for 8, of one symbol each: there kWhole says
// that any 8 bits that start with the code lead to its symbol.
constexpr uint32_t kTableBits = 10, kSingles = 1u << kTableBits, kWhole = 1u << 30;
constexpr uint32_t kStage = 14336; // exponents on their way out, a byte each

struct Unit {
    const uint8_t *luts, *rest, *gaps;
    const uint32_t *stream, *positions;
    uint8_t* output;
    uint32_t kind, rows, elements, encoded, firstBlock, blocks;
    bool good;
};

// The unit stands here because registers are scarce.
struct BlockShared {
    Unit unit;
    uint32_t table[kSingles + 256];
    uint32_t stage[kStage / 4]; // zero where nothing was put
    uint32_t same[8];           // a bit for each entry of row 0 that is equal to the one before
    uint32_t sums[2][kWarps];
    uint32_t failure[2]; // of a block: the status of its first bad window, and how many codes there are up to it
};

template <uint32_t Kind>
struct Form {
    static constexpr bool isBf16 = Kind == kBf16;
    static constexpr uint32_t gapBits = isBf16 ? 5 : 4, codeBytes = isBf16 ? 4 : 2, maxSymbol = isBf16 ? kPointer - 1 : 15;
    static constexpr uint32_t elementBytes = isBf16 ? 2 : 1, ofUnit = 16 / elementBytes; // elements in 16 bytes
};

// ---------------------------------------------------------------------------------------------------------------
// The unit

__device__ Unit loadUnit(const Df11Params& params, uint32_t index)
{
    const uint32_t* words = pointerFrom<const uint32_t>(params.units) + static_cast<uint64_t>(index) * kUnitWords;
    const auto offset = [words](uint32_t at) { return static_cast<uint64_t>(words[at + 1]) << 32 | words[at]; };
    const uint64_t sourceSize = u64From(params.sourceSize), destinationSize = u64From(params.destinationSize);
    const auto isTable = [sourceSize](uint64_t from, uint64_t size) {
        return from % 16 == 0 && from <= sourceSize && (size + 15) / 16 * 16 <= sourceSize - from;
    };
    Unit unit = {};
    unit.kind = words[12];
    unit.rows = words[13];
    unit.elements = words[14];
    unit.encoded = words[15];
    unit.firstBlock = words[16];
    unit.blocks = unit.encoded / kBlockBytes + (unit.encoded % kBlockBytes != 0 ? 1 : 0);
    const bool bf16 = unit.kind == kBf16;
    const uint64_t rest = bf16 ? unit.elements : (static_cast<uint64_t>(unit.elements) + 1) / 2;
    const uint64_t bytes = static_cast<uint64_t>(unit.elements) * (bf16 ? 2 : 1);
    unit.good = (bf16 || unit.kind == kFp8) && unit.rows >= 2 && unit.rows <= kMaxRows && unit.elements <= kMaxSize &&
                unit.encoded <= kMaxSize && words[17] == 0 && isTable(offset(0), unit.rows * 256ull) &&
                isTable(offset(2), unit.encoded) && isTable(offset(4), rest) &&
                isTable(offset(6), unit.blocks * (bf16 ? 4ull : 8ull)) &&
                isTable(offset(8), unit.blocks * (kWindows / 8ull) * (bf16 ? 5 : 4)) && offset(10) % 4 == 0 &&
                offset(10) <= destinationSize && bytes <= destinationSize - offset(10);
    if (!unit.good) return unit;
    const uint8_t* source = pointerFrom<const uint8_t>(params.source);
    unit.luts = source + offset(0);
    unit.stream = reinterpret_cast<const uint32_t*>(source + offset(2));
    unit.rest = source + offset(4);
    unit.positions = reinterpret_cast<const uint32_t*>(source + offset(6));
    unit.gaps = source + offset(8);
    unit.output = pointerFrom<uint8_t>(params.destination) + offset(10);
    return unit;
}

// By the whole block.
__device__ void buildTable(BlockShared& shared)
{
    const Unit& unit = shared.unit;
    const uint32_t i = threadIdx.x;
    const uint32_t maxSymbol = unit.kind == kBf16 ? Form<kBf16>::maxSymbol : Form<kFp8>::maxSymbol;
    const uint32_t symbol = i < 256 ? unit.luts[i] : 0;
    const uint32_t same = __ballot_sync(kAllLanes, i != 0 && i < 256 && symbol == unit.luts[i - 1]);
    if (i < 256 && laneIndex() == 0) shared.same[warpIndex()] = same;
    __syncthreads();
    if (i < 256) {
        const uint32_t length = symbol < kPointer ? unit.luts[(unit.rows - 1) * 256 + symbol] : 0;
        const bool good = symbol <= maxSymbol && length >= 1 && length <= 8;
        bool whole = good;
        const uint32_t size = good ? 256u >> length : 1, first = i & ~(size - 1);
#pragma unroll
        for (uint32_t word = 0; word < 8; ++word) { // entries first + 1 .. first + size - 1
            const uint32_t from = max(first + 1, 32 * word), to = min(first + size, 32 * word + 32);
            if (from >= to) continue;
            const uint32_t mask = 0xffffffffu >> (32 - (to - from)) << from % 32;
            whole = whole && (shared.same[word] & mask) == mask;
        }
        shared.table[kSingles + i] = good ? symbol | length << 24 | 1u << 28 | (whole ? kWhole : 0) : 0;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t bits = i; bits < kSingles; bits += kThreads) {
        uint32_t symbols = 0, count = 0, taken = 0;
        bool more = true;
#pragma unroll
        for (uint32_t code = 0; code < 3; ++code) {
            const uint32_t known = kTableBits - taken; // bits that count; the others are zero
            const uint32_t single = shared.table[kSingles + ((bits << taken & (kSingles - 1)) >> (kTableBits - 8))];
            const uint32_t length = single >> 24 & 15;
            more = more && single != 0 && (known >= 8 || ((single & kWhole) != 0 && length <= known));
            symbols |= more ? (single & 255) << 8 * code : 0;
            count += more ? 1 : 0;
            taken += more ? length : 0;
        }
        shared.table[bits] = symbols | taken << 24 | count << 28;
    }
    __syncthreads();
}

// ---------------------------------------------------------------------------------------------------------------
// Codes

__device__ inline uint32_t bigEndian(uint32_t word)
{
    return __byte_perm(word, 0, 0x0123);
}

// A window and the four bytes behind it, its gap and the next one's, and how many bits the stream has from its start on:
// 96 if those or more.
struct Window {
    uint32_t words[3];
    uint32_t gap, nextGap, bits;
};

template <uint32_t Kind>
__device__ Window loadWindow(const Unit& unit, uint32_t index)
{
    constexpr uint32_t gapBits = Form<Kind>::gapBits;
    Window window;
    const uint32_t left = unit.encoded - min(index * 8, unit.encoded);
    window.bits = min(left * 8, 96u);
    const uint32_t* words = unit.stream + index * 2;
#pragma unroll
    for (uint32_t i = 0; i < 3; ++i) window.words[i] = 4 * i < left ? bigEndian(words[i]) : 0;
    if (left < 12) { // past the end there are zeros
        const uint32_t mask = 0xffffffffu << (32 - 8 * (left % 4));
#pragma unroll
        for (uint32_t i = 0; i < 3; ++i) window.words[i] &= i == left / 4 ? (left % 4 == 0 ? 0 : mask) : 0xffffffffu;
    }
    const uint32_t gapBit = index * gapBits, at = gapBit / 32, gapWordCount = unit.blocks * (kWindows / 32) * gapBits;
    const uint32_t* gapWords = reinterpret_cast<const uint32_t*>(unit.gaps);
    const uint32_t high = bigEndian(gapWords[at]), low = at + 1 < gapWordCount ? bigEndian(gapWords[at + 1]) : 0;
    const uint32_t gaps = __funnelshift_l(low, high, gapBit);
    window.gap = gaps >> (32 - gapBits);
    window.nextGap = gaps << gapBits >> (32 - gapBits);
    return window;
}

// Up to three symbols, how many, and how many bits they take.
struct Codes {
    uint32_t symbols, count, taken;
};

// A code at the upper end of `bits`, of which the stream has `left`: its symbol in bits 0 .. 7, its length in 8 .. 15 and in
// 16 and on the status, PENDING if all is well. A call of its own, because it is rare.
template <uint32_t Kind>
__device__ __noinline__ uint32_t readCode(const uint8_t* luts, uint32_t rows, uint32_t bits, uint32_t left)
{
    if (left == 0) return SLUICE_ST_TRUNCATED << 16;
    uint32_t row = 0;
#pragma unroll 1
    for (uint32_t depth = 0; depth < Form<Kind>::codeBytes; ++depth) {
        const uint32_t entry = luts[row * 256 + (bits >> (24 - 8 * depth) & 255)];
        if (entry < kPointer) {
            const uint32_t length = luts[(rows - 1) * 256 + entry];
            if (entry > Form<Kind>::maxSymbol || length <= 8 * depth || length > 8 * depth + 8) break;
            return entry | length << 8 | (length > left ? SLUICE_ST_TRUNCATED : SLUICE_ST_PENDING) << 16;
        }
        row = 256 - entry;
        if (row >= rows - 1) break;
    }
    return SLUICE_ST_BAD_CODE << 16;
}

// The codes at bit `at` of a window. Up to bit 54 all codes in 10 bits start in the window.
template <uint32_t Kind>
__device__ inline uint32_t nextCodes(const BlockShared& shared, const Window& window, uint32_t at,
                                     Codes& codes)
{
    const bool upper = at < 32;
    const uint32_t high = upper ? window.words[0] : window.words[1], low = upper ? window.words[1] : window.words[2];
    const uint32_t bits = __funnelshift_l(low, high, at);
    const uint32_t entry =
        shared.table[at <= kWindowBits - kTableBits ? bits >> (32 - kTableBits) : kSingles + (bits >> 24)];
    codes = {entry & 0xffffff, entry >> 28 & 3, entry >> 24 & 15};
    if (codes.count != 0 && window.bits == 96) return SLUICE_ST_PENDING;
    const uint32_t code = readCode<Kind>(shared.unit.luts, shared.unit.rows, bits, window.bits - min(at, window.bits));
    codes = {code & 255, 1, code >> 8 & 255};
    return code >> 16;
}

// How many codes start in a window. PENDING if they are good and end where the next window's start.
template <uint32_t Kind>
__device__ uint32_t countCodes(const BlockShared& shared, const Window& window, bool isLastWindow,
                               uint32_t& count)
{
    uint32_t at = window.gap;
    count = 0;
    while (at < kWindowBits) { // each step takes a bit at least
        Codes codes;
        const uint32_t status = nextCodes<Kind>(shared, window, at, codes);
        if (status != SLUICE_ST_PENDING) return status;
        count += codes.count;
        at += codes.taken;
    }
    return isLastWindow || at == kWindowBits + window.nextGap ? SLUICE_ST_PENDING : SLUICE_ST_BAD_INDEX;
}

// ---------------------------------------------------------------------------------------------------------------
// Output. A place is that of an element, counted from a multiple of 16 bytes of the output.

// Places [begin, end) are the block's; those in shared.stage are from `staged` on.
struct Places {
    uint32_t begin, end, staged;
};

// Puts a window's symbols to `place` and on.
template <uint32_t Kind>
__device__ void stageCodes(BlockShared& shared, const Window& window, const Places& places,
                           uint32_t place)
{
    if (place >= min(places.end, places.staged + kStage)) return;
    const auto stageWord = [&](uint32_t word, uint32_t value) {
        const uint32_t at = word - places.staged / 4;
        if (at < kStage / 4) atomicOr(&shared.stage[at], value);
    };
    uint32_t at = window.gap, gathered = 0;
    while (at < kWindowBits && place < places.end) {
        Codes codes;
        if (nextCodes<Kind>(shared, window, at, codes) != SLUICE_ST_PENDING) break;
        const uint32_t count = min(codes.count, places.end - place);
        const uint32_t symbols = codes.symbols & ((1u << 8 * count) - 1), shift = place % 4 * 8, word = place / 4;
        gathered |= symbols << shift;
        place += count;
        at += codes.taken;
        if (place / 4 != word) {
            stageWord(word, gathered);
            gathered = __funnelshift_l(symbols, 0, shift); // symbols >> 32 - shift
        }
    }
    if (place % 4 != 0) stageWord(place / 4, gathered);
}

// 8 bytes at `from8`, of which [from, to) count: no word without any of those is read.
__device__ inline uint2 loadRest(const uint8_t* from8, uint32_t from, uint32_t to)
{
    const uintptr_t address = reinterpret_cast<uintptr_t>(from8);
    const uint32_t lead = static_cast<uint32_t>(address % 4);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(address - lead);
    uint32_t loaded[3];
#pragma unroll
    for (uint32_t i = 0; i < 3; ++i) loaded[i] = 4 * i < to + lead && 4 * i + 4 > from + lead ? __ldcs(words + i) : 0;
    return make_uint2(__funnelshift_r(loaded[0], loaded[1], 8 * lead), __funnelshift_r(loaded[1], loaded[2], 8 * lead));
}

// Two exponents, and two bytes of sign and mantissa, each in the lower half or each in the upper one.
template <bool Upper>
__device__ inline uint32_t mergeBf16(uint32_t exponents, uint32_t rest)
{
    exponents = __byte_perm(exponents, 0, Upper ? 0x4342 : 0x4140);
    rest = __byte_perm(rest, 0, Upper ? 0x4342 : 0x4140);
    return exponents << 7 | (rest + (rest & 0x800080u) * 255); // the sign goes up by a byte
}

// Four exponents, and two bytes of two signs and mantissas each, the first in the upper half.
template <bool Upper>
__device__ inline uint32_t mergeFp8(uint32_t exponents, uint32_t rest)
{
    rest = __byte_perm(rest, rest >> 4, Upper ? 0x3726 : 0x1504);
    return exponents << 3 | (rest & 0x07070707u) | (rest & 0x08080808u) << 4;
}

// What is staged goes out; the stage is zero again. units: where place 0 is; rest: its sign and mantissa.
template <uint32_t Kind>
__device__ void copyOut(BlockShared& shared, const Places& places, uint8_t* output, const uint8_t* rest)
{
    constexpr uint32_t each = Form<Kind>::ofUnit, half = Form<Kind>::isBf16 ? 0 : 1, size = Form<Kind>::elementBytes;
    const uint32_t begin = max(places.begin, places.staged), end = min(places.end, places.staged + kStage);
    const uint32_t units = (end + each - 1) / each;
    for (uint32_t unit = begin / each + threadIdx.x; unit < units; unit += kThreads) {
        const uint32_t first = unit * each, from = max(begin, first) - first, to = min(end, first + each) - first;
        const uint2 raw = loadRest(rest + unit * 8, from >> half, (to + half) >> half);
        uint32_t words[4];
        if constexpr (Form<Kind>::isBf16) {
            uint2* staged = reinterpret_cast<uint2*>(&shared.stage[(first - places.staged) / 4]);
            const uint2 exponents = *staged;
            *staged = make_uint2(0, 0);
            words[0] = mergeBf16<false>(exponents.x, raw.x);
            words[1] = mergeBf16<true>(exponents.x, raw.x);
            words[2] = mergeBf16<false>(exponents.y, raw.y);
            words[3] = mergeBf16<true>(exponents.y, raw.y);
        } else {
            uint4* staged = reinterpret_cast<uint4*>(&shared.stage[(first - places.staged) / 4]);
            const uint4 exponents = *staged;
            *staged = make_uint4(0, 0, 0, 0);
            words[0] = mergeFp8<false>(exponents.x, raw.x);
            words[1] = mergeFp8<true>(exponents.y, raw.x);
            words[2] = mergeFp8<false>(exponents.z, raw.y);
            words[3] = mergeFp8<true>(exponents.w, raw.y);
        }
        uint8_t* target = output + unit * 16;
        if (to - from == each) {
            __stcs(reinterpret_cast<uint4*>(target), make_uint4(words[0], words[1], words[2], words[3]));
        } else { // an end of the block, whose words others may write too
#pragma unroll
            for (uint32_t i = 0; i < 16; ++i)
                if (i >= from * size && i < to * size) target[i] = static_cast<uint8_t>(words[i / 4] >> i % 4 * 8);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------

// By the whole block of threads: a block of a good unit, its elements being [first, end).
template <uint32_t Kind>
__device__ uint32_t decodeBlock(BlockShared& shared, uint32_t block, uint32_t first, uint32_t end,
                                uint32_t& turn)
{
    const Unit& unit = shared.unit;
    const bool isLast = end == unit.elements; // nothing counts after that element
    const uint32_t index = block * kWindows + threadIdx.x;
    const Window window = loadWindow<Kind>(unit, index);
    uint32_t own;
    uint32_t status = countCodes<Kind>(shared, window, index + 1 == unit.blocks * kWindows, own);

    // Codes in the lower half, windows that are bad in the upper one. After a bad one nothing counts.
    const uint32_t value = own | (status != SLUICE_ST_PENDING ? 0x10000u : 0), inclusive = warpInclusiveSum(value);
    const WarpPrefix sum = blockExclusiveSumInTurn(__shfl_sync(kAllLanes, inclusive, 31), shared.sums[turn]);
    turn ^= 1;
    const uint32_t before = sum.before + inclusive - value;
    if (sum.total >= 0x10000) {
        if (status != SLUICE_ST_PENDING && before < 0x10000) {
            shared.failure[0] = status;
            shared.failure[1] = before + own;
        }
        __syncthreads();
        status = isLast && shared.failure[1] >= end - first ? SLUICE_ST_OK : shared.failure[0];
    } else {
        status = sum.total < end - first             ? SLUICE_ST_TOO_SHORT
                 : sum.total > end - first && !isLast ? SLUICE_ST_TOO_LONG
                                                      : SLUICE_ST_OK;
    }
    if (status != SLUICE_ST_OK) return status;

    constexpr uint32_t size = Form<Kind>::elementBytes;
    const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(unit.output) % 16) / size;
    const uint32_t origin = (first + lead) & ~15u;
    const int64_t originElement = static_cast<int64_t>(origin) - lead;
    Places places = {first + lead - origin, end + lead - origin, 0};
    for (; places.staged < places.end; places.staged += kStage) {
        if (places.staged != 0) __syncthreads(); // the stage is zero
        stageCodes<Kind>(shared, window, places, places.begin + (before & 0xffff));
        __syncthreads();
        copyOut<Kind>(shared, places, unit.output + originElement * size, unit.rest + originElement / (Form<Kind>::isBf16 ? 1 : 2));
    }
    return SLUICE_ST_OK;
}

// The element that a block starts with; 64 bits in fp8.
__device__ uint64_t positionOf(const Unit& unit, uint32_t block)
{
    if (block == unit.blocks) return unit.elements;
    if (unit.kind == kBf16) return unit.positions[block];
    return static_cast<uint64_t>(unit.positions[2 * block + 1]) << 32 | unit.positions[2 * block];
}

__device__ uint32_t firstBlockOf(const Df11Params& params, uint32_t unit)
{
    return pointerFrom<const uint32_t>(params.units)[static_cast<uint64_t>(unit) * kUnitWords + 16];
}

// The last unit whose first block is not above `block`; `count` if there is none.
__device__ uint32_t unitOf(const Df11Params& params, uint32_t block, uint32_t count)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const bool above = firstBlockOf(params, middle) > block;
        low = above ? low : middle + 1;
        high = above ? middle : high;
    }
    return low == 0 ? count : low - 1;
}

__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor) df11Kernel(const __grid_constant__ Df11Params params)
{
    __shared__ alignas(16) BlockShared shared;
    for (uint32_t i = threadIdx.x; i < kStage / 4; i += kThreads) shared.stage[i] = 0;
    const uint32_t begin = blockIdx.x * params.blocksPerWorkgroup;
    const uint32_t stop = min(begin + params.blocksPerWorkgroup, params.maxBlockCount);
    const uint32_t* unitCount = pointerFrom<const uint32_t>(params.unitCount);
    const uint32_t count = unitCount == nullptr ? params.maxUnitCount : min(*unitCount, params.maxUnitCount);
    const Unit& unit = shared.unit; // once there is one
    uint32_t turn = 0, current = count, nextUnitAt = 0; // the block from which on to look for another unit
    for (uint32_t block = begin; block < stop; ++block) {
        if (block >= nextUnitAt) {
            const uint32_t found = unitOf(params, block, count);
            nextUnitAt = found == count       ? block + 1
                         : found + 1 == count ? 0xffffffffu
                                              : max(firstBlockOf(params, found + 1), block + 1);
            if (found != count && found != current) {
                __syncthreads(); // the unit and the table before have been used
                if (threadIdx.x == 0) shared.unit = loadUnit(params, found);
                __syncthreads();
                if (unit.good) buildTable(shared);
            }
            current = found;
        }
        if (current == count || block - unit.firstBlock >= unit.blocks) continue;
        const uint32_t own = block - unit.firstBlock;
        uint32_t status = SLUICE_ST_BAD_REGION;
        if (unit.good) {
            const uint64_t first = positionOf(unit, own), end = positionOf(unit, own + 1);
            const bool inOrder =
                (own != 0 || first == 0) && first <= end && end <= unit.elements && end - first <= kMaxElements;
            const uint32_t from = static_cast<uint32_t>(first), to = static_cast<uint32_t>(end);
            status = !inOrder             ? SLUICE_ST_BAD_INDEX
                     : unit.kind == kBf16 ? decodeBlock<kBf16>(shared, own, from, to, turn)
                                          : decodeBlock<kFp8>(shared, own, from, to, turn);
        }
        if (threadIdx.x == 0) {
            uint32_t* words = pointerFrom<uint32_t>(params.status);
            words[block] = status;
            if (status != SLUICE_ST_OK) {
                atomicAdd(&words[params.maxBlockCount], 1u);
                atomicMin(&words[params.maxBlockCount + 1], block);
            }
        }
    }
}

} // namespace

cudaError_t loadDf11()
{
    return load(df11Kernel);
}

cudaError_t launchDf11(cudaStream_t stream, const Df11Params& params, uint32_t blocks)
{
    return launch(stream, df11Kernel, blocks, kThreads, params);
}

} // namespace sluice
