// SPDX-License-Identifier: MIT OR Apache-2.0
// A context on a CUDA device. Commands are enqueued on the caller's stream; nothing here allocates device memory or
// waits.
#include <sluice/sluice_cuda.h>

#ifdef SLUICE_HAVE_CUDA

#include <cuda_runtime_api.h>

#include <algorithm>
#include <new>

#include "../api/backend.h"
#include "kernels.h"

namespace sluice {
namespace {

SluiceStatus statusFrom(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return SLUICE_OK;
    case cudaErrorMemoryAllocation:
        return SLUICE_ERROR_OUT_OF_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorStubLibrary:
        return SLUICE_ERROR_UNSUPPORTED;
    case cudaErrorInvalidDevice:
        return SLUICE_ERROR_ARGUMENT;
    default:
        return SLUICE_ERROR_DEVICE;
    }
}

cudaStream_t streamFrom(SluiceCommands commands)
{
    return reinterpret_cast<cudaStream_t>(commands);
}

u64pair pairFrom(uint64_t value)
{
    return u64pair{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
}

// An empty range is passed as address 0, whatever its handle says.
u64pair addressOf(const SluiceBuffer& buffer)
{
    return pairFrom(buffer.size == 0 ? 0 : buffer.handle + buffer.offset);
}

// The parts that decode and checksum share.
RegionParams regionParams(uint32_t maxRegionCount, uint32_t regionStride, const SluiceBuffer& regions,
                          const SluiceBuffer& regionCount, const SluiceBuffer& destination, const SluiceBuffer& status)
{
    RegionParams params = {};
    params.regions = addressOf(regions);
    params.regionCount = addressOf(regionCount);
    params.destination = addressOf(destination);
    params.destinationSize = pairFrom(destination.size);
    params.status = addressOf(status);
    params.maxRegionCount = maxRegionCount;
    params.regionStride = regionStride;
    return params;
}

class CudaBackend final : public Backend {
public:
    void contextInfo(SluiceContextInfo& info) const override
    {
        info.backend = SLUICE_BACKEND_CUDA;
        info.tier = "native";
        info.subgroupSize = 32;
        info.byteStores = 1;
        info.report = "";
    }

    SluiceStatus cmdBarrier(SluiceCommands) override { return SLUICE_OK; } // a stream runs in order

    SluiceRequirements scanRequirements(const SluiceScanInfo& info) const override { return partialsFor(info.count); }

    SluiceStatus cmdScan(SluiceCommands commands, const SluiceScanInfo& info) override
    {
        ScanParams params = {};
        params.input_ = addressOf(info.input);
        params.output_ = addressOf(info.output);
        params.total = addressOf(info.total);
        params.partials = addressOf(info.scratch);
        params.count = info.count;
        params.outputCount = info.count;
        params.kind = info.kind == SLUICE_SCAN_INCLUSIVE ? 1 : 0;
        return statusFrom(launchScan(streamFrom(commands), params));
    }

    SluiceRequirements compactRequirements(const SluiceCompactInfo& info) const override
    {
        return partialsFor(info.count);
    }

    SluiceStatus cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info) override
    {
        ScanParams params = {};
        params.input_ = addressOf(info.input);
        params.flags = addressOf(info.flags.size == 0 ? info.input : info.flags);
        params.output_ = addressOf(info.output);
        params.total = addressOf(info.resultCount);
        params.partials = addressOf(info.scratch);
        params.count = info.count;
        params.outputCount = static_cast<uint32_t>(std::min<uint64_t>(info.output.size / 4, UINT32_MAX));
        return statusFrom(launchCompact(streamFrom(commands), params));
    }

    SluiceRequirements gdeflateRequirements(const SluiceGdeflateInfo&) const override
    {
        return SluiceRequirements{0, 4, 0};
    }

    SluiceStatus cmdGdeflate(SluiceCommands commands, const SluiceGdeflateInfo& info) override
    {
        RegionParams params = regionParams(info.maxRegionCount, info.regionStride, info.regions, info.regionCount,
                                           info.destination, info.status);
        params.source = addressOf(info.source);
        params.sourceSize = pairFrom(info.source.size);
        params.flags = info.flags;
        const SluiceStatus status = statusFrom(launchStatus(streamFrom(commands), params));
        if (status != SLUICE_OK || info.maxRegionCount == 0) return status;
        return statusFrom(launchGdeflate(streamFrom(commands), params));
    }

    SluiceStatus cmdChecksum(SluiceCommands commands, const SluiceChecksumInfo& info) override
    {
        RegionParams params = regionParams(info.maxRegionCount, info.regionStride, info.regions, info.regionCount,
                                           info.destination, info.status);
        params.expected = addressOf(info.expected);
        return statusFrom(launchChecksum(streamFrom(commands), params));
    }

private:
    static SluiceRequirements partialsFor(uint32_t count)
    {
        return SluiceRequirements{static_cast<uint64_t>(scanPartialCount(count)) * sizeof(uint32_t), sizeof(uint32_t), 0};
    }
};

// Loads every kernel into the device, so that a later command is a launch and nothing else.
cudaError_t loadKernels()
{
    for (const auto load : {loadStatus, loadScan, loadCompact, loadGdeflate, loadChecksum}) {
        const cudaError_t error = load();
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

SluiceStatus checkDevice(int device)
{
    int deviceCount = 0;
    cudaError_t error = cudaGetDeviceCount(&deviceCount);
    if (error != cudaSuccess) return statusFrom(error);
    if (device < 0 || device >= deviceCount) return SLUICE_ERROR_ARGUMENT;

    int major = 0;
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return statusFrom(error);
    return major < 7 ? SLUICE_ERROR_UNSUPPORTED : SLUICE_OK;
}

} // namespace
} // namespace sluice

extern "C" SluiceStatus sluiceCreateCudaContext(int device, SluiceContext* context)
{
    using namespace sluice;
    if (context == nullptr) return SLUICE_ERROR_ARGUMENT;
    *context = nullptr;
    const SluiceStatus usable = checkDevice(device);
    if (usable != SLUICE_OK) return usable;

    // The caller's current device is the caller's business: it is put back.
    int before = 0;
    cudaError_t error = cudaGetDevice(&before);
    if (error == cudaSuccess) error = cudaSetDevice(device);
    if (error == cudaSuccess) {
        error = loadKernels();
        const cudaError_t restored = cudaSetDevice(before);
        if (error == cudaSuccess) error = restored;
    }
    if (error != cudaSuccess) return statusFrom(error);

    Backend* backend = new (std::nothrow) CudaBackend();
    SluiceContext created = new (std::nothrow) SluiceContext_T{backend};
    if (backend == nullptr || created == nullptr) {
        delete backend;
        delete created;
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    *context = created;
    return SLUICE_OK;
}

#endif // SLUICE_HAVE_CUDA
