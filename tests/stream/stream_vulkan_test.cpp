// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests streaming to buffers and images of Vulkan on every device. The GPU decodes, the CPU does,
// or both do.
#include "tests/stream/stream_gpu.h"

#include "api/backend.h"

#include <algorithm>

using namespace sluice::test;

TEST_SUITE_BEGIN("device");

TEST_CASE("stream to Vulkan: images of several formats, level by level")
{
    if (!isVulkan()) return;
    for (const Decoder decoder : kDecoders) {
        CAPTURE(int(decoder));
        Engine engine(device());
        MemoryFile file(vulkanContent().file);
        GpuStreamer streamer(device(), engine, decoder);
        streamer.usesFences = decoder == Decoder::gpu;
        const SluiceStreamFile opened = streamer.open(file);
        std::vector<VkImage> images;
        std::vector<SluiceStreamRequest> requests;
        for (uint32_t i = 0; i < std::size(kImages); ++i) {
            images.push_back(engine.makeImage(createInfoOf(kImages[i])));
            for (uint32_t level = 0; level < kImages[i].levels; ++level)
                requests.push_back(imageRequest(opened, i, kImages[i], vulkanContent().images[i],
                                                level, images.back()));
        }
        // A layout that no barrier can change to is refused before anything is recorded.
        for (const uint32_t layout : {VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_PREINITIALIZED}) {
            SluiceStreamRequest bad = requests[0];
            bad.image.newLayout = layout;
            SluiceStreamGroupInfo info = {};
            info.requests = &bad;
            info.requestCount = 1;
            SluiceStreamGroup none = 0;
            CHECK(sluiceStreamSubmit(streamer.get(), &info, &none) == SLUICE_ERROR_ARGUMENT);
        }
        const SluiceStreamEvent event = streamer.waitFor(streamer.submit(requests));
        CHECK(event.status == SLUICE_OK);
        CHECK(event.failedRequests == 0);
        size_t number = 0;
        for (uint32_t i = 0; i < std::size(kImages); ++i) {
            const Bytes& bytes = vulkanContent().images[i].packed.bytes;
            for (uint32_t level = 0; level < kImages[i].levels; ++level, ++number) {
                CAPTURE(i);
                CAPTURE(level);
                const SluiceStreamRequest& request = requests[number];
                const Bytes read = engine.readImage(images[i], request.image, size_t(request.size));
                CHECK(std::equal(read.begin(), read.end(),
                                 bytes.begin() + ptrdiff_t(request.offset)));
            }
        }
        const SluiceStreamCounters counters = streamer.counters();
        CHECK(counters.sourceUsed + counters.outputUsed + counters.groups == 0);
        device().checkMessages();
    }
}

TEST_CASE("stream to Vulkan: a ring in the host's memory that is imported")
{
    if (!isVulkan()) return;
    constexpr uint64_t kSize = 2 * SLUICE_STREAM_MIN_SOURCE;
    void* host = nullptr;
    REQUIRE(sluiceStreamAllocateHost(kSize, &host) == SLUICE_OK);
    {
        Engine engine(device());
        SluiceStreamMemory source = {};
        if (!engine.importHost(host, kSize, source)) {
            sluiceStreamFreeHost(host, kSize);
            return skipCase("the device has no VK_EXT_external_memory_host");
        }
        const Bytes& bytes = vulkanContent().small.bytes;
        for (const Decoder decoder : kDecoders) {
            CAPTURE(int(decoder));
            MemoryFile file(vulkanContent().file);
            GpuStreamer streamer(device(), engine, decoder, source);
            const SluiceStreamFile opened = streamer.open(file);
            const SluiceStreamMemory to = engine.makeBuffer(bytes.size());
            SluiceStreamRequest request = bufferRequest(opened, 0, bytes.size(), to, 0);
            request.asset = VulkanContent::kSmall;
            CHECK(streamer.waitFor(streamer.submit({request})).status == SLUICE_OK);
            engine.waitIdle();
            CHECK(std::equal(bytes.begin(), bytes.end(), static_cast<const uint8_t*>(to.host)));
        }
    }
    device().checkMessages();
    sluiceStreamFreeHost(host, kSize);
}

