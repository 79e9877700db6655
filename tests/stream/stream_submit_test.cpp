// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests submit mode: a submitter's threads record, submit and wait; the engine only polls.
#include "tests/support/short_runs.h"
#include "tests/stream/stream_gpu.h"

#include <algorithm>
#include <atomic>
#include <cfloat>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <thread>

#include "tests/support/system.h"

using namespace sluice::test;

namespace {

using Clock = std::chrono::steady_clock;

// Stands between the submitter and Vulkan. It can let submits and waits fail, and it watches them.
struct Driver {
    std::mutex* queueLock = nullptr;
    std::mutex mutex; // guards the next two members
    std::deque<VkResult> submitResults;
    std::vector<Clock::time_point> submits;
    std::atomic<VkResult> waitResult{VK_SUCCESS};
    std::atomic<int> submitDelay{0}; // milliseconds
    std::atomic<std::thread::id> lockOwner{};
    std::atomic<uint32_t> locks{0}, unlockedSubmits{0};
    std::atomic<uint64_t> submittedValue{0};
    PFN_vkGetInstanceProcAddr getInstanceProcAddr = nullptr;
    PFN_vkGetDeviceProcAddr getDeviceProcAddr = nullptr;
    PFN_vkQueueSubmit queueSubmit = nullptr;
    PFN_vkWaitSemaphores waitSemaphores = nullptr;
};
Driver* driver = nullptr; // that of the running test case

VkResult VKAPI_CALL submitToQueue(VkQueue queue, uint32_t count, const VkSubmitInfo* infos,
                                  VkFence fence)
{
    if (driver->lockOwner.load() != std::this_thread::get_id()) ++driver->unlockedSubmits;
    {
        const std::lock_guard<std::mutex> lock(driver->mutex);
        if (!driver->submitResults.empty()) {
            const VkResult result = driver->submitResults.front();
            driver->submitResults.pop_front();
            return result;
        }
        driver->submits.push_back(Clock::now());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(driver->submitDelay));
    const auto* values = static_cast<const VkTimelineSemaphoreSubmitInfo*>(infos[0].pNext);
    // This is set before the call: the value may be signalled, and its event polled, before the
    // call returns.
    driver->submittedValue = values->pSignalSemaphoreValues[0];
    return driver->queueSubmit(queue, count, infos, fence);
}

VkResult VKAPI_CALL waitForSemaphores(VkDevice device, const VkSemaphoreWaitInfo* info,
                                      uint64_t timeout)
{
    const VkResult result = driver->waitSemaphores(device, info, timeout);
    return driver->waitResult != VK_SUCCESS ? driver->waitResult.load() : result;
}

PFN_vkVoidFunction VKAPI_CALL deviceFunction(VkDevice device, const char* name)
{
    if (std::strcmp(name, "vkQueueSubmit") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(submitToQueue);
    if (std::strcmp(name, "vkWaitSemaphores") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(waitForSemaphores);
    return driver->getDeviceProcAddr(device, name);
}

PFN_vkVoidFunction VKAPI_CALL instanceFunction(VkInstance instance, const char* name)
{
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(deviceFunction);
    return driver->getInstanceProcAddr(instance, name);
}

void lockQueue(void* user)
{
    Driver& one = *static_cast<Driver*>(user);
    one.queueLock->lock();
    one.lockOwner = std::this_thread::get_id();
    ++one.locks;
}

void unlockQueue(void* user)
{
    Driver& one = *static_cast<Driver*>(user);
    one.lockOwner = std::thread::id();
    one.queueLock->unlock();
}

// An engine that submits groups, and polls when the streamer's descriptor is readable.
class SubmitRun {
public:
    // context: NULL lets the CPU decode.
    SubmitRun(Engine& engine, SluiceContext context, SluiceStreamPace pace,
              Decoder decoder = Decoder::gpu);
    ~SubmitRun();
    SubmitRun(const SubmitRun&) = delete;
    SubmitRun& operator=(const SubmitRun&) = delete;

    SluiceStreamFile open(MemoryFile& file);
    SluiceStreamGroup submit(const std::vector<SluiceStreamRequest>& requests,
                             SluiceStreamSync wait = {}, SluiceStreamSync signal = {},
                             uint32_t flags = 0);
    SluiceStreamEvent waitFor(SluiceStreamGroup group);
    // Sleeps until the descriptor is readable, and takes all events.
    void turn();
    SluiceStreamSubmitterState state() const;
    SluiceStreamCounters counters() const;
    void createSubmitter();
    void destroySubmitter();

    Driver fake;
    SluiceStreamPace pace;
    SluiceStreamer streamer = nullptr;
    SluiceStreamSubmitter submitter = nullptr;
    uint32_t lostTold = 0;
    std::map<SluiceStreamGroup, SluiceStreamEvent> ended, recorded;

private:
    void take(const SluiceStreamEvent& event);

    Engine& m_engine;
    SluiceContext m_cpuContext = nullptr;
    std::vector<SluiceStreamEvent> m_opened;
};

SubmitRun::SubmitRun(Engine& engine, SluiceContext context, SluiceStreamPace withPace,
                     Decoder decoder)
    : pace(withPace), m_engine(engine)
{
    const SluiceStreamVulkanInfo real = engine.info();
    fake.queueLock = &engine.queueLock();
    fake.getInstanceProcAddr = real.getInstanceProcAddr;
    fake.getDeviceProcAddr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        real.getInstanceProcAddr(real.instance, "vkGetDeviceProcAddr"));
    fake.queueSubmit =
        reinterpret_cast<PFN_vkQueueSubmit>(fake.getDeviceProcAddr(real.device, "vkQueueSubmit"));
    fake.waitSemaphores = reinterpret_cast<PFN_vkWaitSemaphores>(
        fake.getDeviceProcAddr(real.device, "vkWaitSemaphores"));
    driver = &fake;

    SluiceStreamerInfo info = {};
    REQUIRE(sluiceCreateCpuContext(&m_cpuContext) == SLUICE_OK);
    info.context = context != nullptr ? context : m_cpuContext;
    info.decoding = decodingOf(context != nullptr ? decoder : Decoder::cpuContext);
    info.gpu = engine.gpu();
    info.maxGroups = 64;
    info.maxRequests = 256;
    info.maxBatches = 3;
    info.maxBatchTiles = 256;
    info.maxFilteredSize = 4 << 20;
    info.gstdTilesAtOnce = 8;
    info.threads = 2;
    SluiceStreamerRequirements required = {};
    REQUIRE(sluiceGetStreamerRequirements(&info, &required) == SLUICE_OK);
    info.source = engine.makeBuffer(SLUICE_STREAM_MIN_SOURCE);
    info.output = engine.makeBuffer(SLUICE_STREAM_MIN_OUTPUT);
    if (context != nullptr) {
        info.control = engine.makeBuffer(required.controlSize);
        info.results = engine.makeBuffer(required.resultsSize);
        info.scratch = engine.makeBuffer(required.scratchSize).buffer;
    }
    REQUIRE(sluiceCreateStreamer(&info, &streamer) == SLUICE_OK);
    createSubmitter();
}

SubmitRun::~SubmitRun()
{
    sluiceDestroyStreamSubmitter(submitter);
    m_engine.waitIdle();
    sluiceDestroyStreamer(streamer);
    sluiceDestroyContext(m_cpuContext);
    CHECK(fake.unlockedSubmits == 0);
    CHECK((fake.lockOwner.load() == std::thread::id()));
    driver = nullptr;
}

void SubmitRun::createSubmitter()
{
    SluiceStreamVulkanInfo vulkan = m_engine.info();
    vulkan.getInstanceProcAddr = instanceFunction;
    const SluiceStreamSubmitterInfo info = {
        streamer, &vulkan, m_engine.queue(), lockQueue, unlockQueue, &fake, pace, nullptr, nullptr};
    REQUIRE(sluiceCreateStreamSubmitter(&info, &submitter) == SLUICE_OK);
    SluiceStreamSubmitter second = nullptr;
    CHECK(sluiceCreateStreamSubmitter(&info, &second) == SLUICE_ERROR_ARGUMENT);
    // Which argument that was, and what else is refused, goes to a function.
    std::string refused;
    SluiceStreamSubmitterInfo reporting = info;
    reporting.reportUser = &refused;
    reporting.report = [](void* user, const SluiceReport* report) {
        *static_cast<std::string*>(user) += std::string(report->member) + " ";
    };
    CHECK(sluiceCreateStreamSubmitter(&reporting, &second) == SLUICE_ERROR_ARGUMENT);
    reporting.unlockQueue = nullptr;
    CHECK(sluiceCreateStreamSubmitter(&reporting, &second) == SLUICE_ERROR_ARGUMENT);
    reporting.queue = VK_NULL_HANDLE;
    CHECK(sluiceCreateStreamSubmitter(&reporting, &second) == SLUICE_ERROR_ARGUMENT);
    reporting.vulkan = nullptr;
    reporting.queue = info.queue;
    reporting.unlockQueue = info.unlockQueue;
    CHECK(sluiceCreateStreamSubmitter(&reporting, &second) == SLUICE_ERROR_ARGUMENT);
    CHECK(refused == "streamer unlockQueue queue vulkan ");
    CHECK(second == nullptr);
}

void SubmitRun::destroySubmitter()
{
    sluiceDestroyStreamSubmitter(submitter);
    submitter = nullptr;
}

void SubmitRun::take(const SluiceStreamEvent& event)
{
    if (event.kind == SLUICE_STREAM_OPENED) m_opened.push_back(event);
    if (event.kind == SLUICE_STREAM_RECORDED) {
        // The batch has been submitted, and the group's end has not been reported.
        CHECK(event.value != 0);
        CHECK(event.value <= fake.submittedValue);
        CHECK(ended.count(event.group) == 0);
        CHECK(recorded.count(event.group) == 0);
        recorded[event.group] = event;
    }
    if (event.kind == SLUICE_STREAM_END) {
        CHECK(ended.count(event.group) == 0);
        ended[event.group] = event;
    }
}

void SubmitRun::turn()
{
    REQUIRE(waitForEvents(streamer));
    for (;;) {
        SluiceStreamEvent events[4];
        uint32_t count = 4;
        const SluiceStatus status = sluiceStreamPoll(streamer, events, &count);
        if (status == SLUICE_ERROR_DEVICE)
            ++lostTold;
        else
            REQUIRE(status == SLUICE_OK);
        for (uint32_t i = 0; i < count; ++i)
            take(events[i]);
        if (count == 0) return;
    }
}

SluiceStreamFile SubmitRun::open(MemoryFile& file)
{
    const SluiceStreamFile opened = startOpening(streamer, file);
    while (m_opened.empty())
        turn();
    REQUIRE(m_opened.back().status == SLUICE_OK);
    return opened;
}

SluiceStreamGroup SubmitRun::submit(const std::vector<SluiceStreamRequest>& requests,
                                    SluiceStreamSync wait, SluiceStreamSync signal, uint32_t flags)
{
    SluiceStreamGroupInfo info = {};
    info.wait = wait;
    info.signal = signal;
    info.flags = flags;
    return submitGroup(streamer, requests, info);
}

SluiceStreamEvent SubmitRun::waitFor(SluiceStreamGroup group)
{
    while (ended.count(group) == 0)
        turn();
    return ended[group];
}

SluiceStreamSubmitterState SubmitRun::state() const
{
    SluiceStreamSubmitterState state = {};
    REQUIRE(sluiceStreamGetSubmitterState(submitter, &state) == SLUICE_OK);
    return state;
}

SluiceStreamCounters SubmitRun::counters() const
{
    SluiceStreamCounters counters = {};
    REQUIRE(sluiceStreamGetCounters(streamer, &counters) == SLUICE_OK);
    return counters;
}

constexpr SluiceStreamPace kBulk = {{FLT_MAX, 0, 0, 0, 0, 0, 0}, 0};

SluiceStreamRequest smallTo(SluiceStreamFile file, const SluiceStreamMemory& to, uint64_t place)
{
    SluiceStreamRequest request =
        bufferRequest(file, 0, vulkanContent().small.bytes.size(), to, place);
    request.asset = VulkanContent::kSmall;
    return request;
}

bool isSmallAt(const SluiceStreamMemory& to, uint64_t place)
{
    const Bytes& bytes = vulkanContent().small.bytes;
    return std::equal(bytes.begin(), bytes.end(), static_cast<const uint8_t*>(to.host) + place);
}

// On these tiers of software devices a batch takes many seconds, without testing more of submit
// mode.
bool isEmulated() { return std::strncmp(device().info().tier, "emu", 3) == 0; }

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("stream submit mode: buffers, images and host memory, on a queue that the engine uses")
{
    if (!isVulkan()) return;
    for (const Decoder decoder : {Decoder::gpu, Decoder::cpuContext, Decoder::both}) {
        CAPTURE(int(decoder));
        const bool decodesOnGpu = decoder != Decoder::cpuContext;
        if (decodesOnGpu && isEmulated()) continue;
        Engine engine(device());
        MemoryFile file(vulkanContent().file);
        SubmitRun run(engine, decodesOnGpu ? device().context() : nullptr, kBulk, decoder);
        run.fake.submitDelay = 10;
        const SluiceStreamFile opened = run.open(file);
        const SluiceStreamMemory to = engine.makeBuffer(1 << 20);
        Bytes host(vulkanContent().small.bytes.size());
        std::vector<SluiceStreamGroup> groups;
        groups.push_back(
            run.submit({smallTo(opened, to, 0),
                        fromArchive(opened, VulkanContent::kSmall, 0, host.size(), host.data())},
                       {}, {}, SLUICE_STREAM_TELL_RECORDED));
        // Fewer images on software devices, where a batch takes long.
        const uint32_t imageCount = decodesOnGpu ? 2 : uint32_t(std::size(kImages));
        std::vector<VkImage> images;
        std::vector<SluiceStreamRequest> levels;
        for (uint32_t i = 0; i < imageCount; ++i) {
            images.push_back(engine.makeImage(createInfoOf(kImages[i])));
            std::vector<SluiceStreamRequest> group;
            for (uint32_t level = 0; level < kImages[i].levels; ++level)
                group.push_back(imageRequest(opened, i, kImages[i], vulkanContent().images[i],
                                             level, images.back()));
            levels.insert(levels.end(), group.begin(), group.end());
            groups.push_back(run.submit(group, {}, {}, SLUICE_STREAM_TELL_RECORDED));
        }
        for (int i = 0; i < 20; ++i) { // frames of the engine's own
            engine.begin();
            engine.submit(VK_NULL_HANDLE, 0);
        }
        for (const SluiceStreamGroup group : groups) {
            CHECK(run.waitFor(group).status == SLUICE_OK);
            CHECK(run.recorded.count(group) == 1);
        }
        CHECK(isSmallAt(to, 0));
        CHECK(host == vulkanContent().small.bytes);
        size_t number = 0;
        for (uint32_t i = 0; i < imageCount; ++i) {
            const Bytes& bytes = vulkanContent().images[i].packed.bytes;
            for (uint32_t level = 0; level < kImages[i].levels; ++level, ++number) {
                CAPTURE(i);
                CAPTURE(level);
                const SluiceStreamRequest& request = levels[number];
                const Bytes read = engine.readImage(images[i], request.image, size_t(request.size));
                CHECK(std::equal(read.begin(), read.end(),
                                 bytes.begin() + ptrdiff_t(request.offset)));
            }
        }
        const SluiceStreamSubmitterState state = run.state();
        CHECK(state.status == SLUICE_OK);
        CHECK(state.failures == 0);
        CHECK(state.submits == run.fake.locks);
        CHECK(state.submits == run.fake.submittedValue);
        CHECK(run.counters().sourceUsed + run.counters().outputUsed + run.counters().groups == 0);
        device().checkMessages();
    }
}

TEST_CASE("stream submit mode: pace, waits, signals and sleep")
{
    if (!isVulkan()) return;
    Engine engine(device());
    MemoryFile file(vulkanContent().file);
    SluiceStreamPace pace = kBulk;
    pace.budget.milliseconds = 0; // nothing is submitted
    SubmitRun run(engine, nullptr, pace);
    const SluiceStreamFile opened = run.open(file);
    const SluiceStreamMemory to = engine.makeBuffer(4 << 20);
    uint64_t place = 0;
    const auto next = [&] { return smallTo(opened, to, (place += 200000) - 200000); };

    const SluiceStreamGroup paused = run.submit({next()});
    Bytes host(100);
    const SluiceStreamGroup onHost =
        run.submit({fromArchive(opened, VulkanContent::kSmall, 0, 100, host.data())});
    CHECK(run.waitFor(onHost).status == SLUICE_OK);
    CHECK(run.state().submits == 0);
    CHECK(run.ended.count(paused) == 0);
    CHECK(sluiceStreamSetPace(run.submitter, &kBulk) == SLUICE_OK);
    CHECK(run.waitFor(paused).status == SLUICE_OK);

    // Each batch has one unit, and at least kInterval is between two batches.
    constexpr auto kInterval = std::chrono::milliseconds(15);
    pace = kBulk;
    pace.budget.bytes = 1;
    pace.interval = uint32_t(std::chrono::microseconds(kInterval).count());
    CHECK(sluiceStreamSetPace(run.submitter, &pace) == SLUICE_OK);
    const size_t before = run.fake.submits.size();
    CHECK(run.waitFor(run.submit({next(), next(), next(), next()})).status == SLUICE_OK);
    {
        const std::lock_guard<std::mutex> lock(run.fake.mutex);
        CHECK(run.fake.submits.size() >= before + 4);
        for (size_t i = before + 1; i < run.fake.submits.size(); ++i)
            CHECK((run.fake.submits[i] - run.fake.submits[i - 1] >= kInterval));
    }
    // Batches shall have more tiles than there are. So units are recorded when they have waited for
    // long enough.
    pace.budget = {FLT_MAX, 0, 0, 1000000, 3, 0, 0};
    CHECK(sluiceStreamSetPace(run.submitter, &pace) == SLUICE_OK);
    CHECK(run.waitFor(run.submit({next()})).status == SLUICE_OK);
    // Without an interval, they are recorded when nothing else is in progress.
    pace.interval = 0;
    CHECK(sluiceStreamSetPace(run.submitter, &pace) == SLUICE_OK);
    CHECK(run.waitFor(run.submit({next(), next()})).status == SLUICE_OK);

    // The submitter waits and signals although nobody polls.
    const VkSemaphore wait = engine.makeSemaphore(), signal = engine.makeSemaphore();
    const SluiceStreamGroup waits = run.submit({next()}, {sluiceStreamSemaphoreHandle(wait), 5},
                                               {sluiceStreamSemaphoreHandle(signal), 3});
    CHECK(engine.valueOf(signal) == 0);
    engine.signal(wait, 5);
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (engine.valueOf(signal) != 3) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        REQUIRE(Clock::now() < end);
    }
    CHECK(run.waitFor(waits).status == SLUICE_OK);

    // With nothing to do, the thread sleeps.
    uint64_t wakeUps = 0;
    for (int still = 0; still < 10;) {
        const uint64_t now = run.state().wakeUps;
        still = now == wakeUps ? still + 1 : 0;
        wakeUps = now;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        REQUIRE(Clock::now() < end);
    }
    for (uint64_t at = 0; at < place; at += 200000)
        CHECK(isSmallAt(to, at));
    device().checkMessages();
}

TEST_CASE("stream submit mode: back to record mode")
{
    if (!isVulkan()) return;
    Engine engine(device());
    MemoryFile file(vulkanContent().file);
    SluiceStreamPace pace = kBulk;
    pace.budget.milliseconds = 0; // so nothing is submitted
    SubmitRun run(engine, nullptr, pace);
    const SluiceStreamFile opened = run.open(file);
    const SluiceStreamMemory to = engine.makeBuffer(4 << 20);
    uint64_t place = 0;
    const auto next = [&] { return smallTo(opened, to, (place += 200000) - 200000); };

    SluiceStreamBatch batch = {};
    const SluiceStreamBudget budget = kBulk.budget;
    const VkCommandBuffer commands = engine.begin();
    CHECK(sluiceStreamRecord(run.streamer, sluiceVulkanCommands(commands), &budget, &batch) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceStreamDiscard(run.streamer, 1) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceStreamComplete(run.streamer, 1) == SLUICE_ERROR_ARGUMENT);

    // Groups in progress stay with the streamer when the submitter is destroyed.
    std::vector<SluiceStreamGroup> left;
    for (int i = 0; i < 3; ++i)
        left.push_back(run.submit({next()}));
    run.destroySubmitter();
    const auto hasAll = [&] {
        return std::all_of(left.begin(), left.end(),
                           [&](SluiceStreamGroup group) { return run.ended.count(group) != 0; });
    };
    bool isBegun = true; // `commands` is still being recorded
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (!hasAll()) {
        const VkCommandBuffer current = isBegun ? commands : engine.begin();
        isBegun = false;
        CHECK(sluiceStreamRecord(run.streamer, sluiceVulkanCommands(current), &budget, &batch) ==
              SLUICE_OK);
        engine.submit(VK_NULL_HANDLE, 0);
        engine.waitIdle();
        if (batch.number != 0) CHECK(sluiceStreamComplete(run.streamer, batch.number) == SLUICE_OK);
        SluiceStreamEvent events[8];
        uint32_t count = 8;
        REQUIRE(sluiceStreamPoll(run.streamer, events, &count) == SLUICE_OK);
        for (uint32_t i = 0; i < count; ++i)
            if (events[i].kind == SLUICE_STREAM_END) run.ended[events[i].group] = events[i];
        REQUIRE(Clock::now() < end);
    }
    for (uint64_t at = 0; at < place; at += 200000)
        CHECK(isSmallAt(to, at));
    run.createSubmitter(); // it is paused at first
    CHECK(run.state().submits == 0);
    device().checkMessages();
}

TEST_CASE("stream submit mode: submits that fail, pipelines that are missing")
{
    if (!isVulkan() || skipsOtherSizes() || skipsSlowCompiler()) return;
    {
        Engine engine(device());
        MemoryFile file(vulkanContent().file);
        SubmitRun run(engine, nullptr, kBulk);
        run.fake.submitResults = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY};
        const SluiceStreamFile opened = run.open(file);
        const SluiceStreamMemory to = engine.makeBuffer(1 << 20);
        const SluiceStreamGroup group =
            run.submit({smallTo(opened, to, 0)}, {}, {}, SLUICE_STREAM_TELL_RECORDED);
        CHECK(run.waitFor(group).status == SLUICE_OK);
        CHECK(run.recorded.count(group) == 1);
        CHECK(isSmallAt(to, 0));
        CHECK(run.state().failures == 2);
        CHECK(run.state().status == SLUICE_OK);
    }
    if (isEmulated()) return;
    Device bare(device().selector(), device().info().tier,
                environmentNumber("SLUICE_TEST_VALIDATION", 1), 0);
    REQUIRE(bare.isOpen());
    Engine engine(bare);
    MemoryFile file(vulkanContent().file);
    SubmitRun run(engine, bare.context(), kBulk);
    const SluiceStreamFile opened = run.open(file);
    const SluiceStreamMemory to = engine.makeBuffer(1 << 20);
    const SluiceStreamGroup group = run.submit({smallTo(opened, to, 0)});
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (run.state().failures == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        REQUIRE(Clock::now() < end);
    }
    CHECK(run.state().status == SLUICE_ERROR_NOT_READY);
    uint32_t kernels = 0;
    REQUIRE(sluiceStreamGetKernels(opened, &kernels) == SLUICE_OK);
    const SluicePipelinesInfo pipelines = {kernels, 0, 0};
    REQUIRE(sluiceCreatePipelines(bare.context(), &pipelines, nullptr) == SLUICE_OK);
    CHECK(run.waitFor(group).status == SLUICE_OK);
    CHECK(isSmallAt(to, 0));
    bare.checkMessages();
}

