// SPDX-License-Identifier: MIT OR Apache-2.0
// The peers that need CUDA itself: plain copies, and work in graphs.
#include <cuda_runtime.h>

#include "peers.h"

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

__global__ void __launch_bounds__(kCopyThreads)
    copyKernel(uint4* to, const uint4* from, uint64_t count)
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
        copyKernel<<<blocks, kCopyThreads, 0, streamFrom(commands)>>>(
            pointerFrom<uint4>(to), pointerFrom<uint4>(from), count);
        requireCuda(cudaGetLastError(), "copy kernel");
    }
};

class MemcpyCopier final : public Copier {
public:
    const char* name() const override { return "cudaMemcpyAsync"; }
    void record(SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) override
    {
        requireCuda(cudaMemcpyAsync(pointerFrom<void>(to), pointerFrom<void>(from), from.size,
                                    cudaMemcpyDeviceToDevice, streamFrom(commands)),
                    "cudaMemcpyAsync");
    }
};

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
    const std::shared_ptr<CUgraphExec_st> shared(
        executable, [](cudaGraphExec_t one) { cudaGraphExecDestroy(one); });
    return [shared](SluiceCommands commands, uint32_t) {
        requireCuda(cudaGraphLaunch(shared.get(), streamFrom(commands)), "cudaGraphLaunch");
    };
}

} // namespace sluice
