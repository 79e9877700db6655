// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that docs/streaming.md shows, between the marks, run on every Vulkan device. The tests
// of consumers compare the two.
#include "tests/support/images.h"
#include "tests/stream/stream_content.h"

#include <sluice/sluice_image.h>

#include <algorithm>
#include <cfloat>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

// Holds what the page takes for granted.
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

// Once a frame.
void takeEvents(const MyEngine& engine)
{
    SluiceStreamEvent events[64];
    uint32_t count = 64;
    sluiceStreamPoll(engine.streamer, events, &count);
    for (uint32_t i = 0; i < count; ++i) {
        if (events[i].kind != SLUICE_STREAM_END) continue;
        Texture* texture = reinterpret_cast<Texture*>(uintptr_t(events[i].user));
        texture->isReady = events[i].status == SLUICE_OK;
    }
}

// After takeEvents, outside a render pass. The submit of `commands` signals frameDone with `frame`.
void streamFrame(const MyEngine& engine, VkCommandBuffer commands, uint64_t frame)
{
    SluiceStreamBudget budget = {};
    budget.milliseconds = 1;
    budget.semaphore = sluiceStreamSemaphoreHandle(engine.frameDone);
    budget.value = frame;
    SluiceStreamBatch batch;
    sluiceStreamRecord(engine.streamer, sluiceVulkanCommands(commands), &budget, &batch);
}
// [/streaming]

// [streaming]
void lockMutex(void* mutex) { static_cast<std::mutex*>(mutex)->lock(); }
void unlockMutex(void* mutex) { static_cast<std::mutex*>(mutex)->unlock(); }

// Instead of streamFrame, once at start. The engine holds queueLock too when it uses the queue.
SluiceStreamSubmitter startSubmitter(const MyEngine& engine, const SluiceStreamVulkanInfo& vulkan,
                                     VkQueue queue, std::mutex& queueLock)
{
    SluiceStreamSubmitterInfo info = {};
    info.streamer = engine.streamer;
    info.vulkan = &vulkan;
    info.queue = queue;
    info.lockQueue = lockMutex;
    info.unlockQueue = unlockMutex;
    info.queueUser = &queueLock;
    info.pace.budget.milliseconds = 1;
    info.pace.interval = 16667; // at most a batch a frame
    SluiceStreamSubmitter submitter = nullptr;
    sluiceCreateStreamSubmitter(&info, &submitter);
    return submitter;
}

// Behind a loading screen as much as there is.
void setLoading(SluiceStreamSubmitter submitter, bool isLoading)
{
    SluiceStreamPace pace = {};
    pace.budget.milliseconds = isLoading ? FLT_MAX : 1.0f;
    pace.interval = isLoading ? 0 : 16667;
    sluiceStreamSetPace(submitter, &pace);
}
// [/streaming]

using namespace sluice::test;

const TestImage& texture()
{
    static const TestImage one(133, 40, 24, 0, 0, 1, 4); // BC1
    return one;
}

// An archive of it, as `pack --images` makes them.
Bytes textureArchive(SluiceImageLevel* levels)
{
    const Bytes ktx2 = makeKtx2(texture());
    SluiceImageInfo parsed = {};
    REQUIRE(sluiceParseImage(ktx2.data(), ktx2.size(), ktx2.size(), &parsed, levels, nullptr) ==
            SLUICE_OK);
    PackedAsset asset;
    asset.name = "wall";
    asset.add(ktx2, SLUICE_CODEC_GDEFLATE, 512);
    uint8_t item[SLUICE_IMAGE_ITEM_SIZE];
    uint32_t itemSize = 0;
    REQUIRE(sluiceMakeArchiveImageItem(&parsed, levels, item, &itemSize) == SLUICE_OK);
    asset.parameters.assign(item, item + itemSize);
    return packArchive({asset});
}

