// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that docs/streaming.md shows, between the marks, run on every Vulkan device. The tests
// of consumers compare the two.
#include "tests/support/images.h"
#include "tests/support/short_runs.h"
#include "tests/stream/stream_content.h"

#include <sluice/sluice_image.h>

#include <algorithm>
#include <cfloat>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

struct Texture {
    VkImage image = VK_NULL_HANDLE;
    SluiceStreamGroup group = 0;
    bool isReady = false;
};

// Holds what the page takes for granted.
struct MyEngine {
    sluice::test::Engine* engine;
    SluiceContext context;
    SluiceStreamVulkanInfo vulkan;
    VkSemaphore frameDone;
    SluiceStreamGpu* gpu = nullptr;
    SluiceStreamer streamer = nullptr;
    SluiceStreamFile file = nullptr;

    SluiceStreamMemory createBuffer(uint64_t size) const
    {
        return engine->allocate(std::max<uint64_t>(size, 4), sluice::test::Engine::Memory::host);
    }
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
        return engine->makeImage(create);
    }
};

// [streaming]
// Once, at start. engine.createBuffer makes a buffer of this size, which the host sees.
bool startStreaming(MyEngine& engine, const SluiceStreamOpenInfo& archive)
{
    SluiceStreamerInfo info = {};
    SluicePipelinesInfo needed = {};
    if (sluiceGetStreamerDefaults(engine.context, 256 << 20, &info, &needed.kernels) != SLUICE_OK ||
        sluiceCreatePipelines(engine.context, &needed, nullptr) != SLUICE_OK ||
        sluiceCreateStreamVulkan(&engine.vulkan, &engine.gpu) != SLUICE_OK)
        return false;
    info.gpu = engine.gpu;
    for (SluiceStreamMemory* memory : {&info.source, &info.output, &info.control, &info.results})
        *memory = engine.createBuffer(memory->buffer.size);
    info.scratch = engine.createBuffer(info.scratch.size).buffer;
    return sluiceCreateStreamer(&info, &engine.streamer) == SLUICE_OK &&
           sluiceStreamOpen(engine.streamer, &archive, &engine.file) == SLUICE_OK;
}

// Starts to stream a texture, from the level `firstLevel` down to the smallest.
bool beginTexture(MyEngine& engine, const char* name, uint32_t firstLevel, Texture& texture)
{
    uint32_t asset = 0;
    SluiceImageInfo about;
    if (sluiceStreamFindImage(engine.file, name, std::strlen(name), &asset, &about) != SLUICE_OK)
        return false; // the archive is not open yet, or it has no such image
    texture.image = engine.createImage(about, firstLevel);
    SluiceStreamImage image = {}; // from VK_IMAGE_LAYOUT_UNDEFINED, which is 0
    image.image = sluiceStreamImageHandle(texture.image);
    image.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    SluiceStreamRequest requests[SLUICE_IMAGE_MAX_LEVELS];
    SluiceStreamGroupInfo group = {};
    group.requests = requests;
    group.requestCount = SLUICE_IMAGE_MAX_LEVELS;
    group.priority = int32_t(firstLevel); // blurred now rather than sharp later
    group.user = uint64_t(reinterpret_cast<uintptr_t>(&texture));
    return sluiceStreamGetImageRequests(engine.file, asset, firstLevel, about.levels - firstLevel,
                                        &image, requests, &group.requestCount) == SLUICE_OK &&
           sluiceStreamSubmit(engine.streamer, &group, &texture.group) == SLUICE_OK;
}

// Once a frame, outside a render pass. The submit of `commands` signals frameDone with `frame`.
void streamFrame(MyEngine& engine, VkCommandBuffer commands, uint64_t frame)
{
    SluiceStreamBudget budget = {};
    budget.milliseconds = 1;
    budget.semaphore = sluiceStreamSemaphoreHandle(engine.frameDone);
    budget.value = frame;
    SluiceStreamBatch batch;
    sluiceStreamRecord(engine.streamer, sluiceVulkanCommands(commands), &budget, &batch);
}

