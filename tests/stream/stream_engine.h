// SPDX-License-Identifier: MIT OR Apache-2.0
// An engine's Vulkan, as little of it as tests of streaming need.
#pragma once

#include <vulkan/vulkan_core.h>

#include <sluice/sluice_stream_vulkan.h>

#include "tests/support/devices.h"

#include "device/device_vulkan.h"

#include <mutex>

namespace sluice::test {

#define SLUICE_TEST_FUNCTIONS(X)                                                                   \
    X(CreateBuffer)                                                                                \
    X(DestroyBuffer)                                                                               \
    X(GetBufferDeviceAddress)                                                                      \
    X(GetBufferMemoryRequirements)                                                                 \
    X(AllocateMemory)                                                                              \
    X(FreeMemory)                                                                                  \
    X(BindBufferMemory)                                                                            \
    X(MapMemory)                                                                                   \
    X(CreateImage)                                                                                 \
    X(DestroyImage)                                                                                \
    X(GetImageMemoryRequirements)                                                                  \
    X(BindImageMemory)                                                                             \
    X(CreateCommandPool)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(AllocateCommandBuffers)                                                                      \
    X(ResetCommandPool)                                                                            \
    X(BeginCommandBuffer)                                                                          \
    X(EndCommandBuffer)                                                                            \
    X(QueueSubmit)                                                                                 \
    X(QueueWaitIdle)                                                                               \
    X(CreateSemaphore)                                                                             \
    X(DestroySemaphore)                                                                            \
    X(SignalSemaphore)                                                                             \
    X(GetSemaphoreCounterValue)                                                                    \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CmdPipelineBarrier)

// An engine's Vulkan, as little of it as the tests need, on the device under test.
class Engine {
public:
    explicit Engine(Device& on);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    SluiceStreamGpu* gpu() const { return m_gpu; }
    uint32_t queueFamily() const { return m_handles.queueFamily; }
    VkQueue queue() const { return m_handles.queue; }
    // The engine holds it while it uses the queue.
    std::mutex& queueLock() const { return m_queueLock; }
    SluiceStreamVulkanInfo streamInfo() const;
    SluiceStreamMemory makeBuffer(VkDeviceSize size);
    // A buffer in memory of the host's, which is there until the engine is not. Both are multiples
    // of what the device wants. False: the device cannot import such memory.
    bool importHost(void* host, VkDeviceSize size, SluiceStreamMemory& buffer);
    uint64_t addressOf(const SluiceBuffer& buffer) const;
    VkImage makeImage(const VkImageCreateInfo& info);
    VkSemaphore makeSemaphore();
    uint64_t valueOf(VkSemaphore semaphore) const;
    void signal(VkSemaphore semaphore, uint64_t value) const;
    VkCommandBuffer begin();
    // semaphore: signalled with the value; may be VK_NULL_HANDLE.
    void submit(VkSemaphore semaphore, uint64_t value);
    void waitIdle() const
    {
        const std::lock_guard<std::mutex> lock(m_queueLock);
        m_QueueWaitIdle(m_handles.queue);
    }
    // A box of one level, which is in `layout`.
    Bytes readImage(VkImage image, const SluiceStreamImage& box, size_t size,
                    VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);

#define SLUICE_MEMBER(name) PFN_vk##name m_##name = nullptr;
    SLUICE_TEST_FUNCTIONS(SLUICE_MEMBER)
#undef SLUICE_MEMBER

private:
    VkDeviceMemory allocate(const VkMemoryRequirements& required, bool isMapped);

    VulkanHandles m_handles{};
    mutable std::mutex m_queueLock;
    VkDevice m_device = VK_NULL_HANDLE;
    VkPhysicalDeviceMemoryProperties m_memoryTypes{};
    SluiceStreamGpu* m_gpu = nullptr;
    VkCommandPool m_pool = VK_NULL_HANDLE;
    VkCommandBuffer m_commands = VK_NULL_HANDLE;
    std::vector<VkBuffer> m_buffers;
    std::vector<VkImage> m_images;
    std::vector<VkDeviceMemory> m_memories;
    std::vector<VkSemaphore> m_semaphores;
};

} // namespace sluice::test
