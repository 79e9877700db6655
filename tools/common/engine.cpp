// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/engine.h"

#include <cstring>
#include <vector>

namespace sluice {
namespace {

constexpr uint32_t kNoType = UINT32_MAX;
constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                           VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                kCached = kVisible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr VkBufferUsageFlags kUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

// Flags that a memory type should have, and flags that it should not have. wishesFor() lists
// wishes, the best one first. On software and integrated devices every memory type may have the
// unwanted flags, so the last wish of a list has none and always matches a type.
struct Wish {
    VkMemoryPropertyFlags wanted, unwanted;
};
std::vector<Wish> wishesFor(VulkanEngine::Memory kind)
{
    switch (kind) {
    case VulkanEngine::Memory::local: return {{kLocal, 0}, {0, 0}};
    case VulkanEngine::Memory::upload: return {{kVisible, 0}};
    case VulkanEngine::Memory::mapped: return {{kVisible | kLocal, 0}, {kCached, 0}, {kVisible, 0}};
    default: return {{kCached, kLocal}, {kCached, 0}, {kVisible, 0}};
    }
}

uint32_t typeOf(const VkPhysicalDeviceMemoryProperties& types, uint32_t allowed, const Wish& wish)
{
    for (uint32_t i = 0; i < types.memoryTypeCount; ++i) {
        const VkMemoryPropertyFlags flags = types.memoryTypes[i].propertyFlags;
        if ((allowed >> i & 1) != 0 && (flags & wish.wanted) == wish.wanted &&
            (flags & wish.unwanted) == 0)
            return i;
    }
    return kNoType;
}

} // namespace

void require(VkResult result, const char* call)
{
    if (result < VK_SUCCESS)
        throw EngineError(std::string(call) + ": VkResult " + std::to_string(result));
}

VulkanEngine::VulkanEngine(const EngineInfo& on) : m_on(on), m_device(on.vulkan.device)
{
    m_getDeviceProcAddr = ofInstance<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr");
    bool isComplete = true;
#define SLUICE_LOAD(name)                                                                          \
    name = ofDevice<PFN_vk##name>("vk" #name);                                                     \
    isComplete = isComplete && name != nullptr;
    SLUICE_ENGINE_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
    if (!isComplete) throw EngineError("the driver lacks functions");
    const VkPhysicalDevice physical = on.vulkan.physicalDevice;
    ofInstance<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(
        physical, &m_types);
    VkPhysicalDeviceProperties properties = {};
    ofInstance<PFN_vkGetPhysicalDeviceProperties>("vkGetPhysicalDeviceProperties")(physical,
                                                                                   &properties);
    uint32_t count = 0;
    const auto getFamilies = ofInstance<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(
        "vkGetPhysicalDeviceQueueFamilyProperties");
    getFamilies(physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    getFamilies(physical, &count, families.data());
    const uint32_t bits = families[on.vulkan.queueFamily].timestampValidBits;
    if (bits != 0) {
        m_period = double(properties.limits.timestampPeriod) * 1e-6;
        m_tickMask = bits >= 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
    }
    makeFrames();
}

void VulkanEngine::makeFrames()
{
    for (Frame& frame : m_frames) {
        const VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                              0, m_on.vulkan.queueFamily};
        require(CreateCommandPool(m_device, &pool, nullptr, &frame.pool), "vkCreateCommandPool");
        const VkCommandBufferAllocateInfo commands = {
            VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, frame.pool,
            VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
        require(AllocateCommandBuffers(m_device, &commands, &frame.commands),
                "vkAllocateCommandBuffers");
    }
    m_semaphore = makeTimeline();
    const VkQueryPoolCreateInfo queries = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           nullptr,
                                           0,
                                           VK_QUERY_TYPE_TIMESTAMP,
                                           2 * kFrames,
                                           0};
    if (m_period > 0)
        require(CreateQueryPool(m_device, &queries, nullptr, &m_queries), "vkCreateQueryPool");
}

VulkanEngine::~VulkanEngine()
{
    if (m_semaphore != VK_NULL_HANDLE) waitIdle();
    while (!m_buffers.empty())
        release(m_buffers.begin()->second);
    for (const Frame& frame : m_frames)
        DestroyCommandPool(m_device, frame.pool, nullptr);
    DestroyQueryPool(m_device, m_queries, nullptr);
    DestroySemaphore(m_device, m_semaphore, nullptr);
}

// --- Memory

uint32_t VulkanEngine::typeFor(uint32_t allowed, Memory kind) const
{
    for (const Wish& wish : wishesFor(kind)) {
        const uint32_t type = typeOf(m_types, allowed, wish);
        if (type != kNoType) return type;
    }
    throw EngineError("no memory of a kind that is needed");
}

bool VulkanEngine::hasMapped(uint64_t size) const
{
    const uint32_t type = typeOf(m_types, UINT32_MAX, {kVisible | kLocal, 0});
    return typeOf(m_types, UINT32_MAX, {kCached, kLocal}) != kNoType && type != kNoType &&
           m_types.memoryHeaps[m_types.memoryTypes[type].heapIndex].size / 2 >= size;
}

VkDeviceMemory VulkanEngine::allocateMemory(const VkMemoryRequirements& needs, Memory kind,
                                            const void* next, bool* isLocal)
{
    const uint32_t type = typeFor(needs.memoryTypeBits, kind);
    if (isLocal != nullptr) *isLocal = (m_types.memoryTypes[type].propertyFlags & kLocal) != 0;
    const VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, next, needs.size,
                                       type};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    require(AllocateMemory(m_device, &info, nullptr, &memory), "vkAllocateMemory");
    m_allocatedBytes += needs.size;
    return memory;
}

