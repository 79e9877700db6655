// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A self-test for the user's machine: known tiles of every codec go through the pipelines of a
// context, so that a program finds out whether a driver has compiled them correctly before it
// decodes anything. Part of the component `codecs`.
//
//   1. sluiceGetSelfTestRequirements says what can be tested and how much memory that takes;
//   2. sluiceWriteSelfTest gives the bytes that the memory begins with, to be uploaded;
//   3. sluiceCmdSelfTest records the decode;
//   4. when the device is done, sluiceReadSelfTest compares the downloaded bytes of the memory with
//      the right ones.
// Kernels that have failed are no longer used on that context: their commands are UNSUPPORTED, and
// SluiceContextInfo::refusedKernels has them, as if the driver had failed to make the pipelines. A
// program goes on with a context of a lower tier, as sluiceOpenDevice can do by itself; a streamer
// lets the CPU decode archives that need what has failed.
//
// The test covers GDEFLATE_LINEAR, GSTD, FILTER (sums) and FLOAT, and CHECKSUM with them, as far as
// a few small tiles use them. Pipelines for large lists, rows and other primitives are not tested.
#ifndef SLUICE_SELF_TEST_H
#define SLUICE_SELF_TEST_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Says what is tested, and where.
typedef struct SluiceSelfTestInfo {
    // SluiceKernels. For sluiceGetSelfTestRequirements, those to be tested if possible; for the
    // other calls, its answer.
    uint32_t kernels;
    // memorySize bytes of device memory, at an address that is a multiple of 256. Vulkan: a storage
    // buffer with a device address. Nobody else uses it meanwhile.
    SluiceBuffer memory;
    void* bytes; // memorySize bytes of the host, 16-byte aligned, to be uploaded and downloaded
} SluiceSelfTestInfo;

typedef struct SluiceSelfTestRequirements {
    // SluiceKernels that can be tested: asked for, ready on the context, and with tiles.
    uint32_t kernels;
    uint64_t memorySize; // bytes, some 2 MiB at most; 0 if there is nothing to test
} SluiceSelfTestRequirements;

// Reads info->kernels alone. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetSelfTestRequirements(SluiceContext context,
                                                      const SluiceSelfTestInfo* info,
                                                      SluiceSelfTestRequirements* requirements);

// Writes to info->bytes what info->memory holds before the commands run, to be uploaded. Errors:
// ARGUMENT (also: kernels that have no test), BUFFER_SIZE (memory).
SLUICE_API SluiceStatus sluiceWriteSelfTest(SluiceContext context, const SluiceSelfTestInfo* info);

// Records the decode of all tiles: a fixed amount of work, some 32 KB of output. info->bytes are as
// sluiceWriteSelfTest has left them. Errors: ARGUMENT, BUFFER_SIZE, NOT_READY, UNSUPPORTED.
SLUICE_API SluiceStatus sluiceCmdSelfTest(SluiceContext context, SluiceCommands commands,
                                          const SluiceSelfTestInfo* info);

// Compares the results on the host: each tile's bytes, their neighbours, which must not have
// changed, and each status. info->bytes are the bytes of info->memory now, downloaded.
//   failed   receives the SluiceKernels that have failed, 0 if all is right; TILE_STREAMS with
//            GDEFLATE_LINEAR, whose pipelines they share. Where tiles fail with and without filters
//            the codec is blamed, not the filters
// Errors: ARGUMENT, BUFFER_SIZE. Thread-safe; commands that other threads record meanwhile may
// still use kernels that have failed.
SLUICE_API SluiceStatus sluiceReadSelfTest(SluiceContext context, const SluiceSelfTestInfo* info,
                                           uint32_t* failed);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_SELF_TEST_H
