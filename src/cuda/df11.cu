// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of DFloat11 and ECF8 units, a thread a window; the method is told in shaders/df11.comp, of
// which this is the native twin.
#include "kernels.h"
#include "lib/launch.cuh"
#include "lib/region.cuh"
#include "lib/warp.cuh"

#include <cuda_pipeline_primitives.h>

namespace sluice {
namespace {

constexpr uint32_t kBf16 = SLUICE_DF11_KIND_BF16, kFp8 = SLUICE_DF11_KIND_FP8, kUnitWords = 18;
constexpr uint32_t kMaxRows = SLUICE_DF11_MAX_ROWS, kMaxSize = SLUICE_DF11_MAX_SIZE;
constexpr uint32_t kBlockBytes = SLUICE_DF11_BLOCK_BYTES, kWindows = SLUICE_DF11_WINDOWS;
constexpr uint32_t kWindowBits = SLUICE_DF11_WINDOW_BITS,
                   kMaxElements = SLUICE_DF11_MAX_BLOCK_ELEMENTS;
constexpr uint32_t kPointer = SLUICE_DF11_POINTER;
constexpr uint32_t kThreads = kWindows, kWarps = kThreads / kWarpSize, kBlocksPerProcessor = 3;

// An entry: bits 0 .. 19 symbols of four bits, the last one lowest; 20 .. 24 four times how many
// there are; 28 .. 31 the length of all their codes. 0 if the first code is too long or none, or
// its symbol has no four bits. Entries for n known bits stand from 1 << n on.
constexpr uint32_t kTableBits = 10, kSingles = 1u << kTableBits, kEntrySymbols = 0xfffff,
                   kMaxEntryBits = 20;
// Symbols on their way out, four bits each, the first of a word highest; some 12,600 of a block as
// a rule.
constexpr uint32_t kStageWords = 1856, kStage = kStageWords * 8;

struct Unit {
    const uint8_t *luts, *rest, *gaps;
    const uint32_t *stream, *positions;
    uint8_t* output;
    uint32_t kind, rows, elements, encoded, firstBlock, blocks;
    uint32_t fullWindows;  // so many windows have four bytes behind them
    uint32_t tableWindows; // and of so many is known where their last code ends
    bool good;
};

// What decodeBlock needs to know of a block, found by one thread while the block before is under
// way.
struct Block {
    uint8_t* output;     // of place 0
    const uint8_t* rest; // its sign and mantissa
    uint64_t stop;       // the element that the next block starts with
    uint32_t begin, end; // places
    uint32_t status;     // PENDING, BAD_INDEX; OK if the unit ends with this block
};
constexpr uint32_t kOthers = 32;

// What a block's windows are decoded from, as it is in memory: them and the word behind, and their
// gaps and the next one.
struct Input {
    uint2 windows[kWindows + 1];
    uint32_t gaps[kWindows / 32 * 5 + 1];
};
constexpr uint32_t kFetched = 4; // units of 16 bytes whose signs and mantissas a thread has loaded
                                 // ahead

// The unit stands here because registers are scarce; so does what is loaded ahead of its use.
struct BlockShared {
    alignas(16) uint32_t stage[kStageWords];
    Unit unit;
    uint32_t base, nibbles; // the symbol of four zero bits, and how many symbols there are from it
                            // on
    uint32_t table[2 * kSingles];
    uint32_t same[8];     // a bit for each entry of row 0 that is equal to the one before
    uint32_t lengths[16]; // of the codes by their four bits, 255 for what stands for all others
    uint32_t best;
    uint32_t sums[2][kWarps];
    uint32_t failure[2]; // of a block: the status of its first bad window, and how many codes there
                         // are up to it
    // Symbols without four bits, of which a block of bf16 has one or two as a rule: the place in
    // bits 0 .. 15. Counts are used in turn; one above kOthers means that all windows with such
    // symbols are to be gone through again.
    uint32_t others[kOthers], otherCounts[2];
    Block plan[2];     // used in turn
    Input input[2];    // as well
    uint64_t nextStop; // of the next block's plan
    uint2 rests[kFetched * kThreads];
};

template <uint32_t Kind>
struct Form {
    static constexpr bool isBf16 = Kind == kBf16;
    static constexpr uint32_t gapBits =
        isBf16 ? SLUICE_DF11_BF16_GAP_BITS : SLUICE_DF11_FP8_GAP_BITS;
    static constexpr uint32_t codeBytes =
        isBf16 ? SLUICE_DF11_BF16_CODE_BYTES : SLUICE_DF11_FP8_CODE_BYTES;
    static constexpr uint32_t maxSymbol =
        isBf16 ? SLUICE_DF11_BF16_MAX_SYMBOL : SLUICE_DF11_FP8_MAX_SYMBOL;
    static constexpr uint32_t elementBytes =
        isBf16 ? SLUICE_DF11_BF16_ELEMENT_BYTES : SLUICE_DF11_FP8_ELEMENT_BYTES;
    static constexpr uint32_t ofUnit = 16 / elementBytes; // elements in 16 bytes
};

// -----------------------------------------------------------------------------------------------
// The unit

__device__ Unit loadUnit(const Df11Params& params, uint32_t index)
{
    const uint32_t* words =
        pointerFrom<const uint32_t>(params.units) + static_cast<uint64_t>(index) * kUnitWords;
    const auto offset = [words](uint32_t at) {
        return static_cast<uint64_t>(words[at + 1]) << 32 | words[at];
    };
    const uint64_t sourceSize = u64From(params.sourceSize),
                   destinationSize = u64From(params.destinationSize);
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
    unit.fullWindows = (max(unit.encoded, 4u) - 4) / 8;
    unit.tableWindows = min(unit.fullWindows, max(unit.blocks * kWindows, 1u) - 1);
    const bool bf16 = unit.kind == kBf16;
    const uint64_t rest = bf16 ? unit.elements : (static_cast<uint64_t>(unit.elements) + 1) / 2;
    const uint64_t bytes = static_cast<uint64_t>(unit.elements) * (bf16 ? 2 : 1);
    unit.good = (bf16 || unit.kind == kFp8) && unit.rows >= SLUICE_DF11_MIN_ROWS &&
                unit.rows <= kMaxRows && unit.elements <= kMaxSize && unit.encoded <= kMaxSize &&
                words[17] == 0 && isTable(offset(0), unit.rows * 256ull) &&
                isTable(offset(2), unit.encoded) && isTable(offset(4), rest) &&
                isTable(offset(6), unit.blocks * (bf16 ? 4ull : 8ull)) &&
                isTable(offset(8), unit.blocks * (kWindows / 8ull) * (bf16 ? 5 : 4)) &&
                offset(10) % 4 == 0 && offset(10) <= destinationSize &&
                bytes <= destinationSize - offset(10);
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

// The entry of one code that takes `length` bits.
__device__ inline uint32_t singleEntry(const BlockShared& shared, uint32_t symbol, uint32_t length)
{
    return (symbol - shared.base) | 4u << 20 | length << 28;
}

// The entry of the first code in kTableBits bits, any bits that start with the code leading to its
// symbol.
__device__ uint32_t singleOf(const BlockShared& shared, uint32_t maxSymbol, uint32_t bits)
{
    const Unit& unit = shared.unit;
    const uint32_t single = shared.stage[bits >> (kTableBits - 8)];
    const uint32_t row = 256 - single, at = bits << (16 - kTableBits) & 255;
    if (single < kPointer || single >= 256 || row >= unit.rows - 1)
        return single < 256 ? 0 : single;
    const uint32_t symbol = unit.luts[row * 256 + at];
    if (symbol > maxSymbol || symbol - shared.base >= shared.nibbles) return 0;
    const uint32_t length = unit.luts[(unit.rows - 1) * 256 + symbol];
    if (length <= 8 || length > kTableBits) return 0;
    const uint32_t words = 1u << (14 - length), first = row * 64 + (at >> 2 & ~(words - 1));
    uint32_t different = 0;
#pragma unroll 4
    for (uint32_t i = 0; i < words; ++i)
        different |= reinterpret_cast<const uint32_t*>(unit.luts)[first + i] ^ symbol * 0x1010101u;
    return different == 0 ? singleEntry(shared, symbol, length) : 0;
}

// By the whole block.
__device__ void buildTable(BlockShared& shared)
{
    const Unit& unit = shared.unit;
    const uint32_t i = threadIdx.x;
    const bool bf16 = unit.kind == kBf16;
    const uint32_t maxSymbol = bf16 ? Form<kBf16>::maxSymbol : Form<kFp8>::maxSymbol;
    const uint8_t* lengths = unit.luts + (unit.rows - 1) * 256;
    const uint32_t symbol = i < 256 ? unit.luts[i] : 0;
    const uint32_t same = __ballot_sync(kAllLanes, i != 0 && i < 256 && symbol == unit.luts[i - 1]);
    if (i < 256 && laneIndex() == 0) shared.same[warpIndex()] = same;
    if (i == 0) shared.best = 0;
    __syncthreads();
    if (bf16 && i + 15 <= kPointer) { // how frequent the codes say that the symbols from i on are
        uint32_t sum = 0;
        for (uint32_t other = i; other < i + 15; ++other) {
            const uint32_t length = lengths[other];
            sum += length - 1 < 16 ? 0x10000u >> length : 0;
        }
        atomicMax(&shared.best, sum << 8 | i);
    }
    __syncthreads();
    if (i == 0) {
        shared.base = shared.best & 255;
        shared.nibbles = bf16 ? 15 : 16;
    }
    __syncthreads();
    if (i < 256) {
        const uint32_t length = symbol < kPointer ? lengths[symbol] : 0;
        bool good = symbol <= maxSymbol && symbol - shared.base < shared.nibbles && length >= 1 &&
                    length <= 8;
        const uint32_t size = good ? 256u >> length : 1, first = i & ~(size - 1), word = first / 32;
        uint32_t mask = size < 32 ? ((1u << size) - 1) << first % 32 : 0xffffffffu;
        mask &= mask << 1; // all but the first one
        good = good && (shared.same[word] & mask) == mask &&
               (size < 64 || shared.same[word + 1] == 0xffffffffu);
        if (good && size == 128)
            good = (shared.same[word + 2] & shared.same[word + 3]) == 0xffffffffu;
        shared.stage[i] = symbol >= kPointer ? symbol
                          : good             ? singleEntry(shared, symbol, length)
                                             : 0;
        if (i < 16) shared.lengths[i] = i < shared.nibbles ? lengths[shared.base + i] : 255;
    }
    __syncthreads();
    for (uint32_t bits = i; bits < kSingles; bits += kThreads)
        shared.table[kSingles + bits] = singleOf(shared, maxSymbol, bits);
    if (i == 0) shared.table[1] = 0;
    // A code and what fewer bits lead to.
    for (uint32_t known = 1; known <= kTableBits; ++known) {
        __syncthreads();
        for (uint32_t bits = i; bits < 1u << known; bits += kThreads) {
            uint32_t entry = shared.table[kSingles + (bits << (kTableBits - known))];
            const uint32_t length = entry >> 28;
            if (length > known) {
                entry = 0;
            } else if (entry != 0) {
                const uint32_t left = 1u << (known - length);
                uint32_t next = shared.table[left + (bits & (left - 1))];
                if ((next >> 20 & 31) == kMaxEntryBits) // no room: without the last of them
                    next = (next & kEntrySymbols) >> 4 | (kMaxEntryBits - 4) << 20 |
                           ((next >> 28) - shared.lengths[next & 15]) << 28;
                entry = ((entry & 15) << (next >> 20 & 31)) + next + (entry & ~15u);
            }
            shared.table[(1u << known) + bits] = entry;
        }
    }
    __syncthreads();
}

// -----------------------------------------------------------------------------------------------
// Codes

__device__ inline uint32_t bigEndian(uint32_t word) { return __byte_perm(word, 0, 0x0123); }

// A window and the four bytes behind it, its gap, and where the next window's codes start, from
// this one's start on.
struct Window {
    uint32_t words[3];
    uint32_t gap, end, index;
};

// From what is in memory. left: how many bytes the stream has from the window on; gaps: two words
// from that on that has the first bit of its gap.
template <uint32_t Kind>
__device__ Window openWindow(uint2 pair, uint32_t third, uint32_t high, uint32_t low,
                             uint32_t index, uint32_t left)
{
    constexpr uint32_t gapBits = Form<Kind>::gapBits;
    Window window = {{bigEndian(pair.x), bigEndian(pair.y), bigEndian(third)}, 0, 0, index};
    if (left < 12) { // past the end there are zeros
        const uint32_t mask = ~(0xffffffffu >> 8 * (left % 4));
#pragma unroll
        for (uint32_t i = 0; i < 3; ++i)
            window.words[i] &= i < left / 4 ? 0xffffffffu : i == left / 4 ? mask : 0;
    }
    const uint32_t gaps = __funnelshift_l(bigEndian(low), bigEndian(high), index * gapBits);
    window.gap = gaps >> (32 - gapBits);
    window.end = kWindowBits + (gaps << gapBits >> (32 - gapBits));
    return window;
}

template <uint32_t Kind>
__device__ Window loadWindow(const Unit& unit, uint32_t index)
{
    constexpr uint32_t gapBits = Form<Kind>::gapBits;
    const uint32_t left = unit.encoded - min(index * 8, unit.encoded), at = index * gapBits / 32;
    const uint32_t* words = unit.stream + index * 2;
    uint32_t loaded[3];
#pragma unroll
    for (uint32_t i = 0; i < 3; ++i)
        loaded[i] = 4 * i < left ? words[i] : 0;
    const uint32_t* gapWords = reinterpret_cast<const uint32_t*>(unit.gaps);
    const uint32_t last = unit.blocks * (kWindows / 32) * gapBits - 1;
    return openWindow<Kind>(make_uint2(loaded[0], loaded[1]), loaded[2], gapWords[at],
                            gapWords[min(at + 1, last)], index, left);
}

// By the whole block: starts to load the input of a block of the unit, and the position after it.
template <uint32_t Kind>
__device__ void fetchInput(BlockShared& shared, uint32_t block)
{
    constexpr uint32_t gapWords = kWindows / 32 * Form<Kind>::gapBits,
                       positionBytes = Form<Kind>::isBf16 ? 4 : 8;
    const Unit& unit = shared.unit;
    Input& input = shared.input[block % 2];
    const auto fetch = [&](uint32_t i) {
        const uint32_t index = block * kWindows + i;
        if (index * 8 < unit.encoded) {
            __pipeline_memcpy_async(&input.windows[i], unit.stream + index * 2, 8);
        } else {
            input.windows[i] = make_uint2(0, 0);
        }
    };
    fetch(threadIdx.x);
    if (threadIdx.x <= gapWords) {
        const uint32_t word = min(block * gapWords + threadIdx.x, unit.blocks * gapWords - 1);
        __pipeline_memcpy_async(&input.gaps[threadIdx.x],
                                reinterpret_cast<const uint32_t*>(unit.gaps) + word, 4);
    }
    if (threadIdx.x == kThreads - 1) {
        fetch(kWindows);
        if (block + 1 < unit.blocks) {
            // not copied to
            if constexpr (Form<Kind>::isBf16) reinterpret_cast<uint32_t*>(&shared.nextStop)[1] = 0;
            __pipeline_memcpy_async(&shared.nextStop,
                                    unit.positions + (block + 1) * (positionBytes / 4),
                                    positionBytes);
        } else {
            shared.nextStop = unit.elements;
        }
    }
    __pipeline_commit();
}

// The thread's window of what has been loaded.
template <uint32_t Kind>
__device__ inline Window openInput(const BlockShared& shared, uint32_t block)
{
    const Unit& unit = shared.unit;
    const Input& input = shared.input[block % 2];
    const uint32_t index = block * kWindows + threadIdx.x,
                   at = threadIdx.x * Form<Kind>::gapBits / 32;
    const uint32_t left =
        index < unit.fullWindows ? 12 : unit.encoded - min(index * 8, unit.encoded);
    return openWindow<Kind>(input.windows[threadIdx.x], input.windows[threadIdx.x + 1].x,
                            input.gaps[at], input.gaps[at + 1], index, left);
}

// A code at the upper end of `bits`, of which the stream has `left`: its symbol in bits 0 .. 7, its
// length in 8 .. 15 and from 16 on the status, PENDING if all is well.
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
            if (entry > Form<Kind>::maxSymbol || length <= 8 * depth || length > 8 * depth + 8)
                break;
            return entry | length << 8 |
                   (length > left ? SLUICE_ST_TRUNCATED : SLUICE_ST_PENDING) << 16;
        }
        row = 256 - entry;
        if (row >= rows - 1) break;
    }
    return SLUICE_ST_BAD_CODE << 16;
}

