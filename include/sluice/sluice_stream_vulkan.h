// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Gives a streamer what it needs from an engine's Vulkan device. Library: sluice_stream.
#ifndef SLUICE_STREAM_VULKAN_H
#define SLUICE_STREAM_VULKAN_H

#include <sluice/sluice_stream.h>
#include <sluice/sluice_vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

// All handles belong to the caller and must outlive the streamer. The device must have the feature
// timelineSemaphore enabled if groups or budgets name semaphores.
typedef struct SluiceStreamVulkanInfo {
    PFN_vkGetInstanceProcAddr getInstanceProcAddr; // the loader's entry point
    VkInstance instance;                           // the instance of physicalDevice
    VkPhysicalDevice physicalDevice;               // the physical device of device
    // The device on which the streamer copies and decodes.
    VkDevice device;
    // The family of the queue to which batches are submitted.
    uint32_t queueFamily;
} SluiceStreamVulkanInfo;

// Loads the functions that a streamer calls, for SluiceStreamerInfo::gpu. Errors: ARGUMENT,
// UNSUPPORTED (a function is missing), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateStreamVulkan(const SluiceStreamVulkanInfo* info,
                                                 struct SluiceStreamGpu** gpu);
// Destroys the object. Call it after the streamers that use it are destroyed. NULL is allowed.
SLUICE_API void sluiceDestroyStreamVulkan(struct SluiceStreamGpu* gpu);

// Convert a VkImage and a VkSemaphore to the form that requests, groups and budgets hold.
static inline uint64_t sluiceStreamImageHandle(VkImage image)
{
    return (uint64_t)image; // a pointer of 64 bits, or a number
}
static inline uint64_t sluiceStreamSemaphoreHandle(VkSemaphore semaphore)
{
    return (uint64_t)semaphore;
}

// -----------------------------------------------------------------------------------------------
// Submit mode: a submitter records batches and submits them to a queue by itself, so that an engine
// only submits groups and polls. It has two threads: one records and submits, one waits for
// batches. Both sleep when there is nothing to do.
//
//   Calls     While a streamer has a submitter, sluiceStreamPoll only returns events; one thread at
//             a time may call it. The descriptor of sluiceStreamEventFd then reports all events.
//             The submitter's thread signals and waits for semaphores. sluiceStreamRecord, Discard
//             and Complete return ARGUMENT. Everything else works as it does without a submitter.
//   Queue     The queue belongs to the engine and may be the only one of the device. The submitter
//             calls lockQueue before and unlockQueue after each vkQueueSubmit, and the engine holds
//             the same lock around its own uses of the queue. No lock of the streamer is held
//             meanwhile.
//   Owns      The submitter owns a command pool, with as many command buffers as the streamer has
//             batches, and a timeline semaphore.
//   Errors    The submitter tries again after 10 ms if a submit or a command buffer fails for lack
//             of memory, or if a batch's pipeline is missing. VK_ERROR_DEVICE_LOST has the effect
//             of sluiceStreamDeviceLost.

typedef struct SluiceStreamSubmitter_T* SluiceStreamSubmitter;

// Limits how much is submitted, and how often.
typedef struct SluiceStreamPace {
    // Limits each batch, as for sluiceStreamRecord; semaphore and value are not read. If
    // milliseconds is 0, nothing is submitted.
    SluiceStreamBudget budget;
    // Minimum time between two submits, in microseconds. If it is not 0, maxAge counts intervals.
    // If it is 0, the next batch is submitted as soon as something is ready and fewer than
    // maxBatches are under way. minTiles then applies only while a batch is under way, and maxAge
    // is not read.
    uint32_t interval;
} SluiceStreamPace;

// Names the objects that a submitter works with.
typedef struct SluiceStreamSubmitterInfo {
    // The streamer must outlive the submitter. Its SluiceStreamerInfo::gpu was created with the
    // same objects that `vulkan` names, and no batch of the streamer is under way.
    SluiceStreamer streamer;
    const SluiceStreamVulkanInfo* vulkan; // read during the call
    // A queue of vulkan->queueFamily. Only command buffers of the submitter's pool are submitted to
    // it.
    VkQueue queue;
    // Called before each vkQueueSubmit. If nobody else uses the queue, lockQueue and unlockQueue
    // may both be NULL. Both may wait, but must not call sluiceDestroyStreamSubmitter.
    void (*lockQueue)(void* user);
    void (*unlockQueue)(void* user); // called after each vkQueueSubmit
    void* queueUser;                 // the `user` of lockQueue and unlockQueue
    SluiceStreamPace pace;           // the initial pace; sluiceStreamSetPace changes it
    // May be NULL. Receives reports of arguments that the submitter's functions refuse (sluice.h).
    SluiceReportFunction report;
    void* reportUser; // the `user` of `report`
} SluiceStreamSubmitterInfo;

// Creates a submitter and starts it. The rules for a call of sluiceStreamRecord apply: no other
// such call may run at the same time. Errors: ARGUMENT (also if the streamer has no gpu, already
// has a submitter, or has a batch under way), UNSUPPORTED (a function is missing), OUT_OF_MEMORY,
// DEVICE.
SLUICE_API SluiceStatus sluiceCreateStreamSubmitter(const SluiceStreamSubmitterInfo* info,
                                                    SluiceStreamSubmitter* submitter);

// Waits for the submitted batches, collects their results, and destroys the submitter. No
// sluiceStreamPoll may run at the same time. Work that is not submitted stays with the streamer:
// another submitter may be created for it, or the engine may record it. NULL is allowed.
SLUICE_API void sluiceDestroyStreamSubmitter(SluiceStreamSubmitter submitter);

// Changes the pace from now on. May be called from any thread. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamSetPace(SluiceStreamSubmitter submitter,
                                            const SluiceStreamPace* pace);

// Returns the timeline semaphore that batches signal; RECORDED and END events have its values. A
// RECORDED event comes after its batch was submitted, so the engine's own submits may wait for the
// event's value, even on the same queue. The semaphore lives as long as the submitter.
SLUICE_API VkSemaphore sluiceStreamGetSubmitterSemaphore(SluiceStreamSubmitter submitter);

// Reports on a submitter.
typedef struct SluiceStreamSubmitterState {
    uint64_t submits;  // batches submitted so far, which is also the value of the last one
    uint64_t wakeUps;  // number of times that the submitting thread woke up
    uint64_t failures; // submits and recordings that failed
    // Status of the last submit or recording: OK; NOT_READY (a pipeline is missing, see
    // sluiceStreamGetKernels); OUT_OF_MEMORY; DEVICE, which is permanent.
    SluiceStatus status;
} SluiceStreamSubmitterState;

// May be called from any thread. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamGetSubmitterState(SluiceStreamSubmitter submitter,
                                                      SluiceStreamSubmitterState* state);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_STREAM_VULKAN_H
