// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that docs/embedding.md shows in C++, between the marks. The tests compare the two.
#include <initializer_list>
#include <vulkan/vulkan.h>
#include <sluice/sluice_archive.h>
#include <sluice/sluice_compact.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_fse.h>
#include <sluice/sluice_gstd.h>
#include <sluice/sluice_interval.h>
#include <sluice/sluice_scan.h>
#include <sluice/sluice_vulkan.h>

struct Buffers { // what an engine has allocated
    VkBuffer file, ranges, textures, results, status, scratch, regions, staging, sums;
    VkBuffer sizes, offsets, begins, mask, visible, visibleCount, dispatch, scanScratch,
        compactScratch, moveScratch;
    VkDeviceSize fileSize, textureSize, scratchSize, stagingSize;
};

SluiceStatus listWeights(const uint8_t* tileBytes, const SluiceArchiveTile& tile,
                         const SluiceArchiveTile& firstTile, uint64_t sourceAddress,
                         uint64_t tensorAddress, uint32_t& statusCount, SluiceFloatTensor& listed);
SluiceStatus recordGstd(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                        uint32_t tileCount);
SluiceStatus recordFseTables(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                             uint32_t tableCount);
SluiceStatus recordStreams(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                           uint32_t streamCount, uint32_t maxTileCount);
SluiceStatus recordPrimitives(SluiceContext context, SluiceCommands commands,
                              const Buffers& buffers, uint32_t instanceCount);
SluiceStatus recordPitched(SluiceContext context, VkCommandBuffer commandBuffer,
                           const Buffers& buffers, uint32_t tileCount, uint32_t widthBytes,
                           uint32_t width, uint32_t height, VkImage image);
SluiceStatus recordByDriver(SluiceContext context, SluiceCommands commands,
                            SluiceGdeflateInfo decode);

