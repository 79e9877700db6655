// SPDX-License-Identifier: MIT OR Apache-2.0
#define VOLK_IMPLEMENTATION
#include "gpu.h"

#include <algorithm>
#include <cstring>
#include <iterator>

void requireVulkan(VkResult result, const char* what)
{
    if (result != VK_SUCCESS)
        throw std::runtime_error(std::string(what) + ": VkResult " + std::to_string(result));
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
    vkEnumeratePhysicalDevices(instance_, &count, nullptr);
    std::vector<VkPhysicalDevice> all(count);
    vkEnumeratePhysicalDevices(instance_, &count, all.data());
    all.resize(count);
    const bool isNumber =
        !device.empty() && device.find_first_not_of("0123456789") == std::string::npos;
    for (uint32_t i = 0; i < count && physical_ == VK_NULL_HANDLE; ++i) {
        vkGetPhysicalDeviceProperties(all[i], &properties_);
        const bool named = std::strstr(properties_.deviceName, device.c_str()) != nullptr;
        if (isNumber ? std::to_string(i) == device : named) physical_ = all[i];
    }
    if (physical_ == VK_NULL_HANDLE)
        throw NoDevice("no Vulkan device" + (device.empty() ? "" : " " + device));
    if (properties_.apiVersion < VK_API_VERSION_1_3)
        throw NoDevice("the Vulkan device knows no Vulkan 1.3");
    properties13_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
    VkPhysicalDeviceProperties2 properties = {};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &properties13_;
    vkGetPhysicalDeviceProperties2(physical_, &properties);
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
    if (vkCreateInstance(&instance, nullptr, &instance_) != VK_SUCCESS)
        throw NoDevice("no Vulkan 1.3");
    volkLoadInstanceOnly(instance_);
    choosePhysical(device);

    VkQueueFamilyProperties families[16];
    uint32_t count = static_cast<uint32_t>(std::size(families));
    vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families);
    while (family_ < count && (families[family_].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
        ++family_;
    if (family_ == count) throw NoDevice("no compute queue");

    // What sluice asks for, as far as the device has it.
    features12_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features12_.pNext = &features13_;
    features13_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    VkPhysicalDeviceFeatures2 has = {};
    has.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    has.pNext = &features12_;
    vkGetPhysicalDeviceFeatures2(physical_, &has);
    const VkBool32 address = features12_.bufferDeviceAddress,
                   bytes = features12_.storageBuffer8BitAccess;
    const VkBool32 sizes = features13_.subgroupSizeControl, full = features13_.computeFullSubgroups;
    features12_ = {};
    features12_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features12_.pNext = &features13_;
    features12_.bufferDeviceAddress = address;
    features12_.storageBuffer8BitAccess = bytes;
    features13_ = {};
    features13_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    features13_.subgroupSizeControl = sizes;
    features13_.computeFullSubgroups = full;

    const float priority = 1;
    VkDeviceQueueCreateInfo queue = {};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = family_;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &features12_;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    requireVulkan(vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
    volkLoadDevice(device_);
    vkGetDeviceQueue(device_, family_, 0, &queue_);

    VkCommandPoolCreateInfo pool = {};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = family_;
    requireVulkan(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo commands = {};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = pool_;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    requireVulkan(vkAllocateCommandBuffers(device_, &commands, &commands_),
                  "vkAllocateCommandBuffers");
    VkQueryPoolCreateInfo times = {};
    times.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    times.queryType = VK_QUERY_TYPE_TIMESTAMP;
    times.queryCount = 2;
    requireVulkan(vkCreateQueryPool(device_, &times, nullptr, &times_), "vkCreateQueryPool");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
    VkPipelineLayoutCreateInfo layout = {};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    requireVulkan(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_),
                  "vkCreatePipelineLayout");
}

void Gpu::createSluice(SluiceVulkanTier tier, uint32_t kernels)
{
    SluiceVulkanContextInfo info = {};
    info.getInstanceProcAddr = vkGetInstanceProcAddr;
    info.instance = instance_;
    info.physicalDevice = physical_;
    info.device = device_;
    info.apiVersion = VK_API_VERSION_1_3;
    info.enabledFeatures = &features12_; // the chain that was given to vkCreateDevice
    info.tier = tier;
    info.kernels = kernels;
    const char* why = nullptr;
    const SluiceStatus status = sluiceCreateVulkanContext(&info, &sluice_, &why);
    if (status == SLUICE_ERROR_UNSUPPORTED) throw NoDevice(why);
    if (status != SLUICE_OK) throw std::runtime_error(sluiceGetStatusText(status));
    sluiceGetContextInfo(sluice_, &chosen_);
}

void Gpu::destroy()
{
    sluiceDestroyContext(sluice_);
    if (device_ != VK_NULL_HANDLE) {
        for (const GpuBuffer& buffer : buffers_) {
            vkDestroyBuffer(device_, buffer.buffer, nullptr);
            vkFreeMemory(device_, buffer.memory, nullptr);
        }
        for (const VkPipeline pipeline : pipelines_)
            vkDestroyPipeline(device_, pipeline, nullptr);
        vkDestroyPipelineLayout(device_, layout_, nullptr);
        vkDestroyQueryPool(device_, times_, nullptr);
        vkDestroyCommandPool(device_, pool_, nullptr);
        vkDestroyDevice(device_, nullptr);
    }
    if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
}

GpuBuffer Gpu::allocate(VkDeviceSize size)
{
    buffers_.emplace_back();
    GpuBuffer& made = buffers_.back();
    made.size = size;
    VkBufferCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    requireVulkan(vkCreateBuffer(device_, &info, nullptr, &made.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device_, made.buffer, &needs);

    // Memory of the device that the host can see, else the host's own. An engine would have both
    // kinds and copy.
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
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
    requireVulkan(vkAllocateMemory(device_, &allocate, nullptr, &made.memory), "vkAllocateMemory");
    requireVulkan(vkBindBufferMemory(device_, made.buffer, made.memory, 0), "vkBindBufferMemory");
    requireVulkan(vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped),
                  "vkMapMemory");
    std::memset(made.mapped, 0, size);
    VkBufferDeviceAddressInfo where = {};
    where.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    where.buffer = made.buffer;
    made.address = vkGetBufferDeviceAddress(device_, &where);
    return made;
}

VkCommandBuffer Gpu::begin()
{
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    requireVulkan(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    vkCmdResetQueryPool(commands_, times_, 0, 2);
    vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, times_, 0);
    return commands_;
}

double Gpu::submit()
{
    // The host reads what was written.
    VkMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, times_, 1);
    requireVulkan(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
    VkSubmitInfo submit = {};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands_;
    requireVulkan(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    requireVulkan(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
    uint64_t ticks[2] = {};
    requireVulkan(vkGetQueryPoolResults(device_, times_, 0, 2, sizeof ticks, ticks, sizeof ticks[0],
                                        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                  "vkGetQueryPoolResults");
    return static_cast<double>(ticks[1] - ticks[0]) *
           static_cast<double>(properties_.limits.timestampPeriod) / 1e6;
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
    info.layout = layout_;
    requireVulkan(vkCreateShaderModule(device_, &module, nullptr, &info.stage.module),
                  "vkCreateShaderModule");
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result =
        vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    vkDestroyShaderModule(device_, info.stage.module, nullptr);
    requireVulkan(result, "vkCreateComputePipelines");
    pipelines_.push_back(pipeline);
    return pipeline;
}

VkPipeline Gpu::createPipeline(const uint32_t* code, size_t bytes)
{
    return makePipeline(code, bytes, {});
}

VkPipeline Gpu::createLanePipeline(const uint32_t* code, size_t bytes, uint32_t workgroup)
{
    const uint32_t constants[] = {workgroup, chosen_.subgroupSize};
    const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof constants, constants};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {};
    size.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
    size.requiredSubgroupSize = chosen_.subgroupSize;
    VkComputePipelineCreateInfo info = {};
    info.stage.pSpecializationInfo = &specialization;
    const bool emulated = std::strncmp(chosen_.tier, "emu", 3) == 0; // uses no subgroups
    const bool canRequire =
        (properties13_.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    if (!emulated && features13_.computeFullSubgroups)
        info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    if (!emulated && features13_.subgroupSizeControl && canRequire) info.stage.pNext = &size;
    return makePipeline(code, bytes, info);
}

uint32_t Gpu::laneWorkgroup() const
{
    const uint32_t subgroup = chosen_.subgroupSize;
    if (std::strncmp(chosen_.tier, "emu", 3) == 0 || subgroup < 32) return std::max(32u, subgroup);
    // float_tile.glsl says how much shared memory that takes. On an H200 its decoder is fastest
    // with 1,024.
    const bool fits =
        subgroup == 32 && properties_.limits.maxComputeSharedMemorySize >= 17672 + 32 * 512 + 1024;
    return std::min({fits ? 1024u : 512u,
                     properties_.limits.maxComputeWorkGroupInvocations / subgroup * subgroup,
                     properties13_.maxComputeWorkgroupSubgroups * subgroup});
}

void Gpu::dispatch(VkPipeline pipeline, const void* push, uint32_t pushBytes, uint32_t workgroups)
{
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(commands_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes, push);
    vkCmdDispatch(commands_, workgroups, 1, 1);
}
