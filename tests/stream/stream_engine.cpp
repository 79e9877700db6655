// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/stream/stream_engine.h"

#include <cstring>

namespace sluice::test {

Engine::Engine(Device& on)
{
    REQUIRE(vulkanHandles(on.get(), m_handles));
    const SluiceVulkanContextInfo& info = m_handles.contextInfo;
    m_device = info.device;
    const auto getDeviceProcAddr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        info.getInstanceProcAddr(info.instance, "vkGetDeviceProcAddr"));
#define SLUICE_LOAD(name)                                                                          \
    m_##name = reinterpret_cast<PFN_vk##name>(getDeviceProcAddr(m_device, "vk" #name));            \
    REQUIRE((m_##name != nullptr));
    SLUICE_TEST_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
    reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(info.getInstanceProcAddr(
        info.instance, "vkGetPhysicalDeviceMemoryProperties"))(info.physicalDevice, &m_memoryTypes);
    const SluiceStreamVulkanInfo forStreams = streamInfo();
    REQUIRE(sluiceCreateStreamVulkan(&forStreams, &m_gpu) == SLUICE_OK);
    VkCommandPoolCreateInfo poolInfo = {};
    poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    poolInfo.queueFamilyIndex = m_handles.queueFamily;
    REQUIRE(m_CreateCommandPool(m_device, &poolInfo, nullptr, &m_pool) == VK_SUCCESS);
    VkCommandBufferAllocateInfo allocateInfo = {};
    allocateInfo.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocateInfo.commandPool = m_pool;
    allocateInfo.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocateInfo.commandBufferCount = 1;
    REQUIRE(m_AllocateCommandBuffers(m_device, &allocateInfo, &m_commands) == VK_SUCCESS);
}

SluiceStreamVulkanInfo Engine::streamInfo() const
{
    const SluiceVulkanContextInfo& info = m_handles.contextInfo;
    return {info.getInstanceProcAddr, info.instance, info.physicalDevice, info.device,
            m_handles.queueFamily};
}

Engine::~Engine()
{
    waitIdle();
    sluiceDestroyStreamVulkan(m_gpu);
    m_DestroyCommandPool(m_device, m_pool, nullptr);
    for (VkSemaphore semaphore : m_semaphores)
        m_DestroySemaphore(m_device, semaphore, nullptr);
    for (VkBuffer buffer : m_buffers)
        m_DestroyBuffer(m_device, buffer, nullptr);
    for (VkImage image : m_images)
        m_DestroyImage(m_device, image, nullptr);
    for (VkDeviceMemory memory : m_memories)
        m_FreeMemory(m_device, memory, nullptr);
}

VkDeviceMemory Engine::allocate(const VkMemoryRequirements& required, bool isMapped)
{
    const VkMemoryPropertyFlags wanted =
        (isMapped ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                  : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    uint32_t type = 0;
    while ((required.memoryTypeBits >> type & 1) == 0 ||
           (m_memoryTypes.memoryTypes[type].propertyFlags & wanted) != wanted)
        ++type;
    VkMemoryAllocateFlagsInfo flags = {};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = isMapped ? &flags : nullptr;
    info.allocationSize = required.size;
    info.memoryTypeIndex = type;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    REQUIRE(m_AllocateMemory(m_device, &info, nullptr, &memory) == VK_SUCCESS);
    m_memories.push_back(memory);
    return memory;
}

SluiceStreamMemory Engine::makeBuffer(VkDeviceSize size)
{
    VkBufferCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    REQUIRE(m_CreateBuffer(m_device, &info, nullptr, &buffer) == VK_SUCCESS);
    m_buffers.push_back(buffer);
    VkMemoryRequirements required = {};
    m_GetBufferMemoryRequirements(m_device, buffer, &required);
    const VkDeviceMemory memory = allocate(required, true);
    REQUIRE(m_BindBufferMemory(m_device, buffer, memory, 0) == VK_SUCCESS);
    void* host = nullptr;
    REQUIRE(m_MapMemory(m_device, memory, 0, VK_WHOLE_SIZE, 0, &host) == VK_SUCCESS);
    std::memset(host, Buffer::kPoison, size_t(size));
    return {sluiceVulkanBuffer(buffer, 0, size), host};
}

bool Engine::importHost(void* host, VkDeviceSize size, SluiceStreamMemory& result)
{
    constexpr VkExternalMemoryHandleTypeFlagBits kKind =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    const SluiceVulkanContextInfo& about = m_handles.contextInfo;
    const auto getPointerProperties = reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
        reinterpret_cast<PFN_vkGetDeviceProcAddr>(
            about.getInstanceProcAddr(about.instance, "vkGetDeviceProcAddr"))(
            m_device, "vkGetMemoryHostPointerPropertiesEXT"));
    if (getPointerProperties == nullptr) return false;
    VkMemoryHostPointerPropertiesEXT pointer = {};
    pointer.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
    REQUIRE(getPointerProperties(m_device, kKind, host, &pointer) == VK_SUCCESS);
    VkExternalMemoryBufferCreateInfo external = {};
    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    external.handleTypes = kKind;
    VkBufferCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.pNext = &external;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    REQUIRE(m_CreateBuffer(m_device, &info, nullptr, &buffer) == VK_SUCCESS);
    m_buffers.push_back(buffer);
    VkMemoryRequirements required = {};
    m_GetBufferMemoryRequirements(m_device, buffer, &required);
    const uint32_t types = required.memoryTypeBits & pointer.memoryTypeBits;
    REQUIRE(types != 0);
    VkImportMemoryHostPointerInfoEXT import = {};
    import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
    import.handleType = kKind;
    import.pHostPointer = host;
    VkMemoryAllocateFlagsInfo flags = {};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.pNext = &import;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocation = {};
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocation.pNext = &flags;
    allocation.allocationSize = size;
    while ((types >> allocation.memoryTypeIndex & 1) == 0)
        ++allocation.memoryTypeIndex;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    REQUIRE(m_AllocateMemory(m_device, &allocation, nullptr, &memory) == VK_SUCCESS);
    m_memories.push_back(memory);
    REQUIRE(m_BindBufferMemory(m_device, buffer, memory, 0) == VK_SUCCESS);
    result = {sluiceVulkanBuffer(buffer, 0, size), host};
    return true;
}

uint64_t Engine::addressOf(const SluiceBuffer& buffer) const
{
    VkBufferDeviceAddressInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    std::memcpy(&info.buffer, &buffer.handle, sizeof info.buffer);
    return m_GetBufferDeviceAddress(m_device, &info);
}

VkImage Engine::makeImage(const VkImageCreateInfo& info)
{
    VkImage image = VK_NULL_HANDLE;
    REQUIRE(m_CreateImage(m_device, &info, nullptr, &image) == VK_SUCCESS);
    m_images.push_back(image);
    VkMemoryRequirements required = {};
    m_GetImageMemoryRequirements(m_device, image, &required);
    REQUIRE(m_BindImageMemory(m_device, image, allocate(required, false), 0) == VK_SUCCESS);
    return image;
}

VkSemaphore Engine::makeSemaphore()
{
    VkSemaphoreTypeCreateInfo type = {};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    info.pNext = &type;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    REQUIRE(m_CreateSemaphore(m_device, &info, nullptr, &semaphore) == VK_SUCCESS);
    m_semaphores.push_back(semaphore);
    return semaphore;
}

uint64_t Engine::valueOf(VkSemaphore semaphore) const
{
    uint64_t value = 0;
    REQUIRE(m_GetSemaphoreCounterValue(m_device, semaphore, &value) == VK_SUCCESS);
    return value;
}

void Engine::signal(VkSemaphore semaphore, uint64_t value) const
{
    VkSemaphoreSignalInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
    info.semaphore = semaphore;
    info.value = value;
    REQUIRE(m_SignalSemaphore(m_device, &info) == VK_SUCCESS);
}

VkCommandBuffer Engine::begin()
{
    waitIdle();
    REQUIRE(m_ResetCommandPool(m_device, m_pool, 0) == VK_SUCCESS);
    VkCommandBufferBeginInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    REQUIRE(m_BeginCommandBuffer(m_commands, &info) == VK_SUCCESS);
    return m_commands;
}

void Engine::submit(VkSemaphore semaphore, uint64_t value)
{
    REQUIRE(m_EndCommandBuffer(m_commands) == VK_SUCCESS);
    VkTimelineSemaphoreSubmitInfo values = {};
    values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &value;
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &m_commands;
    if (semaphore != VK_NULL_HANDLE) {
        info.pNext = &values;
        info.signalSemaphoreCount = 1;
        info.pSignalSemaphores = &semaphore;
    }
    const std::lock_guard<std::mutex> lock(m_queueLock);
    REQUIRE(m_QueueSubmit(m_handles.queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS);
}

Bytes Engine::readImage(VkImage image, const SluiceStreamImage& box, size_t size,
                        VkImageLayout layout)
{
    const SluiceStreamMemory to = makeBuffer(size);
    VkBufferImageCopy region = {};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, box.level, box.firstLayer,
                               box.layerCount};
    region.imageOffset = {int32_t(box.offset[0]), int32_t(box.offset[1]), int32_t(box.offset[2])};
    region.imageExtent = {box.extent[0], box.extent[1], box.extent[2]};
    const VkCommandBuffer commands = begin();
    VkImageMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    barrier.oldLayout = layout;
    barrier.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, box.level, 1, box.firstLayer,
                                box.layerCount};
    m_CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
    m_CmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, m_buffers.back(),
                           1, &region);
    submit(VK_NULL_HANDLE, 0);
    waitIdle();
    const uint8_t* bytes = static_cast<const uint8_t*>(to.host);
    return Bytes(bytes, bytes + size);
}

} // namespace sluice::test
