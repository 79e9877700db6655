// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that README.md shows, between the marks. The tests compare the two.
#include <vulkan/vulkan.h>
#include <sluice/sluice_vulkan.h>

struct Engine { // what an engine has anyway
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    const VkPhysicalDeviceFeatures2* features;
};

SluiceStatus start(const Engine& engine, SluiceContext& sluice);
SluiceStatus record(SluiceContext sluice, VkCommandBuffer commandBuffer, uint32_t tileCount,
                    VkBuffer tiles, VkBuffer file, VkDeviceSize fileSize, VkBuffer texture,
                    VkDeviceSize textureSize, VkBuffer status);

SluiceStatus start(const Engine& engine, SluiceContext& sluice)
{
    // [readme]
    SluiceVulkanContextInfo info = {}; // once: your instance, your device, what you
                                       // enabled
    info.getInstanceProcAddr = engine.getInstanceProcAddr;
    info.instance = engine.instance;
    info.physicalDevice = engine.physicalDevice;
    info.device = engine.device;
    info.apiVersion = VK_API_VERSION_1_2;
    info.enabledFeatures = engine.features; // the chain that you gave to vkCreateDevice
    SluiceStatus created = sluiceCreateVulkanContext(&info, &sluice, nullptr);
    // [/readme]
    return created;
}

SluiceStatus record(SluiceContext sluice, VkCommandBuffer commandBuffer, uint32_t tileCount,
                    VkBuffer tiles, VkBuffer file, VkDeviceSize fileSize, VkBuffer texture,
                    VkDeviceSize textureSize, VkBuffer status)
{
    // [readme]

    SluiceGdeflateInfo decode = {}; // per frame: any number of tiles in one
                                    // dispatch
    decode.maxRegionCount = tileCount;
    decode.regionStride = sizeof(SluiceRegion);
    decode.regions = sluiceVulkanBuffer(tiles, 0, tileCount * sizeof(SluiceRegion));
    decode.source = sluiceVulkanBuffer(file, 0, fileSize);
    decode.destination = sluiceVulkanBuffer(texture, 0, textureSize);
    decode.status = sluiceVulkanBuffer(status, 0, (tileCount + 2) * sizeof(uint32_t));
    SluiceCommands commands = sluiceVulkanCommands(commandBuffer);
    SluiceStatus recorded = sluiceCmdGdeflate(sluice, commands, &decode);
    sluiceCmdBarrier(sluice, commands); // then read `texture` with whatever comes
                                        // next
    // [/readme]
    return recorded;
}
