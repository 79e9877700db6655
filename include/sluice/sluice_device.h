// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The optional convenience layer: opens its own device, allocates, submits and waits. The sluice
// tool, the tests and small programs use it. An engine already has all of that and needs only
// sluice.h. Library: sluice_device.
#ifndef SLUICE_DEVICE_H
#define SLUICE_DEVICE_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SluiceDevice_T* SluiceDevice;

typedef struct SluiceDeviceProperties {
    SluiceBackend backend; // backend of the device's contexts
    uint32_t index;        // N of "vulkan:N" or "cuda:N"
    uint32_t isSoftware;   // 1: a CPU implementation of Vulkan, or the CPU backend
    char name[256];        // the device's name
    char driver[256];      // driver name and version text; "" on the CPU
    char tiers[256];       // tiers that the device can run, separated by spaces, best first; "" if
                           // none
    uint64_t memorySize;   // bytes of the largest device-local heap; 0 on the CPU
    // Vulkan: the version in the form of VkPhysicalDeviceProperties. CUDA: the driver's version as
    // 1000 * major + 10 * minor. CPU: 0.
    uint32_t apiVersion;
    uint32_t vendorId, deviceId; // PCI ids, from Vulkan; 0 otherwise
    char missing[512]; // the better tiers that the device cannot run, one "TIER: why" per line; ""
                       // if none
    // Vulkan only. Names of the device's features and extensions that tiers, kernels and streamers
    // can use ("storageBuffer8BitAccess VK_EXT_external_memory_host"), separated by spaces.
    char features[512];
} SluiceDeviceProperties;

// Lists the available devices in this order: the Vulkan devices, the CUDA devices, the CPU.
//   count   in: room in properties; out: number of devices found, which may be more. properties may
//           be NULL if *count is 0
// Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceEnumerateDevices(SluiceDeviceProperties* properties, uint32_t* count);

// Selects the device that sluiceOpenDevice opens, and its options.
typedef struct SluiceDeviceInfo {
    // "auto", "cpu", "vulkan", "vulkan:N", "vulkan:TEXT", "cuda" or "cuda:N"; NULL means "auto".
    // TEXT is searched, ignoring case, in the names of the device and the driver. The first device
    // that matches is taken, never one that does not match. "auto" takes a Vulkan GPU (not a
    // software device), then CUDA, then the CPU. "vulkan" takes the first Vulkan GPU, or the first
    // software device if there is no GPU.
    const char* selector;
    // NULL or "auto", or the name of a tier ("base", "ext", "emu32", "native", "fast", "ref" ...).
    const char* tier;
    // Vulkan only. 0: no validation; 1: core validation; 2: GPU-assisted validation as well.
    // Messages of severity error and warning go to `message`.
    uint32_t validation;
    // Vulkan only. 1: Every recorded dispatch is checked for read/write conflicts without a barrier
    // between them, which are also reported through `message`.
    uint32_t checkBarriers;
    void (*message)(void* user, const char* text); // may be NULL
    void* messageUser;                             // the `user` of `message`
    // Vulkan only. SluiceKernels whose pipelines are created while the device is opened. With 0
    // none are, and sluiceCreatePipelines on sluiceGetDeviceContext creates them later.
    uint32_t kernels;
    // Vulkan only. SluicePipelineFlags for the pipelines of `kernels`.
    uint32_t pipelineFlags;
    // Vulkan only. The number of threads that create the pipelines; with 0 or 1 only the calling
    // thread does. The other threads have ended when the device is open.
    uint32_t pipelineThreads;
    // Vulkan only. NULL, or the path of a file that keeps the driver's compiled pipelines. ""
    // selects a file for this driver and device in the user's cache folder ($XDG_CACHE_HOME/sluice
    // or ~/.cache/sluice, on Windows %LOCALAPPDATA%\sluice), where all such files together stay
    // below 64 MiB. The file is read when the device is opened. If something new was compiled, it
    // is written then and again when the device is closed. A file that is damaged, belongs to
    // another driver or is larger than 64 MiB is not used. Processes may share the file.
    const char* pipelineCache;
    // Vulkan only. 1: the driver keeps its statistics of compiled pipelines.
    uint32_t pipelineStatistics;
    // Vulkan only. 1: use a queue of a family that also supports graphics, as engines do, if there
    // is one. 0: use a queue of a family without graphics, if there is one; such a queue may run
    // more work at once (docs/portability.md).
    uint32_t graphicsQueue;
    // Tuning values as text, "name=value name=value", as `sluice tune` prints them. NULL: those
    // that sluice chooses for the device. The CPU ignores them.
    const char* tuning;
    // Vulkan only. 0, or the required hardware subgroup size.
    uint32_t requiredSubgroupSize;
    // 1: The device is opened even if its driver fails to create necessary pipelines of `kernels`
    // (SluiceContextInfo::refusedKernels). 0: It is not opened then, and the error names them.
    uint32_t allowRefused;
    // 1: The pipelines of `kernels` decode known tiles (sluice_self_test.h). If a result is wrong,
    // the device is opened with its next tier instead (in the order ext, base, emu32), and
    // sluiceGetDeviceSelfTest reports it. If no tier is right, or if a tier was requested by name,
    // the error says what fails.
    uint32_t selfTest;
} SluiceDeviceInfo;

