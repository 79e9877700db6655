// SPDX-License-Identifier: MIT OR Apache-2.0
// An engine's Vulkan, as little of it as tests of streaming need.
#pragma once

#include "tests/support/devices.h"

#include "tools/common/engine.h"

#include <mutex>

namespace sluice::test {

// On the device under test. Its frames come one after the other.
class Engine : public VulkanEngine {
public:
    explicit Engine(Device& on);
    ~Engine();

    SluiceStreamGpu* gpu() const { return m_gpu; }
    uint32_t queueFamily() const { return info().queueFamily; }
    // The engine holds it while it uses the queue.
    std::mutex& queueLock() const { return m_queueLock; }
    SluiceStreamMemory makeBuffer(VkDeviceSize size); // filled with Buffer::kPoison
    // A buffer in memory of the host's, which is there until the engine is not. Both are multiples
    // of what the device wants. False: the device cannot import such memory.
    bool importHost(void* host, VkDeviceSize size, SluiceStreamMemory& buffer);
    uint64_t addressOf(const SluiceBuffer& buffer) const;
    VkImage makeImage(const VkImageCreateInfo& info);
    VkSemaphore makeSemaphore();
    void signal(VkSemaphore semaphore, uint64_t value) const;
    VkCommandBuffer begin();
    // semaphore: signalled with the value; may be VK_NULL_HANDLE.
    void submit(VkSemaphore semaphore, uint64_t value);
    void waitIdle() const; // of all that the queue was given
    // A box of one level, which is in `layout`.
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