// 32 bits of a window from `at` on, which is below 64.
__device__ inline uint32_t bitsAt(const Window& window, uint32_t at)
{
    const bool upper = at < 32;
    return __funnelshift_l(upper ? window.words[1] : window.words[2],
                           upper ? window.words[0] : window.words[1], at);
}

// To where the table may look in a window: every code before that must end there or before. 0 if
// that is not known.
__device__ inline uint32_t tableEndOf(const Unit& unit, const Window& window)
{
    return window.index < unit.tableWindows ? window.end : 0;
}

// How many bits the stream has from bit `at` of a window on.
__device__ inline uint32_t bitsLeft(const Unit& unit, const Window& window, uint32_t at)
{
    const uint32_t left = min(unit.encoded - min(window.index * 8, unit.encoded), 12u) * 8;
    return left - min(at, left);
}

// What is known of a window's symbols: their codes take the bits up to `at`, and there are counts /
// 4. other: 0 if all have four bits; kSeveral; else one plus the index of the one without, and from
// bit 8 on that symbol.
struct Progress {
    uint32_t at, status, counts, other;
};
constexpr uint32_t kSeveral = 0xffffffffu;

// An entry for the codes at progress.at; of one without four bits, 15. If the code there is bad,
// the status says so, there are no symbols and the window is over.
template <uint32_t Kind>
__device__ inline uint32_t nextEntry(const BlockShared& shared, const Window& window,
                                     uint32_t tableEnd, Progress& progress)
{
    const uint32_t bits = bitsAt(window, progress.at);
    const uint32_t known = min(max(tableEnd, progress.at) - progress.at, kTableBits);
    uint32_t entry = shared.table[(1u << known) + __funnelshift_l(bits, 0, known)],
             taken = entry >> 28;
    if (entry == 0) {
        const uint32_t left = bitsLeft(shared.unit, window, progress.at);
        const uint32_t code = readCode<Kind>(shared.unit.luts, shared.unit.rows, bits, left);
        progress.status = code >> 16;
        taken = kWindowBits;
        if (progress.status == SLUICE_ST_PENDING) {
            const uint32_t nibble = (code & 255) - shared.base;
            entry = 4u << 20 | min(nibble, 15u);
            if (nibble >= shared.nibbles)
                progress.other =
                    progress.other != 0 ? kSeveral : (progress.counts / 4 + 1) | (code & 255) << 8;
            taken = code >> 8 & 255;
        }
    }
    progress.at += taken;
    progress.counts += entry >> 20 & 31;
    return entry;
}

