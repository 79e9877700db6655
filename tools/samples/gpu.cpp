// SPDX-License-Identifier: MIT OR Apache-2.0
#define VOLK_IMPLEMENTATION // NOLINT(readability-identifier-naming): the name is volk's
#include "tools/samples/gpu.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

void requireVulkan(VkResult result, const char* what)
{
    if (result != VK_SUCCESS)
        throw std::runtime_error(std::string(what) + ": VkResult " + std::to_string(result));
}

int runSample(const char* name, const std::function<void()>& run)
{
    try {
        run();
        return EXIT_SUCCESS;
    } catch (const NoDevice& reason) {
        std::fprintf(stderr, "%s: not run: %s\n", name, reason.what());
        return 77;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return EXIT_FAILURE;
    }
}

Gpu::Gpu(uint32_t kernels, const std::string& device, SluiceVulkanTier tier)
{
    try {
        createDevice(device);
        createSluice(tier, kernels);
    } catch (...) {
        destroy();
        throw;
    }
}

Gpu::~Gpu() { destroy(); }

void Gpu::choosePhysical(const std::string& device)
{
    uint32_t count = 0;
    vkEnumeratePhysicalDevices(m_instance, &count, nullptr);
    std::vector<VkPhysicalDevice> all(count);
    vkEnumeratePhysicalDevices(m_instance, &count, all.data());
    all.resize(count);
    const bool isNumber =
        !device.empty() && device.find_first_not_of("0123456789") == std::string::npos;
    for (uint32_t i = 0; i < count && m_physical == VK_NULL_HANDLE; ++i) {
        vkGetPhysicalDeviceProperties(all[i], &m_properties);
        const bool named = std::strstr(m_properties.deviceName, device.c_str()) != nullptr;
        if (isNumber ? std::to_string(i) == device : named) m_physical = all[i];
    }
    if (m_physical == VK_NULL_HANDLE)
        throw NoDevice("no Vulkan device" + (device.empty() ? "" : " " + device));
    if (m_properties.apiVersion < VK_API_VERSION_1_3)
        throw NoDevice("the Vulkan device knows no Vulkan 1.3");
    m_properties13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
    VkPhysicalDeviceProperties2 properties = {};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &m_properties13;
    vkGetPhysicalDeviceProperties2(m_physical, &properties);
}

