// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that docs/embedding.md shows in C++, between the marks. The tests compare the two, and
// tests/api/embedding_example_test.cpp runs what stands here.
#include <cstring>
#include <functional>
#include <initializer_list>
#include <vector>

#include <vulkan/vulkan.h>

#include <sluice/sluice_all.h>
#include <sluice/sluice_dev.h>
#include <sluice/sluice_formats.h>
#include <sluice/sluice_image.h>
#include <sluice/sluice_stream.h>
#include <sluice/sluice_stream_vulkan.h>
#include <sluice/sluice_vulkan.h>

struct Engine { // what an engine has anyway
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    VkPipelineCache pipelineCache;
    VkPhysicalDeviceFeatures2 features;
    std::vector<const char*> extensions;
};

struct Buffers { // what an engine has allocated
    VkBuffer file, ranges, control, textures, results, status, scratch, regions, staging, sums;
    VkBuffer sizes, offsets, begins, mask, visible, visibleCount, dispatch, scanScratch,
        compactScratch, moveScratch, allDraws, draws, drawCount;
    VkBuffer descriptions, filterTiles, filtered, filterScratch;
    VkDeviceSize fileSize, textureSize, scratchSize, stagingSize, filteredSize, descriptionSize;
};

struct Report { // what an engine does with bad news
    void operator()(const char* text, uint32_t tile) const;
};

SluiceStatus createContext(const Engine& engine, SluiceContext& context);
void listTiles(const std::vector<SluiceArchiveTile>& tiles, uint64_t sourceAddress,
               uint64_t destinationAddress, std::vector<SluiceRegion>& regions);
SluiceStatus recordTexture(SluiceContext context, VkCommandBuffer commandBuffer,
                           const Buffers& buffers, uint32_t tileCount, VkImage image,
                           const VkBufferImageCopy& copy);
void readStatus(const uint32_t* statusWords, uint32_t tileCount, const Report& report);
SluiceStatus listWeights(const uint8_t* tileBytes, const SluiceArchiveTile& tile,
                         const SluiceArchiveTile& firstTile, uint64_t sourceAddress,
                         uint64_t tensorAddress, uint32_t& statusCount, SluiceFloatTensor& listed);
SluiceStatus recordGstd(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                        uint32_t tileCount);
SluiceStatus recordFilters(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                           const SluiceGstdInfo& decode, const SluiceChecksumInfo& check,
                           uint32_t filteredCount);
SluiceStatus listGaclChunk(uint32_t transform, uint32_t size, uint64_t shuffled, uint64_t final,
                           uint32_t chunk, std::vector<uint8_t>& descriptions,
                           std::vector<SluiceFilterTile>& tiles);
SluiceStatus tilesOfLevels(const SluiceArchiveAsset& asset, uint32_t firstLevel,
                           const std::vector<SluiceArchiveTile>& tiles,
                           std::vector<SluiceArchiveTile>& wanted);
SluiceStatus openKtx2(SluiceStreamer streamer, const char* path, SluiceStreamFile& file);
SluiceStatus streamKtx2(SluiceContext context, SluiceStreamer streamer, SluiceStreamFile file,
                        const std::function<VkImage(const SluiceImageInfo&)>& createImage,
                        SluiceStreamGroup& group);
SluiceStatus recordFseTables(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                             uint32_t tableCount);
SluiceStatus recordStreams(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                           uint32_t streamCount, uint32_t maxTileCount);
SluiceStatus recordPairs(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                         uint32_t maxStreamCount, uint32_t maxTileCount);
SluiceStatus recordPrimitives(SluiceContext context, SluiceCommands commands,
                              const Buffers& buffers, uint32_t instanceCount);
SluiceStatus recordDraws(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                         uint32_t instanceCount);
SluiceStatus recordPitched(SluiceContext context, VkCommandBuffer commandBuffer,
                           const Buffers& buffers, uint32_t tileCount, uint32_t widthBytes,
                           uint32_t width, uint32_t height, VkImage image);
SluiceStatus recordByDriver(SluiceContext context, SluiceCommands commands,
                            SluiceGdeflateInfo decode);
SluiceStatus listUnit(const SluiceDf11Tables& tables, uint32_t& blockCount, SluiceDf11Unit& unit,
                      uint64_t (*place)(const void* bytes, uint64_t size), const void* encoded,
                      const void* signMantissa, const void* gaps, uint64_t weightOffset);
