// SPDX-License-Identifier: MIT OR Apache-2.0
// The streamer's mutex, and the wake-ups of threads that read, of the thread that submits, and of
// the engine.
#pragma once

#include <sluice/sluice_stream.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace sluice::stream {

using Clock = std::chrono::steady_clock;

class Held;

class Monitor {
public:
    // wake: SluiceStreamerInfo::wake, which may be NULL.
    Monitor(void (*wake)(void*), void* wakeUser, bool hasThreads);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    // Resets the event descriptor. Poll calls this before it looks at anything, so that every later
    // event sets the descriptor again. Another thread may set the descriptor just after the reset,
    // for an event that Poll then finds. That is harmless: the next call resets the descriptor.
    void emptyEvent()
    {
        if (m_isEventTold) resetTold();
    }
    int eventFd() const { return m_eventFd; }

    void stopWorkers();
    // Spins until there is work, but not longer than going to sleep and waking up would take.
    void lookOut() const;

    bool hasSubmitter() const { return m_hasSubmitter; }

private:
    friend class Held;

    void resetTold();

    std::mutex m_mutex;
    void (*const m_wake)(void*);
    void* const m_wakeUser;
    const bool m_hasThreads;

    std::condition_variable m_work;
    uint32_t m_idleThreads = 0; // threads that sleep
    bool m_isWaking = false;    // a thread was notified, but has not taken the lock yet
    // One thread, the lookout, spins a little before it sleeps. While there is a lookout, Submit
    // only sets the flag that the lookout watches, and wakes nobody.
    bool m_hasLookout = false;
    std::atomic<bool> m_lookoutSeesWork{false};
    bool m_stops = false;

    std::atomic<bool> m_hasSubmitter{false};
    std::condition_variable m_submitterWork;
    bool m_submitterLooks = false; // there is something for the submitter to look at
    bool m_submitterStops = false;

    int m_eventFd = -1;
    std::atomic<bool> m_isEventTold{false};
};

// Holds the lock for the lifetime of this object. Methods that need the lock take this object as a
// parameter, so that nobody can call them without it. Calls of the system and of the engine may be
// slow, so they are only noted while the lock is held, and made after it is released.
class Held {
public:
    explicit Held(Monitor& monitor) : m_monitor(monitor), m_lock(monitor.m_mutex, std::try_to_lock)
    {
        if (!m_lock.owns_lock()) lock();
    }
    ~Held()
    {
        m_lock.unlock();
        if (m_wakes || m_tells || m_submits || m_deadFiles != nullptr) afterUnlock();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    // Wakes one thread, which wakes the next one if there is more to do. A system call per group
    // would cost more than everything else that Submit does.
    void wakeWorkers()
    {
        if (m_monitor.m_hasLookout)
            m_monitor.m_lookoutSeesWork = true;
        else if (!m_monitor.m_hasThreads || (m_monitor.m_idleThreads != 0 && !m_monitor.m_isWaking))
            m_wakes = m_monitor.m_isWaking = true;
    }
    void tellEvent() { m_tells = true; }
    void wakeSubmitter() { m_submits = m_monitor.m_submitterLooks = m_monitor.m_hasSubmitter; }
    // Deletes the file after the lock is released, because its destructor calls the system or the
    // engine.
    void deleteLater(SluiceStreamFile file);

    // These functions are for threads that read. If no thread sleeps, all other threads are busy.
    bool stops() const { return m_monitor.m_stops; }
    bool nobodySleeps() const { return m_monitor.m_idleThreads == 0; }
    // Returns false if calls of the system or the engine were noted: they are made when the lock is
    // released, so the thread must release it before it may sleep.
    bool maySleep() const { return !m_wakes && !m_tells && !m_submits && m_deadFiles == nullptr; }
    // Makes this thread the lookout, which spins a little before it sleeps. Returns false if
    // another thread is the lookout already.
    bool beginLookout();
    void endLookout() { m_monitor.m_hasLookout = false; }
    void sleep(); // returns when there may be work

    // Called when a submitter starts. Returns false if the streamer has one already.
    bool attachSubmitter();
    void detachSubmitter() { m_monitor.m_hasSubmitter = false; }
    void stopSubmitter();
    // Sleeps until there is something to check, but not beyond `until`. Returns false if the thread
    // is to stop.
    bool waitForSubmitter(Clock::time_point until);

private:
    void lock();
    void afterUnlock();

    Monitor& m_monitor;
    std::unique_lock<std::mutex> m_lock;
    bool m_wakes = false, m_tells = false, m_submits = false;
    SluiceStreamFile m_deadFiles = nullptr;
};

} // namespace sluice::stream
