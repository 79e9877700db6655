// SPDX-License-Identifier: MIT OR Apache-2.0
// The calls of CUB that do what our primitives do. If the toolkit's CUB is too old, there are none.
#if __has_include(<cub/device/device_copy.cuh>) // CUB 2.2 or newer
#include <sluice/sluice_scan.h>

#include <cub/device/device_copy.cuh>
#include <cub/device/device_memcpy.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#if CUB_MAJOR_VERSION >= 3
#include <cuda/functional>
#endif
#define SLUICE_BENCH_CUB 1
#endif

#include "tools/bench/cuda_calls.h"

namespace sluice {

bool cubIsBuiltIn()
{
#ifdef SLUICE_BENCH_CUB
    return true;
#else
    return false;
#endif
}

#ifdef SLUICE_BENCH_CUB
namespace {

#if CUB_MAJOR_VERSION >= 3
using Minimum = cuda::minimum<>;
using Maximum = cuda::maximum<>;
#else
using Minimum = cub::Min;
using Maximum = cub::Max;
#endif

template <typename T>
struct IsBelow {
    T bound;
    __device__ bool operator()(T value) const { return value < bound; }
};

template <typename T>
struct IsNotZero {
    __device__ bool operator()(T value) const { return value != 0; }
};

struct KeysEqual {
    __device__ bool operator()(uint32_t a, uint32_t b) const { return a == b; }
};

struct BitOf {
    const uint32_t* words;
    __device__ bool operator()(uint32_t i) const { return (words[i / 32] >> i % 32 & 1) != 0; }
};

using Counting = thrust::counting_iterator<uint32_t>;

thrust::transform_iterator<BitOf, Counting> maskFlags(const CubCall& call)
{
    return thrust::make_transform_iterator(Counting(0),
                                           BitOf{pointerFrom<uint32_t>(call.selectors)});
}

// A fill writes runs of equal elements. CUB takes three functions of a run's index: an iterator
// that repeats the run's element, the address where the run begins in the output, and its length.
template <typename T>
struct RunSource {
    const T* values;
    __device__ thrust::constant_iterator<T> operator()(uint32_t i) const
    {
        return thrust::constant_iterator<T>(values[i]);
    }
};
template <typename T>
struct RunTarget {
    T* output;
    const uint32_t* offsets;
    __device__ T* operator()(uint32_t i) const { return output + offsets[i]; }
};
struct RunLength {
    const uint32_t* offsets;
    __device__ uint32_t operator()(uint32_t i) const { return offsets[i + 1] - offsets[i]; }
};

// Calls a function of CUB. As with CUB itself, scratch == nullptr only asks for the size of the
// scratch, which `size` receives.
struct Caller {
    const CubCall& call;
    void* scratch;
    size_t& size;
    cudaStream_t stream;

    template <typename T>
    cudaError_t sum() const
    {
        const T* in = pointerFrom<T>(call.input);
        T* out = pointerFrom<T>(call.output);
        switch (call.kind) {
        case CubKind::ExclusiveScan:
            return cub::DeviceScan::ExclusiveSum(scratch, size, in, out, call.count, stream);
        case CubKind::InclusiveScan:
            return cub::DeviceScan::InclusiveSum(scratch, size, in, out, call.count, stream);
        default: return cub::DeviceReduce::Sum(scratch, size, in, out, call.count, stream);
        }
    }
    template <typename T>
    cudaError_t sumByKey() const
    {
        const uint32_t* keys = pointerFrom<uint32_t>(call.selectors);
        return cub::DeviceScan::ExclusiveSumByKey(scratch, size, keys, pointerFrom<T>(call.input),
                                                  pointerFrom<T>(call.output), call.count,
                                                  KeysEqual{}, stream);
    }
    template <typename T, typename Operation>
    cudaError_t extreme(T identity) const
    {
        const T* in = pointerFrom<T>(call.input);
        T* out = pointerFrom<T>(call.output);
        if (call.kind == CubKind::Reduce)
            return cub::DeviceReduce::Reduce(scratch, size, in, out, call.count, Operation{},
                                             identity, stream);
        return cub::DeviceScan::ExclusiveScan(scratch, size, in, out, Operation{}, identity,
                                              call.count, stream);
    }
    cudaError_t combined() const
    {
        const bool isSum = call.operation == SLUICE_OPERATION_SUM,
                   isMin = call.operation == SLUICE_OPERATION_MIN;
        switch (call.type) {
        case SLUICE_VALUE_U32:
            return isSum   ? sum<uint32_t>()
                   : isMin ? cudaErrorInvalidValue
                           : extreme<uint32_t, Maximum>(0);
        case SLUICE_VALUE_I32:
            return isMin ? extreme<int32_t, Minimum>(INT32_MAX) : cudaErrorInvalidValue;
        case SLUICE_VALUE_U64:
            return isSum   ? sum<uint64_t>()
                   : isMin ? cudaErrorInvalidValue
                           : extreme<uint64_t, Maximum>(0);
        case SLUICE_VALUE_F32:
            return isSum   ? sum<float>()
                   : isMin ? extreme<float, Minimum>(INFINITY)
                           : cudaErrorInvalidValue;
        default: return cudaErrorInvalidValue;
        }
    }

