// SPDX-License-Identifier: MIT OR Apache-2.0
// Submit mode. One thread records batches and submits them, another waits until they are complete.
#include <vulkan/vulkan_core.h>

#include <sluice/sluice_stream_vulkan.h>

#include "stream/streamer.h"

#include <memory>
#include <new>
#include <system_error>

namespace {

#define SLUICE_SUBMITTER_FUNCTIONS(X)                                                              \
    X(CreateCommandPool)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(AllocateCommandBuffers)                                                                      \
    X(BeginCommandBuffer)                                                                          \
    X(EndCommandBuffer)                                                                            \
    X(QueueSubmit)                                                                                 \
    X(QueueWaitIdle)                                                                               \
    X(CreateSemaphore)                                                                             \
    X(DestroySemaphore)                                                                            \
    X(WaitSemaphores)

using sluice::stream::Batcher;
using sluice::stream::Clock;
constexpr auto kRetryAfter = std::chrono::milliseconds(10);
// When ready units are left to the threads, the submitter checks again after this time, unless a
// thread that has decoded something wakes it earlier. If no thread makes progress, the GPU decodes
// the units.
constexpr auto kLookAfter = std::chrono::milliseconds(1);

SluiceStatus statusOf(VkResult result)
{
    switch (result) {
    case VK_SUCCESS: return SLUICE_OK;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return SLUICE_ERROR_OUT_OF_MEMORY;
    default: return SLUICE_ERROR_DEVICE;
    }
}

} // namespace

struct SluiceStreamSubmitter_T {
public:
    explicit SluiceStreamSubmitter_T(const SluiceStreamSubmitterInfo& info) : m_info(info) {}
    ~SluiceStreamSubmitter_T();
    SluiceStreamSubmitter_T(const SluiceStreamSubmitter_T&) = delete;
    SluiceStreamSubmitter_T& operator=(const SluiceStreamSubmitter_T&) = delete;

    SluiceStatus start(sluice::ArgumentChecker& check);
    void setPace(const SluiceStreamPace& pace);
    VkSemaphore semaphore() const { return m_done; }
    SluiceStreamSubmitterState state();
    sluice::Reporter reporter() const { return {m_info.report, m_info.reportUser}; }

private:
    bool load(const SluiceStreamVulkanInfo& info);
    SluiceStatus createObjects(uint32_t queueFamily);
    void runSubmits();
    void runWaits();
    Clock::time_point submitWhatIsReady();
    SluiceStatus submitOne(const SluiceStreamBudget& budget, bool& isSubmitted);
    SluiceStatus submitTo(VkCommandBuffer commands, uint64_t value);
    void note(SluiceStatus status);
    void stop();

    const SluiceStreamSubmitterInfo m_info; // `vulkan` is not dereferenced after start
#define SLUICE_MEMBER(name) PFN_vk##name m_##name = nullptr;
    SLUICE_SUBMITTER_FUNCTIONS(SLUICE_MEMBER)
#undef SLUICE_MEMBER
    VkDevice m_device = VK_NULL_HANDLE;
    VkCommandPool m_pool = VK_NULL_HANDLE;
    std::vector<VkCommandBuffer> m_buffers; // used round robin, because batches complete in order
    VkSemaphore m_done = VK_NULL_HANDLE;
    bool m_isAttached = false;
    Clock::time_point m_lastSubmit{}; // last submit, or last check that found too little
    bool m_hasSubmitted = false;

    std::mutex m_mutex;
    SluiceStreamPace m_pace{};
    SluiceStreamSubmitterState m_state{};
    uint64_t m_submitted = 0, m_waited = 0; // semaphore values
    bool m_stops = false;
    std::condition_variable m_newSubmit;
    std::thread m_submits, m_waits;
};

bool SluiceStreamSubmitter_T::load(const SluiceStreamVulkanInfo& info)
{
    m_device = info.device;
    const auto getDeviceProcAddr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        info.getInstanceProcAddr(info.instance, "vkGetDeviceProcAddr"));
    bool isComplete = getDeviceProcAddr != nullptr;
    if (!isComplete) return false;