// Once a frame, before streamFrame.
void takeEvents(MyEngine& engine)
{
    SluiceStreamEvent events[64];
    uint32_t count = 64;
    sluiceStreamPoll(engine.streamer, events, &count);
    for (uint32_t i = 0; i < count; ++i)
        if (events[i].kind == SLUICE_STREAM_END && events[i].status == SLUICE_OK)
            reinterpret_cast<Texture*>(uintptr_t(events[i].user))->isReady = true;
}
// [/streaming]

// [streaming]
void lockMutex(void* mutex) { static_cast<std::mutex*>(mutex)->lock(); }
void unlockMutex(void* mutex) { static_cast<std::mutex*>(mutex)->unlock(); }

// Instead of streamFrame, once at start. The engine holds queueLock too when it uses the queue.
SluiceStreamSubmitter startSubmitter(MyEngine& engine, VkQueue queue, std::mutex& queueLock)
{
    SluiceStreamSubmitterInfo info = {};
    info.streamer = engine.streamer;
    info.vulkan = &engine.vulkan;
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

// Streams the texture twice, all of it and its smaller levels, from an archive or, if `ktx2` is not
// empty, from that file. The GPU decodes, or the CPU does.
void streamTextures(bool usesSubmitter, bool decodesOnGpu, const Bytes& ktx2 = {})
{
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    const Bytes archive = textureArchive(levels);
    MemoryFile file(ktx2.empty() ? archive : ktx2);
    const char* const name = ktx2.empty() ? "wall" : SLUICE_STREAM_KTX2_NAME;
    Engine engine(device());
    SluiceContext cpu = nullptr;
    REQUIRE(sluiceCreateCpuContext(&cpu) == SLUICE_OK);
    MyEngine mine = {&engine, decodesOnGpu ? device().context() : cpu, engine.info(),
                     engine.makeSemaphore()};
    const SluiceStreamFileInterface interface = file.interface();
    REQUIRE(startStreaming(mine, {nullptr, &interface, 1, 0}));
    SluiceStreamSubmitter submitter = nullptr;
    if (usesSubmitter) {
        submitter = startSubmitter(mine, engine.queue(), engine.queueLock());
        REQUIRE(submitter != nullptr);
        setLoading(submitter, true);
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    Texture textures[2];
    while (!beginTexture(mine, name, 0, textures[0]))
        REQUIRE(std::chrono::steady_clock::now() < end);
    CHECK(!beginTexture(mine, "no such texture", 0, textures[1]));
    REQUIRE(beginTexture(mine, name, 2, textures[1]));
    for (uint64_t frame = 1; !textures[0].isReady || !textures[1].isReady; ++frame) {
        REQUIRE(std::chrono::steady_clock::now() < end);
        takeEvents(mine);
        if (usesSubmitter) {
            std::this_thread::yield();
            continue;
        }
        streamFrame(mine, engine.begin(), frame);
        engine.submit(mine.frameDone, frame);
    }
    checkTexture(engine, textures[0], levels, 0);
    checkTexture(engine, textures[1], levels, 2);
    engine.waitIdle();
    sluiceDestroyStreamSubmitter(submitter);
    sluiceDestroyStreamer(mine.streamer);
    sluiceDestroyStreamVulkan(mine.gpu);
    sluiceDestroyContext(cpu);
    device().checkMessages();
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("stream example: the code of the manual streams a texture in record mode")
{
    if (!isVulkan()) return;
    streamTextures(false, true);
    streamTextures(false, false);
}

TEST_CASE("stream example: the code of the manual streams a texture in submit mode")
{
    if (isVulkan()) streamTextures(true, true);
}

TEST_CASE("stream example: the code of the manual streams from KTX2 files in both modes")
{
    if (!isVulkan() || skipsOtherSizes() || skipsSlowCompiler()) return;
    for (const Bytes& ktx2 : {makeKtx2(texture()), makeKtx2(texture(), 2, packZstd)}) {
        for (const bool decodesOnGpu : {false, true}) {
            streamTextures(false, decodesOnGpu, ktx2);
            streamTextures(true, decodesOnGpu, ktx2);
        }
    }
}

TEST_SUITE_END();
