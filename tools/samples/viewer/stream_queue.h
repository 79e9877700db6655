// SPDX-License-Identifier: MIT OR Apache-2.0
// Submits the streamer's batches by themselves, beside the frames. A batch with a single large tile
// may take longer than its budget, but then delays no frame. Batches go to a compute-only queue; if
// there is none, to a second queue; if there is none either, to the queue of the frames, where they
// run between frames.
#pragma once

#include <vector>

#include "tools/samples/viewer/report.h"
#include "tools/samples/viewer/streaming.h"

namespace viewer {

class StreamQueue {
public:
    explicit StreamQueue(Device& device) : m_engine(device.engine()) {}

    // Records a batch of what is ready and submits it, unless as many batches as the streamer
    // allows are under way. isMeasured comes back in Ended: the batch's time is wanted for the
    // report.
    void submit(Streaming& streaming, float milliseconds, bool isMeasured);
    // A batch that has ended since the last call of takeEnded().
    struct Ended {
        BatchSample sample;
        bool isMeasured;
    };
    std::vector<Ended> takeEnded();

    // A frame that shows streamed textures waits for the value that this semaphore has when the
    // frame is recorded. The value has been reached, so the wait delays nothing. It is needed
    // because it makes what the batches wrote visible to the frame.
    VkSemaphore semaphore() const { return m_engine.semaphore(); }
    uint64_t finished() const { return m_engine.doneValue(); }

private:
    struct Slot {
        SluiceStreamBatch batch = {};
        bool isMeasured = false;
    };

    static_assert(kMaxBatches <= sluice::VulkanEngine::kFrames);
    sluice::VulkanEngine& m_engine;
    Slot m_slots[kMaxBatches]; // index: the batch's semaphore value modulo kMaxBatches
    uint64_t m_taken = 0;      // batches that takeEnded() has returned
};

} // namespace viewer
