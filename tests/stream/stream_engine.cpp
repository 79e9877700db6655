// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/stream/stream_engine.h"

#include <cstring>

namespace sluice::test {

Engine::Engine(Device& on) : VulkanEngine(engineInfo(on.get()))
{
    REQUIRE(sluiceCreateStreamVulkan(&info(), &m_gpu) == SLUICE_OK);
}

Engine::~Engine()
{
    waitIdle();
    sluiceDestroyStreamVulkan(m_gpu);
    for (VkSemaphore semaphore : m_semaphores)
        DestroySemaphore(device(), semaphore, nullptr);
    for (VkBuffer buffer : m_imported)
        DestroyBuffer(device(), buffer, nullptr);
    for (VkImage image : m_images)
        ofDevice<PFN_vkDestroyImage>("vkDestroyImage")(device(), image, nullptr);
    for (VkDeviceMemory memory : m_memories)
        FreeMemory(device(), memory, nullptr);
}

SluiceStreamMemory Engine::makeBuffer(VkDeviceSize size)
{
    const EngineBuffer made = allocate(size, Memory::upload);
    std::memset(made.host, Buffer::kPoison, size_t(size));
    return made;
}

bool Engine::importHost(void* host, VkDeviceSize size, SluiceStreamMemory& result)
{
    constexpr VkExternalMemoryHandleTypeFlagBits kKind =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    const auto getPointerProperties =
        ofDevice<PFN_vkGetMemoryHostPointerPropertiesEXT>("vkGetMemoryHostPointerPropertiesEXT");
    if (getPointerProperties == nullptr) return false;
    VkMemoryHostPointerPropertiesEXT pointer = {};
    pointer.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
    REQUIRE(getPointerProperties(device(), kKind, host, &pointer) == VK_SUCCESS);
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
    REQUIRE(CreateBuffer(device(), &info, nullptr, &buffer) == VK_SUCCESS);
    m_imported.push_back(buffer);
    VkMemoryRequirements required = {};
    GetBufferMemoryRequirements(device(), buffer, &required);
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
    REQUIRE(AllocateMemory(device(), &allocation, nullptr, &memory) == VK_SUCCESS);
    m_memories.push_back(memory);
    REQUIRE(BindBufferMemory(device(), buffer, memory, 0) == VK_SUCCESS);
    result = {sluiceVulkanBuffer(buffer, 0, size), host};
    return true;
}

uint64_t Engine::addressOf(const SluiceBuffer& buffer) const
{
    VkBufferDeviceAddressInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    std::memcpy(&info.buffer, &buffer.handle, sizeof info.buffer);
    return GetBufferDeviceAddress(device(), &info);
}

VkImage Engine::makeImage(const VkImageCreateInfo& create)
{
    VkImage image = VK_NULL_HANDLE;
    REQUIRE(ofDevice<PFN_vkCreateImage>("vkCreateImage")(device(), &create, nullptr, &image) ==
            VK_SUCCESS);
    m_images.push_back(image);
    VkMemoryRequirements required = {};
    ofDevice<PFN_vkGetImageMemoryRequirements>("vkGetImageMemoryRequirements")(device(), image,
                                                                               &required);
    m_memories.push_back(allocateMemory(required, Memory::local));
    REQUIRE(ofDevice<PFN_vkBindImageMemory>("vkBindImageMemory")(device(), image, m_memories.back(),
                                                                 0) == VK_SUCCESS);
    return image;
}

VkSemaphore Engine::makeSemaphore()
{
    m_semaphores.push_back(makeTimeline());
    return m_semaphores.back();
}

void Engine::signal(VkSemaphore semaphore, uint64_t value) const
{
    VkSemaphoreSignalInfo signalled = {};
    signalled.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
    signalled.semaphore = semaphore;
    signalled.value = value;
    REQUIRE(ofDevice<PFN_vkSignalSemaphore>("vkSignalSemaphore")(device(), &signalled) ==
            VK_SUCCESS);
}

VkCommandBuffer Engine::begin()
{
    waitIdle();
    return VulkanEngine::begin();
}

void Engine::submit(VkSemaphore semaphore, uint64_t value)
{
    const std::lock_guard<std::mutex> lock(m_queueLock);
    VulkanEngine::submit(semaphore, value);
}

void Engine::waitIdle() const
{
    const std::lock_guard<std::mutex> lock(m_queueLock);
    ofDevice<PFN_vkQueueWaitIdle>("vkQueueWaitIdle")(queue());
}

Bytes Engine::readImage(VkImage image, const SluiceStreamImage& box, size_t size,
                        VkImageLayout layout)
{
    const EngineBuffer to = allocate(size, Memory::upload);
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
    CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                       0, 0, nullptr, 0, nullptr, 1, &barrier);
    ofDevice<PFN_vkCmdCopyImageToBuffer>("vkCmdCopyImageToBuffer")(
        commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, to.handle, 1, &region);
    submit(VK_NULL_HANDLE, 0);
    waitIdle();
    const uint8_t* bytes = static_cast<const uint8_t*>(to.host);
    return Bytes(bytes, bytes + size);
}

} // namespace sluice::test
