// SPDX-License-Identifier: MIT OR Apache-2.0
// Streaming while both sides decode: who decodes what, and that nothing else depends on it.
#include "tests/support/short_runs.h"
#include "tests/stream/stream_gpu.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

using namespace sluice::test;

namespace {

// What tests stream: the small asset to buffers, images, and the host.
class Streamed {
public:
    Streamed(Engine& engine, GpuStreamer& streamer, SluiceStreamFile file)
        : m_engine(engine), m_streamer(streamer), m_file(file), m_to(engine.makeBuffer(1 << 20))
    {
    }

    SluiceStreamRequest toBuffer(uint64_t place) const
    {
        SluiceStreamRequest request = bufferRequest(m_file, 0, bytes().size(), m_to, place);
        request.asset = VulkanContent::kSmall;
        return request;
    }
    void checkBuffer(uint64_t place) const
    {
        m_engine.waitIdle();
        CHECK(std::equal(bytes().begin(), bytes().end(),
                         static_cast<const uint8_t*>(m_to.host) + place));
    }
    // Streams everything, and compares it.
    void streamAll()
    {
        std::vector<SluiceStreamRequest> requests = {toBuffer(0), toBuffer(300001)};
        Bytes host(bytes().size());
        requests.push_back(fromArchive(m_file, VulkanContent::kSmall, 0, host.size(), host.data()));
        std::vector<VkImage> images;
        for (uint32_t i = 0; i < std::size(kImages); ++i) {
            images.push_back(m_engine.makeImage(createInfoOf(kImages[i])));
            for (uint32_t level = 0; level < kImages[i].levels; ++level)
                requests.push_back(imageRequest(m_file, i, kImages[i], vulkanContent().images[i],
                                                level, images[i]));
        }
        CHECK(m_streamer.waitFor(m_streamer.submit(requests)).status == SLUICE_OK);
        checkBuffer(0);
        checkBuffer(300001);
        CHECK(host == bytes());
        size_t number = 3;
        for (uint32_t i = 0; i < std::size(kImages); ++i) {
            const Bytes& image = vulkanContent().images[i].packed.bytes;
            for (uint32_t level = 0; level < kImages[i].levels; ++level, ++number) {
                const SluiceStreamRequest& request = requests[number];
                const Bytes read =
                    m_engine.readImage(images[i], request.image, size_t(request.size));
                CHECK(std::equal(read.begin(), read.end(),
                                 image.begin() + ptrdiff_t(request.offset)));
            }
        }
    }
    static const Bytes& bytes() { return vulkanContent().small.bytes; }

private:
    Engine& m_engine;
    GpuStreamer& m_streamer;
    SluiceStreamFile m_file;
    SluiceStreamMemory m_to;
};

// Lets threads do this many jobs, each of which reads a unit or the records of an asset's tiles,
// and then none come. Returns how many frames the group takes.
uint32_t framesWithoutThreads(GpuStreamer& streamer, SluiceStreamGroup group, uint32_t jobs)
{
    uint32_t frames = 1;
    streamer.jobs = jobs;
    streamer.frame();
    streamer.jobs = 0;
    for (; !streamer.hasEnded(group); ++frames) {
        REQUIRE(frames < 1000);
        streamer.frame();
    }
    streamer.jobs = 64;
    return frames;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("stream sides: threads decode until there are pipelines, then the GPU may")
{
    if (!isVulkan() || skipsOtherSizes() || skipsSlowCompiler()) return;
    Device fresh(device().selector(), device().info().tier,
                 environmentNumber("SLUICE_TEST_VALIDATION", 1), 0);
    REQUIRE_MESSAGE(fresh.isOpen(), fresh.openError());
    {
        Engine engine(fresh);
        MemoryFile file(vulkanContent().file);
        GpuStreamer streamer(fresh, engine, Decoder::both);
        const SluiceStreamFile opened = streamer.open(file);
        Streamed streamed(engine, streamer, opened);
        streamed.streamAll();
        SluiceStreamCounters counters = streamer.counters();
        const SluiceStreamShare host = counters.shares[SLUICE_STREAM_CPU_HOST];
        CHECK(host.bytes == Streamed::bytes().size());
        CHECK(counters.shares[SLUICE_STREAM_CPU_PIPELINES].units > 2);
        CHECK(sharesOf(counters, isOfGpu).units == 0);
        const auto all = [](SluiceStreamReason) { return true; };
        CHECK(sharesOf(counters, all).units ==
              host.units + counters.shares[SLUICE_STREAM_CPU_PIPELINES].units);
        // A thread decodes a tile once for strips of an image that share it.
        CHECK(sharesOf(counters, all).bytes >= counters.bytesDecoded);

        uint32_t kernels = 0;
        REQUIRE(sluiceStreamGetKernels(opened, &kernels) == SLUICE_OK);
        const SluicePipelinesInfo pipelines = {kernels, 0, 0};
        REQUIRE(sluiceCreatePipelines(fresh.context(), &pipelines, nullptr) == SLUICE_OK);
        const uint64_t before = counters.shares[SLUICE_STREAM_CPU_PIPELINES].units;
        const SluiceStreamGroup group = streamer.submit({streamed.toBuffer(600000)});
        const uint32_t frames = framesWithoutThreads(streamer, group, 1);
        MESSAGE("frames until the GPU has decoded: " << frames);
        streamed.checkBuffer(600000);
        CHECK(sharesOf(streamer.counters(), isOfGpu).bytes == Streamed::bytes().size());
        streamed.streamAll();
        counters = streamer.counters();
        CHECK(counters.shares[SLUICE_STREAM_CPU_PIPELINES].units == before);
        CHECK(sharesOf(counters, all).bytes >= counters.bytesDecoded);
        CHECK(counters.sourceUsed + counters.outputUsed + counters.groups == 0);
    }
    fresh.checkMessages();
}

TEST_CASE("stream sides: the member of SluiceStreamerInfo says who decodes")
{
    if (!isVulkan()) return;
    for (const Decoder decoder : kDecoders) {
        CAPTURE(int(decoder));
        Engine engine(device());
        MemoryFile file(vulkanContent().file);
        GpuStreamer streamer(device(), engine, decoder);
        Streamed streamed(engine, streamer, streamer.open(file));
        streamed.streamAll();
        const SluiceStreamCounters counters = streamer.counters();
        const uint64_t gpu = sharesOf(counters, isOfGpu).units;
        const uint64_t only = counters.shares[SLUICE_STREAM_CPU_ONLY].units;
        const uint64_t all = sharesOf(counters, [](SluiceStreamReason) { return true; }).units;
        const uint64_t host = counters.shares[SLUICE_STREAM_CPU_HOST].units;
        CHECK(host != 0);
        if (decoder == Decoder::gpu) CHECK(gpu == all - host);
        if (decoder == Decoder::cpu || decoder == Decoder::cpuContext) CHECK(only == all - host);
        if (decoder == Decoder::both) CHECK(only == 0);
        if (decoder == Decoder::both) CHECK(counters.threadMillisecondsPerMiB[0] > 0);
        device().checkMessages();
    }
}

TEST_CASE("stream sides: a ring that threads cannot reach leaves all to the GPU, or is refused")
{
    if (!isVulkan()) return;
    Engine engine(device());
    SluiceContext cpu = nullptr;
    REQUIRE(sluiceCreateCpuContext(&cpu) == SLUICE_OK);
    SluiceStreamerInfo info = {};
    info.context = device().context();
    info.gpu = engine.gpu();
    info.maxGroups = info.maxRequests = 8;
    info.maxBatches = 2;
    info.maxBatchTiles = 256;
    info.maxFilteredSize = 4 << 20;
    info.gstdTilesAtOnce = 8;
    SluiceStreamerRequirements required = {};
    REQUIRE(sluiceGetStreamerRequirements(&info, &required) == SLUICE_OK);
    info.source = engine.makeBuffer(SLUICE_STREAM_MIN_SOURCE);
    info.output = engine.makeBuffer(SLUICE_STREAM_MIN_OUTPUT);
    info.control = engine.makeBuffer(required.controlSize);
    info.results = engine.makeBuffer(required.resultsSize);
    info.scratch = engine.makeBuffer(required.scratchSize).buffer;
    const auto create = [](const SluiceStreamerInfo& from) {
        SluiceStreamer streamer = nullptr;
        const SluiceStatus status = sluiceCreateStreamer(&from, &streamer);
        sluiceDestroyStreamer(streamer);
        return status;
    };
    const auto with = [&](uint32_t sides, uint32_t threads) {
        SluiceStreamerInfo changed = info;
        changed.decoding = {SluiceStreamSides(sides), threads};
        return changed;
    };
    CHECK(create(with(SLUICE_STREAM_BOTH, 64)) == SLUICE_OK);
    CHECK(create(with(SLUICE_STREAM_BOTH, 65)) == SLUICE_ERROR_ARGUMENT);
    CHECK(create(with(4, 0)) == SLUICE_ERROR_ARGUMENT);
    SluiceStreamerInfo changed = with(SLUICE_STREAM_GPU_ALONE, 0);
    changed.context = cpu;
    CHECK(create(changed) == SLUICE_ERROR_ARGUMENT);
    changed = with(SLUICE_STREAM_CPU_ALONE, 0);
    changed.control = changed.results = {};
    changed.scratch = {};
    CHECK(create(changed) == SLUICE_OK);
    changed.output.host = nullptr;
    CHECK(create(changed) == SLUICE_ERROR_ARGUMENT);
    for (const uint32_t sides :
         {SLUICE_STREAM_GPU_FIRST, SLUICE_STREAM_BOTH, SLUICE_STREAM_GPU_ALONE}) {
        changed = with(sides, 0);
        changed.output.host = nullptr;
        CHECK(create(changed) == SLUICE_OK);
    }
    changed = with(4, 0);
    CHECK(sluiceGetStreamerRequirements(&changed, &required) == SLUICE_ERROR_ARGUMENT);
    sluiceDestroyContext(cpu);
    device().checkMessages();
}

namespace {

// The archive with one byte of these tiles of the small asset changed.
Bytes damaged(const std::vector<uint32_t>& tiles)
{
    Bytes file = vulkanContent().file;
    const ParsedArchive archive(vulkanContent().file);
    const std::vector<SluiceArchiveTile> records = archive.records(VulkanContent::kSmall);
    const uint64_t extent =
        uint64_t(archive.extent(VulkanContent::kSmall) - vulkanContent().file.data());
    for (const uint32_t tile : tiles)
        file[size_t(extent + records[tile].offset + records[tile].storedSize / 2)] ^= 0x10;
    return file;
}

} // namespace

TEST_CASE("stream sides: a damaged tile has the same status by either way")
{
    if (!isVulkan() || skipsOtherSizes() || skipsSlowCompiler()) return;
    const ParsedArchive archive(vulkanContent().file);
    const std::vector<SluiceArchiveTile> records = archive.records(VulkanContent::kSmall);
    const uint32_t count = uint32_t(records.size());
    std::vector<std::vector<uint32_t>> cases = {{count - 1, 1, 4}};
    // Each case decodes the whole asset, so a tile of each codec, with a filter and without, is
    // enough.
    std::set<std::pair<uint32_t, bool>> kinds;
    for (uint32_t tile = 0; tile < count; ++tile)
        if (kinds.insert({records[tile].codec, records[tile].filterOffset != 0}).second)
            cases.push_back({tile});
    CHECK(kinds.size() == 8);
    const auto run = [&](Decoder decoder, bool pumps) {
        std::vector<SluiceStreamEvent> events;
        Engine engine(device());
        GpuStreamer streamer(device(), engine, decoder);
        std::vector<std::unique_ptr<MemoryFile>> files;
        for (const std::vector<uint32_t>& tiles : cases) {
            files.push_back(std::make_unique<MemoryFile>(damaged(tiles)));
            Streamed streamed(engine, streamer, streamer.open(*files.back()));
            const SluiceStreamGroup group = streamer.submit({streamed.toBuffer(0)});
            if (!pumps) framesWithoutThreads(streamer, group, 2);
            events.push_back(streamer.waitFor(group));
        }
        const uint64_t gpu = sharesOf(streamer.counters(), isOfGpu).units;
        if (decoder == Decoder::gpu || !pumps) CHECK(gpu == cases.size());
        if (decoder == Decoder::cpu) CHECK(gpu == 0);
        device().checkMessages();
        return events;
    };
    const std::vector<SluiceStreamEvent> expected = run(Decoder::cpu, true);
    for (size_t i = 0; i < cases.size(); ++i) {
        CHECK(expected[i].status == SLUICE_ERROR_CHECKSUM);
        CHECK(expected[i].firstTile == *std::min_element(cases[i].begin(), cases[i].end()));
    }
    const auto check = [&](const std::vector<SluiceStreamEvent>& got) {
        for (size_t i = 0; i < cases.size(); ++i) {
            CAPTURE(i);
            CHECK(got[i].status == expected[i].status);
            CHECK(got[i].failedRequests == expected[i].failedRequests);
            CHECK(got[i].firstRequest == expected[i].firstRequest);
            CHECK(got[i].firstTile == expected[i].firstTile);
            CHECK(got[i].tileStatus == expected[i].tileStatus);
            CHECK(got[i].fileOffset == expected[i].fileOffset);
        }
    };
    check(run(Decoder::gpu, true));
    check(run(Decoder::both, true));
    check(run(Decoder::both, false));
}

TEST_CASE("stream sides: cancelling in the line, with a thread, and in a batch")
{
    if (!isVulkan()) return;
    Engine engine(device());
    MemoryFile file(vulkanContent().file);
    GpuStreamer streamer(device(), engine, Decoder::both);
    Streamed streamed(engine, streamer, streamer.open(file));
    const auto isEmpty = [&] {
        const SluiceStreamCounters counters = streamer.counters();
        return counters.sourceUsed + counters.outputUsed + counters.ready + counters.decoding == 0;
    };
    // In the line: the first job reads the records of the asset's tiles, and the second the tiles.
    SluiceStreamGroup group = streamer.submit({streamed.toBuffer(0)});
    REQUIRE(sluiceStreamPump(streamer.get(), 2, nullptr) == SLUICE_OK);
    CHECK(streamer.counters().ready == 1);
    CHECK(sluiceStreamCancel(streamer.get(), group) == SLUICE_OK);
    CHECK(streamer.waitFor(group).status == SLUICE_ERROR_CANCELLED);
    CHECK(isEmpty());
    CHECK(streamer.counters().wastedBytes != 0);
    // Decoded by a thread, if that takes it, and waiting for its copy.
    group = streamer.submit({streamed.toBuffer(0)});
    REQUIRE(sluiceStreamPump(streamer.get(), 2, nullptr) == SLUICE_OK);
    CHECK(streamer.counters().ready == 1);
    CHECK(sluiceStreamCancel(streamer.get(), group) == SLUICE_OK);
    CHECK(streamer.waitFor(group).status == SLUICE_ERROR_CANCELLED);
    CHECK(isEmpty());
    // In a batch it is too late, and a batch that is taken back is decoded again or cancelled.
    for (const bool discards : {false, true}) {
        group = streamer.submit({streamed.toBuffer(0)}, {}, {}, SLUICE_STREAM_TELL_RECORDED);
        const uint32_t before = streamer.batches;
        streamer.jobs = 1;
        while (streamer.batches == before) {
            streamer.frame(discards);
            streamer.jobs = 0;
        }
        streamer.jobs = 64;
        CHECK(streamer.waitFor(group).status == SLUICE_OK);
        streamed.checkBuffer(0);
        CHECK(isEmpty());
    }
    CHECK(sharesOf(streamer.counters(), isOfGpu).units != 0);
    device().checkMessages();
}

TEST_CASE("stream sides: threads and batches at the same time, with all codecs in large tiles")
{
    if (!isVulkan() || std::strncmp(device().info().tier, "emu", 3) == 0) return;
    const std::vector<PackedAsset> assets = {assetOfAllCodecs("all", 7)};
    Engine engine(device());
    MemoryFile file(packArchive(assets));
    const uint64_t size = assets[0].bytes.size();
    const SluiceStreamMemory to = engine.makeBuffer(4 * size);
    for (const uint32_t mostThreads : {0u, 1u}) {
        CAPTURE(mostThreads);
        std::memset(to.host, 0, size_t(to.buffer.size));
        GpuStreamer streamer(device(), engine, Decoder::both, {}, 3, mostThreads);
        const SluiceStreamFile opened = streamer.open(file);
        std::vector<SluiceStreamGroup> groups;
        for (uint64_t i = 0; i < 4; ++i)
            groups.push_back(streamer.submit({bufferRequest(opened, 0, size, to, i * size)}));
        for (const SluiceStreamGroup group : groups)
            CHECK(streamer.waitFor(group).status == SLUICE_OK);
        engine.waitIdle();
        for (uint64_t i = 0; i < 4; ++i)
            CHECK(std::equal(assets[0].bytes.begin(), assets[0].bytes.end(),
                             static_cast<const uint8_t*>(to.host) + i * size));
        const SluiceStreamCounters counters = streamer.counters();
        const SluiceStreamShare all = sharesOf(counters, [](SluiceStreamReason) { return true; });
        CHECK(all.bytes == 4 * size);
        // A thread or a batch that takes the same tile for several of the groups decodes it once.
        CHECK(counters.bytesDecoded >= size);
        CHECK(counters.bytesDecoded <= 4 * size);
        CHECK(counters.sourceUsed + counters.outputUsed + counters.groups == 0);
    }
    device().checkMessages();
}

TEST_SUITE_END();
