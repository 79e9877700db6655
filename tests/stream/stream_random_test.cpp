// SPDX-License-Identifier: MIT OR Apache-2.0
// Random operations on a streamer without a GPU, against what a model says of each group: it ends
// exactly once, with a status that what was done to it allows, with the right bytes if it ends OK,
// and nothing outside its destinations ever changes.
//
// SLUICE_STREAM_OPERATIONS: how many (default 20,000 a kind of streamer).
#include "tests/support/streams.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <thread>

using namespace sluice::test;

namespace {

// Small assets, so that many groups end.
struct Content {
    std::vector<PackedAsset> assets;
    Bytes file;

    Content()
    {
        std::mt19937 random = makeRandom(31);
        for (char name = 'a'; name <= 'f'; ++name) {
            PackedAsset asset;
            asset.name = name;
            Bytes few = randomBytes(random, 4000 + 4 * (random() % 3000));
            for (uint8_t& byte : few)
                byte &= 7;
            asset.add(few, SLUICE_CODEC_GDEFLATE, 1024 << random() % 4);
            asset.add(randomBytes(random, 1024), SLUICE_CODEC_STORE, 512);
            asset.add(few, SLUICE_CODEC_GSTD, 8192);
            assets.push_back(asset);
        }
        file = packArchive(assets);
    }
};

// Holds what the model knows of a group.
struct Expected {
    struct Part {
        uint32_t asset; // kFile: of the file
        uint64_t offset, size;
        std::unique_ptr<GuardedBytes> place;
    };
    static constexpr uint32_t kFile = UINT32_MAX;
    std::vector<Part> parts;
    bool isCancelled = false;
    bool mayFail = false; // reads have failed while it was under way
};

class RandomRun {
public:
    RandomRun(uint32_t threads, uint32_t seed);
    void step();
    void finish();
    uint64_t ended() const { return m_ended; }

private:
    void submit();
    void poll();
    SluiceStreamGroup anyGroup();
    void checkEnd(const SluiceStreamEvent& event);

    const Content m_content;
    std::mt19937 m_random;
    uint32_t m_threads;
    MemoryFile m_file{m_content.file};
    std::atomic<uint32_t> m_faults{0}; // reads that fail from now on
    CpuStreamer m_streamer;
    SluiceStreamFile m_opened = nullptr;
    std::map<SluiceStreamGroup, Expected> m_groups;
    uint64_t m_ended = 0;
};

SluiceStreamerInfo limits()
{
    SluiceStreamerInfo info = {};
    info.maxGroups = 24;
    info.maxRequests = 60;
    info.maxUnits = 32;
    info.reserveAbove = 5;
    return info;
}

RandomRun::RandomRun(uint32_t threads, uint32_t seed)
    : m_random(makeRandom(seed)), m_threads(threads), m_streamer(threads, limits())
{
    m_opened = m_streamer.open(m_file);
    m_file.before = [this](uint64_t, uint64_t) -> int64_t {
        uint32_t left = m_faults.load();
        while (left != 0 && !m_faults.compare_exchange_weak(left, left - 1)) {
        }
        return left != 0 ? -EIO : 0;
    };
}

SluiceStreamGroup RandomRun::anyGroup()
{
    if (m_groups.empty()) return m_random(); // one that there never was
    auto at = m_groups.begin();
    std::advance(at, m_random() % m_groups.size());
    return at->first;
}

void RandomRun::submit()
{
    Expected expected;
    std::vector<SluiceStreamRequest> requests;
    const uint32_t count = 1 + m_random() % 4;
    for (uint32_t i = 0; i < count; ++i) {
        const bool isFile = m_random() % 5 == 0;
        const uint32_t asset = uint32_t(m_random() % m_content.assets.size());
        const uint64_t total =
            isFile ? m_content.file.size() : m_content.assets[asset].bytes.size();
        const uint64_t offset = m_random() % 3 == 0 ? 0 : m_random() % total;
        const uint64_t size = m_random() % 4 == 0 ? total - offset : m_random() % (total - offset);
        expected.parts.push_back({isFile ? Expected::kFile : asset, offset, size,
                                  std::make_unique<GuardedBytes>(size, m_random() % 16)});
        uint8_t* to = expected.parts.back().place->data();
        requests.push_back(isFile ? fromFile(m_opened, offset, size, to)
                                  : fromArchive(m_opened, asset, offset, size, to));
    }
    expected.mayFail = m_faults != 0;
    SluiceStreamGroupInfo info = {};
    info.requests = requests.data();
    info.requestCount = count;
    info.priority = int32_t(m_random() % 21) - 10;
    info.tag = m_random() % 8;
    SluiceStreamGroup group = 0;
    const SluiceStatus status = sluiceStreamSubmit(m_streamer.get(), &info, &group);
    if (status == SLUICE_ERROR_NOT_READY) return;
    REQUIRE(status == SLUICE_OK);
    REQUIRE(m_groups.count(group) == 0);
    m_groups.emplace(group, std::move(expected));
}

void RandomRun::checkEnd(const SluiceStreamEvent& event)
{
    const auto found = m_groups.find(event.group);
    REQUIRE(found != m_groups.end()); // it has not ended before
    const Expected& expected = found->second;
    if (event.status == SLUICE_ERROR_CANCELLED) {
        CHECK(expected.isCancelled);
    } else if (event.status != SLUICE_OK) {
        CHECK(event.status == SLUICE_ERROR_IO);
        CHECK(expected.mayFail);
        CHECK(event.osError == EIO);
        CHECK(event.failedRequests != 0);
        CHECK(event.failedRequests <= expected.parts.size());
    }
    for (const Expected::Part& part : expected.parts) {
        part.place->checkGuards();
        if (event.status != SLUICE_OK) continue;
        const Bytes& from =
            part.asset == Expected::kFile ? m_content.file : m_content.assets[part.asset].bytes;
        const Bytes got = part.place->content();
        REQUIRE(std::equal(got.begin(), got.end(), from.begin() + ptrdiff_t(part.offset)));
    }
    m_groups.erase(found);
    ++m_ended;
}

void RandomRun::poll()
{
    SluiceStreamEvent events[5];
    uint32_t count = uint32_t(m_random() % 6);
    REQUIRE(sluiceStreamPoll(m_streamer.get(), events, &count) == SLUICE_OK);
    for (uint32_t i = 0; i < count; ++i)
        checkEnd(events[i]);
}

void RandomRun::step()
{
    switch (m_random() % 16) {
    case 0:
    case 1:
    case 2:
    case 3: submit(); break;
    case 4:
    case 5:
    case 6:
    case 7: poll(); break;
    case 8:
        CHECK(sluiceStreamSetPriority(m_streamer.get(), anyGroup(),
                                      int32_t(m_random() % 21) - 10) == SLUICE_OK);
        break;
    case 9: {
        const SluiceStreamGroup group = anyGroup();
        CHECK(sluiceStreamCancel(m_streamer.get(), group) == SLUICE_OK);
        const auto found = m_groups.find(group);
        if (found != m_groups.end()) found->second.isCancelled = true;
        break;
    }
    case 10:
        if (m_random() % 16 != 0) break;
        // Nine of ten, say: a level is left.
        CHECK(sluiceStreamCancelTags(m_streamer.get(), 0, 0) == SLUICE_OK);
        for (auto& [group, expected] : m_groups)
            expected.isCancelled = true;
        break;
    case 11:
        if (m_random() % 32 != 0) break;
        m_faults = uint32_t(m_random() % 6); // two in a row make a read fail
        for (auto& [group, expected] : m_groups)
            expected.mayFail = true;
        break;
    default:
        if (m_threads == 0)
            REQUIRE(sluiceStreamPump(m_streamer.get(), 1 + m_random() % 4, nullptr) == SLUICE_OK);
        else
            std::this_thread::yield();
    }
}

// All that is left ends, and nothing is kept.
void RandomRun::finish()
{
    m_faults = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!m_groups.empty()) {
        if (m_threads == 0) REQUIRE(sluiceStreamPump(m_streamer.get(), 8, nullptr) == SLUICE_OK);
        poll();
        REQUIRE(std::chrono::steady_clock::now() < end);
    }
    const SluiceStreamCounters counters = m_streamer.counters();
    CHECK(counters.groups == 0);
    CHECK(counters.requests == 0);
    CHECK(counters.sourceUsed == 0);
    CHECK(counters.reading + counters.decoding + counters.ready + counters.recorded == 0);
}

} // namespace

