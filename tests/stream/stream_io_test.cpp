// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the ways in which files are read, and what happens if one of them fails.
#include "tests/stream/stream_content.h"

#include "stream/system.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cfloat>
#include <cstdio>
#include <cstring>
#include <set>
#include <thread>

using namespace sluice::test;

namespace {

// Stands for an operating system where direct reads work on any file, have an alignment as strict
// as the strictest one, and fail when a test wants so.
class FakeSystem : public sluice::stream::System {
public:
    int open(const char* path, bool isDirect) const override
    {
        if (!isDirect) return System::open(path, false);
        ++directOpens;
        if (openError != 0) return -openError;
        const int descriptor = System::open(path, false);
        if (descriptor >= 0) m_direct = descriptor;
        return descriptor;
    }
    int64_t read(int descriptor, void* bytes, uint64_t size, uint64_t offset) const override
    {
        if (descriptor != m_direct) return System::read(descriptor, bytes, size, offset);
        if ((offset | size | reinterpret_cast<uintptr_t>(bytes)) % alignment != 0) ++violations;
        const uint32_t number = ++directReads;
        if (failsAt != 0 && (number == failsAt || (failsOn && number > failsAt))) return -error;
        directBytes += size;
        return System::read(descriptor, bytes, std::min(size, mostAtOnce), offset);
    }
    // False, so that this class sees every read.
    bool readsTogether() const override { return false; }
    uint32_t directAlignment(int) const override { return alignment; }

    uint32_t alignment = 4096;
    int openError = 0, error = 0;
    uint32_t failsAt = 0; // the direct read of this number fails; 0: none does
    bool failsOn = false; // all later ones fail, too
    uint64_t mostAtOnce = UINT64_MAX;
    mutable std::atomic<uint32_t> directOpens{0}, directReads{0}, violations{0};
    mutable std::atomic<uint64_t> directBytes{0};

private:
    mutable std::atomic<int> m_direct{-1};
};

// Stands for an operating system that reads several places at once. Some of these reads fail on
// purpose or end early.
class TogetherSystem : public sluice::stream::System {
public:
    explicit TogetherSystem(bool bindsFiles = true) : m_bindsFiles(bindsFiles) {}

    bool readsTogether() const override { return true; }
    bool usesCompletionPort() const override { return m_bindsFiles; }
    void readMany(sluice::stream::Read* reads, uint32_t count) const override
    {
        System::readMany(reads, count);
        for (sluice::stream::Read* one = reads; one != reads + count; ++one) {
            const uint32_t number = ++together;
            if (one->got != int64_t(one->size)) ++incomplete;
            if (spoils == 0 || number % spoils != 0) continue;
            std::memset(one->bytes, 0xee, size_t(one->size));
            one->got = number % 2 == 0 ? -EIO : int64_t(one->size / 2);
        }
    }

    uint32_t spoils = 0; // every so many reads one is spoiled; 0: none is
    mutable std::atomic<uint32_t> together{0}, incomplete{0};

private:
    bool m_bindsFiles;
};

// A file on disk that is deleted with this object.
class RealFile {
public:
    RealFile(const Bytes& bytes, const char* name) : m_path(name)
    {
        const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(name, "wb"), std::fclose);
        REQUIRE(file != nullptr);
        REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size());
    }
    ~RealFile() { std::remove(m_path.c_str()); }
    RealFile(const RealFile&) = delete;
    RealFile& operator=(const RealFile&) = delete;
    const char* path() const { return m_path.c_str(); }

private:
    std::string m_path;
};

struct Sample {
    PackedAsset asset = assetOfAllCodecs("a", 3);
    Bytes file = packArchive({asset});
};

const Sample& sample()
{
    static const Sample one;
    return one;
}