SluiceStatus startStreamer(SluiceContext context, SluiceReportFunction report,
                           SluiceStreamerInfo& info, SluiceStreamer& streamer);
SluiceStatus testDriver(SluiceContext context, SluiceCommands commands, SluiceBuffer memory,
                        void* bytes, void (*upload)(const SluiceBuffer& to, const void* from),
                        void (*download)(void* to, const SluiceBuffer& from),
                        void (*submitAndWait)(), uint32_t& failed);
SluiceStatus startReload(SluiceContext context, void (*onReload)(void*, const SluiceReloadEvent*),
                         SluiceHotReload& reload);

SluiceStatus createContext(const Engine& engine, SluiceContext& context)
{
    // [embedding]
    SluiceVulkanContextInfo info = {};
    info.getInstanceProcAddr = engine.getInstanceProcAddr;
    info.instance = engine.instance;
    info.physicalDevice = engine.physicalDevice;
    info.device = engine.device;
    info.apiVersion = VK_API_VERSION_1_3; // as in your VkApplicationInfo
    info.enabledFeatures = &engine.features;
    info.enabledExtensions = engine.extensions.data();
    info.enabledExtensionCount = uint32_t(engine.extensions.size());
    info.pipelineCache = engine.pipelineCache; // optional
    info.queueWithoutGraphics = 1;             // if you record for such a queue family
    const char* why = nullptr;
    SluiceStatus status = sluiceCreateVulkanContext(&info, &context, &why);
    SluicePipelinesInfo pipelines = {};
    pipelines.kernels = SLUICE_KERNELS_GSTD | SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_FILTER;
    if (status == SLUICE_OK) status = sluiceCreatePipelines(context, &pipelines, nullptr);
    // [/embedding]
    // [embedding]
    // In as many of your jobs as you like, at the same time; when all have ended, all is made.
    SluicePipelinesInfo some = pipelines;
    some.flags = SLUICE_PIPELINES_NECESSARY;
    some.most = 1;
    uint32_t left = 1;
    while (status == SLUICE_OK && left != 0)
        status = sluiceCreatePipelines(context, &some, &left);
    // [/embedding]
    return status;
}

void listTiles(const std::vector<SluiceArchiveTile>& tiles, uint64_t sourceAddress,
               uint64_t destinationAddress, std::vector<SluiceRegion>& regions)
{
    // [embedding]
    for (const SluiceArchiveTile& tile : tiles) {
        SluiceRegion region = {};
        region.srcAddress = sourceAddress + tile.offset; // both multiples of 4
        region.dstAddress = destinationAddress + tile.outputOffset;
        region.compressedSize = tile.storedSize;
        region.decompressedSize = tile.size;
        regions.push_back(region);
    }
    // [/embedding]
}

