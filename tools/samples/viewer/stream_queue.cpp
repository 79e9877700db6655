// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/stream_queue.h"

namespace viewer {

StreamQueue::StreamQueue(Device& device) : m_device(device)
{
    m_pool = device.makeCommandPool(device.streamingFamily());
    VkCommandBuffer commands[kMaxBatches];
    VkCommandBufferAllocateInfo allocate = {};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = m_pool;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = kMaxBatches;
    require(vkAllocateCommandBuffers(device.get(), &allocate, commands),
            "vkAllocateCommandBuffers");
    for (uint32_t i = 0; i < kMaxBatches; ++i)
        m_slots[i].commands = commands[i];
    m_semaphore = device.makeTimeline();
    VkQueryPoolCreateInfo times = {};
    times.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    times.queryType = VK_QUERY_TYPE_TIMESTAMP;
    times.queryCount = 2 * kMaxBatches;
    if (device.streamingMillisecondsPerTick() != 0)
        require(vkCreateQueryPool(device.get(), &times, nullptr, &m_times), "vkCreateQueryPool");
}

StreamQueue::~StreamQueue()
{
    vkDestroyQueryPool(m_device.get(), m_times, nullptr);
    vkDestroySemaphore(m_device.get(), m_semaphore, nullptr);
    vkDestroyCommandPool(m_device.get(), m_pool, nullptr);
}

uint64_t StreamQueue::finished() const
{
    uint64_t value = 0;
    require(vkGetSemaphoreCounterValue(m_device.get(), m_semaphore, &value),
            "vkGetSemaphoreCounterValue");
    return value;
}

void StreamQueue::submit(Streaming& streaming, float milliseconds, bool isMeasured)
{
    if (m_submitted - m_taken == kMaxBatches) return;
    const uint32_t number = uint32_t(m_submitted % kMaxBatches);
    Slot& slot = m_slots[number];
    const uint64_t value = m_submitted + 1;
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    require(vkBeginCommandBuffer(slot.commands, &begin), "vkBeginCommandBuffer");
    // At the bottom of the pipe: the batch before has ended, for which this one waits.
    const auto mark = [&](uint32_t query) {
        if (m_times != VK_NULL_HANDLE)
            vkCmdWriteTimestamp(slot.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, m_times,
                                2 * number + query);
    };
    if (m_times != VK_NULL_HANDLE) vkCmdResetQueryPool(slot.commands, m_times, 2 * number, 2);
    mark(0);
    slot.batch = streaming.record(slot.commands, milliseconds, m_semaphore, value);
    mark(1);
    require(vkEndCommandBuffer(slot.commands), "vkEndCommandBuffer");
    if (slot.batch.number == 0) return;
    slot.isMeasured = isMeasured;
    VkTimelineSemaphoreSubmitInfo timeline = {};
    timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    timeline.signalSemaphoreValueCount = 1;
    timeline.pSignalSemaphoreValues = &value;
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &timeline;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &slot.commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &m_semaphore;
    require(vkQueueSubmit(m_device.streamingQueue(), 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    m_submitted = value;
}

std::vector<StreamQueue::Ended> StreamQueue::takeEnded()
{
    std::vector<Ended> ended;
    const uint64_t finished = this->finished();
    while (m_taken < finished) {
        const uint32_t number = uint32_t(m_taken++ % kMaxBatches);
        const Slot& slot = m_slots[number];
        uint64_t ticks[2] = {};
        if (m_times != VK_NULL_HANDLE)
            require(vkGetQueryPoolResults(m_device.get(), m_times, 2 * number, 2, sizeof ticks,
                                          ticks, sizeof ticks[0], VK_QUERY_RESULT_64_BIT),
                    "vkGetQueryPoolResults");
        const float measured =
            float(double(ticks[1] - ticks[0]) * m_device.streamingMillisecondsPerTick());
        ended.push_back(
            {{slot.batch.predictedMilliseconds, measured, slot.batch.bytesOut}, slot.isMeasured});
    }
    return ended;
}

} // namespace viewer
