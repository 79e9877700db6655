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

// All handles stay the caller's and outlive the streamer. The device has the feature
// timelineSemaphore enabled if groups or budgets name semaphores.
typedef struct SluiceStreamVulkanInfo {
    PFN_vkGetInstanceProcAddr getInstanceProcAddr; // the loader's entry point
    VkInstance instance;                           // that physicalDevice is of
    VkPhysicalDevice physicalDevice;               // that device was created on
    VkDevice device;                               // that the streamer copies and decodes on
    uint32_t queueFamily;                          // of the queue that batches are submitted to
} SluiceStreamVulkanInfo;

// Loads the functions that a streamer calls, for SluiceStreamerInfo::gpu. Errors: ARGUMENT,
// UNSUPPORTED (a function is missing), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateStreamVulkan(const SluiceStreamVulkanInfo* info,
                                                 struct SluiceStreamGpu** gpu);
// Destroys it, after the streamers that use it. NULL is allowed.
SLUICE_API void sluiceDestroyStreamVulkan(struct SluiceStreamGpu* gpu);

// These give a VkImage and a VkSemaphore as requests, groups and budgets hold them.
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
// submits groups and polls, and nothing else. It has two threads: one records and submits, one
// waits for batches. Both sleep when there is nothing to do.
//
//   Calls     While a streamer has a submitter, sluiceStreamPoll only gives events, from any one
//             thread at a time, and its descriptor (sluiceStreamEventFd) tells of all of them. The
//             submitter's thread signals and waits for semaphores. sluiceStreamRecord, Discard and
//             Complete return ARGUMENT. Everything else is as without.
//   Queue     It is the engine's, and may be the only one of the device: lockQueue and unlockQueue
//             are called around each vkQueueSubmit, and the engine holds the same lock around its
//             own uses of the queue. No lock of the streamer is held meanwhile.
//   Owns      a command pool with as many command buffers as the streamer has batches, and a
//             timeline semaphore.
//   Errors    A submit or a command buffer that fails for lack of memory, and a batch whose
//             pipeline is missing, are tried again after 10 ms. VK_ERROR_DEVICE_LOST is
//             sluiceStreamDeviceLost.

typedef struct SluiceStreamSubmitter_T* SluiceStreamSubmitter;

// Says how much is submitted, and how often.
typedef struct SluiceStreamPace {
    // Limits each batch, as for sluiceStreamRecord; semaphore and value are not read. If
    // milliseconds is 0, nothing is submitted.
    SluiceStreamBudget budget;
    // Microseconds from one submit to the next, at least; then maxAge counts intervals. With 0 the
    // next batch is submitted as soon as something is ready and fewer than maxBatches are under
    // way; then minTiles holds as long as a batch is under way, and maxAge is not read.
    uint32_t interval;
} SluiceStreamPace;

// Names the objects that a submitter works with.
typedef struct SluiceStreamSubmitterInfo {
    // Its gpu was made from `vulkan`, and no batch of it is under way. It outlives the submitter.
    SluiceStreamer streamer;
    const SluiceStreamVulkanInfo* vulkan; // read during the call
    // It is of vulkan->queueFamily. The pool's buffers, and nothing else, are submitted to it.
    VkQueue queue;
    // Is called before each vkQueueSubmit. It may be NULL, as unlockQueue then is: nobody else uses
    // the queue. Both may wait, and must not call sluiceDestroyStreamSubmitter.
    void (*lockQueue)(void* user);
    void (*unlockQueue)(void* user); // is called after each vkQueueSubmit
    void* queueUser;                 // the `user` of both
    SluiceStreamPace pace;           // what it starts with; sluiceStreamSetPace changes it
} SluiceStreamSubmitterInfo;

// Creates a submitter and starts it. It counts as a call of sluiceStreamRecord: nothing else of
// that kind is under way. Errors: ARGUMENT (also: the streamer has no gpu, a submitter, or a batch
// under way), UNSUPPORTED (a function is missing), OUT_OF_MEMORY, DEVICE.
SLUICE_API SluiceStatus sluiceCreateStreamSubmitter(const SluiceStreamSubmitterInfo* info,
                                                    SluiceStreamSubmitter* submitter);

// Waits for the submitted batches, collects their results, and destroys the submitter; no
// sluiceStreamPoll may be under way. Work that is not submitted stays with the streamer, which may
// get another submitter or be recorded by the engine. NULL is allowed.
SLUICE_API void sluiceDestroyStreamSubmitter(SluiceStreamSubmitter submitter);

// Changes how much is submitted from now on, in any thread. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamSetPace(SluiceStreamSubmitter submitter,
                                            const SluiceStreamPace* pace);

// Returns the timeline semaphore that batches signal, with the values in RECORDED and END events. A
// RECORDED event comes after its batch was submitted, so that the engine's own submits, of the same
// queue too, may wait for it. It lives as long as the submitter.
SLUICE_API VkSemaphore sluiceStreamGetSubmitterSemaphore(SluiceStreamSubmitter submitter);

// Reports on a submitter.
typedef struct SluiceStreamSubmitterState {
    uint64_t submits;  // batches submitted, and the value of the last one
    uint64_t wakeUps;  // how often the thread that submits has woken up
    uint64_t failures; // submits and recordings that failed
    // The last one's: OK; NOT_READY: a pipeline is missing (sluiceStreamGetKernels); OUT_OF_MEMORY;
    // DEVICE, which stays.
    SluiceStatus status;
} SluiceStreamSubmitterState;

// May be called from any thread. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamGetSubmitterState(SluiceStreamSubmitter submitter,
                                                      SluiceStreamSubmitterState* state);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_STREAM_VULKAN_H
