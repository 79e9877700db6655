// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests streaming from KTX2 files to images and buffers of Vulkan on every device. The GPU decodes,
// the CPU does, or both do.
#include "tests/support/short_runs.h"
#include "tests/stream/stream_gpu.h"
#include "tests/stream/stream_ktx2.h"

#include <algorithm>
#include <cstdio>
#include <functional>

// tests/consumers/readme/decode.cpp, which tests/api/embedding_example_test.cpp includes.
namespace example {
SluiceStatus openKtx2(SluiceStreamer streamer, const char* path, SluiceStreamFile& file);
SluiceStatus streamKtx2(SluiceContext context, SluiceStreamer streamer, SluiceStreamFile file,
                        const std::function<VkImage(const SluiceImageInfo&)>& createImage,
                        SluiceStreamGroup& group);
} // namespace example

using namespace sluice::test;

TEST_SUITE_BEGIN("device");

namespace {

VkImageCreateInfo createInfoOf(const SluiceImageInfo& about, uint32_t firstLevel)
{
    VkImageCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.flags = about.faces == 6 ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0;
    info.imageType = (about.flags & SLUICE_IMAGE_3D) != 0 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
    info.format = VkFormat(about.format);
    info.extent = {std::max(about.width >> firstLevel, 1u),
                   std::max(about.height >> firstLevel, 1u),
                   std::max(about.depth >> firstLevel, 1u)};
    info.mipLevels = about.levels - firstLevel;
    info.arrayLayers = about.layers * about.faces;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT;
    return info;
}

// An image of Vulkan, and the requests for its levels.
struct Streamed {
    Streamed(Engine& engine, const Ktx2Asset& asset, uint32_t firstLevel)
        : first(firstLevel), image(engine.makeImage(createInfoOf(asset.info, firstLevel)))
    {
        SluiceStreamImage box = {};
        box.image = sluiceStreamImageHandle(image);
        box.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        requests.resize(asset.info.levels - firstLevel);
        uint32_t count = uint32_t(requests.size());
        REQUIRE(sluiceStreamGetImageRequests(asset.file, asset.number, firstLevel, count, &box,
                                             requests.data(), &count) == SLUICE_OK);
        REQUIRE(count == requests.size());
    }
    void check(Engine& engine, const TestImage& expected) const
    {
        for (uint32_t i = 0; i < requests.size(); ++i) {
            CAPTURE(i);
            CHECK((engine.readImage(image, requests[i].image, size_t(requests[i].size)) ==
                   expected.level(first + i)));
        }
    }

    uint32_t first;
    VkImage image;
    std::vector<SluiceStreamRequest> requests;
};

} // namespace

TEST_CASE("stream KTX2 to Vulkan: 2D, arrays, cubes and volumes, all levels and the smaller ones")
{
    if (!isVulkan() || skipsOtherSizes() || skipsSlowCompiler()) return;
    const TestImage images[] = {
        {37, 60, 33, 0, 0, 1, 6},  // RGBA8
        {9, 33, 17, 0, 0, 1, 3},   // R8, whose levels end at any byte
        {131, 68, 50, 0, 0, 1, 7}, // BC1
        {145, 36, 20, 0, 3, 1, 3}, // an array of BC7
        {139, 24, 24, 0, 0, 6, 4}, // a cube of BC4
        {37, 16, 16, 0, 2, 6, 3},  // two cubes
        {37, 12, 10, 7, 0, 1, 3},  // a volume
    };
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        CAPTURE(scheme.number);
        for (const Decoder decoder : kDecoders) {
            CAPTURE(int(decoder));
            Engine engine(device());
            GpuStreamer streamer(device(), engine, decoder);
            std::vector<std::unique_ptr<MemoryFile>> files;
            std::vector<Streamed> streamed;
            std::vector<SluiceStreamRequest> requests;
            for (const TestImage& image : images) {
                files.push_back(std::make_unique<MemoryFile>(makeKtx2(image, scheme)));
                const Ktx2Asset asset(streamer.open(*files.back()));
                for (const uint32_t first : {0u, 1u}) {
                    streamed.emplace_back(engine, asset, first);
                    requests.insert(requests.end(), streamed.back().requests.begin(),
                                    streamed.back().requests.end());
                }
            }
            const SluiceStreamEvent event = streamer.waitFor(streamer.submit(requests));
            CHECK(event.status == SLUICE_OK);
            for (size_t i = 0; i < streamed.size(); ++i) {
                CAPTURE(images[i / 2].text());
                streamed[i].check(engine, images[i / 2]);
            }
            const SluiceStreamCounters counters = streamer.counters();
            CHECK(counters.sourceUsed + counters.outputUsed + counters.groups == 0);
            device().checkMessages();
        }
    }
}

