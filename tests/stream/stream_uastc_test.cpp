// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests streaming of UASTC to images and buffers of other formats, from KTX2 files and from
// archives. The GPU transcodes, the CPU does, or both do. The reference says what is right.
#include "tests/stream/stream_gpu.h"
#include "tests/stream/stream_ktx2.h"
#include "tests/support/short_runs.h"
#include "tests/support/uastc.h"

#include <algorithm>
#include <functional>

#include "stream/cpu_decoder.h"

// tests/consumers/readme/uastc.cpp, which tests/kernels/uastc_test.cpp includes.
namespace example {
using CreateUastcImage = std::function<VkImage(const SluiceImageInfo&, const SluiceUastcFormat&)>;
SluiceStatus streamUastc(SluiceStreamer streamer, SluiceStreamFile file, const char* name,
                         size_t nameLength, uint32_t features, const CreateUastcImage& createImage,
                         SluiceStreamGroup& group);
} // namespace example

using namespace sluice::test;

namespace {

constexpr uint32_t kBc7 = 145, kRgba8 = 37, kBc4 = 139, kBc5 = 141, kUastc = 0;

// Returns an image of valid blocks.
TestImage uastcImage(uint32_t width, uint32_t height, uint32_t depth, uint32_t layers,
                     uint32_t levels, int channel)
{
    std::mt19937 random = makeRandom(width + 1000 * layers);
    TestImage image(kUastc, width, height, depth, layers, 1, levels);
    image.channel = channel;
    const Bytes vectors = uastcVectors("uastc.bin");
    for (auto& level : image.slices)
        for (auto& slices : level)
            for (Bytes& slice : slices)
                for (size_t at = 0; at < slice.size(); at += 16)
                    std::copy_n(&vectors[random() % (vectors.size() / 16) * 16], 16, &slice[at]);
    return image;
}

const TestImage& picture() // with edges in blocks, and levels smaller than a block
{
    static const TestImage image = uastcImage(61, 34, 0, 0, 6, SLUICE_UASTC_RGBA);
    return image;
}

// Returns what the reference makes of a level.
Bytes expectedLevel(const TestImage& image, uint32_t level, const UastcTarget& target)
{
    const uint32_t width = std::max(image.width >> level, 1u),
                   height = std::max(image.height >> level, 1u);
    Bytes all;
    for (const auto& slices : image.slices[level]) {
        for (const Bytes& slice : slices) {
            const Bytes made = uastcMade(target, slice, {0, width, height}).output;
            all.insert(all.end(), made.begin(), made.end());
        }
    }
    return all;
}

// Returns an archive of the image, in tiles that do not end where levels do.
Bytes archiveOf(const TestImage& image, SluiceCodec codec, uint32_t tileSize)
{
    const Bytes file = makeKtx2(image);
    const ParsedImage parsed = parseImage(file);
    PackedAsset asset;
    asset.name = SLUICE_STREAM_KTX2_NAME;
    asset.add(file, codec, tileSize);
    asset.parameters.resize(SLUICE_IMAGE_ITEM_SIZE);
    uint32_t size = 0;
    REQUIRE(sluiceMakeArchiveImageItem(&parsed.info, parsed.levels, asset.parameters.data(),
                                       &size) == SLUICE_OK);
    asset.parameters.resize(size);
    return packArchive({asset});
}

// Returns the ways in which a file may hold the image.
std::vector<Bytes> filesOf(const TestImage& image)
{
    std::vector<Bytes> files;
    for (const Ktx2Scheme& scheme : ktx2Schemes())
        files.push_back(makeKtx2(image, scheme));
    files.push_back(archiveOf(image, SLUICE_CODEC_GDEFLATE, 1000));
    return files;
}

const UastcTarget& targetOf(uint32_t format, uint32_t flags = 0)
{
    return *std::find_if(
        std::begin(kUastcTargets), std::end(kUastcTargets),
        [&](const UastcTarget& one) { return one.format == format && one.flags == flags; });
}

// An image asset on its way to one format: to images, or to buffers.
class Streamed {
public:
    Streamed(Engine& engine, SluiceStreamFile file, const TestImage& image,
             const UastcTarget& target)
        : m_engine(engine), m_image(image), m_target(target)
    {
        SluiceStreamImage box = {};
        box.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        box.format = target.format;
        box.formatFlags = target.flags;
        uint32_t count = image.levels;
        requests.resize(count);
        REQUIRE(sluiceStreamGetImageRequests(file, 0, 0, count, &box, requests.data(), &count) ==
                SLUICE_OK);
        REQUIRE(count == image.levels);
    }
    // Lets the levels go to an image.
    VkImage toImage()
    {
        VkImageCreateInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
        info.imageType = m_image.depth != 0 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
        info.format = VkFormat(m_target.format);
        info.extent = {m_image.width, m_image.height, std::max(m_image.depth, 1u)};
        info.mipLevels = m_image.levels;
        info.arrayLayers = std::max(m_image.layers, 1u);
        info.samples = VK_SAMPLE_COUNT_1_BIT;
        info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                     VK_IMAGE_USAGE_SAMPLED_BIT;
        m_made = m_engine.makeImage(info);
        for (SluiceStreamRequest& request : requests)
            request.image.image = sluiceStreamImageHandle(m_made);
        return m_made;
    }
    // Lets the levels go to a buffer, one after the other.
    void toBuffer()
    {
        uint64_t place = 16;
        for (SluiceStreamRequest& request : requests) {
            const uint64_t size = expected(request).size();
            request.target = SLUICE_STREAM_TO_BUFFER;
            request.buffer = {0, place, size};
            place += size + 16;
        }
        m_buffer = m_engine.makeBuffer(place);
        for (SluiceStreamRequest& request : requests) {
            request.buffer.handle = m_buffer.buffer.handle;
            request.buffer.offset += m_buffer.buffer.offset;
        }
    }
    void check(VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL) const
    {
        const auto* const bytes = static_cast<const uint8_t*>(m_buffer.host);
        uint64_t end = 0;
        for (const SluiceStreamRequest& request : requests) {
            CAPTURE(request.image.level);
            const Bytes wanted = expected(request);
            if (m_made != VK_NULL_HANDLE) {
                CHECK((m_engine.readImage(m_made, request.image, wanted.size(), layout) == wanted));
                continue;
            }
            const uint64_t place = request.buffer.offset - m_buffer.buffer.offset;
            CHECK(std::equal(wanted.begin(), wanted.end(), bytes + place));
            CHECK(std::all_of(bytes + end, bytes + place,
                              [](uint8_t byte) { return byte == Buffer::kPoison; }));
            end = place + wanted.size();
        }
    }

