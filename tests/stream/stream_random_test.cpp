// SPDX-License-Identifier: MIT OR Apache-2.0
// Does random operations on a streamer, without a GPU and while both sides decode, and compares it
// with a model of each group. A group must end exactly once, with a status that is possible after
// what was done to it, and with the right bytes if it ends OK. Nothing outside its destinations may
// change.
//
// SLUICE_STREAM_OPERATIONS: how many operations (default: 20,000 for each kind of streamer; a
// twentieth of that with a GPU).
#include "tests/stream/stream_gpu.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <thread>

using namespace sluice::test;

namespace {

// The assets are small, so that many groups end.
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

// A destination between guards.
class Destination {
public:
    virtual ~Destination() = default;
    virtual void aim(SluiceStreamRequest& request) = 0;
    virtual Bytes content() const = 0;
    virtual void checkGuards() const = 0;
};

class HostDestination : public Destination {
public:
    HostDestination(size_t size, size_t misalign) : m_bytes(size, misalign) {}
    void aim(SluiceStreamRequest& request) override { request.host = m_bytes.data(); }
    Bytes content() const override { return m_bytes.content(); }
    void checkGuards() const override { m_bytes.checkGuards(); }

private:
    GuardedBytes m_bytes;
};

// A streamer, and where it streams to.
class World {
public:
    virtual ~World() = default;
    virtual SluiceStreamer get() const = 0;
    virtual SluiceStreamFile open(MemoryFile& file) = 0;
    virtual std::unique_ptr<Destination> destination(std::mt19937& random, size_t size) = 0;
    // Does some of the work, and gives END events.
    virtual std::vector<SluiceStreamEvent> poll(std::mt19937& random) = 0;
};

class HostWorld : public World {
public:
    HostWorld(uint32_t threads, const SluiceStreamerInfo& limits) : m_streamer(threads, limits) {}
    SluiceStreamer get() const override { return m_streamer.get(); }
    SluiceStreamFile open(MemoryFile& file) override { return m_streamer.open(file); }
    std::unique_ptr<Destination> destination(std::mt19937& random, size_t size) override
    {
        return std::make_unique<HostDestination>(size, random() % 16);
    }
    std::vector<SluiceStreamEvent> poll(std::mt19937& random) override
    {
        std::vector<SluiceStreamEvent> events(random() % 6);
        uint32_t count = uint32_t(events.size());
        REQUIRE(sluiceStreamPoll(get(), events.data(), &count) == SLUICE_OK);
        events.resize(count);
        return events;
    }

private:
    CpuStreamer m_streamer;
};

// Places of one buffer that the GPU and threads write to. They have guards around them.
class GpuWorld : public World {
public:
    GpuWorld(Engine& engine, uint32_t threads, uint64_t mostSize)
        : m_engine(engine), m_slot(mostSize + 3 * kGuard),
          m_memory(engine.makeBuffer(m_slot * kSlots)),
          m_streamer(device(), engine, Decoder::both, {}, threads)
    {
        for (uint32_t i = 0; i < kSlots; ++i)
            m_free.push_back(i * m_slot);
    }
    SluiceStreamer get() const override { return m_streamer.get(); }
    SluiceStreamFile open(MemoryFile& file) override { return m_streamer.open(file); }
    std::unique_ptr<Destination> destination(std::mt19937& random, size_t size) override
    {
        if (random() % 4 == 0) return std::make_unique<HostDestination>(size, random() % 16);
        return std::make_unique<Place>(*this, size, random() % 3 == 0 ? random() % 16 : 0);
    }
    // A frame. Its budget, the jobs that are pumped, and whether its batch is thrown away differ.
    std::vector<SluiceStreamEvent> poll(std::mt19937& random) override
    {
        constexpr float kBudgets[] = {FLT_MAX, FLT_MAX, 1, 0.01f};
        m_streamer.budget.milliseconds = kBudgets[random() % 4];
        m_streamer.budget.bytes = random() % 4 == 0 ? 20000 : 0;
        m_streamer.jobs = random() % 4;
        m_streamer.frame(random() % 8 == 0);
        return m_streamer.takeEnded();
    }
    SluiceStreamCounters counters() const { return m_streamer.counters(); }

private:
    static constexpr size_t kGuard = 64;
    static constexpr uint32_t kSlots = 256; // as many as there are requests

