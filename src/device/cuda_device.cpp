// SPDX-License-Identifier: MIT OR Apache-2.0
// A CUDA device with one stream of its own. Without CUDA in the build there is none to list.
#include "device.h"

#ifdef SLUICE_HAVE_CUDA

#include <cuda_runtime_api.h>

#include <sluice/sluice_cuda.h>

namespace sluice {
namespace {

bool cudaProperties(int index, SluiceDeviceProperties& properties)
{
    cudaDeviceProp device{};
    if (cudaGetDeviceProperties(&device, index) != cudaSuccess) return false;
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    properties = {};
    properties.backend = SLUICE_BACKEND_CUDA;
    properties.index = u32(index);
    properties.memorySize = device.totalGlobalMem;
    setText(properties.name, device.name);
    setText(properties.driver,
            "CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10));
    setText(properties.tiers, device.major >= 7 ? "native" : "");
    return true;
}

SluiceStatus statusOf(cudaError_t error)
{
    if (error != cudaSuccess) {
        (void)cudaGetLastError(); // the next call must not report it again
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

    SluiceStatus open(const char* tuning)
    {
        cudaError_t error = cudaSetDevice(m_index);
        error = error == cudaSuccess ? cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking)
                                     : error;
        error = error == cudaSuccess ? cudaEventCreate(&m_start) : error;
        error = error == cudaSuccess ? cudaEventCreate(&m_stop) : error;
        const SluiceCudaContextInfo info = {m_index, tuning};
        return error == cudaSuccess ? sluiceCreateCudaContextWithInfo(&info, &context)
                                    : statusOf(error);
    }

    SluiceStatus allocate(u64 size, SluiceBuffer& buffer) override
    {
        void* block = nullptr;
        cudaError_t error = cudaSetDevice(m_index);
        // aligned to 256 bytes
        error = error == cudaSuccess ? cudaMalloc(&block, wordsEnd(size)) : error;
        if (error != cudaSuccess) return statusOf(error);
        m_blocks.push_back(block);
        buffer = {reinterpret_cast<uintptr_t>(block), 0, size};
        return SLUICE_OK;
    }

    void release(const SluiceBuffer& buffer) override
    {
        for (void*& block : m_blocks) {
            if (block == pointer({buffer.handle, 0, 0})) {
                (void)cudaSetDevice(m_index);
                (void)cudaFree(block);
                block = m_blocks.back();
                m_blocks.pop_back();
                return;
            }
        }
    }

    u64 address(const SluiceBuffer& buffer) const override { return buffer.handle + buffer.offset; }

    SluiceStatus upload(const SluiceBuffer& buffer, const void* bytes, u64 size) override
    {
        return copy(pointer(buffer), bytes, size, cudaMemcpyHostToDevice);
    }

    SluiceStatus download(const SluiceBuffer& buffer, void* bytes, u64 size) override
    {
        return copy(bytes, pointer(buffer), size, cudaMemcpyDeviceToHost);
    }

    SluiceStatus begin(SluiceCommands& commands) override
    {
        cudaError_t error = cudaSetDevice(m_index);
        error = error == cudaSuccess ? cudaEventRecord(m_start, m_stream) : error;
        commands = sluiceCudaCommands(m_stream);
        return statusOf(error);
    }

    SluiceStatus submit(SluiceCommands, double& gpuMilliseconds) override
    {
        float milliseconds = 0;
        cudaError_t error = cudaEventRecord(m_stop, m_stream);
        error = error == cudaSuccess ? cudaStreamSynchronize(m_stream) : error;
        error = error == cudaSuccess ? cudaEventElapsedTime(&milliseconds, m_start, m_stop) : error;
        gpuMilliseconds = double(milliseconds);
        return statusOf(error);
    }

private:
    static void* pointer(const SluiceBuffer& buffer)
    {
        return reinterpret_cast<void*>(uintptr_t(buffer.handle + buffer.offset));
    }

    SluiceStatus copy(void* to, const void* from, u64 size, cudaMemcpyKind kind)
    {
        cudaError_t error = cudaSetDevice(m_index);
        error = error == cudaSuccess ? cudaMemcpyAsync(to, from, size, kind, m_stream) : error;
        error = error == cudaSuccess ? cudaStreamSynchronize(m_stream) : error;
        return statusOf(error);
    }

    const int m_index;
    cudaStream_t m_stream = nullptr;
    cudaEvent_t m_start = nullptr, m_stop = nullptr;
    std::vector<void*> m_blocks;
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

SluiceStatus openCudaDevice(u32 index, const SluiceDeviceInfo& info,
                            std::unique_ptr<Device>& device, std::string& error)
{
    auto cuda = std::make_unique<CudaDevice>(int(index));
    const SluiceStatus status = cudaProperties(int(index), cuda->properties)
                                    ? cuda->open(info.tuning)
                                    : SLUICE_ERROR_DEVICE;
    if (status != SLUICE_OK) {
        error = "the CUDA device cannot be opened: " + std::string(sluiceGetStatusText(status));
        return status;
    }
    device = std::move(cuda);
    return SLUICE_OK;
}

} // namespace sluice

#else

namespace sluice {

void listCudaDevices(DeviceList&) {}

SluiceStatus openCudaDevice(u32, const SluiceDeviceInfo&, std::unique_ptr<Device>&,
                            std::string& error)
{
    error = "built without CUDA";
    return SLUICE_ERROR_UNSUPPORTED;
}

} // namespace sluice

#endif