TEST_CASE("stream to Vulkan: more images than change their layouts at once, and one twice")
{
    if (!isVulkan()) return;
    constexpr uint32_t kImage = 0, kCopies = 30; // copies of an image of 6 levels
    const ImageCase& image = kImages[kImage];
    const ImageAsset& about = vulkanContent().images[kImage];
    Engine engine(device());
    MemoryFile file(vulkanContent().file);
    GpuStreamer streamer(device(), engine, Decoder::gpu);
    const SluiceStreamFile opened = streamer.open(file);
    std::vector<SluiceStreamRequest> requests;
    std::vector<VkImage> images;
    for (uint32_t i = 0; i < kCopies; ++i) {
        images.push_back(engine.makeImage(createInfoOf(image)));
        for (uint32_t level = 0; level < image.levels; ++level)
            requests.push_back(imageRequest(opened, kImage, image, about, level, images[i]));
        if (i % 7 != 0) continue;
        SluiceStreamRequest again = requests.back();
        again.image.oldLayout = again.image.newLayout;
        requests.push_back(again);
    }
    CHECK(streamer.waitFor(streamer.submit(requests)).status == SLUICE_OK);
    engine.waitIdle();
    for (uint32_t i = 0; i < kCopies; ++i) {
        CAPTURE(i);
        for (uint32_t level = 0; level < image.levels; ++level) {
            CAPTURE(level);
            const SluiceStreamRequest request =
                imageRequest(opened, kImage, image, about, level, images[i]);
            const Bytes read = engine.readImage(images[i], request.image, size_t(request.size));
            CHECK(std::equal(read.begin(), read.end(),
                             about.packed.bytes.begin() + ptrdiff_t(request.offset)));
        }
    }
    device().checkMessages();
}

TEST_CASE("stream to Vulkan: assets that share tiles, to buffers, an image and the host")
{
    if (!isVulkan()) return;
    constexpr uint32_t kImage = 3;
    const ImageCase& image = kImages[kImage];
    const ImageAsset& about = vulkanContent().images[kImage];
    std::vector<PackedAsset> parts;
    for (uint32_t i = 0; i < 5; ++i) {
        PackedAsset part;
        part.name = "p" + std::to_string(i);
        const size_t begin = 1000 * i;
        part.bytes = Bytes(vulkanContent().small.bytes.begin() + ptrdiff_t(begin),
                           vulkanContent().small.bytes.begin() + ptrdiff_t(begin + 1 + 711 * i));
        parts.push_back(part);
    }
    PackedAsset picture = about.packed;
    picture.name = "picture";
    parts.push_back(picture);
    const Bytes packed = packArchive({}, {PackedShare(parts, SLUICE_CODEC_GSTD, 1024, true)});
    for (const Decoder decoder : kDecoders) {
        CAPTURE(int(decoder));
        Engine engine(device());
        MemoryFile file(packed);
        GpuStreamer streamer(device(), engine, decoder);
        const SluiceStreamFile opened = streamer.open(file);
        const SluiceStreamMemory to = engine.makeBuffer(65536);
        const VkImage texture = engine.makeImage(createInfoOf(image));
        Bytes expected(size_t(to.buffer.size), Buffer::kPoison);
        std::vector<Bytes> hosts;
        std::vector<SluiceStreamRequest> requests;
        for (uint32_t i = 0; i < 5; ++i) {
            const Bytes& bytes = parts[i].bytes;
            const uint64_t place = 4096 * i + i % 3, skipped = i > 2 ? 5 : 0;
            SluiceStreamRequest request =
                bufferRequest(opened, skipped, bytes.size() - skipped, to, place);
            request.asset = i;
            requests.push_back(request);
            std::copy(bytes.begin() + ptrdiff_t(skipped), bytes.end(),
                      expected.begin() + ptrdiff_t(place));
            hosts.emplace_back(bytes.size());
        }
        for (uint32_t i = 0; i < 5; ++i)
            requests.push_back(fromArchive(opened, i, 0, hosts[i].size(), hosts[i].data()));
        for (uint32_t level = 0; level < image.levels; ++level)
            requests.push_back(imageRequest(opened, 5, image, about, level, texture));
        CHECK(streamer.waitFor(streamer.submit(requests)).status == SLUICE_OK);
        engine.waitIdle();
        CHECK(std::equal(expected.begin(), expected.end(), static_cast<const uint8_t*>(to.host)));
        for (uint32_t i = 0; i < 5; ++i)
            CHECK(hosts[i] == parts[i].bytes);
        for (uint32_t level = 0; level < image.levels; ++level) {
            const SluiceStreamRequest& request = requests[10 + level];
            const Bytes read = engine.readImage(texture, request.image, size_t(request.size));
            CHECK(std::equal(read.begin(), read.end(),
                             about.packed.bytes.begin() + ptrdiff_t(request.offset)));
        }
        device().checkMessages();
    }
}

