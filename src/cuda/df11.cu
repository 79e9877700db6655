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

// An entry: bits 0 .. 23 symbols, 24 .. 25 how many there are, 28 .. 31 the length of all their codes; 0 if the first
// code has more than 8 bits or is none. First those for 10 bits, then those for 8, of one symbol each: there kWhole
// says that any 8 bits that start with the code lead to its symbol.
constexpr uint32_t kTableBits = 10, kSingles = 1u << kTableBits, kWhole = 1u << 26;
// A slot has this many words of symbols, a byte each, of which there are 25 as a rule. Where the slots were are then
// exponents on their way out, some 12,400 of a block as a rule.
constexpr uint32_t kSlotWords = 10, kStage = kSlotWords * kWindows * 4;

struct Unit {
    const uint8_t *luts, *rest, *gaps;
    const uint32_t *stream, *positions;
    uint8_t* output;
    uint32_t kind, rows, elements, encoded, firstBlock, blocks;
    bool good;
};

// The unit stands here because registers are scarce.
struct BlockShared {
    alignas(16) uint32_t stage[kStage / 4]; // word w of the slot of window i stands at w * kWindows + i
    Unit unit;
    uint32_t table[kSingles + 256];
    uint32_t same[8];           // a bit for each entry of row 0 that is equal to the one before
    uint32_t sums[2][kWarps];
    uint32_t failure[2]; // of a block: the status of its first bad window, and how many codes there are up to it
};

template <uint32_t Kind>
struct Form {
    static constexpr bool isBf16 = Kind == kBf16;
    static constexpr uint32_t gapBits = isBf16 ? 5 : 4, codeBytes = isBf16 ? 4 : 2;
    static constexpr uint32_t maxSymbol = isBf16 ? kPointer - 1 : 15;
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
        shared.table[kSingles + i] = good ? symbol | 1u << 24 | (whole ? kWhole : 0) | length << 28 : 0;
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
            const uint32_t length = single >> 28;
            more = more && single != 0 && (known >= 8 || ((single & kWhole) != 0 && length <= known));
            symbols |= more ? (single & 255) << 8 * code : 0;
            count += more ? 1 : 0;
            taken += more ? length : 0;
        }
        shared.table[bits] = symbols | count << 24 | taken << 28;
    }
    __syncthreads();
}

// ---------------------------------------------------------------------------------------------------------------
// Codes

__device__ inline uint32_t bigEndian(uint32_t word)
{
    return __byte_perm(word, 0, 0x0123);
}

// A window while it is read: what is left of it and of the four bytes behind it, from bit `at` on; the gap of the next
// window; and how many bits the stream has from the window's start on, 96 if those or more.
struct Window {
    uint32_t words[3];
    uint32_t at, nextGap, bits;

    __device__ void skip(uint32_t count)
    {
        words[0] = __funnelshift_lc(words[1], words[0], count);
        words[1] = __funnelshift_lc(words[2], words[1], count);
        words[2] = __funnelshift_lc(0, words[2], count);
        at += count;
    }
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
        const uint32_t mask = ~(0xffffffffu >> 8 * (left % 4));
#pragma unroll
        for (uint32_t i = 0; i < 3; ++i) window.words[i] &= i == left / 4 ? mask : 0xffffffffu;
    }
    const uint32_t gapBit = index * gapBits, at = gapBit / 32;
    const uint32_t gapWordCount = unit.blocks * (kWindows / 32) * gapBits;
    const uint32_t* gapWords = reinterpret_cast<const uint32_t*>(unit.gaps);
    const uint32_t high = bigEndian(gapWords[at]), low = at + 1 < gapWordCount ? bigEndian(gapWords[at + 1]) : 0;
    const uint32_t gaps = __funnelshift_l(low, high, gapBit);
    window.nextGap = gaps << gapBits >> (32 - gapBits);
    window.at = 0;
    window.skip(gaps >> (32 - gapBits));
    return window;
}

// Up to three symbols, and their bits, 8 each.
struct Codes {
    uint32_t symbols, bits;
};

