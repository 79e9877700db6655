// SPDX-License-Identifier: MIT OR Apache-2.0
// A Vulkan device of the convenience layer. It has one queue and one VkDeviceMemory per buffer. It
// copies between host and device through a staging buffer that the host can access.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "device/barrier_check.h"
#include "device/device.h"
#include "device/device_vulkan.h"
#include "device/pipeline_cache.h"
#include "vulkan/context.h"
#include "vulkan/tiers.h"
#include "vulkan/vulkan_new.h"
#include "device/vulkan_instance.h"

namespace sluice {
namespace {

// Copies go through the staging buffer in pieces of this size.
constexpr uint64_t kStagingSize = 64ull << 20;
constexpr uint64_t kAllocationAlignment = 256;

// The functions of Vulkan that are loaded from the device. They become members of VulkanDevice,
// named without "vk".
#define SLUICE_DEVICE_FUNCTIONS(X)                                                                 \
    X(DestroyDevice)                                                                               \
    X(GetDeviceQueue)                                                                              \
    X(DeviceWaitIdle)                                                                              \
    X(CreateCommandPool)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(ResetCommandPool)                                                                            \
    X(AllocateCommandBuffers)                                                                      \
    X(BeginCommandBuffer)                                                                          \
    X(EndCommandBuffer)                                                                            \
    X(QueueSubmit)                                                                                 \
    X(CreateFence)                                                                                 \
    X(DestroyFence)                                                                                \
    X(WaitForFences)                                                                               \
    X(ResetFences)                                                                                 \
    X(CreateQueryPool)                                                                             \
    X(DestroyQueryPool)                                                                            \
    X(GetQueryPoolResults)                                                                         \
    X(CmdResetQueryPool)                                                                           \
    X(CmdWriteTimestamp)                                                                           \
    X(CmdCopyBuffer)                                                                               \
    X(CmdPipelineBarrier)                                                                          \
    X(CreateBuffer)                                                                                \
    X(DestroyBuffer)                                                                               \
    X(GetBufferMemoryRequirements)                                                                 \
    X(GetBufferDeviceAddress)                                                                      \
    X(AllocateMemory)                                                                              \
    X(FreeMemory)                                                                                  \
    X(BindBufferMemory)                                                                            \
    X(MapMemory)                                                                                   \
    X(CreatePipelineCache)                                                                         \
    X(DestroyPipelineCache)                                                                        \
    X(GetPipelineCacheData)                                                                        \
    X(MergePipelineCaches)

// Converts Vulkan's result to a status.
SluiceStatus statusOf(VkResult result)
{
    return result == VK_SUCCESS ? SLUICE_OK
           : result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY
               ? SLUICE_ERROR_OUT_OF_MEMORY
               : SLUICE_ERROR_DEVICE;
}

// Returns the names of enabled features and extensions, separated by spaces, for
// SluiceDeviceProperties::features.
std::string featureNames(const VulkanFeatureChain& chain, const VulkanFeatures& features)
{
    std::string names;
    const auto add = [&](const char* name, bool has) {
        if (has) names += (names.empty() ? "" : " ") + std::string(name);
    };
    add("bufferDeviceAddress", features.bufferDeviceAddress);
    add("storageBuffer8BitAccess", features.storageBuffer8BitAccess);
    add("subgroupSizeControl", features.subgroupSizeControl);
    add("computeFullSubgroups", features.computeFullSubgroups);
    add("shaderInt64", features.shaderInt64);
    for (const char* extension :
         {VK_NV_MEMORY_DECOMPRESSION_EXTENSION_NAME, VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME,
          VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME})
        add(extension, chain.has(extension));
    return names;
}

// Describes a physical device: its name, limits and the tiers that it can run. The property
// `missing` says which features each other tier would need.
SluiceDeviceProperties describe(const VulkanInstance& instance, VkPhysicalDevice device,
                                uint32_t index)
{
    VkPhysicalDeviceProperties core{};
    instance.GetPhysicalDeviceProperties(device, &core);
    SluiceDeviceProperties properties{};
    properties.backend = SLUICE_BACKEND_VULKAN;
    properties.index = index;
    properties.isSoftware = core.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU ? 1 : 0;
    setText(properties.name, core.deviceName);
    VkPhysicalDeviceMemoryProperties memory{};
    instance.GetPhysicalDeviceMemoryProperties(device, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
            properties.memorySize = std::max(properties.memorySize, memory.memoryHeaps[i].size);
    }
    properties.apiVersion = core.apiVersion;
    properties.vendorId = core.vendorID;
    properties.deviceId = core.deviceID;
    std::string missing;
    const auto miss = [&](const char* tier, const char* why) {
        if (why != nullptr) missing += tier + std::string(": ") + why + "\n";
        setText(properties.missing, missing);
        return why != nullptr;
    };
    if (core.apiVersion < VK_API_VERSION_1_2) {
        miss("emu32", whyNotVulkan({}, {}));
        return properties;
    }
    VkPhysicalDeviceDriverProperties driver{};
    driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    VkPhysicalDeviceProperties2 all = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &driver, {}};
    instance.GetPhysicalDeviceProperties2(device, &all);
    const std::string details = driver.driverInfo;
    setText(properties.driver, driver.driverName + (details.empty() ? "" : " " + details));

