// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests streaming without a GPU: files, groups, priorities, cancellation and faults.
#include "tests/support/streams.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include "tests/support/system.h"

using namespace sluice::test;

namespace {

struct Sample {
    std::vector<PackedAsset> assets = {assetOfAllCodecs("a", 1, true),
                                       assetOfAllCodecs("b", 2, true)};
    Bytes file;

    Sample()
    {
        PackedAsset empty;
        empty.name = "c";
        assets.push_back(empty);
        file = packArchive(assets);
    }
};

const Sample& sample()
{
    static const Sample one;
    return one;
}

Bytes partOf(const Bytes& bytes, uint64_t offset, uint64_t size)
{
    return Bytes(bytes.begin() + ptrdiff_t(offset), bytes.begin() + ptrdiff_t(offset + size));
}

} // namespace

TEST_CASE("stream: whole assets, parts of them, files and memory, to the host")
{
    for (const uint32_t threads : {0u, 1u, 3u}) {
        CAPTURE(threads);
        MemoryFile file(sample().file);
        CpuStreamer streamer(threads);
        const SluiceStreamFile opened = streamer.open(file);
        uint32_t asset = 0;
        CHECK(sluiceStreamFindAsset(opened, "b", 1, &asset) == SLUICE_OK);
        CHECK(asset == 1);
        SluiceArchiveAsset about = {};
        CHECK(sluiceStreamGetAsset(opened, 1, &about) == SLUICE_OK);
        CHECK(about.size == sample().assets[1].bytes.size());
        uint32_t kernels = 0;
        CHECK(sluiceStreamGetKernels(opened, &kernels) == SLUICE_OK);
        CHECK(kernels ==
              (SLUICE_KERNELS_GDEFLATE_LINEAR | SLUICE_KERNELS_GSTD | SLUICE_KERNELS_FLOAT |
               SLUICE_KERNELS_ZSTD | SLUICE_KERNELS_FILTER | SLUICE_KERNELS_CHECKSUM));

        std::mt19937 random = makeRandom(11);
        std::vector<std::unique_ptr<GuardedBytes>> places;
        std::vector<Bytes> expected;
        std::vector<SluiceStreamRequest> requests;
        const auto want = [&](const Bytes& from, uint64_t offset, uint64_t size) {
            places.push_back(std::make_unique<GuardedBytes>(size, random() % 20));
            expected.push_back(partOf(from, offset, size));
            return places.back()->data();
        };
        for (uint32_t i = 0; i < 2; ++i) {
            const Bytes& bytes = sample().assets[i].bytes;
            uint8_t* to = want(bytes, 0, bytes.size());
            requests.push_back(fromArchive(opened, i, 0, bytes.size(), to));
            for (int k = 0; k < 12; ++k) {
                const uint64_t offset = random() % bytes.size();
                const uint64_t size = random() % (bytes.size() - offset + 1);
                to = want(bytes, offset, size);
                requests.push_back(fromArchive(opened, i, offset, size, to));
            }
        }
        requests.push_back(fromArchive(opened, 2, 0, 0, nullptr)); // asset 2 is empty
        expected.emplace_back();
        places.push_back(std::make_unique<GuardedBytes>(0));
        uint8_t* to = want(sample().file, 1000, 3000000);
        requests.push_back(fromFile(opened, 1000, 3000000, to));
        to = want(sample().assets[0].bytes, 0, 2500000);
        requests.push_back(fromMemory(sample().assets[0].bytes.data(), 2500000, to));

        const SluiceStreamEvent event = streamer.waitFor(streamer.submit(requests));
        CHECK(event.status == SLUICE_OK);
        CHECK(event.failedRequests == 0);
        CHECK(event.firstRequest == 0xffffffffu);
        for (size_t i = 0; i < places.size(); ++i) {
            CAPTURE(i);
            CHECK(places[i]->content() == expected[i]);
            places[i]->checkGuards();
        }
        const SluiceStreamCounters counters = streamer.counters();
        CHECK(counters.groups == 0);
        CHECK(counters.requests == 0);
        CHECK(counters.reading + counters.decoding + counters.ready + counters.recorded == 0);
        CHECK(counters.sourceUsed == 0);
        CHECK(sluiceStreamClose(streamer.get(), opened) == SLUICE_OK);
        CHECK(file.closes == 1);
    }
}

