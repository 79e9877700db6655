// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A self-test for the user's machine: a context's pipelines decode known tiles of every codec. So a
// program finds out whether the driver has compiled them correctly before it decodes anything else.
// Part of the component `codecs`.
//
//   1. sluiceGetSelfTestRequirements says what can be tested and how much memory that takes;
//   2. sluiceWriteSelfTest writes the initial contents of the memory, to be uploaded;
//   3. sluiceCmdSelfTest records the decode;
//   4. when the device is done, sluiceReadSelfTest compares the downloaded contents of the memory
//      with the expected ones.
// Kernels that have failed are no longer used on that context: their commands return UNSUPPORTED,
// and SluiceContextInfo::refusedKernels includes them, as if the driver had failed to create the
// pipelines. A program can continue with a context of a lower tier, as sluiceOpenDevice can do by
// itself. A streamer lets the CPU decode archives that need the failed kernels.
//
// The test covers GDEFLATE_LINEAR, GSTD, FILTER (predictors that are undone by sums), FLOAT and,
// with them, CHECKSUM, as far as a few small tiles use them. Pipelines for large lists, for rows
// and for other primitives are not tested.
#ifndef SLUICE_SELF_TEST_H
#define SLUICE_SELF_TEST_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Describes what is tested, and where.
typedef struct SluiceSelfTestInfo {
    // SluiceKernels. For sluiceGetSelfTestRequirements: those to test if possible. For the other
    // calls: the kernels that sluiceGetSelfTestRequirements returned.
    uint32_t kernels;
    // memorySize bytes of device memory, at an address that is a multiple of 256. Vulkan: a storage
    // buffer with a device address. Nothing else may use it during the test.
    SluiceBuffer memory;
    void* bytes; // memorySize bytes on the host, 16-byte aligned, to be uploaded and downloaded
} SluiceSelfTestInfo;

typedef struct SluiceSelfTestRequirements {
    // SluiceKernels that can be tested: they were requested, their pipelines exist in the context,
    // and the self-test has tiles for them.
    uint32_t kernels;
    uint64_t memorySize; // bytes, about 2 MiB at most; 0 if there is nothing to test
} SluiceSelfTestRequirements;

// Reads only info->kernels. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetSelfTestRequirements(SluiceContext context,
                                                      const SluiceSelfTestInfo* info,
                                                      SluiceSelfTestRequirements* requirements);

// Writes the initial contents of info->memory to info->bytes; upload them before the commands run.
// Errors: ARGUMENT (also if some kernels have no test), BUFFER_SIZE (memory).
SLUICE_API SluiceStatus sluiceWriteSelfTest(SluiceContext context, const SluiceSelfTestInfo* info);

// Records the decode of all tiles, a fixed amount of work with about 32 KB of output. info->bytes
// must be as sluiceWriteSelfTest has left them. Errors: ARGUMENT, BUFFER_SIZE, NOT_READY,
// UNSUPPORTED.
SLUICE_API SluiceStatus sluiceCmdSelfTest(SluiceContext context, SluiceCommands commands,
                                          const SluiceSelfTestInfo* info);

// Compares the results on the host: each tile's bytes, the bytes next to them, which must not have
// changed, and each status. info->bytes must be the downloaded contents of info->memory.
//   failed   receives the SluiceKernels that have failed, 0 if none have. TILE_STREAMS is included
//            with GDEFLATE_LINEAR, because they share pipelines. If tiles fail both with and
//            without filters, the codec is reported, not the filters
// Errors: ARGUMENT, BUFFER_SIZE. Thread-safe; commands that other threads record during the call
// may still use kernels that have failed.
SLUICE_API SluiceStatus sluiceReadSelfTest(SluiceContext context, const SluiceSelfTestInfo* info,
                                           uint32_t* failed);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_SELF_TEST_H