// A streamer of the CPU that reads through `system` and is pumped by the test. Its ring is aligned
// to 64 bytes only, as mapped memory may be.
class IoRun {
public:
    IoRun(const sluice::stream::System& system, SluiceStreamIo io, uint32_t threads = 0)
        : m_threads(threads), m_memory(SLUICE_STREAM_MIN_SOURCE + 4096 + 64)
    {
        REQUIRE(sluiceCreateCpuContext(&m_context) == SLUICE_OK);
        uint8_t* start = m_memory.data();
        start += (4096 - reinterpret_cast<uintptr_t>(start) % 4096) % 4096 + 64;
        SluiceStreamerInfo info = {};
        info.context = m_context;
        info.source = {{uint64_t(reinterpret_cast<uintptr_t>(start)), 0, SLUICE_STREAM_MIN_SOURCE},
                       start};
        info.maxGroups = 64;
        info.maxRequests = 256;
        info.maxBatches = 1;
        info.io = io;
        info.threads = threads;
        REQUIRE(sluice::stream::createStreamer(&info, system, &m_streamer) == SLUICE_OK);
    }
    ~IoRun()
    {
        sluiceDestroyStreamer(m_streamer);
        sluiceDestroyContext(m_context);
    }
    IoRun(const IoRun&) = delete;
    IoRun& operator=(const IoRun&) = delete;

    SluiceStreamFile open(const char* path)
    {
        const SluiceStreamOpenInfo info = {path, nullptr, 1, 0};
        SluiceStreamFile opened = nullptr;
        REQUIRE(sluiceStreamOpen(m_streamer, &info, &opened) == SLUICE_OK);
        CHECK(turn().status == SLUICE_OK);
        return opened;
    }
    SluiceStreamEvent stream(const std::vector<SluiceStreamRequest>& requests)
    {
        submitGroup(m_streamer, requests);
        return turn();
    }
    SluiceStreamIoReport report(SluiceStreamFile file) const
    {
        SluiceStreamIoReport report = {};
        REQUIRE(sluiceStreamGetIoReport(file, &report) == SLUICE_OK);
        return report;
    }

    // Streams parts of the asset and of the file and checks their bytes. isWhole: streams all of
    // the asset, too.
    void checkAll(SluiceStreamFile file, bool isWhole = true)
    {
        std::mt19937 random = makeRandom(21);
        const Bytes &bytes = sample().asset.bytes, &whole = sample().file;
        std::vector<std::unique_ptr<GuardedBytes>> places;
        std::vector<Bytes> expected;
        std::vector<SluiceStreamRequest> requests;
        const auto want = [&](bool isFile, uint64_t offset, uint64_t size, size_t misalign) {
            const Bytes& from = isFile ? whole : bytes;
            places.push_back(std::make_unique<GuardedBytes>(size, misalign));
            expected.emplace_back(from.begin() + ptrdiff_t(offset),
                                  from.begin() + ptrdiff_t(offset + size));
            uint8_t* to = places.back()->data();
            requests.push_back(isFile ? fromFile(file, offset, size, to)
                                      : fromArchive(file, 0, offset, size, to));
        };
        if (isWhole) want(false, 0, bytes.size(), 0);
        want(false, 100001, 300000, 0);
        want(false, 1000003, 1500000, 0);
        want(true, 0, whole.size(), 5); // at an address that direct reads cannot use
        for (int i = 0; i < 5 && isWhole; ++i) {
            const uint64_t offset = random() % bytes.size();
            want(false, offset, random() % (bytes.size() - offset + 1), random() % 16);
        }
        // The second of two places has the same position in a page of memory as its bytes have in
        // the file.
        for (int i = 0; i < 4; ++i) {
            const uint64_t offset = random() % 100000, size = 1000000 + random() % 100000;
            want(true, offset, size, 0);
            const uintptr_t at = reinterpret_cast<uintptr_t>(places.back()->data());
            want(true, offset, size, size_t((offset - at) % 4096));
        }
        CHECK(stream(requests).status == SLUICE_OK);
        for (size_t i = 0; i < places.size(); ++i) {
            CAPTURE(i);
            CHECK(places[i]->content() == expected[i]);
            places[i]->checkGuards();
        }
    }

private:
    SluiceStreamEvent turn()
    {
        SluiceStreamEvent event = {};
        uint32_t count = 0;
        for (int i = 0; (i < 10000 || m_threads != 0) && count == 0; ++i) {
            if (m_threads != 0)
                std::this_thread::yield();
            else
                REQUIRE(sluiceStreamPump(m_streamer, 16, nullptr) == SLUICE_OK);
            count = 1;
            REQUIRE(sluiceStreamPoll(m_streamer, &event, &count) == SLUICE_OK);
        }
        REQUIRE(count == 1);
        return event;
    }

