// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that docs/embedding.md shows for Zstandard frames, between the marks;
// tests/kernels/zstd_test.cpp runs it.
#include <vulkan/vulkan.h>

#include <sluice/sluice_vulkan.h>
#include <sluice/sluice_zstd.h>

struct ZstdBuffers { // what an engine has allocated
    VkBuffer regions, file, staging, status, scratch;
    VkDeviceSize fileSize, stagingSize, scratchSize;
};

SluiceStatus recordZstd(SluiceContext context, SluiceCommands commands, const ZstdBuffers& buffers,
                        uint32_t frameCount, uint32_t largestFrame);

SluiceStatus recordZstd(SluiceContext context, SluiceCommands commands, const ZstdBuffers& buffers,
                        uint32_t frameCount, uint32_t largestFrame)
{
    // [embedding]
    SluicePipelinesInfo named = {};
    named.kernels = SLUICE_KERNELS_ZSTD;
    SluiceStatus status = sluiceCreatePipelines(context, &named, nullptr);

    SluiceZstdInfo info = {};
    info.maxRegionCount = frameCount; // regions: a frame, or several, and the bytes decoded
    info.regionStride = sizeof(SluiceRegion);
    info.maxRegionSize = largestFrame;
    info.regions = sluiceVulkanBuffer(buffers.regions, 0, frameCount * sizeof(SluiceRegion));
    info.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    info.destination = sluiceVulkanBuffer(buffers.staging, 0, buffers.stagingSize);
    info.status = sluiceVulkanBuffer(buffers.status, 0, (frameCount + 2ull) * 4);
    SluiceRequirements need = {}; // allocate need.scratchSize bytes
    if (status == SLUICE_OK) status = sluiceGetZstdRequirements(context, &info, &need);
    info.scratch = sluiceVulkanBuffer(buffers.scratch, 0, buffers.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdZstd(context, commands, &info);
    // [/embedding]
    return status;
}
