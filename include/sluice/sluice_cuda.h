// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A sluice context on a CUDA device. No CUDA header is needed: streams and device pointers pass as
// void* and integers.
#ifndef SLUICE_CUDA_H
#define SLUICE_CUDA_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Wraps a cudaStream_t (or CUstream; NULL is the default stream) and a device pointer.
static inline SluiceCommands sluiceCudaCommands(void* stream) { return (SluiceCommands)stream; }
static inline SluiceBuffer sluiceCudaBuffer(void* devicePointer, uint64_t size)
{
    SluiceBuffer range;
    range.handle = (uint64_t)(uintptr_t)devicePointer;
    range.offset = 0;
    range.size = size;
    return range;
}

// Creates a context on CUDA device `device` (the runtime's numbering). Commands run on the stream
// that they are given, whose device must be current and must be this one. Compute capability 7.0
// and later.
//
// From capability 9.0 on, short commands use programmatic dependent launch. Their kernels may be
// scheduled while the previous kernel of the stream still runs; before they touch memory they wait
// until it has ended and its writes are visible. They let the next kernel be scheduled likewise. If
// the caller launches that one with cudaLaunchAttributeProgrammaticStreamSerialization, it has to
// call cudaGridDependencySynchronize() before it touches memory. Launched without that attribute,
// it begins when ours has ended, as always. Commands may be captured into graphs. Errors: ARGUMENT,
// UNSUPPORTED (built without CUDA, no driver, too old a device), OUT_OF_MEMORY, DEVICE.
SLUICE_API SluiceStatus sluiceCreateCudaContext(int device, SluiceContext* context);

// Says what a context is created from.
typedef struct SluiceCudaContextInfo {
    int device; // as for sluiceCreateCudaContext
    // NULL, or members of a row of the tuning table (src/cuda/tuning.h) that replace those chosen
    // for the device: "scan.blocks=264 scan.ring=0", with white space in between. It changes how
    // fast commands are, not what they write; only gstd.symbolsOnly leaves tiles undone, for
    // benchmarks. `sluice tune` measures and prints a row.
    const char* tuning;
} SluiceCudaContextInfo;

// Creates a context with the caller's tuning. `info` is read during the call only. Errors: as
// sluiceCreateCudaContext; ARGUMENT also for a text that is not such a row, for a value out of its
// range and for a feature that the device does not have.
SLUICE_API SluiceStatus sluiceCreateCudaContextWithInfo(const SluiceCudaContextInfo* info,
                                                        SluiceContext* context);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_CUDA_H