    const VulkanFeatureChain chain(instance, device, false);
    const VulkanFeatures features = readEnabledFeatures(chain.chain(), nullptr);
    const VulkanProperties limits =
        readProperties(instance.GetPhysicalDeviceProperties2, device, VulkanInstance::kApiVersion,
                       features.subgroupSizeControl);
    setText(properties.features, featureNames(chain, features));
    if (miss("emu32", whyNotVulkan(features, limits))) return properties;
    const bool noExt = miss("ext", whyNotExt(features)),
               noBase = miss("base", whyNotBase(features, limits, 0));
    std::string tiers;
    for (const TierName& tier : kVulkanTiers) {
        const bool base = emulatedSize(tier.tier) == 0;
        if ((base && noBase) || (tier.tier == SLUICE_VULKAN_TIER_EXT && noExt)) continue;
        tiers += (tiers.empty() ? "" : " ") + std::string(tier.name);
    }
    setText(properties.tiers, tiers);
    return properties;
}

class VulkanDevice final : public Device {
public:
    ~VulkanDevice() override;
    SluiceStatus open(uint32_t index, const SluiceDeviceInfo& info, std::string& error);
    void handles(VulkanHandles& handles) const;

    SluiceStatus allocate(uint64_t size, SluiceBuffer& buffer) override;
    void release(const SluiceBuffer& buffer) override;
    uint64_t address(const SluiceBuffer& buffer) const override;
    SluiceStatus upload(const SluiceBuffer& buffer, const void* bytes, uint64_t size) override;
    SluiceStatus download(const SluiceBuffer& buffer, void* bytes, uint64_t size) override;
    SluiceStatus begin(SluiceCommands& commands) override;
    SluiceStatus submit(SluiceCommands commands, double& gpuMilliseconds) override;

private:
    // A buffer and the memory behind it.
    struct Memory {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
    };
    // A command buffer with its pool. The device has one for the commands of its user (sluiceBegin)
    // and one for copies.
    struct Recording {
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer commands = VK_NULL_HANDLE;
    };