// The symbols of a window, four bits each, the last one lowest in word 0.
struct Held {
    uint32_t words[4];

    // Words past `count` are left alone.
    template <uint32_t Count>
    __device__ void append(uint32_t entry)
    {
#pragma unroll
        for (uint32_t i = Count - 1; i > 0; --i)
            words[i] = __funnelshift_l(words[i - 1], words[i], entry >> 20);
        words[0] = __funnelshift_l(0, words[0], entry >> 20) | (entry & kEntrySymbols);
    }
};

// The entry for the top bits of `bits`, all of which are known.
__device__ inline uint32_t fullEntry(const BlockShared& shared, uint32_t bits)
{
    return shared.table[kSingles + (bits >> (32 - kTableBits))];
}

// Of a window that has too many codes for the registers.
constexpr uint32_t kLong = 0x100, kCount = 0xff;

// Decodes the codes that start in a window. PENDING if they are good and end where the next
// window's start. held: their symbols if there are up to 32; else codes has kLong too. other: as in
// Progress.
template <uint32_t Kind>
__device__ uint32_t decodeWindow(const BlockShared& shared, const Window& window, Held& held,
                                 uint32_t& codes, uint32_t& other)
{
    Progress progress = {window.gap, SLUICE_ST_PENDING, 0, 0};
    const uint32_t tableEnd = tableEndOf(shared.unit, window);
    held = {};
    if (tableEnd != 0 && window.gap <= kWindowBits - 5 * kTableBits) {
        // Five entries are in any case, and a sixth as a rule; one of 0 changes nothing.
        uint32_t high = __funnelshift_l(window.words[1], window.words[0], window.gap);
        const uint32_t low = __funnelshift_l(window.words[2], window.words[1], window.gap);
        const uint32_t first = fullEntry(shared, high);
        uint32_t taken = first >> 28;
        const uint32_t second = fullEntry(shared, high << taken);
        taken += second >> 28;
        const uint32_t third = fullEntry(shared, high << taken);
        taken += third >> 28;
        held.words[0] = first & kEntrySymbols;
        held.append<2>(second);
        held.append<2>(third);
        high = __funnelshift_l(low, high, taken);
        const uint32_t fourth = fullEntry(shared, high);
        taken = fourth >> 28;
        const uint32_t fifth = fullEntry(shared, high << taken);
        taken += fifth >> 28;
        const uint32_t sixth =
            window.gap <= kWindowBits - 6 * kTableBits ? fullEntry(shared, high << taken) : 0;
        held.append<3>(fourth);
        held.append<4>(fifth);
        held.append<4>(sixth);
        // Four times the symbols, and 256 times the bits.
        const uint32_t counts = (first >> 20) + (second >> 20) + (third >> 20) + (fourth >> 20) +
                                (fifth >> 20) + (sixth >> 20);
        progress.at += counts >> 8;
        progress.counts = counts & 255;
    }
#pragma unroll 1
    while (progress.at < kWindowBits) // each step takes a bit at least
        held.append<4>(nextEntry<Kind>(shared, window, tableEnd, progress));
    codes = progress.counts / 4;
    codes |= codes > 32 ? kLong : 0;
    other = progress.other;
    if (progress.status != SLUICE_ST_PENDING) return progress.status;
        // The table does not know that a code may not start behind the window. (One that it has not
        // does not.)
#pragma unroll 1
    while (progress.at >= kWindowBits + shared.lengths[held.words[0] & 15]) {
        progress.at -= shared.lengths[held.words[0] & 15];
        --codes;
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
            held.words[i] = __funnelshift_r(held.words[i], i == 3 ? 0 : held.words[i + 1], 4);
    }
    return progress.at == window.end || window.index + 1 == shared.unit.blocks * kWindows
               ? SLUICE_ST_PENDING
               : SLUICE_ST_BAD_INDEX;
}