TEST_CASE("stream to Vulkan: a batch decodes a tile once for all small assets in it")
{
    if (!isVulkan()) return;
    constexpr uint32_t kCount = 40;
    const Bytes& bytes = vulkanContent().small.bytes;
    std::vector<PackedAsset> parts;
    size_t end = 0;
    for (uint32_t i = 0; i < kCount; ++i) {
        PackedAsset part;
        part.name = "p" + std::to_string(10 + i);
        const size_t begin = end;
        end += 101 + 3 * i;
        part.bytes = Bytes(bytes.begin() + ptrdiff_t(begin), bytes.begin() + ptrdiff_t(end));
        parts.push_back(part);
    }
    const PackedShare share(parts, SLUICE_CODEC_GDEFLATE, 16384);
    const uint64_t whole = share.whole.bytes.size();
    REQUIRE(whole <= 16384); // one tile
    Bytes packed = packArchive({}, {share});
    for (const bool isDamaged : {false, true}) {
        CAPTURE(isDamaged);
        if (isDamaged)
            packed[size_t(ParsedArchive(packed).records(0)[0].offset) +
                   size_t(ParsedArchive(packed).asset(0).offset) + 40] ^= 0x10;
        Engine engine(device());
        MemoryFile file(packed);
        GpuStreamer streamer(device(), engine, Decoder::gpu);
        const SluiceStreamFile opened = streamer.open(file);
        const SluiceStreamMemory to = engine.makeBuffer(65536);
        Bytes expected(size_t(to.buffer.size), Buffer::kPoison);
        std::vector<SluiceStreamRequest> requests;
        for (uint32_t i = 0; i < kCount; ++i) {
            const Bytes& part = parts[i].bytes;
            const uint64_t place = 1024 * i + i % 5;
            SluiceStreamRequest request = bufferRequest(opened, 0, part.size(), to, place);
            request.asset = i;
            requests.push_back(request);
            if (!isDamaged)
                std::copy(part.begin(), part.end(), expected.begin() + ptrdiff_t(place));
        }
        const SluiceStreamGroup group = streamer.submit(requests);
        streamer.frame(true); // thrown away, and recorded again
        const SluiceStreamEvent event = streamer.waitFor(group);
        CHECK(event.status == (isDamaged ? SLUICE_ERROR_CHECKSUM : SLUICE_OK));
        CHECK(event.failedRequests == (isDamaged ? kCount : 0));
        engine.waitIdle();
        if (!isDamaged) {
            CHECK(
                std::equal(expected.begin(), expected.end(), static_cast<const uint8_t*>(to.host)));
            CHECK(streamer.counters().bytesDecoded == whole);
            // Another batch decodes it again.
            CHECK(streamer.waitFor(streamer.submit(requests)).status == SLUICE_OK);
            CHECK(streamer.counters().bytesDecoded == 2 * whole);
        }
        device().checkMessages();
    }
}

