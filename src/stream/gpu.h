// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions of a GPU's API that a streamer needs in addition to sluice's commands: copies,
// image layouts, semaphores and timestamps.
#pragma once

#include <sluice/sluice_stream.h>

#include <atomic>
#include <cstdint>

namespace sluice::stream {

// A copy from a buffer into a box of an image's level.
struct ImageCopy {
    const SluiceStreamImage* image;
    uint64_t bufferHandle, bufferOffset;
    uint32_t firstLayer, layerCount; // layers of the image
    uint32_t offset[3], extent[3];
};

// The layers of a level that copies are about to write.
struct ImageBegin {
    const SluiceStreamImage* image;
    uint32_t oldLayout;
};
// One barrier changes the layouts of up to this many images. A barrier per image would keep the
// device from running more than one copy at a time.
constexpr uint32_t kImagesAtOnce = 64;

} // namespace sluice::stream

struct SluiceStreamGpu {
    virtual ~SluiceStreamGpu() = default;

    static constexpr uint32_t kMaxStreamers = 64; // at the same time

    // Called once per streamer, which needs `batches` pairs of timestamps. The functions below take
    // the id that this returns.
    virtual SluiceStatus begin(uint32_t batches, uint32_t& id) = 0;
    virtual void end(uint32_t id) = 0;

    // timestamp writes a timestamp before or after (isEnd) a batch. milliseconds returns false if
    // the queue has no timestamps, or if the batch's timestamps have not been written yet.
    virtual void timestamp(SluiceCommands commands, uint32_t id, uint32_t batch, bool isEnd) = 0;
    virtual bool milliseconds(uint32_t id, uint32_t batch, double& result) = 0;

    // Returns the device address of the range's first byte. Called only if the GPU decodes.
    virtual uint64_t address(const SluiceBuffer& buffer) const
    {
        return buffer.handle + buffer.offset;
    }

    // Makes the batch's decodes and copies wait for all earlier work of the queue, and see the
    // results of that work.
    virtual void barrierBefore(SluiceCommands commands) = 0;
    // Makes the batch's copies wait for its decodes, and see their results.
    virtual void barrierToCopies(SluiceCommands commands) = 0;
    // Makes later uses of the batch's buffers wait for the whole batch. Once the batch is complete,
    // the host sees its results.
    virtual void barrierAfter(SluiceCommands commands) = 0;
    // Changes the layers from the given layouts to TRANSFER_DST_OPTIMAL. From UNDEFINED, the change
    // waits for no earlier command.
    virtual void beginImages(SluiceCommands commands, const sluice::stream::ImageBegin* images,
                             uint32_t count) = 0;
    // Changes the layers to the layouts, queue families and accesses that the requests specify.
    virtual void endImages(SluiceCommands commands, const SluiceStreamImage* const* images,
                           uint32_t count) = 0;
    virtual void copyToImage(SluiceCommands commands, const sluice::stream::ImageCopy& copy) = 0;
    // Errors: DEVICE.
    virtual SluiceStatus copyToBuffer(SluiceCommands commands, uint64_t from, uint64_t fromOffset,
                                      const SluiceBuffer& to) = 0;

    // If true, commands run as soon as they are enqueued, so a batch cannot be taken back.
    // batchDone then reports whether a batch is complete; its error DEVICE means that the batch
    // will never be complete. If false, a semaphore or the engine reports that a batch is complete.
    virtual bool isImmediate() const { return false; }
    virtual SluiceStatus batchDone(uint32_t id, uint32_t batch, bool& isDone)
    {
        (void)id, (void)batch;
        isDone = false;
        return SLUICE_OK;
    }
    // If hasImages returns false, beginImages, endImages and copyToImage are never called. If
    // hasSemaphores returns false, semaphoreValue and signal are never called.
    virtual bool hasImages() const { return true; }
    virtual bool hasSemaphores() const { return true; }

    // Errors: DEVICE.
    virtual SluiceStatus semaphoreValue(uint64_t semaphore, uint64_t& value) = 0;
    virtual SluiceStatus signal(uint64_t semaphore, uint64_t value) = 0;
};

namespace sluice::stream {

// The GPU's API as seen by one streamer. There may be no GPU, and the device may be lost.
class Gpu {
public:
    explicit Gpu(SluiceStreamGpu* api) : m_api(api) {}
    ~Gpu()
    {
        if (m_hasBegun) m_api->end(m_id);
    }
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    SluiceStatus begin(uint32_t batches)
    {
        const SluiceStatus status = m_api != nullptr ? m_api->begin(batches, m_id) : SLUICE_OK;
        m_hasBegun = m_api != nullptr && status == SLUICE_OK;
        return status;
    }
    bool isThere() const { return m_api != nullptr; }
    bool isImmediate() const { return isThere() && m_api->isImmediate(); }
    bool hasImages() const { return isThere() && m_api->hasImages(); }
    bool hasSemaphores() const { return isThere() && m_api->hasSemaphores(); }
    // Returns the functions that record. May be called after `begin` has succeeded.
    SluiceStreamGpu& api() const { return *m_api; }
    uint32_t id() const { return m_id; }

    bool isLost() const { return m_isLost; }
    void lose() { m_isLost = true; }
    // The functions below return DEVICE on an error, and the device then counts as lost.
    SluiceStatus semaphoreValue(uint64_t semaphore, uint64_t& value)
    {
        return noted(m_isLost ? SLUICE_ERROR_DEVICE : m_api->semaphoreValue(semaphore, value));
    }
    SluiceStatus signal(const SluiceStreamSync& signal)
    {
        return noted(m_api->signal(signal.semaphore, signal.value));
    }
    SluiceStatus batchDone(uint32_t batch, bool& isDone)
    {
        return noted(m_api->batchDone(m_id, batch, isDone));
    }

private:
    SluiceStatus noted(SluiceStatus status)
    {
        if (status != SLUICE_OK) lose();
        return status;
    }

    SluiceStreamGpu* const m_api;
    uint32_t m_id = 0;
    bool m_hasBegun = false;
    std::atomic<bool> m_isLost{false};
};

} // namespace sluice::stream