TEST_CASE("stream: random operations against a model")
{
    const uint32_t operations = environmentNumber("SLUICE_STREAM_OPERATIONS", 20000);
    for (const uint32_t threads : {0u, 1u, 3u}) {
        CAPTURE(threads);
        RandomRun run(threads, 50 + threads);
        for (uint32_t i = 0; i < operations; ++i)
            run.step();
        run.finish();
        CHECK(run.ended() > operations / 40);
    }
}

TEST_CASE("stream: several threads submit, cancel and change priorities while others read")
{
    const Content content;
    MemoryFile file(content.file);
    SluiceStreamerInfo info = {};
    info.maxGroups = 64;
    CpuStreamer streamer(2, info);
    const SluiceStreamFile opened = streamer.open(file);
    constexpr uint32_t kThreads = 3, kGroups = 300;
    std::atomic<uint32_t> submitted{0};
    std::vector<std::vector<Bytes>> places(kThreads);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
        places[t].resize(kGroups);
        threads.emplace_back([&, t] {
            std::mt19937 random(t);
            for (uint32_t i = 0; i < kGroups;) {
                const uint32_t asset = uint32_t(random() % content.assets.size());
                places[t][i].resize(content.assets[asset].bytes.size());
                const SluiceStreamRequest request =
                    fromArchive(opened, asset, 0, places[t][i].size(), places[t][i].data());
                const SluiceStreamGroupInfo group = {&request, 1, int32_t(random() % 5), 0, t, i,
                                                     {},       {}};
                SluiceStreamGroup handle = 0;
                if (sluiceStreamSubmit(streamer.get(), &group, &handle) != SLUICE_OK) {
                    std::this_thread::yield();
                    continue;
                }
                ++submitted;
                ++i;
                if (random() % 3 == 0) sluiceStreamCancel(streamer.get(), handle);
                if (random() % 3 == 0) sluiceStreamSetPriority(streamer.get(), handle, 9);
            }
        });
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (streamer.endCount() < kThreads * kGroups) {
        streamer.turn();
        REQUIRE(std::chrono::steady_clock::now() < end);
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(submitted == kThreads * kGroups);
    CHECK(streamer.counters().sourceUsed == 0);
}