// A code at the upper end of `bits`, of which the stream has `left`: its symbol in bits 0 .. 7, its length in 8 .. 15
// and from 16 on the status, PENDING if all is well.
template <uint32_t Kind>
__device__ uint32_t readCode(const uint8_t* luts, uint32_t rows, uint32_t bits, uint32_t left)
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

// Takes the next codes of a window. If they are bad, status says so, there are no symbols and the window is over.
template <uint32_t Kind>
__device__ inline Codes nextCodes(const BlockShared& shared, Window& window, uint32_t& status)
{
    // Up to bit 54 all codes in 10 bits start in the window.
    const uint32_t bits = window.words[0], at = window.at;
    const uint32_t entry =
        shared.table[at <= kWindowBits - kTableBits ? bits >> (32 - kTableBits) : kSingles + (bits >> 24)];
    Codes codes = {entry & 0xffffff, entry >> 21 & 0x18};
    uint32_t taken = entry >> 28;
    if (entry == 0 || window.bits != 96) {
        const uint32_t left = window.bits - min(at, window.bits);
        const uint32_t code = readCode<Kind>(shared.unit.luts, shared.unit.rows, bits, left);
        status = code >> 16;
        const bool good = status == SLUICE_ST_PENDING;
        codes = {good ? code & 255 : 0, good ? 8u : 0};
        taken = good ? code >> 8 & 255 : kWindowBits;
    }
    window.skip(taken);
    return codes;
}

// Bits as they fall into two words from bit `shift` of the first on; of shift its lower five bits count.
__device__ inline uint32_t lowerPart(uint32_t bits, uint32_t shift)
{
    return __funnelshift_l(0, bits, shift);
}
__device__ inline uint32_t upperPart(uint32_t bits, uint32_t shift)
{
    return __funnelshift_l(bits, 0, shift);
}

// Decodes the codes that start in a window into the thread's slot. PENDING if they are good and end where the next
// window's start.
template <uint32_t Kind>
__device__ uint32_t decodeWindow(BlockShared& shared, Window window, bool isLastOfUnit, uint32_t& count)
{
    uint32_t status = SLUICE_ST_PENDING, gathered = 0, filled = 0; // bits of the slot
    uint32_t* slot = shared.stage + threadIdx.x;
    while (window.at < kWindowBits) { // each step takes a bit at least
        const Codes codes = nextCodes<Kind>(shared, window, status);
        const uint32_t next = filled + codes.bits;
        const bool full = ((filled ^ next) & 32) != 0;
        gathered |= lowerPart(codes.symbols, filled);
        if (full && filled < 32 * kSlotWords) slot[filled / 32 * kWindows] = gathered;
        gathered = full ? upperPart(codes.symbols, filled) : gathered;
        filled = next;
    }
    if (filled < 32 * kSlotWords) slot[filled / 32 * kWindows] = gathered;
    count = filled / 8;
    const bool ends = isLastOfUnit || window.at == kWindowBits + window.nextGap;
    return status == SLUICE_ST_PENDING && !ends ? SLUICE_ST_BAD_INDEX : status;
}

// ---------------------------------------------------------------------------------------------------------------
// Output. A place is that of an element, counted from a multiple of 16 bytes of the output.

// In shared.stage are those from `staged` on.

__device__ inline void stageWord(BlockShared& shared, uint32_t staged, uint32_t word, uint32_t value)
{
    const uint32_t at = word - staged / 4;
    if (at < kStage / 4) atomicOr(&shared.stage[at], value);
}

