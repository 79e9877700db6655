// SPDX-License-Identifier: MIT OR Apache-2.0
// Interval expand: fills each interval of the destination with one value.
// shaders/interval_expand.comp explains the method. Here there is a kernel for each element size
// that divides 16, and one for all other sizes.
#include "cuda/kernels.h"
#include "cuda/lib/intervals.cuh"
#include "cuda/lib/units.cuh"

namespace sluice {
namespace {

// The values of the intervals of a round. Each warp has such a structure.
struct ExpandShared {
    Marks marks;
    uint4 values[kWarpSize];       // repeated to 16 bytes if the size divides 16
    uint32_t lastWords[kWarpSize]; // bytes 16 to 19 of values with more than 16 bytes
    uint32_t starts[kWarpSize];    // the index in the round of each interval's first element
};

// Returns the first 16 bytes of an interval's value. Size is the size of an element if it divides
// 16, else 0. Smaller values are repeated to fill the 16 bytes if Size is not 0.
template <uint32_t Size>
__device__ uint4 valueOf(const IntervalParams& p, uint32_t index)
{
    const uint64_t address = u64From(p.source) + uint64_t{index} * p.elementSize;
    if constexpr (Size == 16) return __ldg(reinterpret_cast<const uint4*>(address));
    if constexpr (Size == 8) {
        const uint2 value = __ldg(reinterpret_cast<const uint2*>(address));
        return make_uint4(value.x, value.y, value.x, value.y);
    }
    if constexpr (Size == 0) return loadBytes(address, min(p.elementSize, 16u));
    uint32_t value = 0;
    if constexpr (Size == 4) value = __ldg(reinterpret_cast<const uint32_t*>(address));
    if constexpr (Size == 2)
        value = __ldg(reinterpret_cast<const uint16_t*>(address)) * 0x00010001u;
    if constexpr (Size == 1) value = __ldg(reinterpret_cast<const uint8_t*>(address)) * 0x01010101u;
    return make_uint4(value, value, value, value);
}

// Returns bytes 16 to 19 of an interval's value, or 0 if the value has no more than 16 bytes.
__device__ uint32_t lastWordOf(const IntervalParams& p, uint32_t index)
{
    if (p.elementSize <= 16) return 0;
    return loadBytes(u64From(p.source) + uint64_t{index} * p.elementSize + 16, p.elementSize - 16)
        .x;
}

// Returns 16 bytes: bytes 0 .. from - 1 are those of `a`, the later ones those of `b`.
__device__ uint4 joined(uint4 a, uint4 b, uint32_t from)
{
    const auto word = [from](uint32_t x, uint32_t y, uint32_t i) {
        const uint32_t kept = from > 4 * i ? min(from - 4 * i, 4u) : 0; // bytes of x
        const uint32_t mask = kept == 4 ? 0 : ~0u << 8 * kept;
        return (x & ~mask) | (y & mask);
    };
    return make_uint4(word(a.x, b.x, 0), word(a.y, b.y, 1), word(a.z, b.z, 2), word(a.w, b.w, 3));
}

// Returns a unit of 16 bytes that consists of whole elements. shared.marks has a bit for each
// element of a window of the output, set if an interval begins there. `element` is the index of the
// unit's first element in that window.
template <uint32_t Size>
__device__ uint4 regularUnit(const ExpandShared& shared, uint32_t element)
{
    constexpr uint32_t perUnit = 16 / Size;
    uint32_t rank = shared.marks.rank(element);
    // The marks of the unit's elements except the first: bit i is set if an interval begins at
    // element i. The marks of a unit are always in one word.
    uint32_t later = shared.marks.bits[element / 32] >> element % 32 & ((1u << perUnit) - 1) & ~1u;
    uint4 value = shared.values[rank];
    if constexpr (Size >= 4) { // each word of the unit has at most one mark
        if (perUnit > 2) value.y = shared.values[rank += later >> 1 & 1].y;
        if (perUnit > 1) value.z = shared.values[rank += later >> perUnit / 2 & 1].z;
        if (perUnit > 2) rank += later >> 3 & 1;
        if (perUnit > 1) value.w = shared.values[rank].w;
    } else {
        while (later != 0) {
            const uint32_t at = static_cast<uint32_t>(__ffs(static_cast<int>(later)) - 1);
            value = joined(value, shared.values[++rank], at * Size);
            later &= later - 1;
        }
    }
    return value;
}

// The bytes that a round writes.
struct Output {
    uint64_t target; // the first element's address, rounded down to a multiple of 16
    uint32_t head;   // bytes from `target` to the first element
    uint32_t end;    // bytes from `target` to the end of the last element
};

// Writes the elements of a round, if their size divides 16. `start` is the index in the round of
// the first element of this lane's interval, `any` is true if that interval has elements in the
// round. There are marks for Marks::kPieces elements, so windows of that size are written one by
// one.
template <uint32_t Size>
__device__ void writeRegular(ExpandShared& shared, const Output& output, uint32_t start, bool any)
{
    constexpr uint32_t windowUnits = Marks::kPieces * Size / 16;
    // Marks count from the beginning of the first unit, which may lie before the first interval. So
    // the mark of that interval is set at the beginning of the unit; the stores below leave out the
    // bytes before the interval.
    const uint32_t mark = start == 0 ? 0 : start + output.head / Size;
    const uint32_t units = (output.end + 15) / 16;
    for (uint32_t first = 0; first < units; first += windowUnits) {
        const uint32_t window = first * 16 / Size;
        shared.marks.clear();
        if (any && mark - window < Marks::kPieces) shared.marks.set(mark - window);
        shared.marks.count(
            static_cast<uint32_t>(__popc(__ballot_sync(kAllLanes, any && mark < window))));
        const uint32_t last = min(first + windowUnits, units);
        for (uint32_t unit = first + laneIndex(); unit < last; unit += kWarpSize) {
            const uint4 value = regularUnit<Size>(shared, unit * (16 / Size) - window);
            const uint32_t from = unit == 0 ? output.head : 0,
                           to = min(output.end - 16 * unit, 16u);
            if constexpr (Size >= 4) {
                storeWords(output.target + 16 * unit, value, from, to);
            } else {
                storeUnit(output.target + 16 * unit, value, from, to);
            }
        }
        __syncwarp();
    }
}

// Returns the number, among `runs` intervals, of the one to which an element belongs: the last that
// begins at or before the element.
__device__ uint32_t rankOf(const ExpandShared& shared, uint32_t element, uint32_t runs)
{
    uint32_t rank = 0;
#pragma unroll
    for (uint32_t step = kWarpSize / 2; step != 0; step /= 2)
        rank += rank + step < runs && shared.starts[rank + step] <= element ? step : 0;
    return rank;
}

// Writes the elements of a round, of any size. Builds each unit of 16 bytes byte by byte.
__device__ void writeIrregular(const ExpandShared& shared, const Output& output, uint32_t size,
                               uint32_t runs)
{
    for (uint32_t unit = laneIndex(); 16 * unit < output.end; unit += kWarpSize) {
        const uint32_t from = unit == 0 ? output.head : 0, to = min(output.end - 16 * unit, 16u);
        const uint32_t first = 16 * unit + from - output.head;
        uint32_t element = first / size, within = first % size,
                 rank = rankOf(shared, element, runs);
        uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
        for (uint32_t i = 0; i < 16; ++i) {
            if (i < from || i >= to) continue;
            const uint32_t byte =
                within < 16 ? reinterpret_cast<const uint8_t*>(&shared.values[rank])[within]
                            : shared.lastWords[rank] >> 8 * (within - 16) & 0xff;
            words[i / 4] |= byte << 8 * (i % 4);
            if (++within == size) {
                within = 0;
                ++element;
                if (rank + 1 < runs && shared.starts[rank + 1] <= element) ++rank;
            }
        }
        storeUnit(output.target + 16 * unit, make_uint4(words[0], words[1], words[2], words[3]),
                  from, to);
    }
}

template <uint32_t Form, uint32_t Size>
__global__ void __launch_bounds__(kIntervalThreads) expandKernel(IntervalParams p)
{
    __shared__ ExpandShared all[kIntervalWarps];
    ExpandShared& shared = all[warpIndex()];
    IntervalShare<Form> share(p);
    while (share.more()) {
        const uint32_t index = share.nextIndex(), count = share.lengthOf(index);
        const uint4 value =
            index < share.list.intervals ? valueOf<Size>(p, index) : make_uint4(0, 0, 0, 0);
        uint32_t lastWord = 0;
        if constexpr (Size == 0)
            if (index < share.list.intervals) lastWord = lastWordOf(p, index);
        const Interval own = share.next(count);
        const uint32_t to = static_cast<uint32_t>(
            min(static_cast<uint64_t>(own.to), subSaturated(p.capacity, own.before)));
        const uint32_t elements = to - min(own.from, to), inclusive = warpInclusiveSum(elements);
        const uint32_t any = __ballot_sync(kAllLanes, elements != 0);
        if (any == 0) continue;

        const uint32_t total = __shfl_sync(kAllLanes, inclusive, kWarpSize - 1),
                       start = inclusive - elements;
        // The elements of a round are consecutive, so the number of the first one gives the
        // addresses of all of them.
        const uint32_t number =
            __shfl_sync(kAllLanes, own.before + own.from, __ffs(static_cast<int>(any)) - 1);
        if (elements != 0) {
            const uint32_t rank = static_cast<uint32_t>(__popc(any & lanesBelow()));
            shared.values[rank] = value;
            shared.starts[rank] = start;
            if constexpr (Size == 0) shared.lastWords[rank] = lastWord;
        }
        __syncwarp();
        Output output;
        output.target = u64From(p.destination) + uint64_t{number} * p.elementSize;
        output.head = static_cast<uint32_t>(output.target) % 16;
        output.target -= output.head;
        output.end = output.head + total * p.elementSize;
        if constexpr (Size != 0) {
            writeRegular<Size>(shared, output, start, elements != 0);
        } else {
            writeIrregular(shared, output, p.elementSize, static_cast<uint32_t>(__popc(any)));
        }
        __syncwarp();
    }
}

template <uint32_t Form>
void (*expandKernelFor(uint32_t elementSize))(IntervalParams)
{
    switch (elementSize) {
    case 1: return expandKernel<Form, 1>;
    case 2: return expandKernel<Form, 2>;
    case 4: return expandKernel<Form, 4>;
    case 8: return expandKernel<Form, 8>;
    case 16: return expandKernel<Form, 16>;
    default: return expandKernel<Form, 0>;
    }
}

} // namespace

cudaError_t loadIntervalExpand(CudaTraits&)
{
    for (const uint32_t size : {1u, 2u, 3u, 4u, 8u, 16u}) {
        cudaError_t error = load(expandKernelFor<SLUICE_INTERVAL_COUNTS>(size));
        if (error == cudaSuccess) error = load(expandKernelFor<SLUICE_INTERVAL_OFFSETS>(size));
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaError_t launchIntervalExpand(cudaStream_t stream, const IntervalParams& params, uint32_t blocks)
{
    const bool offsets = params.form == SLUICE_INTERVAL_OFFSETS;
    const auto kernel = offsets ? expandKernelFor<SLUICE_INTERVAL_OFFSETS>(params.elementSize)
                                : expandKernelFor<SLUICE_INTERVAL_COUNTS>(params.elementSize);
    return launch(stream, kernel, blocks, kIntervalThreads, params);
}

} // namespace sluice
