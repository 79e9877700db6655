// SPDX-License-Identifier: MIT OR Apache-2.0
// The streamer's mutex and whom it wakes: threads that read, the thread that submits, the engine.
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
    // wake: SluiceStreamerInfo::wake; it may be NULL.
    Monitor(void (*wake)(void*), void* wakeUser, bool hasThreads);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    // Poll empties the descriptor before it looks at anything, so that it is written again for
    // whatever comes later; a write that is still on its way is emptied by the next call.
    void emptyEvent();
    int eventFd() const { return m_eventFd; }

    void stopWorkers();
    // Looks for work for as long as it takes to fall asleep and to be woken.
    void lookOut() const;

    bool hasSubmitter() const { return m_hasSubmitter; }

private:
    friend class Held;

    std::mutex m_mutex;
    void (*const m_wake)(void*);
    void* const m_wakeUser;
    const bool m_hasThreads;

    std::condition_variable m_work;
    uint32_t m_idleThreads = 0; // threads that sleep
    bool m_isWaking = false;    // one of them has been told, and does not have the lock yet
    // One thread looks for work a little longer before it sleeps. Submit then only sets what it
    // looks at, and wakes nobody.
    bool m_hasLookout = false;
    std::atomic<bool> m_lookoutSeesWork{false};
    bool m_stops = false;

    std::atomic<bool> m_hasSubmitter{false};
    std::condition_variable m_submitterWork;
    bool m_submitterLooks = false; // there is something that it has not looked at
    bool m_submitterStops = false;

    int m_eventFd = -1;
    std::atomic<bool> m_isEventTold{false};
};

// The lock, which is held as long as this object lives. Methods that need the lock take it as a
// parameter, so that nobody can call them without it. Calls of the system and of the engine are
// only noted while it is held, and made once it is not.
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

    // One thread is woken at a time, and wakes the next if there is more to do: a call of the
    // system for each group would cost more than everything else that Submit does.
    void wakeWorkers()
    {
        if (m_monitor.m_hasLookout)
            m_monitor.m_lookoutSeesWork = true;
        else if (!m_monitor.m_hasThreads || (m_monitor.m_idleThreads != 0 && !m_monitor.m_isWaking))
            m_wakes = m_monitor.m_isWaking = true;
    }
    void tellEvent() { m_tells = true; }
    void wakeSubmitter() { m_submits = m_monitor.m_submitterLooks = m_monitor.m_hasSubmitter; }
    // The file's destructor calls the system or the engine.
    void deleteLater(SluiceStreamFile file);

    // For threads that read. All others have something to do if nobody sleeps.
    bool stops() const { return m_monitor.m_stops; }
    bool nobodySleeps() const { return m_monitor.m_idleThreads == 0; }
    // False: the lock has to be given back first, for what has been noted.
    bool maySleep() const { return !m_wakes && !m_tells && !m_submits && m_deadFiles == nullptr; }
    // False: another thread looks out already.
    bool beginLookout();
    void endLookout() { m_monitor.m_hasLookout = false; }
    void sleep(); // until there may be work

    // For the thread that submits. False: there is one already.
    bool attachSubmitter();
    void detachSubmitter() { m_monitor.m_hasSubmitter = false; }
    void stopSubmitter();
    // Sleeps until there is something to look at, at the longest until `until`. False: it stops.
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
