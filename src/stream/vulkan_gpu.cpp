// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies, layouts, semaphores and timestamps of Vulkan.
#include <vulkan/vulkan_core.h>

#include <sluice/sluice_stream_vulkan.h>

#include "stream/gpu.h"

#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace {

using sluice::stream::kImagesAtOnce;

#define SLUICE_STREAM_FUNCTIONS(X)                                                                 \
    X(CmdPipelineBarrier)                                                                          \
    X(CmdCopyBufferToImage)                                                                        \
    X(CmdCopyBuffer)                                                                               \
    X(CmdResetQueryPool)                                                                           \
    X(CmdWriteTimestamp)                                                                           \
    X(CreateQueryPool)                                                                             \
    X(DestroyQueryPool)                                                                            \
    X(GetQueryPoolResults)                                                                         \
    X(GetSemaphoreCounterValue)                                                                    \
    X(SignalSemaphore)

template <class Handle>
Handle handleOf(uint64_t number)
{
    return (Handle)(number); // a pointer on systems of 64 bits, a number elsewhere
}

class VulkanGpu final : public SluiceStreamGpu {
public:
    static SluiceStatus create(const SluiceStreamVulkanInfo& info, std::unique_ptr<VulkanGpu>& gpu);

    SluiceStatus begin(uint32_t batches, uint32_t& id) override;
    void end(uint32_t id) override;
    uint64_t address(const SluiceBuffer& buffer) const override;
    void timestamp(SluiceCommands commands, uint32_t id, uint32_t batch, bool isEnd) override;
    bool milliseconds(uint32_t id, uint32_t batch, double& result) override;
    void barrierBefore(SluiceCommands commands) override;
    void barrierToCopies(SluiceCommands commands) override;
    void barrierAfter(SluiceCommands commands) override;
    void beginImages(SluiceCommands commands, const sluice::stream::ImageBegin* images,
                     uint32_t count) override;
    void endImages(SluiceCommands commands, const SluiceStreamImage* const* images,
                   uint32_t count) override;
    void copyToImage(SluiceCommands commands, const sluice::stream::ImageCopy& copy) override;
    SluiceStatus copyToBuffer(SluiceCommands commands, uint64_t from, uint64_t fromOffset,
                              const SluiceBuffer& to) override;
    SluiceStatus semaphoreValue(uint64_t semaphore, uint64_t& value) override;
    SluiceStatus signal(uint64_t semaphore, uint64_t value) override;

private:
    static VkCommandBuffer of(SluiceCommands commands)
    {
        return reinterpret_cast<VkCommandBuffer>(commands);
    }
    void memoryBarrier(SluiceCommands commands, VkPipelineStageFlags before, VkAccessFlags made,
                       VkPipelineStageFlags after, VkAccessFlags used);
    VkImageMemoryBarrier imageBarrier(const SluiceStreamImage& image) const;

#define SLUICE_MEMBER(name) PFN_vk##name m_##name = nullptr;
    SLUICE_STREAM_FUNCTIONS(SLUICE_MEMBER)
#undef SLUICE_MEMBER
    // NULL on devices without buffer addresses, where only the CPU decodes.
    PFN_vkGetBufferDeviceAddress m_getBufferDeviceAddress = nullptr;
    VkDevice m_device = VK_NULL_HANDLE;
    double m_period = 0; // milliseconds per tick; 0: the queue has no timestamps
    uint64_t m_mask = 0;
    bool m_hasCompute = false;
    std::mutex m_mutex;
    VkQueryPool m_pools[kMaxStreamers] = {};
    bool m_isTaken[kMaxStreamers] = {};
};

SluiceStatus VulkanGpu::create(const SluiceStreamVulkanInfo& info, std::unique_ptr<VulkanGpu>& gpu)
{
    gpu.reset(new VulkanGpu);
    gpu->m_device = info.device;
    const auto instanceFunction = [&](const char* name) {
        return info.getInstanceProcAddr(info.instance, name);
    };
    const auto getDeviceProcAddr =
        reinterpret_cast<PFN_vkGetDeviceProcAddr>(instanceFunction("vkGetDeviceProcAddr"));
    const auto getProperties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
        instanceFunction("vkGetPhysicalDeviceProperties"));
    const auto getFamilies = reinterpret_cast<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(
        instanceFunction("vkGetPhysicalDeviceQueueFamilyProperties"));
    bool isComplete =
        getDeviceProcAddr != nullptr && getProperties != nullptr && getFamilies != nullptr;
    if (!isComplete) return SLUICE_ERROR_UNSUPPORTED;
