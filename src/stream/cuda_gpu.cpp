// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies and completion on CUDA streams.
#include <sluice/sluice_stream_cuda.h>

#include "stream/gpu.h"

#ifdef SLUICE_HAVE_CUDA

#include <mutex>
#include <new>
#include <vector>

#include <cuda_runtime_api.h>

namespace {

// Makes a device current, and restores the previous one at the end of the scope.
class CurrentDevice {
public:
    explicit CurrentDevice(int device)
    {
        m_isGood = cudaGetDevice(&m_before) == cudaSuccess && cudaSetDevice(device) == cudaSuccess;
    }
    ~CurrentDevice()
    {
        if (m_isGood) (void)cudaSetDevice(m_before);
    }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;
    bool isGood() const { return m_isGood; }

private:
    int m_before = 0;
    bool m_isGood = false;
};

class CudaGpu final : public SluiceStreamGpu {
public:
    explicit CudaGpu(int device) : m_device(device) {}

    SluiceStatus begin(uint32_t batches, uint32_t& id) override;
    void end(uint32_t id) override;
    void timestamp(SluiceCommands commands, uint32_t id, uint32_t batch, bool isEnd) override;
    bool milliseconds(uint32_t id, uint32_t batch, double& result) override;
    SluiceStatus batchDone(uint32_t id, uint32_t batch, bool& isDone) override;
    SluiceStatus copyToBuffer(SluiceCommands commands, uint64_t from, uint64_t fromOffset,
                              const SluiceBuffer& to) override;
    bool isImmediate() const override { return true; }
    bool hasImages() const override { return false; }
    bool hasSemaphores() const override { return false; }

    // A stream runs its work in order, so no barrier is needed.
    void barrierBefore(SluiceCommands) override {}
    void barrierToCopies(SluiceCommands) override {}
    void barrierAfter(SluiceCommands) override {}
    // These are never called, because hasImages and hasSemaphores return false.
    void beginImages(SluiceCommands, const sluice::stream::ImageBegin*, uint32_t) override {}
    void endImages(SluiceCommands, const SluiceStreamImage* const*, uint32_t) override {}
    void copyToImage(SluiceCommands, const sluice::stream::ImageCopy&) override {}
    SluiceStatus semaphoreValue(uint64_t, uint64_t&) override { return SLUICE_ERROR_UNSUPPORTED; }
    SluiceStatus signal(uint64_t, uint64_t) override { return SLUICE_ERROR_UNSUPPORTED; }

private:
    struct Events {
        cudaEvent_t begin = nullptr, end = nullptr;
        bool hasFailed = false; // a part of the batch could not be enqueued
    };
    static cudaStream_t of(SluiceCommands commands)
    {
        return reinterpret_cast<cudaStream_t>(commands);
    }
    static void destroy(std::vector<Events>& events);

    const int m_device;
    std::mutex m_mutex;
    std::vector<Events> m_events[kMaxStreamers]; // for each streamer, one entry per batch
};

void CudaGpu::destroy(std::vector<Events>& events)
{
    for (const Events& one : events) {
        if (one.begin != nullptr) (void)cudaEventDestroy(one.begin);
        if (one.end != nullptr) (void)cudaEventDestroy(one.end);
    }
    events.clear();
}

SluiceStatus CudaGpu::begin(uint32_t batches, uint32_t& id)
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    const CurrentDevice current(m_device);
    if (!current.isGood()) return SLUICE_ERROR_DEVICE;
    id = 0;
    while (id < kMaxStreamers && !m_events[id].empty())
        ++id;
    if (id == kMaxStreamers) return SLUICE_ERROR_OUT_OF_MEMORY;
    m_events[id].resize(batches);
    for (Events& one : m_events[id]) {
        if (cudaEventCreate(&one.begin) == cudaSuccess && cudaEventCreate(&one.end) == cudaSuccess)
            continue;
        (void)cudaGetLastError();
        destroy(m_events[id]);
        return SLUICE_ERROR_DEVICE;
    }
    return SLUICE_OK;
}

void CudaGpu::end(uint32_t id)
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    const CurrentDevice current(m_device);
    destroy(m_events[id]);
}

void CudaGpu::timestamp(SluiceCommands commands, uint32_t id, uint32_t batch, bool isEnd)
{
    Events& events = m_events[id][batch];
    if (!isEnd) events.hasFailed = false;
    if (cudaEventRecord(isEnd ? events.end : events.begin, of(commands)) == cudaSuccess) return;
    (void)cudaGetLastError();
    events.hasFailed = true;
}

bool CudaGpu::milliseconds(uint32_t id, uint32_t batch, double& result)
{
    float time = 0;
    const Events& events = m_events[id][batch];
    if (cudaEventElapsedTime(&time, events.begin, events.end) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    result = double(time);
    return true;
}

SluiceStatus CudaGpu::batchDone(uint32_t id, uint32_t batch, bool& isDone)
{
    const Events& events = m_events[id][batch];
    if (events.hasFailed) return SLUICE_ERROR_DEVICE;
    const cudaError_t error = cudaEventQuery(events.end);
    isDone = error == cudaSuccess;
    if (isDone) return SLUICE_OK;
    (void)cudaGetLastError();
    return error == cudaErrorNotReady ? SLUICE_OK : SLUICE_ERROR_DEVICE;
}

SluiceStatus CudaGpu::copyToBuffer(SluiceCommands commands, uint64_t from, uint64_t fromOffset,
                                   const SluiceBuffer& to)
{
    const cudaError_t error =
        cudaMemcpyAsync(reinterpret_cast<void*>(uintptr_t(to.handle + to.offset)),
                        reinterpret_cast<const void*>(uintptr_t(from + fromOffset)),
                        size_t(to.size), cudaMemcpyDefault, of(commands));
    if (error == cudaSuccess) return SLUICE_OK;
    (void)cudaGetLastError();
    return SLUICE_ERROR_DEVICE;
}

} // namespace

SluiceStatus sluiceCreateStreamCuda(int device, SluiceStreamGpu** gpu)
{
    if (gpu == nullptr || device < 0) return SLUICE_ERROR_ARGUMENT;
    *gpu = nullptr;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || device >= count) {
        (void)cudaGetLastError();
        return SLUICE_ERROR_UNSUPPORTED;
    }
    *gpu = new (std::nothrow) CudaGpu(device);
    return *gpu != nullptr ? SLUICE_OK : SLUICE_ERROR_OUT_OF_MEMORY;
}

#else

SluiceStatus sluiceCreateStreamCuda(int device, SluiceStreamGpu** gpu)
{
    if (gpu == nullptr || device < 0) return SLUICE_ERROR_ARGUMENT;
    *gpu = nullptr;
    return SLUICE_ERROR_UNSUPPORTED;
}

#endif

void sluiceDestroyStreamCuda(SluiceStreamGpu* gpu) { delete gpu; }