    std::vector<SluiceStreamRequest> requests;

private:
    Bytes expected(const SluiceStreamRequest& request) const
    {
        return expectedLevel(m_image, request.image.level, m_target);
    }

    Engine& m_engine;
    const TestImage& m_image;
    const UastcTarget& m_target;
    VkImage m_made = VK_NULL_HANDLE;
    SluiceStreamMemory m_buffer{};
};

SluiceStatus requestsAs(SluiceStreamFile file, uint32_t format, uint32_t flags = 0)
{
    SluiceStreamRequest requests[16];
    uint32_t count = 16;
    SluiceStreamImage box = {};
    box.format = format;
    box.formatFlags = flags;
    return sluiceStreamGetImageRequests(file, 0, 0, 1, &box, requests, &count);
}

} // namespace

TEST_CASE("stream UASTC: the formats that channels allow, and no others")
{
    const struct {
        int channel;
        std::vector<uint32_t> allowed;
    } cases[] = {{SLUICE_UASTC_RGB, {kRgba8, 43, 131, 145, 146, 147, 157}},
                 {SLUICE_UASTC_RGBA, {kRgba8, 137, 145, 151, 157}},
                 {SLUICE_UASTC_RRR, {kRgba8, 131, kBc4, 145, 147, 157}},
                 {SLUICE_UASTC_RG, {kRgba8, 131, kBc5, 145, 147, 157}}};
    CpuStreamer streamer(1);
    for (const auto& one : cases) {
        CAPTURE(one.channel);
        for (const Bytes& bytes : filesOf(uastcImage(8, 8, 0, 0, 1, one.channel))) {
            MemoryFile file(bytes);
            const SluiceStreamFile opened = streamer.open(file);
            const uint32_t reads = file.reads;
            uint32_t kernels = 0;
            CHECK(sluiceStreamGetKernels(opened, &kernels) == SLUICE_OK);
            CHECK((kernels & SLUICE_KERNELS_UASTC) != 0);
            for (const uint32_t format : one.allowed)
                CHECK(requestsAs(opened, format) == SLUICE_OK);
            for (const uint32_t format : {0u, 9u, 38u, 133u, 143u, 149u, 159u})
                CHECK(requestsAs(opened, format) == SLUICE_ERROR_UNSUPPORTED);
            for (const uint32_t format : {kBc4, kBc5})
                if (std::count(one.allowed.begin(), one.allowed.end(), format) == 0)
                    CHECK(requestsAs(opened, format) == SLUICE_ERROR_UNSUPPORTED);
            CHECK(requestsAs(opened, kBc5, SLUICE_UASTC_SECOND_IS_ALPHA) ==
                  SLUICE_ERROR_UNSUPPORTED);
            CHECK(file.reads == reads);
            CHECK(sluiceStreamClose(streamer.get(), opened) == SLUICE_OK);
        }
    }
    MemoryFile two(makeKtx2(uastcImage(8, 8, 0, 0, 1, SLUICE_UASTC_RRRG)));
    CHECK(requestsAs(streamer.open(two), kBc5, SLUICE_UASTC_SECOND_IS_ALPHA) == SLUICE_OK);
    // Other images have the format that they have.
    MemoryFile other(makeKtx2({43, 8, 8, 0, 0, 1, 1}));
    const SluiceStreamFile opened = streamer.open(other);
    for (const uint32_t format : {0u, 43u, kRgba8})
        CHECK(requestsAs(opened, format) == SLUICE_OK);
    CHECK(requestsAs(opened, kBc7) == SLUICE_ERROR_UNSUPPORTED);
}