    bool chooseQueueFamily(bool graphics);
    SluiceStatus createDevice(const SluiceDeviceInfo& info, std::string& error);
    SluiceStatus createContext(const SluiceDeviceInfo& info, std::string& error);
    SluiceStatus createPipelines(const SluiceDeviceInfo& info);
    VkResult createRecording(Recording& recording);
    VkResult prepareQueue();
    VkResult createMemory(uint64_t size, VkBufferUsageFlags usage, VkMemoryPropertyFlags wanted,
                          Memory& memory);
    void destroyMemory(const Memory& memory);
    VkResult beginRecording(const Recording& recording);
    VkResult submitRecording(const Recording& recording);
    void fullBarrier(VkCommandBuffer commands);
    VkResult prepareStaging();
    SluiceStatus transfer(const SluiceBuffer& buffer, const char* from, char* to, uint64_t size);
    VkResult copy(VkBuffer from, uint64_t fromOffset, VkBuffer to, uint64_t toOffset,
                  uint64_t size);
    // A SluiceVulkanRecorder; `user` is the device.
    static void record(void* user, VkCommandBuffer commands, const char* kernel,
                       const SluiceVulkanAccess* ranges, uint32_t count);

    std::unique_ptr<VulkanInstance> m_instance;
    VkPhysicalDevice m_physicalDevice = VK_NULL_HANDLE;
    std::unique_ptr<VulkanFeatureChain> m_features;
    SluiceVulkanContextInfo m_contextInfo{};
    std::unique_ptr<PipelineCache> m_pipelineCache;
    VkDevice m_device = VK_NULL_HANDLE;
    VkQueue m_queue = VK_NULL_HANDLE;
    uint32_t m_queueFamily = 0;
    // The number of valid low bits of a timestamp; 0 if the queue has no timestamps.
    uint32_t m_timestampBits = 0;
    double m_timestampPeriod = 0; // nanoseconds per step of a timestamp
#define SLUICE_MEMBER(name) PFN_vk##name name = nullptr;
    SLUICE_DEVICE_FUNCTIONS(SLUICE_MEMBER)
#undef SLUICE_MEMBER
    Recording m_user, m_copy;
    bool m_recording = false; // true between begin() and submit()
    VkFence m_fence = VK_NULL_HANDLE;
    VkQueryPool m_queries = VK_NULL_HANDLE;
    Memory m_staging;
    void* m_stagingBytes = nullptr; // m_staging's bytes, as the host sees them
    // All buffers by their SluiceBuffer::handle.
    std::unordered_map<uint64_t, Memory> m_memory;
    BarrierCheck m_barrierCheck;
};

// --- Opening and closing

SluiceStatus VulkanDevice::open(uint32_t index, const SluiceDeviceInfo& info, std::string& error)
{
    SluiceStatus status = VulkanInstance::create(&info, m_instance, error);
    if (status != SLUICE_OK) return status;
    if (index >= m_instance->physicalDevices.size())
        return fail(SLUICE_ERROR_DEVICE, "the Vulkan device is gone", error);
    m_physicalDevice = m_instance->physicalDevices[index];
    properties = describe(*m_instance, m_physicalDevice, index);
    status = createDevice(info, error);
    return status == SLUICE_OK ? createContext(info, error) : status;
}

// Chooses a queue family with compute; returns false if there is none. With `graphics` it prefers
// a family that also has graphics, which is what an engine uses. Otherwise it prefers one without
// graphics, because that may run more workgroups at the same time.
bool VulkanDevice::chooseQueueFamily(bool graphics)
{
    uint32_t count = 0;
    m_instance->GetPhysicalDeviceQueueFamilyProperties(m_physicalDevice, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    m_instance->GetPhysicalDeviceQueueFamilyProperties(m_physicalDevice, &count, families.data());
    const auto find = [&families](VkQueueFlags mask, VkQueueFlags wanted) {
        return std::find_if(
            families.begin(), families.end(),
            [=](const VkQueueFamilyProperties& one) { return (one.queueFlags & mask) == wanted; });
    };
    const VkQueueFlags compute = VK_QUEUE_COMPUTE_BIT, both = compute | VK_QUEUE_GRAPHICS_BIT;
    auto family = find(both, graphics ? both : compute);
    if (family == families.end()) family = find(compute, compute);
    if (family == families.end()) return false;
    m_queueFamily = uint32_t(family - families.begin());
    m_timestampBits = family->timestampValidBits;
    m_contextInfo.queueWithoutGraphics = (family->queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0 ? 1 : 0;
    VkPhysicalDeviceProperties core{};
    m_instance->GetPhysicalDeviceProperties(m_physicalDevice, &core);
    m_timestampPeriod = double(core.limits.timestampPeriod);
    return true;
}

SluiceStatus VulkanDevice::createDevice(const SluiceDeviceInfo& opened, std::string& error)
{
    if (!chooseQueueFamily(opened.graphicsQueue != 0))
        return fail(SLUICE_ERROR_UNSUPPORTED, "the device has no compute queue", error);
    m_features = std::make_unique<VulkanFeatureChain>(*m_instance, m_physicalDevice,
                                                      opened.pipelineStatistics != 0);
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, m_queueFamily, 1, &priority};
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = m_features->chain();
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = uint32_t(m_features->extensions().size());
    info.ppEnabledExtensionNames = m_features->extensions().data();
    VkResult result = m_instance->CreateDevice(m_physicalDevice, &info, nullptr, &m_device);
    if (result != VK_SUCCESS) {
        m_device = VK_NULL_HANDLE;
        return fail(statusOf(result), "vkCreateDevice failed: " + std::to_string(result), error);
    }
    bool complete = true;
#define SLUICE_LOAD(name)                                                                          \
    name = reinterpret_cast<PFN_vk##name>(m_instance->GetDeviceProcAddr(m_device, "vk" #name));    \
    complete = complete && name != nullptr;
    SLUICE_DEVICE_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
    if (!complete)
        return fail(SLUICE_ERROR_UNSUPPORTED, "the driver lacks functions of Vulkan 1.2", error);
    GetDeviceQueue(m_device, m_queueFamily, 0, &m_queue);

    return SLUICE_OK;
}

SluiceStatus VulkanDevice::createContext(const SluiceDeviceInfo& info, std::string& error)
{
    m_contextInfo.getInstanceProcAddr = m_instance->getInstanceProcAddr;
    m_contextInfo.instance = m_instance->handle;
    m_contextInfo.physicalDevice = m_physicalDevice;
    m_contextInfo.device = m_device;
    m_contextInfo.apiVersion = VulkanInstance::kApiVersion;
    m_contextInfo.enabledFeatures = m_features->chain();
    m_contextInfo.enabledExtensions = m_features->extensions().data();
    m_contextInfo.enabledExtensionCount = uint32_t(m_features->extensions().size());
    m_contextInfo.tuning = info.tuning;
    m_contextInfo.requiredSubgroupSize = info.requiredSubgroupSize;
    if (m_features->has(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME))
        m_contextInfo.pipelineFlags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    if (info.pipelineCache != nullptr) {
        VkPhysicalDeviceProperties core{};
        m_instance->GetPhysicalDeviceProperties(m_physicalDevice, &core);
        m_pipelineCache = std::make_unique<PipelineCache>(
            m_device,
            PipelineCache::Functions{CreatePipelineCache, DestroyPipelineCache,
                                     GetPipelineCacheData, MergePipelineCaches},
            PipelineCacheFile(core, info.pipelineCache));
        m_contextInfo.pipelineCache = m_pipelineCache->handle();
    }
    for (const TierName& tier : kVulkanTiers) {
        if (info.tier != nullptr && std::strcmp(info.tier, tier.name) == 0)
            m_contextInfo.tier = tier.tier;
    }
    if (info.checkBarriers != 0) {
        m_contextInfo.recorder = record;
        m_contextInfo.recorderUser = this;
    }
    const char* reason = nullptr;
    SluiceStatus status = sluiceCreateVulkanContext(&m_contextInfo, &context, &reason);
    if (status == SLUICE_OK) {
        reason = "pipelines could not be made";
        status = createPipelines(info);
        const auto& backend = static_cast<const VulkanBackend&>(*context->backend);
        const std::string refused = backend.pipelines().refusedPipelines();
        if (status == SLUICE_ERROR_UNSUPPORTED && !refused.empty()) {
            if (info.allowRefused != 0) return SLUICE_OK;
            return fail(status, "the driver cannot make these pipelines: " + refused, error);
        }
    }
    if (status != SLUICE_OK)
        error = reason != nullptr ? std::string(reason) : sluiceGetStatusText(status);
    return status;
}

// Makes all pipelines that `info` asks for, on pipelineThreads threads, and saves the cache.
SluiceStatus VulkanDevice::createPipelines(const SluiceDeviceInfo& info)
{
    const SluicePipelinesInfo wanted = {info.kernels, info.pipelineFlags, 0};
    std::atomic<SluiceStatus> failed{SLUICE_OK};
    const auto work = [&] {
        const SluiceStatus status = sluiceCreatePipelines(context, &wanted, nullptr);
        if (status != SLUICE_OK) failed = status;
    };
    std::vector<std::thread> threads;
    try {
        for (uint32_t i = 1; i < info.pipelineThreads; ++i)
            threads.emplace_back(work);
    } catch (const std::system_error&) { // fewer threads could be started; they do all the work
    }
    work();
    for (std::thread& thread : threads)
        thread.join();
    if (m_pipelineCache) m_pipelineCache->save();
    return failed;
}

// Creates the recording's command pool, if it has none yet, and its command buffer.
VkResult VulkanDevice::createRecording(Recording& recording)
{
    const VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                          VK_COMMAND_POOL_CREATE_TRANSIENT_BIT, m_queueFamily};
    if (recording.pool == VK_NULL_HANDLE) {
        if (const VkResult result = CreateCommandPool(m_device, &pool, nullptr, &recording.pool))
            return result;
    }
    const VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              nullptr, recording.pool,
                                              VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    return AllocateCommandBuffers(m_device, &info, &recording.commands);
}

VulkanDevice::~VulkanDevice()
{
    if (m_device == VK_NULL_HANDLE || DestroyDevice == nullptr) return;
    // If prepareQueue was never called, nothing was submitted, so there is nothing to wait for.
    if (m_user.pool != VK_NULL_HANDLE) DeviceWaitIdle(m_device);
    sluiceDestroyContext(context);
    if (m_pipelineCache) m_pipelineCache->save();
    m_pipelineCache.reset();
    for (const auto& [handle, memory] : m_memory)
        destroyMemory(memory);
    destroyMemory(m_staging);
    DestroyQueryPool(m_device, m_queries, nullptr);
    DestroyFence(m_device, m_fence, nullptr);
    DestroyCommandPool(m_device, m_copy.pool, nullptr);
    DestroyCommandPool(m_device, m_user.pool, nullptr);
    DestroyDevice(m_device, nullptr);
}

void VulkanDevice::handles(VulkanHandles& handles) const
{
    handles.contextInfo = m_contextInfo;
    handles.contextInfo.recorder = nullptr;
    handles.contextInfo.recorderUser = nullptr;
    handles.contextInfo.pipelineCache = VK_NULL_HANDLE;
    handles.queue = m_queue;
    handles.queueFamily = m_queueFamily;
    handles.nvDecompression = m_features->has(VK_NV_MEMORY_DECOMPRESSION_EXTENSION_NAME);
    handles.extDecompression = m_features->has(VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME);
}

// --- Memory

// Creates a buffer, and memory of the first type that has all `wanted` properties. On errors the
// caller destroys whatever was created.
VkResult VulkanDevice::createMemory(uint64_t size, VkBufferUsageFlags usage,
                                    VkMemoryPropertyFlags wanted, Memory& memory)
{
    VkBufferCreateInfo bufferInfo{};
    bufferInfo.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    bufferInfo.size = size;
    bufferInfo.usage = usage;
    VkBufferUsageFlags2CreateInfoKHR usage2{};
    usage2.sType = VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO_KHR;
    usage2.usage = usage | VK_BUFFER_USAGE_2_MEMORY_DECOMPRESSION_BIT_EXT;
    const bool addressable = (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    if (addressable && m_features->has(VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME)) {
        bufferInfo.pNext = &usage2; // this overrides bufferInfo.usage
    }
    if (const VkResult result = CreateBuffer(m_device, &bufferInfo, nullptr, &memory.buffer))
        return result;

    VkMemoryRequirements requirements{};
    GetBufferMemoryRequirements(m_device, memory.buffer, &requirements);
    VkPhysicalDeviceMemoryProperties all{};
    m_instance->GetPhysicalDeviceMemoryProperties(m_physicalDevice, &all);
    const VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, nullptr,
                                             VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0};
    VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 addressable ? &flags : nullptr, requirements.size, 0};
    VkResult result = VK_ERROR_FEATURE_NOT_PRESENT;
    for (uint32_t i = 0; i < all.memoryTypeCount; ++i) {
        if ((requirements.memoryTypeBits >> i & 1) != 0 &&
            (all.memoryTypes[i].propertyFlags & wanted) == wanted) {
            info.memoryTypeIndex = i;
            result = AllocateMemory(m_device, &info, nullptr, &memory.memory);
            break;
        }
    }
    return result == VK_SUCCESS ? BindBufferMemory(m_device, memory.buffer, memory.memory, 0)
                                : result;
}