void VulkanEngine::freeMemory(VkDeviceMemory memory, uint64_t size)
{
    FreeMemory(m_device, memory, nullptr);
    m_allocatedBytes -= size;
}

EngineBuffer VulkanEngine::allocate(uint64_t size, Memory kind, VkBufferUsageFlags moreUsage)
{
    const uint32_t families[] = {m_on.vulkan.queueFamily, m_on.otherFamily};
    VkBufferCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = kUsage | moreUsage;
    if (m_on.hasAddresses) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    if (families[0] != families[1]) {
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = 2;
        info.pQueueFamilyIndices = families;
    }
    VkBuffer handle = VK_NULL_HANDLE;
    require(CreateBuffer(m_device, &info, nullptr, &handle), "vkCreateBuffer");
    EngineBuffer& made = m_buffers[sluiceVulkanBuffer(handle, 0, 0).handle];
    made.handle = handle;
    made.buffer = sluiceVulkanBuffer(handle, 0, size);
    VkMemoryRequirements needs = {};
    GetBufferMemoryRequirements(m_device, handle, &needs);
    const VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, nullptr,
                                             VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0};
    made.memory = allocateMemory(needs, kind, m_on.hasAddresses ? &flags : nullptr, &made.isLocal);
    made.allocated = needs.size;
    require(BindBufferMemory(m_device, handle, made.memory, 0), "vkBindBufferMemory");
    const VkBufferDeviceAddressInfo where = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr,
                                             handle};
    if (m_on.hasAddresses) made.address = GetBufferDeviceAddress(m_device, &where);
    if (kind != Memory::local) {
        require(MapMemory(m_device, made.memory, 0, VK_WHOLE_SIZE, 0, &made.host), "vkMapMemory");
        std::memset(made.host, 0, size_t(size));
    }
    return made;
}

void VulkanEngine::release(const SluiceStreamMemory& buffer)
{
    const auto found = m_buffers.find(buffer.buffer.handle);
    if (found == m_buffers.end()) return;
    DestroyBuffer(m_device, found->second.handle, nullptr);
    freeMemory(found->second.memory, found->second.allocated);
    m_buffers.erase(found);
}