TEST_CASE("stream to Vulkan: defaults take no more than the memory, and suffice")
{
    if (!isVulkan()) return;
    SluiceStreamerInfo info = {};
    uint32_t kernels = 0;
    uint64_t before = 0;
    for (const uint64_t mebibytes : {64u, 128u, 256u, 1024u}) {
        CAPTURE(mebibytes);
        REQUIRE(sluiceGetStreamerDefaults(device().context(), mebibytes << 20, &info, &kernels) ==
                SLUICE_OK);
        SluiceStreamerRequirements required = {};
        REQUIRE(sluiceGetStreamerRequirements(&info, &required) == SLUICE_OK);
        CHECK(kernels == required.kernels);
        CHECK(info.control.buffer.size == required.controlSize);
        CHECK(info.results.buffer.size == required.resultsSize);
        CHECK(info.scratch.size == required.scratchSize);
        const uint64_t total = info.source.buffer.size + info.output.buffer.size +
                               required.controlSize + required.resultsSize + required.scratchSize;
        CHECK(total <= mebibytes << 20);
        CHECK(total > before); // more memory is used
        before = total;
    }
    CHECK(sluiceGetStreamerDefaults(device().context(), 16 << 20, &info, nullptr) ==
          SLUICE_ERROR_BUFFER_SIZE);
}

TEST_CASE("stream to Vulkan: buffers, directly and through the ring, files and memory")
{
    if (!isVulkan()) return;
    const Bytes& bytes = vulkanContent().small.bytes;
    for (const Decoder decoder : kDecoders) {
        CAPTURE(int(decoder));
        Engine engine(device());
        MemoryFile file(vulkanContent().file);
        GpuStreamer streamer(device(), engine, decoder);
        const SluiceStreamFile opened = streamer.open(file);
        const SluiceStreamMemory to = engine.makeBuffer(4 << 20);
        const uint64_t size = bytes.size();
        Bytes expected(size_t(to.buffer.size), Buffer::kPoison), host(size);
        std::vector<SluiceStreamRequest> requests;
        const auto want = [&](const Bytes& from, SluiceStreamRequest request, uint64_t place) {
            request.asset = VulkanContent::kSmall;
            requests.push_back(request);
            std::copy_n(from.begin() + ptrdiff_t(request.offset), request.size,
                        expected.begin() + ptrdiff_t(place));
        };
        want(bytes, bufferRequest(opened, 0, size, to, 0), 0);
        // This range begins and ends within tiles.
        want(bytes, bufferRequest(opened, 3001, 50003, to, 300000), 300000);
        // These go to unaligned addresses.
        want(bytes, bufferRequest(opened, 0, size, to, 500001), 500001);
        want(bytes, bufferRequest(opened, 9000, 10, to, 700000), 700000);
        // The offsets in asset and buffer are both 1 modulo 4, so that most tiles begin at
        // multiples of 4 in the buffer.
        want(bytes, bufferRequest(opened, 1, 40001, to, 1100001), 1100001);
        // These are more parts of one buffer than there are buffers in a batch.
        for (uint64_t i = 0; i < 6; ++i)
            want(bytes, bufferRequest(opened, 0, 20000, to, 1200000 + i * 30000),
                 1200000 + i * 30000);
        SluiceStreamRequest plain = bufferRequest(opened, 100, 2000, to, 800003);
        plain.source = SLUICE_STREAM_FROM_FILE;
        want(vulkanContent().file, plain, 800003);
        SluiceStreamRequest memory = bufferRequest(nullptr, 0, 60000, to, 900000);
        memory.source = SLUICE_STREAM_FROM_MEMORY;
        memory.memory = bytes.data();
        want(bytes, memory, 900000);
        requests.push_back(fromArchive(opened, VulkanContent::kSmall, 0, size, host.data()));

        const SluiceStreamGroup group =
            streamer.submit(requests, {}, {}, SLUICE_STREAM_TELL_RECORDED);
        const SluiceStreamEvent event = streamer.waitFor(group);
        CHECK(event.status == SLUICE_OK);
        CHECK(event.value != 0);
        CHECK(host == bytes);
        engine.waitIdle();
        CHECK(std::equal(expected.begin(), expected.end(), static_cast<const uint8_t*>(to.host)));
        device().checkMessages();
    }
}

