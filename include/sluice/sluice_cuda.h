// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Creates sluice contexts on CUDA devices. No CUDA header is needed: streams and device pointers
// are passed as void* and integers.
#ifndef SLUICE_CUDA_H
#define SLUICE_CUDA_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Wrap a cudaStream_t (or CUstream; NULL is the default stream) and a device pointer.
static inline SluiceCommands sluiceCudaCommands(void* stream) { return (SluiceCommands)stream; }
static inline SluiceBuffer sluiceCudaBuffer(void* devicePointer, uint64_t size)
{
    SluiceBuffer range;
    range.handle = (uint64_t)(uintptr_t)devicePointer;
    range.offset = 0;
    range.size = size;
    return range;
}

// Creates a context on CUDA device `device` (numbered as by the CUDA runtime). A command runs on
// the stream that it is given; the context's device must be current and must be the stream's. The
// device needs compute capability 7.0 or later.
//
// From capability 9.0 on, short commands use programmatic dependent launch. Their kernels may be
// scheduled while the previous kernel of the stream still runs. Before they access memory, they
// wait until that kernel has ended and its writes are visible. They let the next kernel be
// scheduled early in the same way. A next kernel that the caller launches with
// cudaLaunchAttributeProgrammaticStreamSerialization must call cudaGridDependencySynchronize()
// before it accesses memory. Launched without that attribute, it begins when sluice's kernel has
// ended, as usual. Commands may be captured into graphs. Errors: ARGUMENT, UNSUPPORTED (built
// without CUDA, no driver, or a device that is too old), OUT_OF_MEMORY, DEVICE.
SLUICE_API SluiceStatus sluiceCreateCudaContext(int device, SluiceContext* context);

// Says what a context is created from.
typedef struct SluiceCudaContextInfo {
    int device; // as for sluiceCreateCudaContext
    // NULL, or tuning values as text, separated by white space: "scan.blocks=264 scan.ring=0". They
    // replace those that sluice chooses for the device; src/cuda/tuning.h has their names. They
    // change the speed of commands, not their results. Only gstd.symbolsOnly and zstd.steps, which
    // are for benchmarks, leave data undecoded. `sluice tune` measures and prints good values.
    const char* tuning;
    SluiceReportFunction report; // may be NULL; see sluiceSetReport
    void* reportUser;            // the `user` of `report`
} SluiceCudaContextInfo;

// Creates a context with the caller's tuning. `info` is only read during the call. Errors: as
// sluiceCreateCudaContext; ARGUMENT also if the text is not such a row, a value is out of range, or
// the device lacks a feature that the row needs.
SLUICE_API SluiceStatus sluiceCreateCudaContextWithInfo(const SluiceCudaContextInfo* info,
                                                        SluiceContext* context);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_CUDA_H