TEST_CASE("stream submit mode: a lost device ends every group, and the submitter still ends")
{
    if (!isVulkan()) return;
    enum class Found {
        bySubmit,
        byWait,
        byEngine
    };
    for (const Found found : {Found::bySubmit, Found::byWait, Found::byEngine}) {
        CAPTURE(int(found));
        Engine engine(device());
        MemoryFile file(vulkanContent().file);
        SubmitRun run(engine, nullptr, kBulk);
        const SluiceStreamFile opened = run.open(file);
        const SluiceStreamMemory to = engine.makeBuffer(4 << 20);
        if (found == Found::bySubmit) run.fake.submitResults = {VK_ERROR_DEVICE_LOST};
        if (found == Found::byWait) run.fake.waitResult = VK_ERROR_DEVICE_LOST;
        if (found == Found::byEngine) CHECK(sluiceStreamDeviceLost(run.streamer) == SLUICE_OK);
        const VkSemaphore never = engine.makeSemaphore();
        std::vector<SluiceStreamGroup> groups = {
            run.submit({smallTo(opened, to, 0)}),
            run.submit({smallTo(opened, to, 200000)}, {sluiceStreamSemaphoreHandle(never), 1})};
        // The GPU may have finished the first group before the loss is noticed.
        const SluiceStatus first = run.waitFor(groups[0]).status;
        CHECK((first == SLUICE_ERROR_DEVICE || (found == Found::byWait && first == SLUICE_OK)));
        CHECK(run.waitFor(groups[1]).status == SLUICE_ERROR_DEVICE);
        CHECK(run.waitFor(run.submit({smallTo(opened, to, 400000)})).status == SLUICE_ERROR_DEVICE);
        CHECK(run.lostTold == 1);
        CHECK(run.counters().sourceUsed + run.counters().groups == 0);
        if (found != Found::byEngine) CHECK(run.state().status == SLUICE_ERROR_DEVICE);
        device().checkMessages();
    }
}

TEST_SUITE_END();