TEST_CASE("stream to Vulkan: the CPU decodes what a self-test has found wrong")
{
    if (!isVulkan()) return;
    // This context has no pipelines, so the GPU cannot decode anything.
    Device fresh(device().selector(), device().info().tier,
                 environmentNumber("SLUICE_TEST_VALIDATION", 1), 0);
    REQUIRE_MESSAGE(fresh.isOpen(), fresh.openError());
    const Bytes& bytes = vulkanContent().small.bytes;
    Engine engine(fresh);
    MemoryFile file(vulkanContent().file);
    GpuStreamer streamer(fresh, engine, Decoder::both);
    const SluiceStreamFile opened = streamer.open(file);
    uint32_t kernels = 0;
    REQUIRE(sluiceStreamGetKernels(opened, &kernels) == SLUICE_OK);
    CHECK((kernels & SLUICE_KERNELS_GDEFLATE_LINEAR) != 0);
    fresh.context()->distrusted = SLUICE_KERNELS_GDEFLATE_LINEAR;
    const SluiceStreamMemory to = engine.makeBuffer(4 << 20);
    SluiceStreamRequest all = bufferRequest(opened, 0, bytes.size(), to, 0),
                        part = bufferRequest(opened, 3001, 50003, to, 3 << 20);
    all.asset = part.asset = VulkanContent::kSmall;
    CHECK(streamer.waitFor(streamer.submit({all, part})).status == SLUICE_OK);
    engine.waitIdle();
    const auto* const got = static_cast<const uint8_t*>(to.host);
    CHECK(std::equal(bytes.begin(), bytes.end(), got));
    CHECK(std::equal(bytes.begin() + 3001, bytes.begin() + 3001 + 50003, got + (3 << 20)));
    CHECK(streamer.counters().retriedTiles == 0);
    fresh.checkMessages();
}

TEST_CASE("stream to Vulkan: waits, signals, discarded batches, budgets, cancellation")
{
    if (!isVulkan()) return;
    const Bytes& bytes = vulkanContent().small.bytes;
    const uint64_t size = bytes.size();
    Engine engine(device());
    MemoryFile file(vulkanContent().file);
    GpuStreamer streamer(device(), engine, Decoder::cpuContext);
    const SluiceStreamFile opened = streamer.open(file);
    const SluiceStreamMemory to = engine.makeBuffer(4 << 20);
    const auto request = [&](uint64_t place) {
        SluiceStreamRequest made = bufferRequest(opened, 0, size, to, place);
        made.asset = VulkanContent::kSmall;
        return made;
    };
    const auto isThere = [&](uint64_t place) {
        return std::equal(bytes.begin(), bytes.end(), static_cast<const uint8_t*>(to.host) + place);
    };
    const VkSemaphore wait = engine.makeSemaphore(), signal = engine.makeSemaphore();
    const uint64_t waitHandle = sluiceStreamSemaphoreHandle(wait);
    const uint64_t signalHandle = sluiceStreamSemaphoreHandle(signal);

    const SluiceStreamGroup waits =
        streamer.submit({request(0)}, {waitHandle, 5}, {signalHandle, 1});
    const SluiceStreamGroup free = streamer.submit({request(200000)}, {}, {signalHandle, 2});
    // A value that does not ascend is refused.
    const SluiceStreamRequest one = request(0);
    const SluiceStreamGroupInfo bad = {&one, 1, 0, 0, 0, 0, {}, {signalHandle, 2}};
    SluiceStreamGroup none = 0;
    CHECK(sluiceStreamSubmit(streamer.get(), &bad, &none) == SLUICE_ERROR_ARGUMENT);
    CHECK(streamer.waitFor(free).status == SLUICE_OK);
    for (int i = 0; i < 5; ++i)
        streamer.frame();
    CHECK(!streamer.hasEnded(waits));
    CHECK(engine.valueOf(signal) == 0); // signals come in the order in which groups were submitted
    engine.signal(wait, 5);
    CHECK(streamer.waitFor(waits).status == SLUICE_OK);
    streamer.frame();
    CHECK(engine.valueOf(signal) == 2);
    engine.waitIdle();
    CHECK(isThere(0));
    CHECK(isThere(200000));

    // A group that waits for ever is cancelled. It ends, and its value is signalled.
    const SluiceStreamGroup never =
        streamer.submit({request(400000)}, {waitHandle, 1000}, {signalHandle, 7});
    streamer.frame();
    CHECK(sluiceStreamCancel(streamer.get(), never) == SLUICE_OK);
    CHECK(streamer.waitFor(never).status == SLUICE_ERROR_CANCELLED);
    streamer.frame();
    CHECK(engine.valueOf(signal) == 7);

    // What was in discarded batches is recorded again.
    const SluiceStreamGroup again =
        streamer.submit({request(600000)}, {}, {}, SLUICE_STREAM_TELL_RECORDED);
    for (int i = 0; i < 3; ++i)
        streamer.frame(true);
    CHECK(!streamer.hasEnded(again));
    CHECK(streamer.waitFor(again).status == SLUICE_OK);
    CHECK(streamer.isRecorded(again));
    engine.waitIdle();
    CHECK(isThere(600000));

    // Two batches of one frame are discarded, the newer one first.
    const SluiceStreamGroup both = streamer.submit({request(1200000), request(1400000)});
    REQUIRE(sluiceStreamPump(streamer.get(), 64, nullptr) == SLUICE_OK);
    const VkCommandBuffer commands = engine.begin();
    SluiceStreamBatch batches[2] = {};
    for (SluiceStreamBatch& batch : batches) {
        // One byte, which lets one unit through.
        const SluiceStreamBudget little = {FLT_MAX, 1, 0, 0, 0, 0, 0};
        REQUIRE(sluiceStreamRecord(streamer.get(), sluiceVulkanCommands(commands), &little,
                                   &batch) == SLUICE_OK);
        CHECK(batch.number != 0);
        CHECK(batch.bytesIn != 0);
    }
    REQUIRE(engine.EndCommandBuffer(commands) == VK_SUCCESS);
    CHECK(sluiceStreamDiscard(streamer.get(), batches[0].number) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceStreamDiscard(streamer.get(), batches[1].number) == SLUICE_OK);
    CHECK(sluiceStreamDiscard(streamer.get(), batches[0].number) == SLUICE_OK);
    CHECK(streamer.waitFor(both).status == SLUICE_OK);
    engine.waitIdle();
    CHECK(isThere(1200000));
    CHECK(isThere(1400000));

    // A budget of 0 ms records nothing. A budget of one byte lets one unit through each frame.
    streamer.budget.milliseconds = 0;
    const SluiceStreamGroup slow = streamer.submit({request(800000), request(1000000)});
    for (int i = 0; i < 5; ++i)
        streamer.frame();
    CHECK(!streamer.hasEnded(slow));
    streamer.budget.milliseconds = FLT_MAX;
    streamer.budget.bytes = 1;
    const uint32_t before = streamer.batches;
    CHECK(streamer.waitFor(slow).status == SLUICE_OK);
    CHECK(streamer.batches >= before + 2);
    device().checkMessages();
}