    uint32_t m_threads;
    Bytes m_memory;
    SluiceContext m_context = nullptr;
    SluiceStreamer m_streamer = nullptr;
};

} // namespace

TEST_CASE("stream io: direct reads lie as devices want them, and give the same bytes")
{
    const RealFile file(sample().file, "stream_io_direct.sluice");
    for (const uint32_t alignment : {512u, 4096u, 65536u}) {
        CAPTURE(alignment);
        FakeSystem system;
        system.alignment = alignment;
        IoRun run(system, SLUICE_STREAM_IO_DIRECT);
        const SluiceStreamFile opened = run.open(file.path());
        run.checkAll(opened);
        CHECK(system.violations == 0);
        CHECK(system.directReads != 0);
        // Most of the file was read directly.
        CHECK(system.directBytes >= sample().file.size() - sample().file.size() / 8);
        const SluiceStreamIoReport report = run.report(opened);
        CHECK(report.io == SLUICE_STREAM_IO_DIRECT);
        CHECK(report.alignment == alignment);
        CHECK(report.osError == 0);
    }
}

TEST_CASE("stream io: direct reads that fail, are short or interrupted give way to the page cache")
{
    const RealFile file(sample().file, "stream_io_faults.sluice");
    for (const int error : {EINVAL, EFAULT, EPERM, ENOSYS, EOPNOTSUPP}) {
        for (const uint32_t failsAt : {1u, 3u}) {
            CAPTURE(error);
            CAPTURE(failsAt);
            FakeSystem system;
            system.error = error;
            system.failsAt = failsAt;
            system.failsOn = true;
            IoRun run(system, SLUICE_STREAM_IO_DIRECT);
            const SluiceStreamFile opened = run.open(file.path());
            run.checkAll(opened, false);
            CHECK(system.directReads == failsAt); // none was tried after the one that failed
            const SluiceStreamIoReport report = run.report(opened);
            CHECK(report.io == SLUICE_STREAM_IO_PREAD);
            CHECK(report.osError == error);
            CHECK(report.reason[0] != 0);
        }
    }
    for (const int error : {EIO, EINTR}) { // these errors occur once, so direct reads go on
        FakeSystem system;
        system.error = error;
        system.failsAt = 2;
        IoRun run(system, SLUICE_STREAM_IO_DIRECT);
        const SluiceStreamFile opened = run.open(file.path());
        run.checkAll(opened, false);
        CHECK(system.directReads > 2);
        CHECK(run.report(opened).io == SLUICE_STREAM_IO_DIRECT);
    }
    for (const uint64_t mostAtOnce : {100u, 5000u, 8192u}) {
        CAPTURE(mostAtOnce);
        FakeSystem system;
        system.mostAtOnce = mostAtOnce;
        IoRun run(system, SLUICE_STREAM_IO_DIRECT);
        run.checkAll(run.open(file.path()), false);
        CHECK(system.violations == 0);
        CHECK(system.directReads != 0);
    }
    FakeSystem system;
    system.openError = EINVAL;
    IoRun run(system, SLUICE_STREAM_IO_DIRECT);
    const SluiceStreamFile opened = run.open(file.path());
    run.checkAll(opened, false);
    CHECK(run.report(opened).io == SLUICE_STREAM_IO_PREAD);
    CHECK(run.report(opened).osError == EINVAL);
}