    class Place : public Destination {
    public:
        Place(GpuWorld& world, size_t size, size_t misalign)
            : m_world(world), m_slot(world.m_free.back()), m_begin(kGuard + misalign), m_size(size)
        {
            m_world.m_free.pop_back();
        }
        ~Place() override
        {
            std::fill_n(bytes(), m_world.m_slot, Buffer::kPoison);
            m_world.m_free.push_back(m_slot);
        }
        void aim(SluiceStreamRequest& request) override
        {
            request.target = SLUICE_STREAM_TO_BUFFER;
            request.buffer = {m_world.m_memory.buffer.handle,
                              m_world.m_memory.buffer.offset + m_slot + m_begin, m_size};
        }
        Bytes content() const override
        {
            return Bytes(bytes() + m_begin, bytes() + m_begin + m_size);
        }
        void checkGuards() const override
        {
            m_world.m_engine.waitIdle();
            const auto isPoison = [](uint8_t byte) { return byte == Buffer::kPoison; };
            REQUIRE(std::all_of(bytes(), bytes() + m_begin, isPoison));
            REQUIRE(std::all_of(bytes() + m_begin + m_size, bytes() + m_world.m_slot, isPoison));
        }

    private:
        uint8_t* bytes() const { return static_cast<uint8_t*>(m_world.m_memory.host) + m_slot; }

        GpuWorld& m_world;
        size_t m_slot, m_begin, m_size;
    };

    Engine& m_engine;
    const size_t m_slot; // bytes
    SluiceStreamMemory m_memory;
    std::vector<size_t> m_free;
    GpuStreamer m_streamer;
};

// Holds what the model knows of a group.
struct Expected {
    struct Part {
        uint32_t asset; // kFile: the part is one of the file
        uint64_t offset, size;
        std::unique_ptr<Destination> place;
    };
    static constexpr uint32_t kFile = UINT32_MAX;
    std::vector<Part> parts;
    bool isCancelled = false;
    bool mayFail = false; // reads have failed while it was in progress
};

class RandomRun {
public:
    // world: made by the caller, and used by nobody else. isSlow: some reads take long, so that the
    // streamer's threads have no time for anything else.
    RandomRun(World& world, const Content& content, uint32_t threads, uint32_t seed,
              bool isSlow = false);
    ~RandomRun();
    RandomRun(const RandomRun&) = delete;
    RandomRun& operator=(const RandomRun&) = delete;
    void step();
    void finish();
    uint64_t ended() const { return m_ended; }

private:
    void submit();
    void poll();
    SluiceStreamGroup anyGroup();
    void checkEnd(const SluiceStreamEvent& event);

