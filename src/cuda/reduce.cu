// SPDX-License-Identifier: MIT OR Apache-2.0
// Reductions: each block combines its share of the input, and the last block to finish writes the
// result of all. No block waits for another. f32 sums are always added in the same order. This file
// also has the first half of an f32 scan: it leaves in scratch the sum of all elements before each
// tile.
//
// shaders/lib/reduce_main.glsl does the same without 64-bit atomics: each workgroup leaves a
// partial result, whatever its type is. Here blocks add sums of 32-bit integers to one 64-bit word,
// which also counts the blocks; that makes a short call 0.7 us faster. Maxima and 64-bit sums are
// combined by atomics too, in one word, beside a word that counts the blocks.
#include "cuda/kernels.h"
#include "cuda/lib/launch.cuh"
#include "cuda/lib/scan_tile.cuh"
#include "cuda/tuning.h"

#include <cstddef>
#include <type_traits>

namespace sluice {
namespace {

// The first words of scratch, as these kernels use them.
struct ReduceHead {
    uint32_t done;
    uint32_t sum; // for sums of 32-bit integers; `done` and `sum` are one 64-bit word
    uint32_t reserved[2];
    // The result of maxima and 64-bit sums. For f32 sums, the list of partial results begins here.
    unsigned long long all;
};
static_assert(offsetof(ReduceHead, all) == SLUICE_LOOKBACK_HEAD, "partial results begin there");

// Adds to a counter and returns its previous value. A thread that sees the new value also sees
// everything that this thread has written before.
__device__ inline uint32_t addInOrder(uint32_t* counter, uint32_t value)
{
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(counter), "r"(value)
                 : "memory");
    return before;
}

// Counts a block that has left its partial result in scratch. Returns true in all threads of the
// last such block, which then sees the results of all blocks.
__device__ bool isLast(const ScanParams& params)
{
    __shared__ uint32_t done;
    if (threadIdx.x == 0) done = addInOrder(&pointerFrom<ReduceHead>(params.scratch)->done, 1);
    __syncthreads();
    return done + 1 == gridDim.x;
}

// -----------------------------------------------------------------------------------------------
// Reduction

// Returns true if the command is so short that programmatic dependent launch pays.
__host__ __device__ inline bool isShort(const ScanParams& params)
{
    return params.maxCount <= kShortReduceElements;
}

// Returns what Op combines for an element: its key if Op computes maxima of keys (scan_tile.cuh),
// otherwise the element itself. `Float` means that keys are made from f32.
template <typename Op, bool Float>
__device__ typename Op::Value keyOf(typename Op::Value value, const ScanParams& params)
{
    if constexpr (Float) {
        value = encodeFloatKey(value, params);
    } else if constexpr (Op::kIsKey) {
        value = encodeIntegerKey(value, params);
    }
    return value;
}

// Sixteen bytes of elements.
template <typename Op, bool Float>
struct Unit {
    typename Op::Value x[16 / sizeof(typename Op::Value)];