void VulkanDevice::destroyMemory(const Memory& memory)
{
    DestroyBuffer(m_device, memory.buffer, nullptr);
    FreeMemory(m_device, memory.memory, nullptr);
}

SluiceStatus VulkanDevice::allocate(uint64_t size, SluiceBuffer& buffer)
{
    constexpr VkBufferUsageFlags usage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
        VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    // Drivers usually place memory at multiples of 256 bytes. If one does not, a larger allocation
    // is made, and the buffer starts at the first multiple of 256 in it.
    for (uint64_t slack : {uint64_t(0), kAllocationAlignment}) {
        Memory memory;
        const VkResult result = createMemory(wordsEnd(size) + slack, usage,
                                             VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, memory);
        if (result != VK_SUCCESS) {
            destroyMemory(memory);
            return statusOf(result);
        }
        buffer = sluiceVulkanBuffer(memory.buffer, 0, size);
        const uint64_t past = address(buffer) % kAllocationAlignment;
        if (past == 0 || slack != 0) {
            buffer.offset = past != 0 ? kAllocationAlignment - past : 0;
            m_memory.emplace(buffer.handle, memory);
            return SLUICE_OK;
        }
        destroyMemory(memory);
    }
    return SLUICE_ERROR_DEVICE;
}

void VulkanDevice::release(const SluiceBuffer& buffer)
{
    const auto found = m_memory.find(buffer.handle);
    if (found != m_memory.end()) {
        destroyMemory(found->second);
        m_memory.erase(found);
    }
}

