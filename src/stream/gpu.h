// SPDX-License-Identifier: MIT OR Apache-2.0
// What a streamer asks of a GPU's API beyond sluice's commands: copies, layouts, semaphores, time.
#pragma once

#include <sluice/sluice_stream.h>

#include <cstdint>

namespace sluice::stream {

// A copy from a buffer into a box of an image's level.
struct ImageCopy {
    const SluiceStreamImage* image;
    uint64_t bufferHandle, bufferOffset;
    uint32_t firstLayer, layerCount; // of the image
    uint32_t offset[3], extent[3];
};

// A level's layers that are about to be copied to.
struct ImageBegin {
    const SluiceStreamImage* image;
    uint32_t oldLayout;
};
// As many change their layouts at once: a barrier for each would keep the device from doing more
// than one copy at a time.
constexpr uint32_t kImagesAtOnce = 64;

} // namespace sluice::stream

struct SluiceStreamGpu {
    virtual ~SluiceStreamGpu() = default;

    // Once for a streamer: `batches` pairs of timestamps. The id is given to everything below.
    virtual SluiceStatus begin(uint32_t batches, uint32_t& id) = 0;
    virtual void end(uint32_t id) = 0;

    // Timestamps around a batch. False: this queue has none, or they are not there (yet).
    virtual void timestamp(SluiceCommands commands, uint32_t id, uint32_t batch, bool isEnd) = 0;
    virtual bool milliseconds(uint32_t id, uint32_t batch, double& result) = 0;

    // Whatever came before in the queue, before the batch's decodes and copies.
    virtual void barrierBefore(SluiceCommands commands) = 0;
    // Decodes before copies.
    virtual void barrierToCopies(SluiceCommands commands) = 0;
    // All of the batch before later uses of buffers, and before the host reads results.
    virtual void barrierAfter(SluiceCommands commands) = 0;
    // The levels' layers become TRANSFER_DST_OPTIMAL, from the layouts that are given.
    virtual void beginImages(SluiceCommands commands, const sluice::stream::ImageBegin* images,
                             uint32_t count) = 0;
    // And then what the requests say.
    virtual void endImages(SluiceCommands commands, const SluiceStreamImage* const* images,
                           uint32_t count) = 0;
    virtual void copyToImage(SluiceCommands commands, const sluice::stream::ImageCopy& copy) = 0;
    // Errors: DEVICE.
    virtual SluiceStatus copyToBuffer(SluiceCommands commands, uint64_t from, uint64_t fromOffset,
                                      const SluiceBuffer& to) = 0;

    // Commands run as they are given: a batch cannot be taken back, and batchDone says when it is
    // complete (DEVICE: never). Else a semaphore or the engine says so.
    virtual bool isImmediate() const { return false; }
    virtual SluiceStatus batchDone(uint32_t id, uint32_t batch, bool& isDone)
    {
        (void)id, (void)batch;
        isDone = false;
        return SLUICE_OK;
    }
    // Without them beginImages, endImages, copyToImage, and the functions below are never called.
    virtual bool hasImages() const { return true; }
    virtual bool hasSemaphores() const { return true; }

    // Errors: DEVICE.
    virtual SluiceStatus semaphoreValue(uint64_t semaphore, uint64_t& value) = 0;
    virtual SluiceStatus signal(uint64_t semaphore, uint64_t value) = 0;
};