TEST_CASE("stream: assets that share tiles, whole and in parts, beside one of its own")
{
    std::mt19937 random = makeRandom(12);
    const PackedAsset own = assetOfAllCodecs("own", 3);
    std::vector<PackedAsset> parts;
    for (uint32_t i = 0; i < 40; ++i) {
        PackedAsset part;
        part.name = "part" + std::to_string(10 + i);
        part.bytes = smoothBytes(random, 1 + random() % 3000);
        parts.push_back(part);
    }
    const std::vector<PackedAsset> early(parts.begin(), parts.begin() + 25),
        late(parts.begin() + 25, parts.end());
    const Bytes packed = packArchive({own}, {PackedShare(late, SLUICE_CODEC_GDEFLATE, 4096, true),
                                             PackedShare(early, SLUICE_CODEC_GSTD, 16384)});
    for (const uint32_t threads : {0u, 2u}) {
        CAPTURE(threads);
        MemoryFile file(packed);
        CpuStreamer streamer(threads);
        const SluiceStreamFile opened = streamer.open(file);
        std::vector<std::unique_ptr<GuardedBytes>> places;
        std::vector<Bytes> expected;
        std::vector<SluiceStreamRequest> requests;
        for (uint32_t i = 0; i < 41; ++i) {
            const Bytes& bytes = i == 0 ? own.bytes : parts[i - 1].bytes;
            for (uint32_t k = 0; k < 2; ++k) {
                const uint64_t offset = k == 0 ? 0 : random() % bytes.size();
                const uint64_t size =
                    k == 0 ? bytes.size() : random() % (bytes.size() - offset + 1);
                places.push_back(std::make_unique<GuardedBytes>(size, random() % 20));
                expected.push_back(partOf(bytes, offset, size));
                requests.push_back(fromArchive(opened, i, offset, size, places.back()->data()));
            }
        }
        CHECK(streamer.waitFor(streamer.submit(requests)).status == SLUICE_OK);
        for (size_t i = 0; i < places.size(); ++i) {
            CAPTURE(i);
            CHECK(places[i]->content() == expected[i]);
            places[i]->checkGuards();
        }
        // The asset that shares no tiles may be decoded twice. For the other ones, one thread
        // decodes a tile once for all parts in it, except where a part reaches into the next tile.
        // If each request were decoded by itself, it would be 16 times their bytes.
        if (threads == 0) {
            uint64_t shared = 0;
            for (const PackedAsset& part : parts)
                shared += part.bytes.size();
            SluiceStreamCounters counters = {};
            REQUIRE(sluiceStreamGetCounters(streamer.get(), &counters) == SLUICE_OK);
            CHECK(counters.bytesDecoded <= 2 * own.bytes.size() + 4 * shared);
        }
        // A request may not go past the end of a part, even if the share continues.
        SluiceStreamRequest tooLong = requests[2];
        tooLong.size += 1;
        const SluiceStreamGroupInfo info = {&tooLong, 1, 0, 0, 0, 0, {}, {}};
        SluiceStreamGroup group = 0;
        CHECK(sluiceStreamSubmit(streamer.get(), &info, &group) == SLUICE_ERROR_ARGUMENT);
    }
}