uint64_t VulkanDevice::address(const SluiceBuffer& buffer) const
{
    VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, {}};
    std::memcpy(&info.buffer, &buffer.handle, sizeof info.buffer);
    return GetBufferDeviceAddress(m_device, &info) + buffer.offset;
}

// --- Commands

// Creates the objects that submissions need, at the first submission. A device that only compiles
// pipelines never creates them, so it also works with a driver that has no hardware.
VkResult VulkanDevice::prepareQueue()
{
    if (m_queries != VK_NULL_HANDLE) return VK_SUCCESS;
    const VkFenceCreateInfo fence = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
    const VkQueryPoolCreateInfo queries = {
        VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_TIMESTAMP, 2, 0};
    VkResult result = VK_SUCCESS;
    if (m_user.commands == VK_NULL_HANDLE) result = createRecording(m_user);
    if (result == VK_SUCCESS && m_copy.commands == VK_NULL_HANDLE) result = createRecording(m_copy);
    if (result == VK_SUCCESS && m_fence == VK_NULL_HANDLE)
        result = CreateFence(m_device, &fence, nullptr, &m_fence);
    if (result == VK_SUCCESS) result = CreateQueryPool(m_device, &queries, nullptr, &m_queries);
    return result;
}

// Resets the command buffer and begins it.
VkResult VulkanDevice::beginRecording(const Recording& recording)
{
    if (const VkResult result = prepareQueue()) return result;
    if (const VkResult result = ResetCommandPool(m_device, recording.pool, 0)) return result;
    const VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                           VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
    return BeginCommandBuffer(recording.commands, &info);
}

