// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/monitor.h"

#include "stream/file.h"
#include "stream/system.h"

namespace sluice::stream {

namespace {

// Hints to the processor that this is a spin loop.
void pauseShortly()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace

Monitor::Monitor(void (*wake)(void*), void* wakeUser, bool hasThreads)
    : m_wake(wake), m_wakeUser(wakeUser), m_hasThreads(hasThreads), m_eventFd(openEvent())
{
}

Monitor::~Monitor()
{
    if (m_eventFd >= 0) closeEvent(m_eventFd);
}

void Monitor::resetTold()
{
    if (resetEvent(m_eventFd)) m_isEventTold = false;
}

void Monitor::stopWorkers()
{
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_stops = true;
    }
    m_work.notify_all();
}

void Monitor::lookOut() const
{
    const Clock::time_point until = Clock::now() + std::chrono::microseconds(20);
    while (!m_lookoutSeesWork && Clock::now() < until)
        pauseShortly();
}

// Spins first, because most holders keep the lock for about a microsecond, which is less than going
// to sleep takes.
void Held::lock()
{
    constexpr uint32_t kTries = 64;
    for (uint32_t i = 0; i < kTries && !m_lock.owns_lock(); ++i) {
        pauseShortly();
        m_lock.try_lock();
    }
    if (!m_lock.owns_lock()) m_lock.lock();
}

void Held::afterUnlock()
{
    Monitor& monitor = m_monitor;
    if (m_wakes) monitor.m_work.notify_one();
    if (m_submits && monitor.m_hasSubmitter) monitor.m_submitterWork.notify_one();
    if (m_wakes && monitor.m_wake != nullptr) monitor.m_wake(monitor.m_wakeUser);
    if (m_tells && monitor.m_eventFd >= 0 && !monitor.m_isEventTold.exchange(true) &&
        !setEvent(monitor.m_eventFd))
        monitor.m_isEventTold = false;
    while (m_deadFiles != nullptr) {
        const SluiceStreamFile next = m_deadFiles->next;
        delete m_deadFiles;
        m_deadFiles = next;
    }
}

void Held::deleteLater(SluiceStreamFile file)
{
    file->next = m_deadFiles;
    m_deadFiles = file;
}

bool Held::beginLookout()
{
    if (m_monitor.m_hasLookout) return false;
    m_monitor.m_hasLookout = true;
    m_monitor.m_lookoutSeesWork = false;
    return true;
}

void Held::sleep()
{
    ++m_monitor.m_idleThreads;
    m_monitor.m_work.wait(m_lock);
    --m_monitor.m_idleThreads;
    m_monitor.m_isWaking = false;
}

bool Held::attachSubmitter()
{
    if (m_monitor.m_hasSubmitter) return false;
    m_monitor.m_submitterStops = false;
    m_monitor.m_hasSubmitter = true;
    wakeSubmitter(); // units may be ready already
    return true;
}

void Held::stopSubmitter()
{
    m_monitor.m_submitterStops = true;
    wakeSubmitter();
}

bool Held::waitForSubmitter(Clock::time_point until)
{
    const auto isCalled = [this] {
        return m_monitor.m_submitterLooks || m_monitor.m_submitterStops;
    };
    if (until == Clock::time_point::max())
        m_monitor.m_submitterWork.wait(m_lock, isCalled);
    else
        m_monitor.m_submitterWork.wait_until(m_lock, until, isCalled);
    m_monitor.m_submitterLooks = false;
    return !m_monitor.m_submitterStops;
}

} // namespace sluice::stream
