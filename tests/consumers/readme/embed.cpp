// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that README.md shows, between the marks. The tests compare the two, and
// tests/api/embedding_example_test.cpp runs what stands here.
#include <vulkan/vulkan.h>
#include <sluice/sluice_vulkan.h>
#include <sluice/sluice_gdeflate.h>

SluiceStatus record(SluiceContext sluice, VkCommandBuffer commandBuffer, uint32_t tileCount,
                    VkBuffer tiles, VkBuffer file, VkDeviceSize fileSize, VkBuffer texture,
                    VkDeviceSize textureSize, VkBuffer status);

SluiceStatus record(SluiceContext sluice, VkCommandBuffer commandBuffer, uint32_t tileCount,
                    VkBuffer tiles, VkBuffer file, VkDeviceSize fileSize, VkBuffer texture,
                    VkDeviceSize textureSize, VkBuffer status)
{
    // [readme]
    SluiceGdeflateInfo decode = {}; // any number of tiles in one dispatch
    decode.maxRegionCount = tileCount;
    decode.regionStride = sizeof(SluiceRegion);
    decode.regions = sluiceVulkanBuffer(tiles, 0, tileCount * sizeof(SluiceRegion));
    decode.source = sluiceVulkanBuffer(file, 0, fileSize);
    decode.destination = sluiceVulkanBuffer(texture, 0, textureSize);
    decode.status = sluiceVulkanBuffer(status, 0, (tileCount + 2ull) * sizeof(uint32_t));
    SluiceCommands commands = sluiceVulkanCommands(commandBuffer);
    SluiceStatus recorded = sluiceCmdGdeflate(sluice, commands, &decode);
    sluiceCmdBarrier(sluice, commands); // whatever comes next can read `texture`
    // [/readme]
    return recorded;
}
