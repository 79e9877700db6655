// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that docs/streaming.md shows, between the marks, run on every Vulkan device. The tests of
// consumers compare the two.
#include "images.h"
#include "stream_engine.h"
#include "streams.h"

#include <sluice/sluice_image.h>

#include <algorithm>
#include <cstring>

namespace {

// What the page takes for granted.
struct MyEngine {
    sluice::test::Engine* vulkan;
    SluiceStreamer streamer;
    VkSemaphore frameDone;

    VkImage createImage(const SluiceImageInfo& info, uint32_t firstLevel) const
    {
        VkImageCreateInfo create = {};
        create.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
        create.imageType = VK_IMAGE_TYPE_2D;
        create.format = VkFormat(info.format);
        create.extent = {std::max(info.width >> firstLevel, 1u),
                         std::max(info.height >> firstLevel, 1u), 1};
        create.mipLevels = info.levels - firstLevel;
        create.arrayLayers = info.layers * info.faces;
        create.samples = VK_SAMPLE_COUNT_1_BIT;
        create.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                       VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
        return vulkan->makeImage(create);
    }
};

// [streaming]
struct Texture {
    VkImage image = VK_NULL_HANDLE;
    SluiceStreamGroup group = 0;
    bool isReady = false;
};

// Starts to stream a texture, from the level `firstLevel` down to the smallest.
bool beginTexture(const MyEngine& engine, SluiceStreamFile file, const char* name,
                  uint32_t firstLevel, Texture& texture)
{
    uint32_t asset = 0;
    SluiceArchiveAsset about;
    SluiceImageInfo info;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    if (sluiceStreamFindAsset(file, name, std::strlen(name), &asset) != SLUICE_OK ||
        sluiceStreamGetAsset(file, asset, &about) != SLUICE_OK ||
        sluiceGetArchiveImage(&about, &info, levels) != SLUICE_OK || firstLevel >= info.levels)
        return false;
    texture.image = engine.createImage(info, firstLevel);

    SluiceStreamImage image = {};
    image.image = sluiceStreamImageHandle(texture.image);
    image.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    image.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    SluiceStreamRequest requests[SLUICE_IMAGE_MAX_LEVELS];
    SluiceStreamGroupInfo group = {};
    group.requestCount = SLUICE_IMAGE_MAX_LEVELS;
    if (sluiceStreamGetImageRequests(file, asset, firstLevel, info.levels - firstLevel, &image,
                                     requests, &group.requestCount) != SLUICE_OK)
        return false;
    group.requests = requests;
    group.priority = int32_t(firstLevel); // blurred now rather than sharp later
    group.user = uint64_t(reinterpret_cast<uintptr_t>(&texture));
    return sluiceStreamSubmit(engine.streamer, &group, &texture.group) == SLUICE_OK;
}

// Once a frame, outside a render pass. The submit of `commands` signals frameDone with `frame`.
void streamFrame(const MyEngine& engine, VkCommandBuffer commands, uint64_t frame)
{
    SluiceStreamEvent events[64];
    uint32_t count = 64;
    sluiceStreamPoll(engine.streamer, events, &count);
    for (uint32_t i = 0; i < count; ++i) {
        if (events[i].kind != SLUICE_STREAM_END) continue;
        Texture* texture = reinterpret_cast<Texture*>(uintptr_t(events[i].user));
        texture->isReady = events[i].status == SLUICE_OK;
    }
    SluiceStreamBudget budget = {};
    budget.milliseconds = 1;
    budget.semaphore = sluiceStreamSemaphoreHandle(engine.frameDone);
    budget.value = frame;
    SluiceStreamBatch batch;
    sluiceStreamRecord(engine.streamer, sluiceVulkanCommands(commands), &budget, &batch);
}
// [/streaming]

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE(
    "stream example: the code of the manual streams a texture, all of it and its smaller levels")
{
    using namespace sluice::test;
    if (device().backend() != SLUICE_BACKEND_VULKAN) {
        skipCase("streams to Vulkan");
        return;
    }
    const TestImage source(133, 40, 24, 0, 0, 1, 4); // BC1
    const Bytes ktx2 = makeKtx2(source);
    SluiceImageInfo parsed = {};
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    REQUIRE(sluiceParseImage(ktx2.data(), ktx2.size(), ktx2.size(), &parsed, levels, nullptr) ==
            SLUICE_OK);
    PackedAsset asset;
    asset.name = "wall";
    asset.add(ktx2, SLUICE_CODEC_GDEFLATE, 512);
    uint8_t item[SLUICE_IMAGE_ITEM_SIZE];
    uint32_t itemSize = 0;
    REQUIRE(sluiceMakeArchiveImageItem(&parsed, levels, item, &itemSize) == SLUICE_OK);
    asset.parameters.assign(item, item + itemSize);
    MemoryFile file(packArchive({asset}));

    Engine engine(device());
    SluiceContext cpu = nullptr;
    REQUIRE(sluiceCreateCpuContext(&cpu) == SLUICE_OK);
    SluiceStreamerInfo info = {};
    info.context = cpu;
    info.gpu = engine.gpu();
    info.source = engine.makeBuffer(SLUICE_STREAM_MIN_SOURCE);
    info.output = engine.makeBuffer(SLUICE_STREAM_MIN_OUTPUT);
    info.maxGroups = 64;
    info.maxRequests = 256;
    info.maxBatches = 3;
    SluiceStreamer streamer = nullptr;
    REQUIRE(sluiceCreateStreamer(&info, &streamer) == SLUICE_OK);
    const SluiceStreamFileInterface interface = file.interface();
    const SluiceStreamOpenInfo openInfo = {nullptr, &interface, 1, 0};
    SluiceStreamFile opened = nullptr;
    REQUIRE(sluiceStreamOpen(streamer, &openInfo, &opened) == SLUICE_OK);
    REQUIRE(sluiceStreamPump(streamer, 1, nullptr) == SLUICE_OK);
    const MyEngine mine = {&engine, streamer, engine.makeSemaphore()};
    Texture textures[2];
    uint64_t frame = 0;
    CHECK(!beginTexture(mine, opened, "no such texture", 0, textures[0]));
    REQUIRE(beginTexture(mine, opened, "wall", 0, textures[0]));
    REQUIRE(beginTexture(mine, opened, "wall", 2, textures[1]));
    while (!textures[0].isReady || !textures[1].isReady) {
        REQUIRE(frame < 100);
        REQUIRE(sluiceStreamPump(streamer, 100, nullptr) == SLUICE_OK);
        streamFrame(mine, engine.begin(), ++frame);
        engine.submit(mine.frameDone, frame);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t firstLevel = 2 * i;
        for (uint32_t level = firstLevel; level < 4; ++level) {
            SluiceStreamImage box = {};
            box.level = level - firstLevel;
            box.layerCount = 1;
            box.extent[0] = levels[level].width;
            box.extent[1] = levels[level].height;
            box.extent[2] = 1;
            CHECK(engine.readImage(textures[i].image, box, levels[level].imageSize,
                                   VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL) ==
                  source.level(level));
        }
    }
    engine.waitIdle();
    sluiceDestroyStreamer(streamer);
    sluiceDestroyContext(cpu);
    device().checkMessages();
}

TEST_SUITE_END();
