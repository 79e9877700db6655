// SPDX-License-Identifier: MIT OR Apache-2.0
// What sluiceCmdBarrier records, seen by a driver that the test puts before the real one.
#include "device/device_vulkan.h"
#include "devices.h"

#include <cstring>

using namespace sluice::test;

namespace {

struct Recorded {
    VkPipelineStageFlags before, after;
    VkMemoryBarrier memory;
    uint32_t memoryCount;
};

// An entry point has no user pointer; cases run one after the other.
PFN_vkGetInstanceProcAddr gNextInstance;
PFN_vkGetDeviceProcAddr gNextDevice;
PFN_vkCmdPipelineBarrier gNextBarrier;
std::vector<Recorded> gRecorded;

VKAPI_ATTR void VKAPI_CALL recordBarrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                         VkPipelineStageFlags after, VkDependencyFlags flags,
                                         uint32_t memoryCount, const VkMemoryBarrier* memory,
                                         uint32_t bufferCount, const VkBufferMemoryBarrier* buffers,
                                         uint32_t imageCount, const VkImageMemoryBarrier* images)
{
    gRecorded.push_back(
        {before, after, memoryCount != 0 ? memory[0] : VkMemoryBarrier{}, memoryCount});
    gNextBarrier(commands, before, after, flags, memoryCount, memory, bufferCount, buffers,
                 imageCount, images);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL findInDevice(VkDevice device, const char* name)
{
    if (std::strcmp(name, "vkCmdPipelineBarrier") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(recordBarrier);
    return gNextDevice(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL findInInstance(VkInstance instance, const char* name)
{
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(findInDevice);
    return gNextInstance(instance, name);
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("a barrier orders commands, and shows the host what they wrote")
{
    sluice::VulkanHandles handles = {};
    if (!sluice::vulkanHandles(device().get(), handles)) return; // nothing is recorded elsewhere
    SluiceVulkanContextInfo info = handles.contextInfo;
    gNextInstance = info.getInstanceProcAddr;
    gNextDevice = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        gNextInstance(info.instance, "vkGetDeviceProcAddr"));
    gNextBarrier = reinterpret_cast<PFN_vkCmdPipelineBarrier>(
        gNextDevice(info.device, "vkCmdPipelineBarrier"));
    info.getInstanceProcAddr = findInInstance;
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateVulkanContext(&info, &context, nullptr) == SLUICE_OK);
    gRecorded.clear();
    device().run(
        [&](SluiceCommands commands) { CHECK(sluiceCmdBarrier(context, commands) == SLUICE_OK); });
    sluiceDestroyContext(context);

    constexpr VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                            VK_PIPELINE_STAGE_TRANSFER_BIT |
                                            VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
    constexpr VkAccessFlags accesses = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                       VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                       VK_ACCESS_INDIRECT_COMMAND_READ_BIT;
    REQUIRE(gRecorded.size() == 1);
    REQUIRE(gRecorded[0].memoryCount == 1);
    CHECK(gRecorded[0].before == stages);
    CHECK(gRecorded[0].after == (stages | VK_PIPELINE_STAGE_HOST_BIT));
    CHECK(gRecorded[0].memory.srcAccessMask == accesses);
    CHECK(gRecorded[0].memory.dstAccessMask == (accesses | VK_ACCESS_HOST_READ_BIT));
}

TEST_SUITE_END();
