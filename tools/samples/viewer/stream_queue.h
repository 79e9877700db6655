// SPDX-License-Identifier: MIT OR Apache-2.0
// Submits the streamer's batches by themselves, beside the frames: a batch that exceeds its budget,
// as a single tile may, then delays no frame. They go to a compute queue if the device has one,
// else to a second queue, else between the frames.
#pragma once

#include <vector>

#include "tools/samples/viewer/report.h"
#include "tools/samples/viewer/streaming.h"

namespace viewer {

class StreamQueue {
public:
    explicit StreamQueue(Device& device) : m_engine(device.engine()) {}

    // Records what is ready and submits it, unless the streamer's batches are all under way.
    void submit(Streaming& streaming, float milliseconds, bool isMeasured);
    // An element for each batch that has ended since the last call: how long it took.
    struct Ended {
        BatchSample sample;
        bool isMeasured;
    };
    std::vector<Ended> takeEnded();

    // A frame that shows what was streamed waits for the value that the semaphore has when the
    // frame is recorded. The wait only makes memory visible; it does not hold up the frame.
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
