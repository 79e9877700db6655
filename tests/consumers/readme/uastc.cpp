// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that docs/embedding.md shows for UASTC, between the marks; tests/kernels/uastc_test.cpp
// runs it.
#include <vulkan/vulkan.h>

#include <sluice/sluice_uastc.h>
#include <sluice/sluice_vulkan.h>

struct UastcBuffers { // what an engine has allocated
    VkBuffer regions, blocks, staging, status, scratch;
    VkDeviceSize blocksSize, stagingSize;
};

SluiceStatus recordUastc(SluiceContext context, SluiceCommands commands,
                         const UastcBuffers& buffers, uint32_t channels, uint32_t levelCount,
                         uint32_t blocksOfLargest, SluiceUastcFormat& chosen);

SluiceStatus recordUastc(SluiceContext context, SluiceCommands commands,
                         const UastcBuffers& buffers, uint32_t channels, uint32_t levelCount,
                         uint32_t blocksOfLargest, SluiceUastcFormat& chosen)
{
    // [embedding]
    SluicePipelinesInfo named = {};
    named.kernels = SLUICE_KERNELS_UASTC;
    SluiceStatus status = sluiceCreatePipelines(context, &named, nullptr);

    SluiceUastcFormat formats[SLUICE_UASTC_MAX_FORMATS];
    uint32_t formatCount = 0;
    if (status == SLUICE_OK)
        status = sluiceGetUastcFormats(channels, SLUICE_UASTC_HAS_BC, 0, formats, &formatCount);
    if (status != SLUICE_OK) return status;
    chosen = formats[0]; // create image and view with chosen.format and chosen.swizzle

    SluiceUastcInfo info = {};
    info.maxRegionCount = levelCount; // regions: a level each, of its width and height
    info.regionStride = sizeof(SluiceUastcRegion);
    info.maxRegionBlocks = blocksOfLargest;
    info.format = chosen.format;
    info.flags = chosen.flags;
    info.regions = sluiceVulkanBuffer(buffers.regions, 0, levelCount * sizeof(SluiceUastcRegion));
    info.source = sluiceVulkanBuffer(buffers.blocks, 0, buffers.blocksSize);
    info.destination = sluiceVulkanBuffer(buffers.staging, 0, buffers.stagingSize);
    info.status = sluiceVulkanBuffer(buffers.status, 0, (levelCount + 2ull) * 4);
    SluiceRequirements need = {};
    status = sluiceGetUastcRequirements(context, &info, &need);
    info.scratch = sluiceVulkanBuffer(buffers.scratch, 0, need.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdUastc(context, commands, &info);
    // [/embedding]
    return status;
}
