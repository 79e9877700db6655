// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Streaming to CUDA: buffers are device memory, batches are enqueued on a stream. Library:
// sluice_stream. No CUDA header is needed.
//
//   Memory      source, control and results of SluiceStreamerInfo are page-locked host memory
//               (cudaMallocHost, or cudaHostRegister of sluiceStreamAllocateHost's), whose device
//               pointer is the buffer's handle (sluiceCudaBuffer) and whose host pointer is host;
//               output and scratch are device memory, output page-locked too where the CPU decodes.
//               Destinations are device memory.
//   Record      sluiceStreamRecord enqueues on the stream, sluiceCudaCommands; NULL is the default
//               stream. The stream's device is current, and all batches of a streamer go to one
//               stream. What is enqueued cannot be taken back: sluiceStreamDiscard returns
//               ARGUMENT.
//   Completion  Events of the streamer's own tell it: sluiceStreamPoll looks at them, and
//               sluiceStreamComplete is not called. The engine's kernels may use a destination
//               after a RECORDED event in the same stream, or after an event recorded in it.
//   Not there   Images and semaphores are UNSUPPORTED: those of groups, and of budgets.
#ifndef SLUICE_STREAM_CUDA_H
#define SLUICE_STREAM_CUDA_H

#include <sluice/sluice_cuda.h>
#include <sluice/sluice_stream.h>

#ifdef __cplusplus
extern "C" {
#endif

// Makes a SluiceStreamerInfo::gpu.
//   device   as for sluiceCreateCudaContext; the streamer's context is of this device, or of the
//            CPU
// Errors: ARGUMENT, UNSUPPORTED (built without CUDA, no such device), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateStreamCuda(int device, struct SluiceStreamGpu** gpu);
// Destroys it, after the streamers that use it. NULL is allowed.
SLUICE_API void sluiceDestroyStreamCuda(struct SluiceStreamGpu* gpu);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_STREAM_CUDA_H