#define SLUICE_LOAD(name)                                                                          \
    m_##name = reinterpret_cast<PFN_vk##name>(getDeviceProcAddr(m_device, "vk" #name));            \
    isComplete = isComplete && m_##name != nullptr;
    SLUICE_SUBMITTER_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
    return isComplete;
}

SluiceStatus SluiceStreamSubmitter_T::createObjects(uint32_t queueFamily)
{
    VkCommandPoolCreateInfo poolInfo = {};
    poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    poolInfo.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    poolInfo.queueFamilyIndex = queueFamily;
    VkResult result = m_CreateCommandPool(m_device, &poolInfo, nullptr, &m_pool);
    if (result != VK_SUCCESS) return statusOf(result);
    m_buffers.resize(m_info.streamer->maxBatches());
    VkCommandBufferAllocateInfo bufferInfo = {};
    bufferInfo.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    bufferInfo.commandPool = m_pool;
    bufferInfo.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    bufferInfo.commandBufferCount = uint32_t(m_buffers.size());
    result = m_AllocateCommandBuffers(m_device, &bufferInfo, m_buffers.data());
    if (result != VK_SUCCESS) return statusOf(result);
    VkSemaphoreTypeCreateInfo type = {};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo semaphoreInfo = {};
    semaphoreInfo.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    semaphoreInfo.pNext = &type;
    return statusOf(m_CreateSemaphore(m_device, &semaphoreInfo, nullptr, &m_done));
}

SluiceStatus SluiceStreamSubmitter_T::start(sluice::ArgumentChecker& check)
{
    if (!load(*m_info.vulkan)) return SLUICE_ERROR_UNSUPPORTED;
    const SluiceStatus status = createObjects(m_info.vulkan->queueFamily);
    if (status != SLUICE_OK) return status;
    m_pace = m_info.pace;
    m_isAttached = m_info.streamer->attachSubmitter();
    check.require(SLUICE_NAMED(m_info.streamer), m_isAttached,
                  "has a gpu with semaphores, no other submitter and no batch under way");
    if (!check.isOk()) return check.status();
    m_waits = std::thread([this] { runWaits(); });
    m_submits = std::thread([this] { runSubmits(); });
    return SLUICE_OK;
}

void SluiceStreamSubmitter_T::stop()
{
    if (m_submits.joinable()) {
        m_info.streamer->stopSubmitter();
        m_submits.join();
    }
    if (m_waits.joinable()) {
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            m_stops = true;
        }
        m_newSubmit.notify_one();
        m_waits.join();
    }
    if (!m_isAttached) return;
    m_info.streamer->completion().collect();
    m_info.streamer->detachSubmitter();
}

SluiceStreamSubmitter_T::~SluiceStreamSubmitter_T()
{
    stop();
    if (m_done != VK_NULL_HANDLE) m_DestroySemaphore(m_device, m_done, nullptr);
    if (m_pool != VK_NULL_HANDLE) m_DestroyCommandPool(m_device, m_pool, nullptr);
}

void SluiceStreamSubmitter_T::setPace(const SluiceStreamPace& pace)
{
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_pace = pace;
    }
    m_info.streamer->callSubmitter();
}

SluiceStreamSubmitterState SluiceStreamSubmitter_T::state()
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    return m_state;
}

void SluiceStreamSubmitter_T::note(SluiceStatus status)
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (status != SLUICE_OK) ++m_state.failures;
    if (m_state.status != SLUICE_ERROR_DEVICE) m_state.status = status; // a lost device stays lost
}

// --- The thread that waits ---