    template <typename T>
    cudaError_t selectFlags() const
    {
        const uint8_t* flags = pointerFrom<uint8_t>(call.selectors);
        return cub::DeviceSelect::Flagged(scratch, size, pointerFrom<T>(call.input), flags,
                                          pointerFrom<T>(call.output), kept(), call.count, stream);
    }
    template <typename T>
    cudaError_t selectMask() const
    {
        return cub::DeviceSelect::Flagged(scratch, size, pointerFrom<T>(call.input),
                                          maskFlags(call), pointerFrom<T>(call.output), kept(),
                                          call.count, stream);
    }
    template <typename T>
    cudaError_t selectLess(T bound) const
    {
        return cub::DeviceSelect::If(scratch, size, pointerFrom<T>(call.input),
                                     pointerFrom<T>(call.output), kept(), call.count,
                                     IsBelow<T>{bound}, stream);
    }
    template <typename T>
    cudaError_t fill() const
    {
        const uint32_t* offsets = pointerFrom<uint32_t>(call.selectors);
        const Counting all(0);
        return cub::DeviceCopy::Batched(
            scratch, size,
            thrust::make_transform_iterator(all, RunSource<T>{pointerFrom<T>(call.input)}),
            thrust::make_transform_iterator(all,
                                            RunTarget<T>{pointerFrom<T>(call.output), offsets}),
            thrust::make_transform_iterator(all, RunLength{offsets}), call.count, stream);
    }

    cudaError_t operator()() const
    {
        uint32_t* words = pointerFrom<uint32_t>(call.input);
        uint32_t* output = pointerFrom<uint32_t>(call.output);
        uint32_t* indices = pointerFrom<uint32_t>(call.indices);
        const uint32_t bound = uint32_t(call.bound);
        switch (call.kind) {
        case CubKind::ExclusiveScan:
        case CubKind::InclusiveScan:
        case CubKind::Reduce: return combined();
        case CubKind::ScanByKey:
            return call.type == SLUICE_VALUE_F32 ? sumByKey<float>() : sumByKey<uint32_t>();
        case CubKind::SelectFlags: return selectFlags<uint32_t>();
        case CubKind::SelectMask:
            switch (call.elementSize) {
            case 1: return selectMask<uint8_t>();
            case 2: return selectMask<uint16_t>();
            case 4: return selectMask<uint32_t>();
            case 8: return selectMask<uint64_t>();
            default: return selectMask<uint4>();
            }
        case CubKind::SelectMaskInPlace:
            return cub::DeviceSelect::Flagged(scratch, size, words, maskFlags(call), kept(),
                                              call.count, stream);
        case CubKind::SelectMaskIndices:
            return cub::DeviceSelect::Flagged(scratch, size, Counting(0), maskFlags(call), indices,
                                              kept(), call.count, stream);
        case CubKind::SelectMaskBoth:
            return cub::DeviceSelect::Flagged(
                scratch, size, thrust::make_zip_iterator(thrust::make_tuple(words, Counting(0))),
                maskFlags(call), thrust::make_zip_iterator(thrust::make_tuple(output, indices)),
                kept(), call.count, stream);
        case CubKind::SelectLess:
            switch (call.type) {
            case SLUICE_VALUE_U8: return selectLess<uint8_t>(uint8_t(bound));
            case SLUICE_VALUE_U16: return selectLess<uint16_t>(uint16_t(bound));
            case SLUICE_VALUE_I32: return selectLess<int32_t>(int32_t(bound));
            case SLUICE_VALUE_U64: return selectLess<uint64_t>(call.bound);
            // The benchmark compares f32 with 0 only.
            case SLUICE_VALUE_F32: return selectLess<float>(0);
            default: return selectLess<uint32_t>(bound);
            }
        case CubKind::SelectNonZero:
            return cub::DeviceSelect::If(scratch, size, words, output, kept(), call.count,
                                         IsNotZero<uint32_t>{}, stream);
        case CubKind::SelectUnique:
            return cub::DeviceSelect::Unique(scratch, size, words, output, kept(), call.count,
                                             stream);
        case CubKind::PartitionLess:
            return cub::DevicePartition::If(scratch, size, words, output, kept(), call.count,
                                            IsBelow<uint32_t>{bound}, stream);
        case CubKind::Copies:
            return cub::DeviceMemcpy::Batched(
                scratch, size, pointerFrom<void*>(call.input), pointerFrom<void*>(call.output),
                pointerFrom<uint32_t>(call.selectors), call.count, stream);
        case CubKind::Fills:
            switch (call.elementSize) {
            case 1: return fill<uint8_t>();
            case 2: return fill<uint16_t>();
            case 4: return fill<uint32_t>();
            case 8: return fill<uint64_t>();
            default: return fill<uint4>();
            }
        }
        return cudaErrorInvalidValue;
    }

private:
    uint32_t* kept() const { return pointerFrom<uint32_t>(call.resultCount); }
};

void callCub(const CubCall& call, void* scratch, size_t& size, cudaStream_t stream)
{
    requireCuda(Caller{call, scratch, size, stream}(), "CUB");
}

} // namespace

uint64_t cubScratchSize(const CubCall& call)
{
    size_t size = 0;
    callCub(call, nullptr, size, nullptr);
    return size;
}

void recordCub(SluiceCommands commands, const CubCall& call)
{
    size_t size = call.scratch.size;
    callCub(call, pointerFrom<void>(call.scratch), size, streamFrom(commands));
}
#else
uint64_t cubScratchSize(const CubCall&) { return 0; }
void recordCub(SluiceCommands, const CubCall&)
{
    throw Failure{exitUnsupported, "built without CUB"};
}
#endif

} // namespace sluice