// -----------------------------------------------------------------------------------------------
// Output. A place is that of an element, counted from a multiple of 16 bytes of the output.

// In shared.stage are those from `staged` on, a multiple of 16.

// Whole words of a window's symbols, and what stands in the word where they end, to `place` and on:
// every word that one of them is the first of.
__device__ inline void stageOwn(BlockShared& shared, uint32_t staged, const Held& held,
                                uint32_t counts, uint32_t place)
{
    const uint32_t codes = counts & kCount, shift = (0 - place - codes) % 8 * 4;
    const int last = static_cast<int>(place + codes - 1 - staged) >> 3;
    const int words = last - (static_cast<int>(place + 7 - staged) >> 3) + 1;
    if (counts > kCount) { // comes later
#pragma unroll 1
        for (int i = 0; i < words; ++i)
            if (static_cast<uint32_t>(last - i) < kStageWords) shared.stage[last - i] = 0;
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const uint32_t value =
            __funnelshift_l(i == 0 ? 0 : held.words[i == 0 ? 0 : i - 1], held.words[i], shift);
        if (i < words && static_cast<uint32_t>(last - i) < kStageWords)
            shared.stage[last - i] = value;
    }
}

// The rest of them: what stands in a word that began before.
__device__ inline void stageShared(BlockShared& shared, uint32_t staged, const Held& held,
                                   uint32_t counts, uint32_t place)
{
    const uint32_t end = place + (counts & kCount), first = place / 8, at = first - staged / 8;
    if (place % 8 == 0 || counts > kCount || at >= kStageWords) return;
    const uint32_t shift = (0 - end) % 8 * 4, words = (end + 7) / 8 - first;
    uint32_t high = 0, low = held.words[3]; // of the first word
#pragma unroll
    for (uint32_t i = 4; i > 0; --i) {
        high = words <= i ? held.words[i - 1] : high;
        low = words <= i ? (i == 1 ? 0 : held.words[i == 1 ? 0 : i - 2]) : low;
    }
    atomicOr(&shared.stage[at], __funnelshift_l(low, high, shift));
}

