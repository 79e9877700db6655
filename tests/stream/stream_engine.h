// SPDX-License-Identifier: MIT OR Apache-2.0
// As much of an engine's Vulkan as tests of streaming need.
#pragma once

#include "tests/support/devices.h"

#include "tools/common/engine.h"

#include <mutex>

namespace sluice::test {

// An engine on the device under test. It waits for each frame before it begins the next one.
class Engine : public VulkanEngine {
public:
    explicit Engine(Device& on);
    ~Engine();

    SluiceStreamGpu* gpu() const { return m_gpu; }
    uint32_t queueFamily() const { return info().queueFamily; }
    // The engine holds this mutex while it uses the queue.
    std::mutex& queueLock() const { return m_queueLock; }
    SluiceStreamMemory makeBuffer(VkDeviceSize size); // its bytes are Buffer::kPoison
    // Makes a buffer of the host's memory, which must live as long as the engine. Address and size
    // must be multiples of what the device requires. Returns false if the device cannot import such
    // memory.
    bool importHost(void* host, VkDeviceSize size, SluiceStreamMemory& buffer);
    uint64_t addressOf(const SluiceBuffer& buffer) const;
    VkImage makeImage(const VkImageCreateInfo& info);
    VkSemaphore makeSemaphore();
    void signal(VkSemaphore semaphore, uint64_t value) const;
    VkCommandBuffer begin();
    // Submits the commands. semaphore: receives the value at their end; may be VK_NULL_HANDLE.
    void submit(VkSemaphore semaphore, uint64_t value);
    void waitIdle() const; // waits for all that was submitted to the queue
    // Reads a box of one level, which has the layout `layout`.
    Bytes readImage(VkImage image, const SluiceStreamImage& box, size_t size,
                    VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);

private:
    VkDevice device() const { return info().device; }

    mutable std::mutex m_queueLock;
    SluiceStreamGpu* m_gpu = nullptr;
    std::vector<VkBuffer> m_imported;
    std::vector<VkImage> m_images;
    std::vector<VkDeviceMemory> m_memories;
    std::vector<VkSemaphore> m_semaphores;
};

} // namespace sluice::test
