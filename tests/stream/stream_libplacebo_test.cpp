// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that a renderer of others can draw what was streamed: libplacebo imports our device. Images
// go back and forth between it and a streamer by their layouts and timeline semaphores.
#include "tests/stream/stream_content.h"

#include <algorithm>
#include <cfloat>
#include <map>

using namespace sluice::test;
using sluice::VulkanHandles;

TEST_SUITE_BEGIN("device");

#ifdef SLUICE_HAVE_LIBPLACEBO

#include <libplacebo/dispatch.h>
#include <libplacebo/shaders/sampling.h>
#include <libplacebo/vulkan.h>

namespace {

struct QueueLock {
    std::mutex* mutex;
    uint32_t uses = 0;
};

// Runs libplacebo on our device.
class Placebo {
public:
    Placebo(Engine& engine, const VulkanHandles& handles)
        : m_engine(engine), m_lock{&engine.queueLock()}
    {
        const SluiceVulkanContextInfo& info = handles.contextInfo;
        pl_vulkan_import_params params = {};
        params.instance = info.instance;
        params.get_proc_addr = info.getInstanceProcAddr;
        params.phys_device = info.physicalDevice;
        params.device = info.device;
        params.extensions = info.enabledExtensions;
        params.num_extensions = int(info.enabledExtensionCount);
        params.features = static_cast<const VkPhysicalDeviceFeatures2*>(info.enabledFeatures);
        params.queue_graphics = {handles.queueFamily, 1};
        params.lock_queue = [](void* user, int, int) {
            QueueLock& lock = *static_cast<QueueLock*>(user);
            lock.mutex->lock();
            ++lock.uses;
        };
        params.unlock_queue = [](void* user, int, int) {
            static_cast<QueueLock*>(user)->mutex->unlock();
        };
        params.queue_ctx = &m_lock;
        m_log = pl_log_create(PL_API_VER, nullptr);
        m_vulkan = pl_vulkan_import(m_log, &params);
        REQUIRE(m_vulkan != nullptr);
        m_dispatch = pl_dispatch_create(m_log, gpu());
    }
    ~Placebo()
    {
        pl_gpu_finish(gpu());
        m_engine.waitIdle();
        for (auto& [image, texture] : m_textures)
            pl_tex_destroy(gpu(), &texture);
        pl_dispatch_destroy(&m_dispatch);
        pl_vulkan_destroy(&m_vulkan);
        pl_log_destroy(&m_log);
    }
    Placebo(const Placebo&) = delete;
    Placebo& operator=(const Placebo&) = delete;