// The symbols of a window that has too many for the registers, from the stream.
template <uint32_t Kind>
__device__ void stageWindow(BlockShared& shared, uint32_t staged, uint32_t index, uint32_t codes,
                            uint32_t place)
{
    const Window window = loadWindow<Kind>(shared.unit, index);
    Progress progress = {window.gap, SLUICE_ST_PENDING, 0, 0};
    const uint32_t tableEnd = tableEndOf(shared.unit, window), end = place + codes;
#pragma unroll 1
    while (progress.at < kWindowBits && place < end) {
        const uint32_t entry = nextEntry<Kind>(shared, window, tableEnd, progress);
        uint32_t count = entry >> 22 & 7;
        if (count == 0) return;
        uint32_t bits = (entry & kEntrySymbols) << (32 - 4 * count);
        count = min(count, end - place);
        bits &= ~(0xffffffffu >> 4 * count);
        const uint32_t at = place / 8 - staged / 8, shift = place % 8 * 4;
        if (at < kStageWords) atomicOr(&shared.stage[at], bits >> shift);
        if (at + 1 < kStageWords) atomicOr(&shared.stage[at + 1], __funnelshift_r(0, bits, shift));
        place += count;
    }
}

// A window's symbols that have no four bits, each to its element, for places before `stop`. output:
// where place 0 is; rest: its sign and mantissa.
template <uint32_t Kind>
__device__ void storeOthers(const BlockShared& shared, uint32_t index, uint32_t codes,
                            uint32_t place, uint32_t stop, uint8_t* output, const uint8_t* rest)
{
    const Window window = loadWindow<Kind>(shared.unit, index);
    uint32_t at = window.gap;
    stop = min(place + codes, stop);
#pragma unroll 1
    for (; at < kWindowBits && place < stop; ++place) {
        const uint32_t left = bitsLeft(shared.unit, window, at);
        const uint32_t code =
            readCode<Kind>(shared.unit.luts, shared.unit.rows, bitsAt(window, at), left);
        if (code >> 16 != SLUICE_ST_PENDING) return;
        if ((code & 255) - shared.base >= shared.nibbles) { // in bf16 only
            const uint32_t value = rest[place];
            reinterpret_cast<uint16_t*>(output)[place] =
                static_cast<uint16_t>((value & 0x80) << 8 | (code & 255) << 7 | (value & 0x7f));
        }
        at += code >> 8 & 255;
    }
}

