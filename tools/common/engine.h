// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of an engine's Vulkan code that the benchmark, the tests and the samples need, on a
// device that is open already: buffers, and frames. A frame is one command buffer whose end a
// timeline semaphore signals. Failures are thrown as EngineError.
#pragma once

#include <vulkan/vulkan_core.h>

#include <map>
#include <stdexcept>

#include <sluice/sluice_stream_vulkan.h>

#include "device/device_vulkan.h"

namespace sluice {

#define SLUICE_ENGINE_FUNCTIONS(X)                                                                 \
    X(CreateBuffer)                                                                                \
    X(DestroyBuffer)                                                                               \
    X(GetBufferDeviceAddress)                                                                      \
    X(GetBufferMemoryRequirements)                                                                 \
    X(AllocateMemory)                                                                              \
    X(FreeMemory)                                                                                  \
    X(BindBufferMemory)                                                                            \
    X(MapMemory)                                                                                   \
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
    X(CmdCopyBuffer)

struct EngineError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// Throws an EngineError if a call failed.
void require(VkResult result, const char* call);

struct EngineInfo {
    SluiceStreamVulkanInfo vulkan; // vulkan.queueFamily is that of `queue`
    VkQueue queue;
    bool hasAddresses = true; // bufferDeviceAddress is enabled
    uint32_t otherFamily;     // another family that uses the buffers; if none, queueFamily
};

// Returns the Vulkan handles of a device that the library itself has opened (sluiceOpenDevice).
// Throws an EngineError if it is not a Vulkan device.
inline EngineInfo engineInfo(SluiceDevice device)
{
    VulkanHandles handles = {};
    if (!vulkanHandles(device, handles)) throw EngineError("not a Vulkan device");
    const SluiceVulkanContextInfo& context = handles.contextInfo;
    return {{context.getInstanceProcAddr, context.instance, context.physicalDevice, context.device,
             handles.queueFamily},
            handles.queue,
            true,
            handles.queueFamily};
}

// A buffer. The inherited member `host` is the address at which the buffer is mapped, null for
// Memory::local.
struct EngineBuffer : SluiceStreamMemory {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceSize allocated = 0;
    VkDeviceAddress address = 0;
    bool isLocal = false; // the buffer is in the device's own memory

    template <typename T>
    T* as() const
    {
        return static_cast<T*>(host);
    }
};

class VulkanEngine {
public:
    enum class Memory {
        local,  // device memory
        host,   // system memory, cached
        upload, // any memory that the host can write
        mapped  // device memory that the host writes directly
    };
    static constexpr uint32_t kFrames = 4;

    explicit VulkanEngine(const EngineInfo& on);
    ~VulkanEngine();
    VulkanEngine(const VulkanEngine&) = delete;
    VulkanEngine& operator=(const VulkanEngine&) = delete;

    const SluiceStreamVulkanInfo& info() const { return m_on.vulkan; }
    VkQueue queue() const { return m_on.queue; }
    template <typename Function>
    Function ofInstance(const char* name) const
    {
        return reinterpret_cast<Function>(
            m_on.vulkan.getInstanceProcAddr(m_on.vulkan.instance, name));
    }
    template <typename Function>
    Function ofDevice(const char* name) const
    {
        return reinterpret_cast<Function>(m_getDeviceProcAddr(m_on.vulkan.device, name));
    }

    // Returns true if the host can map device memory that is separate from system memory, and
    // `size` is at most half of that memory's heap.
    bool hasMapped(uint64_t size) const;
    // All buffers are mapped except those in Memory::local, and mapped buffers begin as zeros. A
    // buffer lives until it is released, or as long as the engine.
    EngineBuffer allocate(uint64_t size, Memory kind, VkBufferUsageFlags moreUsage = 0);
    void release(const SluiceStreamMemory& buffer);
    // Allocates memory for images, which the caller frees with freeMemory.
    VkDeviceMemory allocateMemory(const VkMemoryRequirements& needs, Memory kind,
                                  const void* next = nullptr, bool* isLocal = nullptr);
    void freeMemory(VkDeviceMemory memory, uint64_t size);
    uint64_t allocatedBytes() const { return m_allocatedBytes; }
    uint32_t typeFor(uint32_t allowed, Memory kind) const;

    VkSemaphore makeTimeline() const; // its initial value is 0
    uint64_t valueOf(VkSemaphore semaphore) const;
    bool waitUntil(VkSemaphore semaphore, uint64_t value, uint64_t nanoseconds) const;

    // begin() starts a frame and returns a command buffer to record into. It first waits for the
    // frame kFrames before this one. A frame that is not submitted is discarded. submit() signals
    // semaphore() at the frame's end, and also `other` with `value` unless `other` is null.
    VkCommandBuffer begin();
    void submit(VkSemaphore other = VK_NULL_HANDLE, uint64_t value = 0);
    // Returns the timeline semaphore that frames signal. The next submit() signals nextValue().
    VkSemaphore semaphore() const { return m_semaphore; }
    uint64_t nextValue() const { return m_value + 1; }
    uint64_t lastValue() const { return m_value; } // value of the newest submitted frame
    uint64_t doneValue() const { return valueOf(m_semaphore); }
    bool waitFor(uint64_t value, uint64_t nanoseconds) const
    {
        return waitUntil(m_semaphore, value, nanoseconds);
    }
    void waitIdle() const { waitFor(m_value, UINT64_MAX); }
    // Returns the GPU time, in milliseconds, of the frame that signalled `value`. The frame must
    // have ended and be one of the last kFrames. Returns 0 if the queue has no timestamps.
    double milliseconds(uint64_t value) const;

    // A full barrier: every command recorded earlier ends before any command recorded later begins.
    // Makes the writes of all earlier commands visible to the later ones and to the host.
    void barrier(VkCommandBuffer commands) const;
    void copy(VkCommandBuffer commands, SluiceBuffer from, SluiceBuffer to) const;

#define SLUICE_MEMBER(name) PFN_vk##name name = nullptr;
    SLUICE_ENGINE_FUNCTIONS(SLUICE_MEMBER)
#undef SLUICE_MEMBER

private:
    struct Frame {
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        uint64_t value = 0;
    };
    void makeFrames();

    EngineInfo m_on;
    VkDevice m_device;
    PFN_vkGetDeviceProcAddr m_getDeviceProcAddr;
    VkPhysicalDeviceMemoryProperties m_types{};
    double m_period = 0; // milliseconds per tick; 0: no timestamps
    uint64_t m_tickMask = 0;
    std::map<uint64_t, EngineBuffer> m_buffers; // by handle
    uint64_t m_allocatedBytes = 0;
    VkSemaphore m_semaphore = VK_NULL_HANDLE;
    VkQueryPool m_queries = VK_NULL_HANDLE;
    Frame m_frames[kFrames];
    uint64_t m_value = 0;
};

} // namespace sluice
