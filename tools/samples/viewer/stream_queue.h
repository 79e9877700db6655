// SPDX-License-Identifier: MIT OR Apache-2.0
// Batches of the streamer in submits of their own, beside the frames: a batch that takes longer
// than its budget, and one tile may, then makes no frame longer. On a queue for compute alone where
// the device has one, else on a second queue, else between the frames.
#pragma once

#include <vector>

#include "tools/samples/viewer/report.h"
#include "tools/samples/viewer/streaming.h"

namespace viewer {

class StreamQueue {
public:
    explicit StreamQueue(Device& device) : m_engine(device.engine()) {}

    // Records what is ready and submits it, unless as many batches are under way as a streamer has.
    void submit(Streaming& streaming, float milliseconds, bool isMeasured);
    // Each batch that has ended since the last call has an element, which says what it took.
    struct Ended {
        BatchSample sample;
        bool isMeasured;
    };
    std::vector<Ended> takeEnded();

    // A frame that shows what was streamed waits for the value that the semaphore has when the
    // frame is recorded, for memory's sake: it does not hold the frame up.
    VkSemaphore semaphore() const { return m_engine.semaphore(); }
    uint64_t finished() const { return m_engine.doneValue(); }

private:
    struct Slot {
        SluiceStreamBatch batch = {};
        bool isMeasured = false;
    };

    static_assert(kMaxBatches <= sluice::VulkanEngine::kFrames);
    sluice::VulkanEngine& m_engine;
    Slot m_slots[kMaxBatches]; // by value
    uint64_t m_taken = 0;      // batches, by takeEnded
};

} // namespace viewer