// Bytes `Pair` and `Pair` + 1 of sign and mantissa with their exponents, of which those of even
// elements stand in `even` and of odd ones in `odd`, the first one in the highest byte.
template <uint32_t Pair>
__device__ inline uint32_t mergeBf16(uint32_t even, uint32_t odd, uint32_t rest, uint32_t base)
{
    constexpr uint32_t byte = 3 - Pair, first = Pair % 2 * 2;
    // Bytes of even and odd; 8 in a selector: of the byte only its highest bit, all over.
    uint32_t exponents;
    asm("prmt.b32 %0, %1, %2, %3;"
        : "=r"(exponents)
        : "r"(even), "r"(odd), "n"(byte * 0x1111 + 0xc480));
    const uint32_t doubled = __byte_perm(rest, 0, first * 0x11 + (first + 1) * 0x1100);
    return (exponents * 128 + base) | (doubled & 0x807f807fu);
}

// Eight fp8 from their exponents, and bytes of two signs and mantissas each, the first in the upper
// half.
__device__ inline uint2 mergeFp8(uint32_t exponents, uint32_t rest)
{
    exponents = bigEndian(exponents);
    const uint32_t even =
        (rest >> 4 & 0x07070707u) | (rest & 0x80808080u) | (exponents >> 1 & 0x78787878u);
    const uint32_t odd =
        (rest & 0x07070707u) | (rest << 4 & 0x80808080u) | (exponents << 3 & 0x78787878u);
    return make_uint2(__byte_perm(even, odd, 0x5140), __byte_perm(even, odd, 0x7362));
}

// Eight bf16 among which are some of shared.others. count: how many those are; if too many, they
// come later.
__device__ inline uint4 addOthers(const BlockShared& shared, uint4 merged, uint32_t word,
                                  uint32_t count)
{
#pragma unroll 1
    for (uint32_t i = 0; i < (count > kOthers ? 0 : count); ++i) {
        const uint32_t other = shared.others[i], pair = other / 2 % 4;
        if ((other & 0xffff) / 8 != word) continue;
        const uint32_t more = ((other >> 16) - shared.base - 15) << (7 + 16 * (other & 1));
        merged.x += pair == 0 ? more : 0;
        merged.y += pair == 1 ? more : 0;
        merged.z += pair == 2 ? more : 0;
        merged.w += pair == 3 ? more : 0;
    }
    return merged;
}

// 16 bytes of elements, those of places 8 * word and on, of which the exponents are staged, and 8
// bytes of signs and mantissas.
template <uint32_t Kind>
__device__ inline uint4 mergeUnit(const BlockShared& shared, uint32_t staged, uint32_t word,
                                  uint2 rest, uint32_t turn)
{
    if constexpr (Form<Kind>::isBf16) {
        const uint32_t exponents = shared.stage[word - staged / 8], base = shared.base * 0x800080u;
        const uint32_t odd = exponents & 0x0f0f0f0fu, even = exponents >> 4 & 0x0f0f0f0fu;
        const uint4 merged = make_uint4(
            mergeBf16<0>(even, odd, rest.x, base), mergeBf16<1>(even, odd, rest.x, base),
            mergeBf16<2>(even, odd, rest.y, base), mergeBf16<3>(even, odd, rest.y, base));
        const uint32_t fifteens = exponents & exponents >> 1;
        if ((fifteens & fifteens >> 2 & 0x11111111u) == 0) return merged;
        return addOthers(shared, merged, word, shared.otherCounts[turn]);
    } else {
        const uint2 exponents = *reinterpret_cast<const uint2*>(&shared.stage[word - staged / 8]);
        const uint2 low = mergeFp8(exponents.x, rest.x), high = mergeFp8(exponents.y, rest.y);
        return make_uint4(low.x, low.y, high.x, high.y);
    }
}

// The units of 16 bytes that lie wholly in what is staged of places [begin, end): the thread's
// first one, and the end.
template <uint32_t Kind>
__device__ inline uint2 ownUnits(uint32_t staged, uint32_t begin, uint32_t end)
{
    constexpr uint32_t each = Form<Kind>::ofUnit;
    return make_uint2((max(begin, staged) + each - 1) / each + threadIdx.x,
                      min(end, staged + kStage) / each);
}

// Starts to load signs and mantissas of a thread's first units, if they are at a multiple of 8
// bytes. rest: of place 0.
__device__ inline void fetchRests(BlockShared& shared, uint2 units, const uint8_t* rest)
{
    if (reinterpret_cast<uintptr_t>(rest) % 8 == 0) {
#pragma unroll
        for (uint32_t i = 0; i < kFetched; ++i) {
            const uint32_t unit = units.x + i * kThreads;
            if (unit < units.y)
                __pipeline_memcpy_async(&shared.rests[i * kThreads + threadIdx.x],
                                        reinterpret_cast<const uint2*>(rest) + unit, 8);
        }
    }
    __pipeline_commit();
}

