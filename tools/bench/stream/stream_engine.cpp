// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/stream/stream_engine.h"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr uint32_t kNoType = UINT32_MAX;

void must(VkResult result, const char* what)
{
    if (result != VK_SUCCESS)
        throw Failure{exitDevice, formatText("bench: %s: VkResult %d", what, int(result))};
}

uint64_t numberOf(VkBuffer buffer) { return sluiceVulkanBuffer(buffer, 0, 0).handle; }

} // namespace

StreamEngine::StreamEngine(const BenchDevice& device) : m_owner(device)
{
    if (!vulkanHandles(device.handle(), m_handles))
        throw Failure{exitDevice, "bench: not a Vulkan device"};
    const SluiceVulkanContextInfo& info = m_handles.contextInfo;
    m_device = info.device;
    const auto ofInstance = [&](const char* name) {
        return info.getInstanceProcAddr(info.instance, name);
    };
    const auto ofDevice =
        reinterpret_cast<PFN_vkGetDeviceProcAddr>(ofInstance("vkGetDeviceProcAddr"));
    bool isComplete = true;
#define SLUICE_LOAD(name)                                                                          \
    m_##name = reinterpret_cast<PFN_vk##name>(ofDevice(m_device, "vk" #name));                     \
    isComplete = isComplete && m_##name != nullptr;
    SLUICE_STREAM_ENGINE_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
    if (!isComplete) throw Failure{exitDevice, "bench: the driver lacks functions"};
    reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(
        ofInstance("vkGetPhysicalDeviceMemoryProperties"))(info.physicalDevice, &m_types);
    VkPhysicalDeviceProperties properties = {};
    reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
        ofInstance("vkGetPhysicalDeviceProperties"))(info.physicalDevice, &properties);
    uint32_t count = 0;
    const auto getFamilies = reinterpret_cast<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(
        ofInstance("vkGetPhysicalDeviceQueueFamilyProperties"));
    getFamilies(info.physicalDevice, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    getFamilies(info.physicalDevice, &count, families.data());
    const uint32_t bits = families[m_handles.queueFamily].timestampValidBits;
    if (bits != 0) {
        m_period = double(properties.limits.timestampPeriod) * 1e-6;
        m_tickMask = bits >= 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
    }
    const SluiceStreamVulkanInfo stream = {info.getInstanceProcAddr, info.instance,
                                           info.physicalDevice, info.device, m_handles.queueFamily};
    require(sluiceCreateStreamVulkan(&stream, &m_gpu), "streaming on Vulkan");
    makeFrames();
}

void StreamEngine::makeFrames()
{
    for (Frame& frame : m_frames) {
        VkCommandPoolCreateInfo pool = {};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool.queueFamilyIndex = m_handles.queueFamily;
        must(m_CreateCommandPool(m_device, &pool, nullptr, &frame.pool), "vkCreateCommandPool");
        VkCommandBufferAllocateInfo commands = {};
        commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        commands.commandPool = frame.pool;
        commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        commands.commandBufferCount = 1;
        must(m_AllocateCommandBuffers(m_device, &commands, &frame.commands),
             "vkAllocateCommandBuffers");
    }
    VkSemaphoreTypeCreateInfo type = {};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo semaphore = {};
    semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    semaphore.pNext = &type;
    must(m_CreateSemaphore(m_device, &semaphore, nullptr, &m_semaphore), "vkCreateSemaphore");
    if (m_period <= 0) return;
    VkQueryPoolCreateInfo queries = {};
    queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = 2 * kFrames;
    must(m_CreateQueryPool(m_device, &queries, nullptr, &m_queries), "vkCreateQueryPool");
}

StreamEngine::~StreamEngine()
{
    m_WaitSemaphores != nullptr&& m_semaphore != VK_NULL_HANDLE&& waitFor(m_value, UINT64_MAX);
    sluiceDestroyStreamVulkan(m_gpu);
    for (const auto& [number, allocation] : m_allocations) {
        m_DestroyBuffer(m_device, allocation.buffer, nullptr);
        m_FreeMemory(m_device, allocation.memory, nullptr);
    }
    for (const Image& image : m_images) {
        m_DestroyImage(m_device, image.image, nullptr);
        m_FreeMemory(m_device, image.memory, nullptr);
    }
    for (const Frame& frame : m_frames)
        m_DestroyCommandPool(m_device, frame.pool, nullptr);
    m_DestroyQueryPool(m_device, m_queries, nullptr);
    m_DestroySemaphore(m_device, m_semaphore, nullptr);
}