void SluiceStreamSubmitter_T::runWaits()
{
    std::unique_lock<std::mutex> lock(m_mutex);
    for (;;) {
        m_newSubmit.wait(lock, [this] { return m_waited != m_submitted || m_stops; });
        if (m_waited == m_submitted) return;
        const uint64_t value = m_waited + 1;
        lock.unlock();
        VkSemaphoreWaitInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
        info.semaphoreCount = 1;
        info.pSemaphores = &m_done;
        info.pValues = &value;
        const SluiceStatus status = statusOf(m_WaitSemaphores(m_device, &info, UINT64_MAX));
        if (status == SLUICE_ERROR_OUT_OF_MEMORY) {
            std::this_thread::sleep_for(kRetryAfter); // the GPU continues meanwhile
            lock.lock();
            continue;
        }
        if (status != SLUICE_OK) note(status); // before others see that the device is lost
        if (status != SLUICE_OK) m_info.streamer->loseDevice();
        lock.lock();
        m_waited = value;
        lock.unlock();
        m_info.streamer->callSubmitter();
        lock.lock();
    }
}

// --- The thread that submits ---

void SluiceStreamSubmitter_T::runSubmits()
{
    Clock::time_point next = Clock::time_point::max();
    while (m_info.streamer->waitForSubmitter(next)) {
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            ++m_state.wakeUps;
        }
        m_info.streamer->completion().collect();
        next = submitWhatIsReady();
    }
}

// Submits batches until no more is ready. Returns the time of the next check, if nobody wakes this
// thread earlier.
Clock::time_point SluiceStreamSubmitter_T::submitWhatIsReady()
{
    for (;;) {
        SluiceStreamPace pace;
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            pace = m_pace;
        }
        const uint32_t underWay = m_info.streamer->batcher().underWay();
        // All command buffers are in use. The completion of a batch will wake this thread.
        if (underWay == m_buffers.size()) return Clock::time_point::max();
        const bool isPaced = pace.interval != 0;
        const Clock::time_point now = Clock::now();
        const Clock::time_point due = m_lastSubmit + std::chrono::microseconds(pace.interval);
        const bool isEarly = isPaced && m_hasSubmitted && now < due;
        if (!isPaced) pace.budget.maxAge = UINT32_MAX;
        if (!isPaced && underWay == 0) pace.budget.minTiles = 0;
        switch (m_info.streamer->batcher().readiness(pace.budget, isPaced && !isEarly)) {
        case Batcher::Ready::nothing: return Clock::time_point::max();
        case Batcher::Ready::threadsDecode: return now + kLookAfter;
        case Batcher::Ready::tooLittle:
            if (isEarly) return due;
            if (!isPaced) return Clock::time_point::max();
            m_lastSubmit = now;
            m_hasSubmitted = true;
            return now + std::chrono::microseconds(pace.interval);
        case Batcher::Ready::enough: break;
        }
        if (isEarly) return due;
        bool isSubmitted = false;
        const SluiceStatus status = submitOne(pace.budget, isSubmitted);
        if (m_info.streamer->isLost()) m_info.streamer->completion().collect();
        if (status != SLUICE_OK) return Clock::now() + kRetryAfter;
        if (!isSubmitted) continue; // a unit too large for any batch has failed
        m_lastSubmit = Clock::now();
        m_hasSubmitted = true;
    }
}

// Records a batch and submits it. If that fails, takes the batch back.
SluiceStatus SluiceStreamSubmitter_T::submitOne(const SluiceStreamBudget& budget, bool& isSubmitted)
{
    const uint64_t value = m_submitted + 1; // only this thread changes m_submitted
    const VkCommandBuffer commands = m_buffers[size_t(value % m_buffers.size())];
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    SluiceStatus status = statusOf(m_BeginCommandBuffer(commands, &begin));
    if (status != SLUICE_OK) {
        note(status);
        if (status == SLUICE_ERROR_DEVICE) m_info.streamer->loseDevice();
        return status;
    }
    SluiceStreamBudget full = budget;
    full.semaphore = sluiceStreamSemaphoreHandle(m_done);
    full.value = value;
    SluiceStreamBatch batch = {};
    m_info.streamer->holdRecorded(true);
    status = m_info.streamer->batcher().record(sluiceVulkanCommands(commands), full, batch);
    const SluiceStatus ended = statusOf(m_EndCommandBuffer(commands));
    if (status == SLUICE_OK) status = ended;
    if (status == SLUICE_OK && batch.number != 0) status = submitTo(commands, value);
    isSubmitted = status == SLUICE_OK && batch.number != 0;
    if (status != SLUICE_OK || isSubmitted) note(status);
    if (status == SLUICE_ERROR_DEVICE) m_info.streamer->loseDevice();
    if (!isSubmitted && batch.number != 0) m_info.streamer->batcher().discard(batch.number);
    m_info.streamer->holdRecorded(false);
    return status;
}