// What is staged of places [begin, end) goes out. output: where place 0 is; rest: its sign and
// mantissa.
template <uint32_t Kind>
__device__ inline void copyOut(BlockShared& shared, uint32_t staged, uint32_t begin, uint32_t end,
                               uint8_t* output, const uint8_t* rest, uint32_t turn)
{
    constexpr uint32_t each = Form<Kind>::ofUnit;
    const uint2 units = ownUnits<Kind>(staged, begin, end);
    begin = max(begin, staged);
    end = min(end, staged + kStage);
    const uintptr_t address = reinterpret_cast<uintptr_t>(rest);
    const uint32_t lead = static_cast<uint32_t>(address % 4), shift = 8 * lead;
    uint32_t unit = units.x;
    const auto store = [&](uint32_t unit, uint2 raw) {
        __stcs(reinterpret_cast<uint4*>(output) + unit,
               mergeUnit<Kind>(shared, staged, unit * (each / 8), raw, turn));
    };
    if (address % 8 == 0) {
#pragma unroll
        for (uint32_t i = 0; i < kFetched; ++i, unit += kThreads)
            if (unit < units.y) store(unit, shared.rests[i * kThreads + threadIdx.x]);
#pragma unroll 1
        for (; unit < units.y; unit += kThreads)
            store(unit, __ldcs(reinterpret_cast<const uint2*>(rest) + unit));
    } else {
        const uint32_t* words = reinterpret_cast<const uint32_t*>(address - lead);
#pragma unroll 1
        for (; unit < units.y; unit += kThreads) {
            const uint32_t low = __ldcs(words + 2 * unit), middle = __ldcs(words + 2 * unit + 1);
            const uint32_t high = lead != 0 ? __ldcs(words + 2 * unit + 2) : 0;
            store(unit, make_uint2(__funnelshift_r(low, middle, shift),
                                   __funnelshift_r(middle, high, shift)));
        }
    }
    // The ends, whose words others may write too, an element a thread.
    const uint32_t place = threadIdx.x < each ? begin / each * each + threadIdx.x
                                              : end / each * each + threadIdx.x - each;
    if (threadIdx.x >= 2 * each || place < begin || place >= end) return;
    uint32_t exponent =
        shared.base + (shared.stage[(place - staged) / 8] >> (28 - place % 8 * 4) & 15);
    if constexpr (Form<Kind>::isBf16) {
        const uint32_t value = rest[place], count = shared.otherCounts[turn];
        if (exponent == shared.base + 15) {
            for (uint32_t i = 0; i < (count > kOthers ? 0 : count); ++i)
                if ((shared.others[i] & 0xffff) == place) exponent = shared.others[i] >> 16;
        }
        reinterpret_cast<uint16_t*>(output)[place] =
            static_cast<uint16_t>((value & 0x80) << 8 | exponent << 7 | (value & 0x7f));
    } else {
        const uint32_t value = rest[place / 2] >> (place % 2 == 0 ? 4 : 0);
        output[place] = static_cast<uint8_t>((value & 8) << 4 | exponent << 3 | (value & 7));
    }
}

// -----------------------------------------------------------------------------------------------

// The element that a block starts with; 64 bits in fp8.
template <uint32_t Kind>
__device__ uint64_t positionOf(const Unit& unit, uint32_t block)
{
    if (block == unit.blocks) return unit.elements;
    if (Form<Kind>::isBf16) return unit.positions[block];
    return reinterpret_cast<const uint64_t*>(unit.positions)[block];
}

// By one thread: shared.plan of a block that starts with element `begin` and ends before
// shared.nextStop.
template <uint32_t Kind>
__device__ void planBlock(BlockShared& shared, uint32_t block, uint64_t begin)
{
    const uint64_t end = shared.nextStop;
    constexpr uint32_t size = Form<Kind>::elementBytes;
    const Unit& unit = shared.unit;
    const uint32_t lead =
        static_cast<uint32_t>(reinterpret_cast<uintptr_t>(unit.output) % 16) / size;
    const uint32_t first = static_cast<uint32_t>(begin), origin = (first + lead) & ~15u;
    const int64_t originElement = static_cast<int64_t>(origin) - lead;
    const bool bad = (block == 0 && begin != 0) || begin > end || end > unit.elements ||
                     end - begin > kMaxElements;
    Block& plan = shared.plan[block % 2];
    plan.output = unit.output + originElement * size;
    plan.rest = unit.rest + originElement / (Form<Kind>::isBf16 ? 1 : 2);
    plan.stop = end;
    plan.begin = first + lead - origin;
    plan.end = static_cast<uint32_t>(end) + lead - origin;
    plan.status = bad                    ? SLUICE_ST_BAD_INDEX
                  : end == unit.elements ? SLUICE_ST_OK
                                         : SLUICE_ST_PENDING;
}