TEST_CASE("stream KTX2 to Vulkan: levels and parts of them to buffers")
{
    if (!isVulkan() || skipsOtherSizes() || skipsSlowCompiler()) return;
    const TestImage image(131, 133, 70, 0, 0, 1, 8);
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        CAPTURE(scheme.number);
        for (const Decoder decoder : kDecoders) {
            CAPTURE(int(decoder));
            Engine engine(device());
            GpuStreamer streamer(device(), engine, decoder);
            MemoryFile file(makeKtx2(image, scheme));
            const Ktx2Asset asset(streamer.open(file));
            const SluiceStreamMemory to = engine.makeBuffer(1 << 16);
            std::vector<SluiceStreamRequest> requests;
            Bytes expected(1 << 16, Buffer::kPoison);
            uint64_t place = 0;
            for (uint32_t level = 0; level < 8; ++level) {
                const Bytes bytes = image.level(level);
                for (const uint64_t skipped : {uint64_t(0), uint64_t(bytes.size() / 3)}) {
                    requests.push_back(bufferRequest(asset.file,
                                                     asset.levels[level].offset + skipped,
                                                     bytes.size() - skipped, to, place));
                    std::copy(bytes.begin() + ptrdiff_t(skipped), bytes.end(),
                              expected.begin() + ptrdiff_t(place));
                    place += bytes.size() - skipped + 1; // at any byte
                }
            }
            REQUIRE(place <= expected.size());
            CHECK(streamer.waitFor(streamer.submit(requests)).status == SLUICE_OK);
            engine.waitIdle();
            const auto* const bytes = static_cast<const uint8_t*>(to.host);
            CHECK(std::equal(expected.begin(), expected.end(), bytes));
            device().checkMessages();
        }
    }
}

TEST_CASE("stream KTX2 to Vulkan: a compressed level that is larger than a unit, to an image")
{
    if (!isVulkan() || skipsOtherSizes() || skipsSlowCompiler()) return;
    TestImage image(131, 4096, 2064, 0, 0, 1, 2); // BC1, 4.2 MB
    uint32_t number = 0;
    for (auto& slice : image.slices[0][0])
        for (uint8_t& byte : slice)
            byte = uint8_t(number++ >> 10);
    for (const Decoder decoder : kDecoders) {
        CAPTURE(int(decoder));
        Engine engine(device());
        GpuStreamer streamer(device(), engine, decoder);
        MemoryFile file(makeKtx2(image, 2, packZstd));
        const Ktx2Asset asset(streamer.open(file));
        const Streamed streamed(engine, asset, 0);
        CHECK(streamer.waitFor(streamer.submit(streamed.requests)).status == SLUICE_OK);
        streamed.check(engine, image);
        // Scratch of this streamer does not suffice for the level, so the CPU decodes it.
        const SluiceStreamShare cpu = sharesOf(streamer.counters(), [](SluiceStreamReason reason) {
            return reason == SLUICE_STREAM_CPU_ONLY;
        });
        CHECK(cpu.bytes >= image.level(0).size());
        CHECK(streamer.counters().outputUsed == 0);
        device().checkMessages();
    }
}