SluiceStatus listWeights(const uint8_t* tileBytes, const SluiceArchiveTile& tile,
                         const SluiceArchiveTile& firstTile, uint64_t sourceAddress,
                         uint64_t tensorAddress, uint32_t& statusCount, SluiceFloatTensor& listed)
{
    // [embedding]
    SluiceFloatTensor entry = {};
    SluiceStatus status = sluiceParseFloatTile(tileBytes, tile.storedSize, tile.size, &entry);
    for (uint64_t* part : {&entry.words, &entry.index, &entry.lengths, &entry.raw})
        *part += sourceAddress + tile.offset;
    entry.output = tensorAddress + (tile.outputOffset - firstTile.outputOffset); // a multiple of 16
    // it has a status for every 8,192 elements
    entry.firstTile = statusCount;
    statusCount += uint32_t((entry.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE);
    // [/embedding]
    listed = entry;
    return status;
}

SluiceStatus recordGstd(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                        uint32_t tileCount)
{
    // [embedding]
    SluiceGstdInfo decode = {};
    decode.maxRegionCount = tileCount;
    decode.regionStride = sizeof(SluiceRegion);
    decode.flags = SLUICE_DECODE_STORED_IF_EQUAL;
    decode.tilesAtOnce = 128; // 64 MiB of scratch
    decode.regions = sluiceVulkanBuffer(buffers.regions, 0, tileCount * sizeof(SluiceRegion));
    decode.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    decode.destination = sluiceVulkanBuffer(buffers.textures, 0, buffers.textureSize);
    decode.status = sluiceVulkanBuffer(buffers.status, 0, (tileCount + 2ull) * 4);

    SluiceRequirements need = {};
    SluiceStatus status = sluiceGetGstdRequirements(context, &decode, &need);
    // at least that large
    decode.scratch = sluiceVulkanBuffer(buffers.scratch, 0, need.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdGstd(context, commands, &decode);
    // [/embedding]
    return status;
}

SluiceStatus recordFseTables(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                             uint32_t tableCount)
{
    // [embedding]
    SluiceFseTablesInfo info = {};
    info.maxRegionCount = tableCount; // regions: a description, and room for its
                                      // table
    info.regionStride = sizeof(SluiceRegion);
    info.maxSymbols = 53; // match lengths, the largest of the three
    info.maxLog = 9;
    info.regions = sluiceVulkanBuffer(buffers.regions, 0, tableCount * sizeof(SluiceRegion));
    info.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    info.destination = sluiceVulkanBuffer(buffers.scratch, 0, buffers.scratchSize);
    info.status = sluiceVulkanBuffer(buffers.status, 0, (tableCount + 2ull) * 4);
    SluiceStatus status = sluiceCmdFseTables(context, commands, &info);
    // [/embedding]
    return status;
}

SluiceStatus recordStreams(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                           uint32_t streamCount, uint32_t maxTileCount)
{
    // [embedding]
    SluiceTileStreamsInfo info = {};
    info.maxStreamCount = streamCount;
    info.maxTileCount = maxTileCount; // a bound: what does not fit is reported,
                                      // not written
    info.streams = sluiceVulkanBuffer(buffers.ranges, 0, streamCount * sizeof(SluiceStreamRange));
    info.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    info.destination = sluiceVulkanBuffer(buffers.textures, 0, buffers.textureSize);
    info.results = sluiceVulkanBuffer(
        buffers.results, 0, streamCount * sizeof(SluiceStreamResult) + sizeof(SluiceStreamSummary));
    info.status = sluiceVulkanBuffer(buffers.status, 0, (maxTileCount + 2ull) * 4);

    SluiceRequirements need = {};
    SluiceStatus status = sluiceGetTileStreamsRequirements(context, &info, &need);
    // at least that large
    info.scratch = sluiceVulkanBuffer(buffers.scratch, 0, need.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdTileStreams(context, commands, &info);
    // [/embedding]
    return status;
}

SluiceStatus recordPrimitives(SluiceContext context, SluiceCommands commands,
                              const Buffers& buffers, uint32_t instanceCount)
{
    // [embedding]
    SluiceScanInfo offsets = {}; // where each payload will begin: the
                                 // exclusive sum of sizes
    offsets.maxCount = instanceCount;
    offsets.input = sluiceVulkanBuffer(buffers.sizes, 0, instanceCount * 4ull);
    offsets.output = sluiceVulkanBuffer(buffers.offsets, 0, instanceCount * 4ull);

    SluiceCompactInfo visible = {}; // the instances whose bit is set: their
                                    // numbers, in order
    visible.test = SLUICE_COMPACT_MASK;
    visible.maxCount = instanceCount;
    visible.selectors = sluiceVulkanBuffer(buffers.mask, 0, (instanceCount + 31ull) / 32 * 4);
    visible.indices = sluiceVulkanBuffer(buffers.visible, 0, instanceCount * 4ull);
    visible.resultCount = sluiceVulkanBuffer(buffers.visibleCount, 0, 4);
    // x of an indirect dispatch, a thread for each
    visible.argument = sluiceVulkanBuffer(buffers.dispatch, 0, 4);
    visible.argumentDivisor = 64;

    SluiceIntervalMoveInfo payloads = {}; // the payloads, from wherever they are, one
                                          // behind the other
    payloads.kind = SLUICE_INTERVAL_GATHER;
    payloads.elementSize = 4;
    payloads.positionSize = 4;
    payloads.intervals.maxCount = instanceCount;
    payloads.intervals.counts = sluiceVulkanBuffer(buffers.sizes, 0, instanceCount * 4ull);
    payloads.gather = sluiceVulkanBuffer(buffers.begins, 0, instanceCount * 4ull);
    payloads.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    payloads.destination = sluiceVulkanBuffer(buffers.textures, 0, buffers.textureSize);

    SluiceRequirements forScan = {}, forCompact = {}, forMove = {};
    SluiceStatus status = sluiceGetScanRequirements(context, &offsets, &forScan);
    if (status == SLUICE_OK) status = sluiceGetCompactRequirements(context, &visible, &forCompact);
    if (status == SLUICE_OK)
        status = sluiceGetIntervalRequirements(context, &payloads.intervals, &forMove);
    // zeroed once, when it is made:
    offsets.scratch = sluiceVulkanBuffer(buffers.scanScratch, 0, forScan.scratchSize);
    // every command leaves it so
    visible.scratch = sluiceVulkanBuffer(buffers.compactScratch, 0, forCompact.scratchSize);
    // need not be
    payloads.scratch = sluiceVulkanBuffer(buffers.moveScratch, 0, forMove.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdScan(context, commands, &offsets);
    // at the same time as the scan
    if (status == SLUICE_OK) status = sluiceCmdCompact(context, commands, &visible);
    sluiceCmdBarrier(context, commands);
    if (status == SLUICE_OK) status = sluiceCmdIntervalMove(context, commands, &payloads);
    // [/embedding]
    return status;
}

SluiceStatus recordPitched(SluiceContext context, VkCommandBuffer commandBuffer,
                           const Buffers& buffers, uint32_t tileCount, uint32_t widthBytes,
                           uint32_t width, uint32_t height, VkImage image)
{
    const SluiceCommands commands = sluiceVulkanCommands(commandBuffer);
    // [embedding]
    // what D3D12 wants, say
    const uint32_t pitch = (widthBytes + 255) / 256 * 256;
    SluiceGdeflateInfo decode = {};
    decode.maxRegionCount = tileCount;
    decode.regionStride = sizeof(SluiceRegion);
    decode.rowBytes = widthBytes; // regions: dstAddress = address of staging +
                                  // 65,536 times the tile's
    decode.rowPitch = pitch;      // number, as if there were no padding
    decode.regions = sluiceVulkanBuffer(buffers.regions, 0, tileCount * sizeof(SluiceRegion));
    decode.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    decode.destination = sluiceVulkanBuffer(buffers.staging, 0, buffers.stagingSize);
    // optional: verified in the same call
    decode.expected = sluiceVulkanBuffer(buffers.sums, 0, tileCount * 4ull);
    decode.status = sluiceVulkanBuffer(buffers.status, 0, (tileCount + 2ull) * 4);
    SluiceStatus status = sluiceCmdGdeflate(context, commands, &decode);
    sluiceCmdBarrier(context, commands);

    VkBufferImageCopy copy = {};
    copy.bufferRowLength = pitch / (widthBytes / width); // in texels
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = {width, height, 1};
    vkCmdCopyBufferToImage(commandBuffer, buffers.staging, image,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    // [/embedding]
    return status;
}

SluiceStatus recordByDriver(SluiceContext context, SluiceCommands commands,
                            SluiceGdeflateInfo decode)
{
    // [embedding]
    SluiceContextInfo chosen = {};
    sluiceGetContextInfo(context, &chosen);
    // 0 where the driver cannot
    if (decode.maxRegionCount <= chosen.driverRegionLimit) {
        // ask for the scratch size with this flag set
        decode.flags |= SLUICE_DECODE_BY_DRIVER;
    }
    SluiceStatus status = sluiceCmdGdeflate(context, commands, &decode);
    // [/embedding]
    return status;
}
