// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes DFloat11 and ECF8 units (docs/format.md, 5), one window per thread.
// shaders/lib/kernels/df11_unit.h explains unit, block, window, gap, symbol, rest, place and plan;
// shaders/df11.comp explains the method. Both kernels share the steps on a window
// (shaders/lib/kernels/df11_*.h). Here a block's input and its signs and mantissas are copied to
// shared memory asynchronously. If they were loaded to registers, a third fewer thread blocks could
// run at a time. (In this file, "block" is a block of a unit; CUDA's are called thread blocks.)
#include <sluice/sluice_df11.h>

#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/region.cuh"
#include "cuda/lib/warp.cuh"
#include "cuda/tuning.h"

#include <cuda_pipeline_primitives.h>

namespace sluice {
namespace {

constexpr uint32_t kThreads = SLUICE_DF11_WINDOWS, kWarps = kThreads / kWarpSize;

__device__ Df11Unit loadUnit(uint64_t address) { return *pointerTo<const Df11Unit>(address); }

} // namespace
} // namespace sluice

#include "kernels/df11_unit.h"

namespace sluice {
namespace {

// Constants of the two kinds of units: bf16 (DFloat11) and fp8 (ECF8) tensors.
template <uint32_t Kind>
struct UnitForm {
    static constexpr bool isBf16 = Kind == SLUICE_DF11_KIND_BF16;
    static constexpr uint32_t gapBits =
        isBf16 ? SLUICE_DF11_BF16_GAP_BITS : SLUICE_DF11_FP8_GAP_BITS;
    static constexpr uint32_t positionBytes =
        isBf16 ? SLUICE_DF11_BF16_POSITION_BYTES : SLUICE_DF11_FP8_POSITION_BYTES;
    static constexpr uint32_t elementBytes =
        isBf16 ? SLUICE_DF11_BF16_ELEMENT_BYTES : SLUICE_DF11_FP8_ELEMENT_BYTES;
    // The number of elements in 16 bytes of output.
    static constexpr uint32_t ofUnit = 16 / elementBytes;
};
using Bf16 = UnitForm<SLUICE_DF11_KIND_BF16>;
using Fp8 = UnitForm<SLUICE_DF11_KIND_FP8>;

// kernels/df11_windows.h calls the next three functions. codeBytesOf returns the length of the
// longest code in bytes, maxSymbolOf the largest symbol.
template <typename Form>
__device__ constexpr uint32_t codeBytesOf(Form)
{
    return Form::isBf16 ? SLUICE_DF11_BF16_CODE_BYTES : SLUICE_DF11_FP8_CODE_BYTES;
}
template <typename Form>
__device__ constexpr uint32_t maxSymbolOf(Form)
{
    return Form::isBf16 ? SLUICE_DF11_BF16_MAX_SYMBOL : SLUICE_DF11_FP8_MAX_SYMBOL;
}

// Shifts the symbols in `held` up and appends those of the table entry `entry`. Only the lowest
// `words` words of `held` change.
__device__ inline void append(uint4& held, uint32_t entry, uint32_t words)
{
    const uint32_t shift = entry >> 20;
    if (words > 3) held.w = __funnelshift_l(held.z, held.w, shift);
    if (words > 2) held.z = __funnelshift_l(held.y, held.z, shift);
    held.y = __funnelshift_l(held.x, held.y, shift);
    held.x = __funnelshift_l(0, held.x, shift) | (entry & kEntrySymbols);
}

} // namespace
} // namespace sluice

#include "kernels/df11_windows.h"