void Gpu::createDevice(const std::string& device)
{
    if (volkInitialize() != VK_SUCCESS) throw NoDevice("no Vulkan loader");
    VkApplicationInfo application = {};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo instance = {};
    instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance.pApplicationInfo = &application;
    if (vkCreateInstance(&instance, nullptr, &m_instance) != VK_SUCCESS)
        throw NoDevice("no Vulkan 1.3");
    volkLoadInstanceOnly(m_instance);
    choosePhysical(device);

    VkQueueFamilyProperties families[16];
    uint32_t count = uint32_t(std::size(families));
    vkGetPhysicalDeviceQueueFamilyProperties(m_physical, &count, families);
    while (m_family < count && (families[m_family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
        ++m_family;
    if (m_family == count) throw NoDevice("no compute queue");

    // Enable what sluice asks for, as far as the device has it.
    m_features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    m_features12.pNext = &m_features13;
    m_features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    VkPhysicalDeviceFeatures2 has = {};
    has.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    has.pNext = &m_features12;
    vkGetPhysicalDeviceFeatures2(m_physical, &has);
    const VkPhysicalDeviceVulkan12Features has12 = m_features12;
    const VkPhysicalDeviceVulkan13Features has13 = m_features13;
    m_features12 = {};
    m_features12.sType = has12.sType;
    m_features12.pNext = &m_features13;
    m_features12.bufferDeviceAddress = has12.bufferDeviceAddress;
    m_features12.storageBuffer8BitAccess = has12.storageBuffer8BitAccess;
    m_features13 = {};
    m_features13.sType = has13.sType;
    m_features13.subgroupSizeControl = has13.subgroupSizeControl;
    m_features13.computeFullSubgroups = has13.computeFullSubgroups;

    const float priority = 1;
    VkDeviceQueueCreateInfo queue = {};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = m_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &m_features12;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    requireVulkan(vkCreateDevice(m_physical, &info, nullptr, &m_device), "vkCreateDevice");
    volkLoadDevice(m_device);
    vkGetDeviceQueue(m_device, m_family, 0, &m_queue);

    VkCommandPoolCreateInfo pool = {};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = m_family;
    requireVulkan(vkCreateCommandPool(m_device, &pool, nullptr, &m_pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo commands = {};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = m_pool;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    requireVulkan(vkAllocateCommandBuffers(m_device, &commands, &m_commands),
                  "vkAllocateCommandBuffers");
    VkQueryPoolCreateInfo times = {};
    times.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    times.queryType = VK_QUERY_TYPE_TIMESTAMP;
    times.queryCount = 2;
    requireVulkan(vkCreateQueryPool(m_device, &times, nullptr, &m_times), "vkCreateQueryPool");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
    VkPipelineLayoutCreateInfo layout = {};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    requireVulkan(vkCreatePipelineLayout(m_device, &layout, nullptr, &m_layout),
                  "vkCreatePipelineLayout");
}

void Gpu::createSluice(SluiceVulkanTier tier, uint32_t kernels)
{
    SluiceVulkanContextInfo info = {};
    info.getInstanceProcAddr = vkGetInstanceProcAddr;
    info.instance = m_instance;
    info.physicalDevice = m_physical;
    info.device = m_device;
    info.apiVersion = VK_API_VERSION_1_3;
    info.enabledFeatures = &m_features12; // the chain that was given to vkCreateDevice
    info.tier = tier;
    const char* why = nullptr;
    const SluiceStatus status = sluiceCreateVulkanContext(&info, &m_sluice, &why);
    if (status == SLUICE_ERROR_UNSUPPORTED) throw NoDevice(why);
    if (status != SLUICE_OK) throw std::runtime_error(sluiceGetStatusText(status));
    const SluicePipelinesInfo pipelines = {kernels, 0, 0};
    if (sluiceCreatePipelines(m_sluice, &pipelines, nullptr) != SLUICE_OK)
        throw std::runtime_error("sluice's pipelines cannot be made");
    sluiceGetContextInfo(m_sluice, &m_chosen);
}

void Gpu::destroy()
{
    sluiceDestroyContext(m_sluice);
    if (m_device != VK_NULL_HANDLE) {
        for (const GpuBuffer& buffer : m_buffers) {
            vkDestroyBuffer(m_device, buffer.buffer, nullptr);
            vkFreeMemory(m_device, buffer.memory, nullptr);
        }
        for (const VkPipeline pipeline : m_pipelines)
            vkDestroyPipeline(m_device, pipeline, nullptr);
        vkDestroyPipelineLayout(m_device, m_layout, nullptr);
        vkDestroyQueryPool(m_device, m_times, nullptr);
        vkDestroyCommandPool(m_device, m_pool, nullptr);
        vkDestroyDevice(m_device, nullptr);
    }
    if (m_instance != VK_NULL_HANDLE) vkDestroyInstance(m_instance, nullptr);
}

GpuBuffer Gpu::allocate(VkDeviceSize size)
{
    m_buffers.emplace_back();
    GpuBuffer& made = m_buffers.back();
    made.size = size;
    VkBufferCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    requireVulkan(vkCreateBuffer(m_device, &info, nullptr, &made.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(m_device, made.buffer, &needs);

    // Prefers memory of the device that the host can see to the host's own. An engine would have
    // both kinds and copy.
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(m_physical, &memory);
    const VkMemoryPropertyFlags seen =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = memory.memoryTypeCount;
    for (const VkMemoryPropertyFlags wanted : {seen | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, seen}) {
        for (uint32_t i = 0; i < memory.memoryTypeCount && type == memory.memoryTypeCount; ++i) {
            if ((needs.memoryTypeBits >> i & 1) != 0 &&
                (memory.memoryTypes[i].propertyFlags & wanted) == wanted &&
                memory.memoryHeaps[memory.memoryTypes[i].heapIndex].size > (uint64_t{1} << 30))
                type = i;
        }
    }
    if (type == memory.memoryTypeCount) throw NoDevice("too little memory that the host can see");
    made.local =
        (memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    VkMemoryAllocateFlagsInfo flags = {};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocate = {};
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.pNext = &flags;
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = type;
    requireVulkan(vkAllocateMemory(m_device, &allocate, nullptr, &made.memory), "vkAllocateMemory");
    requireVulkan(vkBindBufferMemory(m_device, made.buffer, made.memory, 0), "vkBindBufferMemory");
    requireVulkan(vkMapMemory(m_device, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped),
                  "vkMapMemory");
    std::memset(made.mapped, 0, size);
    VkBufferDeviceAddressInfo where = {};
    where.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    where.buffer = made.buffer;
    made.address = vkGetBufferDeviceAddress(m_device, &where);
    return made;
}

VkCommandBuffer Gpu::begin()
{
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    requireVulkan(vkBeginCommandBuffer(m_commands, &begin), "vkBeginCommandBuffer");
    vkCmdResetQueryPool(m_commands, m_times, 0, 2);
    vkCmdWriteTimestamp(m_commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, m_times, 0);
    return m_commands;
}

double Gpu::submit()
{
    // The host will read the results.
    VkMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(m_commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    vkCmdWriteTimestamp(m_commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, m_times, 1);
    requireVulkan(vkEndCommandBuffer(m_commands), "vkEndCommandBuffer");
    VkSubmitInfo submit = {};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &m_commands;
    requireVulkan(vkQueueSubmit(m_queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    requireVulkan(vkQueueWaitIdle(m_queue), "vkQueueWaitIdle");
    uint64_t ticks[2] = {};
    requireVulkan(vkGetQueryPoolResults(m_device, m_times, 0, 2, sizeof ticks, ticks,
                                        sizeof ticks[0],
                                        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                  "vkGetQueryPoolResults");
    return double(ticks[1] - ticks[0]) * double(m_properties.limits.timestampPeriod) / 1e6;
}

VkPipeline Gpu::makePipeline(const uint32_t* code, size_t bytes, VkComputePipelineCreateInfo info)
{
    VkShaderModuleCreateInfo module = {};
    module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module.codeSize = bytes;
    module.pCode = code;
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.pName = "main";
    info.layout = m_layout;
    requireVulkan(vkCreateShaderModule(m_device, &module, nullptr, &info.stage.module),
                  "vkCreateShaderModule");
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result =
        vkCreateComputePipelines(m_device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    vkDestroyShaderModule(m_device, info.stage.module, nullptr);
    requireVulkan(result, "vkCreateComputePipelines");
    m_pipelines.push_back(pipeline);
    return pipeline;
}

VkPipeline Gpu::createPipeline(const uint32_t* code, size_t bytes)
{
    return makePipeline(code, bytes, {});
}

VkPipeline Gpu::createLanePipeline(const uint32_t* code, size_t bytes, uint32_t workgroup)
{
    const uint32_t constants[] = {workgroup, m_chosen.subgroupSize};
    const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof constants, constants};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {};
    size.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
    size.requiredSubgroupSize = m_chosen.subgroupSize;
    VkComputePipelineCreateInfo info = {};
    info.stage.pSpecializationInfo = &specialization;
    const bool emulated = std::strncmp(m_chosen.tier, "emu", 3) == 0; // uses no subgroups
    const bool canRequire =
        (m_properties13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    if (!emulated && m_features13.computeFullSubgroups)
        info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    if (!emulated && m_features13.subgroupSizeControl && canRequire) info.stage.pNext = &size;
    return makePipeline(code, bytes, info);
}

uint32_t Gpu::laneWorkgroup() const
{
    const uint32_t subgroup = m_chosen.subgroupSize;
    if (std::strncmp(m_chosen.tier, "emu", 3) == 0 || subgroup < 32) return std::max(32u, subgroup);
    // float_tile.glsl says how much shared memory that takes. On an H200 its decoder is fastest
    // with 1,024.
    const bool fits =
        subgroup == 32 && m_properties.limits.maxComputeSharedMemorySize >= 17672 + 32 * 512 + 1024;
    return std::min({fits ? 1024u : 512u,
                     m_properties.limits.maxComputeWorkGroupInvocations / subgroup * subgroup,
                     m_properties13.maxComputeWorkgroupSubgroups * subgroup});
}

void Gpu::dispatch(VkPipeline pipeline, const void* push, uint32_t pushBytes, uint32_t workgroups)
{
    vkCmdBindPipeline(m_commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(m_commands, m_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes, push);
    vkCmdDispatch(m_commands, workgroups, 1, 1);
}
