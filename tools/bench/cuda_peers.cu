// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls of the CUDA runtime: plain copies, with which rows are compared, and graphs.
#include <memory>

#include "tools/bench/cuda_calls.h"

namespace sluice {
namespace {

constexpr uint32_t kCopyThreads = 256;

__global__ void __launch_bounds__(kCopyThreads)
    copyKernel(uint4* to, const uint4* from, uint64_t count)
{
    const uint64_t index = uint64_t(blockIdx.x) * kCopyThreads + threadIdx.x;
    if (index < count) to[index] = from[index];
}

} // namespace

std::vector<Copier> makeCudaCopiers()
{
    const auto kernel = [](SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) {
        const uint64_t count = from.size / 16;
        const uint32_t blocks = uint32_t((count + kCopyThreads - 1) / kCopyThreads);
        copyKernel<<<blocks, kCopyThreads, 0, streamFrom(commands)>>>(
            pointerFrom<uint4>(to), pointerFrom<uint4>(from), count);
        requireCuda(cudaGetLastError(), "copy kernel");
    };
    const auto memcpyAsync = [](SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) {
        requireCuda(cudaMemcpyAsync(pointerFrom<void>(to), pointerFrom<void>(from), from.size,
                                    cudaMemcpyDeviceToDevice, streamFrom(commands)),
                    "cudaMemcpyAsync");
    };
    return {{"kernel, 16 bytes a thread", kernel}, {"cudaMemcpyAsync", memcpyAsync}};
}

BenchDevice::RecordRun captureCudaGraph(const BenchDevice::RecordRun& record)
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