// --- Semaphores and frames

VkSemaphore VulkanEngine::makeTimeline() const
{
    const VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                            VK_SEMAPHORE_TYPE_TIMELINE, 0};
    const VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    require(CreateSemaphore(m_device, &info, nullptr, &semaphore), "vkCreateSemaphore");
    return semaphore;
}

uint64_t VulkanEngine::valueOf(VkSemaphore semaphore) const
{
    uint64_t value = 0;
    require(GetSemaphoreCounterValue(m_device, semaphore, &value), "vkGetSemaphoreCounterValue");
    return value;
}

bool VulkanEngine::waitUntil(VkSemaphore semaphore, uint64_t value, uint64_t nanoseconds) const
{
    const VkSemaphoreWaitInfo info = {
        VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, &semaphore, &value};
    return WaitSemaphores(m_device, &info, nanoseconds) == VK_SUCCESS;
}

VkCommandBuffer VulkanEngine::begin()
{
    const uint32_t number = uint32_t(nextValue() % kFrames);
    const Frame& frame = m_frames[number];
    waitFor(frame.value, UINT64_MAX);
    require(ResetCommandPool(m_device, frame.pool, 0), "vkResetCommandPool");
    const VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                           VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
    require(BeginCommandBuffer(frame.commands, &info), "vkBeginCommandBuffer");
    // A timestamp at the bottom of the pipe is taken when all earlier commands have ended, also
    // those of the previous frame. So the frame's time does not contain them.
    if (m_queries != VK_NULL_HANDLE) {
        CmdResetQueryPool(frame.commands, m_queries, 2 * number, 2);
        CmdWriteTimestamp(frame.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, m_queries,
                          2 * number);
    }
    return frame.commands;
}

void VulkanEngine::submit(VkSemaphore other, uint64_t value)
{
    const uint32_t number = uint32_t(nextValue() % kFrames);
    Frame& frame = m_frames[number];
    if (m_queries != VK_NULL_HANDLE)
        CmdWriteTimestamp(frame.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, m_queries,
                          2 * number + 1);
    require(EndCommandBuffer(frame.commands), "vkEndCommandBuffer");
    const VkSemaphore semaphores[] = {m_semaphore, other};
    const uint64_t signalled[] = {nextValue(), value};
    VkTimelineSemaphoreSubmitInfo values = {};
    values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    values.signalSemaphoreValueCount = other != VK_NULL_HANDLE ? 2 : 1;
    values.pSignalSemaphoreValues = signalled;
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &values;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &frame.commands;
    info.signalSemaphoreCount = values.signalSemaphoreValueCount;
    info.pSignalSemaphores = semaphores;
    require(QueueSubmit(m_on.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    frame.value = ++m_value;
}

double VulkanEngine::milliseconds(uint64_t value) const
{
    uint64_t ticks[2] = {};
    if (m_queries == VK_NULL_HANDLE ||
        GetQueryPoolResults(m_device, m_queries, 2 * uint32_t(value % kFrames), 2, sizeof ticks,
                            ticks, sizeof ticks[0], VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return 0;
    return double((ticks[1] - ticks[0]) & m_tickMask) * m_period;
}

// --- Commands

void VulkanEngine::barrier(VkCommandBuffer commands) const
{
    const VkMemoryBarrier memory = {
        VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_MEMORY_WRITE_BIT,
        VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT};
    CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                       &memory, 0, nullptr, 0, nullptr);
}

void VulkanEngine::copy(VkCommandBuffer commands, SluiceBuffer from, SluiceBuffer to) const
{
    const VkBufferCopy region = {from.offset, to.offset, from.size};
    VkBuffer source = VK_NULL_HANDLE, destination = VK_NULL_HANDLE;
    std::memcpy(&source, &from.handle, sizeof source);
    std::memcpy(&destination, &to.handle, sizeof destination);
    CmdCopyBuffer(commands, source, destination, 1, &region);
}

} // namespace sluice