// Ends the command buffer, submits it and waits until the device has executed it.
VkResult VulkanDevice::submitRecording(const Recording& recording)
{
    fullBarrier(recording.commands);
    VkResult result = EndCommandBuffer(recording.commands);
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &recording.commands;
    if (result == VK_SUCCESS) result = QueueSubmit(m_queue, 1, &info, m_fence);
    if (result == VK_SUCCESS) result = WaitForFences(m_device, 1, &m_fence, VK_TRUE, UINT64_MAX);
    return result == VK_SUCCESS ? ResetFences(m_device, 1, &m_fence) : result;
}

// Records the barrier at the end of every command buffer, which makes all writes visible to the
// host and to later command buffers.
void VulkanDevice::fullBarrier(VkCommandBuffer commands)
{
    const VkMemoryBarrier memory = {
        VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_MEMORY_WRITE_BIT,
        VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT};
    CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                       &memory, 0, nullptr, 0, nullptr);
}

SluiceStatus VulkanDevice::begin(SluiceCommands& commands)
{
    if (m_recording) {
        // There is only one recording at a time.
        return SLUICE_ERROR_ARGUMENT;
    }
    if (const VkResult result = beginRecording(m_user)) return statusOf(result);
    m_recording = true;
    m_barrierCheck.begin();
    if (m_timestampBits != 0) {
        CmdResetQueryPool(m_user.commands, m_queries, 0, 2);
        CmdWriteTimestamp(m_user.commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, m_queries, 0);
    }
    commands = sluiceVulkanCommands(m_user.commands);
    return SLUICE_OK;
}