    pl_gpu gpu() const { return m_vulkan->gpu; }
    uint32_t lockUses() const { return m_lock.uses; }
    pl_tex wrap(VkImage image, const VkImageCreateInfo& info);
    // Draws one texture into another one of the same size.
    void draw(pl_tex texture, pl_tex target);

private:
    Engine& m_engine;
    QueueLock m_lock;
    pl_log m_log = nullptr;
    pl_vulkan m_vulkan = nullptr;
    pl_dispatch m_dispatch = nullptr;
    std::map<VkImage, pl_tex> m_textures;
};

pl_tex Placebo::wrap(VkImage image, const VkImageCreateInfo& info)
{
    pl_vulkan_wrap_params params = {};
    params.image = image;
    params.width = int(info.extent.width);
    params.height = int(info.extent.height);
    params.format = info.format;
    params.usage = info.usage;
    const pl_tex texture = pl_vulkan_wrap(gpu(), &params);
    REQUIRE(texture != nullptr);
    m_textures[image] = texture;
    return texture;
}

void Placebo::draw(pl_tex texture, pl_tex target)
{
    pl_shader shader = pl_dispatch_begin(m_dispatch);
    pl_sample_src source = {};
    source.tex = texture;
    REQUIRE(pl_shader_sample_nearest(shader, &source));
    pl_dispatch_params params = {};
    params.shader = &shader;
    params.target = target;
    REQUIRE(pl_dispatch_finish(m_dispatch, &params));
}

// These two are in docs/streaming.md.

// On the group's END event (or RECORDED, before the GPU is done). The image's newLayout was
// SHADER_READ_ONLY_OPTIMAL, its stages and accesses 0; frameDone is the semaphore of the batches.
void handOver(pl_gpu gpu, pl_tex texture, VkSemaphore frameDone, const SluiceStreamEvent& event)
{
    pl_vulkan_release(gpu, texture, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                      {frameDone, event.value});
}

// To fill the image anew: its oldLayout is TRANSFER_DST_OPTIMAL then, and the group waits until
// libplacebo is done with it.
bool takeBack(pl_gpu gpu, pl_tex texture, VkSemaphore semaphore, uint64_t value,
              SluiceStreamGroupInfo& group)
{
    group.wait = {sluiceStreamSemaphoreHandle(semaphore), value};
    return pl_vulkan_hold(gpu, texture, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, {semaphore, value});
}

bool hasGraphics(const VulkanHandles& handles)
{
    const SluiceVulkanContextInfo& info = handles.contextInfo;
    const auto get = reinterpret_cast<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(
        info.getInstanceProcAddr(info.instance, "vkGetPhysicalDeviceQueueFamilyProperties"));
    uint32_t count = 0;
    get(info.physicalDevice, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    get(info.physicalDevice, &count, families.data());
    return (families[handles.queueFamily].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
}

// A streamer for which the CPU decodes, and its frames.
class Frames {
public:
    explicit Frames(Engine& engine) : m_engine(engine), m_file(vulkanContent().file)
    {
        REQUIRE(sluiceCreateCpuContext(&m_cpu) == SLUICE_OK);
        SluiceStreamerInfo info = {};
        info.context = m_cpu;
        info.gpu = engine.gpu();
        info.source = engine.makeBuffer(SLUICE_STREAM_MIN_SOURCE);
        info.output = engine.makeBuffer(SLUICE_STREAM_MIN_OUTPUT);
        info.maxGroups = info.maxRequests = 16;
        info.maxBatches = 2;
        REQUIRE(sluiceCreateStreamer(&info, &m_streamer) == SLUICE_OK);
        m_done = engine.makeSemaphore();
        m_opened = startOpening(m_streamer, m_file);
        frame();
    }
    ~Frames()
    {
        m_engine.waitIdle();
        sluiceDestroyStreamer(m_streamer);
        sluiceDestroyContext(m_cpu);
    }
    Frames(const Frames&) = delete;
    Frames& operator=(const Frames&) = delete;

    SluiceStreamFile file() const { return m_opened; }
    VkSemaphore done() const { return m_done; }
    SluiceStreamGroup submit(const SluiceStreamGroupInfo& info)
    {
        SluiceStreamGroup group = 0;
        REQUIRE(sluiceStreamSubmit(m_streamer, &info, &group) == SLUICE_OK);
        return group;
    }
    // Makes one frame and returns its events.
    std::vector<SluiceStreamEvent> frame()
    {
        REQUIRE(sluiceStreamPump(m_streamer, 64, nullptr) == SLUICE_OK);
        SluiceStreamBudget budget = {};
        budget.milliseconds = FLT_MAX;
        budget.semaphore = sluiceStreamSemaphoreHandle(m_done);
        budget.value = ++m_value;
        SluiceStreamBatch batch = {};
        REQUIRE(sluiceStreamRecord(m_streamer, sluiceVulkanCommands(m_engine.begin()), &budget,
                                   &batch) == SLUICE_OK);
        m_engine.submit(m_done, m_value);
        std::vector<SluiceStreamEvent> events(16);
        uint32_t count = 16;
        REQUIRE(sluiceStreamPoll(m_streamer, events.data(), &count) == SLUICE_OK);
        events.resize(count);
        return events;
    }
    SluiceStreamEvent waitFor(SluiceStreamGroup group)
    {
        for (uint32_t frames = 0; frames < 1000; ++frames)
            for (const SluiceStreamEvent& event : frame())
                if (event.group == group && event.kind == SLUICE_STREAM_END) return event;
        FAIL("the group does not end");
        return {};
    }

private:
    Engine& m_engine;
    MemoryFile m_file;
    SluiceContext m_cpu = nullptr;
    SluiceStreamer m_streamer = nullptr;
    SluiceStreamFile m_opened = nullptr;
    VkSemaphore m_done = VK_NULL_HANDLE;
    uint64_t m_value = 0;
};

// Returns level 0 of another picture: the level's bytes in the opposite order.
Bytes reversed(Bytes pixels)
{
    std::reverse(pixels.begin(), pixels.end());
    return pixels;
}

} // namespace

TEST_CASE("stream to libplacebo: images are handed over, drawn, taken back and filled anew")
{
    if (!isVulkan()) return;
    VulkanHandles handles = {};
    REQUIRE(sluice::vulkanHandles(device().get(), handles));
    if (!hasGraphics(handles)) {
        skipCase("libplacebo: the queue has no graphics");
        return;
    }
    // With vectors of 128 bits, lavapipe of Mesa 22.3 aborts the process when libplacebo draws.
    // With vectors of 256 bits, its default here, the test passes. SwiftShader has not been tried.
    const uint32_t width = sluice::test::environmentNumber("LP_NATIVE_VECTOR_WIDTH", 256);
    const char* drivers = std::getenv("VK_DRIVER_FILES");
    if (width != 256 || (drivers != nullptr && std::strstr(drivers, "swiftshader") != nullptr)) {
        skipCase("libplacebo: a software device that is not lavapipe with vectors of 256 bits");
        return;
    }
    const ImageCase& about = kImages[0];
    REQUIRE(about.format == VK_FORMAT_R8G8B8A8_UNORM);
    const ImageAsset& asset = vulkanContent().images[0];
    Engine engine(device());
    Frames frames(engine);
    device().checkMessages();
    Placebo placebo(engine, handles);
    // libplacebo asks the instance for functions of the device. A newer Vulkan loader reports this,
    // so its messages are dropped.
    device().takeMessages();
    const VkSemaphore held = engine.makeSemaphore(), drawn = engine.makeSemaphore();
    uint64_t draws = 0;
    for (uint32_t level = 0; level < 3; ++level) {
        CAPTURE(level);
        SluiceStreamRequest request =
            imageRequest(frames.file(), 0, about, asset, level, VK_NULL_HANDLE);
        VkImageCreateInfo create = createInfoOf(about);
        create.extent = {request.image.extent[0], request.image.extent[1], 1};
        create.mipLevels = 1;
        create.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
        const VkImage image = engine.makeImage(create);
        const pl_tex texture = placebo.wrap(image, create);
        // libplacebo draws into an image of ours, too, so that nothing but the hand-over is between
        // streaming and the check.
        create.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
        const VkImage drawing = engine.makeImage(create);
        const pl_tex target = placebo.wrap(drawing, create);
        const auto picture = [&] {
            pl_vulkan_release(placebo.gpu(), target, VK_IMAGE_LAYOUT_UNDEFINED, {});
            placebo.draw(texture, target);
            REQUIRE(pl_vulkan_hold(placebo.gpu(), target, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                   {drawn, ++draws}));
            engine.waitIdle();
            CHECK(engine.valueOf(drawn) == draws);
            SluiceStreamImage box = request.image;
            box.level = 0;
            return engine.readImage(drawing, box, size_t(request.size));
        };
        request.image.image = sluiceStreamImageHandle(image);
        request.image.level = 0;
        request.image.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
        request.image.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
        request.image.stages = request.image.accesses = 0; // libplacebo's barriers do the rest
        SluiceStreamGroupInfo group = {};
        group.requests = &request;
        group.requestCount = 1;
        const SluiceStreamEvent first = frames.waitFor(frames.submit(group));
        CHECK(first.status == SLUICE_OK);
        handOver(placebo.gpu(), texture, frames.done(), first);
        const Bytes expected(asset.packed.bytes.begin() + ptrdiff_t(request.offset),
                             asset.packed.bytes.begin() + ptrdiff_t(request.offset + request.size));
        CHECK(picture() == expected);

        // Then another picture, which comes from memory.
        const Bytes other = reversed(expected);
        request.source = SLUICE_STREAM_FROM_MEMORY;
        request.memory = other.data();
        request.offset = 0;
        request.image.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
        REQUIRE(takeBack(placebo.gpu(), texture, held, level + 1, group));
        const SluiceStreamEvent ended = frames.waitFor(frames.submit(group));
        CHECK(ended.status == SLUICE_OK);
        handOver(placebo.gpu(), texture, frames.done(), ended);
        CHECK(picture() == other);
    }
    CHECK(placebo.lockUses() != 0);
    CHECK(engine.valueOf(held) == 3);
}

#else

TEST_CASE("stream to libplacebo: images are handed over, drawn, taken back and filled anew")
{
    if (isVulkan()) skipCase("libplacebo: it was not there when the tests were built");
}

#endif

TEST_SUITE_END();