SluiceStatus recordTexture(SluiceContext context, VkCommandBuffer commandBuffer,
                           const Buffers& buffers, uint32_t tileCount, VkImage image,
                           const VkBufferImageCopy& copy)
{
    // [embedding]
    SluiceCommands commands = sluiceVulkanCommands(commandBuffer);
    SluiceGdeflateInfo decode = {};
    decode.maxRegionCount = tileCount;
    decode.regionStride = sizeof(SluiceRegion);
    decode.flags = SLUICE_DECODE_STORED_IF_EQUAL; // tiles that did not get smaller
    decode.regions = sluiceVulkanBuffer(buffers.regions, 0, tileCount * sizeof(SluiceRegion));
    decode.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    decode.destination = sluiceVulkanBuffer(buffers.staging, 0, buffers.stagingSize);
    decode.status = sluiceVulkanBuffer(buffers.status, 0, (tileCount + 2ull) * 4);

    SluiceRequirements need = {}; // a size of 0 needs no scratch
    SluiceStatus status = sluiceGetGdeflateRequirements(context, &decode, &need);
    decode.scratch = sluiceVulkanBuffer(buffers.scratch, 0, need.scratchSize);

    sluiceCmdBarrier(context, commands); // uploads before the decode
    if (status == SLUICE_OK) status = sluiceCmdGdeflate(context, commands, &decode);
    sluiceCmdBarrier(context, commands); // the decode before the copy
    vkCmdCopyBufferToImage(commandBuffer, buffers.staging, image,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    // [/embedding]
    return status;
}

void readStatus(const uint32_t* statusWords, uint32_t tileCount, const Report& report)
{
    // [embedding]
    const uint32_t failed = statusWords[tileCount], first = statusWords[tileCount + 1];
    if (failed != 0) report(sluiceGetTileStatusText(statusWords[first]), first);
    // [/embedding]
}

SluiceStatus listWeights(const uint8_t* tileBytes, const SluiceArchiveTile& tile,
                         const SluiceArchiveTile& firstTile, uint64_t sourceAddress,
                         uint64_t tensorAddress, uint32_t& statusCount, SluiceFloatTensor& listed)
{
    // [embedding]
    SluiceFloatTensor entry = {};
    SluiceStatus status = sluiceParseFloatTile(tileBytes, tile.storedSize, tile.size, &entry);
    for (uint64_t* part : {&entry.words, &entry.index, &entry.lengths, &entry.raw})
        *part += sourceAddress + tile.offset;
    entry.output = tensorAddress + (tile.outputOffset - firstTile.outputOffset); // multiple of 16
    entry.firstTile = statusCount; // it has a status for every 8,192 elements
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
    decode.scratch = sluiceVulkanBuffer(buffers.scratch, 0, need.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdGstd(context, commands, &decode);
    // [/embedding]
    return status;
}

SluiceStatus recordFilters(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                           const SluiceGstdInfo& decode, const SluiceChecksumInfo& check,
                           uint32_t filteredCount)
{
    // [embedding]
    SluiceFilterInfo filters = {};
    filters.maxTileCount = filteredCount;
    filters.maxTileSize = 262144;
    filters.statusCount = decode.maxRegionCount; // the decode's own status words
    filters.tiles =
        sluiceVulkanBuffer(buffers.filterTiles, 0, filteredCount * sizeof(SluiceFilterTile));
    filters.descriptions = sluiceVulkanBuffer(buffers.descriptions, 0, buffers.descriptionSize);
    filters.source = sluiceVulkanBuffer(buffers.filtered, 0, buffers.filteredSize);
    filters.destination = sluiceVulkanBuffer(buffers.textures, 0, buffers.textureSize);
    filters.status = decode.status;

    SluiceRequirements need = {};
    SluiceStatus status = sluiceGetFilterRequirements(context, &filters, &need);
    filters.scratch = sluiceVulkanBuffer(buffers.filterScratch, 0, need.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdGstdFilter(context, commands, &decode, &filters);
    sluiceCmdBarrier(context, commands);
    if (status == SLUICE_OK) status = sluiceCmdChecksum(context, commands, &check);
    // [/embedding]
    return status;
}

SluiceStatus listGaclChunk(uint32_t transform, uint32_t size, uint64_t shuffled, uint64_t final,
                           uint32_t chunk, SluiceRegion& region, std::vector<uint8_t>& descriptions,
                           std::vector<SluiceFilterTile>& tiles)
{
    // [embedding]
    uint8_t description[SLUICE_GACL_DESCRIPTION_SIZE];
    uint32_t descriptionSize = 0;
    const SluiceStatus status = sluiceDescribeGacl(transform, size, description, &descriptionSize);
    // If nothing was moved, the chunk is decompressed to its final place.
    region.dstAddress = descriptionSize != 0 ? shuffled : final;
    if (status == SLUICE_OK && descriptionSize != 0) {
        SluiceFilterTile tile = {};
        tile.srcAddress = shuffled;
        tile.dstAddress = final;
        tile.size = size;
        tile.descriptionOffset = uint32_t(descriptions.size());
        tile.descriptionSize = descriptionSize;
        tile.statusIndex = chunk; // the number of the chunk's status word
        tiles.push_back(tile);
        descriptions.insert(descriptions.end(), description, description + descriptionSize);
    }
    // [/embedding]
    return status;
}

SluiceStatus tilesOfLevels(const SluiceArchiveAsset& asset, uint32_t firstLevel,
                           const std::vector<SluiceArchiveTile>& tiles,
                           std::vector<SluiceArchiveTile>& wanted)
{
    // [embedding]
    SluiceImageInfo info;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    const SluiceStatus status = sluiceGetArchiveImage(&asset, &info, levels);
    if (status != SLUICE_OK || info.container != SLUICE_IMAGE_KTX2 || firstLevel >= info.levels)
        return status; // no image, or a DDS file
    // The levels from firstLevel on are one range of the asset, for the smallest stands first.
    const uint64_t begin = levels[info.levels - 1].offset;
    const uint64_t end = levels[firstLevel].offset + levels[firstLevel].size;
    for (const SluiceArchiveTile& tile : tiles)
        if (tile.outputOffset < end && tile.outputOffset + tile.size > begin)
            wanted.push_back(tile);
    // [/embedding]
    return status;
}

SluiceStatus openKtx2(SluiceStreamer streamer, const char* path, SluiceStreamFile& file)
{
    // [embedding]
    SluiceStreamOpenInfo open = {};
    open.path = path;   // "textures/wall.ktx2"
    open.isArchive = 1; // its identifier tells that it is a KTX2 file
    const SluiceStatus status = sluiceStreamOpen(streamer, &open, &file);
    // [/embedding]
    return status;
}

SluiceStatus streamKtx2(SluiceContext context, SluiceStreamer streamer, SluiceStreamFile file,
                        const std::function<VkImage(const SluiceImageInfo&)>& createImage,
                        SluiceStreamGroup& group)
{
    // [embedding]
    const char* const name = SLUICE_STREAM_KTX2_NAME; // whatever the file is called
    uint32_t asset = 0;
    SluiceImageInfo about;
    SluiceStatus status = sluiceStreamFindImage(file, name, std::strlen(name), &asset, &about);
    if (status != SLUICE_OK) return status; // it is not open yet, or could not be opened

    // Levels that Zstandard has compressed need pipelines; threads decode until they exist.
    SluicePipelinesInfo needed = {};
    sluiceStreamGetKernels(file, &needed.kernels);
    status = sluiceCreatePipelines(context, &needed, nullptr);

    SluiceStreamImage image = {}; // from VK_IMAGE_LAYOUT_UNDEFINED, which is 0
    image.image = sluiceStreamImageHandle(createImage(about));
    image.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    SluiceStreamRequest requests[SLUICE_IMAGE_MAX_LEVELS];
    SluiceStreamGroupInfo info = {};
    info.requests = requests;
    info.requestCount = SLUICE_IMAGE_MAX_LEVELS;
    if (status == SLUICE_OK)
        status = sluiceStreamGetImageRequests(file, asset, 0, about.levels, &image, requests,
                                              &info.requestCount);
    if (status == SLUICE_OK) status = sluiceStreamSubmit(streamer, &info, &group);
    // [/embedding]
    return status;
}

SluiceStatus recordFseTables(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                             uint32_t tableCount)
{
    // [embedding]
    SluiceFseTablesInfo info = {};
    info.maxRegionCount = tableCount; // regions: a description, and room for its table
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
    info.maxTileCount = maxTileCount; // a bound: tiles beyond it are reported, not decoded
    info.streams = sluiceVulkanBuffer(buffers.ranges, 0, streamCount * sizeof(SluiceStreamRange));
    info.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    info.destination = sluiceVulkanBuffer(buffers.textures, 0, buffers.textureSize);
    info.results = sluiceVulkanBuffer(
        buffers.results, 0, streamCount * sizeof(SluiceStreamResult) + sizeof(SluiceStreamSummary));
    info.status = sluiceVulkanBuffer(buffers.status, 0, (maxTileCount + 2ull) * 4);

    SluiceRequirements need = {};
    SluiceStatus status = sluiceGetTileStreamsRequirements(context, &info, &need);
    info.scratch = sluiceVulkanBuffer(buffers.scratch, 0, need.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdTileStreams(context, commands, &info);
    // [/embedding]
    return status;
}

SluiceStatus recordPairs(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                         uint32_t maxStreamCount, uint32_t maxTileCount)
{
    // [embedding]
    SluiceTileStreamsInfo info = {};
    info.flags = SLUICE_TILE_STREAMS_PAIRS;
    info.maxStreamCount = maxStreamCount; // the list may have fewer; more are counted as failed
    info.maxTileCount = maxTileCount;
    info.streams = sluiceVulkanBuffer(buffers.control, 0, 4 + maxStreamCount * 8ull);
    info.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    info.destination = sluiceVulkanBuffer(buffers.textures, 0, buffers.textureSize);
    info.results = sluiceVulkanBuffer(buffers.results, 0,
                                      maxStreamCount * sizeof(SluiceStreamResult) +
                                          sizeof(SluiceStreamSummary));
    info.status = sluiceVulkanBuffer(buffers.status, 0, (maxTileCount + 2ull) * 4);
    // [/embedding]
    SluiceRequirements need = {};
    const SluiceStatus status = sluiceGetTileStreamsRequirements(context, &info, &need);
    info.scratch = sluiceVulkanBuffer(buffers.scratch, 0, need.scratchSize);
    return status == SLUICE_OK ? sluiceCmdTileStreams(context, commands, &info) : status;
}

SluiceStatus recordPrimitives(SluiceContext context, SluiceCommands commands,
                              const Buffers& buffers, uint32_t instanceCount)
{
    // [embedding]
    SluiceScanInfo offsets = {}; // where each payload will begin: the exclusive sum of sizes
    offsets.maxCount = instanceCount;
    offsets.input = sluiceVulkanBuffer(buffers.sizes, 0, instanceCount * 4ull);
    offsets.output = sluiceVulkanBuffer(buffers.offsets, 0, instanceCount * 4ull);

    SluiceCompactInfo visible = {}; // the numbers of the instances whose bit is set, in order
    visible.test = SLUICE_COMPACT_MASK;
    visible.maxCount = instanceCount;
    visible.selectors = sluiceVulkanBuffer(buffers.mask, 0, (instanceCount + 31ull) / 32 * 4);
    visible.indices = sluiceVulkanBuffer(buffers.visible, 0, instanceCount * 4ull);
    visible.resultCount = sluiceVulkanBuffer(buffers.visibleCount, 0, 4);
    visible.argument = sluiceVulkanBuffer(buffers.dispatch, 0, 4); // x of an indirect dispatch
    visible.argumentDivisor = 64;                                  // of workgroups of 64

    SluiceIntervalMoveInfo payloads = {}; // the payloads, one behind the other
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
    // The first two report zeroedScratch: clear these buffers once, when you make them.
    offsets.scratch = sluiceVulkanBuffer(buffers.scanScratch, 0, forScan.scratchSize);
    visible.scratch = sluiceVulkanBuffer(buffers.compactScratch, 0, forCompact.scratchSize);
    payloads.scratch = sluiceVulkanBuffer(buffers.moveScratch, 0, forMove.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdScan(context, commands, &offsets);
    // There is no barrier between these two, so they may run at the same time.
    if (status == SLUICE_OK) status = sluiceCmdCompact(context, commands, &visible);
    sluiceCmdBarrier(context, commands);
    if (status == SLUICE_OK) status = sluiceCmdIntervalMove(context, commands, &payloads);
    // [/embedding]
    return status;
}

SluiceStatus recordDraws(SluiceContext context, SluiceCommands commands, const Buffers& buffers,
                         uint32_t instanceCount)
{
    // [embedding]
    SluiceCompactInfo draws = {}; // the commands of the instances whose bit is set, in order
    draws.test = SLUICE_COMPACT_MASK;
    draws.elementSize = sizeof(VkDrawIndexedIndirectCommand); // 20; those of mesh shaders have 12
    draws.maxCount = instanceCount;
    draws.input = sluiceVulkanBuffer(buffers.allDraws, 0, instanceCount * 20ull);
    draws.selectors = sluiceVulkanBuffer(buffers.mask, 0, (instanceCount + 31ull) / 32 * 4);
    draws.output = sluiceVulkanBuffer(buffers.draws, 0, instanceCount * 20ull);
    draws.resultCount = sluiceVulkanBuffer(buffers.drawCount, 0, 4);

    SluiceRequirements need = {}; // zeroedScratch, as above
    SluiceStatus status = sluiceGetCompactRequirements(context, &draws, &need);
    draws.scratch = sluiceVulkanBuffer(buffers.compactScratch, 0, need.scratchSize);
    if (status == SLUICE_OK) status = sluiceCmdCompact(context, commands, &draws);
    sluiceCmdBarrier(context, commands); // before vkCmdDrawIndexedIndirectCount
    // [/embedding]
    return status;
}

SluiceStatus recordPitched(SluiceContext context, VkCommandBuffer commandBuffer,
                           const Buffers& buffers, uint32_t tileCount, uint32_t widthBytes,
                           uint32_t width, uint32_t height, VkImage image)
{
    const SluiceCommands commands = sluiceVulkanCommands(commandBuffer);
    // [embedding]
    const uint32_t pitch = (widthBytes + 255) / 256 * 256; // what D3D12 wants, say
    SluiceGdeflateInfo decode = {};
    decode.maxRegionCount = tileCount;
    decode.regionStride = sizeof(SluiceRegion);
    decode.rowBytes = widthBytes;
    decode.rowPitch = pitch;
    // dstAddress: that of staging plus 65,536 times the tile's number, as without padding
    decode.regions = sluiceVulkanBuffer(buffers.regions, 0, tileCount * sizeof(SluiceRegion));
    decode.source = sluiceVulkanBuffer(buffers.file, 0, buffers.fileSize);
    decode.destination = sluiceVulkanBuffer(buffers.staging, 0, buffers.stagingSize);
    decode.expected = sluiceVulkanBuffer(buffers.sums, 0, tileCount * 4ull); // optional
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
    // The limit is 0 where the driver cannot. The scratch size depends on the flag.
    if (decode.maxRegionCount <= chosen.driverRegionLimit) decode.flags |= SLUICE_DECODE_BY_DRIVER;
    SluiceStatus status = sluiceCmdGdeflate(context, commands, &decode);
    // [/embedding]
    return status;
}

SluiceStatus listUnit(const SluiceDf11Tables& tables, uint32_t& blockCount, SluiceDf11Unit& unit,
                      uint64_t (*place)(const void* bytes, uint64_t size), const void* encoded,
                      const void* signMantissa, const void* gaps, uint64_t weightOffset)
{
    // [embedding]
    const char* reason = nullptr;
    SluiceStatus status = sluiceCheckDf11Unit(&tables, &unit, &reason);
    if (status != SLUICE_OK) return status; // damaged or hostile tables; `reason` says which

    // Each tensor is copied to a multiple of 16 in the source buffer.
    unit.lutsOffset = place(tables.luts, tables.lutsSize);
    unit.encodedOffset = place(encoded, tables.encodedSize);
    unit.signMantissaOffset = place(signMantissa, tables.signMantissaSize);
    unit.outputPositionsOffset = place(tables.outputPositions, tables.outputPositionsSize);
    unit.gapsOffset = place(gaps, tables.gapsSize);
    unit.destinationOffset = weightOffset;
    unit.firstBlock = blockCount; // one status word a block, over all units of the command
    blockCount += (unit.encodedSize + SLUICE_DF11_BLOCK_BYTES - 1) / SLUICE_DF11_BLOCK_BYTES;
    // [/embedding]
    return status;
}

SluiceStatus startStreamer(SluiceContext context, SluiceReportFunction report,
                           SluiceStreamerInfo& info, SluiceStreamer& streamer)
{
    // [embedding]
    SluiceStatus status = sluiceGetStreamerDefaults(context, 64 << 20, &info, nullptr);
    if (status != SLUICE_OK) return status;
    status = sluiceStreamAllocateHost(info.source.buffer.size, &info.source.host);
    info.report = report; // a function that says which argument is refused, and why
    if (status == SLUICE_OK) status = sluiceCreateStreamer(&info, &streamer);
    // [/embedding]
    return status;
}

SluiceStatus testDriver(SluiceContext context, SluiceCommands commands, SluiceBuffer memory,
                        void* bytes, void (*upload)(const SluiceBuffer& to, const void* from),
                        void (*download)(void* to, const SluiceBuffer& from),
                        void (*submitAndWait)(), uint32_t& failed)
{
    // [embedding]
    SluiceSelfTestInfo test = {};
    test.kernels = SLUICE_KERNELS_ALL;
    SluiceSelfTestRequirements need = {};
    SluiceStatus status = sluiceGetSelfTestRequirements(context, &test, &need);
    test.kernels = need.kernels; // what can be tested; 0: nothing
    test.memory = memory;        // need.memorySize bytes of the device
    test.bytes = bytes;          // as many of the host
    if (status == SLUICE_OK) status = sluiceWriteSelfTest(context, &test);
    if (status != SLUICE_OK) return status;

    upload(test.memory, test.bytes);
    status = sluiceCmdSelfTest(context, commands, &test);
    if (status != SLUICE_OK) return status;
    submitAndWait(); // with a barrier before the host reads
    download(test.bytes, test.memory);
    status = sluiceReadSelfTest(context, &test, &failed); // SluiceKernels
    // [/embedding]
    return status;
}

SluiceStatus startReload(SluiceContext context, void (*onReload)(void*, const SluiceReloadEvent*),
                         SluiceHotReload& reload)
{
    // [embedding]
    SluiceHotReloadInfo info = {};
    info.context = context;
    info.shaderFolder = "sluice/shaders";
    info.device = "vulkan:0"; // the context's physical device, opened once more for self-tests
    info.callback = onReload; // called in the reload thread, once per kernel and change
    const char* error = nullptr;
    SluiceStatus status = sluiceStartHotReload(&info, &reload, &error);
    // [/embedding]
    return status;
}
