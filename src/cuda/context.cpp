// SPDX-License-Identifier: MIT OR Apache-2.0
// Creates a context on a CUDA device: loads every kernel, so that later commands only have to
// launch them, and chooses the tuning.

#ifdef SLUICE_HAVE_CUDA

#include <new>

#include "api/components.h"
#include "cuda/enqueue.h"

namespace sluice {
namespace {

// Returns SLUICE_OK if the library can use the device, which needs compute capability 7.0 or more;
// otherwise the error for the caller.
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

// Loads all kernels into the current device, whose number is `device`, and fills `traits` with the
// properties of the device and of the loaded kernels.
cudaError_t loadKernels(int device, CudaTraits& traits)
{
    traits = {};
    traits.sm90 = true;
    int processors = 0;
    cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    traits.processors = static_cast<uint32_t>(processors);
    for (const auto load : kKernelLoaders)
        if (error == cudaSuccess) error = load(traits);
    return error;
}

} // namespace

SluiceStatus statusFrom(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return SLUICE_OK;
    case cudaErrorMemoryAllocation: return SLUICE_ERROR_OUT_OF_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorStubLibrary: return SLUICE_ERROR_UNSUPPORTED;
    case cudaErrorInvalidDevice: return SLUICE_ERROR_ARGUMENT;
    default: return SLUICE_ERROR_DEVICE;
    }
}

SluiceStatus CudaBackend::create(const SluiceCudaContextInfo& info,
                                 std::unique_ptr<CudaBackend>& backend)
{
    const SluiceStatus usable = checkDevice(info.device);
    if (usable != SLUICE_OK) return usable;

    // Kernels are loaded into the current device, so the caller's current device is restored
    // afterwards.
    int current = 0;
    CudaTraits traits = {};
    cudaError_t error = cudaGetDevice(&current);
    if (error == cudaSuccess) error = cudaSetDevice(info.device);
    if (error == cudaSuccess) {
        error = loadKernels(info.device, traits);
        const cudaError_t restored = cudaSetDevice(current);
        if (error == cudaSuccess) error = restored;
    }
    if (error != cudaSuccess) return statusFrom(error);

    CudaTuning tuning = tuningFor(traits);
    if (info.tuning != nullptr) {
        const SluiceStatus status = readTuning(info.tuning, tuning);
        if (status != SLUICE_OK) return status;
        if (!canUse(traits, tuning)) return SLUICE_ERROR_ARGUMENT;
    }
    backend.reset(new (std::nothrow) CudaBackend(tuning));
    return backend == nullptr ? SLUICE_ERROR_OUT_OF_MEMORY : SLUICE_OK;
}

void CudaBackend::contextInfo(SluiceContextInfo& info) const
{
    info.backend = SLUICE_BACKEND_CUDA;
    info.tier = "native";
    info.subgroupSize = 32;
    info.byteStores = 1;
    info.report = "";
    info.driverRegionLimit = 0;
    info.kernels = kBuiltKernels;
}

SluiceStatus CudaBackend::cmdBarrier(SluiceCommands)
{
    // A stream runs its commands in order, so a barrier between them has nothing to enqueue.
    return SLUICE_OK;
}

} // namespace sluice

SluiceStatus sluiceCreateCudaContextWithInfo(const SluiceCudaContextInfo* info,
                                             SluiceContext* context)
{
    const sluice::Reporter reporter =
        info != nullptr ? sluice::Reporter{info->report, info->reportUser} : sluice::Reporter{};
    sluice::ArgumentChecker check(reporter, __func__);
    if (!check.given(SLUICE_NAMED(context))) return check.status();
    *context = nullptr;
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    std::unique_ptr<sluice::CudaBackend> backend;
    const SluiceStatus status = sluice::CudaBackend::create(*info, backend);
    if (status != SLUICE_OK) return status;
    *context = new (std::nothrow) SluiceContext_T{backend.get(), reporter};
    if (*context == nullptr) return SLUICE_ERROR_OUT_OF_MEMORY;
    backend.release();
    return SLUICE_OK;
}

SluiceStatus sluiceCreateCudaContext(int device, SluiceContext* context)
{
    const SluiceCudaContextInfo info = {device, nullptr, nullptr, nullptr};
    return sluiceCreateCudaContextWithInfo(&info, context);
}

#endif // SLUICE_HAVE_CUDA
