// SPDX-License-Identifier: MIT OR Apache-2.0
// Events that Poll has to tell of groups.
#pragma once

#include <atomic>

#include "stream/group.h"
#include "stream/monitor.h"

namespace sluice::stream {

// How much there is for Poll to look at, so that it takes no lock for nothing.
struct Pending {
    std::atomic<uint32_t> batches{0}; // under way
    std::atomic<uint32_t> waits{0};   // groups that wait for a semaphore
    std::atomic<uint32_t> events{0};  // to be told
    std::atomic<uint32_t> signals{0}; // groups that have ended and have not signalled
    bool nothing() const { return batches == 0 && waits == 0 && events == 0 && signals == 0; }
};

class Events {
public:
    Events(Slots<Group>& groups, Pending& pending) : m_groups(groups), m_pending(pending) {}

    void addRecorded(Held& held, Group& group)
    {
        group.recordedEvent = RecordedEvent::toTell;
        m_recorded.append(m_groups, group);
        add(held);
    }
    // It will be recorded again, and told again.
    void forgetRecorded(Held&, Group& group)
    {
        if (group.recordedEvent == RecordedEvent::toTell) {
            m_recorded.remove(m_groups, group);
            --m_pending.events;
        }
        group.recordedEvent = RecordedEvent::none;
    }
    void addEnded(Held& held, Group& group)
    {
        m_groups.append(m_ended, group);
        add(held);
    }
    void add(Held& held)
    {
        ++m_pending.events;
        held.tellEvent();
    }
    // RECORDED events are told no more until it is called with false.
    void holdRecorded(Held&, bool holds) { m_holdsRecorded = holds; }
    // Something can be told now.
    bool hasSome(Held&) const
    {
        if (!m_holdsRecorded) return !m_ended.empty() || !m_recorded.empty();
        return !m_ended.empty() && m_groups[m_ended.head].recordedEvent != RecordedEvent::toTell;
    }
    // Fills in at most `room` events, and calls told(group) for those whose end is told.
    template <class Function>
    uint32_t give(Held&, SluiceStreamEvent* events, uint32_t room, const Function& told)
    {
        uint32_t count = 0;
        while (!m_holdsRecorded && !m_recorded.empty() && count < room) {
            Group& group = m_recorded.front(m_groups);
            m_recorded.remove(m_groups, group);
            group.recordedEvent = RecordedEvent::told;
            events[count] = group.event;
            events[count++].kind = SLUICE_STREAM_RECORDED;
        }
        while (!m_ended.empty() && count < room) {
            const Group& next = m_groups[m_ended.head];
            // A group's RECORDED event comes first.
            if (m_holdsRecorded && next.recordedEvent == RecordedEvent::toTell) break;
            Group& group = m_groups.pop(m_ended);
            events[count++] = group.event;
            told(group);
        }
        m_pending.events -= count;
        return count;
    }

private:
    Slots<Group>& m_groups;
    Pending& m_pending;
    LinkedList<Group, &Group::recorded> m_recorded;
    Queue m_ended;
    bool m_holdsRecorded = false;
};

} // namespace sluice::stream
