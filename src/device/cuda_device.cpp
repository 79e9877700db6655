// SPDX-License-Identifier: MIT OR Apache-2.0
// A CUDA device of the convenience layer, with a stream of its own. Builds without CUDA list no
// such devices.
#include "device/device.h"

#ifdef SLUICE_HAVE_CUDA

#include <cuda_runtime_api.h>

#include <unordered_set>

#include <sluice/sluice_cuda.h>

namespace sluice {
namespace {

// Describes the CUDA device number `index`. Returns false if CUDA reports an error.
bool cudaProperties(int index, SluiceDeviceProperties& properties)
{
    cudaDeviceProp device{};
    if (cudaGetDeviceProperties(&device, index) != cudaSuccess) return false;
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    properties = {};
    properties.backend = SLUICE_BACKEND_CUDA;
    properties.index = uint32_t(index);
    properties.memorySize = device.totalGlobalMem;
    setText(properties.name, device.name);
    setText(properties.driver,
            "CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10));
    properties.apiVersion = uint32_t(driver);
    setText(properties.tiers, device.major >= 7 ? "native" : "");
    setText(properties.missing,
            device.major >= 7 ? "" : "native: compute capability 7.0 is needed\n");
    return true;
}

// Converts CUDA's error to a status, and clears it in CUDA.
SluiceStatus statusOf(cudaError_t error)
{
    if (error != cudaSuccess) {
        // Clear the error, so that the next call does not report it again.
        (void)cudaGetLastError();
    }
    return error == cudaSuccess                 ? SLUICE_OK
           : error == cudaErrorMemoryAllocation ? SLUICE_ERROR_OUT_OF_MEMORY
                                                : SLUICE_ERROR_DEVICE;
}

class CudaDevice final : public Device {
public:
    explicit CudaDevice(int index) : m_index(index) {}

    ~CudaDevice() override
    {
        (void)cudaSetDevice(m_index);
        (void)cudaDeviceSynchronize();
        sluiceDestroyContext(context);
        for (void* block : m_blocks)
            (void)cudaFree(block);
        (void)cudaEventDestroy(m_start);
        (void)cudaEventDestroy(m_stop);
        (void)cudaStreamDestroy(m_stream);
    }

    // Creates the stream, the events for timing and the context. `tuning` is as in
    // SluiceDeviceInfo.
    SluiceStatus open(const char* tuning)
    {
        cudaError_t error = cudaSetDevice(m_index);
        if (error == cudaSuccess)
            error = cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking);
        if (error == cudaSuccess) error = cudaEventCreate(&m_start);
        if (error == cudaSuccess) error = cudaEventCreate(&m_stop);
        const SluiceCudaContextInfo info = {m_index, tuning, nullptr, nullptr};
        return error == cudaSuccess ? sluiceCreateCudaContextWithInfo(&info, &context)
                                    : statusOf(error);
    }

    SluiceStatus allocate(uint64_t size, SluiceBuffer& buffer) override
    {
        void* block = nullptr;
        cudaError_t error = cudaSetDevice(m_index);
        // CUDA aligns the block to 256 bytes, as sluiceAllocate promises.
        if (error == cudaSuccess) error = cudaMalloc(&block, wordsEnd(size));
        if (error != cudaSuccess) return statusOf(error);
        m_blocks.insert(block);
        buffer = {reinterpret_cast<uintptr_t>(block), 0, size};
        return SLUICE_OK;
    }

    void release(const SluiceBuffer& buffer) override
    {
        void* const block = memoryOf({buffer.handle, 0, 0});
        if (m_blocks.erase(block) == 0) return;
        (void)cudaSetDevice(m_index);
        (void)cudaFree(block);
    }

    uint64_t address(const SluiceBuffer& buffer) const override
    {
        return buffer.handle + buffer.offset;
    }

    SluiceStatus upload(const SluiceBuffer& buffer, const void* bytes, uint64_t size) override
    {
        return copy(memoryOf(buffer), bytes, size, cudaMemcpyHostToDevice);
    }

    SluiceStatus download(const SluiceBuffer& buffer, void* bytes, uint64_t size) override
    {
        return copy(bytes, memoryOf(buffer), size, cudaMemcpyDeviceToHost);
    }

    SluiceStatus begin(SluiceCommands& commands) override
    {
        cudaError_t error = cudaSetDevice(m_index);
        if (error == cudaSuccess) error = cudaEventRecord(m_start, m_stream);
        commands = sluiceCudaCommands(m_stream);
        return statusOf(error);
    }

    SluiceStatus submit(SluiceCommands, double& gpuMilliseconds) override
    {
        float milliseconds = 0;
        cudaError_t error = cudaEventRecord(m_stop, m_stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(m_stream);
        if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds, m_start, m_stop);
        gpuMilliseconds = double(milliseconds);
        return statusOf(error);
    }

private:
    // Copies between host and device, and waits until the copy is done.
    SluiceStatus copy(void* to, const void* from, uint64_t size, cudaMemcpyKind kind)
    {
        cudaError_t error = cudaSetDevice(m_index);
        if (error == cudaSuccess) error = cudaMemcpyAsync(to, from, size, kind, m_stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(m_stream);
        return statusOf(error);
    }

    const int m_index;
    cudaStream_t m_stream = nullptr;
    cudaEvent_t m_start = nullptr, m_stop = nullptr;
    std::unordered_set<void*> m_blocks; // the memory of all buffers
};

} // namespace

void listCudaDevices(DeviceList& list)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError();
        return;
    }
    for (int i = 0; i < count; ++i) {
        SluiceDeviceProperties properties{};
        if (cudaProperties(i, properties)) list.push_back(properties);
    }
}

SluiceStatus openCudaDevice(uint32_t index, const SluiceDeviceInfo& info,
                            std::unique_ptr<Device>& device, std::string& error)
{
    auto cuda = std::make_unique<CudaDevice>(int(index));
    const SluiceStatus status = cudaProperties(int(index), cuda->properties)
                                    ? cuda->open(info.tuning)
                                    : SLUICE_ERROR_DEVICE;
    if (status != SLUICE_OK)
        return fail(status,
                    "the CUDA device cannot be opened: " + std::string(sluiceGetStatusText(status)),
                    error);
    device = std::move(cuda);
    return SLUICE_OK;
}

} // namespace sluice

#else

namespace sluice {

void listCudaDevices(DeviceList&) {}

SluiceStatus openCudaDevice(uint32_t, const SluiceDeviceInfo&, std::unique_ptr<Device>&,
                            std::string& error)
{
    return fail(SLUICE_ERROR_UNSUPPORTED, "built without CUDA", error);
}

} // namespace sluice

#endif