// A slot's `own` symbols, the first `count` of them, to `place` and on.
__device__ inline void stageSlot(BlockShared& shared, uint32_t (&held)[kSlotWords], uint32_t own, uint32_t count,
                                 uint32_t place)
{
    if (count != own) { // the unit ends here
#pragma unroll
        for (uint32_t i = 0; i < kSlotWords; ++i)
            if (4 * i + 4 > count) held[i] &= 4 * i < count ? (1u << 8 * (count - 4 * i)) - 1 : 0;
    }
    const uint32_t lead = place % 4, words = (lead + count + 3) / 4, whole = (lead + count) / 4;
#pragma unroll
    for (uint32_t i = 0; i <= kSlotWords; ++i) {
        if (i >= words) break;
        const uint32_t at = place / 4 + i;
        // Behind the slot's last symbol there are zeros as far as its last word goes.
        uint32_t value = i != 0 && 4 * (i - 1) < count ? upperPart(held[i == 0 ? 0 : i - 1], 8 * lead) : 0;
        if (i < kSlotWords && 4 * i < count) value |= lowerPart(held[i], 8 * lead);
        if (at >= kStage / 4) break;
        if (i != 0 && i < whole) {
            shared.stage[at] = value;
        } else { // shared with a neighbour
            atomicOr(&shared.stage[at], value);
        }
    }
}

// The same for a window that had no room in its slot, from the stream.
template <uint32_t Kind>
__device__ void stageWindow(BlockShared& shared, uint32_t staged, uint32_t index, uint32_t count, uint32_t place)
{
    Window window = loadWindow<Kind>(shared.unit, index);
    const uint32_t end = place + count;
    uint32_t status = SLUICE_ST_PENDING;
    while (window.at < kWindowBits && place < end) {
        const Codes codes = nextCodes<Kind>(shared, window, status);
        const uint32_t fit = min(codes.bits / 8, end - place), symbols = codes.symbols & ((1u << 8 * fit) - 1);
        stageWord(shared, staged, place / 4, lowerPart(symbols, 8 * place));
        stageWord(shared, staged, place / 4 + 1, upperPart(symbols, 8 * place));
        place += fit;
    }
}

