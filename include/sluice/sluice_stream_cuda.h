// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Streaming to CUDA: buffers are device memory, and batches are enqueued on a stream. Library:
// sluice_stream. No CUDA header is needed.
//
//   Memory      source, control and results of SluiceStreamerInfo are page-locked host memory (from
//               cudaMallocHost, or from sluiceStreamAllocateHost and cudaHostRegister). The device
//               pointer is the buffer's handle (sluiceCudaBuffer), and the host pointer is host.
//               output and scratch are device memory; where the CPU decodes, output is page-locked
//               host memory, too. Destinations are device memory.
//   Record      sluiceStreamRecord enqueues on the stream, which sluiceCudaCommands wraps; NULL is
//               the default stream. The stream's device must be current, and all batches of a
//               streamer go to one stream. Enqueued work cannot be taken back, so
//               sluiceStreamDiscard returns ARGUMENT.
//   Completion  The streamer uses CUDA events of its own, which sluiceStreamPoll queries; do not
//               call sluiceStreamComplete. The engine's kernels may use a destination after a
//               RECORDED event if they are in the same stream, or if they wait for a CUDA event
//               recorded in that stream.
//   Missing     Images, and semaphores of groups and budgets, are UNSUPPORTED.
#ifndef SLUICE_STREAM_CUDA_H
#define SLUICE_STREAM_CUDA_H

#include <sluice/sluice_cuda.h>
#include <sluice/sluice_stream.h>

#ifdef __cplusplus
extern "C" {
#endif

// Creates an object for SluiceStreamerInfo::gpu.
//   device   as for sluiceCreateCudaContext; the streamer's context must be a context of this
//            device or of the CPU
// Errors: ARGUMENT, UNSUPPORTED (built without CUDA, or no such device), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateStreamCuda(int device, struct SluiceStreamGpu** gpu);
// Destroys the object. Call it after the streamers that use it are destroyed. NULL is allowed.
SLUICE_API void sluiceDestroyStreamCuda(struct SluiceStreamGpu* gpu);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_STREAM_CUDA_H