SluiceStatus SluiceStreamSubmitter_T::submitTo(VkCommandBuffer commands, uint64_t value)
{
    VkTimelineSemaphoreSubmitInfo values = {};
    values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &value;
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &values;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &m_done;
    if (m_info.lockQueue != nullptr) m_info.lockQueue(m_info.queueUser);
    const VkResult result = m_QueueSubmit(m_info.queue, 1, &info, VK_NULL_HANDLE);
    if (m_info.unlockQueue != nullptr) m_info.unlockQueue(m_info.queueUser);
    if (result != VK_SUCCESS) return statusOf(result);
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_submitted = value;
        ++m_state.submits;
    }
    m_newSubmit.notify_one();
    return SLUICE_OK;
}

// --- The entry points ---

namespace {

sluice::ArgumentChecker checkerOf(SluiceStreamSubmitter submitter, const char* function)
{
    return {submitter != nullptr ? submitter->reporter() : sluice::Reporter{}, function};
}

} // namespace

SluiceStatus sluiceCreateStreamSubmitter(const SluiceStreamSubmitterInfo* info,
                                         SluiceStreamSubmitter* submitter)
{
    sluice::ArgumentChecker check(info != nullptr ? sluice::Reporter{info->report, info->reportUser}
                                                  : sluice::Reporter{},
                                  __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(submitter)))
        return check.status();
    *submitter = nullptr;
    check.given(SLUICE_NAMED(info->streamer));
    check.given(SLUICE_NAMED(info->queue));
    check.require(SLUICE_NAMED(info->unlockQueue),
                  (info->lockQueue == nullptr) == (info->unlockQueue == nullptr),
                  "is NULL if and only if lockQueue is NULL");
    if (!check.given(SLUICE_NAMED(info->vulkan))) return check.status();
    check.given(SLUICE_NAMED(info->vulkan->getInstanceProcAddr));
    check.given(SLUICE_NAMED(info->vulkan->instance));
    check.given(SLUICE_NAMED(info->vulkan->device));
    if (!check.isOk()) return check.status();
    try {
        auto made = std::make_unique<SluiceStreamSubmitter_T>(*info);
        const SluiceStatus status = made->start(check);
        if (status == SLUICE_OK) *submitter = made.release();
        return status;
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    } catch (const std::system_error&) { // no thread could be started
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}

void sluiceDestroyStreamSubmitter(SluiceStreamSubmitter submitter) { delete submitter; }

SluiceStatus sluiceStreamSetPace(SluiceStreamSubmitter submitter, const SluiceStreamPace* pace)
{
    sluice::ArgumentChecker check = checkerOf(submitter, __func__);
    if (check.given(SLUICE_NAMED(submitter)) && check.given(SLUICE_NAMED(pace)))
        submitter->setPace(*pace);
    return check.status();
}

VkSemaphore sluiceStreamGetSubmitterSemaphore(SluiceStreamSubmitter submitter)
{
    return submitter != nullptr ? submitter->semaphore() : VK_NULL_HANDLE;
}

SluiceStatus sluiceStreamGetSubmitterState(SluiceStreamSubmitter submitter,
                                           SluiceStreamSubmitterState* state)
{
    sluice::ArgumentChecker check = checkerOf(submitter, __func__);
    if (check.given(SLUICE_NAMED(submitter)) && check.given(SLUICE_NAMED(state)))
        *state = submitter->state();
    return check.status();
}