// Opens a device. After a failure *error (if error is not NULL) points to a one-line text that
// belongs to the library and is valid until the next call in this thread. Errors: ARGUMENT,
// UNSUPPORTED (no such device, or it cannot run that tier), OUT_OF_MEMORY, DEVICE.
SLUICE_API SluiceStatus sluiceOpenDevice(const SluiceDeviceInfo* info, SluiceDevice* device,
                                         const char** error);
// Waits for the device and frees everything allocated from it.
SLUICE_API void sluiceCloseDevice(SluiceDevice device);
SLUICE_API SluiceContext sluiceGetDeviceContext(SluiceDevice device);
// Returns the better tiers that a self-test has found wrong, one "TIER: what" per line. The text is
// "" if there are none, or if SluiceDeviceInfo::selfTest was 0. It lives as long as the device.
SLUICE_API const char* sluiceGetDeviceSelfTest(SluiceDevice device);
SLUICE_API SluiceStatus sluiceGetDeviceProperties(SluiceDevice device,
                                                  SluiceDeviceProperties* properties);

// Allocates device-local memory of exactly `size` bytes, 256-byte aligned. Size 0 gives an empty
// range, which need not be released.
SLUICE_API SluiceStatus sluiceAllocate(SluiceDevice device, uint64_t size, SluiceBuffer* buffer);
SLUICE_API void sluiceRelease(SluiceDevice device, SluiceBuffer buffer);
// Returns the device address of buffer.offset, for use in region lists.
SLUICE_API uint64_t sluiceGetAddress(SluiceDevice device, SluiceBuffer buffer);

// Copies `size` bytes to or from device memory and waits. buffer.size must be at least size.
SLUICE_API SluiceStatus sluiceUpload(SluiceDevice device, SluiceBuffer buffer, const void* bytes,
                                     uint64_t size);
SLUICE_API SluiceStatus sluiceDownload(SluiceDevice device, SluiceBuffer buffer, void* bytes,
                                       uint64_t size);

// Begins the device's command buffer (Vulkan), or returns the device's stream (CUDA) or NULL (CPU).
// Call sluiceSubmit before the next sluiceBegin on the same device.
SLUICE_API SluiceStatus sluiceBegin(SluiceDevice device, SluiceCommands* commands);
// Submits and waits. gpuMilliseconds (may be NULL) receives the time between the device timestamps
// around the commands, or host time on the CPU. Errors: DEVICE (also if the device is lost).
SLUICE_API SluiceStatus sluiceSubmit(SluiceDevice device, SluiceCommands commands,
                                     double* gpuMilliseconds);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_DEVICE_H