#define SLUICE_LOAD(name)                                                                          \
    gpu->m_##name = reinterpret_cast<PFN_vk##name>(getDeviceProcAddr(info.device, "vk" #name));    \
    isComplete = isComplete && gpu->m_##name != nullptr;
    SLUICE_STREAM_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
    if (!isComplete) return SLUICE_ERROR_UNSUPPORTED;
    gpu->m_getBufferDeviceAddress = reinterpret_cast<PFN_vkGetBufferDeviceAddress>(
        getDeviceProcAddr(info.device, "vkGetBufferDeviceAddress"));
    uint32_t count = 0;
    getFamilies(info.physicalDevice, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    getFamilies(info.physicalDevice, &count, families.data());
    if (info.queueFamily >= count) return SLUICE_ERROR_ARGUMENT;
    const VkQueueFamilyProperties& family = families[info.queueFamily];
    VkPhysicalDeviceProperties properties = {};
    getProperties(info.physicalDevice, &properties);
    gpu->m_hasCompute = (family.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
    // Queues that support only transfers cannot reset a query pool, so they get no timestamps.
    const bool resets = (family.queueFlags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT)) != 0;
    const uint32_t bits = resets ? family.timestampValidBits : 0;
    if (bits != 0) {
        gpu->m_period = double(properties.limits.timestampPeriod) * 1e-6;
        gpu->m_mask = bits >= 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
    }
    return SLUICE_OK;
}

SluiceStatus VulkanGpu::begin(uint32_t batches, uint32_t& id)
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    id = 0;
    while (id < kMaxStreamers && m_isTaken[id])
        ++id;
    if (id == kMaxStreamers) return SLUICE_ERROR_OUT_OF_MEMORY;
    if (m_period > 0) {
        VkQueryPoolCreateInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
        info.queryType = VK_QUERY_TYPE_TIMESTAMP;
        info.queryCount = 2 * batches;
        if (m_CreateQueryPool(m_device, &info, nullptr, &m_pools[id]) != VK_SUCCESS)
            return SLUICE_ERROR_DEVICE;
    }
    m_isTaken[id] = true;
    return SLUICE_OK;
}

void VulkanGpu::end(uint32_t id)
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_DestroyQueryPool(m_device, m_pools[id], nullptr);
    m_pools[id] = VK_NULL_HANDLE;
    m_isTaken[id] = false;
}

uint64_t VulkanGpu::address(const SluiceBuffer& buffer) const
{
    VkBufferDeviceAddressInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    info.buffer = handleOf<VkBuffer>(buffer.handle);
    return m_getBufferDeviceAddress(m_device, &info) + buffer.offset;
}

void VulkanGpu::timestamp(SluiceCommands commands, uint32_t id, uint32_t batch, bool isEnd)
{
    if (m_period <= 0) return;
    if (!isEnd) m_CmdResetQueryPool(of(commands), m_pools[id], 2 * batch, 2);
    // At the bottom of the pipe, the first timestamp is taken when all earlier work of the queue
    // has ended. The batch waits for that work, so its own time starts there.
    m_CmdWriteTimestamp(of(commands), VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, m_pools[id],
                        2 * batch + (isEnd ? 1u : 0u));
}