TEST_CASE("stream io: the system's own reads, and who asks for none")
{
    const RealFile file(sample().file, "stream_io_real.sluice");
    for (const SluiceStreamIo io :
         {SLUICE_STREAM_IO_AUTO, SLUICE_STREAM_IO_PREAD, SLUICE_STREAM_IO_DIRECT}) {
        CAPTURE(int(io));
        IoRun run(sluice::stream::operatingSystem(), io);
        const SluiceStreamFile opened = run.open(file.path());
        run.checkAll(opened, io == SLUICE_STREAM_IO_DIRECT);
        const SluiceStreamIoReport report = run.report(opened);
        if (io != SLUICE_STREAM_IO_DIRECT) CHECK(report.io == SLUICE_STREAM_IO_PREAD);
        // Not every file system has direct reads.
        if (report.io == SLUICE_STREAM_IO_DIRECT)
            CHECK(report.alignment != 0);
        else
            CHECK(report.reason[0] != 0);
    }
    FakeSystem system;
    IoRun run(system, SLUICE_STREAM_IO_AUTO);
    run.checkAll(run.open(file.path()), false);
    CHECK(system.directOpens == 0);

    CpuStreamer streamer(0);
    MemoryFile memory(sample().file);
    SluiceStreamIoReport report = {};
    REQUIRE(sluiceStreamGetIoReport(streamer.open(memory), &report) == SLUICE_OK);
    CHECK(report.io == SLUICE_STREAM_IO_AUTO);
    SluiceStreamer none = nullptr;
    SluiceStreamerInfo info = {};
    info.io = SluiceStreamIo(9);
    CHECK(sluiceCreateStreamer(&info, &none) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("stream io: threads that read many small places together")
{
    const RealFile file(sample().file, "stream_io_together.sluice");
    const Bytes& whole = sample().file;
    for (const uint32_t spoils : {0u, 3u}) {
        for (const bool bindsFiles : {true, false}) {
            for (const SluiceStreamIo io : {SLUICE_STREAM_IO_PREAD, SLUICE_STREAM_IO_DIRECT}) {
                CAPTURE(spoils);
                CAPTURE(bindsFiles);
                CAPTURE(int(io));
                TogetherSystem system(bindsFiles);
                system.spoils = spoils;
                IoRun run(system, io, 3);
                const SluiceStreamFile opened = run.open(file.path());
                run.checkAll(opened, false);
                std::mt19937 random = makeRandom(22);
                for (int turn = 0; turn < 20; ++turn) {
                    std::vector<std::unique_ptr<GuardedBytes>> places;
                    std::vector<uint64_t> offsets;
                    std::vector<SluiceStreamRequest> requests;
                    for (int i = 0; i < 100; ++i) {
                        const uint64_t size = 1 + random() % 1000;
                        offsets.push_back(random() % (whole.size() - size));
                        places.push_back(std::make_unique<GuardedBytes>(size, random() % 16));
                        requests.push_back(
                            fromFile(opened, offsets.back(), size, places.back()->data()));
                    }
                    CHECK(run.stream(requests).status == SLUICE_OK);
                    bool isRight = true;
                    for (size_t i = 0; i < places.size(); ++i) {
                        const Bytes got = places[i]->content();
                        isRight = isRight && std::equal(got.begin(), got.end(),
                                                        whole.begin() + ptrdiff_t(offsets[i]));
                        places[i]->checkGuards();
                    }
                    CHECK(isRight);
                }
                CHECK(system.together != 0);
                if (io == SLUICE_STREAM_IO_PREAD) CHECK(system.incomplete == 0);
            }
        }
    }
}

TEST_CASE("stream io: memory for rings")
{
    void* memory = nullptr;
    REQUIRE(sluiceStreamAllocateHost(SLUICE_STREAM_MIN_SOURCE + 1, &memory) == SLUICE_OK);
    constexpr uint64_t kStep = 2 << 20, kSize = SLUICE_STREAM_MIN_SOURCE + kStep;
    CHECK(reinterpret_cast<uintptr_t>(memory) % kStep == 0);
    uint8_t* bytes = static_cast<uint8_t*>(memory);
    CHECK(std::all_of(bytes, bytes + kSize, [](uint8_t byte) { return byte == 0; }));
    std::fill(bytes, bytes + kSize, uint8_t(1));
    sluiceStreamFreeHost(memory, SLUICE_STREAM_MIN_SOURCE + 1);
    sluiceStreamFreeHost(nullptr, 1);
    CHECK(sluiceStreamAllocateHost(0, &memory) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceStreamAllocateHost(1, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceStreamAllocateHost(UINT64_MAX, &memory) == SLUICE_ERROR_ARGUMENT);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("stream io: direct reads on their way to buffers and images")
{
    if (!isVulkan()) return;
    const RealFile file(vulkanContent().file, "stream_io_vulkan.sluice");
    FakeSystem system;
    Engine engine(device());
    SluiceContext cpu = nullptr;
    REQUIRE(sluiceCreateCpuContext(&cpu) == SLUICE_OK);
    SluiceStreamerInfo info = {};
    info.context = cpu;
    info.gpu = engine.gpu();
    info.source = engine.makeBuffer(SLUICE_STREAM_MIN_SOURCE);
    info.output = engine.makeBuffer(SLUICE_STREAM_MIN_OUTPUT);
    info.maxGroups = 4;
    info.maxRequests = 64;
    info.maxBatches = 2;
    info.io = SLUICE_STREAM_IO_DIRECT;
    SluiceStreamer streamer = nullptr;
    REQUIRE(sluice::stream::createStreamer(&info, system, &streamer) == SLUICE_OK);
    const SluiceStreamOpenInfo openInfo = {file.path(), nullptr, 1, 0};
    SluiceStreamFile opened = nullptr;
    REQUIRE(sluiceStreamOpen(streamer, &openInfo, &opened) == SLUICE_OK);
    REQUIRE(sluiceStreamPump(streamer, 1, nullptr) == SLUICE_OK);

    const SluiceStreamMemory to = engine.makeBuffer(1 << 20);
    const Bytes &small = vulkanContent().small.bytes, &whole = vulkanContent().file;
    std::vector<SluiceStreamRequest> requests = {
        bufferRequest(opened, 0, small.size(), to, 0),
        bufferRequest(opened, 777, 30001, to, 300000)}; // bytes of the file
    requests[0].asset = VulkanContent::kSmall;
    requests[1].source = SLUICE_STREAM_FROM_FILE;
    const VkImage image = engine.makeImage(createInfoOf(kImages[0]));
    for (uint32_t level = 0; level < kImages[0].levels; ++level)
        requests.push_back(
            imageRequest(opened, 0, kImages[0], vulkanContent().images[0], level, image));
    SluiceStreamGroupInfo group = {};
    group.requests = requests.data();
    group.requestCount = uint32_t(requests.size());
    SluiceStreamGroup handle = 0;
    REQUIRE(sluiceStreamSubmit(streamer, &group, &handle) == SLUICE_OK);
    SluiceStreamEvent event = {};
    for (int i = 0; i < 100 && event.group != handle; ++i) {
        REQUIRE(sluiceStreamPump(streamer, 100, nullptr) == SLUICE_OK);
        const SluiceStreamBudget budget = {FLT_MAX, 0, 0, 0, 0, 0, 0};
        SluiceStreamBatch batch = {};
        REQUIRE(sluiceStreamRecord(streamer, sluiceVulkanCommands(engine.begin()), &budget,
                                   &batch) == SLUICE_OK);
        engine.submit(VK_NULL_HANDLE, 0);
        engine.waitIdle();
        if (batch.number != 0) REQUIRE(sluiceStreamComplete(streamer, batch.number) == SLUICE_OK);
        uint32_t count = 1;
        REQUIRE(sluiceStreamPoll(streamer, &event, &count) == SLUICE_OK);
    }
    CHECK(event.group == handle);
    CHECK(event.status == SLUICE_OK);
    const uint8_t* got = static_cast<const uint8_t*>(to.host);
    CHECK(std::equal(small.begin(), small.end(), got));
    CHECK(std::equal(whole.begin() + 777, whole.begin() + 777 + 30001, got + 300000));
    for (uint32_t level = 0; level < kImages[0].levels; ++level) {
        const SluiceStreamRequest& request = requests[2 + level];
        const Bytes& bytes = vulkanContent().images[0].packed.bytes;
        const Bytes read = engine.readImage(image, request.image, size_t(request.size));
        CHECK(std::equal(read.begin(), read.end(), bytes.begin() + ptrdiff_t(request.offset)));
    }
    CHECK(system.violations == 0);
    CHECK(system.directReads != 0);
    sluiceDestroyStreamer(streamer);
    sluiceDestroyContext(cpu);
    device().checkMessages();
}

TEST_SUITE_END();