SluiceStreamer createStreamer(Engine& engine, SluiceContext context, uint32_t threads)
{
    SluiceStreamerInfo info = {};
    info.context = context;
    info.gpu = engine.gpu();
    info.source = engine.makeBuffer(SLUICE_STREAM_MIN_SOURCE);
    info.output = engine.makeBuffer(SLUICE_STREAM_MIN_OUTPUT);
    info.maxGroups = 64;
    info.maxRequests = 256;
    info.maxBatches = 3;
    info.threads = threads;
    SluiceStreamer streamer = nullptr;
    REQUIRE(sluiceCreateStreamer(&info, &streamer) == SLUICE_OK);
    return streamer;
}

void checkTexture(Engine& engine, const Texture& streamed, const SluiceImageLevel* levels,
                  uint32_t firstLevel)
{
    for (uint32_t level = firstLevel; level < 4; ++level) {
        SluiceStreamImage box = {};
        box.level = level - firstLevel;
        box.layerCount = 1;
        box.extent[0] = levels[level].width;
        box.extent[1] = levels[level].height;
        box.extent[2] = 1;
        CHECK(engine.readImage(streamed.image, box, levels[level].imageSize,
                               VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL) == texture().level(level));
    }
}

// Streams the texture twice, all of it and its smaller levels.
void streamTextures(bool usesSubmitter)
{
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    MemoryFile file(textureArchive(levels));
    Engine engine(device());
    SluiceContext cpu = nullptr;
    REQUIRE(sluiceCreateCpuContext(&cpu) == SLUICE_OK);
    const SluiceStreamer streamer = createStreamer(engine, cpu, usesSubmitter ? 1 : 0);
    const MyEngine mine = {&engine, streamer, engine.makeSemaphore()};
    const SluiceStreamVulkanInfo vulkan = engine.info();
    SluiceStreamSubmitter submitter = nullptr;
    if (usesSubmitter) {
        submitter = startSubmitter(mine, vulkan, engine.queue(), engine.queueLock());
        REQUIRE(submitter != nullptr);
        setLoading(submitter, true);
    }
    const SluiceStreamFileInterface interface = file.interface();
    const SluiceStreamOpenInfo openInfo = {nullptr, &interface, 1, 0};
    SluiceStreamFile opened = nullptr;
    REQUIRE(sluiceStreamOpen(streamer, &openInfo, &opened) == SLUICE_OK);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    uint32_t number = 0;
    REQUIRE(sluiceStreamPump(streamer, 1, nullptr) == SLUICE_OK);
    while (sluiceStreamFindAsset(opened, "wall", 4, &number) == SLUICE_ERROR_NOT_READY)
        REQUIRE(std::chrono::steady_clock::now() < end);
    Texture textures[2];
    CHECK(!beginTexture(mine, opened, "no such texture", 0, textures[0]));
    REQUIRE(beginTexture(mine, opened, "wall", 0, textures[0]));
    REQUIRE(beginTexture(mine, opened, "wall", 2, textures[1]));
    for (uint64_t frame = 1; !textures[0].isReady || !textures[1].isReady; ++frame) {
        REQUIRE(std::chrono::steady_clock::now() < end);
        takeEvents(mine);
        if (usesSubmitter) {
            std::this_thread::yield();
            continue;
        }
        REQUIRE(sluiceStreamPump(streamer, 100, nullptr) == SLUICE_OK);
        streamFrame(mine, engine.begin(), frame);
        engine.submit(mine.frameDone, frame);
    }
    checkTexture(engine, textures[0], levels, 0);
    checkTexture(engine, textures[1], levels, 2);
    engine.waitIdle();
    sluiceDestroyStreamSubmitter(submitter);
    sluiceDestroyStreamer(streamer);
    sluiceDestroyContext(cpu);
    device().checkMessages();
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("stream example: the code of the manual streams a texture in record mode")
{
    if (isVulkan()) streamTextures(false);
}

TEST_CASE("stream example: the code of the manual streams a texture in submit mode")
{
    if (isVulkan()) streamTextures(true);
}

TEST_SUITE_END();
