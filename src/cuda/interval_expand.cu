// SPDX-License-Identifier: MIT OR Apache-2.0
// Interval expand: fills runs of the destination with one value each; the method is told in shaders/interval_expand.comp.
#include "kernels.h"
#include "lib/intervals.cuh"
#include "lib/units.cuh"

namespace sluice {
namespace {

using ExpandMarks = Marks<SLUICE_INTERVAL_TILE + 32>;

struct ExpandShared {
    IntervalShared intervals;
    ExpandMarks marks;
    uint4 values[SLUICE_INTERVAL_BATCH]; // repeated to 16 bytes if the size divides 16
    uint32_t first;                      // number of the first element of a batch
};

// Size: of an element if it divides 16, else 0.
template <uint32_t Size>
__device__ uint4 valueOf(const IntervalParams& p, uint64_t index)
{
    const uint64_t address = u64From(p.source) + index * p.elementSize;
    if constexpr (Size == 16) return __ldg(reinterpret_cast<const uint4*>(address));
    if constexpr (Size == 8) {
        const uint2 value = __ldg(reinterpret_cast<const uint2*>(address));
        return make_uint4(value.x, value.y, value.x, value.y);
    }
    if constexpr (Size == 0) return loadBytes(address, p.elementSize);
    uint32_t value = 0;
    if constexpr (Size == 4) value = __ldg(reinterpret_cast<const uint32_t*>(address));
    if constexpr (Size == 2) value = __ldg(reinterpret_cast<const uint16_t*>(address)) * 0x00010001u;
    if constexpr (Size == 1) value = __ldg(reinterpret_cast<const uint8_t*>(address)) * 0x01010101u;
    return make_uint4(value, value, value, value);
}

// Bytes [from, 16) of b, and those before of a.
__device__ uint4 joined(uint4 a, uint4 b, uint32_t from)
{
    const auto word = [from](uint32_t x, uint32_t y, uint32_t i) {
        const uint32_t kept = from > 4 * i ? min(from - 4 * i, 4u) : 0; // bytes of x
        const uint32_t mask = kept == 4 ? 0 : ~0u << 8 * kept;
        return (x & ~mask) | (y & mask);
    };
    return make_uint4(word(a.x, b.x, 0), word(a.y, b.y, 1), word(a.z, b.z, 2), word(a.w, b.w, 3));
}

// A unit of elements that fill it exactly, the first of them number `element` of the marks.
template <uint32_t Size>
__device__ uint4 regularUnit(const ExpandShared& shared, uint32_t element)
{
    constexpr uint32_t perUnit = 16 / Size;
    uint32_t rank = shared.marks.rank(element);
    uint4 value = shared.values[rank];
    // The marks of the unit's other elements. A unit never straddles two words of marks.
    uint32_t later = shared.marks.bits[element / 32] >> element % 32 & ((1u << perUnit) - 1) & ~1u;
    while (later != 0) {
        const uint32_t at = static_cast<uint32_t>(__ffs(static_cast<int>(later)) - 1);
        value = joined(value, shared.values[++rank], at * Size);
        later &= later - 1;
    }
    return value;
}

// Any size: byte by byte. `first`: the unit's first byte, counted from the batch's first element; may be negative.
__device__ uint4 irregularUnit(const ExpandShared& shared, uint32_t size, int first, uint32_t bytes)
{
    uint32_t words[4] = {0, 0, 0, 0};
    for (int i = 0; i < 16; ++i) {
        const uint32_t at = static_cast<uint32_t>(max(first + i, 0));
        if (at < bytes) {
            const uint4& value = shared.values[shared.marks.rank(at / size)];
            const uint32_t byte = reinterpret_cast<const uint8_t*>(&value)[at % size];
            words[i / 4] |= byte << 8 * (i % 4);
        }
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

template <uint32_t Form, uint32_t Size>
__global__ void __launch_bounds__(kIntervalThreads) expandKernel(IntervalParams p)
{
    __shared__ ExpandShared shared;
    IntervalShare<Form> share(p, shared.intervals);
    while (share.more()) {
        shared.marks.clear();
        Interval own = share.next();
        own.to = static_cast<uint32_t>(min(static_cast<uint64_t>(own.to), subSaturated(p.capacity, own.before)));
        const uint32_t elements = own.to - min(own.from, own.to);
        uint32_t total;
        const uint32_t marked = blockExclusive(elements | (elements != 0 ? 1u << 16 : 0), total, shared.intervals.sums[1]);
        const uint32_t start = marked & 0xffff;
        if (elements != 0 && start == 0) shared.first = own.before + own.from; // the batch's elements are consecutive
        __syncthreads();
        const uint64_t target = u64From(p.destination) + static_cast<uint64_t>(shared.first) * p.elementSize;
        const uint32_t head = static_cast<uint32_t>(target) & 15;
        if (elements != 0) {
            // The first interval reaches back to the start of its unit; nothing is stored there.
            shared.marks.set(start == 0 ? 0 : start + (Size != 0 ? head / p.elementSize : 0));
            shared.values[marked >> 16] = valueOf<Size>(p, own.index);
        }
        shared.marks.count(shared.intervals);

        const uint32_t bytes = (total & 0xffff) * p.elementSize;
        const uint32_t end = bytes == 0 ? 0 : head + bytes; // counted from the first unit
        for (uint32_t unit = threadIdx.x; 16 * unit < end; unit += kIntervalThreads) {
            uint4 value;
            if constexpr (Size != 0) {
                value = regularUnit<Size>(shared, unit * (16 / Size));
            } else {
                value = irregularUnit(shared, p.elementSize, static_cast<int>(16 * unit) - static_cast<int>(head), bytes);
            }
            storeUnit(target - head + 16 * unit, value, unit == 0 ? head : 0, min(end - 16 * unit, 16u));
        }
        __syncthreads();
    }
}

template <uint32_t Form>
void (*expandKernelFor(uint32_t elementSize))(IntervalParams)
{
    switch (elementSize) {
    case 1:
        return expandKernel<Form, 1>;
    case 2:
        return expandKernel<Form, 2>;
    case 4:
        return expandKernel<Form, 4>;
    case 8:
        return expandKernel<Form, 8>;
    case 16:
        return expandKernel<Form, 16>;
    default:
        return expandKernel<Form, 0>;
    }
}

} // namespace

cudaError_t loadIntervalExpand()
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
    const bool offsets = (params.form & 0xff) == SLUICE_INTERVAL_OFFSETS;
    const auto kernel = offsets ? expandKernelFor<SLUICE_INTERVAL_OFFSETS>(params.elementSize)
                                : expandKernelFor<SLUICE_INTERVAL_COUNTS>(params.elementSize);
    return launch(stream, kernel, blocks, kIntervalThreads, params);
}

} // namespace sluice