namespace sluice {
namespace {

// The input of a block in the byte order of memory: its windows (64 bits of the stream each) and
// the word behind them; the gaps of these windows and of the next block's first one. A gap says at
// which bit of its window the first code starts.
struct Input {
    uint2 windows[kWindows + 1];
    uint32_t gaps[kWindows / 32 * 5 + 1];
};
__shared__ Input sInput[2]; // block b of the unit uses sInput[b % 2]
// sStop[b % 2] is the index of the first element behind block b. While the input of the next block
// is loaded, sNextStop receives that index for the next block.
__shared__ uint64_t sStop[2], sNextStop;
// A thread loads the signs and mantissas of its first kFetched output units (16 bytes each) early,
// to sRests.
constexpr uint32_t kFetched = 4;
__shared__ uint2 sRests[kFetched * kThreads];
__shared__ uint32_t sSums[2][kWarps];
// Set if a block has a bad window: [0] is the status of the first bad window, [1] is how many codes
// the block has before the bad code in that window.
__shared__ uint32_t sFailure[2];

// Makes a Window from words in the byte order of memory. `pair` is the window's two words, `third`
// the word behind them. `low` is the word of the list of gaps in which the window's gap begins,
// `high` the word behind it. `left` is how many bytes the stream has from the window's first one
// on.
template <typename Form>
__device__ Window openWindow(uint2 pair, uint32_t third, uint32_t high, uint32_t low,
                             uint32_t index, uint32_t left)
{
    constexpr uint32_t gapBits = Form::gapBits;
    Window window = {bigEndian(pair.x), bigEndian(pair.y), bigEndian(third), 0, 0, index};
    // Bytes behind the end of the stream count as 0.
    if (left < 12) {
        const uint32_t mask = ~(0xffffffffu >> 8 * (left % 4));
        const auto cut = [&](uint32_t& word, uint32_t i) {
            word &= i < left / 4 ? 0xffffffffu : i == left / 4 ? mask : 0;
        };
        cut(window.first, 0);
        cut(window.second, 1);
        cut(window.third, 2);
    }
    const uint32_t gaps = __funnelshift_l(bigEndian(low), bigEndian(high), index * gapBits);
    window.gap = gaps >> (32 - gapBits);
    window.end = kWindowBits + (gaps << gapBits >> (32 - gapBits));
    return window;
}

// Loads a window of the unit from memory.
template <typename Form>
__device__ Window loadWindow(Form, uint32_t index)
{
    constexpr uint32_t gapBits = Form::gapBits;
    const uint32_t left = wg.unit.encoded - min(index * 8, wg.unit.encoded),
                   at = index * gapBits / 32;
    uint32_t loaded[3];
#pragma unroll
    for (uint32_t i = 0; i < 3; ++i)
        loaded[i] = 4 * i < left ? loadWord(wg.unit.stream, index * 2 + i) : 0;
    const uint32_t last = wg.unit.blocks * (kWindows / 32) * gapBits - 1;
    return openWindow<Form>(make_uint2(loaded[0], loaded[1]), loaded[2], loadWord(wg.unit.gaps, at),
                            loadWord(wg.unit.gaps, min(at + 1, last)), index, left);
}

// Starts to load the input of block `block` of the unit, and the index of the first element behind
// that block, which goes to sNextStop. The whole thread block calls this.
template <typename Form>
__device__ void fetchInput(uint32_t block)
{
    constexpr uint32_t gapWords = kWindows / 32 * Form::gapBits;
    const Unit& unit = wg.unit;
    Input& input = sInput[block % 2];
    const auto fetch = [&](uint32_t i) {
        const uint32_t index = block * kWindows + i;
        if (index * 8 < unit.encoded) {
            __pipeline_memcpy_async(&input.windows[i], pointerTo<const uint2>(unit.stream) + index,
                                    8);
        } else {
            input.windows[i] = make_uint2(0, 0);
        }
    };
    fetch(threadIdx.x);
    if (threadIdx.x <= gapWords) {
        const uint32_t word = min(block * gapWords + threadIdx.x, unit.blocks * gapWords - 1);
        __pipeline_memcpy_async(&input.gaps[threadIdx.x],
                                pointerTo<const uint32_t>(unit.gaps) + word, 4);
    }
    if (threadIdx.x == kThreads - 1) {
        fetch(kWindows);
        if (block + 1 < unit.blocks) {
            // A position of bf16 has 4 bytes, so the copy fills only the low half of sNextStop.
            if constexpr (Form::isBf16) reinterpret_cast<uint32_t*>(&sNextStop)[1] = 0;
            __pipeline_memcpy_async(&sNextStop,
                                    pointerTo<const uint8_t>(unit.positions) +
                                        (block + 1) * Form::positionBytes,
                                    Form::positionBytes);
        } else {
            sNextStop = unit.elements;
        }
    }
    __pipeline_commit();
}

// Returns this thread's window of block `block`, whose input must have arrived in shared memory.
template <typename Form>
__device__ inline Window openInput(uint32_t block)
{
    const Unit& unit = wg.unit;
    const Input& input = sInput[block % 2];
    const uint32_t index = block * kWindows + threadIdx.x, at = threadIdx.x * Form::gapBits / 32;
    const uint32_t left =
        index < unit.fullWindows ? 12 : unit.encoded - min(index * 8, unit.encoded);
    return openWindow<Form>(input.windows[threadIdx.x], input.windows[threadIdx.x + 1].x,
                            input.gaps[at], input.gaps[at + 1], index, left);
}

// Stores the bf16 element at `place`, whose exponent is `symbol`. unitsAt is the address of place 0
// in the output, restAt that of its sign and mantissa. (A place is an element's number in the
// block, counted from an aligned address of the output: df11_unit.h.)
__device__ void storeOther(uint64_t unitsAt, uint64_t restAt, uint32_t place, uint32_t symbol)
{
    const uint32_t value = loadByte(restAt, place);
    *pointerTo<uint16_t>(unitsAt, place) =
        static_cast<uint16_t>((value & 0x80) << 8 | symbol << 7 | (value & 0x7f));
}

} // namespace
} // namespace sluice

