// SPDX-License-Identifier: MIT OR Apache-2.0
// Submits the streamer's batches in submits of their own, beside the frames. A batch that exceeds
// its budget, which a single tile may cause, then delays no frame. The batches go to a compute
// queue if the device has one, else to a second queue, else between the frames.
#pragma once

#include <vector>

#include "tools/samples/viewer/report.h"
#include "tools/samples/viewer/streaming.h"

namespace viewer {

class StreamQueue {
public:
    explicit StreamQueue(Device& device) : m_engine(device.engine()) {}

    // Records the work that is ready and submits it, unless all of the streamer's batches are under
    // way.
    void submit(Streaming& streaming, float milliseconds, bool isMeasured);
    // The result of a batch that has ended since the last call of takeEnded.
    struct Ended {
        BatchSample sample;
        bool isMeasured;
    };
    std::vector<Ended> takeEnded();

    // A frame that shows streamed textures waits for the value that the semaphore has when the
    // frame is recorded. That value is already reached, so the wait only makes memory visible and
    // does not delay the frame.
    VkSemaphore semaphore() const { return m_engine.semaphore(); }
    uint64_t finished() const { return m_engine.doneValue(); }

private:
    struct Slot {
        SluiceStreamBatch batch = {};
        bool isMeasured = false;
    };

    static_assert(kMaxBatches <= sluice::VulkanEngine::kFrames);
    sluice::VulkanEngine& m_engine;
    Slot m_slots[kMaxBatches]; // by the batch's semaphore value
    uint64_t m_taken = 0;      // batches that takeEnded has returned
};

} // namespace viewer