TEST_CASE("stream KTX2 to Vulkan: damaged levels, beside tiles of an archive with checksums")
{
    if (!isVulkan() || skipsOtherSizes() || skipsSlowCompiler()) return;
    const TestImage image(37, 60, 33, 0, 0, 1, 6);
    const Bytes good = makeKtx2(image, 2, packZstd);
    Bytes bad = good;
    const SluiceImageLevel damaged = parseImage(good).levels[2];
    bad[size_t(damaged.offset)] ^= 1; // the magic of the frame
    for (const Decoder decoder : kDecoders) {
        CAPTURE(int(decoder));
        Engine engine(device());
        GpuStreamer streamer(device(), engine, decoder);
        MemoryFile file(bad), archive(vulkanContent().file);
        const Ktx2Asset asset(streamer.open(file));
        const SluiceStreamFile packed = streamer.open(archive);
        const Streamed streamed(engine, asset, 0);
        const SluiceStreamMemory to = engine.makeBuffer(vulkanContent().small.bytes.size());
        std::vector<SluiceStreamRequest> requests = streamed.requests;
        requests.push_back(bufferRequest(packed, 0, vulkanContent().small.bytes.size(), to, 0));
        requests.back().asset = VulkanContent::kSmall;
        streamer.frame(true); // a discarded batch
        const SluiceStreamEvent event = streamer.waitFor(streamer.submit(requests));
        CHECK(event.status == SLUICE_ERROR_CHECKSUM);
        CHECK(event.failedRequests == 1);
        CHECK(event.firstRequest == 2);
        CHECK(event.firstTile == 3);
        CHECK(event.tileStatus == SLUICE_TILE_BAD_CODE);
        engine.waitIdle();
        CHECK(std::equal(vulkanContent().small.bytes.begin(), vulkanContent().small.bytes.end(),
                         static_cast<const uint8_t*>(to.host)));
        device().checkMessages();
    }
}

TEST_CASE("embedding example: from the path of a KTX2 file to an image")
{
    if (!isVulkan()) return;
    const TestImage image(131, 40, 24, 0, 0, 1, 4);
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        constexpr const char* kPath = "stream_ktx2_example.ktx2";
        const Bytes bytes = makeKtx2(image, scheme);
        std::FILE* const written = std::fopen(kPath, "wb");
        REQUIRE(written != nullptr);
        CHECK(std::fwrite(bytes.data(), 1, bytes.size(), written) == bytes.size());
        CHECK(std::fclose(written) == 0);
        Engine engine(device());
        GpuStreamer streamer(device(), engine, Decoder::both);
        SluiceStreamFile file = nullptr;
        SluiceStreamGroup group = 0;
        VkImage made = VK_NULL_HANDLE;
        SluiceImageInfo about = {};
        const auto createImage = [&](const SluiceImageInfo& info) {
            about = info;
            return made = engine.makeImage(createInfoOf(info, 0));
        };
        const auto stream = [&] {
            return example::streamKtx2(device().context(), streamer.get(), file, createImage,
                                       group);
        };
        REQUIRE(example::openKtx2(streamer.get(), kPath, file) == SLUICE_OK);
        CHECK(stream() == SLUICE_ERROR_NOT_OPEN);
        uint32_t kernels = 0;
        while (sluiceStreamGetKernels(file, &kernels) == SLUICE_ERROR_NOT_OPEN)
            streamer.frame();
        REQUIRE(stream() == SLUICE_OK);
        CHECK(streamer.waitFor(group).status == SLUICE_OK);
        for (uint32_t level = 0; level < 4; ++level) {
            SluiceStreamImage box = {};
            box.level = level;
            box.layerCount = 1;
            box.extent[0] = std::max(about.width >> level, 1u);
            box.extent[1] = std::max(about.height >> level, 1u);
            box.extent[2] = 1;
            CHECK(
                (engine.readImage(made, box, image.level(level).size(),
                                  VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL) == image.level(level)));
        }
        std::remove(kPath);
        device().checkMessages();
    }
}

TEST_SUITE_END();