TEST_CASE("stream to Vulkan: a lost device ends all groups, and calls stay legal")
{
    if (!isVulkan()) return;
    Engine engine(device());
    MemoryFile file(vulkanContent().file);
    GpuStreamer streamer(device(), engine, Decoder::gpu);
    const SluiceStreamFile opened = streamer.open(file);
    const SluiceStreamMemory to = engine.makeBuffer(1 << 20);
    SluiceStreamRequest request =
        bufferRequest(opened, 0, vulkanContent().small.bytes.size(), to, 0);
    request.asset = VulkanContent::kSmall;
    std::vector<SluiceStreamGroup> groups = {streamer.submit({request}),
                                             streamer.submit({request})};
    CHECK(sluiceStreamDeviceLost(streamer.get()) == SLUICE_OK);
    groups.push_back(streamer.submit({request}));
    uint32_t told = 0, ended = 0;
    for (uint32_t i = 0; i < 100 && ended < groups.size(); ++i) {
        REQUIRE(sluiceStreamPump(streamer.get(), 64, nullptr) == SLUICE_OK);
        SluiceStreamEvent events[8];
        uint32_t count = 8;
        if (sluiceStreamPoll(streamer.get(), events, &count) == SLUICE_ERROR_DEVICE) ++told;
        for (uint32_t k = 0; k < count; ++k) {
            CHECK(events[k].status == SLUICE_ERROR_DEVICE);
            ++ended;
        }
    }
    CHECK(told == 1);
    CHECK(ended == groups.size());
    CHECK(streamer.counters().sourceUsed == 0);
    device().checkMessages();
}

TEST_SUITE_END();
