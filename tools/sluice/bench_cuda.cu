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
struct IsNotZero {
    __device__ bool operator()(uint32_t value) const { return value != 0; }
};

// CUB's two-phase call: with scratch == nullptr it only sets scratchSize.
cudaError_t callCub(CubKind kind, void* scratch, size_t& scratchSize, uint32_t count, const uint32_t* input,
                    const uint32_t* flags, uint32_t* output, uint32_t* resultCount, cudaStream_t stream)
{
    switch (kind) {
    case CubKind::ExclusiveSum:
        return cub::DeviceScan::ExclusiveSum(scratch, scratchSize, input, output, count, stream);
    case CubKind::SelectFlagged:
        return cub::DeviceSelect::Flagged(scratch, scratchSize, input, flags, output, resultCount, count, stream);
    case CubKind::SelectNonZero:
        return cub::DeviceSelect::If(scratch, scratchSize, input, output, resultCount, count, IsNotZero(), stream);
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

#ifdef SLUICE_BENCH_CUB
bool cubIsBuiltIn()
{
    return true;
}

uint64_t cubScratchSize(CubKind kind, uint32_t count)
{
    size_t size = 0;
    requireCuda(callCub(kind, nullptr, size, count, nullptr, nullptr, nullptr, nullptr, nullptr), "CUB scratch size");
    return size;
}

void recordCub(SluiceCommands commands, CubKind kind, uint32_t count, SluiceBuffer input, SluiceBuffer flags,
               SluiceBuffer output, SluiceBuffer resultCount, SluiceBuffer scratch)
{
    size_t scratchSize = scratch.size;
    requireCuda(callCub(kind, pointerFrom<void>(scratch), scratchSize, count, pointerFrom<uint32_t>(input),
                        pointerFrom<uint32_t>(flags), pointerFrom<uint32_t>(output), pointerFrom<uint32_t>(resultCount),
                        streamFrom(commands)),
                "CUB");
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
void recordCub(SluiceCommands, CubKind, uint32_t, SluiceBuffer, SluiceBuffer, SluiceBuffer, SluiceBuffer, SluiceBuffer)
{
    throw Failure{exitUnsupported, "built without CUB"};
}
#endif

} // namespace sluice