#include "kernels/df11_output.h"

namespace sluice {
namespace {

// Makes elements 2 * Pair and 2 * Pair + 1 of eight bf16 elements. `even` has the exponents (minus
// the unit's base) of elements 0, 2, 4 and 6, the first one in the highest byte; `odd` those of
// elements 1, 3, 5 and 7. `rest` has the signs and mantissas of elements 0 to 3 (Pair 0 and 1) or 4
// to 7. `base` has the unit's base in the exponent bits of both elements.
template <uint32_t Pair>
__device__ inline uint32_t mergeBf16(uint32_t even, uint32_t odd, uint32_t rest, uint32_t base)
{
    constexpr uint32_t byte = 3 - Pair, first = Pair % 2 * 2;
    // The selector takes a byte of `even` and a byte of `odd`. A selector digit with bit 3 set
    // gives eight copies of the highest bit of a byte. Here that bit is 0, so the digit gives a
    // byte of 0.
    uint32_t exponents;
    asm("prmt.b32 %0, %1, %2, %3;"
        : "=r"(exponents)
        : "r"(even), "r"(odd), "n"(byte * 0x1111 + 0xc480));
    const uint32_t doubled = __byte_perm(rest, 0, first * 0x11 + (first + 1) * 0x1100);
    return (exponents * 128 + base) | (doubled & 0x807f807fu);
}

// Returns the 16 bytes of output whose first element has place 8 * word. wg.stage holds the
// exponents of the places from `staged` on, `rest` the signs and mantissas of these elements.
// `turn` is the block's number modulo 2. It selects the number of listed symbols, which do not fit
// in four bits (wg.otherCounts).
template <typename Form>
__device__ inline uint4 mergeUnit(uint32_t staged, uint32_t word, uint2 rest, uint32_t turn)
{
    if constexpr (Form::isBf16) {
        const uint32_t exponents = wg.stage[word - staged / 8], base = wg.unit.base * 0x800080u;
        const uint32_t odd = exponents & 0x0f0f0f0fu, even = exponents >> 4 & 0x0f0f0f0fu;
        const uint4 merged = make_uint4(
            mergeBf16<0>(even, odd, rest.x, base), mergeBf16<1>(even, odd, rest.x, base),
            mergeBf16<2>(even, odd, rest.y, base), mergeBf16<3>(even, odd, rest.y, base));
        return hasFifteen(exponents) ? addOthers(merged, word, wg.otherCounts[turn]) : merged;
    } else {
        const uint2 exponents = *reinterpret_cast<const uint2*>(&wg.stage[word - staged / 8]);
        const uint2 low = mergeFp8(exponents.x, rest.x), high = mergeFp8(exponents.y, rest.y);
        return make_uint4(low.x, low.y, high.x, high.y);
    }
}

// Finds the aligned 16-byte units of output that can be stored whole: the places of their elements
// all lie in [begin, end) and are staged, that is, among the kStage places from `staged` on.
// Returns this thread's first such unit in x, and the end of all threads' units in y.
template <typename Form>
__device__ inline uint2 ownUnits(uint32_t staged, uint32_t begin, uint32_t end)
{
    constexpr uint32_t each = Form::ofUnit;
    return make_uint2((max(begin, staged) + each - 1) / each + threadIdx.x,
                      min(end, staged + kStage) / each);
}

// Starts to load the signs and mantissas of this thread's first units (ownUnits), if their address
// is a multiple of 8. `rest` is the address of the sign and mantissa of place 0.
__device__ inline void fetchRests(uint2 units, uint64_t rest)
{
    if (rest % 8 == 0) {
#pragma unroll
        for (uint32_t i = 0; i < kFetched; ++i) {
            const uint32_t unit = units.x + i * kThreads;
            if (unit < units.y)
                __pipeline_memcpy_async(&sRests[i * kThreads + threadIdx.x],
                                        pointerTo<const uint2>(rest) + unit, 8);
        }
    }
    __pipeline_commit();
}

// Stores the elements with places in [begin, end) whose exponents are staged; the staged ones begin
// at place `staged`. `output` is the address of place 0, `rest` that of its sign and mantissa.
// `turn`, the block's number modulo 2, selects the number of listed symbols (wg.otherCounts).
template <typename Form>
__device__ inline void copyOut(uint32_t staged, uint32_t begin, uint32_t end, uint64_t output,
                               uint64_t rest, uint32_t turn)
{
    constexpr uint32_t each = Form::ofUnit;
    const uint2 units = ownUnits<Form>(staged, begin, end);
    begin = max(begin, staged);
    end = min(end, staged + kStage);
    const uint32_t lead = static_cast<uint32_t>(rest % 4), shift = 8 * lead;
    uint32_t unit = units.x;
    const auto store = [&](uint32_t unit, uint2 raw) {
        __stcs(pointerTo<uint4>(output) + unit,
               mergeUnit<Form>(staged, unit * (each / 8), raw, turn));
    };
    if (rest % 8 == 0) {
#pragma unroll
        for (uint32_t i = 0; i < kFetched; ++i, unit += kThreads)
            if (unit < units.y) store(unit, sRests[i * kThreads + threadIdx.x]);
#pragma unroll 1
        for (; unit < units.y; unit += kThreads)
            store(unit, __ldcs(pointerTo<const uint2>(rest) + unit));
    } else {
        const uint32_t* words = pointerTo<const uint32_t>(rest - lead);
#pragma unroll 1
        for (; unit < units.y; unit += kThreads) {
            const uint32_t low = __ldcs(words + 2 * unit), middle = __ldcs(words + 2 * unit + 1);
            const uint32_t high = lead != 0 ? __ldcs(words + 2 * unit + 2) : 0;
            store(unit, make_uint2(__funnelshift_r(low, middle, shift),
                                   __funnelshift_r(middle, high, shift)));
        }
    }
    // Elements at the two ends of the block that do not fill a unit of 16 bytes are stored one by
    // one, one per thread, because other blocks may write bytes of the same units.
    const uint32_t place = threadIdx.x < each ? begin / each * each + threadIdx.x
                                              : end / each * each + threadIdx.x - each;
    if (threadIdx.x >= 2 * each || place < begin || place >= end) return;
    uint32_t exponent =
        wg.unit.base + (wg.stage[(place - staged) / 8] >> (28 - place % 8 * 4) & 15);
    if constexpr (Form::isBf16) {
        const uint32_t value = loadByte(rest, place), count = wg.otherCounts[turn];
        if (exponent == wg.unit.base + 15) {
            for (uint32_t i = 0; i < (count > kOthers ? 0 : count); ++i)
                if ((wg.others[i] & 0xffff) == place) exponent = wg.others[i] >> 16;
        }
        *pointerTo<uint16_t>(output, place) =
            static_cast<uint16_t>((value & 0x80) << 8 | exponent << 7 | (value & 0x7f));
    } else {
        const uint32_t value = loadByte(rest, place / 2) >> (place % 2 == 0 ? 4 : 0);
        *pointerTo<uint8_t>(output, place) =
            static_cast<uint8_t>((value & 8) << 4 | exponent << 3 | (value & 7));
    }
}

// -----------------------------------------------------------------------------------------------

// Returns the index of the block's first element. Positions have 64 bits in fp8 units.
template <typename Form>
__device__ uint64_t positionOf(uint32_t block)
{
    if (block == wg.unit.blocks) return wg.unit.elements;
    return Form::isBf16 ? loadWord(wg.unit.positions, block) : loadU64(wg.unit.positions, block);
}

// One thread plans block `block`, that is, computes where its elements go. They are elements
// [begin, sNextStop) of the unit.
template <typename Form>
__device__ void planNext(uint32_t block, uint64_t begin)
{
    planBlock(Form::isBf16, block, begin, sNextStop);
    sStop[block % 2] = sNextStop;
}

// Decodes block `block` of a valid unit and returns its status. The whole thread block calls this.
// The block's input and plan must be in shared memory. If the unit has a next block, this function
// also loads and plans that block. `sumsTurn` selects one half of sSums.
template <typename Form>
__device__ uint32_t decodeBlock(uint32_t block, uint32_t& sumsTurn)
{
    const Unit& unit = wg.unit;
    const uint32_t index = block * kWindows + threadIdx.x, turn = block % 2;
    // This thread also makes the next plan, because it has the least to store.
    const bool isPlanner = threadIdx.x == kThreads - 1;
    uint4 held;
    uint32_t counts, other;
    const bool hasNext = block + 1 < unit.blocks;
    if (hasNext) fetchInput<Form>(block + 1);
    uint32_t status = decodeWindow(Form{}, openInput<Form>(block), held, counts, other);
    const uint32_t own = counts & kCount;

    // A single sum counts codes in its lower half and bad windows in its upper half. Codes behind a
    // bad window are ignored.
    const uint32_t value = own | (status != SLUICE_ST_PENDING ? 0x10000u : 0),
                   inclusive = warpInclusiveSum(value);
    const WarpPrefix sum =
        blockExclusiveSumInTurn(__shfl_sync(kAllLanes, inclusive, 31), sSums[sumsTurn]);
    sumsTurn ^= 1;
    const uint32_t before = sum.before + inclusive - value;
    if (threadIdx.x == 0) wg.otherCounts[turn ^ 1] = 0;
    const uint32_t planned = wg.plan[turn].status, begin = wg.plan[turn].begin,
                   end = wg.plan[turn].end;
    // A plan with the status OK says that the unit's elements end with this block. Codes behind the
    // last element are then ignored.
    const bool isLast = planned == SLUICE_ST_OK;
    if (planned == SLUICE_ST_BAD_INDEX) {
        status = SLUICE_ST_BAD_INDEX;
    } else if (sum.total >= 0x10000) {
        if (status != SLUICE_ST_PENDING && before < 0x10000) {
            sFailure[0] = status;
            sFailure[1] = before + own;
        }
        __syncthreads();
        status = isLast && sFailure[1] >= end - begin ? SLUICE_ST_OK : sFailure[0];
    } else {
        status = sum.total < end - begin              ? SLUICE_ST_TOO_SHORT
                 : sum.total > end - begin && !isLast ? SLUICE_ST_TOO_LONG
                                                      : SLUICE_ST_OK;
    }
    if (status != SLUICE_ST_OK || end == 0) {
        __pipeline_wait_prior(0);
        if (isPlanner && hasNext) planNext<Form>(block + 1, sStop[turn]);
        // This barrier makes the next block's input and plan visible.
        __syncthreads();
        return status;
    }

    // The plan is read again wherever it is needed, because registers are scarce.
    const Block& plan = wg.plan[turn];
    const uint32_t place = begin + (before & 0xffff);
#pragma unroll 1
    for (uint32_t staged = 0; staged < end; staged += kStage) {
        // After this barrier the symbols that were staged before have been stored and may be
        // overwritten.
        if (staged != 0) __syncthreads();
        fetchRests(ownUnits<Form>(staged, begin, end), plan.restAt);
        // The block begins inside this word of wg.stage, so stageOwn does not store it as a whole.
        // It must be 0 before stageShared sets bits in it.
        if (threadIdx.x == 0 && staged == 0 && begin % 8 != 0) wg.stage[begin / 8] = 0;
        stageOwn(staged, held, counts, place);
        if (other != 0 && staged == 0) noteOther(turn, other, place);
        __syncthreads();
        stageShared(staged, held, counts, place);
        if (counts > kCount) stageWindow(Form{}, staged, index, own, place);
        __pipeline_wait_prior(1);
        // This barrier makes the staged symbols and the next block's input visible.
        __syncthreads();
        if (isPlanner && hasNext && staged == 0) planNext<Form>(block + 1, sStop[turn]);
        __pipeline_wait_prior(0);
        copyOut<Form>(staged, begin, end, plan.unitsAt, plan.restAt, turn);
    }
    if (wg.otherCounts[turn] > kOthers) {
        // The block has more symbols that do not fit in four bits than wg.others can hold. After
        // this barrier all elements have been stored; the elements with these symbols are now
        // overwritten.
        __syncthreads();
        if (other != 0) storeOthers(Form{}, turn, index, own, place, end);
    }
    return SLUICE_ST_OK;
}

// Decodes a block, as decodeBlock does. If `isFirst` is true, no earlier call has loaded and
// planned the block, so this function first loads and plans it.
template <typename Form>
__device__ inline uint32_t decodeNext(uint32_t block, bool isFirst, uint32_t& turn)
{
    if (isFirst) {
        fetchInput<Form>(block);
        __pipeline_wait_prior(0);
        if (threadIdx.x == kThreads - 1) planNext<Form>(block, positionOf<Form>(block));
        __syncthreads();
    }
    return decodeBlock<Form>(block, turn);
}

__global__ void __launch_bounds__(kThreads, kDf11BlocksPerProcessor)
    df11Kernel(const __grid_constant__ Df11Params params)
{
    const uint32_t begin = blockIdx.x * params.blocksPerWorkgroup;
    const uint32_t stop = min(begin + params.blocksPerWorkgroup, params.maxBlockCount);
    const uint32_t count = countOf(u64Of(params.unitCount), params.maxUnitCount);
    const Unit& unit = wg.unit; // valid once a unit has been opened
    // The block of the list that has already been loaded and planned; 0xffffffff if there is none.
    uint32_t fetched = 0xffffffffu;
    // `current` is the open unit, or `count` if there is none; another unit may begin at
    // nextUnitAt.
    uint32_t turn = 0, current = count, nextUnitAt = 0;
    for (uint32_t block = begin; block < stop; ++block) {
        if (block >= nextUnitAt) {
            const uint32_t found = unitOf(params, block, count);
            nextUnitAt = found == count       ? block + 1
                         : found + 1 == count ? 0xffffffffu
                                              : max(firstBlockOf(params, found + 1), block + 1);
            if (found != count && found != current) {
                // After this barrier all threads are done with the previous unit and its table.
                __syncthreads();
                if (threadIdx.x == 0) {
                    openUnit(params, found);
                    wg.otherCounts[0] = wg.otherCounts[1] = 0;
                }
                __syncthreads();
                if (unit.good) buildTable();
            }
            if (found != current) fetched = 0xffffffffu;
            current = found;
        }
        if (current == count || block - unit.firstBlock >= unit.blocks) continue;
        const uint32_t own = block - unit.firstBlock;
        uint32_t status = SLUICE_ST_BAD_REGION;
        if (unit.good) {
            const bool isFirst = fetched != block;
            status = isBf16() ? decodeNext<Bf16>(own, isFirst, turn)
                              : decodeNext<Fp8>(own, isFirst, turn);
            fetched = own + 1 < unit.blocks ? block + 1 : 0xffffffffu;
        }
        if (threadIdx.x == 0) writeStatus(params.status, params.maxBlockCount, block, status);
    }
}

} // namespace

cudaError_t loadDf11(CudaTraits& traits)
{
    traits.df11Blocks = traits.processors * kDf11BlocksPerProcessor;
    return load(df11Kernel);
}

cudaError_t launchDf11(cudaStream_t stream, const Df11Params& params, uint32_t blocks)
{
    return launch(stream, df11Kernel, blocks, kThreads, params);
}

} // namespace sluice