TEST_CASE("stream: defaults take no more than the memory, and their sizes are what is required")
{
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    SluiceStreamerInfo info = {};
    uint32_t kernels = 1;
    for (const uint64_t mebibytes : {20u, 21u, 64u, 300u, 4096u}) {
        CAPTURE(mebibytes);
        REQUIRE(sluiceGetStreamerDefaults(context, mebibytes << 20, &info, &kernels) == SLUICE_OK);
        CHECK(info.context == context);
        CHECK(kernels == 0);
        CHECK(info.source.buffer.size >= SLUICE_STREAM_MIN_SOURCE);
        CHECK(info.output.buffer.size >= SLUICE_STREAM_MIN_OUTPUT);
        CHECK(info.source.buffer.size + info.output.buffer.size <= mebibytes << 20);
        CHECK(info.control.buffer.size + info.results.buffer.size + info.scratch.size == 0);
    }
    CHECK(sluiceGetStreamerDefaults(context, (20 << 20) - 1, &info, nullptr) ==
          SLUICE_ERROR_BUFFER_SIZE);
    CHECK(sluiceGetStreamerDefaults(nullptr, 64 << 20, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetStreamerDefaults(context, 64 << 20, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    sluiceDestroyContext(context);
}

TEST_CASE("stream: files that cannot be opened")
{
    CpuStreamer streamer(0);
    SluiceStreamFile opened = nullptr;
    const auto statusOf = [&](const Bytes& bytes) {
        MemoryFile file(bytes);
        const SluiceStatus status = streamer.tryOpen(file, true, opened).status;
        if (status != SLUICE_OK) {
            SluiceArchive archive;
            CHECK(sluiceStreamGetArchive(opened, &archive) == SLUICE_ERROR_IO);
            uint8_t byte = 0;
            const SluiceStreamRequest request = fromArchive(opened, 0, 0, 1, &byte);
            const SluiceStreamGroupInfo info = {&request, 1, 0, 0, 0, 0, {}, {}};
            SluiceStreamGroup group = 0;
            CHECK(sluiceStreamSubmit(streamer.get(), &info, &group) == SLUICE_ERROR_IO);
        }
        CHECK(sluiceStreamClose(streamer.get(), opened) == SLUICE_OK);
        CHECK(file.closes == 1);
        return status;
    };
    const Bytes& good = sample().file;
    CHECK(statusOf(good) == SLUICE_OK);
    CHECK(statusOf({}) != SLUICE_OK);
    CHECK(statusOf(partOf(good, 0, 63)) != SLUICE_OK);
    CHECK(statusOf(partOf(good, 0, good.size() - 1)) == SLUICE_ERROR_BUFFER_SIZE);
    Bytes bad = good;
    bad[1] ^= 1;
    CHECK(statusOf(bad) == SLUICE_ERROR_FORMAT);
    bad = good;
    bad.back() ^= 1; // a bit of a name
    CHECK(statusOf(bad) == SLUICE_ERROR_CHECKSUM);

    const SluiceStreamOpenInfo missing = {"/nonexistent/file", nullptr, 0, 5};
    REQUIRE(sluiceStreamOpen(streamer.get(), &missing, &opened) == SLUICE_OK);
    REQUIRE(sluiceStreamPump(streamer.get(), 1, nullptr) == SLUICE_OK);
    SluiceStreamEvent event;
    uint32_t count = 1;
    REQUIRE(sluiceStreamPoll(streamer.get(), &event, &count) == SLUICE_OK);
    REQUIRE(count == 1);
    CHECK(event.status == SLUICE_ERROR_IO);
    CHECK(event.osError == ENOENT);
    CHECK(event.user == 5);
}

TEST_CASE("stream: the most urgent group goes first, and priorities change")
{
    MemoryFile file(sample().file);
    CpuStreamer streamer(0);
    const SluiceStreamFile opened = streamer.open(file);
    const uint64_t size = sample().assets[0].bytes.size();
    std::vector<Bytes> places(4, Bytes(size));
    const auto submit = [&](uint32_t i, int32_t priority) {
        return streamer.submit({fromArchive(opened, 0, 0, size, places[i].data())}, priority);
    };
    const SluiceStreamGroup low = submit(0, -5), first = submit(1, 1), second = submit(2, 1);
    streamer.turn(2);
    const SluiceStreamGroup urgent = submit(3, 100);
    streamer.waitFor(urgent);
    CHECK(!streamer.hasEnded(low));
    CHECK(!streamer.hasEnded(first));
    CHECK(!streamer.hasEnded(second));
    CHECK(sluiceStreamSetPriority(streamer.get(), second, 7) == SLUICE_OK);
    streamer.waitFor(second);
    CHECK(!streamer.hasEnded(low));
    streamer.waitFor(first);
    CHECK(!streamer.hasEnded(low));
    streamer.waitFor(low);
    for (const Bytes& place : places)
        CHECK(place == sample().assets[0].bytes);
    // It is no error that the group has ended.
    CHECK(sluiceStreamSetPriority(streamer.get(), low, 1) == SLUICE_OK);
}

TEST_CASE("stream: cancelled groups end once, and nothing is written afterwards")
{
    MemoryFile file(sample().file);
    CpuStreamer streamer(0);
    const SluiceStreamFile opened = streamer.open(file);
    const uint64_t size = sample().assets[0].bytes.size();
    for (uint32_t jobs = 0; jobs < 12; ++jobs) {
        CAPTURE(jobs);
        GuardedBytes place(size);
        const SluiceStreamGroup group =
            streamer.submit({fromArchive(opened, 0, 0, size, place.data())});
        REQUIRE(sluiceStreamPump(streamer.get(), jobs, nullptr) == SLUICE_OK);
        CHECK(sluiceStreamCancel(streamer.get(), group) == SLUICE_OK);
        const SluiceStreamEvent event = streamer.waitFor(group);
        // With many jobs the group has ended before it is cancelled.
        CHECK(event.status ==
              (place.content() == sample().assets[0].bytes ? SLUICE_OK : SLUICE_ERROR_CANCELLED));
        if (jobs < 4) CHECK(event.status == SLUICE_ERROR_CANCELLED);
        const Bytes before = place.content();
        for (int i = 0; i < 20; ++i)
            streamer.turn(10);
        CHECK(place.content() == before);
        CHECK(streamer.counters().sourceUsed == 0);
        // It is no error that the group has ended.
        CHECK(sluiceStreamCancel(streamer.get(), group) == SLUICE_OK);
    }
    Bytes places[3] = {Bytes(size), Bytes(size), Bytes(size)};
    SluiceStreamGroup groups[3];
    for (uint32_t i = 0; i < 3; ++i)
        groups[i] = streamer.submit({fromArchive(opened, 0, 0, size, places[i].data())}, 0, i + 4);
    CHECK(sluiceStreamCancelTags(streamer.get(), 1, 0) == SLUICE_OK);
    for (uint32_t i = 0; i < 3; ++i)
        CHECK(streamer.waitFor(groups[i]).status ==
              (i % 2 == 0 ? SLUICE_ERROR_CANCELLED : SLUICE_OK));
    CHECK(places[1] == sample().assets[0].bytes);
}

TEST_CASE("stream: reads that fail, fail once, or come in parts")
{
    MemoryFile file(sample().file);
    CpuStreamer streamer(0);
    const SluiceStreamFile opened = streamer.open(file);
    const uint64_t size = sample().assets[0].bytes.size();
    Bytes place(size), other(size);

    file.mostAtOnce = 1000;
    CHECK(
        streamer.waitFor(streamer.submit({fromArchive(opened, 0, 0, size, place.data())})).status ==
        SLUICE_OK);
    CHECK(place == sample().assets[0].bytes);
    file.mostAtOnce = UINT64_MAX;

    // Errors of a disk that go away, and interrupted calls.
    uint32_t calls = 0;
    file.before = [&](uint64_t, uint64_t) -> int64_t {
        ++calls;
        return calls % 3 == 1 ? -EIO : calls % 3 == 2 ? -EINTR : 0;
    };
    std::fill(place.begin(), place.end(), uint8_t(0));
    CHECK(
        streamer.waitFor(streamer.submit({fromArchive(opened, 0, 0, size, place.data())})).status ==
        SLUICE_OK);
    CHECK(place == sample().assets[0].bytes);

    // An error that stays, in one asset. Others are not affected, nor are other requests of the
    // group.
    SluiceArchiveAsset about = {};
    REQUIRE(sluiceStreamGetAsset(opened, 1, &about) == SLUICE_OK);
    file.before = [&](uint64_t offset, uint64_t) -> int64_t {
        return offset >= about.offset && offset < about.offset + about.extentSize ? -EIO : 0;
    };
    const SluiceStreamGroup bad = streamer.submit({fromArchive(opened, 0, 0, size, place.data()),
                                                   fromArchive(opened, 1, 0, size, other.data()),
                                                   fromArchive(opened, 1, 0, 100, other.data())});
    const SluiceStreamGroup good = streamer.submit({fromArchive(opened, 0, 0, size, other.data())});
    const SluiceStreamEvent event = streamer.waitFor(bad);
    CHECK(event.status == SLUICE_ERROR_IO);
    CHECK(event.osError == EIO);
    CHECK(event.failedRequests == 2);
    CHECK(event.firstRequest == 1);
    CHECK(event.fileOffset >= about.offset);
    CHECK(streamer.waitFor(good).status == SLUICE_OK);
    CHECK(place == sample().assets[0].bytes);

    // The file has become shorter.
    file.before = nullptr;
    file.bytes.resize(size_t(about.offset) + 100000);
    const SluiceStreamEvent cut =
        streamer.waitFor(streamer.submit({fromArchive(opened, 1, 0, size, other.data())}));
    CHECK(cut.status == SLUICE_ERROR_IO);
    CHECK(cut.osError == 0);
}

TEST_CASE("stream: a damaged tile is named, and its bytes alone are missing")
{
    const ParsedArchive archive(sample().file);
    const std::vector<SluiceArchiveTile> records = archive.records(1);
    const uint64_t extent = archive.asset(1).offset;
    for (uint32_t bad = 0; bad < records.size(); bad += 3) {
        CAPTURE(bad);
        MemoryFile file(sample().file);
        CpuStreamer streamer(0);
        const SluiceStreamFile opened = streamer.open(file);
        for (uint32_t i = 0; i < 5; ++i)
            file.bytes[extent + records[bad].offset + i * records[bad].storedSize / 5] ^= 0x55;
        const Bytes& bytes = sample().assets[1].bytes;
        Bytes place(bytes.size()), first(bytes.size());
        const SluiceStreamEvent event = streamer.waitFor(
            streamer.submit({fromArchive(opened, 0, 0, first.size(), first.data()),
                             fromArchive(opened, 1, 0, place.size(), place.data())}));
        CHECK(event.status == SLUICE_ERROR_CHECKSUM);
        CHECK(event.failedRequests == 1);
        CHECK(event.firstRequest == 1);
        CHECK(event.firstTile == bad);
        CHECK(event.tileStatus != SLUICE_TILE_OK);
        CHECK(event.fileOffset == extent + records[bad].offset);
        CHECK(first == sample().assets[0].bytes);
    }
}

TEST_CASE("stream: what is refused takes nothing")
{
    MemoryFile file(sample().file);
    SluiceStreamerInfo limits = {};
    limits.maxGroups = 2;
    limits.maxRequests = 3;
    CpuStreamer streamer(0, limits);
    const SluiceStreamFile opened = streamer.open(file);
    const uint64_t size = sample().assets[0].bytes.size();
    Bytes place(size);
    const SluiceStreamRequest good = fromArchive(opened, 0, 0, size, place.data());
    const auto status = [&](const std::vector<SluiceStreamRequest>& requests) {
        const SluiceStreamGroupInfo info = {
            requests.data(), uint32_t(requests.size()), 0, 0, 0, 0, {}, {}};
        SluiceStreamGroup group = 0;
        const SluiceStatus result = sluiceStreamSubmit(streamer.get(), &info, &group);
        CHECK((group != 0) == (result == SLUICE_OK));
        return result;
    };
    const auto changed = [&](auto change) {
        SluiceStreamRequest request = good;
        change(request);
        return status({good, request});
    };
    CHECK(changed([](auto& r) { r.asset = 3; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed([](auto& r) { r.size += 1; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed([](auto& r) { r.offset = 1; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed([](auto& r) { r.offset = UINT64_MAX; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed([](auto& r) { r.file = nullptr; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed([](auto& r) { r.host = nullptr; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed([](auto& r) { r.source = SluiceStreamSource(3); }) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed([](auto& r) { r.target = SluiceStreamTarget(3); }) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed([](auto& r) { r.target = SLUICE_STREAM_TO_IMAGE; }) == SLUICE_ERROR_UNSUPPORTED);
    CHECK(changed([](auto& r) { r.target = SLUICE_STREAM_TO_BUFFER; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(status({}) == SLUICE_ERROR_ARGUMENT);
    CHECK(streamer.counters().groups == 0);
    CHECK(streamer.counters().requests == 0);

    // The streamer is full, first of requests, then of groups. Room comes back with the events.
    CHECK(status({good, good, good}) == SLUICE_OK);
    CHECK(status({good}) == SLUICE_ERROR_FULL);
    // More than the streamer ever has room for.
    CHECK(status({good, good, good, good}) == SLUICE_ERROR_ARGUMENT);
    while (streamer.endCount() < 1)
        streamer.turn(4);
    CHECK(status({good}) == SLUICE_OK);
    CHECK(status({good}) == SLUICE_OK);
    CHECK(status({good}) == SLUICE_ERROR_FULL);
    while (streamer.endCount() < 3)
        streamer.turn(4);
    CHECK(status({good}) == SLUICE_OK);
    while (streamer.endCount() < 4)
        streamer.turn(4);
    CHECK(place == sample().assets[0].bytes);

    // The file is closed, but a group still keeps it open.
    std::fill(place.begin(), place.end(), uint8_t(0));
    CHECK(status({good}) == SLUICE_OK);
    CHECK(sluiceStreamClose(streamer.get(), opened) == SLUICE_OK);
    CHECK(changed([](auto&) {}) == SLUICE_ERROR_ARGUMENT);
    while (streamer.endCount() < 5)
        streamer.turn(4);
    CHECK(place == sample().assets[0].bytes);
}

TEST_CASE("stream: groups of low priority leave room for urgent ones")
{
    MemoryFile file(sample().file);
    SluiceStreamerInfo limits = {};
    limits.maxGroups = 8;
    limits.maxRequests = 16;
    limits.reserveAbove = 5;
    CpuStreamer streamer(0, limits);
    const SluiceStreamFile opened = streamer.open(file);
    const uint64_t size = sample().assets[0].bytes.size();
    Bytes place(size);
    uint32_t taken = 0;
    const auto submit = [&](int32_t priority, size_t requestCount) {
        const std::vector<SluiceStreamRequest> requests(
            requestCount, fromArchive(opened, 0, 0, size, place.data()));
        const SluiceStreamGroupInfo info = {
            requests.data(), uint32_t(requestCount), priority, 0, 0, 0, {}, {}};
        SluiceStreamGroup group = 0;
        const SluiceStatus status = sluiceStreamSubmit(streamer.get(), &info, &group);
        if (status == SLUICE_OK) ++taken;
        return status;
    };
    const auto finish = [&] {
        while (streamer.endCount() < taken)
            streamer.turn(4);
    };
    for (uint32_t i = 0; i < 6; ++i)
        CHECK(submit(4, 1) == SLUICE_OK);
    CHECK(submit(4, 1) == SLUICE_ERROR_FULL);
    for (uint32_t i = 0; i < 2; ++i)
        CHECK(submit(5, 1) == SLUICE_OK);
    CHECK(submit(5, 1) == SLUICE_ERROR_FULL);
    finish();
    CHECK(submit(4, 4) == SLUICE_OK);
    CHECK(submit(4, 9) == SLUICE_ERROR_FULL);
    CHECK(submit(4, 8) == SLUICE_OK);
    CHECK(submit(5, 4) == SLUICE_OK);
    finish();
    CHECK(submit(4, 16) == SLUICE_OK); // allowed, since there is nothing else
    finish();
    CHECK(place == sample().assets[0].bytes);
}

TEST_CASE("stream: a real file, and a descriptor that says when to poll")
{
    const std::string path = "stream_test.sluice";
    {
        std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
        REQUIRE(file != nullptr);
        REQUIRE(std::fwrite(sample().file.data(), 1, sample().file.size(), file.get()) ==
                sample().file.size());
    }
    CpuStreamer streamer(2);
    SluiceStreamFile opened = nullptr;
    const SluiceStreamOpenInfo info = {path.c_str(), nullptr, 1, 0};
    REQUIRE(sluiceStreamOpen(streamer.get(), &info, &opened) == SLUICE_OK);
    SluiceStreamEvent event = {};
    // If the descriptor is readable, there is an event.
    const auto waitForOne = [&] {
        for (uint32_t count = 0; count == 0;) {
            REQUIRE(waitForEvents(streamer.get()));
            count = 1;
            REQUIRE(sluiceStreamPoll(streamer.get(), &event, &count) == SLUICE_OK);
            REQUIRE((count == 1 || !streamersHaveDescriptors()));
        }
    };
    waitForOne();
    REQUIRE(event.status == SLUICE_OK);
    std::remove(path.c_str()); // the file remains as long as it is open
    Bytes place(sample().assets[1].bytes.size());
    const SluiceStreamGroup group =
        streamer.submit({fromArchive(opened, 1, 0, place.size(), place.data())});
    waitForOne();
    CHECK(event.group == group);
    CHECK(event.status == SLUICE_OK);
    CHECK(place == sample().assets[1].bytes);
}