// By the whole block of threads: a block of a good unit, which has been loaded and planned; so is
// the next one, if there is one in the unit.
template <uint32_t Kind>
__device__ uint32_t decodeBlock(BlockShared& shared, uint32_t block, uint32_t& sumsTurn)
{
    const Unit& unit = shared.unit;
    const uint32_t index = block * kWindows + threadIdx.x, turn = block % 2;
    const bool isPlanner = threadIdx.x == kThreads - 1; // who has the least to write
    Held held;
    uint32_t counts, other;
    const bool hasNext = block + 1 < unit.blocks;
    if (hasNext) fetchInput<Kind>(shared, block + 1);
    uint32_t status =
        decodeWindow<Kind>(shared, openInput<Kind>(shared, block), held, counts, other);
    const uint32_t own = counts & kCount;

    // Codes in the lower half, windows that are bad in the upper one. After a bad one nothing
    // counts.
    const uint32_t value = own | (status != SLUICE_ST_PENDING ? 0x10000u : 0),
                   inclusive = warpInclusiveSum(value);
    const WarpPrefix sum =
        blockExclusiveSumInTurn(__shfl_sync(kAllLanes, inclusive, 31), shared.sums[sumsTurn]);
    sumsTurn ^= 1;
    const uint32_t before = sum.before + inclusive - value;
    if (threadIdx.x == 0) shared.otherCounts[turn ^ 1] = 0;
    const uint32_t planned = shared.plan[turn].status, begin = shared.plan[turn].begin,
                   end = shared.plan[turn].end;
    const bool isLast = planned == SLUICE_ST_OK; // nothing counts after the last element
    if (planned == SLUICE_ST_BAD_INDEX) {
        status = SLUICE_ST_BAD_INDEX;
    } else if (sum.total >= 0x10000) {
        if (status != SLUICE_ST_PENDING && before < 0x10000) {
            shared.failure[0] = status;
            shared.failure[1] = before + own;
        }
        __syncthreads();
        status = isLast && shared.failure[1] >= end - begin ? SLUICE_ST_OK : shared.failure[0];
    } else {
        status = sum.total < end - begin              ? SLUICE_ST_TOO_SHORT
                 : sum.total > end - begin && !isLast ? SLUICE_ST_TOO_LONG
                                                      : SLUICE_ST_OK;
    }
    if (status != SLUICE_ST_OK || end == 0) {
        __pipeline_wait_prior(0);
        if (isPlanner && hasNext) planBlock<Kind>(shared, block + 1, shared.plan[turn].stop);
        __syncthreads(); // the next input is there
        return status;
    }

    uint8_t* output = shared.plan[turn].output;
    const uint8_t* rest = shared.plan[turn].rest;
    const uint32_t place = begin + (before & 0xffff);
#pragma unroll 1
    for (uint32_t staged = 0; staged < end; staged += kStage) {
        if (staged != 0) __syncthreads(); // what was staged is out
        fetchRests(shared, ownUnits<Kind>(staged, begin, end), rest);
        // nobody's
        if (threadIdx.x == 0 && staged == 0 && begin % 8 != 0) shared.stage[begin / 8] = 0;
        stageOwn(shared, staged, held, counts, place);
        if (other != 0 && staged == 0) {
            const uint32_t at =
                atomicAdd(&shared.otherCounts[turn], other == kSeveral ? kOthers + 1 : 1);
            if (at < kOthers)
                shared.others[at] = ((place + (other & 255) - 1) & 0xffff) | other >> 8 << 16;
        }
        __syncthreads();
        stageShared(shared, staged, held, counts, place);
        if (counts > kCount) stageWindow<Kind>(shared, staged, index, own, place);
        __pipeline_wait_prior(1);
        __syncthreads(); // the next input is there too
        if (isPlanner && hasNext && staged == 0)
            planBlock<Kind>(shared, block + 1, shared.plan[turn].stop);
        __pipeline_wait_prior(0);
        copyOut<Kind>(shared, staged, begin, end, output, rest, turn);
    }
    if (shared.otherCounts[turn] > kOthers) {
        __syncthreads(); // their elements have been written without them
        if (other != 0) storeOthers<Kind>(shared, index, own, place, end, output, rest);
    }
    return SLUICE_ST_OK;
}

// The same, of a block that may be the first: then nothing has been loaded or planned.
template <uint32_t Kind>
__device__ inline uint32_t decodeNext(BlockShared& shared, uint32_t block, bool isFirst,
                                      uint32_t& turn)
{
    if (isFirst) {
        fetchInput<Kind>(shared, block);
        __pipeline_wait_prior(0);
        if (threadIdx.x == kThreads - 1)
            planBlock<Kind>(shared, block, positionOf<Kind>(shared.unit, block));
        __syncthreads();
    }
    return decodeBlock<Kind>(shared, block, turn);
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

__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor)
    df11Kernel(const __grid_constant__ Df11Params params)
{
    __shared__ BlockShared shared;
    const uint32_t begin = blockIdx.x * params.blocksPerWorkgroup;
    const uint32_t stop = min(begin + params.blocksPerWorkgroup, params.maxBlockCount);
    const uint32_t* unitCount = pointerFrom<const uint32_t>(params.unitCount);
    const uint32_t count =
        unitCount == nullptr ? params.maxUnitCount : min(*unitCount, params.maxUnitCount);
    const Unit& unit = shared.unit;                     // once there is one
    uint32_t fetched = 0xffffffffu;                     // the block that has been loaded and
                                                        // planned
    uint32_t turn = 0, current = count, nextUnitAt = 0; // the block from which on to look for
                                                        // another unit
    for (uint32_t block = begin; block < stop; ++block) {
        if (block >= nextUnitAt) {
            const uint32_t found = unitOf(params, block, count);
            nextUnitAt = found == count       ? block + 1
                         : found + 1 == count ? 0xffffffffu
                                              : max(firstBlockOf(params, found + 1), block + 1);
            if (found != count && found != current) {
                __syncthreads(); // the unit and the table before have been used
                if (threadIdx.x == 0) {
                    shared.unit = loadUnit(params, found);
                    shared.otherCounts[0] = shared.otherCounts[1] = 0;
                }
                __syncthreads();
                if (unit.good) buildTable(shared);
            }
            if (found != current) fetched = 0xffffffffu;
            current = found;
        }
        if (current == count || block - unit.firstBlock >= unit.blocks) continue;
        const uint32_t own = block - unit.firstBlock;
        uint32_t status = SLUICE_ST_BAD_REGION;
        if (unit.good) {
            const bool isFirst = fetched != block;
            status = unit.kind == kBf16 ? decodeNext<kBf16>(shared, own, isFirst, turn)
                                        : decodeNext<kFp8>(shared, own, isFirst, turn);
            fetched = own + 1 < unit.blocks ? block + 1 : 0xffffffffu;
        }
        if (threadIdx.x == 0) writeStatus(params.status, params.maxBlockCount, block, status);
    }
}

} // namespace

cudaError_t loadDf11(uint32_t& atOnce)
{
    uint32_t processors = 0;
    const cudaError_t error = countProcessors(processors);
    atOnce = processors * kBlocksPerProcessor;
    return error != cudaSuccess ? error : load(df11Kernel);
}

cudaError_t launchDf11(cudaStream_t stream, const Df11Params& params, uint32_t blocks)
{
    return launch(stream, df11Kernel, blocks, kThreads, params);
}

} // namespace sluice