// If the queue has no timestamps, gpuMilliseconds stays 0. The host's time would be wrong, since it
// includes the submission.
SluiceStatus VulkanDevice::submit(SluiceCommands commands, double& gpuMilliseconds)
{
    gpuMilliseconds = 0;
    if (!m_recording || commands != sluiceVulkanCommands(m_user.commands))
        return SLUICE_ERROR_ARGUMENT;
    m_recording = false;
    if (m_timestampBits != 0)
        CmdWriteTimestamp(m_user.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, m_queries, 1);
    if (const VkResult result = submitRecording(m_user)) return statusOf(result);
    if (m_timestampBits != 0) {
        uint64_t ticks[2] = {};
        const VkResult result =
            GetQueryPoolResults(m_device, m_queries, 0, 2, sizeof(ticks), ticks, sizeof(ticks[0]),
                                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
        if (result != VK_SUCCESS) return statusOf(result);
        const uint64_t mask =
            m_timestampBits < 64 ? (uint64_t(1) << m_timestampBits) - 1 : UINT64_MAX;
        gpuMilliseconds = double((ticks[1] - ticks[0]) & mask) * m_timestampPeriod * 1e-6;
    }
    return SLUICE_OK;
}

void VulkanDevice::record(void* user, VkCommandBuffer, const char* kernel,
                          const SluiceVulkanAccess* ranges, uint32_t count)
{
    VulkanDevice& self = *static_cast<VulkanDevice*>(user);
    const std::string conflict = self.m_barrierCheck.record(kernel, ranges, count);
    if (!conflict.empty()) self.m_instance->message(conflict.c_str());
}

// --- Copies

// Creates and maps the staging buffer. Memory that the host caches is tried first, because the host
// reads other memory slowly.
VkResult VulkanDevice::prepareStaging()
{
    if (m_stagingBytes != nullptr) return VK_SUCCESS;
    constexpr VkMemoryPropertyFlags coherent =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkResult result = VK_SUCCESS;
    for (VkMemoryPropertyFlags wanted : {coherent | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, coherent}) {
        destroyMemory(m_staging);
        m_staging = {};
        result = createMemory(kStagingSize,
                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              wanted, m_staging);
        if (result == VK_SUCCESS)
            return MapMemory(m_device, m_staging.memory, 0, VK_WHOLE_SIZE, 0, &m_stagingBytes);
    }
    return result;
}

// Copies from buffer to buffer, and waits until the copy is done.
VkResult VulkanDevice::copy(VkBuffer from, uint64_t fromOffset, VkBuffer to, uint64_t toOffset,
                            uint64_t size)
{
    if (const VkResult result = beginRecording(m_copy)) return result;
    const VkBufferCopy region = {fromOffset, toOffset, size};
    CmdCopyBuffer(m_copy.commands, from, to, 1, &region);
    return submitRecording(m_copy);
}

// Copies `size` bytes through the staging buffer: from host memory `from` to the buffer or, if
// `from` is nullptr, from the buffer to host memory `to`.
SluiceStatus VulkanDevice::transfer(const SluiceBuffer& buffer, const char* from, char* to,
                                    uint64_t size)
{
    const auto found = m_memory.find(buffer.handle);
    if (found == m_memory.end()) return SLUICE_ERROR_ARGUMENT;
    VkResult result = prepareStaging();
    const VkBuffer device = found->second.buffer, staging = m_staging.buffer;
    for (uint64_t at = 0; at < size && result == VK_SUCCESS; at += kStagingSize) {
        const uint64_t part = std::min(size - at, kStagingSize);
        if (from != nullptr) std::memcpy(m_stagingBytes, from + at, size_t(part));
        result = from != nullptr ? copy(staging, 0, device, buffer.offset + at, part)
                                 : copy(device, buffer.offset + at, staging, 0, part);
        if (to != nullptr && result == VK_SUCCESS)
            std::memcpy(to + at, m_stagingBytes, size_t(part));
    }
    return statusOf(result);
}

SluiceStatus VulkanDevice::upload(const SluiceBuffer& buffer, const void* bytes, uint64_t size)
{
    return transfer(buffer, static_cast<const char*>(bytes), nullptr, size);
}

SluiceStatus VulkanDevice::download(const SluiceBuffer& buffer, void* bytes, uint64_t size)
{
    return transfer(buffer, nullptr, static_cast<char*>(bytes), size);
}

} // namespace

void listVulkanDevices(DeviceList& list)
{
    std::unique_ptr<VulkanInstance> instance;
    std::string error;
    if (VulkanInstance::create(nullptr, instance, error) != SLUICE_OK) return;
    for (uint32_t i = 0; i < instance->physicalDevices.size(); ++i)
        list.push_back(describe(*instance, instance->physicalDevices[i], i));
}

SluiceStatus openVulkanDevice(uint32_t index, const SluiceDeviceInfo& info,
                              std::unique_ptr<Device>& device, std::string& error)
{
    auto vulkan = std::make_unique<VulkanDevice>();
    const SluiceStatus status = vulkan->open(index, info, error);
    if (status == SLUICE_OK) device = std::move(vulkan);
    return status;
}

bool vulkanHandles(SluiceDevice device, VulkanHandles& handles)
{
    const auto* const vulkan =
        device != nullptr ? dynamic_cast<const VulkanDevice*>(device->device.get()) : nullptr;
    if (vulkan != nullptr) vulkan->handles(handles);
    return vulkan != nullptr;
}

} // namespace sluice