    const Content& m_content;
    std::mt19937 m_random;
    uint32_t m_threads;
    MemoryFile m_file{m_content.file};
    std::atomic<uint32_t> m_faults{0}; // this many reads from now on fail
    World& m_world;
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

RandomRun::RandomRun(World& world, const Content& content, uint32_t threads, uint32_t seed,
                     bool isSlow)
    : m_content(content), m_random(makeRandom(seed)), m_threads(threads), m_world(world)
{
    m_opened = m_world.open(m_file);
    m_file.before = [this, isSlow](uint64_t, uint64_t) -> int64_t {
        if (isSlow && m_file.reads % 4 == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        uint32_t left = m_faults.load();
        while (left != 0 && !m_faults.compare_exchange_weak(left, left - 1)) {
        }
        return left != 0 ? -EIO : 0;
    };
}

// The file is used by none of the streamer's threads when it goes.
RandomRun::~RandomRun()
{
    sluiceStreamClose(m_world.get(), m_opened);
    while (m_file.closes == 0)
        m_world.poll(m_random);
}

SluiceStreamGroup RandomRun::anyGroup()
{
    if (m_groups.empty()) return m_random(); // a group that never existed
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
        expected.parts.push_back(
            {isFile ? Expected::kFile : asset, offset, size, m_world.destination(m_random, size)});
        requests.push_back(isFile ? fromFile(m_opened, offset, size, nullptr)
                                  : fromArchive(m_opened, asset, offset, size, nullptr));
        expected.parts.back().place->aim(requests.back());
    }
    expected.mayFail = m_faults != 0;
    SluiceStreamGroupInfo info = {};
    info.requests = requests.data();
    info.requestCount = count;
    info.priority = int32_t(m_random() % 21) - 10;
    info.tag = m_random() % 8;
    SluiceStreamGroup group = 0;
    const SluiceStatus status = sluiceStreamSubmit(m_world.get(), &info, &group);
    if (status == SLUICE_ERROR_FULL) return;
    REQUIRE(status == SLUICE_OK);
    REQUIRE(m_groups.count(group) == 0);
    m_groups.emplace(group, std::move(expected));
}

void RandomRun::checkEnd(const SluiceStreamEvent& event)
{
    const auto found = m_groups.find(event.group);
    REQUIRE(found != m_groups.end()); // so it has not ended before
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
    for (const SluiceStreamEvent& event : m_world.poll(m_random))
        checkEnd(event);
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
        CHECK(sluiceStreamSetPriority(m_world.get(), anyGroup(), int32_t(m_random() % 21) - 10) ==
              SLUICE_OK);
        break;
    case 9: {
        const SluiceStreamGroup group = anyGroup();
        CHECK(sluiceStreamCancel(m_world.get(), group) == SLUICE_OK);
        const auto found = m_groups.find(group);
        if (found != m_groups.end()) found->second.isCancelled = true;
        break;
    }
    case 10:
        if (m_random() % 16 != 0) break;
        // Cancels all groups, as if a level of a game were left.
        CHECK(sluiceStreamCancelTags(m_world.get(), 0, 0) == SLUICE_OK);
        for (auto& [group, expected] : m_groups)
            expected.isCancelled = true;
        break;
    case 11:
        if (m_random() % 32 != 0) break;
        m_faults = uint32_t(m_random() % 6); // a read that fails twice in a row is not tried again
        for (auto& [group, expected] : m_groups)
            expected.mayFail = true;
        break;
    default:
        if (m_threads == 0)
            REQUIRE(sluiceStreamPump(m_world.get(), 1 + m_random() % 4, nullptr) == SLUICE_OK);
        else
            std::this_thread::yield();
    }
}

// Lets all groups end and checks that the streamer then holds nothing.
void RandomRun::finish()
{
    m_faults = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!m_groups.empty()) {
        if (m_threads == 0) REQUIRE(sluiceStreamPump(m_world.get(), 8, nullptr) == SLUICE_OK);
        poll();
        REQUIRE(std::chrono::steady_clock::now() < end);
    }
    SluiceStreamCounters counters = {};
    REQUIRE(sluiceStreamGetCounters(m_world.get(), &counters) == SLUICE_OK);
    CHECK(counters.groups == 0);
    CHECK(counters.requests == 0);
    CHECK(counters.sourceUsed + counters.outputUsed == 0);
    CHECK(counters.reading + counters.decoding + counters.ready + counters.recorded == 0);
}

} // namespace

TEST_CASE("stream: random operations against a model")
{
    const uint32_t operations = environmentNumber("SLUICE_STREAM_OPERATIONS", 20000);
    for (const uint32_t threads : {0u, 1u, 3u}) {
        CAPTURE(threads);
        const Content content;
        HostWorld world(threads, limits());
        RandomRun run(world, content, threads, 50 + threads);
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

TEST_SUITE_BEGIN("device");

TEST_CASE("stream to Vulkan: random operations while both sides decode")
{
    if (!isVulkan()) return;
    const uint32_t operations = environmentNumber("SLUICE_STREAM_OPERATIONS", 20000) / 20;
    const Content content;
    size_t most = content.file.size();
    for (const PackedAsset& asset : content.assets)
        most = std::max(most, asset.bytes.size());
    for (const uint32_t threads : {0u, 2u}) {
        CAPTURE(threads);
        Engine engine(device());
        GpuWorld world(engine, threads, (most + 63) / 64 * 64);
        RandomRun run(world, content, threads, 60 + threads, threads != 0);
        for (uint32_t i = 0; i < operations; ++i)
            run.step();
        run.finish();
        CHECK(run.ended() > operations / 40);
        const SluiceStreamCounters counters = world.counters();
        const SluiceStreamShare gpu = sharesOf(counters, isOfGpu);
        const SluiceStreamShare cpu = sharesOf(counters, [](SluiceStreamReason reason) {
            return !isOfGpu(reason) && reason != SLUICE_STREAM_CPU_HOST;
        });
        MESSAGE("units of the GPU: " << gpu.units << ", of the CPU: " << cpu.units);
        CHECK(cpu.units != 0);
        // Without threads, frames that pump little let the GPU take over.
        if (threads == 0) CHECK(gpu.units != 0);
        device().checkMessages();
    }
}

TEST_SUITE_END();