bool VulkanGpu::milliseconds(uint32_t id, uint32_t batch, double& result)
{
    if (m_period <= 0) return false;
    uint64_t ticks[2] = {};
    if (m_GetQueryPoolResults(m_device, m_pools[id], 2 * batch, 2, sizeof ticks, ticks,
                              sizeof ticks[0], VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return false;
    result = double((ticks[1] - ticks[0]) & m_mask) * m_period;
    return true;
}

void VulkanGpu::memoryBarrier(SluiceCommands commands, VkPipelineStageFlags before,
                              VkAccessFlags made, VkPipelineStageFlags after, VkAccessFlags used)
{
    VkMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = made;
    barrier.dstAccessMask = used;
    m_CmdPipelineBarrier(of(commands), before, after, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void VulkanGpu::barrierBefore(SluiceCommands commands)
{
    VkPipelineStageFlags stages = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkAccessFlags accesses = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    if (m_hasCompute) {
        stages |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
        accesses |= VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    }
    memoryBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT, stages,
                  accesses);
}

void VulkanGpu::barrierToCopies(SluiceCommands commands)
{
    if (!m_hasCompute) return;
    memoryBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                  VK_PIPELINE_STAGE_TRANSFER_BIT,
                  VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
}

void VulkanGpu::barrierAfter(SluiceCommands commands)
{
    memoryBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
                  VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT,
                  VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT);
}

VkImageMemoryBarrier VulkanGpu::imageBarrier(const SluiceStreamImage& image) const
{
    VkImageMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
    barrier.image = handleOf<VkImage>(image.image);
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, image.level, 1, image.firstLayer,
                                image.layerCount};
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    return barrier;
}

void VulkanGpu::beginImages(SluiceCommands commands, const sluice::stream::ImageBegin* images,
                            uint32_t count)
{
    // Nothing uses layers whose contents are discarded, so they get a barrier that waits for
    // nothing. The other layers get a second barrier.
    for (const bool isDiscarded : {true, false}) {
        VkImageMemoryBarrier barriers[kImagesAtOnce];
        uint32_t barrierCount = 0;
        for (uint32_t i = 0; i < count; ++i) {
            if ((images[i].oldLayout == VK_IMAGE_LAYOUT_UNDEFINED) != isDiscarded) continue;
            VkImageMemoryBarrier& barrier = barriers[barrierCount++] =
                imageBarrier(*images[i].image);
            barrier.srcAccessMask =
                isDiscarded ? 0 : VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
            barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
            barrier.oldLayout = VkImageLayout(images[i].oldLayout);
            barrier.newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
        }
        if (barrierCount == 0) continue;
        m_CmdPipelineBarrier(
            of(commands),
            isDiscarded ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT : VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, barrierCount, barriers);
    }
}

void VulkanGpu::endImages(SluiceCommands commands, const SluiceStreamImage* const* images,
                          uint32_t count)
{
    VkImageMemoryBarrier barriers[kImagesAtOnce];
    VkPipelineStageFlags stages = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const SluiceStreamImage& image = *images[i];
        VkImageMemoryBarrier& barrier = barriers[i] = imageBarrier(image);
        barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask = image.accesses != 0 ? VkAccessFlags(image.accesses)
                                                    : VkAccessFlags(VK_ACCESS_MEMORY_READ_BIT);
        barrier.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
        barrier.newLayout = VkImageLayout(image.newLayout);
        // If the families differ, this is the release half of an ownership transfer. The acquire
        // half specifies the later accesses.
        if (image.sourceFamily != image.destinationFamily) {
            barrier.srcQueueFamilyIndex = image.sourceFamily;
            barrier.dstQueueFamilyIndex = image.destinationFamily;
            barrier.dstAccessMask = 0;
            stages |= VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
        } else {
            stages |= image.stages != 0 ? VkPipelineStageFlags(image.stages)
                                        : VkPipelineStageFlags(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
        }
    }
    m_CmdPipelineBarrier(of(commands), VK_PIPELINE_STAGE_TRANSFER_BIT, stages, 0, 0, nullptr, 0,
                         nullptr, count, barriers);
}

void VulkanGpu::copyToImage(SluiceCommands commands, const sluice::stream::ImageCopy& copy)
{
    VkBufferImageCopy region = {};
    region.bufferOffset = copy.bufferOffset;
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, copy.image->level, copy.firstLayer,
                               copy.layerCount};
    region.imageOffset = {int32_t(copy.offset[0]), int32_t(copy.offset[1]),
                          int32_t(copy.offset[2])};
    region.imageExtent = {copy.extent[0], copy.extent[1], copy.extent[2]};
    m_CmdCopyBufferToImage(of(commands), handleOf<VkBuffer>(copy.bufferHandle),
                           handleOf<VkImage>(copy.image->image),
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
}

SluiceStatus VulkanGpu::copyToBuffer(SluiceCommands commands, uint64_t from, uint64_t fromOffset,
                                     const SluiceBuffer& to)
{
    const VkBufferCopy region = {fromOffset, to.offset, to.size};
    m_CmdCopyBuffer(of(commands), handleOf<VkBuffer>(from), handleOf<VkBuffer>(to.handle), 1,
                    &region);
    return SLUICE_OK;
}

SluiceStatus VulkanGpu::semaphoreValue(uint64_t semaphore, uint64_t& value)
{
    return m_GetSemaphoreCounterValue(m_device, handleOf<VkSemaphore>(semaphore), &value) ==
                   VK_SUCCESS
               ? SLUICE_OK
               : SLUICE_ERROR_DEVICE;
}

SluiceStatus VulkanGpu::signal(uint64_t semaphore, uint64_t value)
{
    VkSemaphoreSignalInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
    info.semaphore = handleOf<VkSemaphore>(semaphore);
    info.value = value;
    return m_SignalSemaphore(m_device, &info) == VK_SUCCESS ? SLUICE_OK : SLUICE_ERROR_DEVICE;
}

} // namespace

SluiceStatus sluiceCreateStreamVulkan(const SluiceStreamVulkanInfo* info, SluiceStreamGpu** gpu)
{
    if (info == nullptr || gpu == nullptr || info->getInstanceProcAddr == nullptr ||
        info->instance == VK_NULL_HANDLE || info->physicalDevice == VK_NULL_HANDLE ||
        info->device == VK_NULL_HANDLE)
        return SLUICE_ERROR_ARGUMENT;
    *gpu = nullptr;
    try {
        std::unique_ptr<VulkanGpu> made;
        const SluiceStatus status = VulkanGpu::create(*info, made);
        if (status == SLUICE_OK) *gpu = made.release();
        return status;
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}

void sluiceDestroyStreamVulkan(SluiceStreamGpu* gpu) { delete gpu; }
