// SPDX-License-Identifier: MIT OR Apache-2.0
// The peers that need CUDA: plain copies, and CUB where the toolkit has it.
#include <cuda_runtime.h>

#if __has_include(<cub/cub.cuh>)
#include <cub/cub.cuh>
#define SLUICE_BENCH_CUB 1
#endif

#include "bench_peers.h"

namespace sluice {
namespace {

cudaStream_t streamFrom(SluiceCommands commands)
{
    return reinterpret_cast<cudaStream_t>(commands);
}

template <typename T>
T* pointerFrom(const SluiceBuffer& buffer)
{
    return reinterpret_cast<T*>(static_cast<uintptr_t>(buffer.handle + buffer.offset));
}

void requireCuda(cudaError_t error, const char* what)
{
    if (error != cudaSuccess) {
        throw Failure{exitDevice, std::string(what) + ": " + cudaGetErrorString(error)};
    }
}

constexpr uint32_t kCopyThreads = 256;

__global__ void __launch_bounds__(kCopyThreads) copyKernel(uint4* to, const uint4* from, uint64_t count)
{
    const uint64_t index = static_cast<uint64_t>(blockIdx.x) * kCopyThreads + threadIdx.x;
    if (index < count) to[index] = from[index];
}

class KernelCopier final : public Copier {
public:
    const char* name() const override { return "kernel, 16 bytes a thread"; }
    void record(SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) override
    {
        const uint64_t count = from.size / 16;
        const uint32_t blocks = static_cast<uint32_t>((count + kCopyThreads - 1) / kCopyThreads);
        copyKernel<<<blocks, kCopyThreads, 0, streamFrom(commands)>>>(pointerFrom<uint4>(to), pointerFrom<uint4>(from),
                                                                      count);
        requireCuda(cudaGetLastError(), "copy kernel");
    }
};

class MemcpyCopier final : public Copier {
public:
    const char* name() const override { return "cudaMemcpyAsync"; }
    void record(SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) override
    {
        requireCuda(cudaMemcpyAsync(pointerFrom<void>(to), pointerFrom<void>(from), from.size, cudaMemcpyDeviceToDevice,
                                    streamFrom(commands)),
                    "cudaMemcpyAsync");
    }
};

#ifdef SLUICE_BENCH_CUB
struct IsBelow {
    uint32_t bound;
    __device__ bool operator()(uint32_t value) const { return value < bound; }
};

// CUB's two-phase call: with scratch == nullptr it only sets scratchSize.
cudaError_t callCub(const CubCall& call, void* scratch, size_t& scratchSize, cudaStream_t stream)
{
    const uint32_t* input = pointerFrom<uint32_t>(call.input);
    uint32_t* output = pointerFrom<uint32_t>(call.output);
    uint32_t* resultCount = pointerFrom<uint32_t>(call.resultCount);
    const uint32_t count = call.count;
    switch (call.kind) {
    case CubKind::ExclusiveSum:
        return cub::DeviceScan::ExclusiveSum(scratch, scratchSize, input, output, count, stream);
    case CubKind::SelectBytes:
        return cub::DeviceSelect::Flagged(scratch, scratchSize, input, pointerFrom<uint8_t>(call.flags), output,
                                          resultCount, count, stream);
    case CubKind::SelectLess:
        return cub::DeviceSelect::If(scratch, scratchSize, input, output, resultCount, count, IsBelow{call.bound},
                                     stream);
    case CubKind::SelectUnique:
        return cub::DeviceSelect::Unique(scratch, scratchSize, input, output, resultCount, count, stream);
    case CubKind::PartitionLess:
        return cub::DevicePartition::If(scratch, scratchSize, input, output, resultCount, count, IsBelow{call.bound},
                                        stream);
    }
    return cudaErrorInvalidValue;
}
#endif

} // namespace

std::vector<std::unique_ptr<Copier>> makeCudaCopiers()
{
    std::vector<std::unique_ptr<Copier>> copiers;
    copiers.push_back(std::make_unique<KernelCopier>());
    copiers.push_back(std::make_unique<MemcpyCopier>());
    return copiers;
}

BenchDevice::Record captureCudaGraph(const BenchDevice::Record& record)
{
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    requireCuda(cudaStreamCreate(&stream), "cudaStreamCreate");
    requireCuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    record(reinterpret_cast<SluiceCommands>(stream), 0);
    requireCuda(cudaStreamEndCapture(stream, &graph), "capture");
    requireCuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    const std::shared_ptr<CUgraphExec_st> shared(executable, [](cudaGraphExec_t one) { cudaGraphExecDestroy(one); });
    return [shared](SluiceCommands commands, uint32_t) {
        requireCuda(cudaGraphLaunch(shared.get(), streamFrom(commands)), "cudaGraphLaunch");
    };
}

#ifdef SLUICE_BENCH_CUB
bool cubIsBuiltIn()
{
    return true;
}

uint64_t cubScratchSize(CubKind kind, uint32_t count)
{
    CubCall call;
    call.kind = kind;
    call.count = count;
    size_t size = 0;
    requireCuda(callCub(call, nullptr, size, nullptr), "CUB scratch size");
    return size;
}

void recordCub(SluiceCommands commands, const CubCall& call)
{
    size_t scratchSize = call.scratch.size;
    requireCuda(callCub(call, pointerFrom<void>(call.scratch), scratchSize, streamFrom(commands)), "CUB");
}

uint64_t cubBatchedScratchSize(uint32_t count)
{
    size_t size = 0;
    requireCuda(cub::DeviceMemcpy::Batched(nullptr, size, static_cast<void**>(nullptr), static_cast<void**>(nullptr),
                                           static_cast<uint32_t*>(nullptr), count),
                "CUB scratch size");
    return size;
}

void recordCubBatched(SluiceCommands commands, uint32_t count, SluiceBuffer sources, SluiceBuffer targets,
                      SluiceBuffer sizes, SluiceBuffer scratch)
{
    size_t size = scratch.size;
    requireCuda(cub::DeviceMemcpy::Batched(pointerFrom<void>(scratch), size, pointerFrom<void*>(sources),
                                           pointerFrom<void*>(targets), pointerFrom<uint32_t>(sizes), count,
                                           streamFrom(commands)),
                "CUB");
}
#else
bool cubIsBuiltIn()
{
    return false;
}
uint64_t cubBatchedScratchSize(uint32_t)
{
    return 0;
}
void recordCubBatched(SluiceCommands, uint32_t, SluiceBuffer, SluiceBuffer, SluiceBuffer, SluiceBuffer)
{
    throw Failure{exitUnsupported, "built without CUB"};
}
uint64_t cubScratchSize(CubKind, uint32_t)
{
    return 0;
}
void recordCub(SluiceCommands, const CubCall&)
{
    throw Failure{exitUnsupported, "built without CUB"};
}
#endif

} // namespace sluice