TEST_CASE("stream UASTC: requests that no streamer or only one with a GPU takes")
{
    CpuStreamer streamer(1);
    MemoryFile file(makeKtx2(picture()));
    const SluiceStreamFile opened = streamer.open(file);
    const Ktx2Asset asset(opened);
    Bytes place(asset.levels[0].decodedSize);
    SluiceStreamRequest request = asset.levelTo(0, place.data());
    const auto status = [&] {
        SluiceStreamGroupInfo info = {};
        info.requests = &request;
        info.requestCount = 1;
        SluiceStreamGroup group = 0;
        const SluiceStatus submitted = sluiceStreamSubmit(streamer.get(), &info, &group);
        return submitted == SLUICE_OK ? streamer.waitFor(group).status : submitted;
    };
    request.image.format = kBc7; // which is not read
    CHECK(status() == SLUICE_OK);
    CHECK((place == picture().level(0)));
    request.target = SLUICE_STREAM_TO_BUFFER;
    request.buffer = {uint64_t(reinterpret_cast<uintptr_t>(place.data())), 0, place.size()};
    CHECK(status() == SLUICE_ERROR_UNSUPPORTED);
    request.image.format = 0;
    CHECK(status() == SLUICE_OK);
}

TEST_CASE("stream UASTC: on the CPU a transcoder that fails is not taken for invalid blocks")
{
    using namespace sluice::stream;
    SluiceStreamRequest request = {};
    SluiceStreamImage& image = request.image;
    image.blockWidth = image.blockHeight = 4;
    image.blockSize = 16;
    image.extent[0] = image.extent[1] = 4;
    image.extent[2] = image.layerCount = 1;
    image.format = kBc7;
    Unit unit;
    unit.isTranscoded = true;
    unit.route = Route::output;
    unit.size = 16;
    unit.planes = unit.rows = 1;
    const Bytes valid = uastcVectors("uastc.bin"), invalid = uastcVectors("invalid.bin");
    RingMemory source(64), output(64);
    SluiceStreamerInfo info = {};
    info.source = source.memory();
    info.output = output.memory();
    CpuDecoder decoder(info, 1, true);
    REQUIRE(decoder.start() == SLUICE_OK);
    // The blocks begin at this address of the ring.
    const auto transcoded = [&](const Bytes& blocks, uint32_t at) {
        std::copy_n(blocks.begin(), 16, source.data() + at);
        unit.blocks = at;
        CpuDecoder::Done done;
        return decoder.decode(unit, request, decoder.workspace(0), done).transcoded;
    };
    CHECK(transcoded(valid, 0) == SLUICE_TILE_OK);
    CHECK(transcoded(invalid, 16) == SLUICE_TILE_BAD_CODE);
    CHECK(transcoded(valid, 8) == SLUICE_TILE_INTERNAL); // the command refuses unaligned blocks
    CHECK(worseOf(SLUICE_TILE_OK, SLUICE_TILE_BAD_CODE) == SLUICE_TILE_BAD_CODE);
    CHECK(worseOf(SLUICE_TILE_BAD_CODE, SLUICE_TILE_OK) == SLUICE_TILE_BAD_CODE);
    CHECK(worseOf(SLUICE_TILE_INTERNAL, SLUICE_TILE_BAD_CODE) == SLUICE_TILE_INTERNAL);
    CHECK(worseOf(SLUICE_TILE_BAD_CODE, SLUICE_TILE_INTERNAL) == SLUICE_TILE_INTERNAL);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("stream UASTC: all levels to images and buffers, from every kind of file")
{
    if (!isVulkan()) return;
    needUastc(device());
    const TestImage shapes[] = {uastcImage(10, 6, 0, 3, 3, SLUICE_UASTC_RGB),   // an array
                                uastcImage(9, 10, 5, 0, 3, SLUICE_UASTC_RGBA)}; // a volume
    for (const Decoder decoder : kDecoders) {
        CAPTURE(int(decoder));
        Engine engine(device());
        GpuStreamer streamer(device(), engine, decoder);
        std::vector<std::unique_ptr<MemoryFile>> files;
        std::vector<std::unique_ptr<Streamed>> streamed;
        std::vector<SluiceStreamGroup> groups;
        const auto stream = [&](const TestImage& image, const UastcTarget& target, bool toImage) {
            for (uint32_t i = 0; i < 3; ++i) {
                const SluiceStreamFile file = streamer.open(*files[files.size() - 3 + i]);
                streamed.push_back(std::make_unique<Streamed>(engine, file, image, target));
                if (toImage)
                    streamed.back()->toImage();
                else
                    streamed.back()->toBuffer();
                groups.push_back(streamer.submit(streamed.back()->requests));
            }
        };
        const auto open = [&](const TestImage& image) {
            for (const Bytes& bytes : filesOf(image))
                files.push_back(std::make_unique<MemoryFile>(bytes));
        };
        open(picture());
        for (const uint32_t format : {kBc7, kRgba8})
            stream(picture(), targetOf(format), true);
        for (const UastcTarget& target : kUastcTargets)
            if (target.format != kBc4 && target.format != kBc5 && target.number != SLUICE_UA_BC1 &&
                target.number != SLUICE_UA_ETC1)
                stream(picture(), target, false);
        for (const TestImage& image : shapes) {
            open(image);
            for (const uint32_t format : {kBc7, kRgba8})
                stream(image, targetOf(format), image.depth == 0 || format == kRgba8);
            if (image.depth == 0) stream(image, targetOf(131), false); // 8 bytes a block
        }
        for (const SluiceStreamGroup group : groups)
            CHECK(streamer.waitFor(group).status == SLUICE_OK);
        engine.waitIdle();
        for (const auto& one : streamed)
            one->check();
        const SluiceStreamCounters counters = streamer.counters();
        CHECK(counters.sourceUsed + counters.outputUsed + counters.groups == 0);
        const uint64_t units = sharesOf(counters, [](SluiceStreamReason) { return true; }).units;
        const uint64_t ofGpu = sharesOf(counters, isOfGpu).units;
        CHECK(units >= 3 * 6 * 5);
        if (decoder == Decoder::gpu) CHECK(ofGpu == units);
        if (decoder == Decoder::cpu || decoder == Decoder::cpuContext) CHECK(ofGpu == 0);
        device().checkMessages();
    }
}

TEST_CASE("stream UASTC: levels that are cut at rows")
{
    if (!isVulkan()) return;
    needUastc(device());
    // 1 MiB of blocks is a unit, and a quarter of it where texels are made.
    const TestImage image = uastcImage(516, 1030, 0, 0, 1, SLUICE_UASTC_RGB);
    const Bytes packed = archiveOf(image, SLUICE_CODEC_STORE, 65536);
    const Decoder decoders[] = {Decoder::gpu, Decoder::both};
    for (const Decoder decoder : decoders) {
        CAPTURE(int(decoder));
        Engine engine(device());
        GpuStreamer streamer(device(), engine, decoder);
        for (const Bytes& bytes : {makeKtx2(image), packed}) {
            MemoryFile file(bytes);
            const SluiceStreamFile opened = streamer.open(file);
            Streamed texels(engine, opened, image, targetOf(kRgba8));
            texels.toImage();
            CHECK(streamer.waitFor(streamer.submit(texels.requests)).status == SLUICE_OK);
            texels.check();
            CHECK(sluiceStreamClose(streamer.get(), opened) == SLUICE_OK);
        }
        device().checkMessages();
    }
}

TEST_CASE("stream UASTC: several formats in one batch")
{
    if (!isVulkan()) return;
    needUastc(device());
    Engine engine(device());
    GpuStreamer streamer(device(), engine, Decoder::gpu);
    MemoryFile file(makeKtx2(picture()));
    const SluiceStreamFile opened = streamer.open(file);
    std::vector<std::unique_ptr<Streamed>> streamed;
    std::vector<SluiceStreamRequest> requests;
    for (const uint32_t format : {kBc7, kRgba8, 157u}) { // 157: ASTC
        streamed.push_back(std::make_unique<Streamed>(engine, opened, picture(), targetOf(format)));
        streamed.back()->toBuffer();
        const std::vector<SluiceStreamRequest>& more = streamed.back()->requests;
        requests.insert(requests.end(), more.begin(), more.end());
    }
    CHECK(streamer.waitFor(streamer.submit(requests)).status == SLUICE_OK);
    for (const auto& one : streamed)
        one->check();
    device().checkMessages();
}

TEST_CASE("stream UASTC: invalid blocks end the group with FORMAT, and all the rest arrives")
{
    if (!isVulkan()) return;
    needUastc(device());
    TestImage image = picture();
    const Bytes invalid = uastcVectors("invalid.bin");
    std::copy_n(invalid.begin(), 16, image.slices[1][0][0].begin() + 16 * 5);
    for (const Decoder decoder : kDecoders) {
        CAPTURE(int(decoder));
        Engine engine(device());
        GpuStreamer streamer(device(), engine, decoder);
        for (const Bytes& bytes : filesOf(image)) {
            MemoryFile file(bytes);
            Streamed streamed(engine, streamer.open(file), image, targetOf(kBc7));
            streamed.toImage();
            streamer.frame(true); // a discarded batch
            const SluiceStreamEvent event = streamer.waitFor(streamer.submit(streamed.requests));
            CHECK(event.status == SLUICE_ERROR_FORMAT);
            CHECK(event.failedRequests == 1);
            CHECK(event.firstRequest == 1);
            CHECK(event.firstTile == 0xffffffffu);
            CHECK(event.tileStatus == SLUICE_TILE_BAD_CODE);
            streamed.check();
            CHECK(sluiceStreamClose(streamer.get(), streamed.requests[0].file) == SLUICE_OK);
        }
        device().checkMessages();
    }
}

TEST_CASE("stream UASTC: without its pipelines threads transcode, or Record waits for them")
{
    if (!isVulkan() || skipsOtherSizes()) return;
    Device bare(device().selector(), device().info().tier,
                environmentNumber("SLUICE_TEST_VALIDATION", 1), 0);
    REQUIRE_MESSAGE(bare.isOpen(), bare.openError());
    {
        Engine engine(bare);
        GpuStreamer both(bare, engine, Decoder::both), gpu(bare, engine, Decoder::gpu);
        MemoryFile file(makeKtx2(picture())), other(makeKtx2(picture()));
        Streamed streamed(engine, both.open(file), picture(), targetOf(kBc7));
        streamed.toImage();
        CHECK(both.waitFor(both.submit(streamed.requests)).status == SLUICE_OK);
        streamed.check();
        CHECK(both.counters().shares[SLUICE_STREAM_CPU_PIPELINES].units == 6);

        Streamed later(engine, gpu.open(other), picture(), targetOf(kBc7));
        later.toImage();
        gpu.submit(later.requests);
        CHECK(sluiceStreamPump(gpu.get(), 64, nullptr) == SLUICE_OK);
        const VkCommandBuffer commands = engine.begin();
        const SluiceStreamBudget budget = {FLT_MAX, 0, 0, 0, 0, 0, 0};
        SluiceStreamBatch batch = {};
        CHECK(sluiceStreamRecord(gpu.get(), sluiceVulkanCommands(commands), &budget, &batch) ==
              SLUICE_ERROR_NOT_READY);
        CHECK(batch.number == 0);
        engine.submit(VK_NULL_HANDLE, 0);
    }
    bare.checkMessages();
}

TEST_CASE("embedding example: from the name of a UASTC image to an image of another format")
{
    if (!isVulkan()) return;
    needUastc(device());
    Engine engine(device());
    GpuStreamer streamer(device(), engine, Decoder::both);
    MemoryFile file(archiveOf(picture(), SLUICE_CODEC_STORE, 65536));
    const SluiceStreamFile opened = streamer.open(file);
    std::unique_ptr<Streamed> streamed;
    const auto createImage = [&](const SluiceImageInfo& about, const SluiceUastcFormat& chosen) {
        CHECK(about.channel == SLUICE_UASTC_RGBA);
        CHECK(chosen.format == kBc7);
        streamed = std::make_unique<Streamed>(engine, opened, picture(), targetOf(kBc7));
        return streamed->toImage();
    };
    SluiceStreamGroup group = 0;
    const std::string name = SLUICE_STREAM_KTX2_NAME;
    REQUIRE(example::streamUastc(streamer.get(), opened, name.data(), name.size(),
                                 SLUICE_UASTC_HAS_BC, createImage, group) == SLUICE_OK);
    CHECK(streamer.waitFor(group).status == SLUICE_OK);
    streamed->check(VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    device().checkMessages();
}

TEST_CASE("stream UASTC: what Submit refuses")
{
    if (!isVulkan()) return;
    needUastc(device());
    Engine engine(device());
    GpuStreamer streamer(device(), engine, Decoder::both);
    MemoryFile file(makeKtx2(picture()));
    Streamed streamed(engine, streamer.open(file), picture(), targetOf(kBc7));
    streamed.toBuffer();
    const auto with = [&](auto change) {
        SluiceStreamRequest request = streamed.requests[0];
        change(request);
        SluiceStreamGroupInfo info = {};
        info.requests = &request;
        info.requestCount = 1;
        SluiceStreamGroup group = 0;
        const SluiceStatus status = sluiceStreamSubmit(streamer.get(), &info, &group);
        return status == SLUICE_OK ? streamer.waitFor(group).status : status;
    };
    using Request = SluiceStreamRequest;
    CHECK(with([](Request&) {}) == SLUICE_OK);
    CHECK(with([](Request& it) { it.image.format = 38; }) == SLUICE_ERROR_UNSUPPORTED);
    CHECK(with([](Request& it) { it.image.formatFlags = 1; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(with([](Request& it) { it.image.blockWidth = 5; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(with([](Request& it) { it.image.blockHeight = 8; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(with([](Request& it) { it.image.blockSize = 8; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(with([](Request& it) { it.buffer.size -= 16; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(with([](Request& it) { it.image.format = kRgba8; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(with([](Request& it) { it.image.extent[1] += 4; }) == SLUICE_ERROR_ARGUMENT);
    device().checkMessages();
}

TEST_SUITE_END();