// By the whole block: every slot is held, or what was staged is out.
__device__ inline void clearStage(BlockShared& shared, uint32_t places)
{
    __syncthreads();
    const uint32_t units = (min(places, kStage) + 15) / 16;
    for (uint32_t i = threadIdx.x; i < units; i += kThreads)
        reinterpret_cast<uint4*>(shared.stage)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
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

// 16 bytes of elements from their staged exponents and 8 bytes of signs and mantissas.
template <uint32_t Kind>
__device__ inline uint4 mergeUnit(const uint32_t* staged, uint2 rest)
{
    if constexpr (Form<Kind>::isBf16) {
        const uint2 exponents = *reinterpret_cast<const uint2*>(staged);
        return make_uint4(mergeBf16<false>(exponents.x, rest.x), mergeBf16<true>(exponents.x, rest.x),
                          mergeBf16<false>(exponents.y, rest.y), mergeBf16<true>(exponents.y, rest.y));
    } else {
        const uint4 exponents = *reinterpret_cast<const uint4*>(staged);
        return make_uint4(mergeFp8<false>(exponents.x, rest.x), mergeFp8<true>(exponents.y, rest.x),
                          mergeFp8<false>(exponents.z, rest.y), mergeFp8<true>(exponents.w, rest.y));
    }
}

// What is staged of places [begin, end) goes out. output: where place 0 is; rest: its sign and mantissa.
template <uint32_t Kind>
__device__ inline void copyOut(BlockShared& shared, uint32_t staged, uint32_t begin, uint32_t end, uint8_t* output,
                               const uint8_t* rest)
{
    constexpr uint32_t each = Form<Kind>::ofUnit;
    begin = max(begin, staged);
    end = min(end, staged + kStage);
    const uintptr_t address = reinterpret_cast<uintptr_t>(rest);
    const uint32_t lead = static_cast<uint32_t>(address % 4), shift = 8 * lead;
    const uint32_t* words = reinterpret_cast<const uint32_t*>(address - lead);
    for (uint32_t unit = (begin + each - 1) / each + threadIdx.x; unit < end / each; unit += kThreads) {
        const uint32_t low = __ldcs(words + 2 * unit), middle = __ldcs(words + 2 * unit + 1);
        const uint32_t high = lead != 0 ? __ldcs(words + 2 * unit + 2) : 0;
        const uint2 raw = make_uint2(__funnelshift_r(low, middle, shift), __funnelshift_r(middle, high, shift));
        const uint4 value = mergeUnit<Kind>(&shared.stage[(unit * each - staged) / 4], raw);
        __stcs(reinterpret_cast<uint4*>(output) + unit, value);
    }
    // The ends, whose words others may write too, an element a thread.
    const uint32_t place = threadIdx.x < each ? begin / each * each + threadIdx.x
                                              : end / each * each + threadIdx.x - each;
    if (threadIdx.x >= 2 * each || place < begin || place >= end) return;
    const uint32_t exponent = reinterpret_cast<const uint8_t*>(shared.stage)[place - staged];
    if constexpr (Form<Kind>::isBf16) {
        const uint32_t value = rest[place];
        reinterpret_cast<uint16_t*>(output)[place] =
            static_cast<uint16_t>((value & 0x80) << 8 | exponent << 7 | (value & 0x7f));
    } else {
        const uint32_t value = rest[place / 2] >> (place % 2 == 0 ? 4 : 0);
        output[place] = static_cast<uint8_t>((value & 8) << 4 | exponent << 3 | (value & 7));
    }
}

// ---------------------------------------------------------------------------------------------------------------

// The element that a block starts with; 64 bits in fp8.
template <uint32_t Kind>
__device__ uint64_t positionOf(const Unit& unit, uint32_t block)
{
    if (block == unit.blocks) return unit.elements;
    if (Form<Kind>::isBf16) return unit.positions[block];
    return reinterpret_cast<const uint64_t*>(unit.positions)[block];
}

// By the whole block of threads: a block of a good unit.
template <uint32_t Kind>
__device__ uint32_t decodeBlock(BlockShared& shared, uint32_t block, uint32_t& turn)
{
    const Unit& unit = shared.unit;
    const uint32_t index = block * kWindows + threadIdx.x;
    const uint64_t begin = positionOf<Kind>(unit, block), stop = positionOf<Kind>(unit, block + 1);
    const Window window = loadWindow<Kind>(unit, index); // before the others are looked at: all loads at once
    if ((block == 0 && begin != 0) || begin > stop || stop > unit.elements || stop - begin > kMaxElements)
        return SLUICE_ST_BAD_INDEX;
    const uint32_t first = static_cast<uint32_t>(begin), end = static_cast<uint32_t>(stop);
    const bool isLast = end == unit.elements; // nothing counts after that element
    __syncthreads(); // the block before is out
    uint32_t own;
    uint32_t status = decodeWindow<Kind>(shared, window, index + 1 == unit.blocks * kWindows, own);

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
    uint8_t* output = unit.output + originElement * size;
    const uint8_t* rest = unit.rest + originElement / (Form<Kind>::isBf16 ? 1 : 2);
    const uint32_t firstPlace = first + lead - origin, endPlace = end + lead - origin;
    const uint32_t place = firstPlace + (before & 0xffff), count = min(own, endPlace - min(place, endPlace));
    uint32_t held[kSlotWords];
#pragma unroll
    for (uint32_t i = 0; i < kSlotWords; ++i) held[i] = shared.stage[i * kWindows + threadIdx.x];
    clearStage(shared, endPlace);
    if (own <= 4 * kSlotWords) {
        stageSlot(shared, held, own, count, place);
    } else {
        stageWindow<Kind>(shared, 0, index, count, place);
    }
    __syncthreads();
    copyOut<Kind>(shared, 0, firstPlace, endPlace, output, rest);
    // More elements than the stage takes are rare, and keeping what is held for them would cost registers.
#pragma unroll 1
    for (uint32_t staged = kStage; staged < endPlace; staged += kStage) {
        clearStage(shared, endPlace - staged);
        stageWindow<Kind>(shared, staged, index, count, place);
        __syncthreads();
        copyOut<Kind>(shared, staged, firstPlace, endPlace, output, rest);
    }
    return SLUICE_ST_OK;
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
    __shared__ BlockShared shared;
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
        if (unit.good)
            status = unit.kind == kBf16 ? decodeBlock<kBf16>(shared, own, turn) : decodeBlock<kFp8>(shared, own, turn);
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
