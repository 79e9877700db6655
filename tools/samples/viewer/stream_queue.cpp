// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/stream_queue.h"

namespace viewer {

void StreamQueue::submit(Streaming& streaming, float milliseconds, bool isMeasured)
{
    if (m_engine.lastValue() - m_taken == kMaxBatches) return;
    const uint64_t value = m_engine.nextValue();
    Slot& slot = m_slots[value % kMaxBatches];
    slot = {streaming.record(m_engine.begin(), milliseconds, semaphore(), value), isMeasured};
    if (slot.batch.number != 0) m_engine.submit();
}

std::vector<StreamQueue::Ended> StreamQueue::takeEnded()
{
    std::vector<Ended> ended;
    const uint64_t finished = this->finished();
    while (m_taken < finished) {
        const Slot& slot = m_slots[++m_taken % kMaxBatches];
        ended.push_back({{slot.batch.predictedMilliseconds, float(m_engine.milliseconds(m_taken)),
                          slot.batch.bytesOut},
                         slot.isMeasured});
    }
    return ended;
}

} // namespace viewer