// --- Memory

uint32_t StreamEngine::typeFor(uint32_t allowed, VkMemoryPropertyFlags wanted,
                               VkMemoryPropertyFlags unwanted) const
{
    for (uint32_t i = 0; i < m_types.memoryTypeCount; ++i) {
        const VkMemoryPropertyFlags flags = m_types.memoryTypes[i].propertyFlags;
        if ((allowed >> i & 1) != 0 && (flags & wanted) == wanted && (flags & unwanted) == 0)
            return i;
    }
    return kNoType;
}

constexpr VkMemoryPropertyFlags kVisible =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

bool StreamEngine::hasMapped(uint64_t size) const
{
    const uint32_t type = typeFor(UINT32_MAX, kVisible | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
    const bool hasSystem = typeFor(UINT32_MAX, kVisible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                   VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != kNoType;
    return hasSystem && type != kNoType &&
           m_types.memoryHeaps[m_types.memoryTypes[type].heapIndex].size / 2 >= size;
}

VkDeviceMemory StreamEngine::allocateMemory(uint64_t size, uint32_t type, bool hasAddress) const
{
    VkMemoryAllocateFlagsInfo flags = {};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = hasAddress ? &flags : nullptr;
    info.allocationSize = size;
    info.memoryTypeIndex = type;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    must(m_AllocateMemory(m_device, &info, nullptr, &memory), "vkAllocateMemory");
    return memory;
}

SluiceStreamMemory StreamEngine::allocate(uint64_t size, Memory kind)
{
    VkBufferCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    Allocation made;
    must(m_CreateBuffer(m_device, &info, nullptr, &made.buffer), "vkCreateBuffer");
    Allocation& kept = m_allocations[numberOf(made.buffer)];
    kept = made;
    VkMemoryRequirements required = {};
    m_GetBufferMemoryRequirements(m_device, made.buffer, &required);
    const uint32_t allowed = required.memoryTypeBits;
    uint32_t type = kind == Memory::mapped
                        ? typeFor(allowed, kVisible | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0)
                        : typeFor(allowed, kVisible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                  VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (type == kNoType) // memory that is both, as software and integrated devices have
        type = typeFor(allowed, kVisible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
    if (type == kNoType) type = typeFor(allowed, kVisible, 0);
    if (type == kNoType) throw Failure{exitDevice, "bench: no memory that the host can map"};
    kept.memory = allocateMemory(required.size, type, true);
    must(m_BindBufferMemory(m_device, made.buffer, kept.memory, 0), "vkBindBufferMemory");
    void* host = nullptr;
    must(m_MapMemory(m_device, kept.memory, 0, VK_WHOLE_SIZE, 0, &host), "vkMapMemory");
    std::memset(host, 0, size_t(size));
    return {sluiceVulkanBuffer(made.buffer, 0, size), host};
}

void StreamEngine::release(const SluiceStreamMemory& memory)
{
    const auto found = m_allocations.find(memory.buffer.handle);
    if (found == m_allocations.end()) return;
    m_DestroyBuffer(m_device, found->second.buffer, nullptr);
    m_FreeMemory(m_device, found->second.memory, nullptr);
    m_allocations.erase(found);
}

VkImage StreamEngine::makeImage(const SluiceImageInfo& about, uint32_t firstLevel)
{
    const bool is3d = (about.flags & SLUICE_IMAGE_3D) != 0;
    const auto levelOf = [&](uint32_t extent) { return std::max(extent >> firstLevel, 1u); };
    VkImageCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    if (about.faces == 6) info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    info.imageType = is3d                                   ? VK_IMAGE_TYPE_3D
                     : (about.flags & SLUICE_IMAGE_1D) != 0 ? VK_IMAGE_TYPE_1D
                                                            : VK_IMAGE_TYPE_2D;
    info.format = VkFormat(about.format);
    info.extent = {levelOf(about.width), levelOf(about.height), is3d ? levelOf(about.depth) : 1};
    info.mipLevels = about.levels - firstLevel;
    info.arrayLayers = about.layers * about.faces;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT;
    m_images.emplace_back();
    Image& made = m_images.back();
    must(m_CreateImage(m_device, &info, nullptr, &made.image), "vkCreateImage");
    VkMemoryRequirements required = {};
    m_GetImageMemoryRequirements(m_device, made.image, &required);
    const uint32_t type = typeFor(required.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
    if (type == kNoType) throw Failure{exitDevice, "bench: no memory for images"};
    made.memory = allocateMemory(required.size, type, false);
    must(m_BindImageMemory(m_device, made.image, made.memory, 0), "vkBindImageMemory");
    return made.image;
}

// --- Frames

VkCommandBuffer StreamEngine::begin()
{
    Frame& frame = m_frames[nextValue() % kFrames];
    if (m_isBegun) return frame.commands;
    waitFor(frame.value, UINT64_MAX);
    must(m_ResetCommandPool(m_device, frame.pool, 0), "vkResetCommandPool");
    VkCommandBufferBeginInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    must(m_BeginCommandBuffer(frame.commands, &info), "vkBeginCommandBuffer");
    const uint32_t query = 2 * uint32_t(nextValue() % kFrames);
    if (m_queries != VK_NULL_HANDLE) {
        m_CmdResetQueryPool(frame.commands, m_queries, query, 2);
        m_CmdWriteTimestamp(frame.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, m_queries, query);
    }
    m_isBegun = true;
    return frame.commands;
}

void StreamEngine::submit()
{
    if (!m_isBegun) begin();
    const uint64_t value = nextValue();
    Frame& frame = m_frames[value % kFrames];
    if (m_queries != VK_NULL_HANDLE) {
        m_CmdWriteTimestamp(frame.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, m_queries,
                            2 * uint32_t(value % kFrames) + 1);
    }
    must(m_EndCommandBuffer(frame.commands), "vkEndCommandBuffer");
    VkTimelineSemaphoreSubmitInfo values = {};
    values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &value;
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &values;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &frame.commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &m_semaphore;
    must(m_QueueSubmit(m_handles.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    frame.value = m_value = value;
    m_isBegun = false;
}

uint64_t StreamEngine::doneValue() const
{
    uint64_t value = 0;
    must(m_GetSemaphoreCounterValue(m_device, m_semaphore, &value), "vkGetSemaphoreCounterValue");
    return value;
}

bool StreamEngine::waitFor(uint64_t value, uint64_t nanoseconds) const
{
    VkSemaphoreWaitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
    info.semaphoreCount = 1;
    info.pSemaphores = &m_semaphore;
    info.pValues = &value;
    return m_WaitSemaphores(m_device, &info, nanoseconds) == VK_SUCCESS;
}

double StreamEngine::milliseconds(uint64_t value) const
{
    uint64_t ticks[2] = {};
    if (m_queries == VK_NULL_HANDLE ||
        m_GetQueryPoolResults(m_device, m_queries, 2 * uint32_t(value % kFrames), 2, sizeof ticks,
                              ticks, sizeof ticks[0], VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return 0;
    return double((ticks[1] - ticks[0]) & m_tickMask) * m_period;
}

// --- Commands

void StreamEngine::barrier(VkCommandBuffer commands) const
{
    VkMemoryBarrier memory = {};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    memory.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    memory.dstAccessMask =
        VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
    m_CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &memory, 0, nullptr, 0, nullptr);
}

void StreamEngine::copy(VkCommandBuffer commands, SluiceBuffer from, SluiceBuffer to) const
{
    const VkBufferCopy region = {from.offset, to.offset, from.size};
    VkBuffer source = VK_NULL_HANDLE, destination = VK_NULL_HANDLE;
    std::memcpy(&source, &from.handle, sizeof source);
    std::memcpy(&destination, &to.handle, sizeof destination);
    m_CmdCopyBuffer(commands, source, destination, 1, &region);
}

Bytes StreamEngine::readImage(VkImage image, const SluiceStreamImage& box, uint64_t size)
{
    const SluiceStreamMemory to = allocate(size, Memory::host);
    VkBufferImageCopy region = {};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, box.level, box.firstLayer,
                               box.layerCount};
    region.imageOffset = {int32_t(box.offset[0]), int32_t(box.offset[1]), int32_t(box.offset[2])};
    region.imageExtent = {box.extent[0], box.extent[1], box.extent[2]};
    VkImageMemoryBarrier layout = {};
    layout.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
    layout.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    layout.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    layout.oldLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    layout.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    layout.srcQueueFamilyIndex = layout.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    layout.image = image;
    layout.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, box.level, 1, box.firstLayer,
                               box.layerCount};
    const VkCommandBuffer commands = begin();
    m_CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1, &layout);
    m_CmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           m_allocations.at(to.buffer.handle).buffer, 1, &region);
    barrier(commands);
    submit();
    waitIdle();
    const uint8_t* bytes = static_cast<const uint8_t*>(to.host);
    Bytes result(bytes, bytes + size);
    release(to);
    return result;
}

} // namespace sluice
