// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The optional convenience layer: opens a device of its own, allocates, submits and waits. The
// sluice tool, the tests and small programs use it; an engine, which has all of that already, needs
// sluice.h alone. Library: sluice_device.
#ifndef SLUICE_DEVICE_H
#define SLUICE_DEVICE_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SluiceDevice_T* SluiceDevice;

typedef struct SluiceDeviceProperties {
    SluiceBackend backend; // that contexts on it have
    uint32_t index;        // N of "vulkan:N" or "cuda:N"
    uint32_t isSoftware;   // 1: a CPU implementation of Vulkan, or the CPU backend
    char name[256];        // the device's name
    char driver[256];      // driver name and version text; "" on the CPU
    char tiers[256];       // tiers that it can run, separated by spaces, best first; "" if none
    uint64_t memorySize;   // bytes of the largest device-local heap; 0 on the CPU
    // Vulkan's version as VkPhysicalDeviceProperties has it, or CUDA's driver as
    // 1000 * major + 10 * minor; 0 on the CPU.
    uint32_t apiVersion;
    uint32_t vendorId, deviceId; // of PCI, as Vulkan says; else 0
    char missing[512]; // which better tiers it cannot run, one "TIER: why" a line; "" if none
    // Vulkan only. Names of those features and extensions of the device that tiers, kernels and
    // streamers can use ("storageBuffer8BitAccess VK_EXT_external_memory_host"), separated by
    // spaces.
    char features[512];
} SluiceDeviceProperties;

// Lists the available devices: the Vulkan devices, the CUDA devices, the CPU, in this order.
//   count   in: room in properties; out: devices found (which may be more). properties may be NULL
//           if *count is 0
// Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceEnumerateDevices(SluiceDeviceProperties* properties, uint32_t* count);

// Says which device sluiceOpenDevice opens, and how.
typedef struct SluiceDeviceInfo {
    // "auto", "cpu", "vulkan", "vulkan:N", "vulkan:TEXT", "cuda" or "cuda:N"; NULL is "auto". TEXT
    // is matched, ignoring case, in the device's and the driver's name; the first match is taken,
    // never a device that does not match. "auto" takes a Vulkan GPU (not a software device), then
    // CUDA, then the CPU; "vulkan" takes the first Vulkan GPU, else the first software device.
    const char* selector;
    // NULL or "auto", or a tier name ("base", "ext", "emu32", "native", "fast", "ref" ...).
    const char* tier;
    // Vulkan only. 0 is none, 1 is core validation, 2 is GPU-assisted validation too. Messages of
    // severity error and warning go to `message`.
    uint32_t validation;
    // Vulkan only. 1: every recorded dispatch is checked for read/write conflicts that no barrier
    // separates; those are reported through `message` too.
    uint32_t checkBarriers;
    void (*message)(void* user, const char* text); // may be NULL
    void* messageUser;                             // the `user` of `message`
    // Vulkan only. SluiceKernels whose pipelines are made now. With 0 none are, and
    // sluiceCreatePipelines on sluiceGetDeviceContext makes them later.
    uint32_t kernels;
    // Vulkan only. SluicePipelineFlags for the pipelines of `kernels`.
    uint32_t pipelineFlags;
    // Vulkan only. This many threads make the pipelines; with 0 and 1 the calling one does. The
    // others have ended when the device is open.
    uint32_t pipelineThreads;
    // Vulkan only. NULL, or the path of a file that keeps what the driver compiled. "" is a file of
    // this driver and device in the user's cache folder ($XDG_CACHE_HOME/sluice or ~/.cache/sluice,
    // on Windows %LOCALAPPDATA%\sluice), where all such files together stay below 64 MiB. The file
    // is read now, and written now and when the device is closed if something new was compiled. A
    // file that is damaged, another driver's or larger than 64 MiB is not used; processes may share
    // it.
    const char* pipelineCache;
    // Vulkan only. 1: the driver keeps its statistics of compiled pipelines.
    uint32_t pipelineStatistics;
    // Vulkan only. 1 takes a queue of a family that also does graphics, if there is one, as in an
    // engine's frame. 0 takes a queue of a family that does not, if there is one, which may run
    // more at once (docs/portability.md).
    uint32_t graphicsQueue;
    // As in SluiceVulkanContextInfo and SluiceCudaContextInfo; it is ignored on the CPU.
    const char* tuning;
    // Vulkan only. 0, or the hardware subgroup size to insist on.
    uint32_t requiredSubgroupSize;
    // 1: the device is opened without necessary pipelines of `kernels` that its driver fails to
    // make (SluiceContextInfo::refusedKernels). 0: it is not opened then, and the error names them.
    uint32_t allowRefused;
    // 1: known tiles go through the pipelines of `kernels` (sluice_self_test.h). If one comes out
    // wrong, the next tier of the device is opened instead (of ext, base and emu32), and
    // sluiceGetDeviceSelfTest says so. If none is right, or if a tier was asked for by name, the
    // error names what fails.
    uint32_t selfTest;
} SluiceDeviceInfo;

// Opens a device. On failure *error (if not NULL) points to a one-line text owned by the library,
// valid until the next call in this thread. Errors: ARGUMENT, UNSUPPORTED (no such device, or it
// cannot run that tier), OUT_OF_MEMORY, DEVICE.
SLUICE_API SluiceStatus sluiceOpenDevice(const SluiceDeviceInfo* info, SluiceDevice* device,
                                         const char** error);
// Waits for the device and frees everything allocated from it.
SLUICE_API void sluiceCloseDevice(SluiceDevice device);
SLUICE_API SluiceContext sluiceGetDeviceContext(SluiceDevice device);
// Returns which better tiers a self-test has found wrong, one "TIER: what" a line; "" if none, or
// if SluiceDeviceInfo::selfTest was 0. It lives as long as the device.
SLUICE_API const char* sluiceGetDeviceSelfTest(SluiceDevice device);
SLUICE_API SluiceStatus sluiceGetDeviceProperties(SluiceDevice device,
                                                  SluiceDeviceProperties* properties);

// Allocates device-local memory of exactly `size` bytes, 256-byte aligned. 0 gives an empty range
// that needs no release.
SLUICE_API SluiceStatus sluiceAllocate(SluiceDevice device, uint64_t size, SluiceBuffer* buffer);
SLUICE_API void sluiceRelease(SluiceDevice device, SluiceBuffer buffer);
// Returns the device address of buffer.offset, as region lists need it.
SLUICE_API uint64_t sluiceGetAddress(SluiceDevice device, SluiceBuffer buffer);

// Copies `size` bytes to or from device memory and waits. buffer.size must be at least size.
SLUICE_API SluiceStatus sluiceUpload(SluiceDevice device, SluiceBuffer buffer, const void* bytes,
                                     uint64_t size);
SLUICE_API SluiceStatus sluiceDownload(SluiceDevice device, SluiceBuffer buffer, void* bytes,
                                       uint64_t size);

// Begins a command buffer (Vulkan) or gives the device's stream (CUDA) or NULL (CPU); one at a time
// per device.
SLUICE_API SluiceStatus sluiceBegin(SluiceDevice device, SluiceCommands* commands);
// Submits and waits. gpuMilliseconds (may be NULL): time between the device timestamps around the
// commands; host time on the CPU. Errors: DEVICE (a lost device too).
SLUICE_API SluiceStatus sluiceSubmit(SluiceDevice device, SluiceCommands commands,
                                     double* gpuMilliseconds);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_DEVICE_H
