// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that docs/embedding.md shows for UASTC, between the marks; tests/kernels/uastc_test.cpp
// runs it.
#include <vulkan/vulkan.h>

#include <sluice/sluice_stream_vulkan.h>
#include <sluice/sluice_uastc.h>
#include <sluice/sluice_vulkan.h>

#include <functional>

struct UastcBuffers { // what an engine has allocated
    VkBuffer regions, blocks, staging, status, scratch;
    VkDeviceSize blocksSize, stagingSize;
};

SluiceStatus recordUastc(SluiceContext context, SluiceCommands commands,
                         const UastcBuffers& buffers, uint32_t channels, uint32_t levelCount,
                         uint32_t blocksOfLargest, SluiceUastcFormat& chosen);

using CreateUastcImage = std::function<VkImage(const SluiceImageInfo&, const SluiceUastcFormat&)>;
SluiceStatus streamUastc(SluiceStreamer streamer, SluiceStreamFile file, const char* name,
                         size_t nameLength, uint32_t features, const CreateUastcImage& createImage,
                         SluiceStreamGroup& group);

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

SluiceStatus streamUastc(SluiceStreamer streamer, SluiceStreamFile file, const char* name,
                         size_t nameLength, uint32_t features, const CreateUastcImage& createImage,
                         SluiceStreamGroup& group)
{
    // [embedding]
    uint32_t asset = 0;
    SluiceImageInfo about;
    SluiceStatus status = sluiceStreamFindImage(file, name, nameLength, &asset, &about);
    if (status != SLUICE_OK) return status; // the file is not open yet, or has no such image

    SluiceUastcFormat formats[SLUICE_UASTC_MAX_FORMATS] = {};
    uint32_t formatCount = 0;
    SluiceStreamImage image = {}; // from VK_IMAGE_LAYOUT_UNDEFINED, which is 0
    if ((about.flags & SLUICE_IMAGE_TRANSCODE) != 0) {
        const bool isSrgb = (about.flags & SLUICE_IMAGE_SRGB) != 0;
        status = sluiceGetUastcFormats(about.channel, features, isSrgb ? SLUICE_UASTC_SRGB : 0,
                                       formats, &formatCount);
        if (status != SLUICE_OK) return status;
        image.format = formats[0].format;
        image.formatFlags = formats[0].flags;
    }
    // The VkImage, and later its view, have the format and the swizzle of formats[0].
    image.image = sluiceStreamImageHandle(createImage(about, formats[0]));
    image.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    SluiceStreamRequest requests[SLUICE_IMAGE_MAX_LEVELS];
    SluiceStreamGroupInfo info = {};
    info.requests = requests;
    info.requestCount = SLUICE_IMAGE_MAX_LEVELS;
    status = sluiceStreamGetImageRequests(file, asset, 0, about.levels, &image, requests,
                                          &info.requestCount);
    if (status == SLUICE_OK) status = sluiceStreamSubmit(streamer, &info, &group);
    // [/embedding]
    return status;
}