    __device__ typename Op::Value combined(const ScanParams& params) const
    {
        typename Op::Value result = Op::identity();
#pragma unroll
        for (uint32_t i = 0; i < sizeof x / sizeof x[0]; ++i)
            result = Op::combine(result, keyOf<Op, Float>(x[i], params));
        return result;
    }
};

// Returns the combined value of all elements that this thread takes. A round is kReduceLoads units
// of 16 bytes for each thread of a block; the block takes every gridDim.x-th round. The block that
// takes the incomplete last round also takes the elements before the first unit and behind the last
// one.
template <typename Op, bool Float>
__device__ typename Op::Value shareValue(const ScanParams& params)
{
    using Value = typename Op::Value;
    constexpr uint32_t perUnit = 16 / sizeof(Value);
    const Value* input = pointerFrom<const Value>(params.input_);
    const uint32_t count = elementCount(params);
    const uint32_t before =
        min(count, (16 - (params.input_.lo & 15)) / static_cast<uint32_t>(sizeof(Value)) % perUnit);
    const uint32_t units = (count - before) / perUnit, behind = before + units * perUnit;
    const uint4* from = reinterpret_cast<const uint4*>(input + before);

    Value own[kReduceLoads];
#pragma unroll
    for (uint32_t i = 0; i < kReduceLoads; ++i)
        own[i] = Op::identity();
    constexpr uint32_t round = kReduceThreads * kReduceLoads;
    const uint32_t rounds = units / round;
    for (uint32_t r = blockIdx.x; r < rounds; r += gridDim.x) {
        const uint4* at = from + (static_cast<uint64_t>(r) * round + threadIdx.x);
        uint4 loaded[kReduceLoads];
#pragma unroll
        for (uint32_t i = 0; i < kReduceLoads; ++i)
            loaded[i] = __ldcs(at + i * kReduceThreads);
#pragma unroll
        for (uint32_t i = 0; i < kReduceLoads; ++i)
            own[i] = Op::combine(
                own[i], reinterpret_cast<const Unit<Op, Float>&>(loaded[i]).combined(params));
    }
    // This block takes the incomplete last round.
    if (blockIdx.x == rounds % gridDim.x) {
        uint4 loaded[kReduceLoads];
#pragma unroll
        for (uint32_t i = 0; i < kReduceLoads; ++i) {
            const uint32_t unit = rounds * round + i * kReduceThreads + threadIdx.x;
            if (unit < units) loaded[i] = __ldcs(from + unit);
        }
#pragma unroll
        for (uint32_t i = 0; i < kReduceLoads; ++i) {
            const uint32_t unit = rounds * round + i * kReduceThreads + threadIdx.x;
            if (unit < units)
                own[i] = Op::combine(
                    own[i], reinterpret_cast<const Unit<Op, Float>&>(loaded[i]).combined(params));
        }
        const uint32_t edge = threadIdx.x < before ? threadIdx.x : threadIdx.x - before + behind;
        if (edge < count && (threadIdx.x < before || edge >= behind))
            own[0] = Op::combine(own[0], keyOf<Op, Float>(input[edge], params));
    }
#pragma unroll
    for (uint32_t i = 1; i < kReduceLoads; ++i)
        own[0] = Op::combine(own[0], own[i]);
    return own[0];
}

// Returns the combination of all threads' values; it is valid in warp 0. The whole block calls
// this.
template <typename Op>
__device__ typename Op::Value blockValue(typename Op::Value own)
{
    constexpr uint32_t warps = kReduceThreads / kWarpSize;
    __shared__ typename Op::Value values[warps];
    const typename Op::Value ofWarp = warpRun(Run<Op, false>{own}).value;
    // After this barrier all threads have read the values of an earlier call.
    __syncthreads();
    if (laneIndex() == 0) values[warpIndex()] = ofWarp;
    __syncthreads();
    if (warpIndex() != 0) return Op::identity();
    return warpRun(Run<Op, false>{laneIndex() < warps ? values[laneIndex()] : Op::identity()})
        .value;
}

// Combines the block's value `all` with those of the other blocks. Returns true only in thread 0 of
// the block that ends last; in that thread, `all` is the result of all blocks.
template <typename Op>
__device__ bool combineBlocks(const ScanParams& params, typename Op::Value& all)
{
    using Value = typename Op::Value;
    ReduceHead* head = pointerFrom<ReduceHead>(params.scratch);
    // f32 sums depend on the order of the additions, so the last block adds up partial results.
    if constexpr (std::is_same<Op, Sum<float>>::value) {
        if (threadIdx.x == 0) storePartial(params, blockIdx.x, Run<Op, false>{all});
        if (!isLast(params)) return false;
        Value own = Op::identity();
        for (uint32_t index = threadIdx.x; index < gridDim.x; index += kReduceThreads) {
            own = Op::combine(own, loadPartial<Op, false>(params, index).value);
            // Every command must leave scratch zero, for the next one.
            storePartial(params, index, Run<Op, false>());
        }
        all = blockValue<Op>(own);
        if (threadIdx.x == 0) head->done = 0;
        return threadIdx.x == 0;
    } else if constexpr (std::is_same<Op, Sum<uint32_t>>::value) {
        if (threadIdx.x != 0) return false;
        const unsigned long long before = atomicAdd(reinterpret_cast<unsigned long long*>(head),
                                                    static_cast<unsigned long long>(all) << 32 | 1);
        if (static_cast<uint32_t>(before) + 1 != gridDim.x) return false;
        all += static_cast<Value>(before >> 32);
        *reinterpret_cast<unsigned long long*>(head) = 0;
        return true;
    } else {
        if (threadIdx.x != 0) return false;
        if constexpr (Op::kIsKey) {
            atomicMax(&head->all, static_cast<unsigned long long>(all));
        } else {
            atomicAdd(&head->all, static_cast<unsigned long long>(all));
        }
        if (addInOrder(&head->done, 1) + 1 != gridDim.x) return false;
        all = static_cast<Value>(atomicExch(&head->all, 0ull));
        head->done = 0;
        return true;
    }
}

template <typename Op, bool Float>
__global__ void __launch_bounds__(kReduceThreads)
    reduceKernel(const __grid_constant__ ScanParams params)
{
    waitForPreviousLaunch();
    if (isShort(params)) letNextLaunchBegin();
    typename Op::Value all = blockValue<Op>(shareValue<Op, Float>(params));
    if (gridDim.x == 1 ? threadIdx.x == 0 : combineBlocks<Op>(params, all))
        storeResult<Op>(params, all);
}

// -----------------------------------------------------------------------------------------------
// The first half of an f32 scan

// One block turns partial results into prefixes: it replaces each one by the combination of all
// partial results before it.
template <typename Op, bool Segmented>
__device__ void scanPartials(const ScanParams& params,
                             typename ScanTile<Op, Segmented>::Shared& shared)
{
    using OneRun = Run<Op, Segmented>;
    OneRun carry;
    for (uint32_t start = 0; start < gridDim.x; start += kScanThreads) {
        const uint32_t index = start + threadIdx.x;
        const bool exists = index < gridDim.x;
        OneRun own, warpTotal, total;
        if (exists) own = loadPartial<Op, Segmented>(params, index);
        const OneRun before = warpExclusiveRun(own, warpTotal);
        const OneRun warpsBefore = blockRunsBefore(warpTotal, shared, total);
        if (exists) storePartial(params, index, join(join(carry, warpsBefore), before));
        carry = join(carry, total);
    }
}

template <bool Segmented>
__global__ void __launch_bounds__(kScanThreads)
    partialsKernel(const __grid_constant__ ScanParams params)
{
    using Op = Sum<float>;
    __shared__ typename ScanTile<Op, Segmented>::Shared shared;
    const ScanTile<Op, Segmented> tile(params, blockIdx.x, elementCount(params));
    const Run<Op, Segmented> run = tile.run(shared);
    if (threadIdx.x == 0) storePartial(params, blockIdx.x, run);
    if (!isLast(params)) return;
    scanPartials<Op, Segmented>(params, shared);
    if (threadIdx.x == 0) pointerFrom<ReduceHead>(params.scratch)->done = 0;
}

using ReduceKernel = void (*)(ScanParams);

ReduceKernel kernelFor(ScanOperation operation, bool isFloat)
{
    switch (operation) {
    case ScanOperation::maxU32:
        return isFloat ? reduceKernel<Max<uint32_t>, true> : reduceKernel<Max<uint32_t>, false>;
    case ScanOperation::sumU64: return reduceKernel<Sum<uint64_t>, false>;
    case ScanOperation::maxU64: return reduceKernel<Max<uint64_t>, false>;
    case ScanOperation::sumF32: return reduceKernel<Sum<float>, false>;
    default: return reduceKernel<Sum<uint32_t>, false>;
    }
}

} // namespace

cudaError_t loadReduce(CudaTraits&)
{
    for (uint32_t i = 0; i < 2 * kScanOperations; ++i) {
        const cudaError_t error = load(kernelFor(static_cast<ScanOperation>(i / 2), i % 2 != 0));
        if (error != cudaSuccess) return error;
    }
    const cudaError_t error = load(partialsKernel<false>);
    return error != cudaSuccess ? error : load(partialsKernel<true>);
}

uint64_t reduceRounds(uint64_t bytes)
{
    constexpr uint32_t roundBytes = kReduceThreads * kReduceLoads * 16;
    return (bytes + roundBytes - 1) / roundBytes;
}

cudaError_t launchReduce(cudaStream_t stream, const ScanParams& params, ScanOperation operation,
                         bool programmatic)
{
    return launch(stream, kernelFor(operation, params.isFloat != 0), params.workgroups,
                  kReduceThreads, params, 0, programmatic && isShort(params));
}

cudaError_t launchPartials(cudaStream_t stream, const ScanParams& params)
{
    const bool segmented = u64From(params.heads) != 0;
    return launch(stream, segmented ? partialsKernel<true> : partialsKernel<false>,
                  params.workgroups, kScanThreads, params);
}

} // namespace sluice
