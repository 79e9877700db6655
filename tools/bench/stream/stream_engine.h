// SPDX-License-Identifier: MIT OR Apache-2.0
// As much of an engine's Vulkan as streaming needs: memory that the host maps, images, and frames
// whose end a timeline semaphore tells.
#pragma once

#include <vulkan/vulkan_core.h>

#include <map>

#include <sluice/sluice_image.h>
#include <sluice/sluice_stream_vulkan.h>

#include "tools/bench/bench_device.h"
#include "device/device_vulkan.h"

namespace sluice {

#define SLUICE_STREAM_ENGINE_FUNCTIONS(X)                                                          \
    X(CreateBuffer)                                                                                \
    X(DestroyBuffer)                                                                               \
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
    X(CreateSemaphore)                                                                             \
    X(DestroySemaphore)                                                                            \
    X(GetSemaphoreCounterValue)                                                                    \
    X(WaitSemaphores)                                                                              \
    X(CreateQueryPool)                                                                             \
    X(DestroyQueryPool)                                                                            \
    X(GetQueryPoolResults)                                                                         \
    X(CmdResetQueryPool)                                                                           \
    X(CmdWriteTimestamp)                                                                           \
    X(CmdPipelineBarrier)                                                                          \
    X(CmdCopyBuffer)                                                                               \
    X(CmdCopyImageToBuffer)

class StreamEngine {
public:
    enum class Memory {
        host,  // the system's, cached
        mapped // the device's own, which the host writes through a window
    };
    static constexpr uint32_t kFrames = 4;

    // The device is one of Vulkan. Throws a Failure.
    explicit StreamEngine(const BenchDevice& device);
    ~StreamEngine();
    StreamEngine(const StreamEngine&) = delete;
    StreamEngine& operator=(const StreamEngine&) = delete;

    const BenchDevice& device() const { return m_owner; }
    SluiceStreamGpu* gpu() const { return m_gpu; }

    // Is there a window on so many bytes of the device's own memory, which is not the system's?
    bool hasMapped(uint64_t size) const;
    // Mapped memory, zeroed. It lives as long as the engine, or until it is released.
    SluiceStreamMemory allocate(uint64_t size, Memory kind);
    void release(const SluiceStreamMemory& memory);
    // An image of the levels from firstLevel on. It lives as long as the engine.
    VkImage makeImage(const SluiceImageInfo& info, uint32_t firstLevel);

    // A frame: begin gives the command buffer to record into, and gives it again until submit. It
    // waits until the frame kFrames before is done.
    VkCommandBuffer begin();
    void submit();
    // What submit will signal.
    uint64_t nextValue() const { return m_value + 1; }
    uint64_t lastValue() const { return m_value; } // of the newest frame submitted
    uint64_t doneValue() const;
    VkSemaphore semaphore() const { return m_semaphore; }
    bool waitFor(uint64_t value, uint64_t nanoseconds) const;
    void waitIdle() const { waitFor(m_value, UINT64_MAX); }
    // GPU time of a frame that is done, one of the last kFrames; 0: the queue has no timestamps.
    double milliseconds(uint64_t value) const;

    // All that came before is done, and visible, before all that comes.
    void barrier(VkCommandBuffer commands) const;
    void copy(VkCommandBuffer commands, SluiceBuffer from, SluiceBuffer to) const;
    // An image's level and layer as copies take it out, from SHADER_READ_ONLY_OPTIMAL.
    Bytes readImage(VkImage image, const SluiceStreamImage& box, uint64_t size);

private:
    struct Allocation {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
    };
    struct Frame {
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        uint64_t value = 0;
    };
    struct Image {
        VkImage image = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
    };
    uint32_t typeFor(uint32_t allowed, VkMemoryPropertyFlags wanted,
                     VkMemoryPropertyFlags unwanted) const;
    VkDeviceMemory allocateMemory(uint64_t size, uint32_t type, bool hasAddress) const;
    void makeFrames();

    const BenchDevice& m_owner;
    VulkanHandles m_handles{};
    VkDevice m_device = VK_NULL_HANDLE;
#define SLUICE_MEMBER(name) PFN_vk##name m_##name = nullptr;
    SLUICE_STREAM_ENGINE_FUNCTIONS(SLUICE_MEMBER)
#undef SLUICE_MEMBER
    VkPhysicalDeviceMemoryProperties m_types{};
    double m_period = 0; // milliseconds of a tick; 0: no timestamps
    uint64_t m_tickMask = 0;
    SluiceStreamGpu* m_gpu = nullptr;
    std::map<uint64_t, Allocation> m_allocations; // by buffer
    std::vector<Image> m_images;
    VkSemaphore m_semaphore = VK_NULL_HANDLE;
    VkQueryPool m_queries = VK_NULL_HANDLE;
    Frame m_frames[kFrames];
    uint64_t m_value = 0;
    bool m_isBegun = false;
};

} // namespace sluice
